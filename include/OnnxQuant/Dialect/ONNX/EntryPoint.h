// The function that is a model's graph.

#ifndef ONNXQUANT_DIALECT_ONNX_ENTRYPOINT_H
#define ONNXQUANT_DIALECT_ONNX_ENTRYPOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxquant {

/// The entry point's function, or the only one. Errors are diagnostics.
llvm::FailureOr<mlir::func::FuncOp> findGraph(mlir::ModuleOp module);

} // namespace onnxquant

#endif // ONNXQUANT_DIALECT_ONNX_ENTRYPOINT_H
