// A piece of a graph that depends on constants only, cut out so that it can be
// compiled and run.

#ifndef ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONSTANTGRAPH_H
#define ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONSTANTGRAPH_H

#include "OnnxQuant/Support/Executor.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant::preprocess {

using namespace rewriting;

/// Nodes in order, and those of their results that others read.
struct ConstantGraph {
  llvm::SmallVector<mlir::Operation *> nodes;
  llvm::SmallVector<mlir::OpResult> results;
};

/// The nodes below `root` that can be computed now: pure, of static shapes, and
/// with results of at most `maxBytes` or no larger than what they are computed
/// from. Results that are outputs of a graph are not among the results.
ConstantGraph findConstantGraph(mlir::Operation *root, int64_t maxBytes);

/// The parts of a graph that have no node in common.
llvm::SmallVector<ConstantGraph> splitGraph(const ConstantGraph &graph);

/// Compiles and runs the graph: one tensor per result. What goes wrong is an
/// error, not a diagnostic.
llvm::Expected<std::vector<HostTensor>> runGraph(const ConstantGraph &graph,
                                                 Executor &executor);

} // namespace onnxquant::preprocess

#endif // ONNXQUANT_LIB_TRANSFORMS_PREPROCESS_CONSTANTGRAPH_H
