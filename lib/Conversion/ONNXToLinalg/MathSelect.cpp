// Conversions, limits and selection.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {

/// Cast and CastLike: the result's type says all.
template <typename OpTy> struct LowerCast : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    if (operands[0].elementType == type)
      return SmallVector<Value>{operands[0].value};
    bool saturate = op.getSaturate();
    Tensor y = e.map({operands[0]}, type, [&](ArrayRef<Scalar> x) {
      return castOnce(e, x[0], type, saturate);
    });
    return SmallVector<Value>{y.value};
  }
};

/// A limit of Clip: a constant if it is known, else read before the loop; none
/// if it is left out.
static std::optional<Scalar> getLimit(Emitter &e, Value original,
                                      Tensor tensor) {
  if (!tensor)
    return std::nullopt;
  Type type = tensor.elementType;
  ElementsAttr known = onnx::getConstant(original);
  if (isFloat(type)) {
    std::optional<SmallVector<double>> numbers = onnx::readFloats(known, 1);
    if (numbers && numbers->size() == 1)
      return e.number(numbers->front(), type);
  } else {
    std::optional<SmallVector<int64_t>> integers = onnx::readInts(known, 1);
    if (integers && integers->size() == 1)
      return e.integer(integers->front(), type);
  }
  return readScalar(e, tensor);
}

struct LowerClip : OpLowering<onnx::ClipOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ClipOp op, Operands operands, Emitter &e) const override {
    std::optional<Scalar> low = getLimit(e, op.getMin(), operands[1]);
    std::optional<Scalar> high = getLimit(e, op.getMax(), operands[2]);
    Tensor y = e.map({operands[0]}, resultType(op), [&](ArrayRef<Scalar> x) {
      Scalar clipped = low ? e.max(x[0], *low) : x[0];
      return high ? e.min(clipped, *high) : clipped;
    });
    return SmallVector<Value>{y.value};
  }
};

/// Elements are moved as they are stored.
struct LowerWhere : OpLowering<onnx::WhereOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::WhereOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = asStored(operands[1]), y = asStored(operands[2]);
    Tensor chosen =
        e.map({operands[0], x, y}, x.elementType, [&](ArrayRef<Scalar> v) {
          return e.select(v[0].value, v[1], v[2]);
        });
    return SmallVector<Value>{chosen.value};
  }
};

} // namespace

void onnxquant::lowering::addMathSelectLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerCast<onnx::CastOp>, LowerCast<onnx::CastLikeOp>, LowerClip,
               LowerWhere>(types, patterns.getContext());
}
