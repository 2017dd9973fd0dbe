// The `onnx` dialect: dialect, types, interfaces and all ops.

#ifndef ONNXQUANT_DIALECT_ONNX_ONNXOPS_H
#define ONNXQUANT_DIALECT_ONNX_ONNXOPS_H

#include "OnnxQuant/Dialect/ONNX/Arity.h"
#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "OnnxQuant/Dialect/ONNX/ONNXDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "OnnxQuant/Dialect/ONNX/ONNXTypes.h.inc"

#include "OnnxQuant/Dialect/ONNX/ONNXInterfaces.h.inc"

namespace onnxquant::onnx {

/// Names of attributes that belong to no operator; see the dialect's text.
inline constexpr llvm::StringLiteral nodeNameAttr = "onnx_node_name";
inline constexpr llvm::StringLiteral resultNamesAttr = "onnx_result_names";
inline constexpr llvm::StringLiteral dimParamsAttr = "onnx_dim_params";
inline constexpr llvm::StringLiteral docStringAttr = "onnx_doc_string";
inline constexpr llvm::StringLiteral metadataAttr = "onnx_metadata";
/// On nodes that are computed when constants are folded, whatever they are.
inline constexpr llvm::StringLiteral foldedAttr = "onnxq.folded";
/// The same on arguments and results of a graph's function.
inline constexpr llvm::StringLiteral argNameAttr = "onnx.name";
inline constexpr llvm::StringLiteral argDimParamsAttr = "onnx.dim_params";
inline constexpr llvm::StringLiteral argDocStringAttr = "onnx.doc_string";

namespace detail {
/// `values` is a value or a range of values.
template <typename Values>
void collectElementTypes(Values values,
                         llvm::SmallVectorImpl<mlir::Type> &types) {
  if constexpr (std::is_convertible_v<Values, mlir::Value>) {
    auto tensor =
        llvm::dyn_cast<mlir::TensorType>(mlir::Value(values).getType());
    if (tensor && !llvm::isa<UnknownType>(tensor.getElementType()))
      types.push_back(tensor.getElementType());
  } else {
    for (mlir::Value value : values)
      collectElementTypes(value, types);
  }
}
} // namespace detail

/// Whether all given values and ranges of values have one element type. Left
/// out values and unknown element types go with any.
template <typename... Values> bool haveSameElementType(Values... values) {
  llvm::SmallVector<mlir::Type> types;
  (detail::collectElementTypes(values, types), ...);
  return llvm::all_equal(types);
}

} // namespace onnxquant::onnx

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Module.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Math.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/NN.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Reduction.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/LinearAlgebra.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Tensor.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Quantization.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Microsoft.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Recurrent.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/ControlFlow.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Generator.h.inc"
#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Signal.h.inc"

#endif // ONNXQUANT_DIALECT_ONNX_ONNXOPS_H
