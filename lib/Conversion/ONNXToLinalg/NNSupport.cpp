// Statistics and softmax.

#include "NNSupport.h"

using namespace mlir;
using namespace onnxquant::lowering;

SmallVector<int64_t> onnxquant::lowering::axesFrom(int64_t first,
                                                   int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t i = first; i < rank; ++i)
    axes.push_back(i);
  return axes;
}

/// Divides sums over `axes` of `x` by the number of elements.
static Tensor divideByCount(Emitter &e, Tensor sums, Tensor x,
                            ArrayRef<int64_t> axes) {
  OpFoldResult count = e.getIndexAttr(1);
  for (int64_t axis : axes)
    count = e.mulSize(count, e.size(x, axis));
  Type type = x.elementType;
  Scalar divisor = {
      arith::SIToFPOp::create(e, computeType(type), e.toI64(e.asValue(count))),
      type};
  return e.map({sums}, e.sizes(sums), type,
               [&](ArrayRef<Scalar> v) { return e.div(v[0], divisor); });
}

Tensor onnxquant::lowering::getMeanSquare(Emitter &e, Tensor x,
                                          ArrayRef<int64_t> axes) {
  Tensor sums =
      e.reduce(x, axes, /*keepDims=*/true, e.number(0, x.elementType),
               [&](Scalar v, Scalar sum) { return e.add(sum, e.mul(v, v)); });
  return divideByCount(e, sums, x, axes);
}

Statistics onnxquant::lowering::getStatistics(Emitter &e, Tensor x,
                                              ArrayRef<int64_t> axes) {
  Tensor sums = e.reduce(x, axes, /*keepDims=*/true, e.number(0, x.elementType),
                         [&](Scalar v, Scalar sum) { return e.add(sum, v); });
  Tensor mean = divideByCount(e, sums, x, axes);
  // Deviations from the mean first: the difference of squares would cancel out.
  Tensor deviations =
      e.map({x, mean}, e.sizes(x), x.elementType,
            [&](ArrayRef<Scalar> v) { return e.sub(v[0], v[1]); });
  return {mean, getMeanSquare(e, deviations, axes)};
}

Scalar onnxquant::lowering::invertRoot(Emitter &e, Scalar x, double epsilon) {
  Type type = x.elementType;
  return e.div(e.number(1, type),
               e.math<math::SqrtOp>(e.add(x, e.number(epsilon, type))));
}

/// The differences to the largest element along the axis.
static Tensor subtractMax(Emitter &e, Tensor x, int64_t axis) {
  Tensor max = e.reduce(x, {axis}, /*keepDims=*/true, e.lowest(x.elementType),
                        [&](Scalar v, Scalar m) { return e.max(m, v); });
  return e.map({x, max}, e.sizes(x), x.elementType,
               [&](ArrayRef<Scalar> v) { return e.sub(v[0], v[1]); });
}

Tensor onnxquant::lowering::softmax(Emitter &e, Tensor x, int64_t axis) {
  Tensor shifted = subtractMax(e, x, axis);
  Type type = x.elementType;
  Tensor powers = e.map({shifted}, e.sizes(x), type, [&](ArrayRef<Scalar> v) {
    return e.math<math::ExpOp>(v[0]);
  });
  Tensor sum = e.reduce(powers, {axis}, /*keepDims=*/true, e.number(0, type),
                        [&](Scalar v, Scalar s) { return e.add(s, v); });
  return e.map({powers, sum}, e.sizes(x), type,
               [&](ArrayRef<Scalar> v) { return e.div(v[0], v[1]); });
}

Tensor onnxquant::lowering::logSoftmax(Emitter &e, Tensor x, int64_t axis) {
  Tensor shifted = subtractMax(e, x, axis);
  Type type = x.elementType;
  Tensor sum = e.reduce(
      shifted, {axis}, /*keepDims=*/true, e.number(0, type),
      [&](Scalar v, Scalar s) { return e.add(s, e.math<math::ExpOp>(v)); });
  return e.map({shifted, sum}, e.sizes(x), type, [&](ArrayRef<Scalar> v) {
    return e.sub(v[0], e.math<math::LogOp>(v[1]));
  });
}
