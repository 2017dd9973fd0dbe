// What shape inference does to a graph besides asking its ops.

#ifndef ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_SHAPES_H
#define ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_SHAPES_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

namespace onnxquant::preprocess {

/// Forgets all shapes that follow from inputs.
void forgetShapes(mlir::func::FuncOp function);
/// Gives the graph's outputs the types that were inferred.
void updateResults(mlir::func::FuncOp function, onnx::ShapeContext &ctx);
/// Forgets expressions over named dimensions, but for those of inputs.
void dropExpressions(mlir::func::FuncOp function);

/// Takes results of unknown operators to have the rank of the first operand.
/// Whether there was one to guess.
bool guessOutputRanks(mlir::func::FuncOp function);
/// Takes named dimensions that meet in one place to be the same, and renames
/// the inputs' dimensions to the first of them. Whether there were any.
bool mergeDimensions(mlir::func::FuncOp function, onnx::ShapeContext &ctx);

} // namespace onnxquant::preprocess

#endif // ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_SHAPES_H
