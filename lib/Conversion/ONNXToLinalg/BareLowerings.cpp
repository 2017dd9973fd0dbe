// Lowerings for microcontrollers: no vectors, and memory that counts in
// kilobytes.
//
// A sum of products or a largest element is computed in a loop inside of the
// element that it is for. So it is an op that works element by element, into
// which all that follows is fused: the sum stays in a register until it is a
// byte. Windows leave out what lies in the padding instead of reading zeros,
// and layouts that only move axes are read as they are stored.

#include "ContractionSupport.h"
#include "LoopSupport.h"
#include "Lowering.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "QuantizationSupport.h"
#include "WindowSupport.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

/// Preferred to the lowering that suits other machines.
static constexpr int bareBenefit = 10;

namespace {

/// A tensor whose axes may be stored in another order.
struct View {
  Tensor stored;
  /// The stored axis of each axis.
  SmallVector<int64_t> axes;

  explicit View(Tensor tensor) : stored(tensor), axes(tensor.rank()) {
    std::iota(axes.begin(), axes.end(), 0);
    auto moved = tensor.value.getDefiningOp<linalg::TransposeOp>();
    if (!moved)
      return;
    stored.value = moved.getInput();
    axes.assign(moved.getPermutation().begin(), moved.getPermutation().end());
  }

  Scalar read(Emitter &e, ArrayRef<Value> indices) const {
    SmallVector<Value> at(indices.size());
    for (auto [index, axis] : llvm::zip(indices, axes))
      at[axis] = index;
    return e.read(stored, at);
  }
};

/// The kernel's places of one window that lie in the image, along one axis.
struct Span {
  /// Of the image, where the kernel's place 0 lies.
  Value start;
  Value from, to;
  int64_t dilation;
};

} // namespace

static bool isStatic(Tensor tensor) {
  return cast<RankedTensorType>(tensor.value.getType()).hasStaticShape();
}

static bool isStatic(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
}

static Sizes resultSizes(Emitter &e, Operation *op) {
  Sizes sizes;
  for (int64_t size :
       cast<RankedTensorType>(op->getResult(0).getType()).getShape())
    sizes.push_back(e.getIndexAttr(size));
  return sizes;
}

/// ceil(a / b) of what isn't negative, or is to be 0 then.
static Value ceilDiv(Emitter &e, Value a, int64_t b) {
  Value bounded = e.maxIndex(a, e.index(0));
  if (b == 1)
    return bounded;
  return e.floorDivIndex(e.addIndex(bounded, e.index(b - 1)), e.index(b));
}

static Span rangeOf(Emitter &e, const WindowSizes &window, size_t axis,
                    Value place) {
  int64_t kernel = *e.constant(window.kernel[axis]),
          input = *e.constant(window.input[axis]),
          pad = *e.constant(window.padsBegin[axis]),
          output = *e.constant(window.output[axis]),
          stride = window.strides[axis], dilation = window.dilations[axis];
  Span range;
  range.dilation = dilation;
  range.start = e.subIndex(e.mulIndex(place, e.index(stride)), e.index(pad));
  range.from = e.index(0);
  range.to = e.index(kernel);
  if (pad > 0)
    range.from = ceilDiv(e, e.subIndex(e.index(0), range.start), dilation);
  if ((output - 1) * stride - pad + (kernel - 1) * dilation >= input)
    range.to =
        e.minIndex(range.to, ceilDiv(e, e.subIndex(e.index(input), range.start),
                                     dilation));
  return range;
}

/// Loops over the kernel's places that lie in the image: `body` gets them, and
/// those of the image.
static Value
overWindow(Emitter &e, ArrayRef<Span> ranges, Value carried,
           function_ref<Value(ArrayRef<Value>, ArrayRef<Value>, Value)> body) {
  SmallVector<Value> kernel, image;
  std::function<Value(size_t, Value)> nest = [&](size_t axis,
                                                 Value value) -> Value {
    if (axis == ranges.size())
      return body(kernel, image, value);
    const Span &range = ranges[axis];
    auto inside = [&](Value place, ValueRange values) {
      kernel.push_back(place);
      image.push_back(
          e.addIndex(range.start, e.mulIndex(place, e.index(range.dilation))));
      Value next = nest(axis + 1, values[0]);
      kernel.pop_back();
      image.pop_back();
      return SmallVector<Value>{next};
    };
    if (getConstantIntValue(range.from) == 0 &&
        getConstantIntValue(range.to) == 1)
      return inside(e.index(0), value)[0];
    return loop(e, range.from, range.to, value, inside)[0];
  };
  return nest(0, carried);
}

static SmallVector<Span> rangesOf(Emitter &e, const WindowSizes &window,
                                  ArrayRef<Value> places) {
  SmallVector<Span> ranges;
  for (size_t i = 0; i < window.getRank(); ++i)
    ranges.push_back(rangeOf(e, window, i, places[i]));
  return ranges;
}

/// A constant with its axes in another order. One of equal elements, as means
/// have, has no bytes to be moved.
static Tensor turned(Emitter &e, Tensor tensor, ArrayRef<int64_t> order) {
  DenseElementsAttr elements;
  if (!matchPattern(tensor.value, m_Constant(&elements)) || !elements.isSplat())
    return transposeFolded(e, tensor, order);
  SmallVector<int64_t> shape;
  for (int64_t axis : order)
    shape.push_back(tensor.shape()[axis]);
  auto type = RankedTensorType::get(shape, elements.getElementType());
  return {arith::ConstantOp::create(e, elements.resizeSplat(type)),
          tensor.elementType};
}

/// sum + a * b in `i32`.
static Value addProduct(Emitter &e, Value sum, Scalar a, Scalar b) {
  Type i32 = e.getI32Type();
  Value product =
      arith::MulIOp::create(e, e.cast(a, i32).value, e.cast(b, i32).value);
  return arith::AddIOp::create(e, sum, product);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

struct BareConvInteger : OpLowering<onnx::ConvIntegerOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConvIntegerOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], w = operands[1];
    if (operands[2] || operands[3] || !isStatic(x) || !isStatic(w) ||
        !isStatic(op))
      return failure();
    int64_t rank = x.rank() - 2, group = op.getGroup();
    int64_t depth = w.shape()[1], outputs = w.shape()[0] / group;
    Sizes kernel = e.sizes(w);
    kernel.erase(kernel.begin(), kernel.begin() + 2);
    WindowSizes window = getWindowSizes(e, op, x, kernel);
    // What is read one after the other lies side by side: the channels of a
    // place, or those of neighbouring outputs if each has a channel of its own.
    SmallVector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 2);
    order.insert(depth > 1 ? order.begin() : order.end(), 0);
    order.push_back(1);
    Tensor weight = turned(e, w, order);
    View image(x);
    Tensor y =
        e.generate(resultSizes(e, op), e.getI32Type(), [&](ArrayRef<Value> at) {
          Value out = at[1], zero = e.index(0);
          Value first = zero;
          if (group > 1)
            first = e.mulIndex(e.floorDivIndex(out, e.index(outputs)),
                               e.index(depth));
          auto add = [&](ArrayRef<Value> places, ArrayRef<Value> from,
                         Value channel, Value sum) {
            SmallVector<Value> xAt = {at[0], e.addIndex(first, channel)}, wAt;
            xAt.append(from.begin(), from.end());
            if (depth > 1)
              wAt.push_back(out);
            wAt.append(places.begin(), places.end());
            wAt.push_back(depth > 1 ? channel : out);
            if (depth == 1)
              wAt.push_back(zero);
            return addProduct(e, sum, image.read(e, xAt), e.read(weight, wAt));
          };
          Value none = arith::ConstantIntOp::create(e, 0, 32);
          Value sum = overWindow(
              e, rangesOf(e, window, at.drop_front(2)), none,
              [&](ArrayRef<Value> places, ArrayRef<Value> from, Value before) {
                if (depth == 1)
                  return add(places, from, zero, before);
                return loop(e, zero, e.index(depth), before,
                            [&](Value channel, ValueRange sums) {
                              return SmallVector<Value>{
                                  add(places, from, channel, sums[0])};
                            })[0];
              });
          return Scalar{sum, e.getI32Type()};
        });
    return SmallVector<Value>{y.value};
  }
};

struct BareMatMulInteger : OpLowering<onnx::MatMulIntegerOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MatMulIntegerOp op, Operands operands,
                Emitter &e) const override {
    Tensor a = operands[0], b = operands[1];
    if (operands[2] || operands[3] || !isStatic(a) || !isStatic(b) ||
        !isStatic(op))
      return failure();
    int64_t depth = a.shape().back();
    bool hasRow = a.rank() > 1, hasColumn = b.rank() > 1;
    // A constant matrix gets its columns side by side.
    ElementsAttr constant;
    bool isTurned = hasColumn && matchPattern(b.value, m_Constant(&constant));
    if (isTurned) {
      SmallVector<int64_t> order(b.rank());
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[b.rank() - 2], order[b.rank() - 1]);
      b = turned(e, b, order);
    }
    View left(a), right(b);
    Tensor y =
        e.generate(resultSizes(e, op), e.getI32Type(), [&](ArrayRef<Value> at) {
          ArrayRef<Value> batch = at.drop_back(hasRow + hasColumn);
          // Leading indices; a dimension of 1 is repeated.
          auto leading = [&](Tensor t, int64_t count) {
            SmallVector<Value> indices;
            for (int64_t i = 0; i < count; ++i)
              indices.push_back(t.shape()[i] == 1
                                    ? e.index(0)
                                    : batch[batch.size() - count + i]);
            return indices;
          };
          SmallVector<Value> aLeading =
              leading(a, std::max<int64_t>(a.rank() - 2, 0));
          SmallVector<Value> bLeading =
              leading(b, std::max<int64_t>(b.rank() - 2, 0));
          Value none = arith::ConstantIntOp::create(e, 0, 32);
          Value sum = loop(
              e, e.index(0), e.index(depth), none,
              [&](Value k, ValueRange sums) {
                SmallVector<Value> aAt = aLeading, bAt = bLeading;
                if (hasRow)
                  aAt.push_back(at[batch.size()]);
                aAt.push_back(k);
                bAt.push_back(k);
                if (hasColumn)
                  bAt.insert(isTurned ? bAt.end() - 1 : bAt.end(), at.back());
                return SmallVector<Value>{addProduct(
                    e, sums[0], left.read(e, aAt), right.read(e, bAt))};
              })[0];
          return Scalar{sum, e.getI32Type()};
        });
    return SmallVector<Value>{y.value};
  }
};

//===----------------------------------------------------------------------===//
// Pools and tables
//===----------------------------------------------------------------------===//

struct BareMaxPool : OpLowering<onnx::MaxPoolOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MaxPoolOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    if (!isa<NoneType>(op.getIndices().getType()) || !isStatic(x) ||
        !isStatic(op))
      return failure();
    WindowSizes window = getWindowSizes(e, op, x);
    View image(x);
    Type type = x.elementType;
    Tensor y = e.generate(resultSizes(e, op), type, [&](ArrayRef<Value> at) {
      Value best = overWindow(
          e, rangesOf(e, window, at.drop_front(2)), e.lowest(type).value,
          [&](ArrayRef<Value>, ArrayRef<Value> from, Value before) {
            SmallVector<Value> xAt = {at[0], at[1]};
            xAt.append(from.begin(), from.end());
            return e.max({before, type}, image.read(e, xAt)).value;
          });
      return Scalar{best, type};
    });
    return SmallVector<Value>{y.value};
  }
};

/// A table with an entry for every number of 8 or 16 bits: no place lies
/// outside of it, so nothing is checked, and negative ones count from its end
/// without a branch.
struct BareTable : OpLowering<onnx::GatherOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GatherOp op, Operands operands,
                Emitter &e) const override {
    Tensor table = operands[0];
    auto cast = op.getIndices().getDefiningOp<onnx::CastOp>();
    auto numbers = cast ? dyn_cast<RankedTensorType>(cast.getInput().getType())
                        : RankedTensorType();
    if (!numbers || !numbers.getElementType().isSignlessInteger() ||
        table.rank() != 1)
      return failure();
    unsigned bits = numbers.getElementType().getIntOrFloatBitWidth();
    if ((bits != 8 && bits != 16) || table.shape()[0] != int64_t(1) << bits)
      return failure();
    Tensor places = operands[1];
    Type type = table.elementType;
    Tensor y = e.map({places}, type, [&](ArrayRef<Scalar> in) {
      Value number =
          arith::TruncIOp::create(e, e.getIntegerType(bits), in[0].value);
      Value place = arith::IndexCastUIOp::create(e, e.getIndexType(), number);
      return e.read(table, {place});
    });
    return SmallVector<Value>{y.value};
  }
};

} // namespace

void onnxquant::lowering::addBareLowerings(RewritePatternSet &patterns,
                                           const StorageTypeConverter &types) {
  patterns.add<BareConvInteger, BareMatMulInteger, BareMaxPool, BareTable>(
      types, patterns.getContext(), PatternBenefit(bareBenefit));
}
