// Makes a flattened Gemm a product of the tensor as it is.
// Enters: Reshape to a matrix, Gemm with constant weights and bias, Reshape of
// its rows back. Leaves: MatMul of the unflattened tensor and Add, without
// either Reshape.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"

namespace onnxquant {
#define GEN_PASS_DEF_SPLITGEMM
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

/// Whether two lists of dimensions are equal. One pair may be unknown: as many
/// elements in all and in every other dimension make it equal too.
static bool areEqual(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  if (a.size() != b.size())
    return false;
  unsigned different = 0;
  bool positive = true;
  for (auto [one, other] : llvm::zip(a, b)) {
    if (one != other)
      ++different;
    else
      positive &= one.getConstant().value_or(0) > 0;
  }
  return different == 0 || (different == 1 && positive);
}

/// The weights of a Gemm as a matrix of columns by rows of the input.
static Weights getColumns(const Weights &weights, bool transposed) {
  if (!transposed)
    return weights;
  ArrayRef<int64_t> shape = weights.type.getShape();
  Weights result{RankedTensorType::get({shape[1], shape[0]},
                                       weights.type.getElementType()),
                 std::vector<double>(weights.values.size())};
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j)
      result[j * shape[0] + i] = weights[i * shape[1] + j];
  return result;
}

namespace {

struct Unflatten : public OpRewritePattern<ReshapeOp> {
  Unflatten(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto gemm = getOnlyProducer<GemmOp>(op.getData());
    auto flat = gemm ? getOnlyProducer<ReshapeOp>(gemm.getA()) : ReshapeOp();
    if (!flat || gemm.getTransA() != 0 ||
        gemm.getAlpha().convertToFloat() != 1 || !isFloat(op.getData()))
      return rewriter.notifyMatchFailure(op, "no plain Gemm of a Reshape");
    ShapeContext ctx;
    auto before = ctx.getDims(flat.getData()), after = ctx.getDims(op);
    auto matrix = ctx.getDims(flat), rows = ctx.getDims(gemm);
    if (!before || !after || !matrix || !rows || before->size() < 3 ||
        matrix->size() != 2 || before->back() != matrix->back() ||
        after->back() != rows->back() ||
        !areEqual(ArrayRef(*before).drop_back(), ArrayRef(*after).drop_back()))
      return rewriter.notifyMatchFailure(op, "it doesn't undo the first one");
    std::optional<Weights> weights = readWeights(gemm.getB());
    if (!weights || !after->back().getConstant())
      return rewriter.notifyMatchFailure(op, "the weights aren't constant");
    std::optional<std::vector<double>> bias;
    if (!isLeftOut(gemm.getC())) {
      bias = readPerChannel(gemm.getC(), 2, *after->back().getConstant());
      if (!bias || gemm.getBeta().convertToFloat() != 1)
        return rewriter.notifyMatchFailure(op, "no plain bias");
    }
    rewrite(op, gemm, flat, *weights, bias, rewriter);
    ++count;
    return success();
  }

private:
  static void rewrite(ReshapeOp op, GemmOp gemm, ReshapeOp flat,
                      const Weights &weights,
                      const std::optional<std::vector<double>> &bias,
                      PatternRewriter &rewriter) {
    Location loc = gemm.getLoc();
    Value factor = gemm.getB();
    if (gemm.getTransB() != 0) {
      std::string name = nameForNew(gemm.getB(), gemm, "weight");
      factor = makeConstant(
          rewriter, loc, makeElements(getColumns(weights, true), name), name);
    }
    Operation *product = createInPlaceOf(rewriter, MatMulOp::getOperationName(),
                                         op, {flat.getData(), factor}, {});
    product->setLoc(loc);
    if (Attribute name = gemm->getAttr(nodeNameAttr))
      product->setAttr(nodeNameAttr, name);
    Operation *last = product;
    if (bias) {
      std::string name = nameForNew(gemm.getC(), gemm, "bias");
      Weights vector{RankedTensorType::get(static_cast<int64_t>(bias->size()),
                                           weights.type.getElementType()),
                     *bias};
      rewriter.setInsertionPoint(op);
      Value constant =
          makeConstant(rewriter, loc, makeElements(vector, name), name);
      last = createInPlaceOf(rewriter, AddOp::getOperationName(), op,
                             {product->getResult(0), constant}, {});
      setTensorName(product->getResult(0), getTensorName(gemm.getY()));
    }
    rewriter.replaceOp(op, last->getResults());
    rewriter.eraseOp(gemm);
    rewriter.eraseOp(flat);
  }

  int64_t &count;
};

struct SplitGemm : public onnxquant::impl::SplitGemmBase<SplitGemm> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<Unflatten>(context, split);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    split = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numSplit += split;
    addToReport(getOperation(), getArgument(), "Gemm made MatMul", split);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t split = 0;
};

} // namespace
