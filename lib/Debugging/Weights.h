// Constants of a quantized graph beside those of the float graph.

#ifndef ONNXQUANT_LIB_DEBUGGING_WEIGHTS_H
#define ONNXQUANT_LIB_DEBUGGING_WEIGHTS_H

#include "Match.h"
#include "OnnxQuant/Debugging/Debugging.h"

namespace onnxquant::debugging {

/// How a tensor's numbers are stored, as far as the graph says.
StoredAs describeStorage(const QuantTensor &tensor);

/// All quantized constants of nodes that are known, in the graph's order.
std::vector<DebugWeight> compareWeights(mlir::func::FuncOp quant,
                                        const GraphMatch &match);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_WEIGHTS_H
