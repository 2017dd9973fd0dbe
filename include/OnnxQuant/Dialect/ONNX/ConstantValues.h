// Numbers read out of constant tensors, whatever their storage: dense elements
// or a raw resource blob. Shape rules use these for small tensors, such as the
// scales of a Resize; a limit keeps the copy small.

#ifndef ONNXQUANT_DIALECT_ONNX_CONSTANTVALUES_H
#define ONNXQUANT_DIALECT_ONNX_CONSTANTVALUES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace onnxquant::onnx {

/// The elements of an integer or boolean tensor, in row-major order. None if it
/// has more than `limit` elements, if its elements aren't integers, if one of
/// them doesn't fit, or if its data has another size than its type says.
std::optional<llvm::SmallVector<int64_t>> readInts(mlir::ElementsAttr elements,
                                                   int64_t limit);

/// The elements of a floating point tensor, in row-major order; integers are
/// converted. None in the cases of `readInts`.
std::optional<llvm::SmallVector<double>> readFloats(mlir::ElementsAttr elements,
                                                    int64_t limit);

/// The tensor that an `onnx.Constant` makes, whichever of its attributes holds
/// it; null if `value` isn't made by one, or by one of a form that holds no
/// numbers.
mlir::ElementsAttr getConstant(mlir::Value value);

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_CONSTANTVALUES_H
