// Exponents of all tensors, and the tensors of the device.

#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstring>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

bool esp::isPassive(StringRef op) {
  return llvm::is_contained(
      {"MaxPool", "Reshape", "Flatten", "Identity", "Slice", "Pad", "Split",
       "Transpose", "Squeeze", "Unsqueeze", "Gather", "ReverseSequence",
       "ReduceMax", "ReduceMin", "DepthToSpace", "SpaceToDepth"},
      op);
}

bool esp::isImageOp(StringRef op) {
  return llvm::is_contained({"Conv", "ConvTranspose", "AveragePool", "MaxPool",
                             "GlobalAveragePool", "DepthToSpace",
                             "SpaceToDepth", "Resize", "GlobalMaxPool",
                             "InsertZeros"},
                            op);
}

bool esp::isTabulated(StringRef op) {
  return llvm::is_contained({"Relu", "Sigmoid", "Tanh", "HardSwish",
                             "HardSigmoid", "Elu", "Gelu", "LeakyRelu", "Swish",
                             "Exp", "Log", "Sqrt", "Neg", "Abs"},
                            op);
}

Dims esp::toChannelsLast(ArrayRef<int64_t> dims) {
  Dims last(dims);
  if (last.size() > 2)
    std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  return last;
}

Quantizer::Quantizer(const Model &model, Exponents exponents,
                     const QuantizeOptions &options)
    : in(model), exponents(std::move(exponents)), options(options) {
  for (const Tensor &tensor : in.initializers) {
    constants[tensor.name] = &tensor;
    taken.insert(tensor.name);
  }
  for (const auto *list : {&in.inputs, &in.values})
    for (const Value &value : *list) {
      shapes[value.name] = value.dims;
      taken.insert(value.name);
    }
  for (const Node &current : in.nodes) {
    taken.insert(current.name);
    for (const std::string &name : current.outputs)
      producers[name] = &current;
    for (const std::string &name : current.inputs)
      consumers[name].push_back(&current);
  }
  // The graph's results are read, too.
  for (const Value &value : in.outputs)
    consumers[value.name].push_back(nullptr);
}

llvm::Error Quantizer::fail(const llvm::Twine &message) const {
  return nodeError(*node, message);
}

int Quantizer::bitsOf(const Node &current) const {
  auto found = options.nodeBits.find(current.name);
  return found == options.nodeBits.end() ? options.bits : found->second;
}

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

void Quantizer::followInputs() {
  // States of recurrent layers are what they give.
  for (const Node &current : in.nodes) {
    if (current.opType != "GRU" && current.opType != "LSTM")
      continue;
    std::string first, second;
    if (!current.outputs.empty())
      first = current.outputs[0];
    if (current.outputs.size() > 1)
      second = current.outputs[1];
    if (exponents.count(first) && !second.empty())
      exponents[second] = exponents[first];
  }
  for (const Node &current : in.nodes)
    if (isPassive(current.opType) && exponents.count(current.inputs[0]))
      for (const std::string &name : current.outputs)
        exponents[name] = exponents[current.inputs[0]];
}

/// Ops whose inputs have the output's exponent. From the last node to the
/// first, so that what a later op wants reaches those before it.
void Quantizer::align() {
  for (const Node &current : llvm::reverse(in.nodes)) {
    if (!llvm::is_contained({"Add", "Sub", "Concat", "ScatterND", "Resize"},
                            current.opType))
      continue;
    int64_t wanted = exponents[current.outputs[0]];
    for (const std::string &name : current.inputs) {
      auto found = exponents.find(name);
      if (name.empty() || isConstant(name) || found == exponents.end() ||
          consumers[name].size() != 1)
        continue;
      auto producer = producers.find(name);
      if (producer != producers.end() && isPassive(producer->second->opType))
        continue;
      found->second = wanted;
    }
  }
}

/// The exponent of a product's sums: the largest, if each output has its own.
/// Nothing if it isn't known.
std::optional<int64_t> Quantizer::sumExponent(const Node &current) {
  StringRef name = current.input(1);
  auto x = exponents.find(current.inputs[0]);
  if (x == exponents.end() || name.empty())
    return std::nullopt;
  auto computed = exponents.find(name.str());
  if (!isConstant(name))
    return computed == exponents.end()
               ? std::nullopt
               : std::optional(x->second + computed->second);
  std::vector<int64_t> all =
      weightExponents(current, *constants[name.str()], options);
  return all.empty() ? std::nullopt
                     : std::optional(x->second + *llvm::max_element(all));
}

void Quantizer::raiseSums() {
  for (const Node &current : in.nodes) {
    if (isPassive(current.opType) && exponents.count(current.inputs[0]))
      for (const std::string &name : current.outputs)
        exponents[name] = exponents[current.inputs[0]];
    if (!isProduct(current.opType))
      continue;
    auto least = sumExponent(current);
    auto own = exponents.find(current.outputs[0]);
    if (!least || own == exponents.end() || own->second >= *least)
      continue;
    note("node '" + current.name + "' (" + current.opType +
         ") gives its result the exponent " + llvm::Twine(*least) +
         " of its sums instead of " + llvm::Twine(own->second) +
         ": kernels of the " + options.chip->name +
         " shift sums to the right only");
    own->second = *least;
  }
}

/// The old toolkit's rules: activations give their exponent to what feeds
/// them, and a Concat, Max or Min has the largest of its inputs everywhere.
void Quantizer::resolveLegacy() {
  auto keeps = [](StringRef op) {
    return isPassive(op) || op == "GlobalAveragePool" || op == "Resize" ||
           op == "GlobalMaxPool" || op == "Expand";
  };
  // Kernels that compare or join elements of several tensors.
  auto joins = [](StringRef op) {
    return op == "Concat" || op == "Max" || op == "Min";
  };
  // An activation gives its exponent to the sums that feed it alone; behind
  // anything else it keeps its input's.
  std::function<bool(const Node &)> follows;
  auto isActivation = [](StringRef op) {
    return op == "Relu" || op == "LeakyRelu" || op == "PRelu";
  };
  auto feeds = [&](const Node &current) {
    auto producer = producers.find(current.inputs[0]);
    return isActivation(current.opType) && producer != producers.end() &&
           consumers[current.inputs[0]].size() == 1 &&
           !follows(*producer->second) && !joins(producer->second->opType);
  };
  follows = [&](const Node &current) {
    return keeps(current.opType) ||
           (isActivation(current.opType) && !feeds(current));
  };
  auto largestInput = [&](const Node &current) {
    int64_t largest = INT64_MIN;
    for (const std::string &name : current.inputs)
      if (exponents.count(name))
        largest = std::max(largest, exponents[name]);
    return largest;
  };
  // A Concat changes what feeds it, through ops that keep the exponent; from
  // there it goes down again. Exponents only grow, so that this ends.
  for (bool changed = true; changed;) {
    changed = false;
    auto set = [&](const std::string &name, int64_t exponent) {
      auto [place, isNew] = exponents.try_emplace(name, exponent);
      changed |= isNew || place->second != exponent;
      place->second = exponent;
    };
    for (const Node &current : in.nodes) {
      if (follows(current) && exponents.count(current.inputs[0]))
        set(current.outputs[0], exponents[current.inputs[0]]);
      if (feeds(current) && exponents.count(current.outputs[0]))
        set(current.inputs[0], exponents[current.outputs[0]]);
      if (!joins(current.opType))
        continue;
      int64_t largest = largestInput(current);
      for (const std::string &name : current.inputs) {
        if (isConstant(name))
          continue;
        set(name, largest);
        for (auto at = producers.find(name);
             at != producers.end() && follows(*at->second);
             at = producers.find(at->second->inputs[0]))
          set(at->second->inputs[0], largest);
      }
      set(current.outputs[0], largest);
    }
  }
}

int64_t Quantizer::parameterExponent(ArrayRef<float> values, int bits,
                                     bool isChannel) const {
  if (!options.legacy)
    return constantExponent(values, bits, !isChannel);
  double most = 0;
  for (float value : values)
    most = std::max<double>(most, std::abs(value));
  int64_t exponent = legacyExponent(most, bits);
  return isChannel ? std::max<int64_t>(exponent, -15) : exponent;
}

int64_t Quantizer::quantizedNumber(float value, int64_t exponent,
                                   int width) const {
  double scaled = value * std::ldexp(1.0f, -exponent),
         most = std::ldexp(1.0, width - 1);
  double q = options.legacy ? std::nearbyint(scaled)
                            : roundAs(options.chip->rounding, scaled);
  return static_cast<int64_t>(std::clamp(q, -most, most - 1));
}

bool Quantizer::isReal(StringRef name) const {
  const Value *value = in.findValue(name);
  return value && value->type == Float;
}

llvm::Error Quantizer::resolveExponents() {
  if (options.legacy)
    resolveLegacy();
  followInputs();
  // What feeds nothing but a Relu or Clip needs no more than that gives.
  for (const Node &current : llvm::reverse(in.nodes))
    if (!options.legacy &&
        (current.opType == "Relu" || current.opType == "Clip")) {
      auto producer = producers.find(current.inputs[0]);
      if (producer != producers.end() &&
          consumers[current.inputs[0]].size() == 1 &&
          !isPassive(producer->second->opType) &&
          exponents.count(current.outputs[0]))
        exponents[current.inputs[0]] = exponents[current.outputs[0]];
    }
  if (!options.legacy)
    align();
  followInputs();
  if (!options.legacy && options.chip->isPacked)
    raiseSums();
  for (const Value &value : in.inputs)
    if (value.type == Float && !exponents.count(value.name))
      return llvm::createStringError("input '" + value.name +
                                     "' has no exponent");
  for (const Node &current : in.nodes)
    for (const std::string &name : current.outputs)
      if (!name.empty() && !exponents.count(name) && isReal(name))
        return llvm::createStringError("tensor '" + name + "' of node '" +
                                       current.name + "' has no exponent");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Tensors of the device
//===----------------------------------------------------------------------===//

const Dims &Quantizer::dimsOf(StringRef name) {
  auto found = constants.find(name.str());
  return found != constants.end() ? found->second->dims : shapes[name.str()];
}

std::string Quantizer::fresh(StringRef stem) {
  int &number = counters[stem];
  for (;; ++number) {
    std::string name = (stem + "_" + llvm::Twine(number)).str();
    if (taken.insert(name).second)
      return name;
  }
}

void Quantizer::declare(StringRef name, Form form, const Dims &dims) {
  Value &value = out.values.emplace_back();
  value.name = name.str();
  value.type = form.type;
  value.dims = dims;
  value.hasShape = true;
  value.exponents = {form.type == Float ? 0 : form.exponent};
}

Node Quantizer::start(StringRef op) {
  Node result;
  result.name = node->name;
  result.opType = op.empty() ? node->opType : op.str();
  return result;
}

StringRef esp::quantType(int32_t type) {
  return type == Int8 ? "S8" : type == Int16 ? "S16" : "F32";
}

void Quantizer::result(Node &current, Form form, size_t index) {
  const std::string &name = node->outputs[index];
  current.outputs.push_back(name);
  if (index == 0)
    current.setString("quant_type", quantType(form.type));
  forms[name] = form;
  Dims dims = form.isLast ? toChannelsLast(dimsOf(name)) : dimsOf(name);
  declare(name, form, dims);
}

void Quantizer::insertTranspose(StringRef from, StringRef to,
                                ArrayRef<int64_t> order, Form form,
                                const Dims &dims) {
  Node moved;
  moved.name = fresh("Transpose");
  moved.opType = "Transpose";
  moved.inputs = {from.str()};
  moved.outputs = {to.str()};
  moved.setInts("perm", order);
  moved.setString("quant_type", quantType(form.type));
  declare(to, form, dims);
  add(std::move(moved));
}

std::string Quantizer::get(StringRef name, Form form) {
  Form has = forms[name];
  std::string device = name.str();
  Dims dims = has.isLast ? toChannelsLast(dimsOf(name)) : dimsOf(name);
  if (dims.size() < 3)
    form.isLast = has.isLast;
  if (form.type == Float || has.type == Float)
    has.exponent = has.type == Float ? form.exponent : has.exponent;
  if (has.type != form.type || has.exponent != form.exponent) {
    std::string key =
        (name + "|" + llvm::Twine(form.type) + "|" + llvm::Twine(form.exponent))
            .str();
    std::string &known = made[key];
    if (known.empty()) {
      Node converted;
      converted.opType = has.type == Float    ? "QuantizeLinear"
                         : form.type == Float ? "DequantizeLinear"
                                              : "RequantizeLinear";
      known = fresh(name.str() + "_" + StringRef(converted.opType).lower());
      converted.name = fresh(converted.opType);
      converted.inputs = {device};
      converted.outputs = {known};
      converted.setString("quant_type",
                          quantType(form.type == Float ? has.type : form.type));
      add(std::move(converted));
      declare(known, {form.type, form.exponent, has.isLast}, dims);
    }
    device = known;
  }
  if (has.isLast == form.isLast)
    return device;
  std::string &known = made[device + "|" + (form.isLast ? "last" : "second")];
  if (!known.empty())
    return known;
  int64_t rank = dims.size();
  Dims order = {0};
  if (form.isLast) {
    for (int64_t i = 2; i < rank; ++i)
      order.push_back(i);
    order.push_back(1);
  } else {
    order.push_back(rank - 1);
    for (int64_t i = 1; i + 1 < rank; ++i)
      order.push_back(i);
  }
  Dims moved;
  for (int64_t axis : order)
    moved.push_back(dims[axis]);
  known = fresh(device + "_transpose");
  insertTranspose(device, known, order, form, moved);
  return known;
}

std::string Quantizer::input(size_t index, bool isLast) {
  StringRef name = node->input(index);
  if (isConstant(name))
    return constantOperand(index, isLast, dimsOf(name).size(), std::nullopt);
  return get(name, {typeOf(*node), exponents[name.str()], isLast});
}

std::vector<float> Quantizer::floatsOf(const Tensor &tensor) const {
  std::vector<float> values;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    values.push_back(static_cast<float>(tensor.at(i)));
  return values;
}

std::string Quantizer::put(Tensor tensor) {
  std::string name = tensor.name;
  for (int number = 1;; ++number) {
    const Tensor *known = out.findInitializer(tensor.name);
    if (!known) {
      out.initializers.push_back(std::move(tensor));
      return out.initializers.back().name;
    }
    if (known->data == tensor.data && known->dims == tensor.dims &&
        known->exponents == tensor.exponents && known->type == tensor.type)
      return tensor.name;
    // Names that the model has are for what has them there.
    do
      tensor.name = name + "_" + std::to_string(number);
    while (taken.contains(tensor.name) && ++number);
  }
}

std::string Quantizer::putInts(StringRef stem, ArrayRef<int64_t> values) {
  Tensor list;
  list.name = fresh(stem);
  list.docString = "layout ==> UNK";
  list.type = Int64;
  list.dims = {int64_t(values.size())};
  list.exponents = {0};
  for (int64_t value : values)
    appendElement(list.data, value);
  return put(std::move(list));
}

std::string Quantizer::copyConstant(StringRef name) {
  if (name.empty())
    return "";
  Tensor copy = *constants[name.str()];
  copy.exponents = {0};
  copy.docString = "layout ==> UNK";
  return put(std::move(copy));
}

Tensor Quantizer::quantized(const Tensor &from, const Dims &dims,
                            int64_t exponent, int32_t type) const {
  Tensor tensor;
  tensor.name = from.name;
  tensor.docString = "layout ==> UNK";
  tensor.dims = dims;
  tensor.type = type;
  tensor.exponents = {exponent};
  unsigned width = bytesOf(type);
  for (int64_t i = 0; i < from.numElements(); ++i)
    appendElement(tensor.data, quantizedNumber(from.at(i), exponent, 8 * width),
                  width);
  return tensor;
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

void Quantizer::addInputs() {
  for (const Value &value : in.inputs) {
    Form form = {value.type, exponents[value.name], false};
    for (const Node *consumer : consumers[value.name]) {
      if (!consumer)
        continue;
      if (value.type == Float)
        form.type = typeOf(*consumer);
      form.isLast = isImageOp(consumer->opType) && value.dims.size() > 2;
      break;
    }
    forms[value.name] = form;
    declare(value.name, form,
            form.isLast ? toChannelsLast(value.dims) : value.dims);
    out.inputs.push_back(out.values.back());
  }
}

llvm::Error Quantizer::quantizeNode(const Node &current) {
  node = &current;
  Rule rule = findRule(current.opType);
  return rule ? (this->*rule)()
              : fail("isn't an operator that ESP-DL quantizes");
}

std::vector<std::string> Quantizer::check() {
  addInputs();
  std::vector<std::string> lines;
  for (const Node &current : in.nodes) {
    llvm::Error error = quantizeNode(current);
    if (!error)
      continue;
    lines.push_back(llvm::toString(std::move(error)));
    // Its readers are looked at, too.
    for (const std::string &name : current.outputs)
      forms.try_emplace(name, Form{typeOf(current), 0, false});
  }
  return lines;
}

llvm::Expected<Model> Quantizer::run() {
  if (llvm::Error error = resolveExponents())
    return std::move(error);
  out.irVersion = in.irVersion;
  out.graphName = in.graphName;
  out.metadata = {{"target", options.chip->name.str()}};
  addInputs();
  for (const Node &current : in.nodes)
    if (llvm::Error error = quantizeNode(current))
      return std::move(error);
  for (const Value &value : in.outputs) {
    const Value *known = out.findValue(value.name);
    if (!known)
      return llvm::createStringError("output '" + value.name +
                                     "' is no result of a node");
    out.outputs.push_back(*known);
  }
  if (wideLayers)
    note("sums of " + llvm::Twine(wideLayers) + " of " + llvm::Twine(layers) +
         " layers can leave the " + llvm::Twine(options.chip->laneBits) +
         " bits of the " + options.chip->name +
         "'s lanes; 'onnxq esp evaluate --test-values --lanes' shows what "
         "that changes");
  return std::move(out);
}

Quantizer::Rule Quantizer::findRule(StringRef op) {
  using Q = Quantizer;
  if (isTabulated(op))
    return &Q::tabulated;
  return llvm::StringSwitch<Rule>(op)
      .Case("Conv", &Q::conv)
      .Case("ConvTranspose", &Q::convTranspose)
      .Case("Gemm", &Q::gemm)
      .Case("MatMul", &Q::matMul)
      .Cases({"AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"},
             &Q::pool)
      .Case("Clip", &Q::tabulated)
      .Cases({"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "Pow"},
             &Q::binary)
      .Case("PRelu", &Q::prelu)
      .Case("Concat", &Q::concat)
      .Cases({"Softmax", "LogSoftmax", "Split", "LpNormalization", "ReduceMean",
              "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
              "ReduceLogSum", "ReduceLogSumExp", "ReduceProd",
              "ReduceSumSquare"},
             &Q::keepsLayout)
      .Cases({"Reshape", "Flatten", "Identity", "Slice", "Pad", "Transpose",
              "Squeeze", "Unsqueeze", "Gather", "Expand", "ReverseSequence"},
             &Q::restores)
      .Cases({"DepthToSpace", "SpaceToDepth", "Resize"}, &Q::image)
      .Case("LayerNormalization", &Q::normalization)
      .Case("RMSNormalization", &Q::rootMeanSquare)
      .Case("ScatterND", &Q::scatter)
      .Cases({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"},
             &Q::comparison)
      .Cases({"GRU", "LSTM"}, &Q::recurrent)
      .Default(nullptr);
}

llvm::Expected<Model> esp::quantizeModel(const Model &model,
                                         Exponents exponents,
                                         const QuantizeOptions &options) {
  return Quantizer(model, std::move(exponents), options).run();
}
