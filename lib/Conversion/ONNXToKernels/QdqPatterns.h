// QDQ patterns: float ops between DequantizeLinear and QuantizeLinear. What the
// patterns of convolutions and products share.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QDQPATTERNS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QDQPATTERNS_H

#include "IntegerProduct.h"

namespace onnxquant::kernels {

/// A tensor of integers that a DequantizeLinear makes real.
struct Dequantized {
  mlir::Value stored, zero;
  Factor scale;
  int64_t axis;

  bool hasOneScale() const {
    return scale.values ? scale.values->size() == 1 : isSingle(scale.value);
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

/// Makes the factor of a product's accumulators.
using FactorFn = std::function<Factor(mlir::ImplicitLocOpBuilder &)>;

/// What follows a product in a QDQ pattern.
class QdqOutput {
public:
  /// The result of `op`, to which a float bias may be added.
  QdqOutput(mlir::Operation *op, mlir::Value floatBias);

  /// Whether a quantizer follows that becomes part of the product, with a Relu
  /// or Clip between at most.
  bool isQuantized() const {
    return static_cast<mlir::Operation *>(quantizer) != nullptr;
  }
  /// How the accumulators are requantized, whose real values are `factor`
  /// times as large; null if they aren't.
  RequantizationFn getRequantization(const FactorFn &factor) const;
  /// Lets ops be made where the quantizer stands, whose zero point may be
  /// defined behind the product.
  void moveTo(mlir::PatternRewriter &rewriter) const;
  /// Replaces the op's result by what the kernel gives, or of the
  /// quantizer's. The columns of a convolution may be those of `merged`
  /// neighbours in its last dimension.
  void replace(mlir::PatternRewriter &rewriter, mlir::Value result,
               const FactorFn &factor, bool isConvolution, int64_t merged = 1);

private:
  mlir::Operation *op;
  mlir::Value floatBias;
  mlir::Operation *activation = nullptr;
  onnx::QuantizeLinearOp quantizer;
  Factor scale;
  std::optional<QuantizedLimits> limits;
};

/// Patterns: transposed convolutions.
void addTransposedQdqPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_QDQPATTERNS_H
