// What decides sizes.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SIZES_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SIZES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace onnxquant::quantize {

/// Ops whose numbers decide the size of a tensor: lengths of speech out of
/// predicted durations, for one.
llvm::DenseSet<mlir::Operation *> findSizing(mlir::ModuleOp module);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_SIZES_H
