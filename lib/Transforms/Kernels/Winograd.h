// Convolutions of 3x3 by Winograd's transform of 2x2 places.
//
// A tile of 2x2 places of the output reads 4x4 of the input. Both the input and
// the filters are transformed to 16 numbers per tile and channel, so that the
// sums over channels are 16 products of matrices, [tiles, channels] times
// [channels, columns]; their results are transformed back. That takes 16
// multiplications per tile, channel and column where the plain sum takes 36.
//
// Bytes are transformed exactly: an element of the input to at most four times
// 255, a filter to whole numbers if it is taken four times, at most nine times
// as large as its weights. Both fit 16 bits.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

namespace onnxquant::kernels {

/// Numbers per tile and channel, and places of a tile's side in the output and
/// in the input.
inline constexpr int64_t winogradNumbers = 16;
inline constexpr int64_t winogradOut = 2, winogradIn = 4;

/// What channels are a multiple of.
inline constexpr int64_t winogradChannels = 8;
/// The bits that sums of integers are shifted by: filters are four times those
/// of floats.
inline constexpr int64_t winogradShift = 2;

/// What tiles of a block may take of the stack on every target.
inline constexpr int64_t winogradScratch = 288 * 1024;
/// The fewest tiles of a block.
inline constexpr int64_t leastWinogradTiles = 12;

/// Whether a contraction of floats, not packed yet, is a convolution that the
/// transform makes faster. Depends on its window, channels and columns only: so
/// results are the same on every target, whatever is known of other sizes.
bool suitsWinograd(onnxq::ContractOp op);

/// Whether a contraction of bytes with such weights can be transformed, and its
/// sums stay exact.
bool canTransform(onnxq::ContractOp op, llvm::ArrayRef<int16_t> weights);

/// Tiles of the output, -1 if they aren't known.
int64_t countWinogradTiles(onnxq::ContractOp op);

/// Weights [1, 9 * channels, columns] transformed, in the packing's order:
/// [panels][16][channels / step][nr][step].
std::vector<float> packWinograd(llvm::ArrayRef<float> weights,
                                onnxq::PackingAttr packing);
/// The same of integers, four times as large.
std::vector<int16_t> packWinograd(llvm::ArrayRef<int16_t> weights,
                                  onnxq::PackingAttr packing);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H
