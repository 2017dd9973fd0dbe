// Convolutions and matrix products over operands that were brought to the
// accumulator's type.
//
// What is summed over stands outside the innermost loop, which runs over
// neighbouring outputs and adds several products to each: the sums stay in the
// cache, a factor is shared by the whole row, and no order of additions
// changes.

#include "ContractionSupport.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant::lowering;

/// How many products one step of the innermost loop adds at most.
static constexpr int64_t maxProducts = 9;
/// A row of fewer outputs is too short for vectors.
static constexpr int64_t shortRow = 16;

Type onnxquant::lowering::accumulatorTypeFor(Type elementType) {
  if (isFloat(elementType) && !elementType.isF64())
    return Float32Type::get(elementType.getContext());
  return elementType;
}

Tensor onnxquant::lowering::loaded(Emitter &e, Tensor tensor,
                                   Type accumulatorType, const Loader &load) {
  if (!load)
    return castTo(e, tensor, accumulatorType);
  return writeOver(e, tensor, e.empty(e.sizes(tensor), accumulatorType),
                   [&](Scalar element, ArrayRef<Value> indices) {
                     return load(e, element, indices);
                   });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static void checkChannels(Emitter &e, Tensor x, Tensor w, int64_t group,
                          Tensor bias) {
  OpFoldResult groups = e.getIndexAttr(group);
  checkEqual(e, e.size(x, 1), e.mulSize(e.size(w, 1), groups),
             "the input's channels are not the weight's times group");
  OpFoldResult outputs = e.size(w, 0);
  if (!e.constant(outputs))
    checkEqual(e, e.mulSize(e.floorDivSize(outputs, groups), groups), outputs,
               "the output channels are not a multiple of group");
  if (bias)
    checkEqual(e, e.size(bias, 0), outputs,
               "the bias does not have an element per output channel");
}

/// Whether every output reads exactly one place of every channel, its own.
static bool isPointwise(Emitter &e, const WindowSizes &window) {
  auto is = [&](ArrayRef<OpFoldResult> sizes, int64_t value) {
    return llvm::all_of(
        sizes, [&](OpFoldResult size) { return e.constant(size) == value; });
  };
  return is(window.kernel, 1) && is(window.padsBegin, 0) &&
         is(window.padsEnd, 0) &&
         llvm::all_of(window.strides, [](int64_t s) { return s == 1; });
}

/// Whether the innermost loop is over output channels instead of places: if a
/// row of places is short or not contiguous.
static bool hasChannelRows(Emitter &e, const WindowSizes &window,
                           OpFoldResult channels) {
  std::optional<int64_t> known = e.constant(channels);
  std::optional<int64_t> row = e.constant(window.output.back());
  if (!known || *known < 8)
    return false;
  return (row && *row < shortRow) ||
         (window.strides.back() != 1 && *known >= shortRow);
}

namespace {
/// A convolution of x [N, G, C, spatial..] with w [G, M, C, kernel..], all of
/// one type, padding included.
struct GroupedConv {
  Emitter &e;
  Tensor x, w;
  const WindowSizes &window;
  bool channelRows;

  /// Loops, in their order.
  AffineExpr batch{}, group{}, channel{}, outChannel{};
  SmallVector<AffineExpr> places{}, kernel{};
  unsigned numLoops = 0;

  void orderLoops(size_t numKernelLoops);
  Tensor emit(Tensor out);
};
} // namespace

void GroupedConv::orderLoops(size_t numKernelLoops) {
  auto next = [&] { return e.getAffineDimExpr(numLoops++); };
  size_t rank = window.getRank();
  batch = next();
  group = next();
  for (size_t i = 0; i + 1 < rank; ++i)
    places.push_back(next());
  if (!channelRows)
    outChannel = next();
  channel = next();
  kernel.resize(rank);
  for (size_t i = 0; i < numKernelLoops; ++i)
    kernel[i] = next();
  places.push_back(next());
  if (channelRows)
    outChannel = next();
}

/// Adds the convolution to `out`: [N, G, M, places..], or [N, G, places.., M]
/// and w [G, C, kernel.., M] with channel rows.
Tensor GroupedConv::emit(Tensor out) {
  KernelUnroll unroll = unrollKernel(e, window.kernel);
  orderLoops(unroll.firstUnrolled);
  int64_t steps = findUnroll(
      e, e.size(x, 2), maxProducts / std::max<size_t>(unroll.places.size(), 1));
  int64_t wChannel = channelRows ? 1 : 2;

  SmallVector<AffineExpr> fromX = {batch, group, channel};
  SmallVector<AffineExpr> fromW = {group}, to = {batch, group};
  if (!channelRows) {
    fromW.push_back(outChannel);
    to.push_back(outChannel);
  }
  fromW.push_back(channel);
  for (size_t i = 0; i < window.getRank(); ++i) {
    fromX.push_back(getWindowExpr(places[i], kernel[i], window.strides[i],
                                  window.dilations[i]));
    fromW.push_back(kernel[i] ? kernel[i] : e.getAffineConstantExpr(0));
  }
  to.append(places);
  if (channelRows) {
    fromW.push_back(outChannel);
    to.push_back(outChannel);
  }

  SmallVector<Tensor> xs, ws;
  for (int64_t step = 0; step < steps; ++step) {
    Tensor xPart = everyNth(e, x, 2, step, steps);
    Tensor wPart = everyNth(e, w, wChannel, step, steps);
    for (ArrayRef<int64_t> place : unroll.places) {
      xs.push_back(sliceForKernel(e, xPart, window, unroll, place));
      if (place.empty()) {
        ws.push_back(wPart);
        continue;
      }
      Sizes offsets(w.rank(), e.getIndexAttr(0)), sizes = e.sizes(wPart);
      for (auto [i, k] : llvm::enumerate(place)) {
        int64_t axis = wChannel + 1 + unroll.firstUnrolled + i;
        offsets[axis] = e.getIndexAttr(k);
        sizes[axis] = e.getIndexAttr(1);
      }
      ws.push_back(slice(e, wPart, offsets, sizes));
    }
  }
  SmallVector<AffineMap> maps(
      xs.size(), AffineMap::get(numLoops, 0, fromX, e.getContext()));
  maps.append(ws.size(), AffineMap::get(numLoops, 0, fromW, e.getContext()));
  maps.push_back(AffineMap::get(numLoops, 0, to, e.getContext()));
  xs.append(ws);
  return addProducts(e, xs, out, maps);
}

/// [N, G, M, places..] with every channel's bias, or zeros.
static Tensor startSums(Emitter &e, ArrayRef<OpFoldResult> sizes, Tensor bias,
                        int64_t channelAxis, Type type) {
  if (!bias)
    return e.filled(sizes, e.integer(0, type));
  bias = splitDim(e, bias, 0, sizes[1], sizes[channelAxis]);
  SmallVector<AffineExpr> exprs = {e.getAffineDimExpr(1),
                                   e.getAffineDimExpr(channelAxis)};
  SmallVector<AffineMap> maps = {
      AffineMap::get(sizes.size(), 0, exprs, e.getContext()),
      e.getMultiDimIdentityMap(sizes.size())};
  return emitLoops(e, {bias}, e.empty(sizes, type), maps,
                   [&](ArrayRef<Scalar> elements, Scalar) {
                     return e.cast(elements[0], type);
                   });
}

/// The window, input and weight of a pointwise convolution with all places in
/// one dimension.
static WindowSizes mergePlaces(Emitter &e, Tensor &x, Tensor &w,
                               const WindowSizes &window) {
  int64_t rank = window.getRank();
  x = mergeDims(e, x, 2, rank);
  w = mergeDims(e, w, 2, rank);
  return getPointwise(e, {e.productOf(window.output)});
}

/// The convolution of operands of one type, padding included.
static Tensor convolvePadded(Emitter &e, Tensor x, Tensor w,
                             const WindowSizes &window, int64_t group,
                             Tensor bias) {
  OpFoldResult groups = e.getIndexAttr(group);
  OpFoldResult channels = e.floorDivSize(e.size(w, 0), groups);
  int64_t rank = window.getRank();
  Tensor grouped = splitDim(e, x, 1, groups, e.size(w, 1));
  Tensor weight = splitDim(e, w, 0, groups, channels);
  bool channelRows = hasChannelRows(e, window, channels);
  Sizes sizes = {e.size(x, 0), groups, channels};
  sizes.append(window.output.begin(), window.output.end());
  SmallVector<int64_t> order(3 + rank);
  std::iota(order.begin(), order.end(), 0);
  if (channelRows) {
    // Channels go last: in the weight before the loops, in the sums after.
    SmallVector<int64_t> channelsLast = {0};
    for (int64_t i = 2; i < 3 + rank; ++i)
      channelsLast.push_back(i);
    channelsLast.push_back(1);
    weight = transposeFolded(e, weight, channelsLast);
    std::rotate(sizes.begin() + 2, sizes.begin() + 3, sizes.end());
    order[2] = 2 + rank;
    for (int64_t i = 3; i < 3 + rank; ++i)
      order[i] = i - 1;
  }
  GroupedConv conv{e, grouped, weight, window, channelRows};
  Tensor sums = conv.emit(
      startSums(e, sizes, bias, channelRows ? 2 + rank : 2, x.elementType));
  if (channelRows)
    sums = e.transpose(sums, order);
  return mergeDims(e, sums, 1, 2);
}

Tensor onnxquant::lowering::convolve(Emitter &e, Tensor x, Tensor w,
                                     const WindowSizes &window, int64_t group,
                                     Type accumulatorType, Tensor bias,
                                     const Loader &loadX, const Loader &loadW) {
  checkChannels(e, x, w, group, bias);
  bool converts = loadX || x.elementType != accumulatorType;
  auto convert = [&](Scalar element, ArrayRef<Value> indices) {
    return loadX ? loadX(e, element, indices)
                 : e.cast(element, accumulatorType);
  };
  function_ref<Scalar(Scalar, ArrayRef<Value>)> none = nullptr;
  Tensor padded = padForWindow(e, x, window, e.integer(0, accumulatorType),
                               converts ? convert : none);
  Tensor weight = loaded(e, w, accumulatorType, loadW);
  std::optional<int64_t> row = e.constant(window.output.back());
  if (window.getRank() > 1 && isPointwise(e, window) && row &&
      *row < 2 * shortRow) {
    WindowSizes merged = mergePlaces(e, padded, weight, window);
    Tensor y = convolvePadded(e, padded, weight, merged, group, bias);
    Sizes sizes = {e.size(y, 0), e.size(y, 1)};
    sizes.append(window.output.begin(), window.output.end());
    return e.reshape(y, sizes);
  }
  return convolvePadded(e, padded, weight, window, group, bias);
}
