// Arithmetic of the kernels before .espdl: every shift rounds down, biases come
// after the shift, means multiply by an inverse.

#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

llvm::Expected<Term> Simulation::activated(const Term &value) {
  std::string kind = node->getString("activation", "Linear");
  if (kind == "Linear")
    return value;
  Term zero = graph.number(value.type, 0);
  if (kind == "Relu")
    return graph.binary("Max", value, zero);
  const Tensor *slopes = constants.lookup(node->getString("activation_slopes"));
  if (!slopes)
    return fail("has no slopes");
  Dims numbers;
  for (int64_t i = 0; i < slopes->numElements(); ++i)
    numbers.push_back(slopes->intAt(i));
  Dims dims = numbers.size() == 1 ? Dims() : Dims{int64_t(numbers.size())};
  Term wide = graph.cast(value, Int64);
  auto scaled =
      shifted(graph.binary("Mul", wide, graph.ints(Int64, dims, numbers)),
              {-slopes->exponent()}, 0x1p55, Rounding::Floor);
  if (!scaled)
    return scaled;
  Term isNegative =
      graph.node("Less", {wide, graph.number(Int64, 0)}, Bool, wide.dims);
  return graph.node("Where", {isNegative, *scaled, wide}, Int64, wide.dims);
}

llvm::Error Simulation::legacyActivation(const Operand &x, const Result &y) {
  auto active = activated(graph.cast(x.term, Int32));
  if (!active)
    return active.takeError();
  return finish(saturated(*active, y.type));
}

llvm::Error Simulation::finishLegacySums(Term sums, const Operand &x,
                                         ArrayRef<int64_t> weightExponents,
                                         const Operand &bias, double bound,
                                         int64_t outputs) {
  Result y = result();
  Dims shifts, numbers;
  for (int64_t exponent : weightExponents)
    shifts.push_back(y.exponent - x.exponent() - exponent);
  bool perChannel = shifts.size() > 1;
  if (options.lanes && options.chip->laneBits < 32) {
    double most = std::ldexp(1.0, x.type() == Int8 ? 19 : 39);
    if (bound >= most)
      sums = graph.clip(sums, -most, most - 1);
  }
  for (int64_t c = 0; bias && c < outputs; ++c)
    numbers.push_back(bias.constant->intAt(c));
  Term value = sums;
  if (perChannel && bias) {
    auto part = shifted(sums, {4}, bound, Rounding::Floor);
    if (!part)
      return part.takeError();
    value =
        graph.binary("Add", *part, graph.ints(part->type, {outputs}, numbers));
    for (int64_t &shift : shifts)
      shift -= 4;
  }
  auto moved = shifted(value, shifts, bound + 0x1p17, Rounding::Floor);
  if (!moved)
    return moved.takeError();
  value = *moved;
  if (!perChannel && bias)
    value =
        graph.binary("Add", value, graph.ints(value.type, {outputs}, numbers));
  auto active = activated(value);
  if (!active)
    return active.takeError();
  return finish(saturated(*active, y.type));
}

llvm::Error Simulation::legacySum(const Operand &a, const Operand &b,
                                  const Result &y) {
  int64_t largest = std::max(a.exponent(), b.exponent());
  std::vector<Term> terms;
  for (const Operand *x : {&a, &b}) {
    auto moved = shifted(graph.cast(x->term, Int32), {largest - x->exponent()},
                         0x1p15, Rounding::Floor);
    if (!moved)
      return moved.takeError();
    terms.push_back(*moved);
  }
  Term total = graph.binary(node->opType, terms[0], terms[1]);
  return finishShifted(total, {y.exponent - largest}, 0x1p17);
}

llvm::Error Simulation::legacyMean(const Term &sums, ArrayRef<int64_t> areas,
                                   const Dims &areaDims, const Operand &x,
                                   const Result &y) {
  // The most bits with which the inverse stays below a limit.
  int64_t limit = x.type() == Int8 ? 64 : 16384, most = 0;
  Dims bits, factors;
  for (int64_t area : areas) {
    int64_t k = 0;
    while ((int64_t(1) << (k + 1)) / std::max<int64_t>(area, 1) < limit)
      ++k;
    bits.push_back(k);
    most = std::max(most, k);
  }
  // With one shift for all places: inverses of fewer bits are multiplied up.
  for (size_t i = 0; i < areas.size(); ++i)
    factors.push_back((int64_t(1) << bits[i]) / std::max<int64_t>(areas[i], 1)
                      << (most - bits[i]));
  Term scaled = graph.binary("Mul", graph.cast(sums, Int64),
                             graph.ints(Int64, areaDims, factors));
  return finishShifted(scaled, {y.exponent - x.exponent() + most}, 0x1p50);
}
