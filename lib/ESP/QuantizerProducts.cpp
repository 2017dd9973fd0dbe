// Conv, ConvTranspose, Gemm and MatMul for the device: filters quantized and
// packed, biases at the sums' exponent.

#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

/// Exponents of weights that are all zero: with them their biases fit.
void Quantizer::fitBiases(const Filter &filter, const Tensor &bias,
                          int64_t inputExponent,
                          std::vector<int64_t> &scales) const {
  int width =
      bitsOf(*node) == 8 ? options.chip->biasBits8 : options.chip->biasBits16;
  int64_t each = filter.values.size() / std::max<size_t>(scales.size(), 1);
  for (auto [o, scale] : llvm::enumerate(scales)) {
    auto own = llvm::ArrayRef(filter.values).slice(o * each, each);
    if (llvm::any_of(own, [](float w) { return w != 0; }))
      continue;
    double most = 0;
    for (int64_t i = 0, e = bias.numElements(); i < e; ++i)
      if (scales.size() == 1 || e == 1 || i == int64_t(o))
        most = std::max(most, std::abs(bias.at(i)));
    int64_t fitting = fittingExponent(most, width) - inputExponent,
            largest = exponents.at(node->outputs[0]) - inputExponent;
    scale = std::max(scale, std::min(fitting, largest));
  }
}

/// Adds a filter and a bias to a node's inputs.
llvm::Error Quantizer::placeFilter(Node &current, const Filter &filter,
                                   const Dims &dims, StringRef name,
                                   int64_t inputExponent, StringRef bias) {
  int bits = bitsOf(*node);
  const FilterShape &shape = filter.shape;
  int64_t outputs = shape.outputs, each = outputs ? shape.size() / outputs : 0;
  llvm::ArrayRef<float> all = filter.values;
  std::vector<int64_t> scales;
  bool perChannel = options.perChannel && node->opType != "MatMul";
  for (int64_t o = 0; perChannel && o < outputs; ++o)
    scales.push_back(parameterExponent(all.slice(o * each, each), bits, true));
  if (!perChannel)
    scales = {parameterExponent(all, bits, false)};
  if (options.fitsBiases && isConstant(bias))
    fitBiases(filter, *constants[bias.str()], inputExponent, scales);
  Tensor tensor;
  tensor.name = name.str();
  tensor.dims = dims;
  tensor.type = typeOf(*node);
  tensor.exponents = scales;
  int64_t block = options.chip->isPacked ? packedChannels(bits) : 0;
  tensor.docString =
      "layout ==> " + layoutName(shape, block, filter.window.size());
  std::vector<double> largest(outputs);
  for (int64_t element : filterOrder(shape, block)) {
    int64_t q = quantizedNumber(all[element],
                                scales[perChannel ? element / each : 0], bits);
    largest[element / each] += 128.0 * std::abs(q);
    appendElement(tensor.data, q, bits / 8);
  }
  current.inputs.push_back(put(std::move(tensor)));
  if (llvm::Error error =
          placeBias(current, bias, inputExponent, scales, largest))
    return error;
  ++layers;
  double most = std::ldexp(1.0, options.chip->laneBits - 1);
  wideLayers += !options.legacy && bits == 8 && options.chip->laneBits < 32 &&
                llvm::any_of(largest, [&](double sum) { return sum >= most; });
  return llvm::Error::success();
}

/// Adds a bias to a node's inputs, and to the largest magnitudes of its sums.
llvm::Error Quantizer::placeBias(Node &current, StringRef bias,
                                 int64_t inputExponent,
                                 llvm::ArrayRef<int64_t> scales,
                                 std::vector<double> &largest) {
  if (bias.empty())
    return llvm::Error::success();
  if (!isConstant(bias))
    return fail("has a bias that isn't constant");
  const Tensor &from = *constants[bias.str()];
  int64_t outputs = largest.size(), count = from.numElements();
  if (count != outputs && count != 1)
    return fail("has a bias of another size than its outputs");
  int bits = bitsOf(*node);
  bool perChannel = options.perChannel && node->opType != "MatMul";
  Tensor sums;
  sums.name = bias.str();
  sums.docString = "layout ==> UNK";
  sums.dims = {outputs};
  sums.type = bits == 8 ? Int32 : Int64;
  int width = bits == 8 ? options.chip->biasBits8 : options.chip->biasBits16;
  for (int64_t exponent : scales)
    sums.exponents.push_back(inputExponent + exponent);
  if (options.legacy) {
    // Added to the shifted sum, or to one of four bits less per channel.
    sums.type = perChannel || bits == 16 ? Int16 : Int8;
    width = 8 * bytesOf(sums.type);
    if (!perChannel)
      sums.exponents = {exponents[node->outputs[0]]};
    else
      for (int64_t &exponent : sums.exponents)
        exponent += 4;
  }
  int64_t clipped = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    double value = from.at(count == 1 ? 0 : o);
    int64_t exponent = sums.exponents[perChannel ? o : 0],
            q = quantizedNumber(value, exponent, width);
    largest[o] += std::abs(static_cast<double>(q));
    clipped +=
        std::abs(std::ldexp(value, -exponent)) > std::ldexp(1.0, width - 1) + 1;
    appendElement(sums.data, q, bytesOf(sums.type));
  }
  if (clipped && !options.legacy)
    note("node '" + node->name + "' (" + node->opType + ") has " +
         llvm::Twine(clipped) + " of " + llvm::Twine(outputs) +
         " biases that are clipped: they take more than " + llvm::Twine(width) +
         " bits at the exponent of its sums");
  current.inputs.push_back(put(std::move(sums)));
  return llvm::Error::success();
}

void Quantizer::placeActivation(Node &current, StringRef kind) {
  bool isOwn = node->opType == kind;
  // One slope for all channels is a leak.
  const Tensor *given = nullptr;
  if (kind == "PRelu")
    given = constants[isOwn ? node->inputs[1]
                            : node->getString("activation_slopes")];
  bool isLeak = kind == "LeakyRelu" || (given && given->numElements() == 1);
  current.setString("activation", isLeak ? "LeakyRelu" : kind);
  if (kind == "Linear" || kind == "Relu")
    return;
  Tensor slopes;
  if (given) {
    slopes = *given;
    slopes.dims = {slopes.numElements()};
  } else {
    float alpha = node->getFloat(isOwn ? "alpha" : "activation_alpha", 0.01f);
    slopes.type = Float;
    slopes.dims = {1};
    appendElement(slopes.data, alpha);
  }
  // What the old toolkit's table calls them.
  current.setString("activation_table",
                    given ? given->name
                          : node->getString("activation_node", node->name) +
                                "_alpha");
  slopes.name = node->name + "_activation";
  int64_t exponent = parameterExponent(floatsOf(slopes), bitsOf(*node), false);
  current.setString(
      "activation_slopes",
      put(quantized(slopes, slopes.dims, exponent, typeOf(*node))));
}

static Dims windowList(const Node &node, StringRef name, size_t size,
                       int64_t otherwise) {
  Dims list = node.getInts(name);
  list.resize(size, otherwise);
  return list;
}

Window esp::windowOf(const Node &node, llvm::ArrayRef<int64_t> input,
                     llvm::ArrayRef<int64_t> kernel) {
  Window window;
  window.kernel = kernel.empty() ? node.getInts("kernel_shape") : Dims(kernel);
  size_t rank = window.kernel.size();
  window.strides = windowList(node, "strides", rank, 1);
  window.dilations = windowList(node, "dilations", rank, 1);
  window.pads = windowList(node, "pads", 2 * rank, 0);
  std::string mode = node.getString("auto_pad", "NOTSET");
  if (mode == "VALID")
    window.pads.assign(2 * rank, 0);
  if (mode.rfind("SAME", 0) != 0 || input.size() != rank + 2)
    return window;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = input[2 + i], stride = window.strides[i],
            places = (size + stride - 1) / stride,
            extent = window.dilations[i] * (window.kernel[i] - 1) + 1,
            all = std::max<int64_t>((places - 1) * stride + extent - size, 0);
    window.pads[i] = mode == "SAME_LOWER" ? all - all / 2 : all / 2;
    window.pads[rank + i] = all - window.pads[i];
  }
  return window;
}

llvm::Error Quantizer::conv() {
  if (!isConstant(node->input(1)))
    return fail("has a filter that isn't constant");
  const Tensor &w = *constants[node->inputs[1]];
  Filter filter;
  int64_t group = node->getInt("group", 1);
  filter.shape.isDepthwise = group > 1;
  filter.shape.outputs = w.dims[0];
  filter.shape.inputs = w.dims[1];
  filter.window.assign(w.dims.begin() + 2, w.dims.end());
  for (int64_t size : filter.window)
    filter.shape.places *= size;
  if (group > 1 && (group != w.dims[0] || w.dims[1] != 1))
    return fail("has " + llvm::Twine(group) + " groups for " +
                llvm::Twine(w.dims[0]) +
                " outputs; ESP-DL has 1 group, or one per channel");
  filter.values = floatsOf(w);
  Node current = start();
  Window window = windowOf(*node, dimsOf(node->inputs[0]), filter.window);
  placeActivation(current, node->getString("activation", "Linear"));
  current.setInts("dilations", window.dilations);
  current.setInt("group", group);
  current.setInts("kernel_shape", window.kernel);
  current.setInts("pads", window.pads);
  current.setInts("strides", window.strides);
  current.inputs = {input(0, true)};
  Dims dims = filter.window;
  dims.push_back(group > 1 ? w.dims[0] : w.dims[1]);
  dims.push_back(group > 1 ? 1 : w.dims[0]);
  if (llvm::Error error =
          placeFilter(current, filter, dims, w.name, exponents[node->inputs[0]],
                      node->input(2)))
    return error;
  result(current, {typeOf(*node), exponents[node->outputs[0]], true});
  add(std::move(current));
  return llvm::Error::success();
}

/// The filter of the convolution that a ConvTranspose comes to: its places in
/// the opposite order, inputs and outputs changed about.
static std::vector<float> turnedFilter(const Tensor &w, int64_t inputs,
                                       int64_t outputs, int64_t places) {
  std::vector<float> turned(w.numElements());
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t p = 0; p < places; ++p)
        turned[(o * inputs + i) * places + places - 1 - p] =
            static_cast<float>(w.at((i * outputs + o) * places + p));
  return turned;
}

/// The window of a ConvTranspose, with pads that give the declared size. What
/// no pads give is added to the output.
static Window turnedWindow(const Node &node, const Dims &input,
                           const Dims &output, const Dims &kernel,
                           Dims &extra) {
  Node plain = node;
  std::string mode = node.getString("auto_pad", "NOTSET");
  plain.setString("auto_pad", "NOTSET");
  Window window = windowOf(plain, input, kernel);
  size_t rank = kernel.size();
  extra = windowList(node, "output_padding", rank, 0);
  if (mode == "VALID")
    window.pads.assign(2 * rank, 0);
  if (mode.rfind("SAME", 0) != 0 && !node.find("output_shape"))
    return window;
  for (size_t i = 0; i < rank; ++i) {
    int64_t all = window.strides[i] * (input[2 + i] - 1) + extra[i] +
                  window.dilations[i] * (kernel[i] - 1) + 1 - output[2 + i];
    extra[i] += std::max<int64_t>(-all, 0);
    all = std::max<int64_t>(all, 0);
    int64_t before = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    window.pads[i] = before;
    window.pads[rank + i] = all - before;
  }
  return window;
}

/// The name of an input with zeros between its places.
std::string Quantizer::insertZeros(const Dims &strides, const Dims &extra) {
  std::string source = input(0, true);
  if (llvm::all_of(strides, [](int64_t s) { return s == 1; }) &&
      llvm::all_of(extra, [](int64_t p) { return p == 0; }))
    return source;
  Node zeros;
  zeros.name = fresh(node->name + "_insert_zeros");
  zeros.opType = "InsertZeros";
  zeros.inputs = {source};
  zeros.outputs = {fresh(node->inputs[0] + "_zeros")};
  zeros.setInts("stride", strides);
  zeros.setInts("output_padding", extra);
  zeros.setString("quant_type", bitsOf(*node) == 8 ? "S8" : "S16");
  Dims dims = toChannelsLast(dimsOf(node->inputs[0]));
  for (size_t i = 0; i < strides.size(); ++i)
    dims[1 + i] += (strides[i] - 1) * (dims[1 + i] - 1) + extra[i];
  source = zeros.outputs[0];
  declare(source, {typeOf(*node), exponents[node->inputs[0]], true}, dims);
  add(std::move(zeros));
  return source;
}

/// A convolution of the input with zeros between its places.
llvm::Error Quantizer::convTranspose() {
  if (!isConstant(node->input(1)))
    return fail("has a filter that isn't constant");
  const Tensor &w = *constants[node->inputs[1]];
  int64_t group = node->getInt("group", 1), inputs = w.dims[0],
          outputs = w.dims[1];
  bool isDepthwise = group > 1;
  if (isDepthwise && (group != inputs || outputs != 1))
    return fail("has " + llvm::Twine(group) + " groups for " +
                llvm::Twine(inputs) +
                " inputs; ESP-DL has 1 group, or one per channel");
  Filter filter;
  filter.window.assign(w.dims.begin() + 2, w.dims.end());
  for (int64_t size : filter.window)
    filter.shape.places *= size;
  filter.shape.isDepthwise = isDepthwise;
  filter.shape.outputs = isDepthwise ? group : outputs;
  filter.shape.inputs = isDepthwise ? 1 : inputs;
  // A channel of its own is an input and an output.
  filter.values = isDepthwise
                      ? turnedFilter(w, 1, group, filter.shape.places)
                      : turnedFilter(w, inputs, outputs, filter.shape.places);
  Dims extra;
  Window window = turnedWindow(*node, dimsOf(node->inputs[0]),
                               dimsOf(node->outputs[0]), filter.window, extra);
  std::string source = insertZeros(window.strides, extra);
  size_t rank = filter.window.size();
  for (size_t i = 0; i < 2 * rank; ++i) {
    size_t axis = i % rank;
    window.pads[i] =
        window.dilations[axis] * (filter.window[axis] - 1) - window.pads[i];
    if (window.pads[i] < 0)
      return fail("has pads larger than its window");
  }
  Node current = start("Conv");
  placeActivation(current, node->getString("activation", "Linear"));
  current.setInts("dilations", window.dilations);
  current.setInt("group", group);
  current.setInts("kernel_shape", filter.window);
  current.setInts("pads", window.pads);
  current.setInts("strides", Dims(rank, 1));
  current.inputs = {source};
  Dims dims = filter.window;
  dims.push_back(inputs);
  dims.push_back(outputs);
  if (llvm::Error error =
          placeFilter(current, filter, dims, w.name, exponents[node->inputs[0]],
                      node->input(2)))
    return error;
  result(current, {typeOf(*node), exponents[node->outputs[0]], true});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::gemm() {
  if (!isConstant(node->input(1)))
    return fail("has weights that aren't constant");
  if (node->getFloat("alpha", 1) != 1 || node->getFloat("beta", 1) != 1)
    return fail("has alpha or beta, which ESP-DL lacks");
  const Tensor &w = *constants[node->inputs[1]];
  bool isTransposed = node->getInt("transB", 0) != 0;
  Filter filter;
  filter.shape.outputs = w.dims[isTransposed ? 0 : 1];
  filter.shape.inputs = w.dims[isTransposed ? 1 : 0];
  filter.window = {1, 1};
  filter.values = floatsOf(w);
  if (!isTransposed)
    for (int64_t o = 0; o < filter.shape.outputs; ++o)
      for (int64_t i = 0; i < filter.shape.inputs; ++i)
        filter.values[o * filter.shape.inputs + i] =
            w.at(i * filter.shape.outputs + o);
  Node current = start();
  placeActivation(current, node->getString("activation", "Linear"));
  current.setFloat("alpha", 1);
  current.setFloat("beta", 1);
  current.setInt("transB", 0);
  std::string source = input(0, false);
  if (node->getInt("transA", 0)) {
    Dims dims = dimsOf(node->inputs[0]);
    std::string turned = fresh(source + "_transpose");
    insertTranspose(source, turned, {1, 0}, forms[node->inputs[0]],
                    {dims[1], dims[0]});
    source = turned;
  }
  current.inputs = {source};
  if (llvm::Error error = placeFilter(
          current, filter, {1, 1, filter.shape.inputs, filter.shape.outputs},
          w.name, exponents[node->inputs[0]], node->input(2)))
    return error;
  result(current, {typeOf(*node), exponents[node->outputs[0]], false});
  add(std::move(current));
  return llvm::Error::success();
}

/// A right operand that is computed, brought to the order of filters.
std::string Quantizer::packedMatrix(StringRef name) {
  Form form = {typeOf(*node), exponents[name.str()], false};
  std::string source = get(name, form);
  Dims dims = dimsOf(name);
  if (dims.size() < 2)
    return source;
  int64_t rows = dims[dims.size() - 2], columns = dims.back(), batch = 1;
  for (size_t i = 0; i + 2 < dims.size(); ++i)
    batch *= dims[i];
  int64_t block = options.chip->isPacked ? packedChannels(bitsOf(*node)) : 0;
  int64_t packed = block ? columns / block * block : 0;
  auto reshape = [&](const std::string &from, const Dims &to) {
    Node moved;
    moved.name = fresh("Reshape");
    moved.opType = "Reshape";
    moved.inputs = {from, putInts("reshape_shape", to)};
    moved.outputs = {fresh("reshaped")};
    moved.setString("quant_type", form.type == Int8 ? "S8" : "S16");
    declare(moved.outputs[0], form, to);
    std::string made = moved.outputs[0];
    add(std::move(moved));
    return made;
  };
  auto transpose = [&](const std::string &from, const Dims &order,
                       const Dims &to) {
    std::string made = fresh("transposed");
    insertTranspose(from, made, order, form, to);
    return made;
  };
  auto slice = [&](const std::string &from, int64_t begin, int64_t end) {
    Node cut;
    cut.name = fresh("Slice");
    cut.opType = "Slice";
    cut.inputs = {from};
    for (int64_t number : {begin, end, int64_t(2)})
      cut.inputs.push_back(putInts("slice_number", number));
    cut.outputs = {fresh("sliced")};
    cut.setString("quant_type", form.type == Int8 ? "S8" : "S16");
    declare(cut.outputs[0], form, {batch, rows, end - begin});
    std::string made = cut.outputs[0];
    add(std::move(cut));
    return made;
  };
  std::string flat = reshape(source, {batch, rows, columns});
  std::vector<std::string> parts;
  if (packed) {
    std::string head = packed < columns ? slice(flat, 0, packed) : flat;
    head = reshape(head, {batch, rows, packed / block, block});
    head = transpose(head, {0, 2, 1, 3}, {batch, packed / block, rows, block});
    parts.push_back(reshape(head, {batch, packed * rows}));
  }
  if (packed < columns) {
    std::string tail = packed ? slice(flat, packed, columns) : flat;
    tail = transpose(tail, {0, 2, 1}, {batch, columns - packed, rows});
    parts.push_back(reshape(tail, {batch, (columns - packed) * rows}));
  }
  std::string whole = parts[0];
  if (parts.size() > 1) {
    Node joined;
    joined.name = fresh("Concat");
    joined.opType = "Concat";
    joined.inputs = parts;
    joined.outputs = {fresh("joined")};
    joined.setInt("axis", 1);
    joined.setString("quant_type", form.type == Int8 ? "S8" : "S16");
    declare(joined.outputs[0], form, {batch, rows * columns});
    whole = joined.outputs[0];
    add(std::move(joined));
  }
  return reshape(whole, dims);
}

llvm::Error Quantizer::matMul() {
  Node current = start();
  placeActivation(current, node->getString("activation", "Linear"));
  current.inputs = {input(0, false)};
  if (!isConstant(node->inputs[1])) {
    current.inputs.push_back(packedMatrix(node->inputs[1]));
  } else {
    const Tensor &w = *constants[node->inputs[1]];
    int64_t columns = w.dims.size() > 1 ? w.dims.back() : 1;
    int64_t rows =
        w.dims.size() > 1 ? w.dims[w.dims.size() - 2] : w.numElements();
    // Each matrix is a filter of its own; all have one exponent.
    int64_t exponent = parameterExponent(floatsOf(w), bitsOf(*node), false);
    Tensor plain = quantized(w, w.dims, exponent, typeOf(*node));
    FilterShape shape;
    shape.outputs = columns;
    shape.inputs = rows;
    int64_t block = options.chip->isPacked ? packedChannels(bitsOf(*node)) : 0;
    std::vector<int64_t> order = filterOrder(shape, block);
    unsigned width = bytesOf(plain.type);
    std::vector<char> bytes;
    for (int64_t at = 0; at < w.numElements(); at += rows * columns)
      for (int64_t element : order) {
        int64_t place = at + element % rows * columns + element / rows;
        bytes.insert(bytes.end(), plain.data.begin() + place * width,
                     plain.data.begin() + (place + 1) * width);
      }
    plain.data = std::move(bytes);
    plain.docString = "layout ==> " + layoutName(shape, block, 2);
    current.inputs.push_back(put(std::move(plain)));
  }
  result(current, {typeOf(*node), exponents[node->outputs[0]], false});
  add(std::move(current));
  return llvm::Error::success();
}
