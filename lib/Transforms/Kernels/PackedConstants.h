// Constants that packing reads and makes.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKEDCONSTANTS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKEDCONSTANTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace onnxquant::kernels {

/// The elements of a constant tensor; none if it isn't one, has no data, or has
/// elements of another size.
template <typename T>
std::optional<std::vector<T>> readConstant(mlir::Value value);

/// A constant of one dimension.
mlir::Value makePayload(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
                        llvm::ArrayRef<char> bytes);

template <typename T> llvm::ArrayRef<char> asBytes(const std::vector<T> &data) {
  return {reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T)};
}

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKEDCONSTANTS_H
