// Products of quantized operands as contractions of integers.
//
// Weights are constant, so their zero points are taken away now; that of the
// activations is the border's value and goes into the epilogue, times the sum
// of a column. What follows the sums (scales, rounding) is written in ops of
// the `onnx` dialect, which the kernel's epilogue takes in later.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H

#include "Patterns.h"

namespace onnxquant::kernels {

/// Constant weights [groups, depth, columns] without zero points: 9 bits and a
/// sign at most.
struct IntegerWeights {
  int64_t groups = 1, depth = 0, columns = 0;
  std::vector<int16_t> values;

  /// Whether all of them fit 8 bits with a sign.
  bool isNarrow() const;
  /// The sum of every column, group by group.
  std::vector<int64_t> sumColumns() const;
  /// The largest sum of the magnitudes of a column.
  int64_t largestColumn() const;
  /// Makes one group of several where that takes no more steps: channels of
  /// other groups get weights of zero. Sums and their order stay.
  void mergeSmallGroups(int64_t taps);
};

/// Whether an operand is left out.
bool isAbsent(mlir::Value value);
/// Whether a tensor is known to have one element.
bool isSingle(mlir::Value value);
/// Whether a tensor has 8-bit integers, or such of `bits`.
bool isByte(mlir::Value value, unsigned bits = 8);

/// Weights [M, C / group, k..] of a convolution, less a zero point, or one per
/// M; none if either isn't constant.
std::optional<IntegerWeights> readFilters(mlir::Value weights, mlir::Value zero,
                                          int64_t group);
/// Weights [C, M / group, k..] of a transposed convolution in this order, less
/// a zero point, or one per M / group. Groups, depth and columns are those of
/// all taps.
std::optional<IntegerWeights>
readTransposedFilters(mlir::Value weights, mlir::Value zero, int64_t group);
/// A matrix [K, N] or, transposed, [N, K], less a zero point, or one per N.
std::optional<IntegerWeights> readMatrix(mlir::Value weights, mlir::Value zero,
                                         bool isTransposed = false);

/// What is multiplied and summed.
struct IntegerProduct {
  /// Channels last: [N, spatial.., C] for a window, else [.., K].
  mlir::Value input;
  /// One element, or null.
  mlir::Value inputZero;
  IntegerWeights weights;
  KernelWindow window;
  /// `i32` per column, or null.
  mlir::Value bias;
  /// Where the sums go, if not to a tensor of their own: elements are of
  /// `getSumType`, sizes those that the window gives, or less.
  mlir::Value init = {};
};

/// `i32`, or `i64` where sums of 16-bit activations need it.
mlir::Type getSumType(mlir::Value input, const IntegerWeights &weights);
/// The sums, channels last.
mlir::Value makeSums(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     IntegerProduct product);

/// Two tensors of bytes, [.., M, K] and [K, N] or [.., K, N], and their zero
/// points: one element each, or null.
struct ActivationProduct {
  mlir::Value left, leftZero;
  mlir::Value right, rightZero;
};
/// The sums of a product whose operands are both known at run time only; says
/// why if no kernel has them.
llvm::FailureOr<mlir::Value>
makeActivationSums(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                   const ActivationProduct &product);

/// A convolution of integers. `input` is [N, C, spatial..], or has its channels
/// last; zero points and the bias may be left out.
struct IntegerConvolution {
  mlir::Value input, inputZero;
  mlir::Value filters, filterZero;
  mlir::Value bias;
  int64_t group;
  bool isLast;
};
/// The sums of a convolution, channels last; says why if no kernel has them.
/// Those of a filter per channel are a window's, others a contraction's.
llvm::FailureOr<mlir::Value>
makeConvolutionSums(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                    const IntegerConvolution &convolution);

//===----------------------------------------------------------------------===//
// After the sums
//===----------------------------------------------------------------------===//

/// An `f32` factor: one, or one per column. Its numbers, where they are known.
struct Factor {
  mlir::Value value;
  std::optional<llvm::SmallVector<float>> numbers;

  explicit operator bool() const { return value || numbers; }
};
/// A scale; nothing if it is of another type or shape.
Factor readFactor(mlir::Value scale);
Factor makeFactor(float number);
/// In `f32`, rounded once.
Factor multiply(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node, Factor x,
                Factor y);
Factor divide(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node, Factor x,
              Factor y);

/// Sums as real numbers: times a factor, plus a bias where there is one.
mlir::Value makeReal(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     mlir::Value sums, Factor factor, mlir::Value bias = {});
/// An op of one result of its first operand's sizes.
mlir::Value makeMapped(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                       llvm::StringRef name, mlir::ValueRange operands);
/// Numbers rounded half to even, plus the zero point, clamped to its type.
mlir::Value makeRounded(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                        mlir::Value numbers, mlir::Value zero);

/// Patterns: quantized ops, float ops between dequantizers, and products of
/// floats with weights of four bits.
void addCodedProductPatterns(mlir::RewritePatternSet &patterns);
void addQuantizedOpPatterns(mlir::RewritePatternSet &patterns);
void addQuantizedIslandPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H
