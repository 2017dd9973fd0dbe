// Makes the scaling by a constant per channel part of the weights.
// Enters: Mul or Div by a constant after a Conv, ConvTranspose or Gemm with
// constant weights, or after a MatMul with a constant matrix on the right, of
// any rank on the left. Leaves: the latter with other weights.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEMUL
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;
using namespace onnxquant::rewriting;

/// One factor, or one for each of the last axis's elements.
static std::optional<std::vector<double>> readPerColumn(Value constant,
                                                        int64_t columns) {
  std::optional<Weights> weights = readWeights(constant);
  if (!weights || !isFloat(constant))
    return std::nullopt;
  ArrayRef<int64_t> shape = weights->type.getShape();
  int64_t count = weights->type.getNumElements();
  if (count != 1 && (count != columns || shape.back() != columns))
    return std::nullopt;
  return std::move(weights->values);
}

namespace {

template <typename OpTy> struct FuseScale : public OpRewritePattern<OpTy> {
  FuseScale(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto makeAffine = [](std::vector<double> values,
                         bool second) -> std::optional<ChannelAffine> {
      ChannelAffine affine;
      affine.scale = std::move(values);
      if (std::is_same_v<OpTy, DivOp>) {
        if (!second)
          return std::nullopt;
        for (double &value : affine.scale)
          value = 1.0 / value;
      }
      return affine;
    };
    if (failed(fuseIntoProducer(rewriter, op, makeAffine)))
      return failure();
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// A scale of the columns of a product with a constant matrix. The rank of the
/// constant must not be larger than that of the product, which it would change.
template <typename OpTy>
struct FuseColumnScale : public OpRewritePattern<OpTy> {
  FuseColumnScale(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto refuse = [&](const char *reason) {
      return rewriter.notifyMatchFailure(op, reason);
    };
    constexpr bool divides = std::is_same_v<OpTy, DivOp>;
    std::optional<ConstantAndOther> operands = splitOperands(op);
    if (!operands || (divides && !operands->second))
      return refuse("not one operand is constant, or it is a dividend");
    auto product = operands->other.template getDefiningOp<MatMulOp>();
    if (!product || !operands->other.hasOneUse())
      return refuse("the other operand is no product, or others read it");
    std::optional<Weights> weights = readWeights(product->getOperand(1));
    std::optional<int64_t> rank = getRank(operands->other);
    if (!weights || weights->type.getRank() != 2 ||
        !isFloat(product->getOperand(1)))
      return refuse("the product has no constant matrix on the right");
    int64_t columns = weights->type.getDimSize(1);
    std::optional<int64_t> constantRank = getRank(operands->constant);
    auto scale = readPerColumn(operands->constant, columns);
    if (!scale || !rank || !constantRank || *constantRank > *rank)
      return refuse("the constant is not per column");
    for (auto [i, value] : llvm::enumerate(weights->values)) {
      double factor = (*scale)[scale->size() == 1 ? 0 : i % columns];
      value = divides ? value / factor : value * factor;
    }
    std::string name = nameForNew(product->getOperand(1), product, "weight");
    ElementsAttr elements = makeElements(*weights, name);
    if (!elements)
      return refuse("a weight would become infinite");
    rewriter.setInsertionPoint(op);
    Operation *fused = rewriter.clone(*product);
    rewriter.setInsertionPoint(fused);
    fused->setOperand(
        1, makeConstant(rewriter, product->getLoc(), elements, name));
    fused->getResult(0).setType(op->getResult(0).getType());
    inheritResults(fused, op);
    rewriter.replaceOp(op, fused->getResults());
    rewriter.eraseOp(product);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FuseMul
    : public PatternPass<FuseMul, onnxquant::impl::FuseMulBase<FuseMul>> {
  static constexpr llvm::StringLiteral done = "scales made weights";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<FuseScale<MulOp>, FuseScale<DivOp>, FuseColumnScale<MulOp>,
            FuseColumnScale<DivOp>>(set.getContext(), count);
  }
};

} // namespace
