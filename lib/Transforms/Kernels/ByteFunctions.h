// Bytes that are functions of one or two other bytes, and their values.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_BYTEFUNCTIONS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_BYTEFUNCTIONS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace onnxquant::kernels {

/// A byte, what it depends on besides constants, and the ops between, in order.
struct ByteFunction {
  llvm::SmallVector<mlir::Value, 2> sources;
  mlir::Value result;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The bytes of a block that depend on one other byte each, or on two.
std::vector<ByteFunction> findByteFunctions(mlir::Block &block);

/// The results for all bytes that the sources can be, the last one's fastest;
/// none if an op isn't one of those that are computed here as they are at run
/// time, or if one gives what isn't a number.
std::optional<std::vector<uint8_t>> tabulate(const ByteFunction &function);

/// The bytes that a value can be: all of those without sign, or those that it
/// is clamped to.
std::pair<int64_t, int64_t> getByteRange(mlir::Value byte);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_BYTEFUNCTIONS_H
