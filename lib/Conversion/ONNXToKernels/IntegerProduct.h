// Products of quantized operands as contractions of integers.
//
// Weights are constant, so their zero points are taken away now; that of the
// activations is the border's value and goes into the epilogue, times the sum
// of a column:
//
//   acc[m, n] = sum over k of x[m, k] * (w[k, n] - w_zero[n])
//               - x_zero * sum over k of (w[k, n] - w_zero[n]) + bias[n]
//
// A quantizer behind is part of the epilogue (Requantization.h).

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H

#include "Requantization.h"

namespace onnxquant::kernels {

/// Constant weights [groups, k, n] without zero points: 9 bits and a
/// sign at most.
struct IntegerWeights {
  int64_t groups = 1, k = 0, n = 0;
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

/// Whether a tensor has integers of so many bits, with a sign or without.
bool hasIntegers(mlir::Value value, unsigned bits);

/// Weights [M, C / group, k..] of a convolution, less a zero point, or one per
/// M; none if either isn't constant.
std::optional<IntegerWeights> readFilters(mlir::Value weights, mlir::Value zero,
                                          int64_t group);
/// Weights [C, M / group, k..] of a transposed convolution in this order, less
/// a zero point, or one per M / group. Groups, k and n are those of all taps.
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
  /// What becomes of the sums; null if they are the result.
  RequantizationFn requantization = {};
  /// Where the result goes, if not to a tensor of its own: sizes are those that
  /// the window gives, or less.
  mlir::Value init = {};
  /// The accumulator's type, if not `getSumType`.
  mlir::Type sumType = {};
};

/// `i32`, or `i64` where sums of 16-bit activations need it.
mlir::Type getSumType(mlir::Value input, const IntegerWeights &weights);
/// The sums, channels last, or what they are requantized to.
mlir::Value makeSums(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                     IntegerProduct product);

/// A contraction of integers.
struct IntegerContract {
  mlir::Value input, weights, init;
  mlir::Type sumType;
  llvm::ArrayRef<EpilogueOperand> epilogueOperands;
  EpilogueFn epilogue = {};
  /// A scalar, or null.
  mlir::Value pad = {};
  KernelWindow window = {};
  bool isBatched = false;
};
mlir::Value makeIntegerContract(mlir::ImplicitLocOpBuilder &b,
                                const IntegerContract &contract);

/// Two tensors of 8 bits, [.., M, K] and [K, N] or [.., K, N], and their zero
/// points: one element each, or null.
struct ActivationProduct {
  mlir::Value left, leftZero;
  mlir::Value right, rightZero;
  RequantizationFn requantization = {};
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
  RequantizationFn requantization = {};
};
/// The sums of a convolution, channels last, or what they are requantized to;
/// says why if no kernel has them.
/// Those of a filter per channel are a window's, others a contraction's.
llvm::FailureOr<mlir::Value>
makeConvolutionSums(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                    const IntegerConvolution &convolution);

/// Patterns: quantized ops, QDQ patterns, and products of floats with coded
/// weights.
void addCodeProductPatterns(mlir::RewritePatternSet &patterns);
void addQuantizedOpPatterns(mlir::RewritePatternSet &patterns);
void addQdqPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_INTEGERPRODUCT_H
