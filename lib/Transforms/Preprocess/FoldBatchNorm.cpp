// Folds batch normalizations into the convolution or product beside them.
// Enters: a BatchNormalization with constant statistics after a Conv,
// ConvTranspose or Gemm with constant weights, or before one. Leaves: the
// latter with other weights. Before a padded convolution only a normalization
// without a shift can go, because padding is zero after it, not before.
//
// Also a normalization after a MatMul with a constant matrix, of any rank, if
// the channels, which are axis 1, are the matrix's own: its columns where it
// is on the right, its rows on the left. A bias and a Transpose may lie
// between.

#include "Contraction.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"

namespace onnxquant {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

namespace {

/// A normalization of what a contraction makes.
struct FoldIntoProducer : public OpRewritePattern<BatchNormalizationOp> {
  FoldIntoProducer(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(BatchNormalizationOp norm,
                                PatternRewriter &rewriter) const override {
    Operation *producer = norm.getX().getDefiningOp();
    if (!producer || !norm.getX().hasOneUse())
      return rewriter.notifyMatchFailure(norm, "others read its input");
    FailureOr<Contraction> contraction = Contraction::match(rewriter, producer);
    if (failed(contraction))
      return failure();
    FailureOr<ChannelAffine> affine = matchBatchNorm(rewriter, norm);
    if (failed(affine))
      return failure();
    if (static_cast<int64_t>(affine->scale.size()) !=
        contraction->getChannels())
      return rewriter.notifyMatchFailure(norm, "it has other channels");
    contraction->scaleOutput(*affine);
    FailureOr<Operation *> fused =
        contraction->rebuild(rewriter, norm, producer->getOperand(0));
    if (failed(fused))
      return failure();
    rewriter.replaceAllUsesWith(norm.getY(), (*fused)->getResult(0));
    rewriter.eraseOp(norm);
    rewriter.eraseOp(producer);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// A product with a constant matrix, what is added to it, and how it is turned
/// before it is normalized.
struct MatrixProduct {
  MatMulOp matMul;
  AddOp add;
  Value bias;
  TransposeOp transpose;
  Weights weights;
  /// Whether channels are the matrix's columns; they are its rows otherwise.
  bool isRight = false;
  int64_t rank = 0, axis = 0;

  int64_t getChannels() const { return weights.type.getDimSize(isRight); }
  size_t channelOf(size_t index) const {
    int64_t columns = weights.type.getDimSize(1);
    return isRight ? index % columns : index / columns;
  }
};

} // namespace

/// The product that a tensor is, whose channels are along `axis`.
static FailureOr<MatrixProduct> matchProduct(PatternRewriter &rewriter,
                                             Value value, int64_t axis) {
  MatrixProduct product;
  if (auto transpose = getOnlyProducer<TransposeOp>(value)) {
    std::optional<int64_t> rank = getRank(transpose->getOperand(0));
    if (!rank || axis >= *rank)
      return rewriter.notifyMatchFailure(transpose, "its rank isn't known");
    auto perm = transpose->getAttrOfType<ArrayAttr>("perm");
    axis = perm ? shape::getInts(perm)[axis] : *rank - 1 - axis;
    product.transpose = transpose;
    value = transpose->getOperand(0);
  }
  if (auto add = getOnlyProducer<AddOp>(value)) {
    std::optional<ConstantAndOther> operands = splitOperands(add);
    if (!operands)
      return rewriter.notifyMatchFailure(add, "not one operand is constant");
    product.add = add;
    product.bias = operands->constant;
    value = operands->other;
  }
  product.matMul = getOnlyProducer<MatMulOp>(value);
  std::optional<int64_t> rank = getRank(value);
  if (!product.matMul || !rank || *rank < 2 || axis > *rank - 1)
    return rewriter.notifyMatchFailure(value.getLoc(),
                                       "it reads no product of matrices");
  product.rank = *rank;
  product.axis = axis;
  product.isRight = axis == *rank - 1;
  std::optional<Weights> weights =
      readWeights(product.matMul->getOperand(product.isRight));
  if (axis < *rank - 2 || !weights || weights->type.getRank() != 2)
    return rewriter.notifyMatchFailure(
        product.matMul, "the channels aren't those of a constant matrix");
  product.weights = std::move(*weights);
  return product;
}

/// What is added to each channel of a product.
static std::optional<std::vector<double>>
readBias(const MatrixProduct &product) {
  int64_t channels = product.getChannels();
  if (!product.add)
    return std::vector<double>(channels, 0.0);
  std::optional<Weights> bias = readWeights(product.bias);
  if (!bias || bias->type.getRank() > product.rank)
    return std::nullopt;
  int64_t offset = product.rank - bias->type.getRank();
  for (auto [index, size] : llvm::enumerate(bias->type.getShape())) {
    bool isChannel = static_cast<int64_t>(index) + offset == product.axis;
    if (size != 1 && !(isChannel && size == channels))
      return std::nullopt;
  }
  if (bias->values.size() == 1)
    return std::vector<double>(channels, bias->values[0]);
  return std::move(bias->values);
}

namespace {

/// A normalization of a product.
struct FoldIntoProduct : public OpRewritePattern<BatchNormalizationOp> {
  FoldIntoProduct(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(BatchNormalizationOp norm,
                                PatternRewriter &rewriter) const override {
    FailureOr<MatrixProduct> product =
        matchProduct(rewriter, norm.getX(), /*axis=*/1);
    if (failed(product))
      return failure();
    FailureOr<ChannelAffine> affine = matchBatchNorm(rewriter, norm);
    if (failed(affine))
      return failure();
    std::optional<std::vector<double>> bias = readBias(*product);
    if (!bias ||
        static_cast<int64_t>(affine->scale.size()) != product->getChannels())
      return rewriter.notifyMatchFailure(norm, "it has other channels");
    for (auto [i, value] : llvm::enumerate(product->weights.values))
      value *= affine->scaleOf(product->channelOf(i));
    for (auto [i, value] : llvm::enumerate(*bias))
      value = value * affine->scaleOf(i) + affine->shiftOf(i);
    return rebuild(rewriter, norm, *product, std::move(*bias));
  }

private:
  /// Builds the product and what follows it anew where the normalization is.
  LogicalResult rebuild(PatternRewriter &rewriter, BatchNormalizationOp norm,
                        MatrixProduct &product,
                        std::vector<double> bias) const {
    MatMulOp matMul = product.matMul;
    Value matrix = matMul->getOperand(product.isRight);
    std::string weightName = nameForNew(matrix, matMul, "weight");
    std::string biasName = nameForNew(product.bias, matMul, "bias");
    // Along the channels' axis, rows of the product being its last but one.
    SmallVector<int64_t> shape = {product.getChannels()};
    if (!product.isRight)
      shape.push_back(1);
    bool adds = product.add || llvm::any_of(bias, [](double v) { return v; });
    Weights shift{
        RankedTensorType::get(shape, product.weights.type.getElementType()),
        std::move(bias)};
    ElementsAttr weights = makeElements(product.weights, weightName);
    ElementsAttr added = makeElements(shift, biasName);
    if (!weights || !added)
      return rewriter.notifyMatchFailure(norm, "a weight would be infinite");
    rewriter.setInsertionPoint(norm);
    auto repeat = [&](Operation *op) {
      Operation *copy = rewriter.clone(*op);
      copy->removeAttr(resultNamesAttr);
      return copy;
    };
    Location loc = matMul->getLoc();
    Value newMatrix = makeConstant(rewriter, loc, weights, weightName);
    Value constant =
        adds ? makeConstant(rewriter, loc, added, biasName) : Value();
    Operation *last = repeat(matMul);
    last->setOperand(product.isRight, newMatrix);
    if (adds) {
      Value sum[] = {last->getResult(0), constant};
      last = AddOp::create(rewriter, norm.getLoc(),
                           TypeRange{last->getResult(0).getType()},
                           ValueRange(sum), ArrayRef<NamedAttribute>{});
      if (product.add && product.add->hasAttr(nodeNameAttr))
        last->setAttr(nodeNameAttr, product.add->getAttr(nodeNameAttr));
      else if (norm->hasAttr(nodeNameAttr))
        last->setAttr(nodeNameAttr, norm->getAttr(nodeNameAttr));
    }
    if (product.transpose) {
      Value turned = last->getResult(0);
      last = repeat(product.transpose);
      last->setOperand(0, turned);
    }
    last->getResult(0).setType(norm.getY().getType());
    inheritResults(last, norm);
    rewriter.replaceAllUsesWith(norm.getY(), last->getResult(0));
    rewriter.eraseOp(norm);
    for (Operation *op : {product.transpose.getOperation(),
                          product.add.getOperation(), matMul.getOperation()})
      if (op)
        rewriter.eraseOp(op);
    ++count;
    return success();
  }

  int64_t &count;
};

/// A normalization of what a contraction reads.
struct FoldIntoConsumer : public OpRewritePattern<BatchNormalizationOp> {
  FoldIntoConsumer(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(BatchNormalizationOp norm,
                                PatternRewriter &rewriter) const override {
    if (!norm.getY().hasOneUse())
      return rewriter.notifyMatchFailure(norm, "several ops read its output");
    OpOperand &use = *norm.getY().use_begin();
    Operation *consumer = use.getOwner();
    if (use.getOperandNumber() != 0 || consumer->getBlock() != norm->getBlock())
      return rewriter.notifyMatchFailure(norm, "it isn't a consumer's input");
    if (auto gemm = dyn_cast<GemmOp>(consumer); gemm && gemm.getTransA() != 0)
      return rewriter.notifyMatchFailure(norm, "the channels are rows");
    FailureOr<Contraction> contraction = Contraction::match(rewriter, consumer);
    if (failed(contraction))
      return failure();
    FailureOr<ChannelAffine> affine = matchBatchNorm(rewriter, norm);
    if (failed(affine))
      return failure();
    if (static_cast<int64_t>(affine->scale.size()) !=
        contraction->getInputChannels())
      return rewriter.notifyMatchFailure(norm, "it has other channels");
    if (failed(contraction->scaleInput(*affine)))
      return rewriter.notifyMatchFailure(norm, "the consumer pads with zeros");
    FailureOr<Operation *> fused =
        contraction->rebuild(rewriter, consumer, norm.getX());
    if (failed(fused))
      return failure();
    rewriter.replaceOp(consumer, (*fused)->getResults());
    rewriter.eraseOp(norm);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FoldBatchNorm
    : public onnxquant::impl::FoldBatchNormBase<FoldBatchNorm> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<FoldIntoProducer, FoldIntoProduct>(context, after);
    set.add<FoldIntoConsumer>(context, before);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    after = before = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numAfter += after;
    numBefore += before;
    addToReport(getOperation(), getArgument(), "folded into producers", after);
    addToReport(getOperation(), getArgument(), "folded into consumers", before);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t after = 0, before = 0;
};

} // namespace
