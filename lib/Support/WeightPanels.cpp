// Sums, bounds and halves of packed weights.

#include "OnnxQuant/Support/WeightPanels.h"
#include <algorithm>
#include <cassert>

using namespace onnxquant;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

std::vector<int8_t> onnxquant::packHalves(ArrayRef<int8_t> panels,
                                          int64_t vector) {
  assert(vector % 2 == 0 && panels.size() % vector == 0 && "whole vectors");
  std::vector<int8_t> packed;
  packed.reserve(panels.size() / 2);
  for (; !panels.empty(); panels = panels.drop_front(vector))
    for (int64_t i = 0; i < vector / 2; ++i)
      packed.push_back(static_cast<int8_t>((panels[i] + 8) |
                                           (panels[i + vector / 2] + 8) << 4));
  return packed;
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
