// Lets a Gemm read its operands transposed.
// Enters: Gemm of a Transpose of a matrix. Leaves: Gemm with the flag of that
// operand turned. The Transpose stays for others that read it.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSETRANSPOSE
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// The operand of a transpose that turns a matrix; null for another op.
static Value getTurned(Value value) {
  auto op = value.getDefiningOp<TransposeOp>();
  if (!op || getRank(op.getData()) != 2)
    return {};
  if (op.getPerm() && shape::getInts(op.getPerm()) != ArrayRef<int64_t>{1, 0})
    return {};
  return op.getData();
}

namespace {

struct FuseIntoGemm : public OpRewritePattern<GemmOp> {
  FuseIntoGemm(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    Value turned[] = {getTurned(op.getA()), getTurned(op.getB())};
    if (!turned[0] && !turned[1])
      return rewriter.notifyMatchFailure(op, "no operand is transposed");
    rewriter.modifyOpInPlace(op, [&] {
      auto type = rewriter.getIntegerType(64, /*isSigned=*/true);
      bool flags[] = {op.getTransA() != 0, op.getTransB() != 0};
      for (unsigned i = 0; i < 2; ++i) {
        if (!turned[i])
          continue;
        op->setOperand(i, turned[i]);
        op->setAttr(i == 0 ? "transA" : "transB",
                    IntegerAttr::get(type, !flags[i]));
        ++count;
      }
    });
    return success();
  }

private:
  int64_t &count;
};

struct FuseTranspose
    : public PatternPass<FuseTranspose,
                         onnxquant::impl::FuseTransposeBase<FuseTranspose>> {
  static constexpr llvm::StringLiteral done = "transposes made flags";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<FuseIntoGemm>(set.getContext(), count);
  }
};

} // namespace
