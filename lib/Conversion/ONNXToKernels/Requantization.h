// What becomes of the accumulators of a product of quantized operands: real
// values, or quantized ones in the kernel's epilogue,
//
//   y = saturate(round(acc * scale) + zero_point)
//
// with scale = x_scale * w_scale / y_scale (F11 of
// docs/QuantizationSemantics.md).

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REQUANTIZATION_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REQUANTIZATION_H

#include "Patterns.h"

namespace onnxquant::kernels {

/// An `f32` factor: one, or one per column. Its values, where they are known.
struct Factor {
  mlir::Value value;
  std::optional<llvm::SmallVector<float>> values;

  explicit operator bool() const { return value || values; }
};
/// A scale; nothing if it is of another type or shape.
Factor readFactor(mlir::Value scale);
Factor makeFactor(float value);
/// In `f32`, rounded once.
Factor multiply(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node, Factor x,
                Factor y);
Factor divide(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node, Factor x,
              Factor y);

/// Accumulators as real values: times a factor, plus a bias where there is
/// one.
mlir::Value makeReal(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     mlir::Value sums, Factor factor, mlir::Value bias = {});

/// The limits of a Relu or Clip as its quantizer rounds them, less the zero
/// point; infinite where there is none.
struct QuantizedLimits {
  double low, high;
};

/// How accumulators are requantized.
struct Requantization {
  Factor scale;
  /// One element, of the result's type.
  mlir::Value zeroPoint;
  std::optional<QuantizedLimits> limits;
};
/// Makes the ops that a requantization reads, once it is certain that there is
/// a kernel.
using RequantizationFn =
    std::function<Requantization(mlir::ImplicitLocOpBuilder &)>;

/// The end of an epilogue that requantizes.
class RequantizeEpilogue {
public:
  /// For an output of rank `rank`, whose epilogue reads `operands` already;
  /// what else it reads is added to them.
  RequantizeEpilogue(mlir::ImplicitLocOpBuilder &b,
                     const Requantization &requantization, int64_t rank,
                     llvm::SmallVectorImpl<EpilogueOperand> &operands);
  /// Of the result.
  mlir::Type getElementType() const;
  /// `onnxq.requantize` of an accumulator. The arguments are those of the
  /// region.
  mlir::Value emit(mlir::ImplicitLocOpBuilder &b, mlir::Value accumulator,
                   mlir::ValueRange arguments) const;

private:
  Requantization requantization;
  /// Numbers of arguments; none for constants.
  std::optional<size_t> scaleNumber, zeroNumber;
  std::optional<int64_t> zeroPoint;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REQUANTIZATION_H
