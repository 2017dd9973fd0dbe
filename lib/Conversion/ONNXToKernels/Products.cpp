// Products of matrices become contractions.

#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// A matrix [k, n] (or its transpose) as weights [1, k, n].
static Value makeWeights(ImplicitLocOpBuilder &b, const RawElements &raw,
                         bool isTransposed) {
  ArrayRef<int64_t> shape = raw.type.getShape();
  SmallVector<int64_t> order = {0, 1};
  if (isTransposed)
    std::swap(order[0], order[1]);
  std::vector<char> bytes = permuteElements(raw, shape, order);
  return makeConstant(
      b,
      RankedTensorType::get({1, shape[order[0]], shape[order[1]]},
                            b.getF32Type()),
      bytes, "weights");
}

/// [k, n] as [1, k, n].
static Value expandMatrix(ImplicitLocOpBuilder &b, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  auto expanded = RankedTensorType::get(
      {1, type.getDimSize(0), type.getDimSize(1)}, type.getElementType());
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
  return tensor::ExpandShapeOp::create(b, expanded, matrix, groups);
}

/// Sizes of `input` with its last dimension replaced.
static SmallVector<OpFoldResult> getProductSizes(ImplicitLocOpBuilder &b,
                                                 Value input, int64_t columns) {
  SmallVector<OpFoldResult> sizes;
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  for (int64_t i = 0; i < rank - 1; ++i)
    sizes.push_back(getSize(b, input, i));
  sizes.push_back(b.getIndexAttr(columns));
  return sizes;
}

namespace {

struct MatMulToContract : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getA().getType());
    auto right = dyn_cast<RankedTensorType>(op.getB().getType());
    if (!input || !right || !isa<RankedTensorType>(op.getY().getType()) ||
        input.getRank() < 1 || !isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its operands");
    if (!isMatrices(input, right))
      return rewriter.notifyMatchFailure(
          op, "its sizes are open (see --input-shape) or small");
    bool isBatched = right.getRank() > 2;
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    std::optional<RawElements> raw;
    if (!isBatched)
      raw = readElements(op.getB());
    Value weights;
    if (raw)
      weights = makeWeights(b, *raw, false);
    else if (isBatched)
      weights = makeCast(b, op, op.getB(), f32);
    else
      weights = expandMatrix(b, makeCast(b, op, op.getB(), f32));
    Value a = makeCast(b, op, op.getA(), f32);
    int64_t columns = right.getDimSize(right.getRank() - 1);
    Value empty = makeEmpty(b, getProductSizes(b, a, columns), f32);
    Value y = makeContract(b, a, weights, empty, {}, {}, {}, isBatched);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }

  /// Whether the right operand is one matrix of known sizes, or as many as the
  /// left one. A single column is a product of vectors.
  static bool isMatrices(RankedTensorType left, RankedTensorType right) {
    int64_t rank = right.getRank();
    if (rank < 2 || right.isDynamicDim(rank - 1) ||
        right.isDynamicDim(rank - 2) || right.getDimSize(rank - 1) < 2 ||
        right.getDimSize(rank - 2) < 1 ||
        left.getDimSize(left.getRank() - 1) != right.getDimSize(rank - 2))
      return false;
    if (rank == 2)
      return true;
    return left.getRank() == rank && left.hasStaticShape() &&
           left.getShape().drop_back(2) == right.getShape().drop_back(2);
  }
};

struct GemmToContract : OpRewritePattern<onnx::GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::GemmOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getA().getType());
    auto output = dyn_cast<RankedTensorType>(op.getY().getType());
    if (!input || !output || input.getRank() != 2 ||
        !isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its operands");
    auto right = dyn_cast<RankedTensorType>(op.getB().getType());
    if (!right || right.getRank() != 2 || !right.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "B's sizes are open");
    int64_t depth = right.getDimSize(op.getTransB() ? 1 : 0);
    int64_t columns = right.getDimSize(op.getTransB() ? 0 : 1);
    if (depth < 1 || columns < 2 ||
        input.getDimSize(op.getTransA() ? 0 : 1) != depth)
      return rewriter.notifyMatchFailure(
          op, "its sizes are open (see --input-shape) or small");
    int64_t rows = input.getDimSize(op.getTransA() ? 1 : 0);
    std::optional<AffineMap> map = getAddendMap(op, rows, columns);
    if (!map)
      return rewriter.notifyMatchFailure(op, "how C broadcasts is open");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    Value a = makeCast(b, op, op.getA(), f32);
    if (op.getTransA())
      a = makeTranspose(b, op, a, {1, 0});
    float alpha = op.getAlpha().convertToFloat();
    float beta = op.getBeta().convertToFloat();
    SmallVector<EpilogueOperand> epilogueOperands;
    if (*map)
      epilogueOperands.push_back({makeCast(b, op, op.getC(), f32), *map});
    auto epilogue = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
      Value sum = scaled(b, arguments[0], alpha);
      if (arguments.size() < 2)
        return sum;
      return arith::AddFOp::create(b, sum, scaled(b, arguments[1], beta))
          .getResult();
    };
    Value empty = makeEmpty(b, getProductSizes(b, a, columns), f32);
    Value y = makeContract(b, a, getWeights(b, op), empty, {}, epilogueOperands,
                           epilogue);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }

  static Value getWeights(ImplicitLocOpBuilder &b, onnx::GemmOp op) {
    if (std::optional<RawElements> raw = readElements(op.getB()))
      return makeWeights(b, *raw, op.getTransB());
    Value weights = makeCast(b, op, op.getB(), b.getF32Type());
    if (op.getTransB())
      weights = makeTranspose(b, op, weights, {1, 0});
    return expandMatrix(b, weights);
  }

  static Value scaled(ImplicitLocOpBuilder &b, Value value, float factor) {
    if (factor == 1.0f)
      return value;
    Value constant = arith::ConstantOp::create(b, b.getF32FloatAttr(factor));
    return arith::MulFOp::create(b, value, constant);
  }

  /// How C is read from the output's dimensions: a null map if there is no C,
  /// none if its sizes don't tell.
  static std::optional<AffineMap> getAddendMap(onnx::GemmOp op, int64_t rows,
                                               int64_t columns) {
    if (isa<NoneType>(op.getC().getType()))
      return AffineMap();
    auto type = dyn_cast<RankedTensorType>(op.getC().getType());
    if (!type || type.getRank() > 2)
      return std::nullopt;
    int64_t sizes[] = {rows, columns};
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      int64_t axis = 2 - type.getRank() + i, size = type.getDimSize(i);
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      if (size == 1)
        exprs.push_back(getAffineConstantExpr(0, op.getContext()));
      else if (size == sizes[axis])
        exprs.push_back(getAffineDimExpr(axis, op.getContext()));
      else
        return std::nullopt;
    }
    return AffineMap::get(2, 0, exprs, op.getContext());
  }
};

} // namespace

void kernels::addProductPatterns(RewritePatternSet &patterns) {
  patterns.add<MatMulToContract, GemmToContract>(patterns.getContext());
}
