// The graph of a model as the device computes it: nodes in order, their
// operands and results, and the table of operators. Rules are in
// Simulation*.cpp.

#include "Simulation.h"
#include "OnnxQuant/Import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

Simulation::Simulation(const Model &model, const SimulationOptions &options)
    : model(model), options(options),
      rounding(options.legacy ? Rounding::Floor : options.chip->rounding),
      graph(model.graphName) {}

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
              "Pow", "GRU", "LSTM", "And", "Or", "Xor", "Not"},
             &S::inFloat)
      .Case("RMSNormalization", &S::rmsNormalization)
      .Cases({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"},
             &S::reshaped)
      .Case("Transpose", &S::transposed)
      .Cases({"Slice", "Gather", "ReverseSequence", "ScatterND"}, &S::moved)
      .Case("Concat", &S::concatenated)
      .Case("Pad", &S::padded)
      .Case("Split", &S::split)
      .Case("StreamingCache", &S::streamingCache)
      .Default(nullptr);
}

llvm::Error Simulation::fail(const llvm::Twine &message) const {
  std::string text =
      node ? "node '" + node->name + "' (" + node->opType + ") " : "";
  return llvm::createStringError(text + message.str());
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
    Term term = graph.input(value.name, value.type, value.dims);
    if (!terms.try_emplace(value.name, term).second)
      return fail("input '" + value.name + "' is defined twice");
  }
  return llvm::Error::success();
}

/// Nodes after those whose results they read.
llvm::Error Simulation::sortNodes(std::vector<const Node *> &order) {
  llvm::StringMap<size_t> producer;
  for (auto [index, made] : llvm::enumerate(model.nodes))
    for (const std::string &output : made.outputs)
      if (!output.empty() && !producer.try_emplace(output, index).second)
        return fail("tensor '" + output + "' is computed twice");
  enum State : char { New, Open, Done };
  std::vector<char> state(model.nodes.size(), New);
  for (size_t root = 0; root < model.nodes.size(); ++root) {
    std::vector<std::pair<size_t, size_t>> stack;
    if (state[root] == New)
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const Node &current = model.nodes[index];
      state[index] = Open;
      if (next == current.inputs.size()) {
        state[index] = Done;
        order.push_back(&current);
        stack.pop_back();
        continue;
      }
      auto found = producer.find(current.inputs[next++]);
      if (found == producer.end())
        continue;
      if (state[found->second] == Open)
        return fail("node '" + current.name + "' is part of a cycle");
      if (state[found->second] == New)
        stack.push_back({found->second, 0});
    }
  }
  return llvm::Error::success();
}

llvm::Error Simulation::runNode(const Node &current) {
  node = &current;
  graph.setPrefix(current.name.empty() ? current.opType : current.name);
  Rule rule = findRule(current.opType);
  if (!rule)
    return fail("isn't an operator of ESP-DL's runtime");
  if (current.outputs.empty() || current.outputs[0].empty())
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
  if (llvm::Error error = sortNodes(order))
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
    graph.output(found->second);
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
  if (y.dims && *y.dims != term.dims) {
    int64_t count = 1;
    for (int64_t dim : *y.dims)
      count *= dim;
    if (count != term.numElements())
      return fail("gives shape " + shapeText(term.dims) + ", but '" + y.name +
                  "' is declared as " + shapeText(*y.dims));
    // Some writers declare a shape in another order of axes: only what is meant
    // to change a shape, or leaves out a batch, follows the declaration.
    if (isReshape || withoutBatch(*y.dims) == withoutBatch(term.dims))
      term = graph.reshape(term, *y.dims);
  }
  terms[y.name] = graph.named(term, y.name);
  return llvm::Error::success();
}

Settings Simulation::settings(llvm::ArrayRef<StringRef> leftOut) const {
  static constexpr llvm::StringLiteral own[] = {
      "quant_type", "activation", "lut", "gate_exponent", "activation_slopes"};
  Settings list;
  for (const Attribute &attribute : node->attributes) {
    StringRef name = attribute.name;
    if (llvm::is_contained(own, name) || llvm::is_contained(leftOut, name))
      continue;
    if (attribute.kind == Attribute::IntKind)
      list.emplace_back(name, attribute.i);
    else if (attribute.kind == Attribute::FloatKind)
      list.emplace_back(name, attribute.f);
    else if (attribute.kind == Attribute::StringKind)
      list.emplace_back(name, attribute.s);
    else if (attribute.kind == Attribute::IntsKind)
      list.emplace_back(name, attribute.ints);
  }
  return list;
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
  auto bytes = simulate(model, options);
  if (!bytes) {
    mlir::emitError(mlir::FileLineColLoc::get(context, name, 0, 0))
        << llvm::toString(bytes.takeError());
    return {};
  }
  return importModel({bytes->data(), bytes->size()}, name, "", context);
}
