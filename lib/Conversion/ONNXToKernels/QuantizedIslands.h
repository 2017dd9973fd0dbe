// Float ops between dequantizers, and quantizers behind them: what patterns of
// such islands share.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QUANTIZEDISLANDS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QUANTIZEDISLANDS_H

#include "IntegerProduct.h"

namespace onnxquant::kernels {

/// A tensor of integers that a DequantizeLinear makes real.
struct Dequantized {
  mlir::Value bytes, zero;
  Factor scale;
  int64_t axis;

  bool hasOneScale() const {
    return scale.numbers ? scale.numbers->size() == 1 : isSingle(scale.value);
  }
};
/// Of 8 or 16 bits, weights also of 4; not in blocks.
std::optional<Dequantized> getDequantized(mlir::Value real);
std::optional<Dequantized> getDequantizedWeights(mlir::Value real);

/// The integers of a bias whose scale is `factor`; null if it is another.
mlir::Value getIntegerBias(mlir::Value bias, const Factor &factor,
                           int64_t columns);
/// A float bias that has one element per column.
bool isVectorBias(mlir::Value bias, int64_t columns);

/// Whether a quantizer behind a product becomes part of it.
bool hasQuantizerBehind(mlir::Value real);

/// Ends a product: its sums are scaled and take the place of its result, or of
/// the quantizer's behind it. The columns of a convolution may be those of
/// `merged` neighbours in its last dimension.
void finishIsland(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                  mlir::Value sums, Factor factor, mlir::Value bias,
                  bool isConvolution, int64_t merged = 1);

/// Patterns: transposed convolutions.
void addTransposedIslandPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QUANTIZEDISLANDS_H
