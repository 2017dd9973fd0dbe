// Poolings over windows and over whole images, and the way back from maxima.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "PlaceSums.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace window = onnxquant::onnx::window;

/// An image without elements has nothing to pool.
static void checkImage(Emitter &e, Tensor x) {
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    checkAtLeast(e, e.size(x, axis), e.getIndexAttr(1),
                 "the image has no elements");
}

//===----------------------------------------------------------------------===//
// MaxPool
//===----------------------------------------------------------------------===//

/// The steps from one element to the next in every spatial dimension of an
/// image that is stored with the last dimension fastest, or slowest.
static SmallVector<Value> getSteps(Emitter &e, ArrayRef<OpFoldResult> sizes,
                                   bool lastIsSlowest) {
  SmallVector<Value> steps(sizes.size());
  OpFoldResult step = e.getIndexAttr(1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    size_t axis = lastIsSlowest ? i : sizes.size() - 1 - i;
    steps[axis] = e.asValue(step);
    step = e.mulSize(step, sizes[axis]);
  }
  return steps;
}

/// The place of the first largest element of every window in the flattened
/// input.
static Tensor findMaxima(Emitter &e, Tensor x, const WindowSizes &window,
                         bool lastIsSlowest) {
  size_t rank = window.getRank();
  SmallVector<Value> steps = getSteps(e, window.input, lastIsSlowest);
  Value imageSize = e.asValue(e.productOf(window.input));
  Value channels = e.asValue(e.size(x, 1));
  Sizes sizes = {e.size(x, 0), e.size(x, 1)};
  sizes.append(window.output);
  Type type = x.elementType;
  return e.generate(sizes, e.getI64Type(), [&](ArrayRef<Value> indices) {
    Value image = e.mulIndex(
        e.addIndex(e.mulIndex(indices[0], channels), indices[1]), imageSize);
    Value none = e.index(-1);
    SmallVector<Value> best = e.forEach(
        window.kernel, {e.lowest(type).value, none},
        [&](ArrayRef<Value> kernel, ValueRange carried) {
          Indices from = {indices[0], indices[1]};
          Value place = image;
          Value inside = arith::ConstantIntOp::create(e, 1, 1);
          for (size_t i = 0; i < rank; ++i) {
            Value at = e.subIndex(
                e.addIndex(
                    e.mulIndex(indices[2 + i], e.index(window.strides[i])),
                    e.mulIndex(kernel[i], e.index(window.dilations[i]))),
                e.asValue(window.padsBegin[i]));
            // Negative numbers are large without a sign.
            inside = e.createOrFold<arith::AndIOp>(
                inside, e.cmpIndex(arith::CmpIPredicate::ult, at,
                                   e.asValue(window.input[i])));
            from.push_back(at);
            place = e.addIndex(place, e.mulIndex(at, steps[i]));
          }
          auto types = {carried[0].getType(), carried[1].getType()};
          return branch(
              e, inside, types,
              [&] {
                Scalar element = e.read(x, from), before = {carried[0], type};
                Value isFirst =
                    e.cmpIndex(arith::CmpIPredicate::eq, carried[1], none);
                Value larger = e.createOrFold<arith::OrIOp>(
                    isFirst, e.compare(Emitter::GT, element, before));
                return SmallVector<Value>{
                    e.select(larger, element, before).value,
                    e.createOrFold<arith::SelectOp>(larger, place, carried[1])};
              },
              [&] { return SmallVector<Value>(carried); });
        });
    return Scalar{e.toI64(best[1]), e.getI64Type()};
  });
}

namespace {
struct LowerMaxPool : OpLowering<onnx::MaxPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MaxPoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    checkImage(e, x);
    WindowSizes window = getWindowSizes(e, op, x);
    Scalar least = e.lowest(x.elementType);
    Tensor padded = padForWindow(e, x, window, least);
    Tensor y = reduceWindows(
        e, padded, window, least,
        [&](Scalar element, Scalar max) { return e.max(max, element); });
    SmallVector<Value> results = {y.value};
    if (!isa<NoneType>(op.getIndices().getType()))
      results.push_back(
          findMaxima(e, x, window, op.getStorageOrder() != 0).value);
    return results;
  }
};

//===----------------------------------------------------------------------===//
// AveragePool
//===----------------------------------------------------------------------===//

struct LowerAveragePool : OpLowering<onnx::AveragePoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::AveragePoolOp op, Operands operands,
                Emitter &e) const override;
};
} // namespace

/// How many elements of each window count along spatial dimension `i`: those in
/// [from, to) of the padded input. The result has a one for every other
/// dimension behind.
static Tensor countElements(Emitter &e, const WindowSizes &window, size_t i,
                            OpFoldResult from, OpFoldResult to, Type type) {
  Value first = e.asValue(from), last = e.asValue(to);
  Value kernel = e.asValue(window.kernel[i]);
  Value zero = e.index(0), dilation = e.index(window.dilations[i]);
  // Of the kernel's elements k those with from <= o * s + k * d < to.
  auto ceilDiv = [&](Value distance) {
    Value rounded = e.floorDivIndex(
        e.addIndex(distance, e.subIndex(dilation, e.index(1))), dilation);
    return e.minIndex(e.maxIndex(rounded, zero), kernel);
  };
  Tensor counts =
      e.generate({window.output[i]}, type, [&](ArrayRef<Value> place) {
        Value start = e.mulIndex(place[0], e.index(window.strides[i]));
        Value count = e.subIndex(ceilDiv(e.subIndex(last, start)),
                                 ceilDiv(e.subIndex(first, start)));
        return Scalar{
            arith::SIToFPOp::create(e, computeType(type), e.toI64(count)),
            type};
      });
  return perChannel(e, counts, window.getRank() - 1 - i);
}

Results LowerAveragePool::lower(onnx::AveragePoolOp op, Operands operands,
                                Emitter &e) const {
  Tensor x = operands[0];
  Type type = x.elementType, sumType = accumulatorTypeFor(type);
  checkImage(e, x);
  WindowSizes window = getWindowSizes(e, op, x);
  Tensor padded = padForWindow(e, x, window, e.number(0, type));
  Tensor sums = reduceWindows(e, padded, window, e.number(0, sumType),
                              [&](Scalar element, Scalar sum) {
                                return e.add(sum, e.cast(element, sumType));
                              });
  SmallVector<Tensor> inputs = {sums};
  double known = 1;
  for (size_t i = 0; i < window.getRank(); ++i) {
    bool includesPads = op.getCountIncludePad() != 0;
    bool isFull = e.constant(window.overhang[i]) == 0;
    for (OpFoldResult pad : {window.padsBegin[i], window.padsEnd[i]})
      isFull &= includesPads || e.constant(pad) == 0;
    if (isFull) {
      known *= static_cast<double>(*e.constant(window.kernel[i]));
      continue;
    }
    OpFoldResult begin = window.padsBegin[i];
    OpFoldResult end = e.addSize(begin, window.input[i]);
    if (includesPads) {
      begin = e.getIndexAttr(0);
      end = e.addSize(end, window.padsEnd[i]);
    }
    inputs.push_back(countElements(e, window, i, begin, end, sumType));
  }
  Tensor y = e.map(inputs, e.sizes(sums), type, [&](ArrayRef<Scalar> v) {
    Scalar count = e.number(known, sumType);
    for (Scalar factor : v.drop_front())
      count = e.mul(count, factor);
    return e.cast(e.div(v[0], count), type);
  });
  return SmallVector<Value>{y.value};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// abs(x) ^ p and its inverse.
static Scalar raise(Emitter &e, Scalar x, int64_t p) {
  if (p == 1)
    return e.abs(x);
  if (p == 2)
    return e.mul(x, x);
  Scalar power = e.number(static_cast<double>(p), x.elementType);
  return {math::PowFOp::create(e, e.abs(x).value, power.value), x.elementType};
}

static Scalar root(Emitter &e, Scalar x, int64_t p) {
  if (p == 1)
    return x;
  if (p == 2)
    return e.math<math::SqrtOp>(x);
  Scalar power = e.number(1.0 / static_cast<double>(p), x.elementType);
  return {math::PowFOp::create(e, x.value, power.value), x.elementType};
}

/// The root of every sum, in the type of the result.
static Tensor takeRoots(Emitter &e, Tensor sums, int64_t p, Type type) {
  return e.map({sums}, e.sizes(sums), type, [&](ArrayRef<Scalar> x) {
    return e.cast(root(e, x[0], p), type);
  });
}

namespace {
struct LowerLpPool : OpLowering<onnx::LpPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::LpPoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Type type = x.elementType, sumType = accumulatorTypeFor(type);
    checkImage(e, x);
    WindowSizes window = getWindowSizes(e, op, x);
    Tensor padded = padForWindow(e, x, window, e.number(0, type));
    Tensor sums = reduceWindows(
        e, padded, window, e.number(0, sumType),
        [&](Scalar element, Scalar sum) {
          return e.add(sum, raise(e, e.cast(element, sumType), op.getP()));
        });
    return SmallVector<Value>{takeRoots(e, sums, op.getP(), type).value};
  }
};

//===----------------------------------------------------------------------===//
// Whole images
//===----------------------------------------------------------------------===//

/// The axes behind the channels.
SmallVector<int64_t> getSpatialAxes(Tensor x) {
  SmallVector<int64_t> axes;
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  return axes;
}

struct LowerGlobalAveragePool : OpLowering<onnx::GlobalAveragePoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GlobalAveragePoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Type type = x.elementType, sumType = accumulatorTypeFor(type);
    checkImage(e, x);
    Sizes sizes = e.sizes(x);
    Value count = e.asValue(e.productOf(ArrayRef(sizes).drop_front(2)));
    Scalar divisor = {
        arith::SIToFPOp::create(e, computeType(sumType), e.toI64(count)),
        sumType};
    Tensor sums = sumPlaces(e, x, /*first=*/2, x.rank() - 2, sumType);
    Tensor y = e.map({sums}, e.sizes(sums), type, [&](ArrayRef<Scalar> v) {
      return e.cast(e.div(v[0], divisor), type);
    });
    return SmallVector<Value>{y.value};
  }
};

struct LowerGlobalLpPool : OpLowering<onnx::GlobalLpPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GlobalLpPoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Type type = x.elementType, sumType = accumulatorTypeFor(type);
    checkImage(e, x);
    Tensor sums =
        e.reduce(x, getSpatialAxes(x), /*keepDims=*/true, e.number(0, sumType),
                 [&](Scalar v, Scalar sum) {
                   return e.add(sum, raise(e, e.cast(v, sumType), op.getP()));
                 });
    return SmallVector<Value>{takeRoots(e, sums, op.getP(), type).value};
  }
};

struct LowerGlobalMaxPool : OpLowering<onnx::GlobalMaxPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GlobalMaxPoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    checkImage(e, x);
    Tensor y = e.reduce(x, getSpatialAxes(x), /*keepDims=*/true,
                        e.lowest(x.elementType),
                        [&](Scalar v, Scalar max) { return e.max(max, v); });
    return SmallVector<Value>{y.value};
  }
};

//===----------------------------------------------------------------------===//
// MaxUnpool
//===----------------------------------------------------------------------===//

struct LowerMaxUnpool : OpLowering<onnx::MaxUnpoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MaxUnpoolOp op, Operands operands,
                Emitter &e) const override;
};
} // namespace

/// The sizes of the tensor that was pooled, as far as the window tells.
static Sizes getPooledSizes(Emitter &e, onnx::MaxUnpoolOp op, Tensor x) {
  size_t rank = x.rank() - 2;
  SmallVector<int64_t> kernel = window::getIntsOf(op, "kernel_shape", rank, 1);
  SmallVector<int64_t> strides = window::getIntsOf(op, "strides", rank, 1);
  SmallVector<int64_t> pads = window::getIntsOf(op, "pads", 2 * rank, 0);
  Sizes sizes = e.sizes(x);
  for (size_t i = 0; i < rank; ++i) {
    OpFoldResult last = e.subSize(sizes[2 + i], e.getIndexAttr(1));
    sizes[2 + i] =
        e.addSize(e.mulSize(last, e.getIndexAttr(strides[i])),
                  e.getIndexAttr(kernel[i] - pads[i] - pads[rank + i]));
    checkAtLeast(e, sizes[2 + i], e.getIndexAttr(0),
                 "the pads leave nothing of the output");
  }
  return sizes;
}

Results LowerMaxUnpool::lower(onnx::MaxUnpoolOp op, Operands operands,
                              Emitter &e) const {
  Tensor x = operands[0], places = operands[1], shape = operands[2];
  for (auto [a, b] : llvm::zip(e.sizes(x), e.sizes(places)))
    checkEqual(e, a, b, "the indices don't have the sizes of the input");
  Sizes pooled = getPooledSizes(e, op, x);
  OpFoldResult count = e.productOf(pooled);
  Value limit = e.asValue(count);
  checkAll(e, places, "an index is outside of the output", [&](Scalar place) {
    return e.cmpIndex(arith::CmpIPredicate::ult, e.toIndex(place.value), limit);
  });
  Scalar zero = e.number(0, x.elementType);
  Tensor flat = e.filled({count}, zero);
  Value written = e.forEach(
      e.sizes(x), flat.value, [&](ArrayRef<Value> indices, ValueRange carried) {
        Value place = e.readIndex(places, indices);
        Tensor current = {carried[0], x.elementType};
        return SmallVector<Value>{
            e.write(current, {place}, e.read(x, indices)).value};
      })[0];
  Tensor image = e.reshape({written, x.elementType}, pooled);
  if (!shape)
    return SmallVector<Value>{image.value};

  // The places are counted in the pooled sizes; what is more is zeros.
  ElementsAttr constant = onnx::getConstant(op.getOutputShape());
  std::optional<SmallVector<int64_t>> known;
  if (constant)
    known = onnx::readInts(constant, x.rank());
  checkEqual(e, e.size(shape, 0), e.getIndexAttr(x.rank()),
             "output_shape does not have an element per dimension");
  Sizes sizes, offsets(x.rank(), e.getIndexAttr(0));
  for (int64_t i = 0; i < x.rank(); ++i) {
    sizes.push_back(known && known->size() == static_cast<size_t>(x.rank())
                        ? OpFoldResult(e.getIndexAttr((*known)[i]))
                        : e.readIndex(shape, {e.index(i)}));
    checkAtLeast(e, sizes[i], pooled[i],
                 "output_shape is smaller than the tensor that was pooled");
  }
  Tensor out = e.filled(sizes, zero);
  Tensor part = slice(e, out, offsets, pooled);
  Tensor filled =
      writeOver(e, image, part, [](Scalar v, ArrayRef<Value>) { return v; });
  return SmallVector<Value>{insertSlice(e, filled, out, offsets).value};
}

void onnxquant::lowering::addPoolLowerings(RewritePatternSet &patterns,
                                           const StorageTypeConverter &types) {
  patterns
      .add<LowerMaxPool, LowerAveragePool, LowerLpPool, LowerGlobalAveragePool,
           LowerGlobalLpPool, LowerGlobalMaxPool, LowerMaxUnpool>(
          types, patterns.getContext());
}
