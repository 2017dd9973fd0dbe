// Convolutions of 3x3 by Winograd's transform, F(2x2, 3x3) or F(4x4,
// 3x3).
//
// A tile of 2x2 outputs reads 4x4 of the input. Both the input and the filters
// are transformed to 16 points per tile and channel, so that the
// sums over channels are 16 products of matrices, [tiles, channels] times
// [channels, columns]; their results are transformed back. That takes 16
// multiplications per tile, channel and column where the plain sum takes 36;
// with 4x4 outputs it is 36 where the plain sum takes 144.
//
// int8 is transformed exactly. Transforms of the input are whole: at most 4
// or 68 times 255. Those of the filters are whole if they are taken a number
// of times, and then at most 9 or 49 times as large as the weights. All of that
// fits 16 bits. Sums of products wrap in 32 bits; what is transformed back is a
// known multiple of the result, which is divided exactly modulo 2^32. Floats
// are transformed with 2x2 outputs only, whose roundings are small.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

namespace onnxquant::kernels {

/// Elements of a tile's side in the output (2 or 4) and in the input, and
/// points per tile and channel.
struct WinogradTile {
  int64_t out = 2;
  int64_t in() const { return out + 2; }
  int64_t points() const { return in() * in(); }
};

/// What channels are a multiple of.
inline constexpr int64_t winogradChannels = 8;

/// Whether a contraction of floats, not packed yet, is a convolution that the
/// transform makes faster. Depends on its window, channels and columns only: so
/// results are the same on every target, whatever is known of other sizes.
bool suitsWinograd(onnxq::ContractOp op);

/// Whether an int8 contraction with such weights can be transformed, and its
/// sums stay exact.
bool canTransform(onnxq::ContractOp op, llvm::ArrayRef<int16_t> weights,
                  WinogradTile tile);

/// Tiles of the output; none if a dimension of it is dynamic.
std::optional<int64_t> countWinogradTiles(onnxq::ContractOp op,
                                          WinogradTile tile);

/// The tile that the weights of a packed contraction are transformed for: their
/// number tells.
WinogradTile getWinogradTile(onnxq::ContractOp op);

/// Weights [1, 9 * channels, columns] of floats transformed, in the packing's
/// order: [panels][points][channels / step][nr][step]. Those of integers are
/// packed as they are, and transformed by onnxq.expand.
std::vector<float> packWinograd(llvm::ArrayRef<float> weights,
                                onnxq::PackingAttr packing);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRAD_H
