// What the verifiers and shape rules of the Tensor family share. Nothing here
// is seen outside of the family's files.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_OPS_TENSORHELPERS_H
#define ONNXQUANT_LIB_DIALECT_ONNX_OPS_TENSORHELPERS_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

namespace onnxquant::onnx::tensor {

/// Results of more dimensions than this are refused.
inline constexpr int64_t maxRank = 64;

/// The rank that a value's type states.
inline std::optional<int64_t> rankOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

/// The dimension that a value's type states as a number.
inline std::optional<int64_t> sizeOf(mlir::Value value, int64_t index) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type || index < 0 || index >= type.getRank() || type.isDynamicDim(index))
    return std::nullopt;
  return type.getDimSize(index);
}

/// The axes of [0, rank) that a list of distinct, possibly negative axes means;
/// reports an error otherwise. A non-empty label ends its message.
llvm::FailureOr<llvm::SmallVector<int64_t>>
normalizeAxes(mlir::Operation *op, llvm::ArrayRef<int64_t> axes, int64_t rank,
              llvm::StringRef label = "");

/// 0, 1, ..., rank-1.
llvm::SmallVector<int64_t> allAxes(int64_t rank);

/// Refuses a rank above `maxRank`.
llvm::LogicalResult checkRank(mlir::Operation *op, int64_t rank);

/// What is known of a dimension that two operands share; failure if both are
/// numbers and differ.
llvm::FailureOr<Dim> unify(const Dim &a, const Dim &b);

/// The number of elements of a vector operand, if it is a number.
std::optional<int64_t> lengthOf(ShapeContext &ctx, mlir::Value value);

/// States that a result has the elements of an operand in the same order: its
/// contents are the operand's if those are followed.
void passContents(ShapeContext &ctx, mlir::Value from, mlir::OpResult to);

} // namespace onnxquant::onnx::tensor

#endif // ONNXQUANT_LIB_DIALECT_ONNX_OPS_TENSORHELPERS_H
