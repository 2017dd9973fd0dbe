// Operators of ESP-DL as ONNX has them. Kernels of images read ONNX's order;
// functions of single elements keep whatever order there is.

#include "Qdq.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

Term QdqWriter::node(StringRef op, ArrayRef<Term> inputs, bool isLast,
                     const Settings &settings) {
  Term made = {nameOfResult(0), Float, dimsOf(current->outputs[0], isLast)};
  const Value *value = model.findValue(current->outputs[0]);
  if (value && value->type != Int8 && value->type != Int16)
    made.type = value->type;
  graph.nodes(op, inputs, {made}, settings, current->name);
  return made;
}

/// A product with its activation.
void QdqWriter::finishProduct(StringRef op, ArrayRef<Term> inputs, bool isLast,
                              const Settings &settings) {
  if (current->getString("activation", "Linear") != "Relu") {
    finish(node(op, inputs, isLast, settings), isLast);
    return;
  }
  Term before = {nameOfResult(0) + "/before", Float,
                 dimsOf(current->outputs[0], isLast)};
  graph.nodes(op, inputs, {before}, settings, current->name);
  Term after = {nameOfResult(0), Float, before.dims};
  graph.nodes("Relu", {before}, {after}, {}, current->name + "_Relu");
  finish(after, isLast);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void QdqWriter::addBias(std::vector<Term> &inputs, int64_t outputs) {
  const Tensor *bias = constantOf(2);
  if (!bias)
    return;
  Dims numbers;
  for (int64_t i = 0; i < bias->numElements(); ++i)
    numbers.push_back(bias->intAt(i));
  inputs.push_back(dequantized(bias->name, bias->type, {outputs}, numbers,
                               bias->exponents, 0));
}

llvm::Error QdqWriter::conv() {
  const Tensor *w = constantOf(1);
  if (!w || w->dims.size() < 3)
    return fail("expects a constant filter");
  Dims window(w->dims.begin(), w->dims.end() - 2);
  int64_t group = current->getInt("group", 1);
  FilterShape shape;
  shape.isDepthwise = group > 1;
  shape.outputs = group > 1 ? w->dims[window.size()] : w->dims.back();
  shape.inputs = group > 1 ? 1 : w->dims[window.size()];
  for (int64_t size : window)
    shape.places *= size;
  if (shape.size() != w->numElements())
    return fail("has a filter of another size than its shape says");
  Dims dims = {shape.outputs, shape.inputs};
  dims.insert(dims.end(), window.begin(), window.end());
  std::vector<Term> inputs = {
      get(0, true), dequantized(w->name, w->type, dims,
                                plainFilter(*w, shape, chip), w->exponents, 0)};
  addBias(inputs, shape.outputs);
  finishProduct("Conv", inputs, true, settings());
  return llvm::Error::success();
}

llvm::Error QdqWriter::gemm() {
  const Tensor *w = constantOf(1);
  if (!w || w->dims.size() < 2)
    return fail("expects constant weights");
  FilterShape shape;
  shape.outputs = w->dims.back();
  shape.inputs = w->numElements() / std::max<int64_t>(shape.outputs, 1);
  Term x = get(0, false);
  Term flat = x;
  // The device multiplies the last axis, whatever is before it.
  if (x.rank() != 2)
    flat =
        graph.reshape(x, {x.numElements() / std::max<int64_t>(shape.inputs, 1),
                          shape.inputs});
  std::vector<Term> inputs = {
      flat, dequantized(w->name, w->type, {shape.outputs, shape.inputs},
                        plainFilter(*w, shape, chip), w->exponents, 0)};
  addBias(inputs, shape.outputs);
  Settings own = {{"transB", int64_t(1)}};
  if (flat.name == x.name) {
    finishProduct("Gemm", inputs, false, own);
    return llvm::Error::success();
  }
  Term sums =
      graph.node("Gemm", inputs, Float, {flat.dims[0], shape.outputs}, own);
  if (current->getString("activation", "Linear") == "Relu")
    sums = graph.unary("Relu", sums);
  finish(graph.reshape(sums, dimsOf(current->outputs[0], false)), false);
  return llvm::Error::success();
}

llvm::Error QdqWriter::matMul() {
  Term right;
  if (const Tensor *w = constantOf(1)) {
    right = dequantized(w->name, w->type, w->dims, plainMatrices(*w, chip),
                        w->exponents, int64_t(w->dims.size()) - 1);
  } else {
    const Value *value = model.findValue(current->input(1));
    bool isByte = value && value->type == Int8;
    right = unpackMatrix(graph, get(1, false),
                         chip.isPacked ? packedChannels(isByte ? 8 : 16) : 0);
  }
  if (constantOf(2))
    return fail("has a bias, which MatMul of ONNX lacks");
  finishProduct("MatMul", {get(0, false), right}, false, {});
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

llvm::Error QdqWriter::window() {
  StringRef op = current->opType;
  std::vector<Term> inputs = {get(0, true)};
  for (size_t i = 1; i < current->inputs.size(); ++i)
    inputs.push_back(current->inputs[i].empty() ? Term() : get(i, false));
  Settings own = settings("count_include_pad");
  // The device's mean is of the whole window.
  if (op == "AveragePool")
    own.emplace_back("count_include_pad", int64_t(1));
  if (op == "Resize" && current->getString("mode", "nearest") == "nearest" &&
      !current->find("nearest_mode"))
    own.emplace_back("nearest_mode", std::string("floor"));
  finish(node(op, inputs, true, own), true);
  return llvm::Error::success();
}

llvm::Error QdqWriter::zeros() {
  Dims strides = current->getInts("stride"),
       extra = current->getInts("output_padding");
  Term x = get(0, false);
  if (x.rank() < 3 || strides.empty() ||
      llvm::any_of(strides, [](int64_t s) { return s < 1; }) ||
      llvm::any_of(extra, [](int64_t count) { return count < 0; }))
    return fail("expects strides and an input with a window");
  finish(graph.channelsSecond(insertZeros(graph, x, strides, extra)), true);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// With channels second if all operands that are computed can be so.
llvm::Error QdqWriter::elementwise() {
  size_t rank = dimsOf(current->outputs[0], false).size();
  bool anyLast = false, all = rank > 2;
  for (size_t i = 0; i < current->inputs.size(); ++i) {
    if (const Tensor *tensor = constantOf(i)) {
      all &= tensor->numElements() == 1 || tensor->dims.size() == rank;
      continue;
    }
    anyLast |= isLast(i);
    all &= dimsOf(current->inputs[i], false).size() == rank;
  }
  bool last = anyLast && all;
  std::vector<Term> inputs;
  for (size_t i = 0; i < current->inputs.size(); ++i) {
    const Tensor *tensor = constantOf(i);
    inputs.push_back(get(i, last && !(tensor && tensor->numElements() == 1)));
  }
  Settings own = settings();
  if (current->opType == "Mod")
    own = {{"fmod", int64_t(1)}};
  finish(node(current->opType, inputs, last, own), last);
  return llvm::Error::success();
}

llvm::Error QdqWriter::swish() {
  Term x = get(0, isLast(0)), scaled = x;
  float alpha = current->getFloat("alpha", 1);
  if (alpha != 1)
    scaled = graph.binary("Mul", x, graph.number(Float, alpha));
  finish(graph.binary("Mul", x, graph.unary("Sigmoid", scaled)), isLast(0));
  return llvm::Error::success();
}

llvm::Error QdqWriter::prelu() {
  const Tensor *slopes = constantOf(1);
  if (!slopes)
    return fail("expects constant slopes");
  bool last = isLast(0);
  Term x = get(0, last), slope = constant(*slopes);
  int64_t count = slopes->numElements();
  // One slope per channel, which the device has last.
  if (count == 1)
    slope = graph.reshape(slope, {1});
  else if (last && count == x.dims[1]) {
    Dims dims(x.rank() - 1, 1);
    dims[0] = count;
    slope = graph.reshape(slope, dims);
  } else if (last) {
    x = get(0, false);
    last = false;
  }
  finish(node("PRelu", {x, slope}, last, {}), last);
  return llvm::Error::success();
}

llvm::Error QdqWriter::clip() {
  std::vector<Term> inputs = {get(0, isLast(0))};
  const char *names[] = {"min", "max"};
  for (size_t i : {1, 2}) {
    const Tensor *bound = constantOf(i);
    float value = current->getFloat(names[i - 1], NAN);
    if (bound && bound->numElements() > 0) {
      bool isInteger = bound->type == Int8 || bound->type == Int16;
      value = std::ldexp(static_cast<float>(bound->at(0)),
                         isInteger ? bound->exponent() : 0);
    }
    inputs.push_back(std::isnan(value) ? Term() : graph.number(Float, value));
  }
  finish(node("Clip", inputs, isLast(0), {}), isLast(0));
  return llvm::Error::success();
}

/// A table: the entry that is nearest to the input.
llvm::Error QdqWriter::table() {
  const Tensor *lut = model.findInitializer(current->getString("lut"));
  const Value *from = model.findValue(current->input(0));
  if (!lut || !from || lut->numElements() < 2)
    return fail("has no table");
  int64_t count = lut->numElements(), half = from->type == Int8 ? 128 : 32768,
          step = std::max<int64_t>(2 * half / (count - (half > 128)), 1);
  std::vector<float> entries;
  for (int64_t i = 0; i < count; ++i)
    entries.push_back(std::ldexp(float(lut->intAt(i)), lut->exponent()));
  Term x = get(0, isLast(0));
  Term place = graph.binary(
      "Add",
      graph.binary("Mul", x,
                   graph.number(Float, std::ldexp(1.0, -from->exponent()))),
      graph.number(Float, half));
  if (step > 1) {
    place = graph.binary("Mul", place, graph.number(Float, 1.0 / step));
    place = chip.rounding == Rounding::HalfEven
                ? graph.unary("Round", place)
                : graph.unary("Floor", graph.binary("Add", place,
                                                    graph.number(Float, 0.5)));
  }
  Term index = graph.cast(graph.clip(place, 0, count - 1), Int64);
  finish(graph.node("Gather", {graph.floats({count}, entries), index}, Float,
                    x.dims, {{"axis", int64_t(0)}}),
         isLast(0));
  return llvm::Error::success();
}

/// Tensors are real; what changes is the scale of the result.
llvm::Error QdqWriter::quantizer() {
  finish(get(0, isLast(0)), isLast(0));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Axes and shapes
//===----------------------------------------------------------------------===//

llvm::Error QdqWriter::transpose() {
  const Real &x = reals[current->input(0)];
  int64_t rank = x.term.rank();
  auto permutation = permutationOf(*current, rank);
  if (!permutation)
    return permutation.takeError();
  const Dims &order = *permutation;
  Dims last = {0}, second = {0, rank - 1};
  for (int64_t i = 2; i < rank; ++i)
    last.push_back(i);
  last.push_back(1);
  for (int64_t i = 1; i + 1 < rank; ++i)
    second.push_back(i);
  // What only changes the device's layout changes nothing here.
  if (rank > 2 && (x.isLast ? order == second : order == last)) {
    reals[current->outputs[0]] = {x.term, !x.isLast};
    return llvm::Error::success();
  }
  finish(graph.transpose(get(0, false), order), false);
  return llvm::Error::success();
}

/// An axis of the device, where the real tensor has its channels second.
static int64_t axisWithChannelsSecond(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

llvm::Error QdqWriter::alongAxis() {
  StringRef op = current->opType;
  bool last = true;
  size_t computed = op == "Split" ? 1 : current->inputs.size();
  for (size_t i = 0; i < computed; ++i)
    last &= isLast(i) || constantOf(i);
  last &= dimsOf(current->outputs[0], false).size() > 2;
  std::vector<Term> inputs;
  for (size_t i = 0; i < computed; ++i)
    inputs.push_back(get(i, last));
  int64_t rank = inputs[0].rank(),
          axis =
              current->getInt("axis", op == "Concat" || op == "Split" ? 0 : -1);
  axis = axis < 0 ? axis + rank : axis;
  Settings own = settings("axis");
  own.emplace_back("axis", last ? axisWithChannelsSecond(axis, rank) : axis);
  if (op != "Split") {
    finish(node(op, inputs, last, own), last);
    return llvm::Error::success();
  }
  Dims sizes;
  std::vector<Term> made;
  for (size_t i = 0; i < current->outputs.size(); ++i) {
    made.push_back({nameOfResult(i), Float, dimsOf(current->outputs[i], last)});
    Dims dims = dimsOf(current->outputs[i], false);
    if (axis >= int64_t(dims.size()))
      return fail("has an axis that its outputs lack");
    sizes.push_back(dims[axis]);
  }
  inputs.push_back(graph.ints(Int64, {int64_t(sizes.size())}, sizes));
  graph.nodes("Split", inputs, made, {own.back()}, current->name);
  for (size_t i = 0; i < made.size(); ++i)
    finish(made[i], last, i);
  return llvm::Error::success();
}

llvm::Error QdqWriter::reduce() {
  Dims axes = current->getInts("axes");
  if (const Tensor *list = constantOf(1))
    for (int64_t i = 0; i < list->numElements(); ++i)
      axes.push_back(list->intAt(i));
  bool keeps = current->getInt("keepdims", 1) != 0, last = isLast(0) && keeps;
  Term x = get(0, last);
  int64_t rank = x.rank();
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  for (int64_t &axis : axes) {
    axis = axis < 0 ? axis + rank : axis;
    axis = last ? axisWithChannelsSecond(axis, rank) : axis;
  }
  Settings own = {{"keepdims", int64_t(keeps)}};
  // Sums are said by an input for long, other reductions since opset 18.
  Term list = graph.ints(Int64, {int64_t(axes.size())}, axes);
  finish(node(current->opType, {x, list}, last, own), last);
  return llvm::Error::success();
}

llvm::Error QdqWriter::shaped() {
  Term x = get(0, false);
  Dims dims = dimsOf(current->outputs[0], false);
  if (Term({"", Float, dims}).numElements() != x.numElements())
    return fail("has a result of another size than its input");
  Settings own;
  if (llvm::is_contained(dims, 0))
    own = {{"allowzero", int64_t(1)}};
  Term shape = graph.ints(Int64, {int64_t(dims.size())}, dims);
  finish(node("Reshape", {x, shape}, false, own), false);
  return llvm::Error::success();
}

llvm::Error QdqWriter::plain() {
  std::vector<Term> inputs;
  for (size_t i = 0; i < current->inputs.size(); ++i)
    inputs.push_back(current->inputs[i].empty() ? Term() : get(i, false));
  if (current->outputs.size() == 1) {
    finish(node(current->opType, inputs, false, settings()), false);
    return llvm::Error::success();
  }
  std::vector<Term> made;
  for (size_t i = 0; i < current->outputs.size(); ++i)
    made.push_back(
        current->outputs[i].empty()
            ? Term()
            : Term{nameOfResult(i), Float, dimsOf(current->outputs[i], false)});
  graph.nodes(current->opType, inputs, made, settings(), current->name);
  for (size_t i = 0; i < made.size(); ++i)
    if (made[i])
      finish(made[i], false, i);
  return llvm::Error::success();
}

llvm::Error QdqWriter::cache() {
  Term x = get(0, false);
  int64_t axis = current->getInt("frame_axis", 1),
          frames = current->getInt("window_size", 1) - 1;
  axis = axis < 0 ? axis + x.rank() : axis;
  if (axis < 0 || axis >= x.rank() || frames < 0)
    return fail("has an axis that its input lacks");
  Dims dims = x.dims;
  dims[axis] = frames;
  if (elementCount(dims) > mostElements)
    return fail("keeps more frames than any chip holds");
  std::vector<float> none(Term({"", Float, dims}).numElements());
  finish(frames ? graph.concat({graph.floats(dims, none), x}, axis) : x, false);
  return llvm::Error::success();
}

llvm::Error QdqWriter::rootMeanSquare() {
  Term x = get(0, false);
  int64_t axis = current->getInt("axis", -1);
  axis = axis < 0 ? axis + x.rank() : axis;
  Term value =
      rootMeanSquareNorm(graph, x, axis, current->getFloat("epsilon", 1e-5f));
  if (!current->input(1).empty())
    value = graph.binary("Mul", value, get(1, false));
  finish(value, false);
  return llvm::Error::success();
}
