// The `onnxq` dialect and its ops.

#ifndef ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H
#define ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "OnnxQuant/Dialect/ONNXQ/ONNXQDialect.h.inc"

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h.inc"

#endif // ONNXQUANT_DIALECT_ONNXQ_ONNXQOPS_H
