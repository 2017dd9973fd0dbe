// The `onnxq` dialect and its ops.

#ifndef ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H
#define ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "OnnxQuant/Dialect/ONNXQ/ONNXQDialect.h.inc"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "OnnxQuant/Dialect/ONNXQ/ONNXQAttributes.h.inc"

namespace onnxquant::onnxq {
class KernelOpInterface;

/// The type of an element in a kernel's region: integers have no sign there.
mlir::Type getRegionType(mlir::Type elementType);

/// Whether a region computes element by element, so that it can be repeated on
/// vectors.
bool isElementwise(mlir::Region &region);

/// A type of such elements: a vector of as many as `type` has, if it is one.
mlir::Type getLikeShaped(mlir::Type type, mlir::Type element);

/// The operations of a block, constants aside. A requantization counts for
/// those that it becomes.
int64_t countOperations(mlir::Block &block);

/// The number of windows that fit into `input` elements and their pads.
int64_t countWindows(int64_t input, int64_t kernel, int64_t stride,
                     int64_t dilation, int64_t pads);

/// Lets kernels be bufferized.
void registerBufferizationModels(mlir::DialectRegistry &registry);
/// Lets observers and lookups be in other layouts.
void registerLayoutModels(mlir::DialectRegistry &registry);

namespace detail {
llvm::LogicalResult verifyKernel(KernelOpInterface op);
/// Buffers are read, the destination is written.
void getBlockEffects(
    mlir::Operation *op, mlir::OpOperand &init,
    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);
} // namespace detail
} // namespace onnxquant::onnxq

#include "OnnxQuant/Dialect/ONNXQ/KernelOpInterface.h.inc"

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h.inc"

#endif // ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H
