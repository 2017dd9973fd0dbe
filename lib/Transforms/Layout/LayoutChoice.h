// The choice of the order in which tensors are stored between transposes.

#ifndef ONNXQUANT_LIB_TRANSFORMS_LAYOUT_LAYOUTCHOICE_H
#define ONNXQUANT_LIB_TRANSFORMS_LAYOUT_LAYOUTCHOICE_H

#include "OnnxQuant/Dialect/ONNX/LayoutOpInterface.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "llvm/ADT/MapVector.h"

namespace onnxquant::layouts {

/// Ops and the layouts that they shall have; others stay.
using Layouts = llvm::MapVector<mlir::Operation *, onnx::OpLayout>;

/// The layouts of a block's ops with which transposes move the fewest bytes.
/// None if those as they are can't be bettered, or, unless `mustGain`, equalled
/// by moving transposes away from ops that can't be without them.
Layouts chooseLayouts(mlir::Block &block, bool mustGain);

/// The bytes that a block's transposes move. Sizes that aren't known are taken
/// as if named dimensions were 256 and others 32.
int64_t getTransposedBytes(mlir::Block &block);

} // namespace onnxquant::layouts

#endif // ONNXQUANT_LIB_TRANSFORMS_LAYOUT_LAYOUTCHOICE_H
