// Operators that older opsets can say in several nodes.

#ifndef ONNXQUANT_LIB_EXPORT_SPELLOUT_H
#define ONNXQUANT_LIB_EXPORT_SPELLOUT_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

namespace onnxquant::exporting {

/// Whether an op can be written in parts that are older than it.
bool canSpellOut(mlir::Operation *op);

/// Replaces such an op by its parts.
void spellOut(mlir::Operation *op);

} // namespace onnxquant::exporting

#endif // ONNXQUANT_LIB_EXPORT_SPELLOUT_H
