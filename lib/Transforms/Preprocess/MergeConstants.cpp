// Makes one constant of equal ones.
// Enters: graphs in which initializers are repeated. Leaves: one of each, under
// the first one's name. Constants of one block are merged with those of the
// same block or of one around it. Resources are compared by their bytes; those
// of branches beside each other (tied weights that were turned in both) move to
// the graph around both.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/xxhash.h"

namespace onnxquant {
#define GEN_PASS_DEF_MERGECONSTANTS
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// The bytes of a resource; none for other elements, which are unique anyway.
static std::optional<ArrayRef<char>> getBlob(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return blob->getData();
}

static bool areEqual(ConstantOp a, ConstantOp b) {
  if (a.getOutput().getType() != b.getOutput().getType())
    return false;
  ElementsAttr first = getConstant(a.getOutput());
  ElementsAttr second = getConstant(b.getOutput());
  if (!first || !second || first.getShapedType() != second.getShapedType())
    return false;
  if (first == second)
    return true;
  auto bytes = getBlob(first), others = getBlob(second);
  return bytes && others && *bytes == *others;
}

/// Equal constants have equal keys.
static uint64_t keyOf(ConstantOp op) {
  ElementsAttr elements = getConstant(op.getOutput());
  if (!elements)
    return 0;
  if (auto bytes = getBlob(elements))
    return llvm::xxh3_64bits(StringRef(bytes->data(), bytes->size()));
  return hash_value(Attribute(elements));
}

namespace {

struct MergeConstants
    : public onnxquant::impl::MergeConstantsBase<MergeConstants> {
  void runOnOperation() override {
    int64_t merged = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      // In order, so that the first one stays whatever the keys are.
      llvm::DenseMap<uint64_t, SmallVector<ConstantOp>> seen;
      SmallVector<ConstantOp> constants;
      function.walk<WalkOrder::PreOrder>(
          [&](ConstantOp op) { constants.push_back(op); });
      for (ConstantOp op : constants)
        merged += merge(op, seen[keyOf(op)]);
    }
    numMerged += merged;
    addToReport(getOperation(), getArgument(), "duplicates merged", merged);
  }

private:
  /// Moves a resource to the nearest graph around it that is around `op`, too.
  static bool moveOut(ConstantOp first, ConstantOp op) {
    if (!getBlob(getConstant(first.getOutput())))
      return false;
    Region *around = first->getParentRegion();
    while (!around->isAncestor(op->getParentRegion()))
      around = around->getParentRegion();
    first->moveBefore(around->findAncestorOpInRegion(*first));
    return true;
  }

  /// Replaces `op` by an equal constant that it can see.
  bool merge(ConstantOp op, SmallVector<ConstantOp> &candidates) {
    if (isOutput(op.getOutput()))
      return false;
    for (ConstantOp first : candidates) {
      if (!areEqual(first, op) || isOutput(first.getOutput()))
        continue;
      if (!first->getParentRegion()->isAncestor(op->getParentRegion()) &&
          !moveOut(first, op))
        continue;
      // Ops between the two keep their order.
      Operation *place = first->getBlock()->findAncestorOpInBlock(*op);
      if (!place || !first->isBeforeInBlock(place))
        continue;
      op.getOutput().replaceAllUsesWith(first.getOutput());
      op->erase();
      return true;
    }
    candidates.push_back(op);
    return false;
  }
};

} // namespace
