// Attention that exporters write as products, a softmax and what is between.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTIONMATCH_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTIONMATCH_H

#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "Patterns.h"

namespace onnxquant::kernels {

/// One of Q, K and V before its heads were moved. A value of rank 3 has
/// batches and heads in one dimension, of which `split` are heads; with tokens
/// first it has no batches.
struct HeadsValue {
  mlir::Value value;
  bool tokensFirst = false;
  int64_t split = 1;

  /// The type with batches and heads in dimensions of their own.
  mlir::RankedTensorType getType() const;
  int64_t headAxis() const { return tokensFirst ? 2 : 1; }
  int64_t tokenAxis() const { return tokensFirst ? 1 : 2; }
};

struct AttentionMatch {
  onnx::SoftmaxOp softmax;
  HeadsValue q, k, v;
  /// The product with V, and what its result becomes: itself, or behind a
  /// reshape or a transpose.
  onnx::MatMulOp product;
  mlir::Operation *last = nullptr;
  bool outputTokensFirst = false;
  /// K is to be transposed first; V is, and so is the result.
  bool turnsKeys = false, turnsValues = false;
  double scale = 1;
  /// Query heads, also where batches and heads are one dimension.
  int64_t heads = 1;

  /// Addends of the scores, and masks with what hidden scores are.
  struct Addend {
    mlir::Value value;
    /// The scores that it belongs to.
    mlir::RankedTensorType scores;
    /// A mask: scores stay where it is `shown`.
    bool isMask = false, shown = true;
    double fill = 0;
  };
  llvm::SmallVector<Addend> addends;
};

/// Why a softmax is no attention's; empty if it is.
llvm::StringRef readAttention(onnx::SoftmaxOp softmax,
                              onnx::ShapeContext &shapes,
                              AttentionMatch &match);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTIONMATCH_H
