// Moves quantized tensors as bytes.
// Enters: graphs with quantizers. Leaves: ops that only move elements (Concat,
// Slice, Resize to the nearest, ...) between dequantizers and quantizers on
// what is quantized. A dequantizer goes behind such an op, a quantizer goes
// before a Concat, and a quantizer of what was dequantized with the same
// parameters goes away. The results are the same to the bit.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Transforms/Layout/Passes.h"
#include "OnnxQuant/Transforms/Utils/PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_MOVEBYTES
#include "OnnxQuant/Transforms/Layout/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The value of a constant of one element, zero if it is left out.
static std::optional<double> readNumber(Value value) {
  if (isa<NoneType>(value.getType()))
    return 0.0;
  auto numbers = readFloats(getConstant(value), 1);
  if (!numbers || numbers->size() != 1)
    return std::nullopt;
  return numbers->front();
}

/// Whether a quantizer has one scale, of floats, and bytes on its other side.
/// The scale is positive, so that the greatest byte is the greatest value.
template <typename OpTy>
static bool hasOneScale(OpTy op, Value bytes, Value scale, Value zero) {
  auto stored = dyn_cast<RankedTensorType>(bytes.getType());
  ElementsAttr scales = getConstant(scale);
  return op.getBlockSize() == 0 && stored &&
         stored.getElementType().isInteger(8) && scales &&
         scales.getNumElements() == 1 && scales.getElementType().isF32() &&
         readNumber(scale).value_or(0) > 0 &&
         (isa<NoneType>(zero.getType()) || getConstant(zero));
}

static bool isSimple(DequantizeLinearOp op) {
  return hasOneScale(op, op.getX(), op.getXScale(), op.getXZeroPoint()) &&
         getElementTypeOrSelf(op.getY().getType()).isF32();
}

static bool isSimple(QuantizeLinearOp op) {
  return hasOneScale(op, op.getY(), op.getYScale(), op.getYZeroPoint()) &&
         getElementTypeOrSelf(op.getX().getType()).isF32() &&
         op.getPrecision() == 0;
}

static bool haveEqualNumbers(Value a, Value b) {
  if (a == b)
    return true;
  auto first = readNumber(a), second = readNumber(b);
  return first && second && *first == *second;
}

static bool haveEqualParameters(DequantizeLinearOp a, DequantizeLinearOp b) {
  return getElementTypeOrSelf(a.getX()) == getElementTypeOrSelf(b.getX()) &&
         haveEqualNumbers(a.getXScale(), b.getXScale()) &&
         haveEqualNumbers(a.getXZeroPoint(), b.getXZeroPoint());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// A tensor of `like`'s shape with other elements.
static Type withElements(Value like, Type element) {
  return cast<ShapedType>(like.getType()).clone(element);
}

/// A copy of a node without the names of its results.
static Operation *copyUnnamed(PatternRewriter &rewriter, Operation *op,
                              ValueRange operands, Type type) {
  Operation *copy = rewriter.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  for (StringRef name : {StringRef(resultNamesAttr), StringRef(dimParamsAttr),
                         StringRef("onnx_result_doc_strings"),
                         StringRef("onnx_result_metadata")})
    copy->removeAttr(name);
  return copy;
}

namespace {

/// op(dequantize(x)) is dequantize(op(x)).
struct MoveDequantizer
    : public OpInterfaceRewritePattern<QuantizableOpInterface> {
  MoveDequantizer(MLIRContext *context, int64_t &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(QuantizableOpInterface op,
                                PatternRewriter &rewriter) const override {
    // Those that repeat elements would have more of them dequantized.
    if (!op.movesData() || isa<ExpandOp, TileOp, SplitOp>(op.getOperation()) ||
        op.getQuantizableResults() != SmallVector<unsigned>{0} ||
        !isa<RankedTensorType>(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "it doesn't move one tensor");
    SmallVector<Value> operands(op->getOperands());
    DequantizeLinearOp first;
    for (unsigned number : op.getQuantizableOperands()) {
      auto made = operands[number].getDefiningOp<DequantizeLinearOp>();
      if (!made || !isSimple(made) ||
          (first && !haveEqualParameters(first, made)))
        return rewriter.notifyMatchFailure(op, "its operands have no scale");
      if (!first)
        first = made;
      operands[number] = made.getX();
    }
    Value result = op->getResult(0);
    Operation *moved =
        copyUnnamed(rewriter, op, operands,
                    withElements(result, getElementTypeOrSelf(first.getX())));
    OperationState state(
        first.getLoc(), DequantizeLinearOp::getOperationName(),
        {moved->getResult(0), first.getXScale(), first.getXZeroPoint()},
        result.getType());
    if (Attribute name = first->getAttr(nodeNameAttr))
      state.addAttribute(nodeNameAttr, name);
    Operation *made = rewriter.create(state);
    inheritResults(made, op);
    SmallVector<Value> results(moved->getResults());
    results[0] = made->getResult(0);
    rewriter.replaceOp(op, results);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// quantize(concat(x, y)) is concat(quantize(x), quantize(y)).
struct MoveQuantizer : public OpRewritePattern<QuantizeLinearOp> {
  MoveQuantizer(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(QuantizeLinearOp op,
                                PatternRewriter &rewriter) const override {
    auto concat = getOnlyProducer<ConcatOp>(op.getX());
    if (!concat || !isSimple(op))
      return rewriter.notifyMatchFailure(op, "it reads no Concat");
    SmallVector<Value> bytes;
    Type element = getElementTypeOrSelf(op.getY());
    for (Value operand : concat->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        return rewriter.notifyMatchFailure(op, "an operand has no rank");
      Operation *own = copyUnnamed(
          rewriter, op, {operand, op.getYScale(), op.getYZeroPoint()},
          withElements(operand, element));
      bytes.push_back(own->getResult(0));
    }
    Operation *moved =
        copyUnnamed(rewriter, concat, bytes, op.getY().getType());
    inheritResults(moved, op);
    rewriter.replaceOp(op, moved->getResult(0));
    rewriter.eraseOp(concat);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// quantize(dequantize(x)) is x if all parameters are the same: the product
/// with the scale, divided by it, is nearer to the integer than a half.
struct RemovePair : public OpRewritePattern<QuantizeLinearOp> {
  RemovePair(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(QuantizeLinearOp op,
                                PatternRewriter &rewriter) const override {
    auto made = op.getX().getDefiningOp<DequantizeLinearOp>();
    if (!made || !isSimple(op) || !isSimple(made) ||
        made.getX().getType() != op.getY().getType() ||
        !haveEqualNumbers(made.getXScale(), op.getYScale()) ||
        !haveEqualNumbers(made.getXZeroPoint(), op.getYZeroPoint()))
      return rewriter.notifyMatchFailure(op, "its parameters differ");
    auto scale = readNumber(op.getYScale());
    if (!scale || !(*scale >= 0x1p-100 && *scale <= 0x1p100) ||
        !canReplace(cast<OpResult>(op.getY()), made.getX()))
      return rewriter.notifyMatchFailure(op, "it can't be left out");
    replaceResult(rewriter, cast<OpResult>(op.getY()), made.getX());
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct MoveBytes
    : public PatternPass<MoveBytes, onnxquant::impl::MoveBytesBase<MoveBytes>> {
  static constexpr llvm::StringLiteral done = "quantizers moved or removed";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<MoveDequantizer, MoveQuantizer, RemovePair>(set.getContext(),
                                                        count);
  }
};

} // namespace
