// Lowerings of GridSample and AffineGrid: sampling at computed coordinates, and
// coordinates of an affine map. Coordinates are computed per element of the
// result, in 32 bits but for 64-bit floats and interpolated integers.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

/// Neighbours of up to so many elements are written out.
static constexpr int64_t maxUnrolled = 16;

namespace {

/// Reads a tensor at the coordinates that a grid gives.
class GridReader {
public:
  GridReader(Emitter &e, onnx::GridSampleOp op, Tensor data, Tensor grid);
  Scalar sample(ArrayRef<Value> at);

private:
  /// One dimension that is sampled.
  struct Dim {
    Value size;
    Scalar low, high, last;
  };
  Scalar number(double value) { return e.number(value, type); }
  Scalar coordinate(ArrayRef<Value> at, size_t dim);
  Scalar reflect(Scalar x, const Dim &dim);
  Scalar limit(Scalar x, const Dim &dim);
  SmallVector<Scalar> weights(Scalar distance);
  /// The element at positions that may be outside.
  Scalar pixel(ArrayRef<Value> at, ArrayRef<Value> positions, Tensor from);
  Scalar interpolate(ArrayRef<Value> at, ArrayRef<Scalar> x);

  Emitter &e;
  onnx::GridSampleOp op;
  Tensor data, grid;
  Type type;
  bool aligns, isNearest, isCubic;
  SmallVector<Dim> dims;
};

} // namespace

GridReader::GridReader(Emitter &e, onnx::GridSampleOp op, Tensor data,
                       Tensor grid)
    : e(e), op(op), data(data), grid(grid), aligns(op.getAlignCorners() != 0),
      isNearest(op.getMode() == "nearest"), isCubic(op.getMode() == "cubic") {
  bool isNarrow = isFloat(data.elementType) && !data.elementType.isF64();
  type = isNarrow || (isNearest && !grid.elementType.isF64())
             ? Type(e.getF32Type())
             : Type(e.getF64Type());
  for (int64_t d = 2; d < data.rank(); ++d) {
    Dim dim;
    dim.size = e.asValue(e.size(data, d));
    dim.last = e.sub(indexToFloat(e, dim.size, type), number(1));
    dim.low = number(aligns ? 0 : -0.5);
    dim.high = aligns ? dim.last : e.add(dim.last, number(0.5));
    dims.push_back(dim);
  }
}

/// The coordinate along a dimension, in elements; the grid has them backwards.
Scalar GridReader::coordinate(ArrayRef<Value> at, size_t number) {
  Indices entry = {at[0]};
  llvm::append_range(entry, at.drop_front(2));
  entry.push_back(e.index(dims.size() - 1 - number));
  Scalar x = e.add(e.cast(e.read(grid, entry), type), this->number(1));
  const Dim &dim = dims[number];
  if (aligns)
    return e.mul(e.div(x, this->number(2)), dim.last);
  Scalar size = e.add(dim.last, this->number(1));
  return e.div(e.sub(e.mul(x, size), this->number(1)), this->number(2));
}

/// Mirrors a coordinate at the borders until it is between them.
Scalar GridReader::reflect(Scalar x, const Dim &dim) {
  Scalar range = e.sub(dim.high, dim.low), two = number(2);
  Value isBelow = e.compare(Emitter::LT, x, dim.low);
  Scalar beyond = e.select(isBelow, e.sub(dim.low, x), e.sub(x, dim.high));
  Scalar times = e.math<math::FloorOp>(e.div(beyond, range));
  Scalar rest = e.sub(beyond, e.mul(times, range));
  Scalar half = e.div(times, two);
  Value isEven = e.compare(Emitter::EQ, e.math<math::FloorOp>(half), half);
  Value startsLow =
      e.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, isBelow, isEven);
  Scalar mirrored =
      e.select(startsLow, e.add(dim.low, rest), e.sub(dim.high, rest));
  // Borders in one place leave nothing to mirror.
  mirrored =
      e.select(e.compare(Emitter::GT, range, number(0)), mirrored, dim.low);
  Value isOutside = either(e, isBelow, e.compare(Emitter::GT, x, dim.high));
  return e.select(isOutside, mirrored, x);
}

/// Brings a coordinate inside as the padding mode says.
Scalar GridReader::limit(Scalar x, const Dim &dim) {
  if (op.getPaddingMode() == "reflection")
    return reflect(x, dim);
  if (op.getPaddingMode() == "zeros")
    return x;
  Scalar clamped = e.min(e.max(x, number(0)), dim.last);
  Value isOutside = either(e, e.compare(Emitter::LT, x, dim.low),
                           e.compare(Emitter::GT, x, dim.high));
  return e.select(isOutside, clamped, x);
}

SmallVector<Scalar> GridReader::weights(Scalar x) {
  Scalar one = number(1);
  if (!isCubic)
    return {e.sub(one, x), x};
  constexpr double a = -0.75;
  auto near = [&](Scalar x) {
    Scalar slope = e.sub(e.mul(number(a + 2), x), number(a + 3));
    return e.add(e.mul(e.mul(slope, x), x), one);
  };
  auto far = [&](Scalar x) {
    Scalar sum = e.sub(e.mul(number(a), x), number(5 * a));
    sum = e.add(e.mul(sum, x), number(8 * a));
    return e.sub(e.mul(sum, x), number(4 * a));
  };
  Scalar rest = e.sub(one, x);
  return {far(e.add(x, one)), near(x), near(rest), far(e.add(rest, one))};
}

Scalar GridReader::pixel(ArrayRef<Value> at, ArrayRef<Value> positions,
                         Tensor from) {
  Indices source = {at[0], at[1]};
  Value isInside = truth(e, true);
  Value zero = e.index(0), one = e.index(1);
  for (auto [position, dim] : llvm::zip(positions, dims)) {
    isInside = both(e, isInside, isWithin(e, position, dim.size));
    Value inside = position;
    if (op.getPaddingMode() == "reflection")
      inside = floatToIndex(e, reflect(indexToFloat(e, position, type), dim));
    source.push_back(clampIndex(e, inside, zero, e.subIndex(dim.size, one)));
  }
  Scalar element = e.read(from, source);
  if (op.getPaddingMode() != "zeros")
    return element;
  return e.select(isInside, element, e.integer(0, from.elementType));
}

Scalar GridReader::interpolate(ArrayRef<Value> at, ArrayRef<Scalar> x) {
  int64_t taps = isCubic ? 4 : 2;
  SmallVector<Value> first;
  SmallVector<SmallVector<Scalar>> factors;
  for (Scalar coordinate : x) {
    Scalar floor = e.math<math::FloorOp>(coordinate);
    first.push_back(
        e.addIndex(floatToIndex(e, coordinate), e.index(isCubic ? -1 : 0)));
    factors.push_back(weights(e.sub(coordinate, floor)));
  }
  auto product = [&](ArrayRef<Value> tap) {
    Indices positions;
    Scalar factor;
    for (size_t d = 0; d < x.size(); ++d) {
      positions.push_back(e.addIndex(first[d], tap[d]));
      Scalar chosen = factors[d][0];
      for (int64_t t = 1; t < taps; ++t)
        chosen = {
            choose(e, isEqual(e, tap[d], t), factors[d][t].value, chosen.value),
            type};
      factor = d == 0 ? chosen : e.mul(factor, chosen);
    }
    return e.mul(factor, e.cast(pixel(at, positions, data), type));
  };
  int64_t total = 1;
  for (size_t d = 0; d < x.size() && total <= maxUnrolled; ++d)
    total *= taps;
  if (total > maxUnrolled) {
    Sizes loops(x.size(), e.getIndexAttr(taps));
    SmallVector<Value> sum = e.forEach(
        loops, number(0).value, [&](ArrayRef<Value> tap, ValueRange current) {
          return SmallVector<Value>{
              e.add({current[0], type}, product(tap)).value};
        });
    return {sum[0], type};
  }
  Scalar sum = number(0);
  for (int64_t number = 0; number < total; ++number) {
    Indices tap(x.size());
    int64_t rest = number;
    for (Value &position : llvm::reverse(tap)) {
      position = e.index(rest % taps);
      rest /= taps;
    }
    Scalar next = product(tap);
    sum = number == 0 ? next : e.add(sum, next);
  }
  return sum;
}

Scalar GridReader::sample(ArrayRef<Value> at) {
  SmallVector<Scalar> x;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    Scalar coordinate = this->coordinate(at, number);
    // Halves go to the even element, but away from 0 in volumes.
    if (isNearest)
      coordinate = dims.size() == 3 ? e.math<math::RoundOp>(coordinate)
                                    : e.math<math::RoundEvenOp>(coordinate);
    x.push_back(limit(coordinate, dim));
  }
  if (!isNearest)
    return e.cast(interpolate(at, x), data.elementType);
  Indices positions;
  for (Scalar coordinate : x)
    positions.push_back(e.toIndex(e.cast(coordinate, e.getI64Type()).value));
  return pixel(at, positions, asStored(data));
}

namespace {

struct LowerGridSample : OpLowering<onnx::GridSampleOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GridSampleOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = operands[0], grid = operands[1];
    int64_t rank = data.rank();
    checkEqual(e, e.size(data, 0), e.size(grid, 0),
               "expects X and grid of the same batch");
    checkEqual(e, e.size(grid, rank - 1), e.getIndexAttr(rank - 2),
               "expects " + Twine(rank - 2) + " coordinates per position");
    for (int64_t d = 2; d < rank; ++d)
      checkAtLeast(e, e.size(data, d), e.getIndexAttr(1),
                   "expects X with elements to sample");
    Sizes sizes = {e.size(data, 0), e.size(data, 1)};
    for (int64_t d = 1; d < rank - 1; ++d)
      sizes.push_back(e.size(grid, d));
    bool moves = op.getMode() == "nearest";
    GridReader reader(e, op, data, grid);
    Tensor result =
        e.generate(agreedSizes(e, op, 0, sizes),
                   moves ? storedType(data) : data.elementType,
                   [&](ArrayRef<Value> at) { return reader.sample(at); });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// AffineGrid
//===----------------------------------------------------------------------===//

/// Position `at` of `size` positions that are spread over [-1, 1].
static Scalar spreadPosition(Emitter &e, Value at, Value size, bool aligns,
                             Type type) {
  Scalar x = indexToFloat(e, at, type), count = indexToFloat(e, size, type);
  Scalar one = e.number(1, type), two = e.number(2, type);
  if (!aligns)
    return e.sub(e.div(e.add(e.mul(x, two), one), count), one);
  Scalar spread = e.sub(e.div(e.mul(x, two), e.sub(count, one)), one);
  return e.select(isEqual(e, size, 1), e.number(0, type), spread);
}

namespace {

struct LowerAffineGrid : OpLowering<onnx::AffineGridOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::AffineGridOp op, Operands operands,
                Emitter &e) const override {
    Tensor theta = operands[0];
    int64_t dims = cast<RankedTensorType>(op.getGrid().getType()).getRank() - 2;
    Indices size = readList(e, {op.getSize(), operands[1]}, dims + 2, "size");
    checkEqual(e, getAsOpFoldResult(size[0]), e.size(theta, 0),
               "expects theta of the batch that size tells");
    checkEqual(e, e.size(theta, 1), e.getIndexAttr(dims),
               "expects theta with a row per coordinate");
    checkEqual(e, e.size(theta, 2), e.getIndexAttr(dims + 1),
               "expects theta with a column more than rows");
    Sizes sizes = {e.size(theta, 0)};
    for (int64_t d = 0; d < dims; ++d)
      sizes.push_back(getAsOpFoldResult(size[d + 2]));
    sizes.push_back(e.getIndexAttr(dims));
    bool aligns = op.getAlignCorners() != 0;
    Type type =
        theta.elementType.isF64() ? Type(e.getF64Type()) : Type(e.getF32Type());
    Tensor result = e.generate(
        agreedSizes(e, op, 0, sizes), theta.elementType,
        [&](ArrayRef<Value> at) {
          auto entry = [&](int64_t column) {
            Indices position = {at[0], at.back(), e.index(column)};
            return e.cast(e.read(theta, position), type);
          };
          // The last dimension's coordinate comes first.
          Scalar sum = entry(dims);
          for (int64_t d = 0; d < dims; ++d)
            sum = e.add(sum, e.mul(entry(dims - 1 - d),
                                   spreadPosition(e, at[d + 1], size[d + 2],
                                                  aligns, type)));
          return e.cast(sum, theta.elementType);
        });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

void tensors::addTensorGridLowerings(RewritePatternSet &patterns,
                                     const StorageTypeConverter &types) {
  patterns.add<LowerGridSample, LowerAffineGrid>(types, patterns.getContext());
}
