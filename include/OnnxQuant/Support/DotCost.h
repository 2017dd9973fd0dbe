// What a contraction of 8-bit numbers costs on x86 without a dot product of its
// own, to choose among the exact ways.
//
// Unit: a fiftieth of a cycle for one bundle of four rows times a tile of four
// by sixteen outputs, from timings of such kernels on one AVX2 processor.

#ifndef ONNXQUANT_SUPPORT_DOTCOST_H
#define ONNXQUANT_SUPPORT_DOTCOST_H

#include <cstdint>

namespace onnxquant {
struct QuadPanel;
struct WeightShape;

namespace dotcost {
/// Four rows, pairs added in 16 bits.
constexpr int bundle = 442;
/// Eight rows in quads.
constexpr int doubleQuad = 734;
/// A pair that isn't in bound: its share of an extra bundle.
constexpr int loosePair = 186;
/// An extra bundle.
constexpr int extra = 4 * loosePair;
/// Four rows widened to 16 bits.
constexpr int widened = 560;
/// Beginning and end of a panel's tile for quads, more than for the others.
constexpr int quadTile = 500;
/// Four rows of 16 bits, transformed after Winograd.
constexpr int transformed = 500;
/// The transform of 16 channels of a tile, and of the products of a tile and 16
/// columns back, with 2x2 and with 4x4 places.
constexpr int transformInput = 1400, transformOutput = 3000;
constexpr int transformLargeInput = 6500, transformLargeOutput = 10000;
/// Weights that are read at the speed of memory: 16 bytes.
constexpr int weights = 150;
} // namespace dotcost

/// The ways to multiply bytes exactly.
enum class DotKind { Widened, Pairs, Quads };

/// The cost of a tile of a panel with quads.
int64_t costOfQuads(const QuadPanel &panel);
/// The cost of a tile of a panel without.
int64_t costOfBundles(const WeightShape &weights, DotKind kind);

/// The cost of a convolution of 3x3 by Winograd's transform, of so many tiles
/// with a side of 2 or 4 places: of all of it, where others are of a tile of a
/// panel.
int64_t costOfWinograd(const WeightShape &weights, int64_t side, int64_t tiles);

/// Instructions that AArch64 takes for `depth` products of each sum of a tile,
/// by dot products of four bytes or by products of small matrices: those that
/// multiply, and those that bring their operands.
int64_t countDots(int64_t rows, int64_t columns, int64_t depth);
int64_t countMatrices(int64_t rows, int64_t columns, int64_t depth);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_DOTCOST_H
