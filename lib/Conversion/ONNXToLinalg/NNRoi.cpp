// Poolings of regions of interest.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace window = onnxquant::onnx::window;

static Scalar toFloat(Emitter &e, Value index, Type type) {
  return {arith::SIToFPOp::create(e, computeType(type), e.toI64(index)), type};
}

/// The most samples that an element of a result may be made of: as many as an
/// image of 4096 by 4096 has elements.
static constexpr int64_t mostSamples = int64_t(1) << 24;

/// A whole number as an index from `least` to `most`; NaN as `least`.
static Value boundedIndex(Emitter &e, Scalar x, double least, double most) {
  Value low = e.number(least, x.elementType).value;
  Value high = e.number(most, x.elementType).value;
  Value bounded = arith::MinNumFOp::create(
      e, arith::MaxNumFOp::create(e, x.value, low), high);
  return e.toIndex(arith::FPToSIOp::create(e, e.getI64Type(), bounded));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of a region: where its parts begin and how they are sampled.
struct RoiAxis {
  Scalar start, part;
  Value samples;
  /// The image's size.
  Value size;
};

/// The two elements around a sample, and the share of the upper one.
struct SampledAxis {
  Value low, high;
  Scalar share;
  Value isInside;
};

struct LowerRoiAlign : OpLowering<onnx::RoiAlignOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::RoiAlignOp op, Operands operands,
                Emitter &e) const override;
};

/// Emits the pooling of one part of one region.
struct RoiSampler {
  Emitter &e;
  onnx::RoiAlignOp op;
  Tensor x, rois;
  Type type;

  RoiAxis getAxis(Value region, bool isHeight);
  SampledAxis sample(const RoiAxis &axis, Value part, Value number);
  /// The sample's value, or the largest of its four shares for `max`.
  Scalar combine(Value image, Value channel, const SampledAxis &y,
                 const SampledAxis &x);
  Scalar pool(ArrayRef<Value> indices, Value image);
};
} // namespace

RoiAxis RoiSampler::getAxis(Value region, bool isHeight) {
  Scalar scale = e.number(op.getSpatialScale().convertToDouble(), type);
  bool halfPixel = op.getCoordinateTransformationMode() == "half_pixel";
  Scalar shift = e.number(halfPixel ? 0.5 : 0.0, type);
  auto read = [&](int64_t column) {
    Scalar corner = e.cast(e.read(rois, {region, e.index(column)}), type);
    return e.sub(e.mul(corner, scale), shift);
  };
  Scalar start = read(isHeight ? 1 : 0), end = read(isHeight ? 3 : 2);
  Scalar length = e.sub(end, start);
  if (!halfPixel)
    length = e.max(length, e.number(1, type));
  int64_t parts = isHeight ? op.getOutputHeight() : op.getOutputWidth();
  Scalar part = e.div(length, e.number(static_cast<double>(parts), type));
  // As many samples as the part is large, within reason.
  Value samples = op.getSamplingRatio() > 0
                      ? e.index(op.getSamplingRatio())
                      : boundedIndex(e, e.math<math::CeilOp>(part), 0, 1 << 20);
  return {start, part, samples, e.asValue(e.size(x, isHeight ? 2 : 3))};
}

SampledAxis RoiSampler::sample(const RoiAxis &axis, Value part, Value number) {
  Scalar step = e.div(axis.part, toFloat(e, axis.samples, type));
  Scalar place =
      e.add(e.add(axis.start, e.mul(toFloat(e, part, type), axis.part)),
            e.mul(e.add(toFloat(e, number, type), e.number(0.5, type)), step));
  Scalar size = toFloat(e, axis.size, type), zero = e.number(0, type);
  Value isInside = e.createOrFold<arith::AndIOp>(
      e.compare(Emitter::GE, place, e.number(-1, type)),
      e.compare(Emitter::LE, place, size));
  place = e.max(place, zero);
  Value last = e.subIndex(axis.size, e.index(1));
  Value floor = e.minIndex(
      clampedIndex(e, e.math<math::FloorOp>(place), axis.size), last);
  Value low = e.maxIndex(floor, e.index(0));
  Value isLast = e.cmpIndex(arith::CmpIPredicate::sge, low, last);
  Value high =
      e.createOrFold<arith::SelectOp>(isLast, low, e.addIndex(low, e.index(1)));
  Scalar share = e.select(isLast, zero, e.sub(place, toFloat(e, low, type)));
  return {low, high, share, isInside};
}

Scalar RoiSampler::combine(Value image, Value channel, const SampledAxis &v,
                           const SampledAxis &h) {
  Scalar one = e.number(1, type), zero = e.number(0, type);
  Scalar result;
  for (bool lower : {true, false})
    for (bool left : {true, false}) {
      Scalar element = e.cast(e.read(x, {image, channel, lower ? v.low : v.high,
                                         left ? h.low : h.high}),
                              type);
      Scalar weight = e.mul(lower ? e.sub(one, v.share) : v.share,
                            left ? e.sub(one, h.share) : h.share);
      Scalar term = e.mul(element, weight);
      if (!result.value)
        result = term;
      else
        result =
            op.getMode() == "max" ? e.max(result, term) : e.add(result, term);
    }
  Value isInside = e.createOrFold<arith::AndIOp>(v.isInside, h.isInside);
  return e.select(isInside, result, zero);
}

Scalar RoiSampler::pool(ArrayRef<Value> indices, Value image) {
  RoiAxis height = getAxis(indices[0], true);
  RoiAxis width = getAxis(indices[0], false);
  bool isMax = op.getMode() == "max";
  Scalar zero = e.number(0, type);
  Scalar start = isMax ? e.lowest(type) : zero;
  SmallVector<Value> sum = e.forEach(
      {height.samples, width.samples}, start.value,
      [&](ArrayRef<Value> samples, ValueRange carried) {
        Scalar element =
            combine(image, indices[1], sample(height, indices[2], samples[0]),
                    sample(width, indices[3], samples[1]));
        Scalar before = {carried[0], type};
        return SmallVector<Value>{
            (isMax ? e.max(before, element) : e.add(before, element)).value};
      });
  Value count = e.mulIndex(height.samples, width.samples);
  Scalar total = {sum[0], type};
  Value isEmpty = e.cmpIndex(arith::CmpIPredicate::eq, count, e.index(0));
  if (isMax)
    return e.select(isEmpty, zero, total);
  return e.div(total, toFloat(e, e.maxIndex(count, e.index(1)), type));
}

Results LowerRoiAlign::lower(onnx::RoiAlignOp op, Operands operands,
                             Emitter &e) const {
  Tensor x = operands[0], rois = operands[1], images = operands[2];
  Type result = resultType(op), type = accumulatorTypeFor(result);
  checkEqual(e, e.size(rois, 0), e.size(images, 0),
             "there is not one batch index per region");
  checkEqual(e, e.size(rois, 1), e.getIndexAttr(4),
             "a region does not have four numbers");
  for (int64_t axis : {2, 3})
    checkAtLeast(e, e.size(x, axis), e.getIndexAttr(1), "the image is empty");
  Value batches = e.asValue(e.size(x, 0));
  checkAll(e, images, "a batch index is outside of the batch",
           [&](Scalar image) {
             return e.cmpIndex(arith::CmpIPredicate::ult,
                               e.toIndex(image.value), batches);
           });
  RoiSampler sampler{e, op, x, rois, type};
  Value count = e.asValue(e.size(rois, 0));
  Value yes = arith::ConstantIntOp::create(e, 1, 1);
  // Sizes of regions are numbers of the run: what they ask for is checked
  // before anything is sampled.
  Value bounded =
      loop(e, e.index(0), count, yes, [&](Value region, ValueRange carried) {
        Value samples = e.mulIndex(sampler.getAxis(region, true).samples,
                                   sampler.getAxis(region, false).samples);
        Value fits = e.cmpIndex(arith::CmpIPredicate::sle, samples,
                                e.index(mostSamples));
        return SmallVector<Value>{
            e.createOrFold<arith::AndIOp>(carried[0], fits)};
      })[0];
  e.check(bounded, "a region asks for more than " + Twine(mostSamples) +
                       " samples of an element");
  Sizes sizes = {e.size(rois, 0), e.size(x, 1),
                 e.getIndexAttr(op.getOutputHeight()),
                 e.getIndexAttr(op.getOutputWidth())};
  Tensor y = e.generate(sizes, result, [&](ArrayRef<Value> indices) {
    Value image = e.readIndex(images, {indices[0]});
    return e.cast(sampler.pool(indices, image), result);
  });
  return SmallVector<Value>{y.value};
}

//===----------------------------------------------------------------------===//
// MaxRoiPool
//===----------------------------------------------------------------------===//

namespace {
struct LowerMaxRoiPool : OpLowering<onnx::MaxRoiPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MaxRoiPoolOp op, Operands operands,
                Emitter &e) const override;

private:
  /// The elements [first, last) of part `part` of a region's dimension.
  static std::pair<Value, Value> getPart(onnx::MaxRoiPoolOp op, Emitter &e,
                                         Tensor rois, Value region, Value part,
                                         bool isHeight, int64_t parts,
                                         Value size);
};
} // namespace

std::pair<Value, Value> LowerMaxRoiPool::getPart(onnx::MaxRoiPoolOp op,
                                                 Emitter &e, Tensor rois,
                                                 Value region, Value part,
                                                 bool isHeight, int64_t parts,
                                                 Value size) {
  Type type = e.getF32Type();
  Scalar scale = e.number(op.getSpatialScale().convertToDouble(), type);
  auto corner = [&](int64_t column) {
    Scalar value = e.cast(e.read(rois, {region, e.index(column)}), type);
    return boundedIndex(e, e.math<math::RoundOp>(e.mul(value, scale)),
                        -(1 << 30), 1 << 30);
  };
  Value first = corner(isHeight ? 2 : 1), last = corner(isHeight ? 4 : 3);
  Value length =
      e.maxIndex(e.addIndex(e.subIndex(last, first), e.index(1)), e.index(1));
  Scalar step = e.div(toFloat(e, length, type),
                      e.number(static_cast<double>(parts), type));
  auto bound = [&](Scalar place) {
    Value index = e.addIndex(boundedIndex(e, place, -2.0, 4294967296.0), first);
    return e.minIndex(e.maxIndex(index, e.index(0)), size);
  };
  Scalar begin = e.mul(toFloat(e, part, type), step);
  Scalar end = e.mul(toFloat(e, e.addIndex(part, e.index(1)), type), step);
  return {bound(e.math<math::FloorOp>(begin)),
          bound(e.math<math::CeilOp>(end))};
}

Results LowerMaxRoiPool::lower(onnx::MaxRoiPoolOp op, Operands operands,
                               Emitter &e) const {
  Tensor x = operands[0], rois = operands[1];
  Type type = x.elementType;
  SmallVector<int64_t> pooled = window::getIntsOf(op, "pooled_shape", 2, 1);
  checkEqual(e, e.size(rois, 1), e.getIndexAttr(5),
             "a region does not have five numbers");
  Scalar limit = e.cast(toFloat(e, e.asValue(e.size(x, 0)), e.getF32Type()),
                        e.getF64Type());
  Tensor images = slice(e, rois, {e.getIndexAttr(0), e.getIndexAttr(0)},
                        {e.size(rois, 0), e.getIndexAttr(1)});
  checkAll(e, images, "a batch index is outside of the batch",
           [&](Scalar image) {
             Scalar number = e.cast(image, e.getF64Type());
             return e.createOrFold<arith::AndIOp>(
                 e.compare(Emitter::GE, number, e.number(0, e.getF64Type())),
                 e.compare(Emitter::LT, number, limit));
           });
  Value height = e.asValue(e.size(x, 2)), width = e.asValue(e.size(x, 3));
  Sizes sizes = {e.size(rois, 0), e.size(x, 1), e.getIndexAttr(pooled[0]),
                 e.getIndexAttr(pooled[1])};
  Tensor y = e.generate(sizes, type, [&](ArrayRef<Value> indices) {
    Scalar number =
        e.cast(e.read(rois, {indices[0], e.index(0)}), e.getF32Type());
    Value image = boundedIndex(e, number, 0, 1 << 30);
    auto [top, bottom] =
        getPart(op, e, rois, indices[0], indices[2], true, pooled[0], height);
    auto [left, right] =
        getPart(op, e, rois, indices[0], indices[3], false, pooled[1], width);
    Value from = left, to = right;
    Value max = loop(
        e, top, bottom, e.lowest(type).value, [&](Value row, ValueRange outer) {
          return loop(
              e, from, to, outer[0], [&](Value column, ValueRange inner) {
                Scalar element = e.read(x, {image, indices[1], row, column});
                return SmallVector<Value>{
                    e.max({inner[0], type}, element).value};
              });
        })[0];
    Value isEmpty = e.createOrFold<arith::OrIOp>(
        e.cmpIndex(arith::CmpIPredicate::sle, bottom, top),
        e.cmpIndex(arith::CmpIPredicate::sle, right, left));
    return e.select(isEmpty, e.number(0, type), {max, type});
  });
  return SmallVector<Value>{y.value};
}

void onnxquant::lowering::addRoiLowerings(RewritePatternSet &patterns,
                                          const StorageTypeConverter &types) {
  patterns.add<LowerRoiAlign, LowerMaxRoiPool>(types, patterns.getContext());
}
