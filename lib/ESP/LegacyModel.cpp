// A class of ESP-DL v1.x that builds a network: its layers with their
// coefficients, build and call. Tensors are freed after their last reader.

#include "OnnxQuant/ESP/Legacy.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// A member of the class.
struct Member {
  std::string name, type, header;
  std::vector<std::string> arguments, inputs;
  std::string output;
  /// Inputs are given as a list of pointers.
  bool takesList = false;
};

class ModelWriter {
public:
  ModelWriter(const Model &device, ArrayRef<LegacyLayer> layers);
  llvm::Error run();
  std::string print(StringRef className, StringRef coefficients) const;

private:
  llvm::Error fail(const Node &node, const llvm::Twine &message) const {
    return llvm::createStringError("node '" + node.name + "' (" + node.opType +
                                   ") " + message.str());
  }
  llvm::Error add(const Node &node);
  void addProduct(const Node &node, Member &member);
  void addWindow(const Node &node, Member &member);
  bool joinActivation(const Node &node);
  void addActivation(const Node &node, Member &member);
  std::string exponent(const Node &node) const {
    return std::to_string(device.findValue(node.outputs[0])->exponent());
  }
  /// A shape of the device without its batch, as a list in braces.
  std::string shapeOf(const Node &node) const;
  std::string getter(const Node &node, StringRef part) const;
  std::string source(StringRef tensor) const;
  void printSteps(llvm::raw_ostream &os, bool isCall) const;

  const Model &device;
  std::string element;
  std::map<std::string, const LegacyLayer *> layers;
  std::vector<Member> members;
  llvm::StringMap<size_t> makers;
  llvm::StringMap<int> readers;
  llvm::StringSet<> taken;
};

std::string list(ArrayRef<int64_t> numbers) {
  return "{" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "}";
}

} // namespace

ModelWriter::ModelWriter(const Model &device, ArrayRef<LegacyLayer> given)
    : device(device) {
  for (const LegacyLayer &layer : given)
    layers[layer.node] = &layer;
  for (const Node &node : device.nodes)
    for (const std::string &name : node.inputs)
      ++readers[name];
  for (const Value &value : device.outputs)
    ++readers[value.name];
}

std::string ModelWriter::getter(const Node &node, StringRef part) const {
  auto found = layers.find(node.name);
  return found == layers.end()
             ? "NULL"
             : "get_" + found->second->name + "_" + part.str() + "()";
}

std::string ModelWriter::shapeOf(const Node &node) const {
  Dims dims = device.findValue(node.outputs[0])->dims;
  if (!dims.empty())
    dims.erase(dims.begin());
  dims.insert(dims.begin(), dims.size() < 3 ? 3 - dims.size() : 0, 1);
  return list(dims);
}

void ModelWriter::addProduct(const Node &node, Member &member) {
  const LegacyLayer &layer = *layers.at(node.name);
  bool isDepthwise = node.getInt("group", 1) > 1;
  member.header = layer.isGemm  ? "fullyconnected"
                  : isDepthwise ? "depthwise_conv2d"
                                : "conv2d";
  member.type = layer.isGemm  ? "FullyConnected"
                : isDepthwise ? "DepthwiseConv2D"
                              : "Conv2D";
  // Biases per channel are wider than the elements.
  member.type += "<" + element +
                 (layer.isPerChannel && layer.bits == 8 ? ", int16_t>" : ">");
  member.arguments = {exponent(node), getter(node, "filter"),
                      layer.bias.empty() ? "NULL" : getter(node, "bias"),
                      layer.activation.empty() ? "NULL"
                                               : getter(node, "activation")};
  if (layer.isGemm)
    member.arguments.push_back("true");
  else
    addWindow(node, member);
}

/// Padding and strides. ONNX lists what comes before all axes first, ESP-DL an
/// axis after the other.
void ModelWriter::addWindow(const Node &node, Member &member) {
  Dims pads = node.getInts("pads"), strides = node.getInts("strides");
  pads.resize(4);
  strides.resize(2, 1);
  bool isPadded = llvm::any_of(pads, [](int64_t p) { return p != 0; });
  member.arguments.push_back(isPadded ? "PADDING_NOT_SET" : "PADDING_VALID");
  member.arguments.push_back(
      isPadded ? list({pads[0], pads[2], pads[1], pads[3]}) : "{}");
  for (int64_t stride : strides)
    member.arguments.push_back(std::to_string(stride));
}

/// Gives an activation to the sum or product that alone feeds it.
bool ModelWriter::joinActivation(const Node &node) {
  auto maker = makers.find(node.inputs[0]);
  if (maker == makers.end() || readers[node.inputs[0]] != 1)
    return false;
  Member &before = members[maker->second];
  if (!StringRef(before.type).starts_with("Add2D") &&
      !StringRef(before.type).starts_with("Sub2D") &&
      !StringRef(before.type).starts_with("Mul2D"))
    return false;
  if (before.arguments.size() != 1)
    return false;
  before.arguments.push_back(getter(node, "activation"));
  before.output = node.outputs[0];
  makers[node.outputs[0]] = maker->second;
  return true;
}

void ModelWriter::addActivation(const Node &node, Member &member) {
  const LegacyLayer &layer = *layers.at(node.name);
  member.header = StringRef(node.opType).lower();
  member.type = node.opType + "<" + element + ">";
  if (node.opType == "LeakyRelu")
    member.arguments = {std::to_string(layer.slopes[0]),
                        std::to_string(layer.slopesExponent)};
  else if (node.opType == "PRelu")
    member.arguments = {getter(node, "activation") + "->element",
                        std::to_string(layer.slopesExponent)};
}

llvm::Error ModelWriter::add(const Node &node) {
  StringRef op = node.opType;
  bool isActivation = op == "Relu" || op == "LeakyRelu" || op == "PRelu";
  if (isActivation && joinActivation(node))
    return llvm::Error::success();
  Member member;
  for (char c : node.name)
    member.name += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  if (member.name.empty() || llvm::isDigit(member.name[0]))
    member.name = "_" + member.name;
  for (std::string stem = member.name; !taken.insert(member.name).second;)
    member.name = stem + "_" + std::to_string(taken.size());
  member.output = node.outputs[0];
  for (const std::string &name : node.inputs)
    if (!device.findInitializer(name))
      member.inputs.push_back(name);
  auto is = [&](StringRef type, StringRef header,
                std::vector<std::string> arguments = {}) {
    member.type = (type + "<" + element + ">").str();
    member.header = header.str();
    member.arguments = std::move(arguments);
  };
  Dims window = node.getInts("kernel_shape");
  if (op == "Conv" || op == "Gemm") {
    addProduct(node, member);
  } else if (op == "MaxPool" || op == "AveragePool") {
    bool isMean = op == "AveragePool";
    is(isMean ? "AvgPool2D" : "MaxPool2D", isMean ? "avg_pool2d" : "max_pool2d",
       {list(window)});
    if (isMean)
      member.arguments.insert(member.arguments.begin(), exponent(node));
    addWindow(node, member);
  } else if (op == "GlobalAveragePool") {
    is("GlobalAveragePool2D", "global_avg_pool2d", {exponent(node)});
  } else if (op == "GlobalMaxPool") {
    is("GlobalMaxPool2D", "global_max_pool2d");
  } else if (op == "Add" || op == "Sub" || op == "Mul") {
    is((op + "2D").str(), (op.lower() + "2d"), {exponent(node)});
  } else if (op == "Max" || op == "Min") {
    is((op + "2D").str(), (op.lower() + "2d"));
  } else if (op == "Concat") {
    // Without a batch, axes are one less.
    is("Concat", "concat", {std::to_string(node.getInt("axis", 1) - 1)});
    member.takesList = true;
  } else if (op == "Reshape" || op == "Flatten" || op == "Squeeze" ||
             op == "Unsqueeze") {
    is("Reshape", "reshape", {shapeOf(node)});
  } else if (op == "Transpose") {
    Dims order = node.getInts("perm");
    if (order.empty() || order[0] != 0)
      return fail(node, "moves the batch, which ESP-DL v1.x doesn't have");
    order.erase(order.begin());
    for (int64_t &axis : order)
      --axis;
    is("Transpose", "transpose", {list(order)});
  } else if (op == "Softmax" || op == "Sigmoid") {
    is(op, op.lower(), {exponent(node)});
  } else if (isActivation) {
    addActivation(node, member);
  } else {
    return fail(node, "has no layer in ESP-DL v1.x");
  }
  if (member.inputs.empty())
    return fail(node, "reads nothing that is computed");
  makers[member.output] = members.size();
  members.push_back(std::move(member));
  return llvm::Error::success();
}

llvm::Error ModelWriter::run() {
  if (device.inputs.size() != 1)
    return llvm::createStringError("a model of ESP-DL v1.x has one input, but "
                                   "this has " +
                                   std::to_string(device.inputs.size()));
  element = device.inputs[0].type == Int8 ? "int8_t" : "int16_t";
  for (const Node &node : device.nodes)
    if (llvm::Error error = add(node))
      return error;
  return llvm::Error::success();
}

std::string ModelWriter::source(StringRef tensor) const {
  auto maker = makers.find(tensor);
  return maker == makers.end()
             ? "input"
             : "this->" + members[maker->second].name + ".get_output()";
}

void ModelWriter::printSteps(llvm::raw_ostream &os, bool isCall) const {
  llvm::StringMap<size_t> last;
  for (auto [index, member] : llvm::enumerate(members))
    for (const std::string &name : member.inputs)
      last[name] = index;
  for (const Value &value : device.outputs)
    last[value.name] = members.size();
  for (auto [index, member] : llvm::enumerate(members)) {
    std::vector<std::string> sources;
    for (const std::string &name : member.inputs)
      sources.push_back((member.takesList ? "&" : "") + source(name));
    std::string all = llvm::join(sources, ", ");
    os << "        this->" << member.name << (isCall ? ".call(" : ".build(")
       << (member.takesList ? "{" + all + "}" : all) << ");\n";
    std::set<std::string> freed;
    for (const std::string &name : member.inputs)
      if (isCall && last[name] == index && freed.insert(name).second)
        os << "        " << source(name) << ".free_element();\n";
  }
}

std::string ModelWriter::print(StringRef className,
                               StringRef coefficients) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::set<std::string> headers;
  for (const Member &member : members)
    headers.insert(member.header);
  os << "#pragma once\n\n#include <stdint.h>\n#include "
        "\"dl_layer_model.hpp\"\n";
  for (const std::string &header : headers)
    os << "#include \"dl_layer_" << header << ".hpp\"\n";
  os << "#include \"" << coefficients
     << ".hpp\"\n\nusing namespace dl;\nusing namespace dl::layer;\n\n"
     << "// The input: " << device.inputs[0].name << ", " << element
     << ", exponent " << device.inputs[0].exponent() << ", shape ";
  Dims shape = device.inputs[0].dims;
  if (!shape.empty())
    shape.erase(shape.begin());
  os << list(shape) << ".\n";
  for (const Value &value : device.outputs)
    os << "// An output: " << source(value.name).substr(6) << ", exponent "
       << value.exponent() << ".\n";
  os << "class " << className << " : public Model<" << element
     << ">\n{\npublic:\n";
  for (const Member &member : members)
    os << "    " << member.type << " " << member.name << ";\n";
  os << "\n    " << className << "()";
  for (auto [index, member] : llvm::enumerate(members)) {
    std::vector<std::string> arguments;
    for (const std::string &argument : member.arguments)
      arguments.push_back(StringRef(argument).starts_with("get_")
                              ? (coefficients + "::" + argument).str()
                              : argument);
    os << (index ? ",\n          " : "\n        : ") << member.name << "("
       << llvm::join(arguments, ", ") << ")";
  }
  os << "\n    {\n    }\n\n    void build(Tensor<" << element
     << "> &input)\n    {\n";
  printSteps(os, /*isCall=*/false);
  os << "    }\n\n    void call(Tensor<" << element << "> &input)\n    {\n";
  printSteps(os, /*isCall=*/true);
  os << "    }\n};\n";
  return text;
}

llvm::Expected<std::string> esp::writeLegacyModel(const Model &device,
                                                  ArrayRef<LegacyLayer> layers,
                                                  StringRef className,
                                                  StringRef coefficients) {
  ModelWriter writer(device, layers);
  if (llvm::Error error = writer.run())
    return std::move(error);
  return writer.print(className, coefficients);
}
