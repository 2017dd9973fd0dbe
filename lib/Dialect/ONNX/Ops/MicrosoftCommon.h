// What quantized and fused ops of the com.microsoft domain share: the rules of
// Gemm and of attention.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_OPS_MICROSOFTCOMMON_H
#define ONNXQUANT_LIB_DIALECT_ONNX_OPS_MICROSOFTCOMMON_H

#include "QuantizationCommon.h"

namespace onnxquant::onnx::microsoft {

/// A product of two matrices, each of which may be transposed.
struct Gemm {
  mlir::Value a;
  mlir::Value b;
  bool isTransposedA;
  bool isTransposedB;
};

/// Both matrices have rank 2, and their inner dimensions agree.
llvm::LogicalResult verifyGemm(mlir::Operation *op, Gemm gemm, unsigned label);

/// `bias` has rank 2 at most and broadcasts to the product.
llvm::LogicalResult verifyGemmBias(mlir::Operation *op, Gemm gemm,
                                   quantized::Named bias, unsigned label);

/// How many columns the product has; dynamic if it isn't known.
int64_t getGemmColumns(Gemm gemm);

/// Infers the only result of `op` as the product.
llvm::LogicalResult inferGemm(ShapeContext &ctx, mlir::Operation *op, Gemm gemm,
                              mlir::Type elementType);

/// Self attention with its projection. `sizes` are the widths of queries, keys
/// and values, or empty for thirds of the weight.
struct Attention {
  quantized::Named input;
  quantized::Named weight;
  quantized::Named bias;
  mlir::Value past;
  int64_t numHeads;
  llvm::SmallVector<int64_t> sizes;
  bool sharesBuffer;
};

/// `input` has rank 3, `weight` rank 2, and rows go with columns.
llvm::LogicalResult verifyProjection(mlir::Operation *op,
                                     const Attention &attention,
                                     unsigned label);

/// `past` has rank 5.
llvm::LogicalResult verifyPast(mlir::Operation *op, mlir::Value past,
                               unsigned label);

/// Infers output [batch, sequence, width of values] and present
/// [2, batch, heads, past + sequence, width of a head].
llvm::LogicalResult inferAttention(ShapeContext &ctx, mlir::Operation *op,
                                   const Attention &attention,
                                   mlir::Type elementType);

} // namespace onnxquant::onnx::microsoft

#endif // ONNXQUANT_LIB_DIALECT_ONNX_OPS_MICROSOFTCOMMON_H
