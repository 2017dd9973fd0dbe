// Sums, bounds and nibbles of packed weights.

#include "OnnxQuant/Support/WeightPanels.h"
#include <algorithm>
#include <cassert>

using namespace onnxquant;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

void onnxquant::packNibbles(ArrayRef<int8_t> panels,
                            MutableArrayRef<int8_t> to) {
  assert(to.size() * 2 == panels.size() && "two weights to a byte");
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<int8_t>((panels[2 * i] & 0xf) |
                                ((panels[2 * i + 1] & 0xf) << 4));
}

void onnxquant::sumColumns(ArrayRef<int8_t> from, const WeightShape &weights,
                           MutableArrayRef<int32_t> to) {
  std::fill(to.begin(), to.end(), 0);
  const int8_t *row = from.data();
  for (int64_t group = 0; group < weights.groups; ++group) {
    int32_t *sums = to.data() + group * weights.columns;
    for (int64_t k = 0; k < weights.rows(); ++k, row += weights.columns)
      for (int64_t n = 0; n < weights.columns; ++n)
        sums[n] += row[n];
  }
}

bool onnxquant::pairsStayInBound(ArrayRef<int8_t> from,
                                 const WeightShape &weights) {
  // A sum of two beyond the bound has operands of one sign.
  for (int64_t s = 0; s < weights.groups * weights.segments; ++s) {
    const int8_t *rows = from.data() + s * weights.length * weights.columns;
    for (int64_t k = 0; k + 1 < weights.length; k += 2) {
      const int8_t *first = rows + k * weights.columns;
      const int8_t *second = first + weights.columns;
      bool isOut = false;
      for (int64_t n = 0; n < weights.columns; ++n) {
        int sum = first[n] + second[n];
        isOut |= sum > boundOfLane || sum < -boundOfLane;
      }
      if (isOut)
        return false;
    }
  }
  return true;
}
