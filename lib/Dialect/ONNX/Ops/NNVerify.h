// Checks of ranks and dimensions that verifiers of several families share. All
// of them accept what isn't known: left out values, tensors of any rank and
// dynamic dimensions.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_OPS_NNVERIFY_H
#define ONNXQUANT_LIB_DIALECT_ONNX_OPS_NNVERIFY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace onnxquant::onnx::nn {

inline constexpr int64_t dynamic = mlir::ShapedType::kDynamic;

/// The dimensions of a tensor of known rank.
std::optional<llvm::ArrayRef<int64_t>> getShape(mlir::Value value);
/// A dimension, or `dynamic` if it isn't known or there is none.
int64_t getDim(mlir::Value value, size_t index);
/// The channels of [N, C, spatial..]; one if there is only N.
int64_t getChannels(mlir::Value value);

/// Whether two sizes can be the same.
inline bool agree(int64_t a, int64_t b) {
  return a == b || a == dynamic || b == dynamic;
}

llvm::LogicalResult verifyRank(mlir::Operation *op, mlir::Value value,
                               llvm::StringRef name, int64_t rank,
                               unsigned label);
llvm::LogicalResult verifyMinRank(mlir::Operation *op, mlir::Value value,
                                  llvm::StringRef name, int64_t least,
                                  unsigned label);
llvm::LogicalResult verifyDim(mlir::Operation *op, mlir::Value value,
                              llvm::StringRef name, size_t index,
                              int64_t expected, unsigned label);
/// A vector with one element per channel.
llvm::LogicalResult verifyPerChannel(mlir::Operation *op, mlir::Value value,
                                     llvm::StringRef name, int64_t channels,
                                     unsigned label);
llvm::LogicalResult verifyAxis(mlir::Operation *op, mlir::Value value,
                               int64_t axis, unsigned label);
/// `value` broadcasts to `target` without changing it.
llvm::LogicalResult verifyBroadcastsTo(mlir::Operation *op, mlir::Value value,
                                       llvm::StringRef name, mlir::Value target,
                                       unsigned label);

} // namespace onnxquant::onnx::nn

#endif // ONNXQUANT_LIB_DIALECT_ONNX_OPS_NNVERIFY_H
