// Moves transposes to where they cost least.
// Enters: graphs with transposes, such as those around channels-last kernels.
// Leaves: ops between them computing in the order that kernels need, by
// LayoutOpInterface, and transposes where orders must differ, mostly at the
// graph's edges. Which op has which layout is chosen in LayoutChoice.cpp.

#include "LayoutChoice.h"
#include "OnnxQuant/Transforms/Layout/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_PROPAGATELAYOUT
#include "OnnxQuant/Transforms/Layout/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::layouts;
using namespace onnxquant::rewriting;

/// Rounds after which layouts are what they are. One is enough unless more than
/// two orders meet.
static constexpr unsigned maxRounds = 4;

/// The names and notes of a result go with the tensor in its original order.
static void passResultNotes(OpResult from, Value to) {
  auto result = dyn_cast<OpResult>(to);
  if (!result || result.getOwner()->getNumResults() != 1)
    return;
  for (StringRef name : {StringRef(resultNamesAttr), StringRef(dimParamsAttr),
                         StringRef("onnx_result_doc_strings"),
                         StringRef("onnx_result_metadata")}) {
    auto list = from.getOwner()->getAttrOfType<ArrayAttr>(name);
    if (list && from.getResultNumber() < list.size())
      result.getOwner()->setAttr(
          name,
          ArrayAttr::get(from.getContext(), list[from.getResultNumber()]));
  }
}

namespace {

struct PropagateLayout
    : public onnxquant::impl::PropagateLayoutBase<PropagateLayout> {
  void runOnOperation() override;

private:
  int64_t moved = 0;

  bool change(Block &block, bool mustGain);
  void rebuild(Operation *op, const OpLayout &layout);
  void tidy(Block &block);
};

} // namespace

/// Replaces an op by one in another layout. Its results are transposed back;
/// where the user needs them as they are stored, both transposes vanish.
void PropagateLayout::rebuild(Operation *op, const OpLayout &layout) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (auto [operand, perm] : llvm::zip(op->getOperands(), layout.operands))
    operands.push_back(permuteValue(builder, loc, operand, perm));
  SmallVector<Value> results =
      cast<LayoutOpInterface>(op).buildInLayout(builder, layout, operands);
  for (auto [old, made, perm] :
       llvm::zip(op->getResults(), results, layout.results)) {
    Value back =
        perm.empty() ? made : permuteValue(builder, loc, made, invert(perm));
    if (back.getType() != old.getType())
      back.setType(old.getType());
    passResultNotes(old, back);
    old.replaceAllUsesWith(back);
  }
  op->erase();
}

/// Lets all readers of a tensor in one order share a transpose.
static void shareTransposes(Block &block) {
  llvm::DenseMap<std::pair<Value, Attribute>, Operation *> first;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<Permutation> perm = getTransposition(&op);
    if (!perm)
      continue;
    Attribute key = Builder(op.getContext()).getI64ArrayAttr(*perm);
    auto [it, isNew] = first.insert({{op.getOperand(0), key}, &op});
    OpResult result = op.getResult(0);
    if (isNew || isOutput(result) ||
        it->second->getResultTypes() != op.getResultTypes())
      continue;
    result.replaceAllUsesWith(it->second->getResult(0));
    op.erase();
  }
}

/// Joins transposes, makes reshapes of those that move no bytes, and erases
/// what nothing reads any more.
void PropagateLayout::tidy(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<Permutation> perm = getTransposition(&op);
    if (!perm || isIdentity(*perm))
      continue;
    Operation *maker = op.getOperand(0).getDefiningOp();
    bool joins = getTransposition(maker).has_value();
    if (!joins && !keepsOrder(op.getOperand(0).getType(), *perm))
      continue;
    OpBuilder builder(&op);
    Value value = permuteValue(builder, op.getLoc(), op.getOperand(0), *perm);
    OpResult result = op.getResult(0);
    if (value.getType() != result.getType() ||
        (isOutput(result) && !canReplace(result, value)))
      continue;
    IRRewriter rewriter(builder);
    if (value.getDefiningOp() && value.getDefiningOp() != maker)
      passResultNotes(result, value);
    replaceResult(rewriter, result, value);
    op.erase();
  }
  shareTransposes(block);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && isMemoryEffectFree(&op) && !op.getResults().empty() &&
        isa<TransposeOp, ReshapeOp, SqueezeOp, UnsqueezeOp, ConstantOp,
            NoValueOp>(op))
      op.erase();
}

bool PropagateLayout::change(Block &block, bool mustGain) {
  Layouts layouts = chooseLayouts(block, mustGain);
  bool changed = false;
  // In the block's order, so that operands are final before they are read.
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (layouts.contains(&op))
      ops.push_back(&op);
  auto isKept = [](const Permutation &perm) { return isIdentity(perm); };
  for (Operation *op : ops) {
    const OpLayout &layout = layouts[op];
    if (llvm::all_of(layout.operands, isKept) &&
        llvm::all_of(layout.results, isKept))
      continue;
    rebuild(op, layout);
    ++moved;
    changed = true;
  }
  tidy(block);
  return changed;
}

void PropagateLayout::runOnOperation() {
  moved = 0;
  int64_t before = 0, after = 0, left = 0, bytesBefore = 0, bytesAfter = 0;
  SmallVector<Block *> blocks;
  getOperation()->walk([&](Block *block) {
    if (!block->getOps<TransposeOp>().empty())
      blocks.push_back(block);
  });
  for (Block *block : blocks) {
    before += std::distance(block->getOps<TransposeOp>().begin(),
                            block->getOps<TransposeOp>().end());
    bytesBefore += getTransposedBytes(*block);
    for (unsigned round = 0; round < maxRounds; ++round)
      if (!change(*block, /*mustGain=*/round > 0))
        break;
    left += std::distance(block->getOps<TransposeOp>().begin(),
                          block->getOps<TransposeOp>().end());
    bytesAfter += getTransposedBytes(*block);
  }
  after = left;
  numMoved += moved;
  numCancelled += std::max<int64_t>(0, before - after);
  numLeft += left;
  numBytesBefore += bytesBefore;
  numBytesAfter += bytesAfter;
  addToReport(getOperation(), getArgument(), "nodes in another order", moved);
  addToReport(getOperation(), getArgument(), "transposes cancelled",
              std::max<int64_t>(0, before - after));
}
