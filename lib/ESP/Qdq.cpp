// A model of ESP-DL as a float graph with quantizers: tensors, quantizers, and
// the table of operators. Rules are in QdqRules.cpp.

#include "Qdq.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "Quantizer.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

QdqWriter::Rule QdqWriter::findRule(StringRef op) {
  using Q = QdqWriter;
  return llvm::StringSwitch<Rule>(op)
      .Case("Conv", &Q::conv)
      .Case("Gemm", &Q::gemm)
      .Case("MatMul", &Q::matMul)
      .Cases({"AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool",
              "Resize", "DepthToSpace", "SpaceToDepth"},
             &Q::window)
      .Cases({"Relu",       "LeakyRelu",   "Sigmoid",
              "Tanh",       "HardSwish",   "HardSigmoid",
              "Elu",        "Gelu",        "Exp",
              "Log",        "Sqrt",        "Neg",
              "Abs",        "Erf",         "Softplus",
              "Reciprocal", "Mish",        "Identity",
              "Add",        "Sub",         "Mul",
              "Div",        "Max",         "Min",
              "Equal",      "Greater",     "GreaterOrEqual",
              "Less",       "LessOrEqual", "Pow",
              "Mod",        "And",         "Or",
              "Xor",        "Not"},
             &Q::elementwise)
      .Case("Swish", &Q::swish)
      .Case("PRelu", &Q::prelu)
      .Case("Clip", &Q::clip)
      .Case("LUT", &Q::table)
      .Cases({"QuantizeLinear", "DequantizeLinear", "RequantizeLinear"},
             &Q::quantizer)
      .Case("Transpose", &Q::transpose)
      .Cases({"Concat", "Split", "Softmax", "LogSoftmax", "LpNormalization"},
             &Q::alongAxis)
      .Cases({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
              "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
              "ReduceSumSquare"},
             &Q::reduce)
      .Cases({"Reshape", "Flatten", "Squeeze", "Unsqueeze"}, &Q::shaped)
      .Cases({"Slice", "Gather", "ReverseSequence", "ScatterND", "Pad",
              "LayerNormalization", "GRU", "LSTM", "Expand"},
             &Q::plain)
      .Case("InsertZeros", &Q::zeros)
      .Case("StreamingCache", &Q::cache)
      .Case("RMSNormalization", &Q::rootMeanSquare)
      .Default(nullptr);
}

llvm::Error QdqWriter::fail(const llvm::Twine &message) const {
  return nodeError(*current, message);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Dims channelsSecondDims(Dims dims) {
  if (dims.size() > 2)
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}

Dims QdqWriter::dimsOf(StringRef name, bool isLast) const {
  const Value *value = model.findValue(name);
  Dims dims = value ? value->dims : Dims();
  return isLast ? channelsSecondDims(dims) : dims;
}

const Tensor *QdqWriter::constantOf(size_t index) const {
  return model.findInitializer(current->input(index));
}

bool QdqWriter::isLast(size_t index) const {
  auto found = reals.find(current->input(index));
  return found != reals.end() && found->second.isLast;
}

Term QdqWriter::get(size_t index, bool isLast) {
  StringRef name = current->input(index);
  if (const Tensor *tensor = model.findInitializer(name))
    return constant(*tensor, isLast);
  auto found = reals.find(name);
  if (found == reals.end())
    return Term();
  const Real &real = found->second;
  if (real.isLast == isLast || real.term.rank() < 3)
    return real.term;
  return isLast ? graph.channelsSecond(real.term)
                : graph.channelsLast(real.term);
}

Term QdqWriter::dequantized(StringRef name, int32_t type, const Dims &dims,
                            ArrayRef<int64_t> values,
                            ArrayRef<int64_t> exponents, int64_t axis) {
  Term real = {name.str() + "_DequantizeLinear_Output", Float, dims};
  if (reals.contains(real.name))
    return reals[real.name].term;
  std::vector<float> scales;
  for (int64_t exponent : exponents)
    scales.push_back(std::ldexp(1.0f, exponent));
  if (scales.empty())
    scales = {1};
  // ONNX has no quantized integers of 64 bits.
  if (type == Int64) {
    std::vector<float> numbers;
    int64_t each = 1;
    for (size_t i = axis + 1; i < dims.size(); ++i)
      each *= dims[i];
    for (auto [i, value] : llvm::enumerate(values))
      numbers.push_back(static_cast<float>(
          double(value) * scales[scales.size() == 1 ? 0 : i / each]));
    return graph.floats(dims, numbers);
  }
  bool perChannel = scales.size() > 1;
  Term integers = graph.ints(type, dims, values);
  Term scale =
      graph.floats(perChannel ? Dims{int64_t(scales.size())} : Dims(), scales);
  Settings settings;
  if (perChannel)
    settings = {{"axis", axis}};
  std::vector<Term> inputs = {integers, scale};
  if (type != Int32)
    inputs.push_back(graph.ints(type, scale.dims, Dims(scales.size())));
  graph.nodes("DequantizeLinear", inputs, {real}, settings,
              name.str() + "_DequantizeLinear");
  reals[real.name] = {real, false};
  return real;
}

Term QdqWriter::constant(const Tensor &tensor, bool isLast) {
  bool isQuantized = tensor.type == Int8 || tensor.type == Int16;
  Tensor moved = tensor;
  if (isLast && tensor.dims.size() > 2) {
    moved.dims = channelsSecondDims(tensor.dims);
    int64_t outer = moved.dims[0], channels = moved.dims[1];
    moved.data = transposedBytes(tensor.data, bytesOf(tensor.type), outer,
                                 tensor.numElements() /
                                     std::max<int64_t>(outer * channels, 1));
  }
  if (!isQuantized)
    return graph.constant(moved.type, moved.dims, moved.data);
  Dims values;
  for (int64_t i = 0; i < moved.numElements(); ++i)
    values.push_back(moved.intAt(i));
  return dequantized(tensor.name + (isLast ? "_second" : ""), moved.type,
                     moved.dims, values, {tensor.exponent()}, 0);
}

Term QdqWriter::quantizers(const Term &term, const Value &value) {
  std::string name = value.name;
  Term scale = graph.number(Float, std::ldexp(1.0, value.exponent())),
       zero = graph.number(value.type, 0);
  Term integers = {name + "_QuantizeLinear_Output", value.type, term.dims};
  graph.nodes("QuantizeLinear", {term, scale, zero}, {integers}, {},
              name + "_QuantizeLinear");
  Term real = {outputs.contains(name) ? name
                                      : name + "_DequantizeLinear_Output",
               Float, term.dims};
  graph.nodes("DequantizeLinear", {integers, scale, zero}, {real}, {},
              name + "_DequantizeLinear");
  return real;
}

static bool isQuantized(const Value *value) {
  return value && (value->type == Int8 || value->type == Int16);
}

std::string QdqWriter::nameOfResult(size_t index) const {
  const std::string &name = current->outputs[index];
  return outputs.contains(name) && isQuantized(model.findValue(name))
             ? name + "_QuantizeLinear_Input"
             : name;
}

void QdqWriter::finish(Term term, bool isLast, size_t index) {
  const std::string &name = current->outputs[index];
  const Value *value = model.findValue(name);
  std::string wanted = nameOfResult(index);
  Term real = term.name == wanted ? term : graph.named(term, wanted);
  if (isQuantized(value))
    real = quantizers(real, *value);
  reals[name] = {real, isLast && real.rank() > 2};
}

//===----------------------------------------------------------------------===//
// The whole graph
//===----------------------------------------------------------------------===//

/// Whether what reads a tensor first is a kernel of images, perhaps behind
/// functions of single elements.
bool QdqWriter::isImageInput(StringRef name) const {
  for (const Node &node : model.nodes) {
    if (!llvm::is_contained(node.inputs, name))
      continue;
    if (isImageOp(node.opType))
      return true;
    bool passes = isTabulated(node.opType) ||
                  StringRef(node.opType).ends_with("quantizeLinear") ||
                  node.opType == "QuantizeLinear";
    return passes && isImageInput(node.outputs[0]);
  }
  return false;
}

void QdqWriter::addInput(const Value &value) {
  bool isLast = value.dims.size() > 2 && isImageInput(value.name);
  Dims dims = isLast ? channelsSecondDims(value.dims) : value.dims;
  bool isReal = isQuantized(&value) || value.type == Float;
  Term term =
      graph.input(value.name, isReal ? int32_t(Float) : value.type, dims);
  if (isQuantized(&value))
    term = quantizers(term, value);
  reals[value.name] = {term, isLast};
}

llvm::Error QdqWriter::addNode(const Node &node) {
  current = &node;
  if (node.outputs.empty())
    return fail("has no output");
  graph.setPrefix(node.name);
  Rule rule = findRule(node.opType);
  if (!rule)
    return fail("has no counterpart in ONNX");
  for (const std::string &name : node.inputs)
    if (!name.empty() && !reals.contains(name) && !model.findInitializer(name))
      return fail("reads '" + name + "', which isn't computed before");
  return (this->*rule)();
}

llvm::Error QdqWriter::run() {
  for (const Value &value : model.outputs)
    outputs.insert(value.name);
  for (const Value &value : model.inputs) {
    if (model.findInitializer(value.name))
      continue;
    if (!value.hasShape || llvm::is_contained(value.dims, -1))
      return llvm::createStringError("input '" + value.name +
                                     "' has no fixed shape");
    addInput(value);
  }
  std::vector<const Node *> order;
  if (llvm::Error error = sortedNodes(model, order))
    return error;
  for (const Node *node : order)
    if (llvm::Error error = addNode(*node))
      return error;
  for (const Value &value : model.outputs) {
    auto found = reals.find(value.name);
    if (found == reals.end())
      return llvm::createStringError("output '" + value.name +
                                     "' isn't computed");
    Term term = found->second.term;
    if (term.name != value.name)
      term = graph.named(term, value.name);
    graph.output(term);
  }
  return llvm::Error::success();
}

std::set<std::string> QdqWriter::lastTensors() const {
  std::set<std::string> names;
  for (const auto &entry : reals)
    if (entry.second.isLast)
      names.insert(entry.first().str());
  return names;
}

std::set<std::string> esp::channelsLastTensors(const Model &model,
                                               const Chip &chip) {
  QdqWriter writer(model, chip);
  // What comes before a node without a counterpart is known even so.
  llvm::consumeError(writer.run());
  return writer.lastTensors();
}

llvm::Expected<std::string> esp::writeQdq(const Model &model,
                                          const Chip &chip) {
  QdqWriter writer(model, chip);
  if (llvm::Error error = writer.run())
    return std::move(error);
  return writer.serialize();
}

mlir::OwningOpRef<mlir::ModuleOp> esp::importQdq(const Model &model,
                                                 const Chip &chip,
                                                 StringRef name,
                                                 mlir::MLIRContext *context) {
  return importGraph(writeQdq(model, chip), name, context);
}
