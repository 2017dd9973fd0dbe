// Windows and what they are made with: depthwise convolutions here, poolings in
// Poolings.cpp.

#include "Windows.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "Poolings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

Value kernels::makeWindow(ImplicitLocOpBuilder &b, Operation *node,
                          const WindowSpec &spec) {
  auto input = cast<RankedTensorType>(spec.input.getType());
  Type stored = input.getElementType();
  SmallVector<OpFoldResult> sizes = {getSize(b, spec.input, 0)};
  sizes.append(getOutputSizes(b, node, spec.input, spec.window));
  sizes.push_back(b.getIndexAttr(input.getShape().back()));
  Value empty = makeEmpty(b, sizes, spec.element);

  bool isMax = spec.kind == onnxq::WindowKind::Max;
  Type accumulator = stored.isF32() ? stored
                     : isMax        ? Type(b.getI8Type())
                                    : Type(b.getI32Type());
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types = {accumulator};
  for (const EpilogueOperand &operand : spec.epilogueOperands) {
    values.push_back(operand.value);
    maps.push_back(operand.map);
    types.push_back(onnxq::getRegionType(
        cast<RankedTensorType>(operand.value.getType()).getElementType()));
  }
  auto op = onnxq::WindowOp::create(
      b, TypeRange(empty.getType()), spec.kind, spec.input, spec.weights,
      spec.pad, values, empty, spec.window.kernel, spec.window.strides,
      spec.window.dilations, spec.window.pads, b.getAffineMapArrayAttr(maps),
      stored.isUnsignedInteger());
  if (Attribute name = node->getAttr(onnx::nodeNameAttr))
    op->setAttr(onnx::nodeNameAttr, name);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getEpilogue(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  Value result = spec.epilogue ? spec.epilogue(b, block->getArguments())
                               : Value(block->getArgument(0));
  onnxq::YieldOp::create(b, result);
  return op.getResult(0);
}

/// Rows of taps per channel as rows of channels per tap.
template <typename T>
static Value makeTapRows(ImplicitLocOpBuilder &b, ArrayRef<T> rows,
                         int64_t channels, Type element) {
  int64_t taps = static_cast<int64_t>(rows.size()) / channels;
  std::vector<T> turned(rows.size());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      turned[t * channels + c] = rows[c * taps + t];
  ArrayRef<char> bytes(reinterpret_cast<const char *>(turned.data()),
                       turned.size() * sizeof(T));
  return makeConstant(b, RankedTensorType::get({taps, channels}, element),
                      bytes, "weights");
}

Value kernels::makeDepthwiseSums(ImplicitLocOpBuilder &b, Operation *node,
                                 Value input, Value inputZero,
                                 ArrayRef<int16_t> weights,
                                 const KernelWindow &window, Value bias,
                                 const RequantizationFn &requantization) {
  auto type = cast<RankedTensorType>(input.getType());
  WindowSpec spec;
  spec.kind = onnxq::WindowKind::MulAdd;
  spec.input = input;
  spec.weights =
      makeTapRows(b, weights, type.getShape().back(), b.getI16Type());
  spec.pad = makeScalar(b, inputZero);
  spec.window = window;
  spec.element = b.getI32Type();
  bool hasBias = !isAbsent(bias);
  if (hasBias)
    spec.epilogueOperands.push_back(perChannel(bias, type.getRank()));
  std::optional<RequantizeEpilogue> requantize;
  if (requantization) {
    requantize.emplace(b, requantization(b), type.getRank(),
                       spec.epilogueOperands);
    spec.element = requantize->getElementType();
  }
  spec.epilogue = [&](ImplicitLocOpBuilder &b, ValueRange arguments) -> Value {
    Value sum = arguments[0];
    if (hasBias)
      sum = arith::AddIOp::create(b, sum, arguments[1]);
    return requantize ? requantize->emit(b, sum, arguments) : sum;
  };
  return makeWindow(b, node, spec);
}

namespace {

struct DepthwiseToWindow : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    if (!input || input.getRank() < 3 || input.isDynamicDim(1) ||
        !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "ranks or channels are unknown");
    if (!isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its elements");
    int64_t group = op.getGroup();
    if (group == 1 || group != input.getDimSize(1))
      return rewriter.notifyMatchFailure(op, "it mixes channels");
    std::optional<RawElements> raw = readElements(op.getW());
    if (!raw || raw->bytes.empty())
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    ArrayRef<int64_t> shape = raw->type.getShape();
    if (shape.size() != static_cast<size_t>(input.getRank()) || shape[1] != 1 ||
        shape[0] % group != 0)
      return rewriter.notifyMatchFailure(op, "its sizes don't go together");
    auto window = getPoolWindow(op, input, shape.drop_front(2));
    if (!window)
      return rewriter.notifyMatchFailure(op, "its window is open or too large");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    int64_t rank = input.getRank();
    WindowSpec spec;
    spec.kind = onnxq::WindowKind::MulAdd;
    spec.input = toChannelsLast(b, op, makeCast(b, op, op.getX(), f32));
    spec.input = repeatChannels(b, op, spec.input, shape[0] / group);
    ArrayRef<float> values(reinterpret_cast<const float *>(raw->bytes.data()),
                           raw->bytes.size() / sizeof(float));
    spec.weights = makeTapRows(b, values, shape[0], f32);
    spec.window = window->window;
    spec.element = f32;
    if (!isa<NoneType>(op.getB().getType())) {
      spec.epilogueOperands.push_back(
          perChannel(makeCast(b, op, op.getB(), f32), rank));
      spec.epilogue = [](ImplicitLocOpBuilder &b,
                         ValueRange arguments) -> Value {
        return arith::AddFOp::create(b, arguments[0], arguments[1]);
      };
    }
    Value y = toChannelsFirst(b, op, makeWindow(b, op, spec));
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }

  /// Every channel so many times in a row.
  static Value repeatChannels(ImplicitLocOpBuilder &b, Operation *node,
                              Value input, int64_t times) {
    if (times == 1)
      return input;
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(type.getShape()), indices;
    for (int64_t i = 0; i < shape.back() * times; ++i)
      indices.push_back(i / times);
    shape.back() *= times;
    ArrayRef<char> bytes(reinterpret_cast<const char *>(indices.data()),
                         indices.size() * sizeof(int64_t));
    Value places =
        makeConstant(b, RankedTensorType::get(shape.back(), b.getI64Type()),
                     bytes, "places");
    OperationState state(b.getLoc(), onnx::GatherOp::getOperationName());
    state.addOperands({input, places});
    state.addTypes(RankedTensorType::get(shape, type.getElementType()));
    state.addAttribute("axis",
                       IntegerAttr::get(b.getIntegerType(64, /*isSigned=*/true),
                                        type.getRank() - 1));
    if (Attribute name = node->getAttr(onnx::nodeNameAttr))
      state.addAttribute(onnx::nodeNameAttr, name);
    return b.create(state)->getResult(0);
  }
};

} // namespace

void kernels::addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<DepthwiseToWindow>(patterns.getContext());
  addPoolingPatterns(patterns);
}
