// Sizes and paddings of windows, and loops over them.

#include "WindowSupport.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant::lowering;
namespace window = onnxquant::onnx::window;

/// More written out steps than these don't fit in registers.
static constexpr int64_t maxPlaces = 9;

/// Rounds a quotient of sizes up.
static OpFoldResult ceilDiv(Emitter &e, OpFoldResult a, int64_t b) {
  return e.floorDivSize(e.addSize(a, e.getIndexAttr(b - 1)), e.getIndexAttr(b));
}

/// How far the last of `count` windows reaches.
static OpFoldResult getReach(Emitter &e, OpFoldResult count, int64_t stride,
                             OpFoldResult extent) {
  OpFoldResult last = e.subSize(count, e.getIndexAttr(1));
  return e.addSize(e.mulSize(last, e.getIndexAttr(stride)), extent);
}

/// Appends the output, padding and overhang of dimension `i`.
static void placeWindows(Emitter &e, const window::Window &attributes, size_t i,
                         WindowSizes &sizes) {
  OpFoldResult zero = e.getIndexAttr(0), one = e.getIndexAttr(1);
  OpFoldResult input = sizes.input[i];
  int64_t stride = sizes.strides[i];
  OpFoldResult extent = e.addSize(e.mulSize(e.subSize(sizes.kernel[i], one),
                                            e.getIndexAttr(sizes.dilations[i])),
                                  one);
  window::AutoPad mode = attributes.autoPad;
  if (mode == window::AutoPad::SameUpper ||
      mode == window::AutoPad::SameLower) {
    OpFoldResult output = ceilDiv(e, input, stride);
    OpFoldResult total =
        maxSize(e, zero, e.subSize(getReach(e, output, stride, extent), input));
    OpFoldResult less = e.floorDivSize(total, e.getIndexAttr(2));
    OpFoldResult more = e.subSize(total, less);
    bool upper = mode == window::AutoPad::SameUpper;
    sizes.output.push_back(output);
    sizes.padsBegin.push_back(upper ? less : more);
    sizes.padsEnd.push_back(upper ? more : less);
    sizes.overhang.push_back(zero);
    return;
  }
  OpFoldResult begin = e.getIndexAttr(attributes.padsBegin[i]);
  OpFoldResult end = e.getIndexAttr(attributes.padsEnd[i]);
  OpFoldResult padded = e.addSize(e.addSize(input, begin), end);
  checkAtLeast(e, padded, extent, "the window is larger than the padded input");
  OpFoldResult room = e.subSize(padded, extent);
  OpFoldResult overhang = zero, output;
  if (attributes.ceilMode) {
    output = minSize(e, e.addSize(ceilDiv(e, room, stride), one),
                     ceilDiv(e, e.addSize(input, begin), stride));
    overhang = maxSize(e, zero,
                       e.subSize(getReach(e, output, stride, extent), padded));
  } else {
    output = e.addSize(e.floorDivSize(room, e.getIndexAttr(stride)), one);
  }
  sizes.output.push_back(output);
  sizes.padsBegin.push_back(begin);
  sizes.padsEnd.push_back(end);
  sizes.overhang.push_back(overhang);
}

WindowSizes onnxquant::lowering::getWindowSizes(Emitter &e, Operation *op,
                                                Tensor x,
                                                ArrayRef<OpFoldResult> kernel) {
  size_t rank = x.rank() - 2;
  SmallVector<onnx::Dim> dims(rank, onnx::Dim(1));
  window::Window attributes = window::getWindow(op, rank, dims);
  bool hasKernel = op->hasAttr("kernel_shape") &&
                   !op->getAttrOfType<ArrayAttr>("kernel_shape").empty();
  WindowSizes sizes;
  sizes.strides = attributes.strides;
  sizes.dilations = attributes.dilations;
  for (size_t i = 0; i < rank; ++i) {
    sizes.input.push_back(e.size(x, i + 2));
    OpFoldResult known;
    if (hasKernel)
      known = e.getIndexAttr(*attributes.kernel[i].getConstant());
    if (known && !kernel.empty())
      checkEqual(e, kernel[i], known, "kernel_shape is not the weight's");
    sizes.kernel.push_back(known ? known : kernel[i]);
    placeWindows(e, attributes, i, sizes);
  }
  return sizes;
}

WindowSizes onnxquant::lowering::getPointwise(Emitter &e,
                                              ArrayRef<OpFoldResult> sizes) {
  WindowSizes window;
  window.input.assign(sizes.begin(), sizes.end());
  window.output = window.input;
  window.kernel.assign(sizes.size(), e.getIndexAttr(1));
  window.padsBegin.assign(sizes.size(), e.getIndexAttr(0));
  window.padsEnd = window.overhang = window.padsBegin;
  window.strides.assign(sizes.size(), 1);
  window.dilations = window.strides;
  return window;
}

Tensor onnxquant::lowering::padForWindow(
    Emitter &e, Tensor x, const WindowSizes &window, Scalar value,
    function_ref<Scalar(Scalar, ArrayRef<Value>)> convert) {
  Sizes offsets(2, e.getIndexAttr(0)), sizes = e.sizes(x);
  bool isPadded = false;
  for (size_t i = 0; i < window.getRank(); ++i) {
    offsets.push_back(window.padsBegin[i]);
    for (OpFoldResult pad :
         {window.padsBegin[i], window.padsEnd[i], window.overhang[i]}) {
      isPadded |= e.constant(pad) != 0;
      sizes[i + 2] = e.addSize(sizes[i + 2], pad);
    }
  }
  auto body = [&](Scalar element, ArrayRef<Value> indices) {
    return convert ? convert(element, indices) : element;
  };
  if (!isPadded)
    return convert ? writeOver(e, x, e.empty(sizes, value.elementType), body)
                   : x;
  Tensor padded = e.filled(sizes, value);
  Tensor inside = slice(e, padded, offsets, e.sizes(x));
  return insertSlice(e, writeOver(e, x, inside, body), padded, offsets);
}

//===----------------------------------------------------------------------===//
// Loops over kernels
//===----------------------------------------------------------------------===//

KernelUnroll onnxquant::lowering::unrollKernel(Emitter &e,
                                               ArrayRef<OpFoldResult> kernel) {
  KernelUnroll unroll = {kernel.size(), {{}}};
  while (unroll.firstUnrolled > 0) {
    std::optional<int64_t> size = e.constant(kernel[unroll.firstUnrolled - 1]);
    if (!size || *size < 1 ||
        *size * static_cast<int64_t>(unroll.places.size()) > maxPlaces)
      break;
    SmallVector<SmallVector<int64_t>> places;
    for (int64_t k = 0; k < *size; ++k)
      for (ArrayRef<int64_t> inner : unroll.places) {
        places.emplace_back(1, k);
        places.back().append(inner.begin(), inner.end());
      }
    unroll.places = places;
    --unroll.firstUnrolled;
  }
  return unroll;
}

AffineExpr onnxquant::lowering::getWindowExpr(AffineExpr place,
                                              AffineExpr kernel, int64_t stride,
                                              int64_t dilation) {
  return kernel ? place * stride + kernel * dilation : place;
}

Tensor onnxquant::lowering::sliceForKernel(Emitter &e, Tensor x,
                                           const WindowSizes &window,
                                           const KernelUnroll &unroll,
                                           ArrayRef<int64_t> place) {
  if (place.empty())
    return x;
  int64_t leading = x.rank() - window.getRank();
  Sizes offsets(x.rank(), e.getIndexAttr(0)), sizes = e.sizes(x);
  SmallVector<int64_t> strides(x.rank(), 1);
  for (size_t i = unroll.firstUnrolled; i < window.getRank(); ++i) {
    offsets[leading + i] =
        e.getIndexAttr(place[i - unroll.firstUnrolled] * window.dilations[i]);
    sizes[leading + i] = window.output[i];
    strides[leading + i] = window.strides[i];
  }
  return slice(e, x, offsets, sizes, strides);
}

Tensor
onnxquant::lowering::reduceWindows(Emitter &e, Tensor x,
                                   const WindowSizes &window, Scalar init,
                                   function_ref<Scalar(Scalar, Scalar)> body) {
  size_t rank = window.getRank();
  KernelUnroll unroll = unrollKernel(e, window.kernel);
  // Loops: N, C, the places but the last, the kernel, the last place.
  size_t numLoops = 2 + rank + unroll.firstUnrolled;
  SmallVector<AffineExpr> places, kernel(rank);
  for (size_t i = 0; i + 1 < rank; ++i)
    places.push_back(e.getAffineDimExpr(2 + i));
  places.push_back(e.getAffineDimExpr(numLoops - 1));
  for (size_t i = 0; i < unroll.firstUnrolled; ++i)
    kernel[i] = e.getAffineDimExpr(1 + rank + i);

  SmallVector<AffineExpr> from = {e.getAffineDimExpr(0), e.getAffineDimExpr(1)};
  SmallVector<AffineExpr> to = from;
  for (size_t i = 0; i < rank; ++i)
    from.push_back(getWindowExpr(places[i], kernel[i], window.strides[i],
                                 window.dilations[i]));
  to.append(places);
  SmallVector<Tensor> inputs;
  SmallVector<AffineMap> maps;
  for (ArrayRef<int64_t> place : unroll.places) {
    inputs.push_back(sliceForKernel(e, x, window, unroll, place));
    maps.push_back(AffineMap::get(numLoops, 0, from, e.getContext()));
  }
  if (unroll.firstUnrolled > 0) {
    // Tells how long the kernel's loops are; its elements are never read.
    Sizes sizes(window.kernel.begin(),
                window.kernel.begin() + unroll.firstUnrolled);
    inputs.push_back(e.empty(sizes, x.elementType));
    maps.push_back(AffineMap::get(
        numLoops, 0, ArrayRef(kernel).take_front(unroll.firstUnrolled),
        e.getContext()));
  }
  maps.push_back(AffineMap::get(numLoops, 0, to, e.getContext()));

  Sizes sizes = {e.size(x, 0), e.size(x, 1)};
  sizes.append(window.output.begin(), window.output.end());
  return emitLoops(e, inputs, e.filled(sizes, init), maps,
                   [&](ArrayRef<Scalar> elements, Scalar accumulator) {
                     for (Scalar element :
                          elements.take_front(unroll.places.size()))
                       accumulator = body(element, accumulator);
                     return accumulator;
                   });
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

Scalar onnxquant::lowering::interpolate(Emitter &e, Tensor image,
                                        ArrayRef<Value> leading,
                                        ArrayRef<Scalar> place) {
  Type type = place[0].elementType;
  Scalar one = e.number(1, type);
  struct Axis {
    Value low, size;
    Scalar fraction;
  };
  SmallVector<Axis> axes;
  for (auto [i, position] : llvm::enumerate(place)) {
    Value size = e.asValue(e.size(image, leading.size() + i));
    Scalar floor = e.math<math::FloorOp>(position);
    axes.push_back(
        {clampedIndex(e, floor, size), size, e.sub(position, floor)});
  }
  Scalar sum = e.number(0, type);
  for (unsigned corner = 0; corner < 1u << place.size(); ++corner) {
    Indices indices(leading);
    Scalar weight = one;
    Value isInside = arith::ConstantIntOp::create(e, 1, 1);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      bool high = corner >> (place.size() - 1 - i) & 1;
      Value index = high ? e.addIndex(axis.low, e.index(1)) : axis.low;
      Value fits = e.createOrFold<arith::AndIOp>(
          e.cmpIndex(arith::CmpIPredicate::sge, index, e.index(0)),
          e.cmpIndex(arith::CmpIPredicate::slt, index, axis.size));
      isInside = e.createOrFold<arith::AndIOp>(isInside, fits);
      indices.push_back(index);
      weight = e.mul(weight, high ? axis.fraction : e.sub(one, axis.fraction));
    }
    Scalar zero = e.number(0, type);
    Value element = branch(
        e, isInside, zero.value.getType(),
        [&] {
          return SmallVector<Value>{
              e.mul(e.cast(e.read(image, indices), type), weight).value};
        },
        [&] { return SmallVector<Value>{zero.value}; })[0];
    sum = e.add(sum, {element, type});
  }
  return sum;
}

Value onnxquant::lowering::clampedIndex(Emitter &e, Scalar x, Value size) {
  Type type = x.value.getType();
  Value limit =
      arith::SIToFPOp::create(e, type, e.toI64(e.addIndex(size, e.index(1))));
  Value least = e.number(-2, x.elementType).value;
  // A number, so that NaN becomes the least.
  Value clamped = arith::MinNumFOp::create(
      e, arith::MaxNumFOp::create(e, x.value, least), limit);
  return e.toIndex(arith::FPToSIOp::create(e, e.getI64Type(), clamped));
}
