// Moves what follows a kernel into its epilogue. Enters and leaves: tensors.
// The kernel goes to where its reader stands, since the reader's other operands
// are known there.

#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// More ops than these don't pay: their values leave the registers.
static constexpr size_t maxEpilogueOps = 64;

/// The op that may go into the epilogue: the only reader of the kernel's
/// result, which computes an element of its own from each.
static linalg::GenericOp getReader(Operation *kernel) {
  if (kernel->getNumResults() != 1 || kernel->use_empty())
    return {};
  auto reader = dyn_cast<linalg::GenericOp>(*kernel->user_begin());
  if (!reader || !llvm::all_equal(kernel->getUsers()) ||
      reader->getNumResults() != 1 || reader.getNumReductionLoops() != 0 ||
      reader.hasIndexSemantics() ||
      !reader.getIndexingMapsArray().back().isIdentity() ||
      !reader.getBody()->getArguments().back().use_empty() ||
      reader.getBody()->getOperations().size() > maxEpilogueOps ||
      !isElementwise(reader.getRegion()))
    return {};
  for (OpOperand &operand : reader->getOpOperands()) {
    AffineMap map = reader.getMatchingIndexingMap(&operand);
    if (operand.get() == kernel->getResult(0)
            ? !map.isIdentity() || reader.isDpsInit(&operand)
            : !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return {};
  }
  return reader;
}

/// Appends the reader's computation to the epilogue, in which its inputs are
/// the arguments from `firstExtra` on.
static void appendBody(RewriterBase &rewriter, Block &epilogue,
                       linalg::GenericOp reader, Value result,
                       unsigned firstExtra) {
  auto yield = cast<YieldOp>(epilogue.getTerminator());
  IRMapping mapping;
  unsigned next = firstExtra;
  for (OpOperand *input : reader.getDpsInputOperands())
    mapping.map(reader.getMatchingBlockArgument(input),
                input->get() == result ? yield.getValue()
                                       : epilogue.getArgument(next++));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(yield);
  for (Operation &op : reader.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  Value value = mapping.lookupOrDefault(
      reader.getBody()->getTerminator()->getOperand(0));
  YieldOp::create(rewriter, yield.getLoc(), value);
  rewriter.eraseOp(yield);
}

/// The kernel with its reader in its epilogue.
static KernelOpInterface fuse(RewriterBase &rewriter, KernelOpInterface kernel,
                              linalg::GenericOp reader) {
  rewriter.setInsertionPoint(reader);
  Value result = kernel->getResult(0);
  auto fused = cast<KernelOpInterface>(rewriter.clone(*kernel));
  unsigned firstExtra = fused.getExtras().size() + 1;
  SmallVector<Attribute> maps(fused.getExtraMaps().getValue());
  for (OpOperand *input : reader.getDpsInputOperands()) {
    if (input->get() == result)
      continue;
    fused.getExtrasMutable().append(input->get());
    maps.push_back(
        AffineMapAttr::get(reader.getMatchingIndexingMap(input)));
    fused.getEpilogue().front().addArgument(
        reader.getMatchingBlockArgument(input).getType(), reader.getLoc());
  }
  fused.setExtraMapsAttr(rewriter.getArrayAttr(maps));
  appendBody(rewriter, fused.getEpilogue().front(), reader, result, firstExtra);
  fused.getInitMutable().set(reader.getDpsInits()[0]);
  fused->getResult(0).setType(
      cast<RankedTensorType>(reader->getResult(0).getType()));
  rewriter.replaceOp(reader, fused->getResults());
  rewriter.eraseOp(kernel);
  return fused;
}

namespace {
struct FuseEpilogue : public onnxquant::impl::FuseEpilogueBase<FuseEpilogue> {
  void runOnOperation() override {
    SmallVector<KernelOpInterface> kernels;
    getOperation().walk(
        [&](KernelOpInterface kernel) { kernels.push_back(kernel); });
    IRRewriter rewriter(&getContext());
    // Later kernels first: a sum of two goes into the one that comes last.
    for (KernelOpInterface kernel : llvm::reverse(kernels))
      while (linalg::GenericOp reader = getReader(kernel)) {
        kernel = fuse(rewriter, kernel, reader);
        ++numFused;
      }
  }
};
} // namespace
