// The interface of ops that can compute in another order of dimensions, and
// what its methods speak of: permutations, and tensors stored by them.

#ifndef ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_H
#define ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace onnxquant::onnx {

/// Place `i` holds dimension `perm[i]`. Empty for a tensor that is left as it
/// is whatever the layout.
using Permutation = llvm::SmallVector<int64_t, 6>;
using PermutationRef = llvm::ArrayRef<int64_t>;

/// The orders of an op's operands and results.
struct OpLayout {
  llvm::SmallVector<Permutation> operands;
  llvm::SmallVector<Permutation> results;
};

/// One of an op's operands or results.
struct TensorPlace {
  bool isResult;
  unsigned number;
};

Permutation getIdentity(size_t rank);
bool isIdentity(PermutationRef perm);
Permutation invert(PermutationRef perm);
/// The permutation that does `first`, then `second`.
Permutation compose(PermutationRef first, PermutationRef second);

/// Whether two orders of a tensor differ in the places of dimensions of size 1
/// at most, so that its elements lie in memory the same way.
bool isSameOrder(mlir::Type type, PermutationRef a, PermutationRef b);
/// Whether that is so for `perm` and the tensor as it is.
bool keepsOrder(mlir::Type type, PermutationRef perm);

/// The type of a tensor stored in another order.
mlir::RankedTensorType permuteType(mlir::RankedTensorType type,
                                   PermutationRef perm);

/// The permutation of an `onnx.Transpose` of known rank; none for another op.
std::optional<Permutation> getTransposition(mlir::Operation *op);

/// `value` in the order `perm`: a constant is rewritten, a transpose of a
/// transpose becomes one, and one that moves dimensions of size 1 only becomes
/// a reshape.
mlir::Value permuteValue(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, PermutationRef perm);

/// Attaches the interface to all ops that have it.
void registerLayoutModels(mlir::DialectRegistry &registry);

} // namespace onnxquant::onnx

#include "OnnxQuant/Dialect/ONNX/LayoutOpInterface.h.inc"

#endif // ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_H
