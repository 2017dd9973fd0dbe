// Means of quantized tensors of com.microsoft: over axes, over all places and
// over windows.
//
// Sums are exact integers; scale and count go into one multiplier.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

static Scalar countOf(Emitter &e, OpFoldResult count) {
  Value number = e.toI64(e.asValue(count));
  return e.cast(Scalar{number, e.getI64Type()}, e.getF32Type());
}

/// The mean over sorted axes, quantized.
static Tensor meanOver(Emitter &e, Tensor x, ArrayRef<int64_t> axes,
                       bool keepDims, Quantizer from, Quantizer to, Type type) {
  Type i32 = e.getI32Type(), f32 = e.getF32Type();
  OpFoldResult count = e.getIndexAttr(1);
  for (int64_t axis : axes)
    count = e.mulSize(count, e.size(x, axis));
  Tensor sums =
      e.reduce(x, axes, keepDims, e.integer(0, i32), [&](Scalar q, Scalar sum) {
        return e.add(sum, difference(e, q, from.zero, i32));
      });
  Scalar multiplier = e.div(from.scale, e.mul(to.scale, countOf(e, count)));
  return e.map({sums}, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
    return roundAndClamp(e, e.mul(e.cast(in[0], f32), multiplier), to.zero,
                         type);
  });
}

namespace {
struct LowerQLinearReduceMean : OpLowering<ms::QLinearReduceMeanOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearReduceMeanOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    SmallVector<int64_t> axes = onnx::shape::getInts(op.getAxes());
    for (int64_t &axis : axes)
      axis = axis < 0 ? axis + x.rank() : axis;
    if (axes.empty())
      axes = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
    llvm::sort(axes);
    axes.erase(llvm::unique(axes), axes.end());
    Tensor y =
        meanOver(e, x, axes, op.getKeepdims() != 0,
                 onlyQuantizer(e, operands[1], operands[2]),
                 onlyQuantizer(e, operands[3], operands[4]), resultType(op));
    return SmallVector<Value>{y.value};
  }
};

struct LowerQLinearGlobalAveragePool
    : OpLowering<ms::QLinearGlobalAveragePoolOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearGlobalAveragePoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    int64_t first = op.getChannelsLast() != 0 ? 1 : 2;
    SmallVector<int64_t> axes =
        llvm::to_vector(llvm::seq<int64_t>(first, first + x.rank() - 2));
    Tensor y =
        meanOver(e, x, axes, /*keepDims=*/true,
                 onlyQuantizer(e, operands[1], operands[2]),
                 onlyQuantizer(e, operands[3], operands[4]), resultType(op));
    return SmallVector<Value>{y.value};
  }
};
} // namespace

/// How many elements of dimension `i` the window at `position` counts: those of
/// the input, and of the padding if `includePads`.
static Value countInWindow(Emitter &e, const WindowSizes &window, size_t i,
                           Value position, bool includePads) {
  Value before = e.asValue(window.padsBegin[i]);
  Value begin =
      e.subIndex(e.mulIndex(position, e.index(window.strides[i])), before);
  Value end = e.addIndex(begin, e.asValue(window.kernel[i]));
  Value low = e.index(0), high = e.asValue(window.input[i]);
  if (includePads) {
    low = e.subIndex(low, before);
    high = e.addIndex(high, e.asValue(window.padsEnd[i]));
  }
  return e.subIndex(e.minIndex(end, high), e.maxIndex(begin, low));
}

namespace {
struct LowerQLinearAveragePool : OpLowering<ms::QLinearAveragePoolOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearAveragePoolOp op, Operands operands,
                Emitter &e) const override {
    bool isLast = op.getChannelsLast() != 0;
    Tensor x = isLast ? channelsSecond(e, operands[0]) : operands[0];
    Quantizer from = onlyQuantizer(e, operands[1], operands[2]);
    Quantizer to = onlyQuantizer(e, operands[3], operands[4]);
    Type type = resultType(op), i32 = e.getI32Type(), f32 = e.getF32Type();

    WindowSizes window = getWindowSizes(e, op, x);
    Scalar nothing = e.integer(0, i32);
    Tensor exact = e.map({x}, e.sizes(x), i32, [&](ArrayRef<Scalar> in) {
      return difference(e, in[0], from.zero, i32);
    });
    Tensor sums = reduceWindows(
        e, padForWindow(e, exact, window, nothing), window, nothing,
        [&](Scalar q, Scalar sum) { return e.add(sum, q); });

    // The count depends on the place only.
    Sizes places(2, e.getIndexAttr(1));
    places.append(window.output);
    bool includePads = op.getCountIncludePad() != 0;
    Tensor counts = e.generate(places, f32, [&](ArrayRef<Value> indices) {
      Value count = e.index(1);
      for (size_t i = 0; i < window.getRank(); ++i)
        count = e.mulIndex(
            count, countInWindow(e, window, i, indices[i + 2], includePads));
      return countOf(e, count);
    });
    Tensor y =
        e.map({sums, counts}, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
          Scalar total = e.mul(e.cast(in[0], f32), from.scale);
          return quantize(e, e.div(total, in[1]), to.scale, to.zero, type);
        });
    return SmallVector<Value>{(isLast ? channelsLast(e, y) : y).value};
  }
};
} // namespace

void onnxquant::lowering::addMicrosoftPools(RewritePatternSet &patterns,
                                            const StorageTypeConverter &types) {
  patterns.add<LowerQLinearReduceMean, LowerQLinearGlobalAveragePool,
               LowerQLinearAveragePool>(types, patterns.getContext());
}
