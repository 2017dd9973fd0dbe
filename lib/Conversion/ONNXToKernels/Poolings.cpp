// Poolings become windows, channels last: maxima and averages of floats and of
// quantized values. An average divides by how many elements count, which is a
// constant where it is the same everywhere, else a product of a factor per
// dimension.

#include "Poolings.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "OnnxQuant/Support/Quantization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace window = onnxquant::onnx::window;
namespace ms = onnxquant::onnx::microsoft;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of a window.
struct WindowDim {
  int64_t begin, end;
  /// The end with what ceil_mode adds.
  int64_t wideEnd;
};
} // namespace

/// The paddings of one dimension; none if they depend on a size that is open.
static std::optional<WindowDim> getWindowDim(const window::Window &attributes,
                                             size_t i, int64_t size,
                                             int64_t extent) {
  int64_t stride = attributes.strides[i];
  bool isOpen = ShapedType::isDynamic(size);
  WindowDim dim = {0, 0, 0};
  switch (attributes.autoPad) {
  case window::AutoPad::NotSet:
    dim.begin = attributes.padsBegin[i];
    dim.end = attributes.padsEnd[i];
    break;
  case window::AutoPad::Valid:
    break;
  case window::AutoPad::SameUpper:
  case window::AutoPad::SameLower: {
    if (isOpen && stride != 1)
      return std::nullopt;
    // With stride 1 the pads are the same for every size.
    int64_t count = isOpen ? extent : size;
    int64_t output = (count + stride - 1) / stride;
    int64_t total =
        std::max<int64_t>(0, (output - 1) * stride + extent - count);
    bool isUpper = attributes.autoPad == window::AutoPad::SameUpper;
    dim.begin = isUpper ? total / 2 : total - total / 2;
    dim.end = total - dim.begin;
    break;
  }
  }
  dim.wideEnd = dim.end;
  bool isCeil =
      attributes.ceilMode && attributes.autoPad == window::AutoPad::NotSet;
  if (!isCeil)
    return dim;
  dim.wideEnd = dim.end + stride - 1;
  if (isOpen) {
    // No window may begin behind the input, whatever its size.
    if (dim.end + stride > extent)
      return std::nullopt;
    return dim;
  }
  int64_t count = onnxq::countWindows(size, 1 + (extent - 1), stride, 1,
                                      dim.begin + dim.wideEnd);
  if (count > 0 && (count - 1) * stride >= size + dim.begin)
    --count;
  dim.wideEnd =
      std::max<int64_t>(0, (count - 1) * stride + extent - size - dim.begin);
  return dim;
}

std::optional<PoolWindow> kernels::getPoolWindow(Operation *op,
                                                 RankedTensorType input,
                                                 ArrayRef<int64_t> kernel) {
  SmallVector<onnx::Dim> dims(kernel.begin(), kernel.end());
  window::Window attributes = window::getWindow(op, kernel.size(), dims);
  PoolWindow result;
  result.window.kernel.assign(kernel.begin(), kernel.end());
  result.window.strides = attributes.strides;
  result.window.dilations = attributes.dilations;
  SmallVector<int64_t> ends, wideEnds;
  for (size_t i = 0; i < kernel.size(); ++i) {
    int64_t size = input.getDimSize(i + 2);
    int64_t extent = (kernel[i] - 1) * attributes.dilations[i] + 1;
    auto dim = getWindowDim(attributes, i, size, extent);
    if (!dim || dim->begin >= extent || dim->wideEnd >= extent)
      return std::nullopt;
    if (!ShapedType::isDynamic(size) &&
        (size == 0 ||
         onnxq::countWindows(size, kernel[i], attributes.strides[i],
                             attributes.dilations[i],
                             dim->begin + dim->wideEnd) < 1))
      return std::nullopt;
    result.window.pads.push_back(dim->begin);
    ends.push_back(dim->end);
    wideEnds.push_back(dim->wideEnd);
  }
  result.countedPads = result.window.pads;
  result.countedPads.append(ends);
  result.window.pads.append(wideEnds);
  return result;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// How many elements of each window of dimension `i` count: those in
/// [-before, size + after).
static Value makeCounts(ImplicitLocOpBuilder &b, Value input, size_t i,
                        const KernelWindow &window, OpFoldResult outputSize,
                        int64_t before, int64_t after) {
  int64_t stride = window.strides[i], dilation = window.dilations[i];
  Value empty = makeEmpty(b, {outputSize}, b.getF32Type());
  Value size =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), getSize(b, input, i + 1));
  AffineMap map = b.getMultiDimIdentityMap(1);
  auto op = linalg::GenericOp::create(
      b, empty.getType(), ValueRange(), empty, ArrayRef{map},
      ArrayRef{utils::IteratorType::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder e(loc, nested);
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(e, value);
        };
        Value index = linalg::IndexOp::create(e, 0);
        Value start = arith::SubIOp::create(
            e, arith::MulIOp::create(e, index, constant(stride)),
            constant(window.pads[i]));
        // The first tap at `limit` or behind it.
        auto firstFrom = [&](Value limit) -> Value {
          Value distance = arith::SubIOp::create(e, limit, start);
          Value positive = arith::MaxSIOp::create(e, distance, constant(0));
          Value tap = arith::DivUIOp::create(
              e, arith::AddIOp::create(e, positive, constant(dilation - 1)),
              constant(dilation));
          return arith::MinSIOp::create(e, tap, constant(window.kernel[i]));
        };
        Value end = arith::AddIOp::create(e, size, constant(after));
        Value count = arith::SubIOp::create(e, firstFrom(end),
                                            firstFrom(constant(-before)));
        Value wide = arith::IndexCastOp::create(e, e.getI32Type(), count);
        linalg::YieldOp::create(
            e, arith::SIToFPOp::create(e, e.getF32Type(), wide).getResult());
      });
  return op.getResult(0);
}

namespace {
/// What sums are divided by: a constant, and epilogue operands with factors per
/// dimension.
struct Counts {
  double constant = 1;
  SmallVector<EpilogueOperand> epilogueOperands;

  /// The count of an element, given the factors.
  Value emit(ImplicitLocOpBuilder &b, ValueRange factors) const {
    Value count = arith::ConstantOp::create(b, b.getF32FloatAttr(constant));
    for (auto [index, factor] : llvm::enumerate(factors))
      count = index == 0 && constant == 1
                  ? factor
                  : Value(arith::MulFOp::create(b, count, factor));
    return count;
  }
};
} // namespace

/// The counts of an average: the whole kernel where every tap counts, or those
/// inside of the input and of `pads`.
static Counts getCounts(ImplicitLocOpBuilder &b, Operation *node, Value input,
                        const PoolWindow &pool, bool includePads) {
  const KernelWindow &window = pool.window;
  size_t rank = window.kernel.size();
  SmallVector<OpFoldResult> sizes = getOutputSizes(b, node, input, window);
  Counts counts;
  for (size_t i = 0; i < rank; ++i) {
    int64_t before = includePads ? pool.countedPads[i] : 0;
    int64_t after = includePads ? pool.countedPads[rank + i] : 0;
    if (before == window.pads[i] && after >= window.pads[rank + i]) {
      counts.constant *= static_cast<double>(window.kernel[i]);
      continue;
    }
    Value factors = makeCounts(b, input, i, window, sizes[i], before, after);
    counts.epilogueOperands.push_back(
        {factors, AffineMap::get(static_cast<unsigned>(rank) + 2, 0,
                                 b.getAffineDimExpr(i + 1))});
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// The window of a pooling of [N, C, spatial..]; none if it has no kernel form.
template <typename OpTy>
static std::optional<PoolWindow> getPool(OpTy op, RankedTensorType input) {
  if (!input || input.getRank() < 3 || input.isDynamicDim(1) ||
      input.getDimSize(1) == 0)
    return std::nullopt;
  return getPoolWindow(op, input, onnx::shape::getInts(op.getKernelShape()));
}

namespace {

struct MaxPoolToWindow : OpRewritePattern<onnx::MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MaxPoolOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    auto pool = getPool(op, input);
    if (!pool || !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "its window is open");
    if (!isa<NoneType>(op.getIndices().getType()))
      return rewriter.notifyMatchFailure(op, "it gives indices");
    Type element = input.getElementType();
    bool isInt8 = element.isInteger(8);
    if (!isInt8 && !isKernelFloat(element))
      return rewriter.notifyMatchFailure(op, "no kernel for its elements");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type computed = isInt8 ? element : Type(b.getF32Type());
    WindowSpec spec;
    spec.kind = onnxq::WindowKind::Max;
    spec.input = toChannelsLast(b, op, makeCast(b, op, op.getX(), computed));
    spec.window = pool->window;
    spec.element = computed;
    Value y = toChannelsFirst(b, op, makeWindow(b, op, spec));
    rewriter.replaceOp(op, {castLike(b, op, y, op.getY()),
                            onnx::NoValueOp::create(b).getResult()});
    return success();
  }
};

struct AveragePoolToWindow : OpRewritePattern<onnx::AveragePoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::AveragePoolOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    auto pool = getPool(op, input);
    if (!pool || !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "its window is open");
    if (!isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its elements");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    WindowSpec spec;
    spec.kind = onnxq::WindowKind::Sum;
    spec.input = toChannelsLast(b, op, makeCast(b, op, op.getX(), f32));
    spec.window = pool->window;
    spec.element = f32;
    Counts counts =
        getCounts(b, op, spec.input, *pool, op.getCountIncludePad() != 0);
    spec.epilogueOperands = counts.epilogueOperands;
    spec.epilogue = [&](ImplicitLocOpBuilder &b,
                        ValueRange arguments) -> Value {
      Value count = counts.emit(b, arguments.drop_front());
      return arith::DivFOp::create(b, arguments[0], count);
    };
    Value y = toChannelsFirst(b, op, makeWindow(b, op, spec));
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Quantized values
//===----------------------------------------------------------------------===//

Value kernels::makeScalar(ImplicitLocOpBuilder &b, Value tensor) {
  if (!tensor || isa<NoneType>(tensor.getType()))
    return {};
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = onnxq::getRegionType(type.getElementType());
  if (ElementsAttr known = onnx::getConstant(tensor)) {
    if (auto values = onnx::readInts(known, 1); values && values->size() == 1) {
      int64_t value = values->front();
      unsigned width = element.getIntOrFloatBitWidth();
      return arith::ConstantOp::create(
          b, IntegerAttr::get(element, APInt(width, value, false,
                                             /*implicitTrunc=*/true)));
    }
  }
  // Signs leave the types where ops become loops.
  Value stored = tensor;
  if (element != type.getElementType())
    stored = UnrealizedConversionCastOp::create(b, type.clone(element), tensor)
                 .getResult(0);
  SmallVector<Value> first;
  if (type.getRank() > 0)
    first.assign(type.getRank(), arith::ConstantIndexOp::create(b, 0));
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      cf::AssertOp::create(
          b,
          arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                tensor::DimOp::create(b, stored, axis),
                                first[axis]),
          b.getStringAttr("a scale or zero point has no element"));
  return tensor::ExtractOp::create(b, stored, first);
}

/// The value of a constant of one element.
static std::optional<double> readNumber(Value tensor) {
  ElementsAttr elements = onnx::getConstant(tensor);
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  auto values = onnx::readFloats(elements, 1);
  if (!values || values->size() != 1)
    return std::nullopt;
  return values->front();
}

namespace {

struct QLinearAveragePoolToWindow : OpRewritePattern<ms::QLinearAveragePoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::QLinearAveragePoolOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    bool isLast = op.getChannelsLast() != 0;
    if (input && input.getRank() >= 3 && isLast) {
      SmallVector<int64_t> shape = {input.getDimSize(0),
                                    input.getShape().back()};
      shape.append(input.getShape().begin() + 1, input.getShape().end() - 1);
      input = RankedTensorType::get(shape, input.getElementType());
    }
    auto pool = getPool(op, input);
    if (!pool || !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "its window is open");
    auto xScale = readNumber(op.getXScale()),
         yScale = readNumber(op.getYScale());
    std::optional<double> xZero =
        isAbsent(op.getXZeroPoint()) ? 0.0 : readNumber(op.getXZeroPoint());
    std::optional<double> yZero =
        isAbsent(op.getYZeroPoint()) ? 0.0 : readNumber(op.getYZeroPoint());
    if (!xScale || !yScale || !xZero || !yZero)
      return rewriter.notifyMatchFailure(op, "its scales aren't constant");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    WindowSpec spec;
    spec.kind = onnxq::WindowKind::Sum;
    spec.input = isLast ? op.getX() : toChannelsLast(b, op, op.getX());
    spec.window = pool->window;
    spec.pad = makeScalar(b, op.getXZeroPoint());
    spec.element = input.getElementType();
    Counts counts =
        getCounts(b, op, spec.input, *pool, op.getCountIncludePad() != 0);
    spec.epilogueOperands = counts.epilogueOperands;
    QuantType stored = {8, !input.getElementType().isUnsignedInteger()};
    // Scale and count are one multiplier: x_scale / (y_scale * count).
    spec.epilogue = [&](ImplicitLocOpBuilder &b,
                        ValueRange arguments) -> Value {
      auto constant = [&](double value) -> Value {
        return arith::ConstantOp::create(
            b, b.getF32FloatAttr(static_cast<float>(value)));
      };
      Value count = counts.emit(b, arguments.drop_front());
      Value multiplier = arith::DivFOp::create(
          b, constant(*xScale),
          arith::MulFOp::create(b, constant(*yScale), count));
      Value zero = arith::ConstantOp::create(
          b, b.getI32IntegerAttr(static_cast<int32_t>(*yZero)));
      return onnxq::RequantizeOp::create(b, b.getI8Type(), arguments[0],
                                         multiplier, zero, stored.min(),
                                         stored.max());
    };
    Value y = makeWindow(b, op, spec);
    if (!isLast)
      y = toChannelsFirst(b, op, y);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }
};

} // namespace

void kernels::addPoolingPatterns(RewritePatternSet &patterns) {
  patterns
      .add<MaxPoolToWindow, AveragePoolToWindow, QLinearAveragePoolToWindow>(
          patterns.getContext());
}
