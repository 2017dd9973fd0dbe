// Erases nodes and constants that no output depends on.
// Enters: any graphs. Leaves: the same without what nobody reads, the inner
// ones first. Nodes of unknown operators stay: what they do isn't known.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "mlir/IR/Iterators.h"

namespace onnxquant {
#define GEN_PASS_DEF_REMOVEUNUSED
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

namespace {

struct RemoveUnused : public onnxquant::impl::RemoveUnusedBase<RemoveUnused> {
  using RemoveUnusedBase::RemoveUnusedBase;

  void runOnOperation() override {
    int64_t nodes = 0, constants = 0;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
        if (!op->use_empty() || !isOpTriviallyDead(op))
          return;
        bool isConstant = isa<ConstantOp>(op);
        if (!isConstant && constantsOnly)
          return;
        if (isa<NodeOpInterface>(op))
          ++(isConstant ? constants : nodes);
        op->erase();
      });
    numNodes += nodes;
    numConstants += constants;
    addToReport(getOperation(), getArgument(), "nodes removed", nodes);
    addToReport(getOperation(), getArgument(), "initializers removed",
                constants);
  }
};

} // namespace
