// Branches that no sample took: the bodies of If, Loop and Scan whose tensors
// have no range although the rest of the model has. They stay float, and the
// user is told, since samples that take them would let them be quantized.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// Whether a tensor needs a range that nothing gives.
static bool lacksRange(Plan &plan, const Activation &activation) {
  if (activation.dynamic || activation.given)
    return false;
  auto entry = plan.overrides.find(activation.name);
  if (entry != plan.overrides.end() && !entry->second.mins.empty())
    return false;
  auto op = activation.value.getDefiningOp<QuantizableOpInterface>();
  return !getRange(plan.module, activation.name) &&
         !(op && op.getFixedRange(QuantizedForm::None));
}

/// Whether a tensor that a region makes has a range.
static bool hasRun(Plan &plan, Region &region) {
  auto isKnown = [&](Value value) {
    return getRange(plan.module, tensorName(value)).has_value();
  };
  if (llvm::any_of(region.getArguments(), isKnown))
    return true;
  return region
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResults(), isKnown) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The body's name, as the operator has it.
static std::string bodyName(Region &region) {
  if (isa<IfOp>(region.getParentOp()))
    return region.getRegionNumber() == 0 ? "then branch" : "else branch";
  return "body";
}

/// Takes the nodes of a region out; returns how many would have been quantized.
static unsigned leave(Plan &plan, Region &region) {
  unsigned count = 0;
  region.walk([&](Operation *op) {
    Node *node = plan.find(op);
    if (!node || !node->selected)
      return;
    count += node->quantized;
    node->selected = false;
    node->excluded = true;
    node->reason = "no sample took its branch";
  });
  return count;
}

bool quantize::leaveUnseenBranches(Plan &plan) {
  if (!hasCalibration(plan.module))
    return false;
  llvm::SetVector<Region *> unseen;
  for (auto &[value, activation] : plan.activations) {
    Region *region = Value(value).getParentRegion();
    if (!lacksRange(plan, activation) ||
        isa<func::FuncOp>(region->getParentOp()) || hasRun(plan, *region))
      continue;
    // Of nested bodies, the outermost that wasn't entered.
    for (Region *outer = region->getParentRegion();
         outer && !isa<func::FuncOp>(outer->getParentOp()) &&
         !isa<ModuleOp>(outer->getParentOp()) && !hasRun(plan, *outer);
         outer = outer->getParentRegion())
      region = outer;
    unseen.insert(region);
  }
  for (Region *region : unseen) {
    Operation *op = region->getParentOp();
    unsigned count = leave(plan, *region);
    if (count == 0)
      continue;
    plan.module.emitWarning("node '")
        << nodeName(op) << "' (" << opTypeOf(op) << "): no sample took its "
        << bodyName(*region) << ", which stays float (" << count
        << (count == 1 ? " node" : " nodes")
        << "); samples that take it let it be quantized";
  }
  if (unseen.empty())
    return false;
  // The next choice of tensors begins anew.
  plan.activations.clear();
  plan.weights.clear();
  for (Node &node : plan.nodes) {
    node.quantized = node.weightsOnly = false;
    if (node.selected)
      node.reason.clear();
  }
  return true;
}
