// Fuses ops that compute element by element. Enters and leaves: linalg on
// tensors. Upstream's pass also fuses into reductions and broadcasts, which
// repeat what is fused into them for every element that they read.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Whether a body computes without divisions and functions.
static bool isPlain(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &inner) {
    return isa<arith::ArithDialect>(inner.getDialect()) &&
           !isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
                arith::RemSIOp, arith::RemUIOp>(inner);
  });
}

/// Whether computing an element again is nearly free.
static bool isCheap(linalg::GenericOp op) {
  Block &body = *op.getBody();
  if (body.getOperations().size() > tuning::mostRepeatedOps + 1)
    return false;
  return isPlain(body);
}

/// Whether an op reads a table of bytes for each element. It stays by itself:
/// what is before and after it is computed in vectors.
static bool isLookup(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    auto extract = dyn_cast<tensor::ExtractOp>(inner);
    if (!extract)
      return isa<onnxq::EntryOp>(inner);
    RankedTensorType table = extract.getTensor().getType();
    return table.getElementType().isInteger(8) && table.getRank() == 1 &&
           table.getDimSize(0) == 256;
  });
}

/// Whether an op makes bytes of a kernel's sums. It goes into the kernel, which
/// would write all of the sums otherwise: four times as much.
static bool isNarrowing(linalg::GenericOp op) {
  auto type = cast<ShapedType>(op->getResult(0).getType());
  auto isWide = [](Value value) {
    return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() > 8;
  };
  return op->getNumResults() == 1 && type.getElementType().isInteger(8) &&
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           return input.hasOneUse() && isWide(input) &&
                  input.getDefiningOp<onnxq::KernelOpInterface>();
         });
}

/// Whether an op makes numbers of a tensor of bytes, at next to no cost. Each
/// reader does so by itself, and reads a quarter of the memory. With `bare`
/// wide integers of narrow ones are such numbers too.
static bool isWidening(linalg::GenericOp op, bool bare) {
  Block &body = *op.getBody();
  if (op->getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      body.getOperations().size() > tuning::mostWideningOps + 1)
    return false;
  Type from = getElementTypeOrSelf(op.getDpsInputs()[0]),
       to = getElementTypeOrSelf(op->getResult(0));
  if (bare)
    return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth() &&
           isPlain(body);
  return from.isInteger(8) && to.isF32() && isPlain(body);
}

/// Gives each elementwise reader and each sum its own op that makes numbers of
/// bytes: so what computes the bytes needn't write the numbers.
static void repeatWidening(Operation *root, bool bare) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (!op->hasOneUse() && isWidening(op, bare))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    llvm::SetVector<Operation *> readers;
    for (OpOperand &use : op->getUses()) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (reader && (bare || !isLookup(reader)) &&
          reader.getMatchingIndexingMap(&use).isPermutation())
        readers.insert(reader);
    }
    for (Operation *reader : readers) {
      OpBuilder b(reader);
      Operation *own = b.clone(*op);
      reader->replaceUsesOfWith(op->getResult(0), own->getResult(0));
    }
  }
}

/// Whether two ops would be too long as one.
static bool areTooLong(linalg::GenericOp a, linalg::GenericOp b) {
  return a->getNumOperands() + b->getNumOperands() >
             tuning::mostFusedOperands ||
         a.getBody()->getOperations().size() +
                 b.getBody()->getOperations().size() >
             tuning::mostFusedOps;
}

/// Whether an op makes wide numbers for a reduction, into which it goes.
static bool isForReduction(linalg::GenericOp op) {
  return isWidening(op, /*bare=*/true) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           auto reader = dyn_cast<linalg::GenericOp>(user);
           return reader && reader.getNumReductionLoops() != 0;
         });
}

/// Whether the producer of an operand may be computed in its consumer.
static bool mayFuse(OpOperand *operand, bool bare) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !producer->hasOneUse())
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (areTooLong(producer, consumer) ||
      (!bare && (isLookup(producer) || isLookup(consumer))))
    return false;
  if (isNarrowing(producer) || (bare && isForReduction(consumer)))
    return false;
  if (consumer.getNumReductionLoops() != 0)
    return map.isPermutation() && isWidening(producer, bare);
  return map.isPermutation() || isCheap(producer);
}

namespace {
struct FuseElementwise
    : public onnxquant::impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    repeatWidening(getOperation(), bare);
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [bare = bool(bare)](OpOperand *operand) {
          return mayFuse(operand, bare);
        });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(
            getOperation(), std::move(patterns),
            GreedyRewriteConfig().setUseTopDownTraversal(true))))
      signalPassFailure();
  }
};
} // namespace
