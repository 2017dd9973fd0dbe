// Merges ops that compute the same, as CSE does, in the time that it takes.
// Enters: linalg on tensors. Leaves: the same without repeated computations.
//
// CSE hashes an op without its regions: elementwise ops of the same operands
// would all meet in one bucket of its table and be compared in pairs. Here an
// attribute holds the hash of a region while it runs.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/Hashing.h"

namespace onnxquant {
#define GEN_PASS_DEF_MERGEEQUAL
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr StringLiteral hashName = "onnxq.region_hash";

/// Whether an op's regions hold ops that have none, and take values from
/// outside.
static bool hasPlainRegions(Operation *op) {
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return false;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (inner.getNumRegions() != 0)
        return false;
  return true;
}

/// The same for operands that are the same, in any order, as those of ops that
/// commute may be. Which of several values of a type it is, isn't in it.
static size_t hashOperands(Operation *op) {
  size_t sum = 0;
  for (Value operand : op->getOperands()) {
    Attribute constant;
    const void *seen = matchPattern(operand, m_Constant(&constant))
                           ? constant.getAsOpaquePointer()
                           : operand.getType().getAsOpaquePointer();
    sum += llvm::hash_value(seen);
  }
  return sum;
}

/// Equal for equal regions.
static size_t hashRegions(Operation *op) {
  llvm::hash_code hash = op->getNumRegions();
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      hash =
          llvm::hash_combine(hash, inner.getName().getAsOpaquePointer(),
                             inner.getRawDictionaryAttrs().getAsOpaquePointer(),
                             inner.hashProperties(), hashOperands(&inner));
  return hash;
}

namespace {
struct MergeEqual : public onnxquant::impl::MergeEqualBase<MergeEqual> {
  void runOnOperation() override {
    Builder b(&getContext());
    getOperation().walk([&](Operation *op) {
      if (hasPlainRegions(op))
        op->setDiscardableAttr(hashName, b.getI64IntegerAttr(hashRegions(op)));
    });
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(),
                                  getOperation());
    getOperation().walk([](Operation *op) {
      if (op->getNumRegions() != 0)
        op->removeDiscardableAttr(hashName);
    });
  }
};
} // namespace
