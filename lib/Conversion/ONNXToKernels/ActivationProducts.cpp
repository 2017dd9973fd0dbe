// Products of two quantized activations: contractions whose weights are packed
// at run time.
//
// Stored values are multiplied as they are. What zero points add to a sum is
// told by the sums of a row of the left operand and of a column of the right
// one: sum (a - p)(b - q) = sum ab - p sum b - q (sum a - K p).

#include "IntegerProduct.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// An op of a tensor and an axis, which is a constant.
static Value makeAlong(ImplicitLocOpBuilder &b, Operation *node, StringRef name,
                       Value operand, int64_t axis, Type type,
                       ArrayRef<NamedAttribute> attributes = {}) {
  ArrayRef<char> bytes(reinterpret_cast<const char *>(&axis), sizeof(axis));
  Value axes =
      makeConstant(b, RankedTensorType::get(1, b.getI64Type()), bytes, "axes");
  OperationState state(b.getLoc(), name, {operand, axes}, type, attributes);
  if (Attribute nodeName = node->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, nodeName);
  return b.create(state)->getResult(0);
}

/// The sums of stored values along an axis, `i32`, which goes away.
static Value sumAlong(ImplicitLocOpBuilder &b, Operation *node, Value values,
                      int64_t axis) {
  Value wide = makeCast(b, node, values, b.getI32Type());
  auto type = cast<RankedTensorType>(wide.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  Type si64 = b.getIntegerType(64, /*isSigned=*/true);
  Attribute no = IntegerAttr::get(si64, 0);
  return makeAlong(b, node, onnx::ReduceSumOp::getOperationName(), wide, axis,
                   RankedTensorType::get(shape, b.getI32Type()),
                   {b.getNamedAttr("keepdims", no),
                    b.getNamedAttr("noop_with_empty_axes", no)});
}

namespace {
/// What zero points add to the sums, as an epilogue.
class ZeroCorrection {
public:
  ZeroCorrection(ImplicitLocOpBuilder &b, Operation *node,
                 const ActivationProduct &product)
      : b(b), left(product.left), right(product.right) {
    auto type = cast<RankedTensorType>(left.getType());
    rank = type.getRank();
    depth = type.getShape().back();
    leftZero = read(product.leftZero);
    rightZero = read(product.rightZero);
    if (!leftZero.isNothing)
      columnSums = addExtra(
          sumAlong(b, node, right, getRightRank() - 2), [&](int64_t i) {
            return i == rank - 1 || (getRightRank() > 2 && i < rank - 2);
          });
    if (!rightZero.isNothing)
      rowSums = addExtra(sumAlong(b, node, left, rank - 1),
                         [&](int64_t i) { return i < rank - 1; });
  }

  ArrayRef<EpilogueOperand> getEpilogueOperands() const {
    return epilogueOperands;
  }

  Value emit(ImplicitLocOpBuilder &b, ValueRange arguments) const {
    Value sum = arguments[0];
    if (!leftZero.isNothing)
      sum =
          less(b, sum, getZero(b, leftZero, arguments), arguments[columnSums]);
    if (rightZero.isNothing)
      return sum;
    Value row = arguments[rowSums];
    if (!leftZero.isNothing)
      row = less(b, row, getZero(b, leftZero, arguments),
                 arith::ConstantOp::create(
                     b, b.getI32IntegerAttr(static_cast<int32_t>(depth))));
    return less(b, sum, getZero(b, rightZero, arguments), row);
  }

private:
  /// A zero point: nothing, a constant, or an argument.
  struct Zero {
    bool isNothing = true, isUnsigned = false;
    std::optional<int64_t> constant;
    size_t argument = 0;
  };

  int64_t getRightRank() const {
    return cast<RankedTensorType>(right.getType()).getRank();
  }
  size_t addExtra(Value value, function_ref<bool(int64_t)> isRead) {
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < rank; ++i)
      if (isRead(i))
        exprs.push_back(b.getAffineDimExpr(i));
    epilogueOperands.push_back(
        {value, AffineMap::get(rank, 0, exprs, b.getContext())});
    return epilogueOperands.size();
  }
  Zero read(Value value) {
    Zero zero;
    if (isAbsent(value))
      return zero;
    auto type = cast<RankedTensorType>(value.getType());
    zero.isUnsigned = type.getElementType().isUnsignedInteger();
    zero.constant = readInteger(value);
    zero.isNothing = zero.constant == 0;
    if (!zero.constant) {
      SmallVector<AffineExpr> exprs(type.getRank(), b.getAffineConstantExpr(0));
      epilogueOperands.push_back(
          {value, AffineMap::get(rank, 0, exprs, b.getContext())});
      zero.argument = epilogueOperands.size();
    }
    return zero;
  }
  static Value getZero(ImplicitLocOpBuilder &b, const Zero &zero,
                       ValueRange arguments) {
    if (zero.constant)
      return arith::ConstantOp::create(
          b, b.getI32IntegerAttr(static_cast<int32_t>(*zero.constant)));
    Value argument = arguments[zero.argument];
    if (zero.isUnsigned)
      return arith::ExtUIOp::create(b, b.getI32Type(), argument);
    return arith::ExtSIOp::create(b, b.getI32Type(), argument);
  }
  /// x - y * z.
  static Value less(ImplicitLocOpBuilder &b, Value x, Value y, Value z) {
    return arith::SubIOp::create(b, x, arith::MulIOp::create(b, y, z));
  }

  ImplicitLocOpBuilder &b;
  Value left, right;
  int64_t rank, depth;
  SmallVector<EpilogueOperand> epilogueOperands;
  Zero leftZero, rightZero;
  size_t columnSums = 0, rowSums = 0;
};
} // namespace

/// Whether the right operand is one matrix of known sizes, or as many as the
/// left one.
static bool isMatrices(RankedTensorType left, RankedTensorType right) {
  int64_t rank = right.getRank();
  if (rank < 2 || left.getRank() < 2 || right.isDynamicDim(rank - 1) ||
      right.isDynamicDim(rank - 2) || right.getDimSize(rank - 1) < 2 ||
      right.getDimSize(rank - 2) < 1 ||
      left.getShape().back() != right.getDimSize(rank - 2))
    return false;
  return rank == 2 ||
         (left.getRank() == rank && left.hasStaticShape() &&
          left.getShape().drop_back(2) == right.getShape().drop_back(2));
}

FailureOr<Value> kernels::makeActivationSums(PatternRewriter &rewriter,
                                             Operation *op,
                                             const ActivationProduct &product) {
  auto left = dyn_cast<RankedTensorType>(product.left.getType());
  auto right = dyn_cast<RankedTensorType>(product.right.getType());
  if (!left || !right || !hasIntegers(product.left, 8) ||
      !hasIntegers(product.right, 8))
    return rewriter.notifyMatchFailure(op, "its operands don't have 8 bits");
  if (!isMatrices(left, right))
    return rewriter.notifyMatchFailure(
        op, "its sizes are open (see --input-shape) or small, or its batches "
            "broadcast");
  for (Value zero : {product.leftZero, product.rightZero})
    if (!isAbsent(zero) && !isSingle(zero))
      return rewriter.notifyMatchFailure(op, "its zero point varies");

  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  ZeroCorrection correction(b, op, product);
  Value weights = product.right;
  bool isBatched = right.getRank() > 2;
  if (!isBatched) {
    SmallVector<int64_t> shape = {1, right.getDimSize(0), right.getDimSize(1)};
    weights = makeAlong(b, op, onnx::UnsqueezeOp::getOperationName(), weights,
                        /*axis=*/0, right.clone(shape));
  }
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i + 1 < left.getRank(); ++i)
    sizes.push_back(getSize(b, product.left, i));
  sizes.push_back(b.getIndexAttr(right.getShape().back()));
  SmallVector<EpilogueOperand> epilogueOperands(
      correction.getEpilogueOperands());
  std::optional<RequantizeEpilogue> requantize;
  if (product.requantization)
    requantize.emplace(b, product.requantization(b), left.getRank(),
                       epilogueOperands);
  Type sumType = b.getI32Type();
  IntegerContract contract = {
      product.left, weights,
      makeEmpty(b, sizes, requantize ? requantize->getElementType() : sumType),
      sumType, epilogueOperands};
  contract.isBatched = isBatched;
  contract.epilogue = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Value sum = correction.emit(b, arguments);
    return requantize ? requantize->emit(b, sum, arguments) : sum;
  };
  return makeIntegerContract(b, contract);
}
