// Nodes computed here and now, without compiling them.

#ifndef ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_HOSTFOLDING_H
#define ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_HOSTFOLDING_H

#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant::preprocess {

using namespace rewriting;

/// The value of a node of constants that only moves data, fills a tensor, or
/// does arithmetic on f32: what a compiler would take far longer for than the
/// work itself. Null for all other nodes. The numbers are those of compiled
/// code, to the bit.
mlir::ElementsAttr computeOnHost(mlir::Operation *op);

} // namespace onnxquant::preprocess

#endif // ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_HOSTFOLDING_H
