// Makes a product of matrices and a bias one Gemm.
// Enters: MatMul of two matrices, or Gemm without a bias, then the addition of
// a constant per column. Leaves: Gemm. Products of more than two dimensions
// stay, as Gemm has no such form.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEMATMULADD
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;
using namespace onnxquant::rewriting;

/// The number of columns of a product of two matrices of floats; none if it is
/// another product or they aren't known.
static std::optional<int64_t> getColumns(Operation *product) {
  if (getRank(product->getOperand(0)) != 2 ||
      getRank(product->getOperand(1)) != 2 || !isFloat(product->getOperand(0)))
    return std::nullopt;
  auto gemm = dyn_cast<GemmOp>(product);
  bool transposed = gemm && gemm.getTransB() != 0;
  auto type = cast<RankedTensorType>(product->getOperand(1).getType());
  int64_t columns = type.getDimSize(transposed ? 0 : 1);
  if (ShapedType::isDynamic(columns))
    return std::nullopt;
  return columns;
}

namespace {

struct FuseBias : public OpRewritePattern<AddOp> {
  FuseBias(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantAndOther> operands = splitOperands(op);
    if (!operands)
      return rewriter.notifyMatchFailure(op, "not one operand is constant");
    Operation *product = operands->other.getDefiningOp();
    if (!isa_and_nonnull<MatMulOp, GemmOp>(product) ||
        !operands->other.hasOneUse())
      return rewriter.notifyMatchFailure(op, "no product of its own");
    auto gemm = dyn_cast<GemmOp>(product);
    if (gemm && !isLeftOut(gemm.getC()))
      return rewriter.notifyMatchFailure(op, "the product has a bias");
    std::optional<int64_t> columns = getColumns(product);
    if (!columns || !readPerChannel(operands->constant, 2, *columns))
      return rewriter.notifyMatchFailure(op, "no bias for each column");
    auto flag = [&](StringRef name) {
      auto attr = product->getAttrOfType<IntegerAttr>(name);
      auto type = rewriter.getIntegerType(64, /*isSigned=*/true);
      return rewriter.getNamedAttr(name, attr ? Attribute(attr)
                                              : IntegerAttr::get(type, 0));
    };
    Attribute alpha = gemm ? gemm.getAlphaAttr() : Attribute();
    Operation *fused = createInPlaceOf(
        rewriter, GemmOp::getOperationName(), op,
        {product->getOperand(0), product->getOperand(1), operands->constant},
        {rewriter.getNamedAttr("alpha",
                               alpha ? alpha : rewriter.getF32FloatAttr(1)),
         rewriter.getNamedAttr("beta", rewriter.getF32FloatAttr(1)),
         flag("transA"), flag("transB")});
    if (Attribute name = product->getAttr(nodeNameAttr))
      fused->setAttr(nodeNameAttr, name);
    fused->setLoc(product->getLoc());
    rewriter.replaceOp(op, fused->getResults());
    rewriter.eraseOp(product);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FuseMatMulAdd
    : public PatternPass<FuseMatMulAdd,
                         onnxquant::impl::FuseMatMulAddBase<FuseMatMulAdd>> {
  static constexpr llvm::StringLiteral done = "products made Gemm";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<FuseBias>(set.getContext(), count);
  }
};

} // namespace
