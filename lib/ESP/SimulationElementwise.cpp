// Ops that work element by element, quantizers, Softmax, and whatever the
// device computes in float between quantized tensors.

#include "GraphPieces.h"
#include "Quantizer.h"
#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// An operand at a smaller exponent, in a type that holds it.
Term Simulation::aligned(const Operand &x, int64_t exponent, int32_t type) {
  Term wide = graph.cast(x.term, type);
  if (x.exponent() == exponent)
    return wide;
  return graph.binary(
      "Mul", wide,
      graph.number(type, std::ldexp(1.0, x.exponent() - exponent)));
}

llvm::Error Simulation::operands(Operand &a, Operand &b, Dims &dims) {
  a = operand(0);
  b = operand(1);
  if (!a || !b || !broadcast(a.term.dims, b.term.dims, dims))
    return fail("has operands whose shapes don't go together");
  return llvm::Error::success();
}

llvm::Error Simulation::finishShifted(const Term &x,
                                      llvm::ArrayRef<int64_t> shifts,
                                      double bound) {
  auto moved = shifted(x, shifts, bound, rounding);
  if (!moved)
    return moved.takeError();
  return finish(saturated(*moved, result().type,
                          node->getString("activation") == "Relu"));
}

llvm::Error Simulation::sum() {
  Operand a, b;
  Dims dims;
  if (llvm::Error error = operands(a, b, dims))
    return error;
  Result y = result();
  if (!a.isQuantized() || !b.isQuantized())
    return inFloat();
  if (options.legacy)
    return legacySum(a, b, y);
  int64_t least = std::min(a.exponent(), b.exponent());
  int64_t apart = std::max(a.exponent(), b.exponent()) - least;
  if (apart > 30)
    return fail("has operands whose exponents are too far apart");
  double bound =
      std::ldexp(a.type() == Int8 && b.type() == Int8 ? 256 : 65536, apart);
  int32_t type = bound < 0x1p30 ? Int32 : Int64;
  Term total = graph.binary(node->opType, aligned(a, least, type),
                            aligned(b, least, type));
  return finishShifted(total, {y.exponent - least}, bound);
}

llvm::Error Simulation::product() {
  Operand a, b;
  Dims dims;
  if (llvm::Error error = operands(a, b, dims))
    return error;
  Result y = result();
  if (!a.isQuantized() || !b.isQuantized())
    return inFloat();
  Term total =
      graph.binary("Mul", graph.cast(a.term, Int32), graph.cast(b.term, Int32));
  double bound = a.type() == Int8 && b.type() == Int8 ? 0x1p14 : 0x1p30;
  return finishShifted(total, {y.exponent - a.exponent() - b.exponent()},
                       bound);
}

llvm::Error Simulation::quotient() {
  Operand a, b;
  Dims dims;
  if (llvm::Error error = operands(a, b, dims))
    return error;
  Result y = result();
  if (!a.isQuantized() || !b.isQuantized())
    return inFloat();
  Term left = graph.cast(a.term, Float), zero = graph.number(Float, 0);
  Term ratio = graph.binary("Div", left, graph.cast(b.term, Float));
  ratio = graph.binary(
      "Mul", ratio,
      graph.number(Float,
                   std::ldexp(1.0, a.exponent() - b.exponent() - y.exponent)));
  // 0 / 0 is 0; other quotients by zero are infinite and saturate.
  Term isZero = graph.node("Equal", {left, zero}, Bool, left.dims);
  ratio = graph.node("Where", {isZero, zero, ratio}, Float, ratio.dims);
  return finish(saturated(rounded(ratio), y.type));
}

llvm::Error Simulation::extreme() {
  Result y = result();
  Term best;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Operand x = operand(i);
    if (!x.isQuantized())
      return inFloat();
    auto moved = requantized(x.term, x.exponent(), y.exponent, y.type);
    if (!moved)
      return moved.takeError();
    Term wide = graph.cast(*moved, Int32);
    best = best ? graph.binary(node->opType, best, wide) : wide;
  }
  return finish(graph.cast(best, y.type));
}

llvm::Error Simulation::comparison() {
  Operand a, b;
  Dims dims;
  if (llvm::Error error = operands(a, b, dims))
    return error;
  Result y = result();
  Term left = a.term, right = b.term;
  if (a.isQuantized() && b.isQuantized()) {
    int64_t least = std::min(a.exponent(), b.exponent());
    if (std::max(a.exponent(), b.exponent()) - least > 40)
      return fail("has operands whose exponents are too far apart");
    left = aligned(a, least, Int64);
    right = aligned(b, least, Int64);
  } else if (a.isQuantized() || b.isQuantized()) {
    left = real(a);
    right = real(b);
  }
  Term holds = graph.node(node->opType, {left, right}, Bool, dims);
  return finish(graph.cast(holds, y.type == Undefined ? Bool : y.type));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

llvm::Error Simulation::byTable(const Operand &x, const Tensor &table) {
  Result y = result();
  int64_t count = table.numElements();
  if (x.type() == Int8) {
    if (count != 256)
      return fail("has a table of " + llvm::Twine(count) +
                  " entries; one for int8 has 256");
    return finish(
        lookedUp(x, y.type, [&](int64_t q) { return table.intAt(q + 128); }));
  }
  int64_t step = count > 1 ? 65536 / (count - 1) : 0;
  if (step < 1 || (count - 1) * step != 65536)
    return fail("has a table of " + llvm::Twine(count) +
                " entries; one for int16 has 65536 / step + 1");
  return finish(lookedUp(x, y.type, [&](int64_t q) {
    int64_t place = q + 32768, index = place / step, rest = place % step;
    if (options.interpolate)
      return table.intAt(index) +
             (rest ? rest * (table.intAt(index + 1) - table.intAt(index)) / step
                   : 0);
    bool up = 2 * rest > step ||
              (2 * rest == step &&
               (rounding == Rounding::HalfEven ? index % 2 != 0 : true));
    return table.intAt(index + up);
  }));
}

/// A function in float32 between quantized tensors, by all its values.
llvm::Error
Simulation::byFunction(const Operand &x, const Result &y,
                       const std::function<float(float)> &function) {
  float in = std::ldexp(1.0f, x.exponent()),
        out = std::ldexp(1.0f, -y.exponent);
  return finish(lookedUp(
      x, y.type, [&](int64_t q) { return roundReal(function(q * in) * out); }));
}

llvm::Expected<const Tensor *> Simulation::tableOf(const Operand &x) const {
  std::string name = node->getString("lut");
  // Kernels of 16 bits compute most functions.
  bool reads =
      x.type() == Int8 || node->opType == "LUT" || node->opType == "Gelu";
  if (name.empty() || !reads)
    return nullptr;
  const Tensor *table = constants.lookup(name);
  if (!table)
    return fail("has the table '" + name + "', which isn't there");
  return table;
}

llvm::Error Simulation::unary() {
  Operand x = operand(0);
  Result y = result();
  if (!x.isQuantized())
    return inFloat();
  if (!y.isQuantized())
    return fail("gives " + nameOf(y.type) + "; int8 and int16 are known");
  if (options.legacy && node->find("activation"))
    return legacyActivation(x, y);
  auto table = tableOf(x);
  if (!table)
    return table.takeError();
  if (*table)
    return byTable(x, **table);
  auto function = elementFunction(*node);
  if (!function)
    return fail("has no table");
  return byFunction(x, y, *function);
}

llvm::Error Simulation::prelu() {
  Operand x = operand(0), slope = operand(1);
  Result y = result();
  if (!x.isQuantized())
    return inFloat();
  if (options.legacy)
    return legacyActivation(x, y);
  if (!slope.constant || !slope.isQuantized())
    return fail("expects constant slopes");
  auto table = tableOf(x);
  if (!table)
    return table.takeError();
  if (*table)
    return byTable(x, **table);
  Term slopes = slope.term;
  int64_t count = slopes.numElements();
  if (count == 1)
    slopes = graph.reshape(slopes, {});
  else if (count == x.term.dims.back())
    slopes = graph.reshape(slopes, {count});
  Dims dims;
  if (!broadcast(x.term.dims, slopes.dims, dims) || dims != x.term.dims)
    return fail("has slopes that don't go with its input");
  Term wide = graph.cast(x.term, Int32);
  auto plain = shifted(wide, {y.exponent - x.exponent()}, 0x1p15, rounding);
  if (!plain)
    return plain.takeError();
  auto scaled =
      shifted(graph.binary("Mul", wide, graph.cast(slopes, Int32)),
              {y.exponent - x.exponent() - slope.exponent()}, 0x1p30, rounding);
  if (!scaled)
    return scaled.takeError();
  Term isNegative =
      graph.node("Less", {wide, graph.number(Int32, 0)}, Bool, wide.dims);
  int32_t type = plain->type == Int64 || scaled->type == Int64 ? Int64 : Int32;
  Term chosen = graph.node(
      "Where",
      {isNegative, graph.cast(*scaled, type), graph.cast(*plain, type)}, type,
      wide.dims);
  return finish(saturated(chosen, y.type));
}

llvm::Error Simulation::clipped() {
  Operand x = operand(0);
  Result y = result();
  auto table = tableOf(x);
  if (!table)
    return table.takeError();
  if (*table)
    return byTable(x, **table);
  auto bound = [&](size_t input, const char *attribute, float otherwise) {
    const Tensor *tensor = constantOf(input);
    if (!tensor || tensor->numElements() < 1)
      return node->getFloat(attribute, otherwise);
    float value = tensor->at(0);
    bool isQuantized = tensor->type == Int8 || tensor->type == Int16;
    return isQuantized ? std::ldexp(value, tensor->exponent()) : value;
  };
  float low = bound(1, "min", -INFINITY), high = bound(2, "max", INFINITY);
  if (!x.isQuantized())
    return finish(graph.node(
        "Clip", {x.term, graph.number(Float, low), graph.number(Float, high)},
        Float, x.term.dims));
  return byFunction(x, y, [low, high](float value) {
    return std::min(std::max(value, low), high);
  });
}

//===----------------------------------------------------------------------===//
// Quantizers, Softmax
//===----------------------------------------------------------------------===//

llvm::Error Simulation::quantizeNode() {
  Operand x = operand(0);
  Result y = result();
  if (x.isQuantized() && y.isQuantized()) {
    auto moved = requantized(x.term, x.exponent(), y.exponent, y.type);
    return moved ? finish(*moved) : moved.takeError();
  }
  if (y.isQuantized())
    return finish(quantized(graph.cast(x.term, Float), y.exponent, y.type));
  return finish(x.isQuantized() ? real(x) : x.term);
}

llvm::Error Simulation::softmax() {
  Operand x = operand(0);
  Result y = result();
  int64_t axis = axisOf(node->getInt("axis", -1), x.term.rank());
  if (axis < 0 || axis >= x.term.rank())
    return fail("has an axis that its input lacks");
  Term share;
  if (x.type() == Int8) {
    float scale = std::ldexp(1.0f, x.exponent());
    std::vector<float> powers;
    for (int q = 0; q < 128; ++q)
      powers.push_back(std::exp(q * scale));
    for (int q = -128; q < 0; ++q)
      powers.push_back(std::exp(q * scale));
    Term power = graph.node(
        "Gather", {graph.floats({256}, powers), graph.cast(x.term, Int32)},
        Float, x.term.dims, {{"axis", int64_t(0)}});
    Dims dims = x.term.dims;
    dims[axis] = 1;
    Term total = graph.node(
        "ReduceSum", {power, graph.ints(Int64, {1}, {axis})}, Float, dims);
    share = graph.binary("Div", power, total);
  } else {
    share =
        graph.node("Softmax", {real(x)}, Float, x.term.dims, {{"axis", axis}});
  }
  return finish(y.isQuantized() ? quantized(share, y.exponent, y.type) : share);
}

//===----------------------------------------------------------------------===//
// In float
//===----------------------------------------------------------------------===//

llvm::Error Simulation::inFloat() {
  std::vector<Term> inputs;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Operand x = operand(i);
    // Biases and states of recurrent layers may have other widths.
    if (x && x.type() == Int32 && !x.exponents.empty() && x.exponent() != 0)
      x.term = graph.binary("Mul", graph.cast(x.term, Float),
                            graph.number(Float, std::ldexp(1.0, x.exponent())));
    inputs.push_back(x ? real(x) : Term());
  }
  std::vector<Term> outputs;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    Result y = result(i);
    Term term = {node->outputs[i], y.type == Undefined ? Float : y.type, {}};
    if (!y.name.empty()) {
      if (y.dims)
        term.dims = *y.dims;
      else if (i == 0 && !inputs.empty() && inputs.size() < 2)
        term.dims = inputs[0].dims;
      else if (inputs.size() != 2 ||
               !broadcast(inputs[0].dims, inputs[1].dims, term.dims))
        return fail("has no declared shape");
      if (y.isQuantized()) {
        term.name += "/real";
        term.type = Float;
      }
    }
    outputs.push_back(term);
  }
  std::string op = node->opType;
  Settings all = settingsOf(*node);
  if (op == "Mod")
    all = {{"fmod", int64_t(1)}};
  if (op == "Swish") {
    Term alpha = graph.number(Float, node->getFloat("alpha", 1));
    Term gate = graph.unary("Sigmoid", graph.binary("Mul", inputs[0], alpha));
    outputs[0] =
        graph.named(graph.binary("Mul", inputs[0], gate), outputs[0].name);
  } else {
    graph.nodes(op, inputs, outputs, all);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    Result y = result(i);
    if (y.name.empty())
      continue;
    if (!y.isQuantized())
      terms[y.name] = outputs[i];
    else if (llvm::Error error =
                 finish(quantized(outputs[i], y.exponent, y.type), i))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Simulation::rmsNormalization() {
  Operand x = operand(0), scale = operand(1);
  Result y = result();
  Term value = real(x);
  int64_t axis = axisOf(node->getInt("axis", -1), value.rank());
  value =
      rootMeanSquareNorm(graph, value, axis, node->getFloat("epsilon", 1e-5f));
  if (scale)
    value = graph.binary("Mul", value, real(scale));
  return finish(y.isQuantized() ? quantized(value, y.exponent, y.type) : value);
}
