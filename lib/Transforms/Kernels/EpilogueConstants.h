// Operands of epilogues and elementwise bodies that are one constant.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUECONSTANTS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUECONSTANTS_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxquant::kernels {

/// Replaces a kernel's epilogue operands by constants where their elements are
/// all the same; tells how many.
int64_t foldConstantExtras(onnxq::KernelOpInterface kernel);
/// The same for the inputs of an elementwise op, which stay operands.
int64_t foldConstantInputs(mlir::linalg::GenericOp generic);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUECONSTANTS_H
