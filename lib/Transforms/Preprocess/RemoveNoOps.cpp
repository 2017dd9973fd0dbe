// Removes nodes that turn out to do nothing, and joins transposes.
// Enters: graphs with inferred shapes. Leaves: the same without the nodes whose
// folder gives back an operand, and without those that keep the order of
// elements and all dimensions, as expressions. What an op does is said by its
// folder, not here. An output keeps its name: it becomes its producer's.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_REMOVENOOPS
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// Whether an op that keeps the order of elements keeps the dimensions too:
/// equal expressions, or one unknown dimension among equal ones.
static bool keepsDims(Operation *op) {
  if (!isa<ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp, ExpandOp, TileOp>(op))
    return false;
  Value input = op->getOperand(0);
  OpResult output = op->getResult(0);
  ShapeContext ctx;
  std::optional<Dims> before = ctx.getDims(input);
  if (!before || failed(ctx.infer(op)))
    return false;
  std::optional<Dims> after = ctx.getDims(output);
  if (!after || before->size() != after->size())
    return false;
  unsigned different = 0;
  for (auto [a, b] : llvm::zip(*before, *after))
    different += a != b;
  if (different == 0)
    return true;
  // As many elements in all and in every other dimension: the last one is
  // equal. That holds where nothing is repeated and no dimension is 0.
  return different == 1 && isa<ReshapeOp, FlattenOp>(op) &&
         llvm::all_of(llvm::zip(*before, *after), [](auto pair) {
           auto &[a, b] = pair;
           return a != b || a.getConstant().value_or(0) > 0;
         });
}

namespace {

struct RemoveNoOp : public RewritePattern {
  RemoveNoOp(MLIRContext *context, ArrayRef<std::string> kinds,
             int64_t &removed, int64_t &joined)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), kinds(kinds),
        removed(removed), joined(joined) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto node = dyn_cast<NodeOpInterface>(op);
    if (!node || isa<ConstantOp>(op) || op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "it is no node");
    if (!kinds.empty() && !llvm::is_contained(kinds, node.getOnnxOpType()))
      return rewriter.notifyMatchFailure(op, "this kind isn't asked for");
    Value replacement = keepsDims(op) ? op->getOperand(0) : Value();
    if (!replacement) {
      // A folder may change its op instead, so that the attempt is a change.
      SmallVector<OpFoldResult> results;
      rewriter.startOpModification(op);
      bool folds = succeeded(op->fold(results));
      if (folds && results.empty()) {
        rewriter.finalizeOpModification(op);
        ++joined;
        return success();
      }
      rewriter.cancelOpModification(op);
      if (!folds)
        return rewriter.notifyMatchFailure(op, "it does something");
      replacement = dyn_cast<Value>(results.front());
    }
    for (OpResult other : op->getResults().drop_front())
      if (!other.use_empty())
        return rewriter.notifyMatchFailure(op, "another result is used");
    if (!replacement || !canReplace(op->getResult(0), replacement))
      return rewriter.notifyMatchFailure(op, "it stands for an output");
    replaceResult(rewriter, op->getResult(0), replacement);
    rewriter.eraseOp(op);
    ++removed;
    return success();
  }

private:
  ArrayRef<std::string> kinds;
  int64_t &removed;
  int64_t &joined;
};

struct RemoveNoOps : public onnxquant::impl::RemoveNoOpsBase<RemoveNoOps> {
  using RemoveNoOpsBase::RemoveNoOpsBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    names.assign(kinds.begin(), kinds.end());
    set.add<RemoveNoOp>(context, names, removed, joined);
    if (kinds.empty()) {
      IfOp::getCanonicalizationPatterns(set, context);
      BatchNormalizationInferenceModeOp::getCanonicalizationPatterns(set,
                                                                     context);
    }
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    removed = joined = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numRemoved += removed;
    numJoined += joined;
    addToReport(getOperation(), getArgument(), "nodes removed", removed);
    addToReport(getOperation(), getArgument(), "transposes joined", joined);
  }

private:
  FrozenRewritePatternSet patterns;
  std::vector<std::string> names;
  int64_t removed = 0, joined = 0;
};

} // namespace
