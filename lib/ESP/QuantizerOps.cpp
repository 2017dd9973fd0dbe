// Everything but products for the device: tables, pools, arithmetic of two
// operands, and ops that move elements.

#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

/// An axis of ONNX's order, where channels are last.
static int64_t lastAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis == 0 || rank < 3)
    return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

std::string Quantizer::makeTable(int64_t from, int64_t to, int32_t type,
                                 const std::function<float(float)> &function) {
  Tensor table;
  table.name = fresh(node->opType + "_lut");
  table.docString = "layout ==> UNK";
  table.type = type;
  table.exponents = {to};
  int64_t half = type == Int8 ? 128 : 32768;
  int64_t step = type == Int8 ? 1 : options.tableStep;
  int64_t end = type == Int8 ? 127 : 32768;
  float in = std::ldexp(1.0f, from), out = std::ldexp(1.0f, -to);
  for (int64_t q = -half; q <= end; q += step) {
    double value = roundAs(options.chip->rounding, function(q * in) * out);
    if (std::isnan(value))
      value = 0;
    int16_t number =
        static_cast<int16_t>(std::clamp<double>(value, -half, half - 1));
    appendElement(table.data, number, bytesOf(type));
  }
  table.dims = {int64_t(table.data.size() / bytesOf(type))};
  return put(std::move(table));
}

/// An activation of its own, as the old toolkit's kernels compute it.
llvm::Error Quantizer::oldActivation() {
  StringRef name = node->input(0);
  bool isLast = forms[name].isLast;
  Node current = start();
  current.inputs = {input(0, isLast)};
  placeActivation(current, node->opType);
  result(current, {typeOf(*node), exponents[node->outputs[0]], isLast});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::tabulated() {
  if (options.legacy && (node->opType == "Relu" || node->opType == "LeakyRelu"))
    return oldActivation();
  StringRef name = node->input(0);
  bool isLast = forms[name].isLast;
  int32_t type = typeOf(*node);
  int64_t from = exponents[name.str()], to = exponents[node->outputs[0]];
  Node current = start();
  current.attributes = node->attributes;
  current.inputs = {input(0, isLast)};
  auto function = elementFunction(*node);
  if (node->opType == "Clip") {
    float low = node->getFloat("min", -INFINITY),
          high = node->getFloat("max", INFINITY);
    float *bounds[] = {&low, &high};
    for (size_t i : {1, 2}) {
      if (node->input(i).empty())
        continue;
      if (!isConstant(node->inputs[i]))
        return fail("has bounds that aren't constant");
      const Tensor &bound = *constants[node->inputs[i]];
      *bounds[i - 1] = bound.at(0);
      current.inputs.resize(i);
      current.inputs.push_back(put(quantized(bound, {1}, from, type)));
    }
    function = [low, high](float x) {
      return std::min(std::max(x, low), high);
    };
  }
  if (!function)
    return fail("has no function");
  current.setString("lut", makeTable(from, to, type, *function));
  result(current, {type, to, isLast});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::pool() {
  Node current = start();
  current.attributes = node->attributes;
  if (!StringRef(node->opType).starts_with("Global")) {
    Window window = windowOf(*node, dimsOf(node->inputs[0]));
    if (current.find("auto_pad"))
      current.setString("auto_pad", "NOTSET");
    current.setInts("strides", window.strides);
    current.setInts("pads", window.pads);
    current.setInt("ceil_mode", node->getInt("ceil_mode", 0));
  }
  current.inputs = {input(0, true)};
  result(current, {typeOf(*node), exponents[node->outputs[0]], true});
  add(std::move(current));
  return llvm::Error::success();
}

/// A constant as an operand, in the device's order of axes.
std::string Quantizer::constantOperand(size_t index, bool isLast, int64_t rank,
                                       std::optional<int64_t> exponent) {
  const Tensor &from = *constants[node->inputs[index]];
  Tensor moved = from;
  if (isLast && rank > 2 && from.numElements() > 1) {
    Dims dims = from.dims;
    dims.insert(dims.begin(), rank - dims.size(), 1);
    moved.dims = toChannelsLast(dims);
    moved.data =
        transposedBytes(from.data, bytesOf(from.type), dims[0], dims[1]);
  }
  if (moved.dims.empty())
    moved.dims = {1};
  int64_t own = exponent
                    ? *exponent
                    : parameterExponent(floatsOf(from), bitsOf(*node), false);
  return put(quantized(moved, moved.dims, own, typeOf(*node)));
}

llvm::Error Quantizer::binary() {
  int64_t rank = dimsOf(node->outputs[0]).size(),
          to = exponents[node->outputs[0]];
  bool isSum =
      !options.legacy && (node->opType == "Add" || node->opType == "Sub");
  bool isLast = false, canBeLast = rank > 2;
  for (size_t i : {0, 1}) {
    StringRef name = node->input(i);
    if (isConstant(name))
      continue;
    isLast |= forms[name].isLast;
    // A smaller operand lines up with the last axes of ONNX's order.
    canBeLast &= int64_t(dimsOf(name).size()) == rank;
  }
  isLast &= canBeLast;
  Node current = start();
  for (size_t i : {0, 1}) {
    StringRef name = node->input(i);
    if (isConstant(name)) {
      current.inputs.push_back(constantOperand(
          i, isLast, rank, isSum ? std::optional<int64_t>(to) : std::nullopt));
      continue;
    }
    Form form = {typeOf(*node), isSum ? to : exponents[name.str()], isLast};
    current.inputs.push_back(get(name, form));
  }
  result(current, {typeOf(*node), to, isLast});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::prelu() {
  if (!isConstant(node->input(1)))
    return fail("has slopes that aren't constant");
  if (options.legacy)
    return oldActivation();
  const Tensor &slopes = *constants[node->inputs[1]];
  StringRef name = node->input(0);
  int64_t rank = dimsOf(name).size();
  // Slopes go with the last axis, where channels are.
  bool isLast = slopes.numElements() > 1 || forms[name].isLast;
  Node current = start();
  current.inputs = {input(0, isLast)};
  current.inputs.push_back(constantOperand(1, isLast, rank, std::nullopt));
  if (slopes.numElements() == 1) {
    const Tensor &made = *out.findInitializer(current.inputs[1]);
    float slope =
        std::ldexp(static_cast<float>(made.intAt(0)), made.exponent());
    current.setString(
        "lut", makeTable(exponents[name.str()], exponents[node->outputs[0]],
                         typeOf(*node),
                         [slope](float x) { return x < 0 ? slope * x : x; }));
  }
  result(current, {typeOf(*node), exponents[node->outputs[0]], isLast});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::concat() {
  int64_t rank = dimsOf(node->outputs[0]).size(),
          to = exponents[node->outputs[0]];
  bool isLast = llvm::all_of(node->inputs, [&](const std::string &name) {
    return isConstant(name) || forms[name].isLast;
  });
  Node current = start();
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    if (isConstant(node->inputs[i]))
      current.inputs.push_back(constantOperand(i, isLast, rank, to));
    else
      current.inputs.push_back(
          get(node->inputs[i], {typeOf(*node), to, isLast}));
  }
  int64_t axis = node->getInt("axis", 1);
  current.setInt("axis", isLast     ? lastAxis(axis, rank)
                         : axis < 0 ? axis + rank
                                    : axis);
  result(current, {typeOf(*node), to, isLast});
  add(std::move(current));
  return llvm::Error::success();
}

llvm::Error Quantizer::keepsLayout() {
  StringRef name = node->input(0), op = node->opType;
  int64_t rank = dimsOf(name).size(), from = exponents[name.str()];
  int32_t type = typeOf(*node);
  // Powers of int8 are those of the numbers themselves: beyond 2^6 they have no
  // float. Powers of int16 are those of distances from the largest.
  if (op == "Softmax" && type == Int8 && from >= 0 && !options.legacy) {
    type = Int16;
    from -= 8;
    note("node '" + node->name +
         "' (Softmax) has 16 bits: its inputs are too "
         "large for the table of powers of 8 bits");
  }
  bool isReduction = op.starts_with("Reduce");
  bool keeps = node->getInt("keepdims", 1) != 0;
  bool isLast = forms[name].isLast && rank > 2 && (!isReduction || keeps);
  Node current = start();
  current.attributes = node->attributes;
  current.inputs = {isConstant(name) ? input(0, isLast)
                                     : get(name, {type, from, isLast})};
  if (isReduction) {
    Dims axes = node->getInts("axes");
    if (isConstant(node->input(1))) {
      const Tensor &list = *constants[node->inputs[1]];
      for (int64_t i = 0; i < list.numElements(); ++i)
        axes.push_back(list.intAt(i));
    }
    if (axes.empty())
      for (int64_t i = 0; i < rank; ++i)
        axes.push_back(i);
    for (int64_t &axis : axes)
      axis = isLast ? lastAxis(axis, rank) : axis;
    current.inputs.push_back(putInts(node->name + "_axes", axes));
    current.setInt("keepdims", keeps);
  } else {
    int64_t axis = node->getInt("axis", op == "Split" ? 0 : -1);
    current.setInt("axis", isLast ? lastAxis(axis, rank) : axis);
    if (op == "Split" && !node->input(1).empty())
      current.inputs.push_back(copyConstant(node->input(1)));
  }
  bool isFloat = !options.legacy && (op == "Softmax" || op == "LogSoftmax");
  for (size_t i = 0; i < node->outputs.size(); ++i)
    result(
        current,
        {isFloat ? int32_t(Float) : type, exponents[node->outputs[i]], isLast},
        i);
  current.setString("quant_type", quantType(type));
  add(std::move(current));
  return llvm::Error::success();
}

/// An operand of an op that only moves elements of its first one: data, or
/// integers that say which go where.
llvm::Expected<std::string> Quantizer::movedOperand(size_t index, int32_t type,
                                                    bool isLast) {
  const std::string &name = node->inputs[index];
  StringRef op = node->opType;
  if (name.empty())
    return std::string();
  if (index == 0)
    return isConstant(name)
               ? constantOperand(0, false, 0, exponents[node->outputs[0]])
               : get(name, {type, exponents[name], isLast});
  if (isConstant(name)) {
    // The value of a Pad has its input's exponent.
    if (constants[name]->type == Float && type != Float)
      return put(
          quantized(*constants[name], {1}, exponents[node->inputs[0]], type));
    return copyConstant(name);
  }
  if (op == "Gather" || op == "ReverseSequence")
    return name;
  return fail("has input '" + name + "', which isn't constant");
}

llvm::Error Quantizer::restores() {
  StringRef op = node->opType;
  bool isLast = op == "Identity" && forms[node->input(0)].isLast;
  Node current = start();
  current.attributes = node->attributes;
  int32_t given = forms[node->input(0)].type,
          type = given == Undefined || given == Int8 || given == Int16
                     ? typeOf(*node)
                     : given;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    auto operand = movedOperand(i, type, isLast);
    if (!operand)
      return operand.takeError();
    current.inputs.push_back(*operand);
  }
  if (op == "Pad")
    current.setString("mode", node->getString("mode", "constant"));
  if (op == "Transpose" && node->getInts("perm").empty()) {
    Dims order;
    for (int64_t i = dimsOf(node->inputs[0]).size(); i-- > 0;)
      order.push_back(i);
    current.setInts("perm", order);
  }
  result(current, {type, exponents[node->outputs[0]], isLast});
  add(std::move(current));
  return llvm::Error::success();
}

/// Scales or sizes of a Resize for all axes, in ONNX's order.
std::string Quantizer::resizeOperand(size_t index) {
  StringRef name = node->input(index);
  if (name.empty() || !isConstant(name) || node->getInts("axes").empty())
    return copyConstant(name);
  const Tensor &given = *constants[name.str()];
  Dims in = dimsOf(node->inputs[0]), out = dimsOf(node->outputs[0]);
  if (given.type == Int64)
    return putInts(name, out);
  Tensor all;
  all.name = fresh(name);
  all.docString = "layout ==> UNK";
  all.type = Float;
  all.dims = {int64_t(in.size())};
  all.exponents = {0};
  for (double scale : resizeScales(*node, &given, in, out))
    appendElement(all.data, static_cast<float>(scale));
  return put(std::move(all));
}

llvm::Error Quantizer::image() {
  Node current = start();
  current.attributes = node->attributes;
  bool isResize = node->opType == "Resize";
  if (isResize && bitsOf(*node) != 8)
    return fail("has 16 bits; ESP-DL's Resize has 8 only (--int16-nodes gives "
                "16 to others)");
  int64_t to = exponents[node->outputs[0]];
  StringRef name = node->input(0);
  current.inputs = {
      get(name, {typeOf(*node), isResize ? to : exponents[name.str()], true})};
  for (size_t i = 1; i < node->inputs.size(); ++i)
    current.inputs.push_back(isResize && i > 1 ? resizeOperand(i) : "");
  if (isResize) {
    llvm::erase_if(current.attributes, [](const Attribute &attribute) {
      return attribute.name == "axes" ||
             attribute.name == "keep_aspect_ratio_policy";
    });
    // What other rules come to here.
    bool isNearest = node->getString("mode", "nearest") == "nearest";
    std::string place =
        node->getString("coordinate_transformation_mode", "half_pixel");
    if (isNearest)
      current.setString("nearest_mode", "floor");
    if (isNearest || place == "pytorch_half_pixel")
      current.setString("coordinate_transformation_mode",
                        isNearest ? "asymmetric" : "half_pixel");
  }
  result(current, {typeOf(*node), to, true});
  add(std::move(current));
  return llvm::Error::success();
}
