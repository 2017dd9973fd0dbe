// The graph of a model as the device computes it: nodes in order, their
// operands and results, and the table of operators. Rules are in
// Simulation*.cpp.

#include "Simulation.h"
#include "GraphPieces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

Simulation::Simulation(const Model &model, const SimulationOptions &options)
    : model(model), options(options),
      rounding(options.legacy ? Rounding::Floor : options.chip->rounding),
      graph(model.graphName) {
  if (options.realPorts)
    lastTensors = channelsLastTensors(model, *options.chip);
  isStreaming = llvm::any_of(model.nodes, [](const Node &node) {
    return node.opType == "StreamingCache";
  });
}

Simulation::Rule Simulation::findRule(StringRef op) {
  using S = Simulation;
  return llvm::StringSwitch<Rule>(op)
      .Case("Conv", &S::conv)
      .Case("Gemm", &S::gemm)
      .Case("MatMul", &S::matMul)
      .Case("AveragePool", &S::averagePool)
      .Case("GlobalAveragePool", &S::globalAveragePool)
      .Case("MaxPool", &S::maxPool)
      .Cases({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
              "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
              "ReduceSumSquare", "GlobalMaxPool"},
             &S::reduce)
      .Case("Resize", &S::resize)
      .Cases({"DepthToSpace", "SpaceToDepth"}, &S::depthAndSpace)
      .Case("InsertZeros", &S::insertZeros)
      .Cases({"Add", "Sub"}, &S::sum)
      .Case("Mul", &S::product)
      .Case("Div", &S::quotient)
      .Cases({"Max", "Min"}, &S::extreme)
      .Cases({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"},
             &S::comparison)
      .Cases({"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish",
              "HardSigmoid", "Elu", "Gelu", "Swish", "Exp", "Log", "Sqrt",
              "Neg", "Abs", "LUT", "Erf", "Softplus", "Reciprocal", "Mish"},
             &S::unary)
      .Case("PRelu", &S::prelu)
      .Case("Clip", &S::clipped)
      .Cases({"QuantizeLinear", "DequantizeLinear", "RequantizeLinear"},
             &S::quantizeNode)
      .Case("Softmax", &S::softmax)
      .Cases({"LogSoftmax", "LayerNormalization", "LpNormalization", "Mod",
              "Pow", "And", "Or", "Xor", "Not"},
             &S::inFloat)
      .Cases({"GRU", "LSTM"}, &S::recurrent)
      .Case("RMSNormalization", &S::rmsNormalization)
      .Cases({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"},
             &S::reshaped)
      .Case("Transpose", &S::transposed)
      .Cases({"Slice", "Gather", "ReverseSequence", "ScatterND", "Expand"},
             &S::moved)
      .Case("Concat", &S::concatenated)
      .Case("Pad", &S::padded)
      .Case("Split", &S::split)
      .Case("StreamingCache", &S::streamingCache)
      .Default(nullptr);
}

llvm::Error Simulation::fail(const llvm::Twine &message) const {
  return node ? nodeError(*node, message) : llvm::createStringError(message);
}

//===----------------------------------------------------------------------===//
// The whole graph
//===----------------------------------------------------------------------===//

llvm::Error Simulation::indexModel() {
  for (const Tensor &tensor : model.initializers)
    if (!constants.try_emplace(tensor.name, &tensor).second)
      return fail("tensor '" + tensor.name + "' is defined twice");
  for (const auto *list : {&model.values, &model.outputs, &model.inputs})
    for (const Value &value : *list)
      values.try_emplace(value.name, &value);
  for (const Value &value : model.inputs) {
    if (constants.contains(value.name))
      continue;
    if (!value.hasShape || llvm::is_contained(value.dims, -1))
      return fail("input '" + value.name + "' has no fixed shape");
    if (!bytesOf(value.type))
      return fail("input '" + value.name + "' has elements of " +
                  nameOf(value.type));
    Term term = inputOf(value);
    if (!terms.try_emplace(value.name, term).second)
      return fail("input '" + value.name + "' is defined twice");
  }
  return llvm::Error::success();
}

static bool isQuantized(int32_t type) { return type == Int8 || type == Int16; }

Term Simulation::inputOf(const Value &value) {
  if (!options.realPorts || !isQuantized(value.type))
    return graph.input(value.name, value.type, value.dims);
  bool isLast = lastTensors.count(value.name) && value.dims.size() > 2;
  Dims dims = value.dims;
  if (isLast)
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  graph.setPrefix(value.name);
  Term real = graph.input(value.name, Float, dims);
  if (isLast)
    real = graph.channelsLast(real);
  // The old toolkit's inputs are rounded as its parameters are.
  Rounding own = rounding;
  if (options.legacy)
    rounding = Rounding::HalfEven;
  Term made = quantized(real, value.exponent(), value.type);
  rounding = own;
  return made;
}

Term Simulation::realOutput(llvm::StringRef name, Term term) {
  const Value *value = values.lookup(name);
  graph.setPrefix(name);
  if (value && isQuantized(term.type))
    term =
        graph.binary("Mul", graph.cast(term, Float),
                     graph.number(Float, std::ldexp(1.0, value->exponent())));
  if (lastTensors.count(name.str()) && term.rank() > 2)
    term = graph.channelsSecond(term);
  return term.name == name ? term : graph.named(term, name);
}

llvm::Error Simulation::runNode(const Node &current) {
  node = &current;
  graph.setPrefix(current.name.empty() ? current.opType : current.name);
  Rule rule = findRule(current.opType);
  if (!rule)
    return fail("isn't an operator of ESP-DL's runtime");
  if (llvm::all_of(current.outputs,
                   [](const std::string &name) { return name.empty(); }))
    return fail("has no output");
  for (const std::string &input : current.inputs)
    if (!input.empty() && !terms.contains(input) && !constants.contains(input))
      return fail("reads tensor '" + input +
                  "', which no node, input or constant defines");
  return (this->*rule)();
}

llvm::Error Simulation::run() {
  if (llvm::Error error = indexModel())
    return error;
  std::vector<const Node *> order;
  if (llvm::Error error = sortedNodes(model, order))
    return error;
  for (const Node *current : order)
    if (llvm::Error error = runNode(*current))
      return error;
  node = nullptr;
  std::vector<std::string> outputs = options.outputs;
  if (outputs.empty())
    for (const Value &value : model.outputs)
      outputs.push_back(value.name);
  for (const std::string &name : outputs) {
    auto found = terms.find(name);
    if (found == terms.end())
      return fail("output '" + name + "' isn't computed by any node");
    graph.output(options.realPorts ? realOutput(name, found->second)
                                   : found->second);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

const Tensor *Simulation::constantOf(size_t index) const {
  return constants.lookup(node->input(index));
}

Operand Simulation::operand(size_t index) {
  StringRef name = node->input(index);
  Operand result;
  if (name.empty())
    return result;
  result.constant = constants.lookup(name);
  auto found = terms.find(name);
  if (found == terms.end()) {
    const Tensor &tensor = *result.constant;
    Term term = graph.constant(tensor.type, tensor.dims, tensor.data);
    found = terms.try_emplace(name, term).first;
  }
  result.term = found->second;
  if (result.constant)
    result.exponents = result.constant->exponents;
  else if (const Value *value = values.lookup(name))
    result.exponents = value->exponents;
  return result;
}

Result Simulation::result(size_t index) {
  Result y;
  if (index >= node->outputs.size())
    return y;
  y.name = node->outputs[index];
  const Value *value = values.lookup(y.name);
  if (value) {
    y.type = value->type;
    y.exponent = value->exponent();
    if (value->hasShape && !llvm::is_contained(value->dims, -1))
      y.dims = value->dims;
  }
  return y;
}

std::optional<Dims> Simulation::integers(size_t input, StringRef attribute) {
  if (const Tensor *tensor = constantOf(input)) {
    Dims list;
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      list.push_back(tensor->intAt(i));
    return list;
  }
  if (const Attribute *found = node->find(attribute))
    return found->kind == Attribute::IntKind ? Dims{found->i} : found->ints;
  return std::nullopt;
}

static std::string shapeText(const Dims &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

/// The sizes from the first one on that isn't 1.
static llvm::ArrayRef<int64_t> withoutBatch(llvm::ArrayRef<int64_t> dims) {
  return dims.drop_while([](int64_t dim) { return dim == 1; });
}

llvm::Error Simulation::finish(Term term, size_t index, bool isReshape) {
  Result y = result(index);
  if (y.name.empty())
    return llvm::Error::success();
  if (y.type != Undefined && y.type != term.type)
    return fail("gives " + nameOf(term.type) + ", but '" + y.name +
                "' is declared as " + nameOf(y.type));
  if (term.numElements() > mostElements)
    return fail("gives more elements than any chip holds");
  bool isSame = !y.dims || elementCount(*y.dims) == term.numElements();
  if (y.dims && *y.dims != term.dims && (isSame || !isStreaming)) {
    if (!isSame)
      return fail("gives shape " + shapeText(term.dims) + ", but '" + y.name +
                  "' is declared as " + shapeText(*y.dims));
    // Some writers declare a shape in another order of axes: only what is meant
    // to change a shape, or leaves out a batch, follows the declaration.
    if (isReshape || withoutBatch(*y.dims) == withoutBatch(term.dims))
      term = graph.reshape(term, *y.dims);
  }
  bool isPort =
      options.realPorts && llvm::any_of(model.outputs, [&](const Value &value) {
        return value.name == y.name;
      });
  terms[y.name] = graph.named(term, isPort ? y.name + "_device" : y.name);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> esp::simulate(const Model &model,
                                          const SimulationOptions &options) {
  Simulation simulation(model, options);
  if (llvm::Error error = simulation.run())
    return std::move(error);
  return simulation.serialize();
}

mlir::OwningOpRef<mlir::ModuleOp>
esp::importSimulation(const Model &model, const SimulationOptions &options,
                      StringRef name, mlir::MLIRContext *context) {
  return importGraph(simulate(model, options), name, context);
}
