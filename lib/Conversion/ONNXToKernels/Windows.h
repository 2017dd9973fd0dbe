// Windows that keep channels apart, for patterns that make them.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WINDOWS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WINDOWS_H

#include "Requantization.h"

namespace onnxquant::kernels {

/// What slides over [N, spatial.., C], and what becomes of it.
struct WindowSpec {
  onnxq::WindowKind kind;
  mlir::Value input;
  /// [taps, C] for products, else null.
  mlir::Value weights;
  /// A scalar: the zero point of integers, else null.
  mlir::Value pad;
  KernelWindow window;
  llvm::SmallVector<EpilogueOperand> epilogueOperands;
  EpilogueFn epilogue;
  /// Of the result; integers of an accumulator are `i32`.
  mlir::Type element;
};
mlir::Value makeWindow(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                       const WindowSpec &spec);

/// The sums of a depthwise convolution of integers, in `i32`: `input` [N,
/// spatial.., C] less its zero point (a constant of one element, or null),
/// times weights of C rows of taps, plus a bias per channel or null; or what
/// they are requantized to.
mlir::Value makeDepthwiseSums(mlir::ImplicitLocOpBuilder &b,
                              mlir::Operation *node, mlir::Value input,
                              mlir::Value inputZero,
                              llvm::ArrayRef<int16_t> weights,
                              const KernelWindow &window, mlir::Value bias,
                              const RequantizationFn &requantization);

/// Depthwise convolutions and poolings.
void addWindowPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WINDOWS_H
