// The constants that kernels are tuned by: sizes of caches, and what was found
// best by measuring (bench/NOTES.md). Nothing else in this folder holds one of
// them: shapes of instructions are with their micro-kernels.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_TUNING_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_TUNING_H

#include "OnnxQuant/Support/TargetInfo.h"
#include <algorithm>

namespace onnxquant::kernels::tuning {

//===--- Caches -----------------------------------------------------------===//

/// A line of a cache on all targets.
inline constexpr int64_t lineBytes = 64;
/// What the second level of cache holds at least, on processors of which
/// nothing is known.
inline constexpr int64_t secondLevel = TargetInfo().cacheBytes;
/// The part of A that stays in the cache while all panels of B pass by.
inline constexpr int64_t blockOfABytes = secondLevel;
/// A B that stays in the caches by itself: nothing is prefetched.
inline constexpr int64_t cachedBBytes = secondLevel / 2;
/// A panel of floats that stays in the second level while tiles pass by.
inline constexpr int64_t cachedPanelBytes = secondLevel / 8 * 5;
/// The input of a block of rows of a window, which stays in the first level
/// while all its channels pass by.
inline constexpr int64_t windowBlockBytes = 20 * 1024;
/// An input of a window that stays in the caches by itself.
inline constexpr int64_t cachedWindowBytes = secondLevel / 2;
/// Elements that one step of a parallel elementwise loop takes.
inline constexpr int64_t chunkElements = 16 * 1024;
/// Bytes between parts of a block's memory beyond their sizes: so they don't
/// all meet in one set of the cache.
inline constexpr int64_t skewBytes = lineBytes;

//===--- Shapes -----------------------------------------------------------===//

/// Rows that are reckoned with where a dimension is dynamic.
inline constexpr int64_t dynamicRows = 1024;
/// A dynamic dimension of rows by AMX tiles, which few rows are not worth.
inline constexpr int64_t dynamicAmxSize = 64;
/// With fewer channels than these a tap's run is too short for a padded input
/// of floats to be read where it is.
inline constexpr int64_t minRunOfFloats = 24;
/// Fewer weights aren't worth storing as int4.
inline constexpr int64_t manyInt4Weights = 4096;
/// Bytes of weights for Winograd's tiles of 4x4, which are eight times as large
/// as they would be untransformed.
inline constexpr int64_t mostLargeWinogradBytes = secondLevel * 5;

//===--- AMX or vectors ---------------------------------------------------===//

/// Cycles of a contraction that sets up AMX tiles, of a pair of tiles that
/// begins and ends, and of the loads of a tile of columns.
inline constexpr int64_t amxSetUpCycles = 400, amxPairCycles = 70,
                         amxLoadCycles = 16;
/// Cycles that each vector of a long epilogue takes more behind AMX: nothing
/// else is left to do meanwhile.
inline constexpr int64_t amxLongCycles = 10;
/// Products of AVX-512 VNNI in a cycle, and cycles that a tile of 8 rows by a
/// vector begins and ends in. What has no VNNI takes so many times as long.
inline constexpr int64_t vnniProducts = 128, vnniTileCycles = 4,
                         withoutVnni = 2;
/// AMX is to save one cycle in so many.
inline constexpr int64_t amxLeastSaved = 16;

//===--- Loops over tiles -------------------------------------------------===//

/// Tiles of a thread that takes rows of its own: another may have one less.
inline constexpr int64_t tilesOfThread = 16;
/// One row in so many that isn't computed twice is worth a second form of the
/// kernel.
inline constexpr int64_t worthRows = 64;
/// The most that the slowest thread may do more than the others.
inline constexpr double mostUnevenShare = 1.15;
/// Cache lines of the next panel that a tile prefetches at most: of floats, of
/// x86's dot products, and an iteration of AMX's loop.
inline constexpr int64_t prefetchedLines = 256, prefetchedLinesOfDots = 1024,
                         amxPrefetchedLines = 16;

//===--- Blocks of k (floats) ---------------------------------------------===//

/// Elements of k of a block: their part of a panel is half of the first level
/// of cache.
inline constexpr int64_t mostKOfBlock = 384, leastKOfBlock = 96;
/// The most rows and columns of a block: with its A and its accumulators half
/// of the second level of cache stays free, as pages fall on others' sets.
inline constexpr int64_t mostRowsOfBlock = 96, mostColumnsOfBlock = 128;
/// Parts of a contraction that threads may share.
inline constexpr int64_t enoughParts = 16;

//===--- Loops over k -----------------------------------------------------===//

/// Taps of a row of the window that are unrolled.
inline constexpr int64_t unrolledTaps = 3;
/// Steps of an iteration of floats, and those that are written out without a
/// loop.
inline constexpr int64_t unrolledSteps = 2, writtenSteps = 12;
/// A run of so few elements is short.
inline constexpr int64_t shortRun = 3 * writtenSteps;
/// Steps of an iteration that loads ahead of its products: of several rows, and
/// of one, which has several vectors of B.
inline constexpr int64_t inOrderSteps = 4, inOrderStepsOfRow = 2;

//===--- Register tiles (floats) ------------------------------------------===//

/// Cycles until a multiply-add's result can be added to.
inline constexpr double fmaLatency = 4;
/// Cycles of loop control of a step, and what a vector of B costs for being
/// read from the second level of cache.
inline constexpr double stepOverhead = 0.25, vectorOverhead = 0.15;

//===--- Winograd ---------------------------------------------------------===//

/// Channels and columns of floats that are worth transforming.
inline constexpr int64_t fewestWinogradChannels = 24;
/// What tiles of a block may take of the stack on every target, and the fewest
/// of them.
inline constexpr int64_t winogradScratch = secondLevel / 8 * 9,
                         leastWinogradTiles = 12;
/// What they take where the second level of cache is known to be larger: the
/// fewer blocks there are, the less often are weights read again.
inline int64_t getWinogradScratch(const TargetInfo &target) {
  return std::max(winogradScratch, target.cacheBytes / 16 * 13);
}
/// What a block costs beyond its tiles (its weights are read again), in tiles,
/// and the transform of a tile's input, in columns of products.
inline constexpr int64_t winogradBlockCost = 4, winogradInputCost = 12;
/// Steps of integers of an iteration of the innermost loop.
inline constexpr int64_t winogradSteps = 2;

//===--- Windows ----------------------------------------------------------===//

/// The most columns of a tile, and the most products that are written out for
/// one row of taps.
inline constexpr int64_t mostWindowColumns = 8, mostWindowProducts = 128;
/// Static tiles at either edge; a window that needs more takes ranges.
inline constexpr int64_t mostEdgeTiles = 3;
/// The most rows of a block, of floats, of others, and where windows slide; the
/// fewest that it is cut to for threads.
inline constexpr int64_t mostFloatWindowRows = 64, mostWindowRows = 16,
                         mostSlidingRows = 32, fewestWindowRows = 8;
/// Rows of a thread below which threads have channels of their own instead.
inline constexpr int64_t fewestThreadWindowRows = 4;
/// Where taps are paired: products of a column of a tile, and bytes of the row
/// of zero points that stands for the border above and below.
inline constexpr int64_t mostPairedTaps = 64, mostBorderRowBytes = 64 * 1024;
/// Where windows slide: weights that stay in registers at most, and registers
/// for elements and what the epilogue needs. With fewer of these LLVM spills.
inline constexpr int64_t mostSlidingWeights = 9, otherRegisters = 11;

//===--- Attention --------------------------------------------------------===//

/// Keys of a block, of heads that are no wider than `wideHead` (half as many of
/// others), and rows: K, V, the scores and the sums of a block fill less than
/// half of the second level.
inline constexpr int64_t keysOfBlock = 128, wideHead = 128,
                         rowsOfAttention = 64;
/// Columns of V, in vectors, that few rows sum up at a time.
inline constexpr int64_t vectorsOfFewRows = 8;
/// Products of an iteration of its sums.
inline constexpr int64_t unrolledProducts = 4;

//===--- Epilogues --------------------------------------------------------===//

/// An epilogue of more operations is long.
inline constexpr int64_t manyOperations = 16;
/// More don't pay: their values leave the registers.
inline constexpr size_t mostEpilogueOps = 64;

} // namespace onnxquant::kernels::tuning

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_TUNING_H
