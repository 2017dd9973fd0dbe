// Moves what follows a kernel into its epilogue. Enters and leaves: tensors.
// The kernel goes to where its reader stands, since the reader's other operands
// are known there.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "Tuning.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// The op that may go into the epilogue: the only reader of the kernel's
/// result, which computes an element of its own from each.
static linalg::GenericOp getReader(Value result) {
  if (result.use_empty())
    return {};
  auto reader = dyn_cast<linalg::GenericOp>(*result.user_begin());
  if (!reader || !llvm::all_equal(result.getUsers()) ||
      reader->getNumResults() != 1 || reader.getNumReductionLoops() != 0 ||
      reader.hasIndexSemantics() ||
      !reader.getIndexingMapsArray().back().isIdentity() ||
      !reader.getBody()->getArguments().back().use_empty() ||
      reader.getBody()->getOperations().size() >
          kernels::tuning::mostEpilogueOps ||
      !isElementwise(reader.getRegion()))
    return {};
  for (OpOperand &operand : reader->getOpOperands()) {
    AffineMap map = reader.getMatchingIndexingMap(&operand);
    if (operand.get() == result
            ? !map.isIdentity() || reader.isDpsInit(&operand)
            : !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return {};
  }
  return reader;
}

/// Appends the reader's computation to the epilogue, in which its inputs are
/// the arguments from `firstOperand` on.
static void appendBody(RewriterBase &rewriter, Block &epilogue,
                       linalg::GenericOp reader, Value result,
                       unsigned firstOperand) {
  auto yield = cast<YieldOp>(epilogue.getTerminator());
  IRMapping mapping;
  unsigned next = firstOperand;
  for (OpOperand *input : reader.getDpsInputOperands())
    mapping.map(reader.getMatchingBlockArgument(input),
                input->get() == result ? yield.getValue()
                                       : epilogue.getArgument(next++));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(yield);
  for (Operation &op : reader.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  Value value =
      mapping.lookupOrDefault(reader.getBody()->getTerminator()->getOperand(0));
  YieldOp::create(rewriter, yield.getLoc(), value);
  rewriter.eraseOp(yield);
}

/// Adds the reader of `result` to a kernel's epilogue.
static void append(RewriterBase &rewriter, KernelOpInterface fused,
                   linalg::GenericOp reader, Value result) {
  unsigned firstOperand = fused.getEpilogueOperands().size() + 1;
  SmallVector<Attribute> maps(fused.getEpilogueMaps().getValue());
  for (OpOperand *input : reader.getDpsInputOperands()) {
    if (input->get() == result)
      continue;
    fused.getEpilogueOperandsMutable().append(input->get());
    maps.push_back(AffineMapAttr::get(reader.getMatchingIndexingMap(input)));
    fused.getEpilogue().front().addArgument(
        reader.getMatchingBlockArgument(input).getType(), reader.getLoc());
  }
  fused.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
  appendBody(rewriter, fused.getEpilogue().front(), reader, result,
             firstOperand);
}

/// The kernel with its reader in its epilogue.
static KernelOpInterface fuse(RewriterBase &rewriter, KernelOpInterface kernel,
                              linalg::GenericOp reader) {
  rewriter.setInsertionPoint(reader);
  auto fused = cast<KernelOpInterface>(rewriter.clone(*kernel));
  append(rewriter, fused, reader, kernel->getResult(0));
  fused.getInitMutable().set(reader.getDpsInits()[0]);
  fused->getResult(0).setType(
      cast<RankedTensorType>(reader->getResult(0).getType()));
  rewriter.replaceOp(reader, fused->getResults());
  rewriter.eraseOp(kernel);
  return fused;
}

/// Gives a tensor that is computed in phases a beginning of its own, where it
/// shares an empty one.
static void separateEmpty(RewriterBase &rewriter, tensor::InsertSliceOp insert,
                          Operation *slice) {
  auto empty = insert.getDest().getDefiningOp<tensor::EmptyOp>();
  if (!empty || llvm::all_of(empty->getUsers(), [&](Operation *user) {
        return user == insert || user == slice;
      }))
    return;
  rewriter.setInsertionPointAfter(empty);
  Value own = rewriter.clone(*empty)->getResult(0);
  empty.getResult().replaceUsesWithIf(own, [&](OpOperand &use) {
    return use.getOwner() == insert || use.getOwner() == slice;
  });
}

/// The kernels that compute the parts of a tensor, phase by phase; none if
/// something else does, or reads a part.
static SmallVector<KernelOpInterface> getPhases(RewriterBase &rewriter,
                                                tensor::InsertSliceOp last) {
  SmallVector<KernelOpInterface> phases;
  Value whole = last.getResult();
  while (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    auto kernel = insert.getSource().getDefiningOp<KernelOpInterface>();
    if (!kernel || !kernel->hasOneUse())
      return {};
    separateEmpty(rewriter, insert, kernel.getInit().getDefiningOp());
    // A phase reads nothing of the whole but its own destination.
    for (Operation *user : insert.getDest().getUsers())
      if (user != insert && user != kernel.getInit().getDefiningOp())
        return {};
    phases.push_back(kernel);
    whole = insert.getDest();
  }
  if (!whole.getDefiningOp<tensor::EmptyOp>())
    return {};
  return phases;
}

/// Whether a reader of a tensor that kernels compute in phases may go into all
/// of them: it reads nothing else that depends on the phase, or comes later
/// than constants can be moved.
static bool fitsPhases(linalg::GenericOp reader, Value whole,
                       ArrayRef<KernelOpInterface> phases) {
  auto type = cast<RankedTensorType>(reader->getResult(0).getType());
  if (type.getShape() != cast<RankedTensorType>(whole.getType()).getShape())
    return false;
  unsigned last = reader.getNumLoops() - 1;
  // Another element type is for parts of the whole, with all of its columns.
  if (type != whole.getType())
    for (KernelOpInterface kernel : phases) {
      auto slice = kernel.getInit().getDefiningOp<tensor::ExtractSliceOp>();
      if (!slice || !slice->hasOneUse() ||
          slice.getType().getShape().back() != type.getShape().back())
        return false;
    }
  for (OpOperand *input : reader.getDpsInputOperands()) {
    if (input->get() == whole)
      continue;
    for (AffineExpr expr : reader.getMatchingIndexingMap(input).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (dim.getPosition() != last)
          return false;
    Operation *defining = input->get().getDefiningOp();
    if (!defining || defining->hasTrait<OpTrait::ConstantLike>())
      continue;
    for (KernelOpInterface kernel : phases)
      if (defining->getBlock() != kernel->getBlock() ||
          !defining->isBeforeInBlock(kernel))
        return false;
  }
  return true;
}

/// Gives a tensor and its parts, which kernels compute in phases, another
/// element type.
static void setElementType(Value whole, Type element) {
  auto retype = [&](Value value) {
    value.setType(cast<RankedTensorType>(value.getType()).clone(element));
  };
  retype(whole);
  while (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    auto kernel = insert.getSource().getDefiningOp<KernelOpInterface>();
    retype(kernel->getResult(0));
    retype(kernel.getInit());
    whole = insert.getDest();
    retype(whole);
  }
}

namespace {
struct FuseEpilogue : public onnxquant::impl::FuseEpilogueBase<FuseEpilogue> {
  void runOnOperation() override {
    TargetInfo target = getTargetInfo(getOperation());
    hasTables = target.hasByteTables();
    SmallVector<KernelOpInterface> kernels;
    getOperation().walk(
        [&](KernelOpInterface kernel) { kernels.push_back(kernel); });
    IRRewriter rewriter(&getContext());
    // Later kernels first: a sum of two goes into the one that comes last.
    for (KernelOpInterface kernel : llvm::reverse(kernels)) {
      if (kernel->getNumResults() != 1)
        continue;
      while (linalg::GenericOp reader = findReader(kernel->getResult(0))) {
        kernel = fuse(rewriter, kernel, reader);
        ++numFused;
      }
    }
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation().walk(
        [&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
    for (tensor::InsertSliceOp insert : inserts)
      fusePhases(rewriter, insert);
  }

private:
  /// A reader that looks bytes up stays a loop of its own where that isn't done
  /// in vectors.
  linalg::GenericOp findReader(Value result) {
    linalg::GenericOp reader = getReader(result);
    bool fits =
        !reader || hasTables || reader.getBody()->getOps<EntryOp>().empty();
    return fits ? reader : linalg::GenericOp();
  }

  bool hasTables = false;

  /// What follows a tensor that is computed in phases goes into each of them.
  void fusePhases(RewriterBase &rewriter, tensor::InsertSliceOp insert) {
    while (linalg::GenericOp reader = findReader(insert.getResult())) {
      SmallVector<KernelOpInterface> phases = getPhases(rewriter, insert);
      if (phases.empty() || !fitsPhases(reader, insert.getResult(), phases))
        return;
      for (Value input : reader.getDpsInputs())
        if (Operation *defining = input.getDefiningOp();
            defining && defining->hasTrait<OpTrait::ConstantLike>())
          defining->moveBefore(&defining->getBlock()->front());
      for (KernelOpInterface kernel : phases)
        append(rewriter, kernel, reader, insert.getResult());
      auto type = cast<RankedTensorType>(reader->getResult(0).getType());
      rewriter.replaceOp(reader, insert.getResult());
      setElementType(insert.getResult(), type.getElementType());
      ++numFused;
    }
  }
};
} // namespace
