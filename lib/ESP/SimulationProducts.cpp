// Conv, Gemm and MatMul: exact sums of products, then bias and shift.
//
// Sums of int8 are those of ConvInteger and MatMulInteger. Integers of 16 bits
// are split into bytes, x = 256 * high + low, and the four products of bytes
// are joined in 64 bits, so that they run on the same kernels and nothing is
// rounded.

#include "GraphPieces.h"
#include "Simulation.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::pair<Term, Term> Simulation::halves(const Term &x) {
  Term wide = graph.cast(x, Int32);
  Term low = graph.cast(
      graph.binary("BitwiseAnd", wide, graph.number(Int32, 255)), UInt8);
  auto high = shifted(wide, {8}, 0x1p15, Rounding::Floor);
  // A shift by 8 bits is always possible.
  return {graph.cast(llvm::cantFail(std::move(high)), Int8), low};
}

Simulation::Weights Simulation::weights(ArrayRef<int64_t> values,
                                        const Dims &dims, int32_t type) {
  if (type == Int8)
    return {graph.ints(Int8, dims, values), {}};
  Dims high, low;
  for (int64_t value : values) {
    low.push_back(value & 255);
    high.push_back((value - low.back()) / 256);
  }
  return {graph.ints(Int16, dims, values),
          {{graph.ints(Int8, dims, high), graph.ints(UInt8, dims, low)}}};
}

Term Simulation::sums(const Term &x, const Weights &w, const Product &product,
                      int64_t depth, const Product &inDouble) {
  if (x.type == Int8 && w.whole.type == Int8)
    return product(x, w.whole);
  // Sums of unsigned bytes have to fit 32 bits, those of doubles 53.
  if (x.type != Int16 || w.whole.type != Int16 || depth * 65025.0 >= 0x1p31)
    return graph.cast(
        inDouble(graph.cast(x, Double), graph.cast(w.whole, Double)), Int64);
  auto [xHigh, xLow] = halves(x);
  auto [wHigh, wLow] = w.halves ? *w.halves : halves(w.whole);
  auto part = [&](const Term &a, const Term &b) {
    return graph.cast(product(a, b), Int64);
  };
  Term high = part(xHigh, wHigh), low = part(xLow, wLow);
  Term middle = graph.binary("Add", part(xHigh, wLow), part(xLow, wHigh));
  high = graph.binary("Mul", high, graph.number(Int64, 65536));
  middle = graph.binary("Mul", middle, graph.number(Int64, 256));
  return graph.binary("Add", graph.binary("Add", high, middle), low);
}

llvm::Error Simulation::finishSums(Term sums, const Operand &x,
                                   ArrayRef<int64_t> weightExponents,
                                   const Operand &bias,
                                   ArrayRef<double> magnitudes, int64_t outputs,
                                   bool isPlainConv) {
  Result y = result();
  std::string activation = node->getString("activation", "Linear");
  if (!options.legacy && activation != "Linear" && activation != "Relu")
    return fail("has the activation '" + activation +
                "'; Linear and Relu are known");
  if (!y.isQuantized())
    return fail("gives " + nameOf(y.type) + "; int8 and int16 are known");
  double largest = x.type() == Int8 ? 128 : 32768, bound = 0;
  for (int64_t c = 0; c < outputs; ++c) {
    double own = magnitudes[magnitudes.size() == 1 ? 0 : c] * largest;
    if (bias)
      own += std::abs(bias.constant->at(c));
    bound = std::max(bound, own);
  }
  if (options.legacy)
    return finishLegacySums(sums, x, weightExponents, bias, bound, outputs);
  if (bias) {
    Dims numbers;
    for (int64_t c = 0; c < outputs; ++c)
      numbers.push_back(bias.constant->intAt(c));
    if (sums.type == Int32 && bound >= 0x1p31)
      sums = graph.cast(sums, Int64);
    sums = graph.binary("Add", sums, graph.ints(sums.type, {outputs}, numbers));
  }
  int bits = options.chip->laneBits;
  if (options.lanes && x.type() == Int8 && bits < 32) {
    int64_t limited =
        isPlainConv ? outputs / packedChannels(8) * packedChannels(8) : outputs;
    double high = std::ldexp(1.0, bits - 1);
    Dims least(outputs, INT32_MIN), most(outputs, INT32_MAX);
    std::fill_n(least.begin(), limited, -high);
    std::fill_n(most.begin(), limited, high - 1);
    sums = graph.binary("Max", sums, graph.ints(sums.type, {outputs}, least));
    sums = graph.binary("Min", sums, graph.ints(sums.type, {outputs}, most));
  }
  Dims shifts;
  for (int64_t exponent : weightExponents)
    shifts.push_back(y.exponent - x.exponent() - exponent);
  return finishShifted(sums, shifts, bound);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The sum of magnitudes of each output's weights; they come first.
static std::vector<double> magnitudesOf(ArrayRef<int64_t> plain,
                                        int64_t outputs) {
  std::vector<double> sums(outputs);
  size_t each = outputs ? plain.size() / outputs : 0;
  for (size_t i = 0; i < each * outputs; ++i)
    sums[i / each] += std::abs(static_cast<double>(plain[i]));
  return sums;
}

llvm::Error Simulation::conv() {
  Operand x = operand(0), bias = operand(2);
  const Tensor *w = constantOf(1);
  if (!w || !x.isQuantized() || (w->type != Int8 && w->type != Int16))
    return fail("expects int8 or int16 and a constant filter of them");
  int64_t windowRank = static_cast<int64_t>(w->dims.size()) - 2;
  if (windowRank < 1)
    return fail("has a filter without a window");
  Term input = withBatch(x.term, windowRank);
  int64_t group = node->getInt("group", 1);
  FilterShape shape;
  shape.isDepthwise = group > 1;
  int64_t channels = w->dims[windowRank], columns = w->dims[windowRank + 1];
  shape.outputs = shape.isDepthwise ? channels : columns;
  shape.inputs = shape.isDepthwise ? 1 : channels;
  Dims window(w->dims.begin(), w->dims.begin() + windowRank);
  for (int64_t size : window)
    shape.places *= size;
  if (shape.isDepthwise && (group != channels || columns != 1))
    return fail("has " + llvm::Twine(group) + " groups and " +
                llvm::Twine(channels) +
                " channels; ESP-DL has 1 group, or one per channel");
  if (input.rank() != windowRank + 2 || input.dims.back() != channels)
    return fail("expects an input of " + llvm::Twine(channels) + " channels");
  if (bias && (!bias.constant || bias.constant->numElements() < shape.outputs))
    return fail("expects a constant bias with an element per output");
  if (w->exponents.size() != 1 && int64_t(w->exponents.size()) != shape.outputs)
    return fail("has a filter without exponents");

  Dims strides = node->getInts("strides"),
       dilations = node->getInts("dilations");
  strides.resize(windowRank, 1);
  dilations.resize(windowRank, 1);
  auto pads = padsOf(input, window, strides, dilations, Result());
  if (!pads)
    return pads.takeError();
  Dims out = {input.dims[0], shape.outputs};
  for (int64_t i = 0; i < windowRank; ++i)
    out.push_back((input.dims[1 + i] + (*pads)[i] + (*pads)[windowRank + i] -
                   dilations[i] * (window[i] - 1) - 1) /
                      strides[i] +
                  1);
  Settings settings = {{"dilations", dilations},
                       {"group", group},
                       {"kernel_shape", window},
                       {"pads", *pads},
                       {"strides", strides}};
  std::vector<int64_t> plain = plainFilter(*w, shape, *options.chip);
  Dims dims = {shape.outputs, shape.inputs};
  dims.insert(dims.end(), window.begin(), window.end());
  auto product = [&](llvm::StringRef op, int32_t type) {
    return [&, op, type](const Term &a, const Term &b) {
      return graph.node(op, {a, b}, type, out, settings);
    };
  };
  Term total = sums(graph.channelsSecond(input), weights(plain, dims, w->type),
                    product("ConvInteger", Int32), shape.inputs * shape.places,
                    product("Conv", Double));
  return finishSums(graph.channelsLast(total), x, w->exponents, bias,
                    magnitudesOf(plain, shape.outputs), shape.outputs,
                    /*isPlainConv=*/!shape.isDepthwise);
}

/// The shape of numpy's matmul.
static bool matmulDims(const Dims &a, const Dims &b, Dims &result) {
  if (a.empty() || b.empty())
    return false;
  Dims left(a), right(b);
  if (left.size() == 1)
    left.insert(left.begin(), 1);
  if (right.size() == 1)
    right.push_back(1);
  if (left.back() != right[right.size() - 2])
    return false;
  int64_t rows = left[left.size() - 2], columns = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  if (!broadcast(left, right, result))
    return false;
  if (a.size() > 1)
    result.push_back(rows);
  if (b.size() > 1)
    result.push_back(columns);
  return true;
}

llvm::Error Simulation::gemm() {
  Operand x = operand(0), bias = operand(2);
  const Tensor *w = constantOf(1);
  if (!w || !x.isQuantized() || (w->type != Int8 && w->type != Int16))
    return fail("expects int8 or int16 and a constant filter of them");
  if (node->getInt("transB", 0) || node->getFloat("alpha", 1) != 1 ||
      node->getFloat("beta", 1) != 1)
    return fail("has transB, alpha or beta, which ESP-DL lacks");
  FilterShape shape;
  shape.outputs = w->dims.empty() ? 1 : w->dims.back();
  shape.inputs = shape.outputs ? w->numElements() / shape.outputs : 0;
  Term input = x.term;
  if (node->getInt("transA", 0) && input.rank() == 2)
    input = graph.transpose(input, {1, 0});
  if (shape.inputs == 0 || input.numElements() % shape.inputs)
    return fail("expects an input of " + llvm::Twine(shape.inputs) +
                " features");
  if (bias && (!bias.constant || bias.constant->numElements() < shape.outputs))
    return fail("expects a constant bias with an element per output");
  if (w->exponents.size() != 1 && int64_t(w->exponents.size()) != shape.outputs)
    return fail("has a filter without exponents");
  if (input.rank() == 1 || input.dims.back() != shape.inputs)
    input = graph.reshape(input,
                          {input.numElements() / shape.inputs, shape.inputs});
  std::vector<int64_t> plain = plainFilter(*w, shape, *options.chip), columns;
  for (int64_t i = 0; i < shape.inputs; ++i)
    for (int64_t o = 0; o < shape.outputs; ++o)
      columns.push_back(plain[o * shape.inputs + i]);
  Dims out = input.dims;
  out.back() = shape.outputs;
  auto product = [&](llvm::StringRef op, int32_t type) {
    return [&, op, type](const Term &a, const Term &b) {
      return graph.node(op, {a, b}, type, out);
    };
  };
  Term total = sums(
      input, weights(columns, {shape.inputs, shape.outputs}, w->type),
      product("MatMulInteger", Int32), shape.inputs, product("MatMul", Double));
  return finishSums(total, x, w->exponents, bias,
                    magnitudesOf(plain, shape.outputs), shape.outputs,
                    /*isPlainConv=*/true);
}

/// A right operand that is computed lies as filters do; as a matrix again.
llvm::Error Simulation::matMul() {
  Operand a = operand(0), bias = operand(2);
  const Tensor *w = constantOf(1);
  Dims bDims;
  int32_t type;
  std::vector<int64_t> exponents;
  Weights right;
  std::vector<double> magnitudes;
  int64_t depth = a.term.dims.empty() ? 1 : a.term.dims.back();
  if (w) {
    bDims = w->dims;
    type = w->type;
    exponents = w->exponents;
    FilterShape shape;
    shape.outputs = bDims.size() < 2 ? 1 : bDims.back();
    shape.inputs =
        bDims.size() < 2 ? w->numElements() : bDims[bDims.size() - 2];
    std::vector<int64_t> all;
    magnitudes.assign(shape.outputs, 0);
    int64_t each = shape.size();
    for (int64_t at = 0; each && at < w->numElements(); at += each) {
      std::vector<int64_t> plain = plainFilter(*w, shape, *options.chip, at);
      auto own = magnitudesOf(plain, shape.outputs);
      for (auto [old, next] : llvm::zip(magnitudes, own))
        old = std::max(old, next);
      for (int64_t i = 0; i < shape.inputs; ++i)
        for (int64_t o = 0; o < shape.outputs; ++o)
          all.push_back(plain[o * shape.inputs + i]);
    }
    right = weights(all, bDims, type);
  } else {
    Operand b = operand(1);
    bDims = b.term.dims;
    type = b.type();
    exponents = b.exponents;
    right.whole = unpackMatrix(
        graph, b.term,
        options.chip->isPacked ? packedChannels(8 * bytesOf(type)) : 0);
    magnitudes = {double(depth) * (type == Int8 ? 128 : 32768)};
  }
  if (!a.isQuantized() || (type != Int8 && type != Int16) || exponents.empty())
    return fail("expects two operands of int8 or int16 with exponents");
  Dims out;
  if (!matmulDims(a.term.dims, bDims, out))
    return fail("has operands whose shapes don't go together");
  int64_t outputs = bDims.size() > 1 ? bDims.back() : 1;
  if (bDims.size() < 2 && exponents.size() > 1)
    return fail("has more exponents than outputs");
  if (bias && (!bias.constant || bias.constant->numElements() < outputs))
    return fail("expects a constant bias with an element per output");
  auto product = [&](llvm::StringRef op, int32_t sumType) {
    return [&, op, sumType](const Term &x, const Term &y) {
      return graph.node(op, {x, y}, sumType, out);
    };
  };
  Term total = sums(a.term, right, product("MatMulInteger", Int32), depth,
                    product("MatMul", Double));
  return finishSums(total, a, exponents, bias, magnitudes, outputs,
                    /*isPlainConv=*/true);
}
