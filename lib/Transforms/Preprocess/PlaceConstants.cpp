// Puts every constant right before the first node that reads it.
// Enters: constants where passes made them. Leaves: them in the order in which
// the importer makes them, so that a model that is written and read again is
// written the same way. Constants that are used inside a subgraph only stay in
// their own graph.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "llvm/ADT/SetVector.h"

namespace onnxquant {
#define GEN_PASS_DEF_PLACECONSTANTS
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// Moves a block's constants. Going through the readers in order, each takes
/// the constants before it that nobody took yet.
static void placeIn(Block &block) {
  llvm::SetVector<Operation *> placed;
  for (Operation &reader : llvm::make_early_inc_range(block)) {
    if (isa<ConstantOp>(reader))
      continue;
    reader.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (isa_and_nonnull<ConstantOp>(maker) && maker->getBlock() == &block &&
            placed.insert(maker))
          maker->moveBefore(&reader);
      }
    });
  }
}

namespace {

struct PlaceConstants
    : public onnxquant::impl::PlaceConstantsBase<PlaceConstants> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!isa<ModuleOp>(op))
            placeIn(block);
    });
  }
};

} // namespace
