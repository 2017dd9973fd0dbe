// ConstantOfShape, EyeLike and Range, and the list of the Generator family.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {

//===----------------------------------------------------------------------===//
// ConstantOfShape and EyeLike
//===----------------------------------------------------------------------===//

struct LowerConstantOfShape : OpLowering<onnx::ConstantOfShapeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConstantOfShapeOp op, Operands operands,
                Emitter &e) const override {
    std::optional<Scalar> value = getValue(op, e);
    if (!value)
      return refuse(op, "the value can't be read");
    Tensor filled = e.filled(getSizes(op, operands[0], e), *value);
    return SmallVector<Value>{filled.value};
  }

  static std::optional<Scalar> getValue(onnx::ConstantOfShapeOp op,
                                        Emitter &e) {
    Type type = resultType(op);
    std::optional<ElementsAttr> value = op.getValue();
    if (!value)
      return e.number(0, type);
    if (isFloat(type)) {
      std::optional<SmallVector<double>> number = onnx::readFloats(*value, 1);
      return number ? std::optional(e.number(number->front(), type))
                    : std::nullopt;
    }
    if (std::optional<SmallVector<int64_t>> number = onnx::readInts(*value, 1))
      return e.integer(number->front(), type);
    // An unsigned integer beyond the signed ones.
    if (auto dense = dyn_cast<DenseIntElementsAttr>(*value))
      return e.integer((*dense.value_begin<APInt>()).getZExtValue(), type);
    return std::nullopt;
  }

  static Sizes getSizes(onnx::ConstantOfShapeOp op, Tensor shape, Emitter &e) {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    OpFoldResult count = e.size(shape, 0);
    if (!e.constant(count))
      e.check(e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(count),
                         e.index(type.getRank())),
              "the shape has another number of dimensions than expected");
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(e.getIndexAttr(type.getDimSize(i)));
        continue;
      }
      sizes.push_back(e.readIndex(shape, e.index(i)));
      checkSize(e, sizes.back(), "a size of the shape");
    }
    return sizes;
  }
};

struct LowerEyeLike : OpLowering<onnx::EyeLikeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::EyeLikeOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor eye =
        e.generate(e.sizes(operands[0]), type, [&](ArrayRef<Value> at) {
          Value distance = e.subIndex(at[1], at[0]);
          Value isOne = e.cmpIndex(arith::CmpIPredicate::eq, distance,
                                   e.index(op.getK()));
          return e.select(isOne, e.integer(1, type), e.integer(0, type));
        });
    return SmallVector<Value>{eye.value};
  }
};

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

struct LowerRange : OpLowering<onnx::RangeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::RangeOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Scalar start = readScalar(e, operands[0]),
           limit = readScalar(e, operands[1]),
           delta = readScalar(e, operands[2]);
    Value count = isFloat(type) ? countFloats(e, start, limit, delta)
                                : countIntegers(e, start, limit, delta);
    checkSize(e, count, "the number of elements");
    Tensor range =
        e.generate(e.resultSizes(0, {count}), type, [&](ArrayRef<Value> at) {
          Scalar i = e.cast({e.toI64(at[0]), e.getI64Type()}, type);
          return e.add(start, e.mul(i, delta));
        });
    return SmallVector<Value>{range.value};
  }

  static Value countFloats(Emitter &e, Scalar start, Scalar limit,
                           Scalar delta) {
    Type f64 = e.getF64Type();
    Scalar distance = e.sub(e.cast(limit, f64), e.cast(start, f64));
    Scalar steps = e.math<math::CeilOp>(e.div(distance, e.cast(delta, f64)));
    // False for NaN, which a delta of zero may give.
    e.check(e.compare(Emitter::LE, steps, e.number(0x1p48, f64)),
            "the range has no end");
    steps = e.max(steps, e.number(0, f64));
    return e.toIndex(arith::FPToSIOp::create(e, e.getI64Type(), steps.value));
  }

  /// Counts in unsigned 64 bits, which hold the distance of any two integers.
  static Value countIntegers(Emitter &e, Scalar start, Scalar limit,
                             Scalar delta) {
    Type type = delta.elementType;
    Scalar zero = e.integer(0, type);
    e.check(e.compare(Emitter::NE, delta, zero),
            "the delta of a range is zero");
    Value isUp = e.compare(Emitter::GT, delta, zero);
    Type wide = isUnsigned(type)
                    ? Type(e.getIntegerType(64, /*isSigned=*/false))
                    : e.getI64Type();
    Scalar from = e.cast(e.select(isUp, start, limit), wide),
           to = e.cast(e.select(isUp, limit, start), wide),
           step = e.cast(delta, wide);
    step = e.select(isUp, step, e.neg(step));
    Scalar one = e.integer(1, wide);
    Value whole = arith::DivUIOp::create(e, e.sub(e.sub(to, from), one).value,
                                         step.value);
    Scalar count = e.add({whole, wide}, one);
    Value isAhead = e.compare(Emitter::LT, from, to);
    return e.toIndex(e.select(isAhead, count, e.integer(0, wide)).value);
  }
};

} // namespace

void onnxquant::lowering::addGeneratorLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerConstantOfShape, LowerEyeLike, LowerRange>(
      types, patterns.getContext());
  addRandomLowerings(patterns, types);
}
