// Products of matrices with constant weights become contractions.

#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// A matrix [depth, columns] (or its transpose) as weights [1, depth, columns].
static Value makeWeights(ImplicitLocOpBuilder &b, const RawElements &raw,
                         bool isTransposed) {
  ArrayRef<int64_t> shape = raw.type.getShape();
  SmallVector<int64_t> order = {0, 1};
  if (isTransposed)
    std::swap(order[0], order[1]);
  std::vector<char> bytes = permuteElements(raw, shape, order);
  return makeConstant(b,
                      RankedTensorType::get({1, shape[order[0]], shape[order[1]]},
                                            b.getF32Type()),
                      bytes, "weights");
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
    auto output = dyn_cast<RankedTensorType>(op.getY().getType());
    if (!input || !output || input.getRank() < 1 ||
        !isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its operands");
    std::optional<RawElements> raw = readElements(op.getB());
    if (!raw || raw->type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "B is no constant matrix");
    int64_t depth = raw->type.getDimSize(0), columns = raw->type.getDimSize(1);
    if (depth < 1 || columns < 2 ||
        input.getDimSize(input.getRank() - 1) != depth)
      return rewriter.notifyMatchFailure(op, "its sizes are open or small");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value a = makeCast(b, op, op.getA(), b.getF32Type());
    Value empty =
        makeEmpty(b, getProductSizes(b, a, columns), b.getF32Type());
    Value y = makeContract(b, a, makeWeights(b, *raw, false), empty, {}, {}, {});
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
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
    std::optional<RawElements> raw = readElements(op.getB());
    if (!raw || raw->type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "B is no constant matrix");
    int64_t depth = raw->type.getDimSize(op.getTransB() ? 1 : 0);
    int64_t columns = raw->type.getDimSize(op.getTransB() ? 0 : 1);
    if (depth < 1 || columns < 2 ||
        input.getDimSize(op.getTransA() ? 0 : 1) != depth)
      return rewriter.notifyMatchFailure(op, "its sizes are open or small");
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
    SmallVector<Extra> extras;
    if (*map)
      extras.push_back({makeCast(b, op, op.getC(), f32), *map});
    auto epilogue = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
      Value sum = scaled(b, arguments[0], alpha);
      if (arguments.size() < 2)
        return sum;
      return arith::AddFOp::create(b, sum, scaled(b, arguments[1], beta))
          .getResult();
    };
    Value empty = makeEmpty(b, getProductSizes(b, a, columns), f32);
    Value y = makeContract(b, a, makeWeights(b, *raw, op.getTransB()), empty,
                           {}, extras, epilogue);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }

  static Value scaled(ImplicitLocOpBuilder &b, Value value, float factor) {
    if (factor == 1.0f)
      return value;
    Value constant =
        arith::ConstantOp::create(b, b.getF32FloatAttr(factor));
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
