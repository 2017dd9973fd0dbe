// GRU and LSTM, step by step. Sums of products become 16 bits at the gates'
// exponent, gates are floats, and each state is rounded to its type before the
// next step reads it: errors of one step reach the next as they do on the chip.

#include "GraphPieces.h"
#include "Quantizer.h"
#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

/// Whether a layer has the functions that it has if it names none.
static bool hasOwnFunctions(const Node &node) {
  const Attribute *named = node.find("activations");
  if (!named)
    return true;
  std::vector<llvm::StringRef> own = {"Sigmoid", "Tanh"};
  if (node.opType == "LSTM")
    own.push_back("Tanh");
  for (auto [index, name] : llvm::enumerate(named->strings))
    if (name != own[index % own.size()])
      return false;
  return named->kind == Attribute::StringsKind;
}

std::string esp::reasonAgainstRecurrent(const Node &node) {
  std::string direction = node.getString("direction", "forward");
  if (direction != "forward" && direction != "bidirectional")
    return "goes in the direction '" + direction +
           "'; the runtime goes forward, or both ways";
  if (node.opType == "GRU" && node.getInt("linear_before_reset", 0) == 0)
    return "has linear_before_reset = 0; the runtime takes 1";
  if (node.getInt("layout", 0) != 0)
    return "has layout = 1; the runtime takes 0";
  if (node.find("clip") || node.getInt("input_forget", 0) != 0)
    return "has clip or input_forget, which ESP-DL lacks";
  if (!hasOwnFunctions(node))
    return "has activations other than Sigmoid and Tanh, which ESP-DL lacks";
  if (!node.input(4).empty())
    return "has lengths of sequences, which ESP-DL lacks";
  if (!node.input(7).empty())
    return "has peepholes, which ESP-DL lacks";
  return "";
}

/// A layer, and the direction that is being made.
struct Simulation::Recurrent {
  const Tensor *w = nullptr, *r = nullptr;
  Operand bias;
  bool isLstm = false;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  int64_t gateExponent = 0;
  int32_t stateType = Undefined;
  int64_t stateExponent = 0;
  Weights input, back;
  /// Biases of the inputs' products and of the states'.
  std::vector<float> near, far;
  std::string problem;

  int64_t width() const { return (isLstm ? 4 : 3) * hidden; }
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

llvm::Error Simulation::readRecurrent(Recurrent &layer) {
  if (std::string reason = reasonAgainstRecurrent(*node); !reason.empty())
    return fail(reason);
  Operand x = operand(0);
  layer.w = constantOf(1), layer.r = constantOf(2), layer.bias = operand(3);
  for (const Tensor *matrix : {layer.w, layer.r})
    if (!matrix || (matrix->type != Int8 && matrix->type != Int16) ||
        matrix->exponents.size() != 1)
      return fail("expects constant weights of int8 or int16 with an exponent");
  layer.isLstm = node->opType == "LSTM";
  layer.hidden = layer.r->dims.empty() ? 0 : layer.r->dims.back();
  layer.directions =
      node->getString("direction", "forward") == "forward" ? 1 : 2;
  // What the runtime takes where a file doesn't say.
  layer.gateExponent = node->getInt("gate_exponent", -8);
  if (layer.gateExponent < -30 || layer.gateExponent > 30)
    return fail("has a gate_exponent of " + llvm::Twine(layer.gateExponent));
  Result shown = result(0).name.empty() ? result(1) : result(0);
  if (!shown.isQuantized())
    return fail("gives " + nameOf(shown.type) + "; int8 and int16 are known");
  layer.stateType = shown.type;
  layer.stateExponent = shown.exponent;
  if (x.term.rank() != 3 || x.term.dims[0] < 1 || layer.hidden < 1)
    return fail("expects an input [steps, batch, features]");
  layer.steps = x.term.dims[0], layer.batch = x.term.dims[1],
  layer.inputs = x.term.dims[2];
  if (layer.w->dims != Dims{layer.directions, layer.width(), layer.inputs} ||
      layer.r->dims != Dims{layer.directions, layer.width(), layer.hidden})
    return fail("has weights that don't go with its input");
  if (layer.bias &&
      (!layer.bias.constant || layer.bias.constant->numElements() !=
                                   layer.directions * 2 * layer.width()))
    return fail("expects a constant bias with two numbers per gate");
  return llvm::Error::success();
}

/// One direction's matrix of [directions, rows, columns], transposed.
static std::vector<int64_t> transposedMatrix(const Tensor &tensor,
                                             int64_t direction) {
  std::vector<int64_t> values;
  int64_t rows = tensor.dims[1], columns = tensor.dims[2];
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row)
      values.push_back(
          tensor.intAt((direction * rows + row) * columns + column));
  return values;
}

void Simulation::beginDirection(Recurrent &layer, int64_t direction) {
  int64_t width = layer.width();
  layer.input = weights(transposedMatrix(*layer.w, direction),
                        {layer.inputs, width}, layer.w->type);
  layer.back = weights(transposedMatrix(*layer.r, direction),
                       {layer.hidden, width}, layer.r->type);
  layer.near.assign(width, 0);
  layer.far.assign(width, 0);
  float scale = std::ldexp(1.0f, layer.bias.exponent());
  for (int64_t i = 0; layer.bias && i < width; ++i) {
    int64_t place = 2 * width * direction + i;
    layer.near[i] = layer.bias.constant->at(place) * scale;
    layer.far[i] = layer.bias.constant->at(place + width) * scale;
  }
}

llvm::Expected<Term> Simulation::firstState(const Operand &given,
                                            const Dims &dims, int32_t type,
                                            int64_t exponent) {
  if (!given)
    return graph.constant(
        type, dims, std::vector<char>(elementCount(dims) * bytesOf(type)));
  if (given.term.dims != dims)
    return fail("has a first state of another shape");
  if (given.isQuantized())
    return requantized(given.term, given.exponent(), exponent, type);
  return quantized(given.term, exponent, type);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Term Simulation::gateSums(Recurrent &layer, const Term &from, int64_t exponent,
                          const Tensor &matrix, const Weights &values) {
  Dims dims = from.dims;
  int64_t depth = dims.back();
  dims.back() = layer.width();
  auto product = [&](llvm::StringRef op, int32_t type) {
    return [&, op, type](const Term &a, const Term &b) {
      return graph.node(op, {a, b}, type, dims);
    };
  };
  Term total = sums(from, values, product("MatMulInteger", Int32), depth,
                    product("MatMul", Double));
  auto most = [](int32_t type) { return type == Int8 ? 0x1p7 : 0x1p15; };
  auto moved =
      shifted(total, {layer.gateExponent - exponent - matrix.exponents[0]},
              depth * most(from.type) * most(matrix.type), rounding);
  if (moved)
    return saturated(*moved, Int16);
  layer.problem = llvm::toString(moved.takeError());
  return total;
}

Term Simulation::scaled(const Term &integers, int64_t exponent) {
  return graph.binary("Mul", graph.cast(integers, Float),
                      graph.number(Float, std::ldexp(1.0, exponent)));
}

/// Some of the gates, which lie one after the other.
static Term gatesOf(OnnxGraph &graph, const Term &all, int64_t hidden,
                    int64_t first, int64_t count = 1) {
  return graph.slice(all, all.rank() - 1, first * hidden,
                     (first + count) * hidden);
}

Term Simulation::addedGates(const Recurrent &layer, const Term &here,
                            const Term &behind, int64_t count) {
  std::vector<float> both;
  for (int64_t i = 0; i < count * layer.hidden; ++i)
    both.push_back(layer.near[i] + layer.far[i]);
  auto part = [&](const Term &all) {
    return graph.cast(gatesOf(graph, all, layer.hidden, 0, count), Int32);
  };
  return graph.binary(
      "Add",
      scaled(graph.binary("Add", part(here), part(behind)), layer.gateExponent),
      graph.floats({count * layer.hidden}, both));
}

std::vector<Term> Simulation::lstmStep(Recurrent &layer, ArrayRef<Term> states,
                                       const Term &here) {
  Term behind =
      gateSums(layer, states[0], layer.stateExponent, *layer.r, layer.back);
  Term gates = addedGates(layer, here, behind, 4);
  auto gate = [&](const Term &all, int64_t first, int64_t count = 1) {
    return gatesOf(graph, all, layer.hidden, first, count);
  };
  // Input, output, forget; then the cell's.
  Term open = graph.unary("Sigmoid", gate(gates, 0, 3)),
       fresh = graph.unary("Tanh", gate(gates, 3));
  Term kept =
      graph.binary("Mul", gate(open, 2), scaled(states[1], layer.gateExponent));
  Term cell = quantized(
      graph.binary("Add", kept, graph.binary("Mul", gate(open, 0), fresh)),
      layer.gateExponent, Int16);
  Term y = graph.binary("Mul", gate(open, 1),
                        graph.unary("Tanh", scaled(cell, layer.gateExponent)));
  return {quantized(y, layer.stateExponent, layer.stateType), cell};
}

std::vector<Term> Simulation::gruStep(Recurrent &layer, ArrayRef<Term> states,
                                      const Term &here) {
  Term behind =
      gateSums(layer, states[0], layer.stateExponent, *layer.r, layer.back);
  Term open = graph.unary("Sigmoid", addedGates(layer, here, behind, 2));
  auto last = [&](const Term &sums, ArrayRef<float> bias) {
    return graph.binary(
        "Add",
        scaled(gatesOf(graph, sums, layer.hidden, 2), layer.gateExponent),
        graph.floats({layer.hidden}, bias.take_back(layer.hidden)));
  };
  Term update = gatesOf(graph, open, layer.hidden, 0),
       reset = gatesOf(graph, open, layer.hidden, 1);
  Term sum = graph.binary("Add", last(here, layer.near),
                          graph.binary("Mul", reset, last(behind, layer.far)));
  sum = quantized(sum, layer.gateExponent, Int16);
  Term fresh = graph.unary("Tanh", scaled(sum, layer.gateExponent));
  Term rest = graph.binary("Sub", graph.number(Float, 1), update);
  Term y = graph.binary(
      "Add", graph.binary("Mul", rest, fresh),
      graph.binary("Mul", update, scaled(states[0], layer.stateExponent)));
  return {quantized(y, layer.stateExponent, layer.stateType)};
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

/// Few steps are written one after the other: programs for chips have no memory
/// for the states of a loop.
static constexpr int64_t mostUnrolled = 16;

static std::vector<Term> unrolled(
    OnnxGraph &graph, std::vector<Term> states, const Term &all, bool fromEnd,
    llvm::function_ref<std::vector<Term>(ArrayRef<Term>, const Term &)> step) {
  int64_t steps = all.dims[0];
  std::vector<Term> shown(steps);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = fromEnd ? steps - 1 - i : i;
    Dims dims(all.dims.begin() + 1, all.dims.end());
    states = step(states, graph.reshape(graph.slice(all, 0, t, t + 1), dims));
    dims = states[0].dims;
    dims.insert(dims.begin(), 1);
    shown[t] = graph.reshape(states[0], dims);
  }
  states.push_back(steps == 1 ? shown[0] : graph.concat(shown, 0));
  return states;
}

llvm::Error Simulation::recurrent() {
  Operand x = operand(0);
  if (!x.isQuantized())
    return inFloat();
  Recurrent layer;
  if (llvm::Error error = readRecurrent(layer))
    return error;
  Dims state = {layer.batch, layer.hidden},
       all = {layer.directions, layer.batch, layer.hidden};
  // States, then cells, in the types in which they are kept.
  struct Kept {
    int32_t type;
    int64_t exponent;
  };
  std::vector<Kept> kinds = {{layer.stateType, layer.stateExponent}};
  if (layer.isLstm)
    kinds.push_back({Int16, layer.gateExponent});
  std::vector<Term> firsts;
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    auto first = firstState(operand(5 + index), all, kind.type, kind.exponent);
    if (!first)
      return first.takeError();
    firsts.push_back(*first);
  }

  // Of each direction: its last states, then those of all steps.
  std::vector<std::vector<Term>> parts(kinds.size() + 1);
  for (int64_t d = 0; d < layer.directions; ++d) {
    beginDirection(layer, d);
    std::vector<Term> begin;
    for (const Term &first : firsts)
      begin.push_back(graph.reshape(graph.slice(first, 0, d, d + 1), state));
    Term here = gateSums(layer, x.term, x.exponent(), *layer.w, layer.input);
    auto step = [&](ArrayRef<Term> states, const Term &slice) {
      return layer.isLstm ? lstmStep(layer, states, slice)
                          : gruStep(layer, states, slice);
    };
    std::vector<Term> ends =
        layer.steps > mostUnrolled
            ? graph.scan(begin, here, /*fromEnd=*/d == 1, step)
            : unrolled(graph, begin, here, /*fromEnd=*/d == 1, step);
    if (!layer.problem.empty())
      return llvm::createStringError(layer.problem);
    for (auto [list, end] : llvm::zip(parts, ends)) {
      Dims dims = end.dims;
      dims.insert(dims.end() - 2, 1);
      list.push_back(graph.reshape(end, dims));
    }
  }
  auto joined = [&](ArrayRef<Term> list, int64_t axis) {
    return list.size() == 1 ? list[0] : graph.concat(list, axis);
  };
  if (llvm::Error error = finish(joined(parts.back(), 1)))
    return error;
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    Result y = result(1 + index);
    if (y.name.empty())
      continue;
    if (!y.isQuantized())
      return fail("gives " + nameOf(y.type) + "; int8 and int16 are known");
    auto moved =
        requantized(joined(parts[index], 0), kind.exponent, y.exponent, y.type);
    if (!moved)
      return moved.takeError();
    if (llvm::Error error = finish(*moved, 1 + index))
      return error;
  }
  return llvm::Error::success();
}
