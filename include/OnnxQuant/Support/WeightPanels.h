// Constant weights of contractions in the order that kernels read them.
//
// Enters: a row-major matrix of K rows and N columns per group, K made of
// segments that are contiguous in the other operand. Leaves: panels of columns,
// each with the rows in bundles that one dot step multiplies:
// [groups][ceil(N / columns)][segments * ceil(length / depth)][columns][depth].
// Columns and rows that aren't there are zero, so that they add nothing.

#ifndef ONNXQUANT_SUPPORT_WEIGHTPANELS_H
#define ONNXQUANT_SUPPORT_WEIGHTPANELS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace onnxquant {

/// What a packer takes: `groups` matrices of `segments * length` rows.
struct WeightShape {
  int64_t groups = 1;
  int64_t segments = 1;
  int64_t length = 0;
  int64_t columns = 0;

  int64_t rows() const { return segments * length; }
  int64_t elements() const { return groups * rows() * columns; }
};

/// What a kernel reads at once. One dot step of `depth` rows: 1 for outer
/// products, 2 for products of 16-bit pairs, 4 for 8-bit dot products, 8 for
/// products of small matrices.
struct PanelShape {
  int64_t columns = 16;
  int64_t depth = 1;
};

/// Panels of a group.
inline int64_t panelCount(const WeightShape &weights, const PanelShape &panel) {
  return (weights.columns + panel.columns - 1) / panel.columns;
}

/// Bundles of a panel.
inline int64_t bundleCount(const WeightShape &weights,
                           const PanelShape &panel) {
  return weights.segments * ((weights.length + panel.depth - 1) / panel.depth);
}

/// Elements of all panels.
inline int64_t packedSize(const WeightShape &weights, const PanelShape &panel) {
  return weights.groups * panelCount(weights, panel) *
         bundleCount(weights, panel) * panel.columns * panel.depth;
}

/// Writes the panels. `to` has `packedSize` elements.
template <typename From, typename To>
void packPanels(llvm::ArrayRef<From> from, const WeightShape &weights,
                const PanelShape &panel, llvm::MutableArrayRef<To> to) {
  int64_t panels = panelCount(weights, panel);
  int64_t perSegment = (weights.length + panel.depth - 1) / panel.depth;
  To *out = to.data();
  for (int64_t group = 0; group < weights.groups; ++group) {
    const From *matrix = from.data() + group * weights.rows() * weights.columns;
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t segment = 0; segment < weights.segments; ++segment)
        for (int64_t bundle = 0; bundle < perSegment; ++bundle)
          for (int64_t c = 0; c < panel.columns; ++c)
            for (int64_t d = 0; d < panel.depth; ++d) {
              int64_t place = bundle * panel.depth + d;
              int64_t column = p * panel.columns + c;
              bool exists = place < weights.length && column < weights.columns;
              int64_t row = segment * weights.length + place;
              *out++ =
                  exists ? To(matrix[row * weights.columns + column]) : To(0);
            }
  }
}

/// Weights of -8 to 7 in four bits each, plus 8: of every `vector` of them the
/// first half in the low bits of half as many bytes.
std::vector<int8_t> packHalves(llvm::ArrayRef<int8_t> panels, int64_t vector);

/// The sum of every column, one row of `columns` per group: what a zero point
/// of the other operand is multiplied by.
void sumColumns(llvm::ArrayRef<int8_t> from, const WeightShape &weights,
                llvm::MutableArrayRef<int32_t> to);

/// The most that the positive weights, and the least that the negative weights
/// of one 16-bit lane may sum to: 255 * 128 fits 16 bits with a sign.
constexpr int boundOfLane = 128;

/// Whether bytes without sign times these weights never leave 16 bits when
/// adjacent rows of a bundle of four are multiplied and added: for each column
/// and pair, positive weights sum to at most 128, negative ones to -128 or
/// more.
bool pairsStayInBound(llvm::ArrayRef<int8_t> from, const WeightShape &weights);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_WEIGHTPANELS_H
