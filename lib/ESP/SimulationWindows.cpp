// Pools, reductions, Resize, and what moves places of an image. Activations are
// NHWC (NWC), so channels are brought to the second axis where ONNX has them
// there.

#include "GraphPieces.h"
#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

Term Simulation::withBatch(const Term &x, int64_t windowRank) {
  if (x.rank() != windowRank + 1)
    return x;
  Dims dims = x.dims;
  dims.insert(dims.begin(), 1);
  return graph.reshape(x, dims);
}

llvm::Expected<Dims> Simulation::padsOf(const Term &x, ArrayRef<int64_t> kernel,
                                        ArrayRef<int64_t> strides,
                                        ArrayRef<int64_t> dilations,
                                        const Result &y) {
  size_t rank = kernel.size();
  // Of a window; what is more is no model's.
  constexpr int64_t mostPlaces = 1 << 24;
  Dims pads = node->getInts("pads");
  pads.resize(2 * rank);
  std::string mode = node->getString("auto_pad", "NOTSET");
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = x.dims[1 + i];
    for (int64_t number : {strides[i], dilations[i], kernel[i]})
      if (number < 1 || number > mostPlaces)
        return fail("has a kernel, stride or dilation of " +
                    llvm::Twine(number));
    int64_t extent = dilations[i] * (kernel[i] - 1) + 1;
    if (mode.rfind("SAME", 0) == 0) {
      int64_t places = (size + strides[i] - 1) / strides[i];
      int64_t all =
          std::max<int64_t>((places - 1) * strides[i] + extent - size, 0);
      pads[i] = mode == "SAME_LOWER" ? all - all / 2 : all / 2;
      pads[rank + i] = all - pads[i];
    }
    // Rounding up makes windows that begin inside and end beyond the padding.
    if (!isStreaming && y.dims &&
        y.dims->size() + (y.dims->size() == rank + 1) == rank + 2) {
      int64_t places = (*y.dims)[y.dims->size() - rank - 1 + i];
      int64_t missing = (places - 1) * strides[i] + extent -
                        (size + pads[i] + pads[rank + i]);
      if (node->getInt("ceil_mode", 0) && missing > 0 && missing < strides[i])
        pads[rank + i] += missing;
    }
    if (pads[i] < 0 || pads[rank + i] < 0 || pads[i] > mostPlaces ||
        pads[rank + i] > mostPlaces || size + pads[i] + pads[rank + i] < extent)
      return fail("has a window that is larger than its input");
  }
  return pads;
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

static Dims pooledDims(const Term &x, ArrayRef<int64_t> kernel,
                       ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                       ArrayRef<int64_t> dilations) {
  Dims out = {x.dims[0], x.dims.back()};
  for (size_t i = 0; i < kernel.size(); ++i)
    out.push_back((x.dims[1 + i] + pads[i] + pads[kernel.size() + i] -
                   dilations[i] * (kernel[i] - 1) - 1) /
                      strides[i] +
                  1);
  return out;
}

llvm::Error Simulation::averagePool() {
  Operand x = operand(0);
  Result y = result();
  Dims kernel = node->getInts("kernel_shape"),
       strides = node->getInts("strides");
  strides.resize(kernel.size(), 1);
  Dims ones(kernel.size(), 1);
  Term input = withBatch(x.term, kernel.size());
  if (kernel.empty() || input.rank() != int64_t(kernel.size()) + 2)
    return fail("expects a kernel and an input of two dimensions more");
  auto pads = padsOf(input, kernel, strides, ones, y);
  if (!pads)
    return pads.takeError();
  Dims out = pooledDims(input, kernel, strides, *pads, ones);
  if (!x.isQuantized()) {
    Term pooled =
        graph.node("AveragePool", {graph.channelsSecond(input)}, Float, out,
                   {{"kernel_shape", kernel},
                    {"strides", strides},
                    {"pads", *pads},
                    {"count_include_pad", int64_t(1)}});
    return finish(graph.channelsLast(pooled));
  }
  int64_t channels = input.dims.back(), area = elementCount(kernel);
  Dims filter = {channels, 1};
  filter.insert(filter.end(), kernel.begin(), kernel.end());
  if (elementCount(filter) > mostElements)
    return fail("has a window of more elements than any chip holds");
  Term weights = graph.ints(Int8, filter, Dims(channels * area, 1));
  Settings settings = {{"group", channels},
                       {"kernel_shape", kernel},
                       {"pads", *pads},
                       {"strides", strides}};
  auto sum = [&](const Term &bytes) {
    return graph.node("ConvInteger", {graph.channelsSecond(bytes), weights},
                      Int32, out, settings);
  };
  Term total;
  if (x.type() == Int8) {
    total = sum(input);
  } else {
    auto [high, low] = halves(input);
    total = graph.binary(
        "Add", graph.binary("Mul", sum(high), graph.number(Int32, 256)),
        sum(low));
  }
  if (options.legacy) {
    // Padding doesn't count.
    Dims places(out.begin() + 2, out.end()), areas;
    places.insert(places.begin(), 1);
    places.push_back(1);
    int64_t count = 1;
    for (int64_t dim : places)
      count *= dim;
    for (int64_t i = 0; i < count; ++i) {
      int64_t inside = 1, rest = i;
      for (size_t axis = kernel.size(); axis-- > 0;) {
        int64_t at = rest % out[2 + axis] * strides[axis] - (*pads)[axis];
        rest /= out[2 + axis];
        inside *= std::min(at + kernel[axis], input.dims[1 + axis]) -
                  std::max<int64_t>(at, 0);
      }
      areas.push_back(inside);
    }
    return legacyMean(graph.channelsLast(total), areas, places, x, y);
  }
  float scale = std::ldexp(1.0f, x.exponent()) * (1.0f / area);
  scale *= std::ldexp(1.0f, -y.exponent);
  Term mean = graph.binary("Mul", graph.cast(graph.channelsLast(total), Float),
                           graph.number(Float, scale));
  return finish(saturated(rounded(mean), y.type));
}

llvm::Error Simulation::globalAveragePool() {
  Operand x = operand(0);
  Result y = result();
  if (x.term.rank() < 3)
    return fail("expects an input with a window");
  Dims axes, out = x.term.dims;
  int64_t area = 1;
  for (int64_t i = 1; i + 1 < x.term.rank(); ++i) {
    axes.push_back(i);
    area *= out[i];
    out[i] = 1;
  }
  Term list = graph.ints(Int64, {int64_t(axes.size())}, axes);
  if (!x.isQuantized())
    return finish(graph.node("ReduceMean", {x.term, list}, Float, out));
  Term total =
      graph.node("ReduceSum", {graph.cast(x.term, Int32), list}, Int32, out);
  if (options.legacy)
    return legacyMean(total, {area}, {}, x, y);
  float scale = std::ldexp(1.0f, x.exponent()) * (1.0f / area);
  scale *= std::ldexp(1.0f, -y.exponent);
  Term mean =
      graph.binary("Mul", graph.cast(total, Float), graph.number(Float, scale));
  return finish(saturated(rounded(mean), y.type));
}

llvm::Error Simulation::maxPool() {
  Operand x = operand(0);
  Dims kernel = node->getInts("kernel_shape"),
       strides = node->getInts("strides"),
       dilations = node->getInts("dilations");
  strides.resize(kernel.size(), 1);
  dilations.resize(kernel.size(), 1);
  Term input = withBatch(x.term, kernel.size());
  if (kernel.empty() || input.rank() != int64_t(kernel.size()) + 2)
    return fail("expects a kernel and an input of two dimensions more");
  auto pads = padsOf(input, kernel, strides, dilations, result());
  if (!pads)
    return pads.takeError();
  // ONNX has no MaxPool of 16 bits.
  int32_t type = x.type() == Int16 ? Float : x.type();
  Term pooled =
      graph.node("MaxPool", {graph.channelsSecond(graph.cast(input, type))},
                 type, pooledDims(input, kernel, strides, *pads, dilations),
                 {{"kernel_shape", kernel},
                  {"strides", strides},
                  {"dilations", dilations},
                  {"pads", *pads}});
  return finish(graph.cast(graph.channelsLast(pooled), x.type()));
}

llvm::Error Simulation::reduce() {
  Operand x = operand(0);
  Result y = result();
  std::string op = node->opType;
  Dims axes;
  if (op == "GlobalMaxPool") {
    op = "ReduceMax";
    for (int64_t i = 1; i + 1 < x.term.rank(); ++i)
      axes.push_back(i);
  } else if (auto given = integers(1, "axes")) {
    axes = *given;
  }
  if (axes.empty() && node->getInt("noop_with_empty_axes", 0))
    return finish(x.term);
  if (axes.empty())
    for (int64_t i = 0; i < x.term.rank(); ++i)
      axes.push_back(i);
  bool keeps = node->getInt("keepdims", 1) != 0;
  Dims out;
  int64_t count = 1;
  for (int64_t i = 0; i < x.term.rank(); ++i) {
    bool isReduced = llvm::any_of(
        axes, [&](int64_t axis) { return axisOf(axis, x.term.rank()) == i; });
    if (isReduced)
      count *= x.term.dims[i];
    if (!isReduced || keeps)
      out.push_back(isReduced ? 1 : x.term.dims[i]);
  }
  auto over = [&](const Term &term) {
    return graph.node(op,
                      {term, graph.ints(Int64, {int64_t(axes.size())}, axes)},
                      term.type, out, {{"keepdims", int64_t(keeps)}});
  };
  if (!x.isQuantized())
    return finish(over(x.term));
  if (op == "ReduceMax" || op == "ReduceMin") {
    auto moved = requantized(over(graph.cast(x.term, Int32)), x.exponent(),
                             y.exponent, y.type);
    return moved ? finish(*moved) : moved.takeError();
  }
  if (op != "ReduceSum" && op != "ReduceMean")
    return finish(quantized(over(real(x)), y.exponent, y.type));
  bool isMean = op == "ReduceMean";
  op = "ReduceSum";
  Term total = graph.cast(
      over(graph.cast(x.term, x.type() == Int8 ? Int32 : Int64)), Float);
  total = graph.binary("Mul", total,
                       graph.number(Float, std::ldexp(1.0, x.exponent())));
  if (isMean)
    total = graph.binary("Div", total, graph.number(Float, count));
  return finish(quantized(total, y.exponent, y.type));
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

llvm::Error Simulation::resize() {
  Operand x = operand(0);
  Result y = result();
  if (!y.dims || y.dims->size() != x.term.dims.size() || x.term.rank() < 3)
    return fail("has no declared shape");
  if (y.dims->front() != x.term.dims.front() ||
      y.dims->back() != x.term.dims.back())
    return fail("changes batch or channels");
  std::string mode = node->getString("mode", "nearest");
  if (mode == "nearest")
    return nearest(x, y);
  if (mode == "linear")
    return linear(x, y);
  return fail("has the mode '" + mode + "'; nearest and linear are known");
}

llvm::Error Simulation::nearest(const Operand &x, const Result &y) {
  Term picked = x.term;
  for (int64_t axis = 1; axis + 1 < x.term.rank(); ++axis) {
    int64_t from = x.term.dims[axis], to = (*y.dims)[axis];
    if (from == to)
      continue;
    float step = static_cast<float>(from) / static_cast<float>(to);
    Dims places, dims = picked.dims;
    for (int64_t o = 0; o < to; ++o)
      places.push_back(
          std::min<int64_t>(static_cast<int64_t>(o * step), from - 1));
    dims[axis] = to;
    picked = graph.node("Gather", {picked, graph.ints(Int64, {to}, places)},
                        picked.type, dims, {{"axis", axis}});
  }
  if (!x.isQuantized())
    return finish(picked);
  auto moved = requantized(picked, x.exponent(), y.exponent, y.type);
  return moved ? finish(*moved) : moved.takeError();
}

llvm::Error Simulation::linear(const Operand &x, const Result &y) {
  bool aligned = node->getString("coordinate_transformation_mode",
                                 "half_pixel") == "align_corners";
  Term value = real(x);
  // The last axis of the image first.
  for (int64_t axis = x.term.rank() - 2; axis > 0; --axis) {
    int64_t from = x.term.dims[axis], to = (*y.dims)[axis];
    if (from < 2)
      return fail("interpolates along a dimension of 1");
    float step = aligned ? to > 1 ? float(from - 1) / float(to - 1) : 0.0f
                         : float(from) / float(to);
    Dims left, right, dims = value.dims;
    std::vector<float> near, far;
    for (int64_t o = 0; o < to; ++o) {
      float place = aligned ? o * step : (o + 0.5f) * step - 0.5f;
      int64_t first = static_cast<int64_t>(std::floor(place));
      float share = place - first;
      if (first < 0)
        first = 0, share = 0;
      if (first >= from - 1)
        first = from - 2, share = 1;
      left.push_back(first);
      right.push_back(first + 1);
      near.push_back(1.0f - share);
      far.push_back(share);
    }
    dims[axis] = to;
    Dims along(x.term.rank() - axis, 1);
    along[0] = to;
    auto part = [&](const Dims &places, ArrayRef<float> shares) {
      Term taken =
          graph.node("Gather", {value, graph.ints(Int64, {to}, places)}, Float,
                     dims, {{"axis", axis}});
      return graph.binary("Mul", taken, graph.floats(along, shares));
    };
    value = graph.binary("Add", part(left, near), part(right, far));
  }
  return finish(y.isQuantized() ? quantized(value, y.exponent, y.type) : value);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

llvm::Error Simulation::depthAndSpace() {
  Operand x = operand(0);
  int64_t block = node->getInt("blocksize", 1);
  Term input = withBatch(x.term, 2);
  if (block < 1 || block > (1 << 12) || input.rank() != 4)
    return fail("expects a block and an image");
  Dims out = {input.dims[0], input.dims[3], input.dims[1], input.dims[2]};
  bool toSpace = node->opType == "DepthToSpace";
  if (toSpace ? out[1] % (block * block) : out[2] % block || out[3] % block)
    return fail("expects sizes that its block divides");
  out[1] = toSpace ? out[1] / (block * block) : out[1] * block * block;
  for (int i : {2, 3})
    out[i] = toSpace ? out[i] * block : out[i] / block;
  Settings settings = {{"blocksize", block}};
  if (toSpace)
    settings.emplace_back("mode", node->getString("mode", "DCR"));
  Term moved = graph.node(node->opType, {graph.channelsSecond(input)},
                          input.type, out, settings);
  return finish(graph.channelsLast(moved));
}

llvm::Error Simulation::insertZeros() {
  Term x = operand(0).term;
  Dims strides = node->getInts("stride"),
       extra = node->getInts("output_padding");
  int64_t rank = x.rank() - 2;
  if (rank < 1 || strides.empty())
    return fail("expects strides and an input with a window");
  auto isWrong = [](int64_t least) {
    return [least](int64_t number) {
      return number < least || number > mostElements;
    };
  };
  if (llvm::any_of(strides, isWrong(1)) || llvm::any_of(extra, isWrong(0)) ||
      !result().dims)
    return fail("has a stride below 1, or no declared shape");
  return finish(esp::insertZeros(graph, x, strides, extra));
}
