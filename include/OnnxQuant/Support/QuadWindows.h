// Exact 8-bit products with fewer instructions: weights ordered so that four of
// them can be summed in 16 bits.
//
// A multiplication of bytes without sign by bytes with sign adds pairs in 16
// bits and saturates there. Where the positive weights that share a 16-bit lane
// sum to at most 128 and the negative ones to -128 or more, nothing can
// saturate, whatever the activations are. Weights are known at compile time, so
// rows are reordered, inside windows of 16 bytes that one shuffle can reorder
// in the activations as well, until lanes are in bound: lanes of four ("quads",
// two products are added before they are widened) where possible, lanes of two
// elsewhere. What remains beyond the bound in a pair is taken out of it and put
// into an extra bundle with a shuffle of its own. Every weight, -128 too, is
// represented exactly.
//
// Enters: the matrix that WeightPanels.h describes. Leaves: for each panel of
// 16 columns the shuffles, the windows in the order of their class, and the
// extra bundles, also as one blob of bytes.

#ifndef ONNXQUANT_SUPPORT_QUADWINDOWS_H
#define ONNXQUANT_SUPPORT_QUADWINDOWS_H

#include "OnnxQuant/Support/WeightPanels.h"
#include <array>
#include <vector>

namespace onnxquant {

/// Rows of a window, and columns of a panel.
constexpr int64_t quadRows = 16, quadColumns = 16;
/// Bytes of the weights of a window, and of an extra bundle.
constexpr int64_t quadWindowBytes = quadRows * quadColumns;
constexpr int64_t quadExtraBytes = 8 + 4 * quadColumns;
/// A shuffle's index that gives zero.
constexpr uint8_t quadNothing = 0x80;

/// How the rows of a window are ordered.
struct QuadWindow {
  /// 0 to 2: each covers eight rows in two quads. Its slots are
  /// a0 a1 b0 b1 a2 a3 b2 b3: one lane sums the rows a, the other the rows b.
  int doubles = 0;
  /// Pairs that aren't in bound: the last slots.
  int loose = 0;
  /// The row in each slot.
  std::array<uint8_t, quadRows> rows{};
};

/// Orders the 16 x 16 weights of a window (row-major).
QuadWindow orderWindow(llvm::ArrayRef<int8_t> weights);

/// A bundle of four rows more, taken from 16 bytes of reordered activations.
struct QuadExtra {
  /// Where the 16 bytes begin in a reordered row.
  int32_t offset = 0;
  /// The byte in each slot, or `quadNothing`.
  std::array<uint8_t, 4> shuffle{};
  /// [column][slot]
  std::array<int8_t, 4 * quadColumns> weights{};
};

/// One panel of 16 columns.
struct QuadPanel {
  /// Per window the byte that goes to each slot.
  std::vector<uint8_t> shuffle;
  /// Numbers of the windows with two doubles, then with one, then with none.
  std::vector<int32_t> windows;
  /// How many of them there are of each class.
  std::array<int32_t, 3> classes{};
  /// Weights in the order of `windows`: [bundle][column][slot].
  std::vector<int8_t> weights;
  std::vector<QuadExtra> extras;
};

/// Windows of a panel. A segment has at least 16 rows; the last window of one
/// that isn't a multiple of 16 long loads the segment's last 16 bytes.
int64_t quadWindowCount(const WeightShape &weights);

/// Orders and packs panel number `panel` of all groups.
QuadPanel packQuadPanel(llvm::ArrayRef<int8_t> from, const WeightShape &weights,
                        int64_t panel);

/// All panels; `parallelFor(count, body)` may run the bodies in any order and
/// at the same time, the result is the same.
std::vector<QuadPanel> packQuadPanels(
    llvm::ArrayRef<int8_t> from, const WeightShape &weights,
    llvm::function_ref<void(int64_t, llvm::function_ref<void(int64_t)>)>
        parallelFor);

/// Where the parts of a blob begin, in bytes. All but the last have a size that
/// follows from the shape.
struct QuadBlob {
  int64_t panels, windows;
  /// [panel][window][16]
  int64_t shuffles() const { return 0; }
  /// [panel][window][bundle][column][slot]
  int64_t weights() const { return panels * windows * quadRows; }
  /// [panel][window] 32-bit offsets into a reordered row
  int64_t offsets() const {
    return weights() + panels * windows * quadWindowBytes;
  }
  /// [panel][8] 32-bit numbers: the end of each class in the order of windows,
  /// the first extra bundle and the last one's end.
  int64_t counts() const { return offsets() + 4 * panels * windows; }
  /// [extra]: 32-bit offset, 4 bytes of shuffle, weights.
  int64_t extras() const { return counts() + 4 * 8 * panels; }
};

/// The parts of a blob for these weights.
QuadBlob quadBlob(const WeightShape &weights);

/// Panels as one blob.
std::vector<int8_t> writeQuads(llvm::ArrayRef<QuadPanel> panels,
                               const WeightShape &weights);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_QUADWINDOWS_H
