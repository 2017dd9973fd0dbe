// Rounding, saturation and tables.
//
// A shift to the right that rounds is made of unsigned integers, which ONNX can
// shift: with 2^(w-1) added a number isn't negative any more, and its shift is
// the floor of the quotient once 2^(w-1-s) is taken away. What is added before
// makes it round half up, or half to even.

#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

int64_t Simulation::limit(int64_t value, int32_t type) const {
  int64_t high = type == Int8 ? 127 : 32767;
  return std::clamp(value, -high - 1, high);
}

int64_t Simulation::roundReal(float value) const {
  if (std::isnan(value))
    return 0;
  value = std::clamp(value, -1e9f, 1e9f);
  if (rounding == Rounding::Floor)
    return static_cast<int64_t>(std::floor(value));
  if (rounding == Rounding::HalfUp)
    return static_cast<int64_t>(std::floor(value + 0.5f));
  return static_cast<int64_t>(std::nearbyint(value));
}

llvm::Expected<Term> Simulation::shifted(Term x, ArrayRef<int64_t> shifts,
                                         double bound, Rounding mode) {
  auto [least, most] = std::minmax_element(shifts.begin(), shifts.end());
  int64_t low = *least, high = *most;
  if (low == 0 && high == 0)
    return x;
  bool isSingle = low == high;
  if (isSingle)
    shifts = shifts.take_front();
  double largest = std::ldexp(bound, std::max<int64_t>(-low, 0)) +
                   std::ldexp(1.0, std::max<int64_t>(high, 0));
  if (high > 60 || low < -30 || largest >= 0x1p62)
    return fail("shifts by " + llvm::Twine(low < -30 ? low : high) +
                " bits: its exponents are too far apart");
  if (x.type != Int64)
    x = graph.cast(x, largest < 0x1p31 && high <= 30 ? Int32 : Int64);
  Dims dims = isSingle ? Dims() : Dims{int64_t(shifts.size())};
  auto each = [&](int32_t type, auto function) {
    Dims numbers;
    for (int64_t shift : shifts)
      numbers.push_back(function(shift));
    return graph.ints(type, dims, numbers);
  };
  if (low < 0)
    x = graph.binary("Mul", x, each(x.type, [](int64_t s) {
                       return int64_t(1) << std::max<int64_t>(-s, 0);
                     }));
  if (high <= 0)
    return x;

  int width = x.type == Int32 ? 32 : 64;
  int32_t counted = x.type == Int32 ? UInt32 : UInt64;
  Term amount =
      each(counted, [](int64_t s) { return std::max<int64_t>(s, 0); });
  Term bits = graph.cast(x, counted);
  Settings right = {{"direction", std::string("RIGHT")}};
  if (mode == Rounding::HalfEven) {
    // One more where the quotient's last bit is set.
    Dims whole;
    broadcast(bits.dims, amount.dims, whole);
    Term last = graph.node("BitShift", {bits, amount}, counted, whole, right);
    last =
        graph.binary("BitwiseAnd", last,
                     each(counted, [](int64_t s) { return int64_t(s > 0); }));
    bits = graph.binary("Add", bits, last);
  }
  bits = graph.binary("Add", bits, each(counted, [&](int64_t s) {
                        uint64_t half = s > 0 ? uint64_t(1) << (s - 1) : 0;
                        if (mode == Rounding::Floor)
                          half = 0;
                        if (mode == Rounding::HalfEven && s > 0)
                          half -= 1;
                        return static_cast<int64_t>(
                            (uint64_t(1) << (width - 1)) + half);
                      }));
  Dims whole;
  broadcast(bits.dims, amount.dims, whole);
  bits = graph.node("BitShift", {bits, amount}, counted, whole, right);
  // The number that 2^(w-1) became; without a shift it wraps around, as the sum
  // did.
  return graph.binary(
      "Sub", graph.cast(bits, x.type), each(x.type, [&](int64_t s) {
        return static_cast<int64_t>(uint64_t(1)
                                    << (width - 1 - std::max<int64_t>(s, 0)));
      }));
}

Term Simulation::saturated(const Term &x, int32_t type, bool relu) {
  double high = type == Int8 ? 127 : 32767;
  return graph.cast(graph.clip(x, relu ? 0 : -high - 1, high), type);
}

llvm::Expected<Term> Simulation::requantized(const Term &x, int64_t from,
                                             int64_t to, int32_t type,
                                             bool relu) {
  if (from == to && x.type == type && !relu)
    return x;
  double bound = x.type == Int8 ? 0x1p7 : 0x1p15;
  auto moved = shifted(graph.cast(x, Int32), {to - from}, bound, rounding);
  if (!moved)
    return moved;
  return saturated(*moved, type, relu);
}

Term Simulation::rounded(const Term &real) {
  if (rounding == Rounding::HalfEven)
    return graph.unary("Round", real);
  if (rounding == Rounding::Floor)
    return graph.unary("Floor", real);
  return graph.unary("Floor",
                     graph.binary("Add", real, graph.number(Float, 0.5)));
}

Term Simulation::quantized(const Term &real, int64_t exponent, int32_t type) {
  Term scaled = real;
  if (exponent != 0)
    scaled = graph.binary("Mul", real,
                          graph.number(Float, std::ldexp(1.0, -exponent)));
  return saturated(rounded(scaled), type);
}

Term Simulation::real(const Operand &x) {
  if (!x.isQuantized())
    return x.term;
  std::vector<float> scales;
  for (int64_t exponent : x.exponents)
    scales.push_back(std::ldexp(1.0f, exponent));
  Term wide = graph.cast(x.term, Float);
  if (scales.empty() || x.exponents == Dims{0})
    return wide;
  Dims dims = scales.size() == 1 ? Dims() : Dims{int64_t(scales.size())};
  return graph.binary("Mul", wide, graph.floats(dims, scales));
}

Term Simulation::lookedUp(const Operand &x, int32_t type,
                          const std::function<int64_t(int64_t)> &function) {
  // Negative numbers count from the table's end, as they do in Gather.
  int64_t half = x.type() == Int8 ? 128 : 32768;
  Dims entries;
  for (int64_t q = 0; q < half; ++q)
    entries.push_back(limit(function(q), type));
  for (int64_t q = -half; q < 0; ++q)
    entries.push_back(limit(function(q), type));
  Term table = graph.ints(type, {2 * half}, entries);
  return graph.node("Gather", {table, graph.cast(x.term, Int32)}, type,
                    x.term.dims, {{"axis", int64_t(0)}});
}
