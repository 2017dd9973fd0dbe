// Coordinates, positions and weights of a Resize, per axis.

#include "TensorResize.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

namespace {
/// The sampling of one axis.
class Sampler {
public:
  Sampler(Emitter &e, onnx::ResizeOp op, const ResizeAxis &axis)
      : e(e), op(op), axis(axis), type(axis.scale.elementType),
        in(indexToFloat(e, axis.in, type)), isCubic(op.getMode() == "cubic"),
        filters(op.getAntialias() != 0) {}

  Tensor nearestTable();
  Tensor insideTable();
  ResizeTables filterTables();

private:
  Scalar number(double value) { return e.number(value, type); }
  Scalar coordinate(Value position);
  Scalar halfPixel(Scalar x);
  Scalar alignCorners(Scalar x);
  Scalar crop(Scalar x);
  Scalar kernel(Scalar distance);
  /// The element left of a coordinate, and how far that is.
  std::pair<Value, Scalar> leftOf(Scalar x);
  void planTaps();

  Emitter &e;
  onnx::ResizeOp op;
  const ResizeAxis &axis;
  Type type;
  Scalar in;
  bool isCubic, filters;
  /// Taps are elements from `first` on, relative to the one left of the
  /// coordinate; distances count `squeeze` times.
  Value first;
  OpFoldResult taps;
  Scalar squeeze;
};
} // namespace

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Scalar Sampler::halfPixel(Scalar x) {
  return e.sub(e.div(e.add(x, number(0.5)), axis.scale), number(0.5));
}

Scalar Sampler::alignCorners(Scalar x) {
  Scalar one = number(1);
  Scalar spread = e.div(e.mul(x, e.sub(in, one)), e.sub(axis.width, one));
  return e.select(e.compare(Emitter::EQ, axis.width, one), number(0), spread);
}

Scalar Sampler::crop(Scalar x) {
  Scalar one = number(1), last = e.sub(in, one);
  Scalar extent = e.mul(e.sub(axis.roiEnd, axis.roiStart), last);
  Scalar spread = e.div(e.mul(x, extent), e.sub(axis.width, one));
  Scalar middle = e.mul(extent, number(0.5));
  Scalar offset =
      e.select(e.compare(Emitter::EQ, axis.width, one), middle, spread);
  return e.add(offset, e.mul(axis.roiStart, last));
}

Scalar Sampler::coordinate(Value position) {
  Scalar x = indexToFloat(e, position, type);
  StringRef mode = op.getCoordinateTransformationMode();
  if (mode == "asymmetric")
    return e.div(x, axis.scale);
  if (mode == "align_corners")
    return alignCorners(x);
  if (mode == "tf_crop_and_resize")
    return crop(x);
  if (mode == "tf_half_pixel_for_nn")
    return e.div(e.add(x, number(0.5)), axis.scale);
  if (mode == "pytorch_half_pixel") {
    Value isOne = isEqual(e, axis.out, 1);
    return e.select(isOne, number(0), halfPixel(x));
  }
  if (mode == "half_pixel_symmetric") {
    // Puts the middle of the result on the middle of the input.
    Scalar adjustment = e.div(indexToFloat(e, axis.out, type), axis.width);
    Scalar offset = e.mul(e.mul(in, number(0.5)), e.sub(number(1), adjustment));
    return e.add(offset, halfPixel(x));
  }
  return halfPixel(x);
}

std::pair<Value, Scalar> Sampler::leftOf(Scalar x) {
  Scalar floor = e.math<math::FloorOp>(x);
  return {floatToIndex(e, x), e.sub(x, floor)};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Tensor Sampler::nearestTable() {
  StringRef mode = op.getNearestMode();
  Value zero = e.index(0), one = e.index(1);
  Value last = e.subIndex(axis.in, one);
  return e.generate(
      getAsOpFoldResult(axis.out), e.getI64Type(), [&](ArrayRef<Value> at) {
        auto [left, distance] = leftOf(coordinate(at[0]));
        Value position = left;
        if (mode != "floor") {
          bool takesHalf = mode == "round_prefer_ceil";
          Value goesUp = e.compare(takesHalf ? Emitter::GE : Emitter::GT,
                                   distance, number(mode == "ceil" ? 0 : 0.5));
          position = e.addIndex(left, choose(e, goesUp, one, zero));
        }
        position = clampIndex(e, position, zero, last);
        return Scalar{e.toI64(position), e.getI64Type()};
      });
}

Tensor Sampler::insideTable() {
  return e.generate(
      getAsOpFoldResult(axis.out), e.getI1Type(), [&](ArrayRef<Value> at) {
        Scalar x = coordinate(at[0]);
        Value isAfter = e.compare(Emitter::GE, x, number(0));
        Value isBefore = e.compare(Emitter::LE, x, e.sub(in, number(1)));
        return Scalar{both(e, isAfter, isBefore), e.getI1Type()};
      });
}

/// Antialiasing stretches the filter by the scale, where that shrinks.
void Sampler::planTaps() {
  int support = isCubic ? 2 : 1;
  bool isPlain = !filters || (axis.knownScale && *axis.knownScale >= 1.0);
  squeeze = number(1);
  if (isPlain) {
    first = e.index(1 - support);
    taps = e.getIndexAttr(2 * support);
    return;
  }
  Scalar reach;
  if (axis.knownScale) {
    squeeze = number(*axis.knownScale);
    double known = type.isF32()
                       ? -support / static_cast<float>(*axis.knownScale)
                       : -support / *axis.knownScale;
    first = e.index(static_cast<int64_t>(std::floor(known)) + 1);
  } else {
    squeeze = e.min(axis.scale, number(1));
    reach = e.div(number(-support), squeeze);
    first = e.addIndex(floatToIndex(e, reach), e.index(1));
  }
  Value two = e.index(2);
  taps = getAsOpFoldResult(e.subIndex(two, e.mulIndex(two, first)));
}

/// The weight of an element at a distance: a triangle, or Keys' cubic.
Scalar Sampler::kernel(Scalar distance) {
  Scalar x = e.abs(distance), zero = number(0), one = number(1);
  if (!isCubic)
    return e.max(e.sub(one, x), zero);
  double a = op.getCubicCoeffA().convertToFloat();
  Scalar square = e.mul(x, x);
  Scalar near =
      e.add(e.mul(e.sub(e.mul(number(a + 2), x), number(a + 3)), square), one);
  Scalar far = e.mul(e.sub(e.mul(number(a), x), number(5 * a)), x);
  far = e.sub(e.mul(e.add(far, number(8 * a)), x), number(4 * a));
  far = e.select(e.compare(Emitter::LT, x, number(2)), far, zero);
  return e.select(e.compare(Emitter::LE, x, one), near, far);
}

ResizeTables Sampler::filterTables() {
  planTaps();
  Value zero = e.index(0), last = e.subIndex(axis.in, e.index(1));
  Sizes sizes = {getAsOpFoldResult(axis.out), taps};
  bool excludes = op.getExcludeOutside() != 0;
  auto unclamped = [&](ArrayRef<Value> at, Value left) {
    return e.addIndex(left, e.addIndex(first, at[1]));
  };
  ResizeTables tables;
  tables.taps = taps;
  tables.positions = e.generate(sizes, e.getI64Type(), [&](ArrayRef<Value> at) {
    Value left = leftOf(coordinate(at[0])).first;
    Value position = clampIndex(e, unclamped(at, left), zero, last);
    return Scalar{e.toI64(position), e.getI64Type()};
  });
  tables.weights = e.generate(sizes, type, [&](ArrayRef<Value> at) {
    auto [left, distance] = leftOf(coordinate(at[0]));
    Scalar tap = indexToFloat(e, e.addIndex(first, at[1]), type);
    Scalar weight = kernel(e.mul(e.sub(tap, distance), squeeze));
    if (!excludes)
      return weight;
    return e.select(isWithin(e, unclamped(at, left), axis.in), weight,
                    number(0));
  });
  if (!excludes && !filters)
    return tables;
  Tensor sums =
      e.reduce(tables.weights, {1}, /*keepDims=*/true, number(0),
               [&](Scalar weight, Scalar sum) { return e.add(sum, weight); });
  tables.weights = e.map({tables.weights, sums}, sizes, type,
                         [&](ArrayRef<Scalar> x) { return e.div(x[0], x[1]); });
  return tables;
}

ResizeTables tensors::makeResizeTables(Emitter &e, onnx::ResizeOp op,
                                       const ResizeAxis &axis) {
  Sampler sampler(e, op, axis);
  ResizeTables tables;
  if (op.getMode() == "nearest")
    tables.positions = sampler.nearestTable();
  else
    tables = sampler.filterTables();
  if (op.getCoordinateTransformationMode() == "tf_crop_and_resize")
    tables.isInside = sampler.insideTable();
  return tables;
}
