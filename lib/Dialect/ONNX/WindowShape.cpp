// Windows that slide over spatial dimensions: attributes, output dimensions
// and paddings.
//
// Dimensions are computed over expressions, so one formula serves static and
// symbolic shapes; the static windows are read off the same expressions.

#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::window;

std::optional<AutoPad> window::parseAutoPad(StringRef text) {
  return llvm::StringSwitch<std::optional<AutoPad>>(text)
      .Case("NOTSET", AutoPad::NotSet)
      .Case("SAME_UPPER", AutoPad::SameUpper)
      .Case("SAME_LOWER", AutoPad::SameLower)
      .Case("VALID", AutoPad::Valid)
      .Default(std::nullopt);
}

Dim Window::getExtent(size_t i) const {
  return (kernel[i] - Dim(1)) * Dim(dilations[i]) + Dim(1);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The integers of an attribute; none if the op hasn't got it. An empty list
/// is as good as none.
static std::optional<SmallVector<int64_t>> findInts(Operation *op,
                                                    StringRef name) {
  auto array = op->getAttrOfType<ArrayAttr>(name);
  if (!array || array.empty())
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Attribute element : array) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer || integer.getValue().getSignificantBits() > 64)
      return std::nullopt;
    values.push_back(integer.getValue().getSExtValue());
  }
  return values;
}

static int64_t findInt(Operation *op, StringRef name, int64_t otherwise) {
  auto integer = op->getAttrOfType<IntegerAttr>(name);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return otherwise;
  return integer.getValue().getSExtValue();
}

SmallVector<int64_t> window::getIntsOf(Operation *op, StringRef name,
                                       size_t size, int64_t value) {
  if (std::optional<SmallVector<int64_t>> found = findInts(op, name))
    return *found;
  return SmallVector<int64_t>(size, value);
}

static AutoPad getAutoPad(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>("auto_pad");
  return text ? parseAutoPad(text.getValue()).value_or(AutoPad::NotSet)
              : AutoPad::NotSet;
}

LogicalResult window::verifyWindow(Operation *op,
                                   std::optional<int64_t> spatialRank,
                                   unsigned firstLabel, bool needsKernel) {
  if (auto text = op->getAttrOfType<StringAttr>("auto_pad");
      text && !parseAutoPad(text.getValue()))
    return op->emitOpError("expects auto_pad to be NOTSET, SAME_UPPER, "
                           "SAME_LOWER or VALID, but got '")
           << text.getValue() << "' (C" << firstLabel << ")";

  std::optional<size_t> rank;
  if (spatialRank)
    rank = *spatialRank;
  // Entries per dimension: one, or two for the paddings.
  auto check = [&](StringRef name, size_t perDim, int64_t least,
                   unsigned label) -> LogicalResult {
    std::optional<SmallVector<int64_t>> values = findInts(op, name);
    if (!values)
      return success();
    if (!rank && values->size() % perDim == 0)
      rank = values->size() / perDim;
    if (!rank || values->size() != *rank * perDim)
      return op->emitOpError("expects ")
             << name << " to have "
             << (perDim == 1 ? "one entry" : "two entries")
             << " per spatial dimension"
             << (rank ? " (" + std::to_string(*rank) + " dimensions)" : "")
             << ", but got " << values->size() << " entries (C" << label << ")";
    for (int64_t value : *values)
      if (value < least)
        return op->emitOpError("expects ")
               << name << " to have "
               << (least == 1 ? "positive" : "non-negative")
               << " entries, but got " << value << " (C" << label << ")";
    return success();
  };

  if (needsKernel && !findInts(op, "kernel_shape"))
    return op->emitOpError("expects kernel_shape to have one entry per spatial "
                           "dimension, but got none (C")
           << firstLabel + 1 << ")";
  if (failed(check("kernel_shape", 1, 1, firstLabel + 1)) ||
      failed(check("strides", 1, 1, firstLabel + 2)) ||
      failed(check("dilations", 1, 1, firstLabel + 2)))
    return failure();
  // Paddings that auto_pad makes void are nobody's concern.
  if (getAutoPad(op) != AutoPad::NotSet)
    return success();
  return check("pads", 2, 0, firstLabel + 3);
}

Window window::getWindow(Operation *op, size_t spatialRank,
                         ArrayRef<Dim> kernel) {
  Window result;
  if (std::optional<SmallVector<int64_t>> shape = findInts(op, "kernel_shape"))
    result.kernel.assign(shape->begin(), shape->end());
  else
    result.kernel.assign(kernel.begin(), kernel.end());
  result.kernel.resize(spatialRank, Dim(1));
  result.strides = getIntsOf(op, "strides", spatialRank, 1);
  result.strides.resize(spatialRank, 1);
  result.dilations = getIntsOf(op, "dilations", spatialRank, 1);
  result.dilations.resize(spatialRank, 1);
  result.autoPad = getAutoPad(op);
  result.ceilMode = findInt(op, "ceil_mode", 0) != 0;
  SmallVector<int64_t> pads(2 * spatialRank, 0);
  if (result.autoPad == AutoPad::NotSet) {
    pads = getIntsOf(op, "pads", 2 * spatialRank, 0);
    pads.resize(2 * spatialRank, 0);
  }
  ArrayRef<int64_t> both(pads);
  result.padsBegin.assign(both.take_front(spatialRank));
  result.padsEnd.assign(both.take_back(spatialRank));
  return result;
}

//===----------------------------------------------------------------------===//
// Output dimensions
//===----------------------------------------------------------------------===//

static bool isSame(AutoPad autoPad) {
  return autoPad == AutoPad::SameUpper || autoPad == AutoPad::SameLower;
}

/// The number of windows along dimension `i`.
static Dim countWindows(const Window &window, size_t i, const Dim &input) {
  Dim stride(window.strides[i]);
  if (isSame(window.autoPad))
    return input.ceilDiv(stride);
  Dim begin(window.padsBegin[i]), end(window.padsEnd[i]);
  Dim extent = window.getExtent(i);
  Dim room = input + begin + end - extent;
  if (!window.ceilMode)
    return room.floorDiv(stride) + Dim(1);
  Dim count = room.ceilDiv(stride) + Dim(1);
  // The last window starts before in + begin + end - extent + s, so that only
  // a long stride or padding lets one start behind the input.
  std::optional<int64_t> slack = (end + stride - extent).getConstant();
  if (slack && *slack <= 0)
    return count;
  return Dim::min(count, (input + begin).ceilDiv(stride));
}

FailureOr<Dims> window::inferSpatialDims(Operation *op, const Window &window,
                                         ArrayRef<Dim> input) {
  Dims output;
  for (auto [i, dim] : llvm::enumerate(input.take_front(window.getRank()))) {
    Dim padded = dim + Dim(window.padsBegin[i]) + Dim(window.padsEnd[i]);
    std::optional<int64_t> room = (padded - window.getExtent(i)).getConstant();
    if (!isSame(window.autoPad) && room && *room < 0)
      return op->emitOpError("expects a window within the padded input, but "
                             "got a window of ")
             << window.getExtent(i).str() << " over " << padded.str()
             << " elements in spatial dimension " << i;
    output.push_back(countWindows(window, i, dim));
  }
  return output;
}

/// The dimension that a transposed window makes before anything is cut off.
static Dim getFullDim(const Window &window, size_t i, const Dim &input,
                      ArrayRef<int64_t> outputPadding) {
  Dim full = Dim(window.strides[i]) * (input - Dim(1)) + window.getExtent(i);
  return outputPadding.empty() ? full : full + Dim(outputPadding[i]);
}

static Dim getTransposedDim(const Window &window, size_t i, const Dim &input,
                            ArrayRef<int64_t> outputPadding,
                            ArrayRef<int64_t> outputShape) {
  if (!outputShape.empty())
    return Dim(outputShape[i]);
  Dim full = getFullDim(window, i, input, outputPadding);
  if (isSame(window.autoPad))
    return Dim::min(full, input * Dim(window.strides[i]));
  return full - Dim(window.padsBegin[i]) - Dim(window.padsEnd[i]);
}

FailureOr<Dims> window::inferTransposedSpatialDims(
    Operation *op, const Window &window, ArrayRef<Dim> input,
    ArrayRef<int64_t> outputPadding, ArrayRef<int64_t> outputShape) {
  Dims output;
  for (auto [i, dim] : llvm::enumerate(input.take_front(window.getRank()))) {
    output.push_back(
        getTransposedDim(window, i, dim, outputPadding, outputShape));
    std::optional<int64_t> size = output.back().getConstant();
    if (size && *size < 0)
      return op->emitOpError("expects pads that leave something of the output, "
                             "but got a size of ")
             << *size << " in spatial dimension " << i;
  }
  return output;
}

/// Halves a total padding; the odd element goes to the end for SAME_UPPER and
/// to the beginning otherwise.
static int64_t getBeginOf(int64_t total, AutoPad autoPad) {
  return autoPad == AutoPad::SameUpper ? total / 2 : total - total / 2;
}

/// What plain and transposed static windows have in common.
static std::optional<StaticWindow> startStatic(const Window &window,
                                               ArrayRef<int64_t> input) {
  StaticWindow result;
  if (input.size() != window.getRank() ||
      window.kernel.size() != window.getRank())
    return std::nullopt;
  for (const Dim &dim : window.kernel) {
    std::optional<int64_t> size = dim.getConstant();
    if (!size)
      return std::nullopt;
    result.kernel.push_back(*size);
  }
  result.input.assign(input);
  result.strides = window.strides;
  result.dilations = window.dilations;
  return result;
}

std::optional<StaticWindow> window::getStaticWindow(const Window &window,
                                                    ArrayRef<int64_t> input) {
  std::optional<StaticWindow> result = startStatic(window, input);
  if (!result)
    return std::nullopt;
  for (size_t i = 0, e = window.getRank(); i < e; ++i) {
    std::optional<int64_t> output =
        countWindows(window, i, Dim(input[i])).getConstant();
    if (!output || *output < 0)
      return std::nullopt;
    // How far the last window reaches, counted from the input's first element.
    std::optional<int64_t> reach = (Dim(*output - 1) * Dim(window.strides[i]) +
                                    window.getExtent(i) - Dim(input[i]))
                                       .getConstant();
    if (!reach)
      return std::nullopt;
    int64_t begin = window.padsBegin[i], end = window.padsEnd[i];
    if (isSame(window.autoPad)) {
      int64_t total = std::max<int64_t>(0, *reach);
      begin = getBeginOf(total, window.autoPad);
      end = total - begin;
    }
    std::optional<int64_t> overhang =
        (Dim(*reach) - Dim(begin) - Dim(end)).getConstant();
    if (!overhang)
      return std::nullopt;
    result->output.push_back(*output);
    result->padsBegin.push_back(begin);
    result->padsEnd.push_back(end);
    result->overhang.push_back(std::max<int64_t>(0, *overhang));
  }
  return result;
}

std::optional<StaticWindow>
window::getStaticTransposedWindow(const Window &window, ArrayRef<int64_t> input,
                                  ArrayRef<int64_t> outputPadding,
                                  ArrayRef<int64_t> outputShape) {
  std::optional<StaticWindow> result = startStatic(window, input);
  if (!result)
    return std::nullopt;
  bool computesPads = isSame(window.autoPad) || !outputShape.empty();
  for (size_t i = 0, e = window.getRank(); i < e; ++i) {
    Dim dim(input[i]);
    std::optional<int64_t> output =
        getTransposedDim(window, i, dim, outputPadding, outputShape)
            .getConstant();
    std::optional<int64_t> full =
        getFullDim(window, i, dim, outputPadding).getConstant();
    if (!output || !full || *output < 0)
      return std::nullopt;
    std::optional<int64_t> total = (Dim(*full) - Dim(*output)).getConstant();
    if (!total)
      return std::nullopt;
    int64_t begin =
        computesPads ? getBeginOf(std::max<int64_t>(0, *total), window.autoPad)
                     : window.padsBegin[i];
    std::optional<int64_t> end = (Dim(*total) - Dim(begin)).getConstant();
    if (!end)
      return std::nullopt;
    result->output.push_back(*output);
    result->padsBegin.push_back(begin);
    result->padsEnd.push_back(*end);
  }
  result->overhang.assign(window.getRank(), 0);
  return result;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static std::optional<ArrayRef<int64_t>> getShape(Value value) {
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type)
    return std::nullopt;
  return type.getShape();
}

LogicalResult window::verifyConv(Operation *op, Value x, Value w, Value bias,
                                 unsigned firstLabel) {
  std::optional<ArrayRef<int64_t>> input = getShape(x), weight = getShape(w);
  for (std::optional<ArrayRef<int64_t>> shape : {input, weight})
    if (shape && shape->size() < 3)
      return op->emitOpError("expects input and weight of rank 3 or more, but "
                             "got rank ")
             << shape->size() << " (C" << firstLabel + 4 << ")";
  if (input && weight && input->size() != weight->size())
    return op->emitOpError("expects input and weight of the same rank, but got "
                           "ranks ")
           << input->size() << " and " << weight->size() << " (C"
           << firstLabel + 4 << ")";
  std::optional<int64_t> spatialRank;
  if (input || weight)
    spatialRank = (input ? input : weight)->size() - 2;
  if (failed(verifyWindow(op, spatialRank, firstLabel)))
    return failure();

  if (std::optional<SmallVector<int64_t>> kernel = findInts(op, "kernel_shape");
      kernel && weight)
    for (auto [size, dim] : llvm::zip_equal(*kernel, weight->drop_front(2)))
      if (!ShapedType::isDynamic(dim) && size != dim)
        return op->emitOpError("expects kernel_shape to be the weight's, but "
                               "got ")
               << size << " for a weight dimension of " << dim << " (C"
               << firstLabel + 1 << ")";

  int64_t group = findInt(op, "group", 1);
  if (group < 1)
    return op->emitOpError("expects a positive group, but got ")
           << group << " (C" << firstLabel + 5 << ")";
  int64_t channels = input ? (*input)[1] : ShapedType::kDynamic;
  int64_t outChannels = weight ? (*weight)[0] : ShapedType::kDynamic;
  int64_t perGroup = weight ? (*weight)[1] : ShapedType::kDynamic;
  if (!ShapedType::isDynamic(outChannels) && outChannels % group != 0)
    return op->emitOpError("expects output channels that are a multiple of "
                           "group, but got ")
           << outChannels << " channels for group " << group << " (C"
           << firstLabel + 5 << ")";
  int64_t expected;
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(perGroup) &&
      (llvm::MulOverflow(perGroup, group, expected) || expected != channels))
    return op->emitOpError("expects as many input channels as the weight's "
                           "second dimension times group, but got ")
           << channels << " channels for " << perGroup << " times " << group
           << " (C" << firstLabel + 5 << ")";

  std::optional<ArrayRef<int64_t>> biasShape = getShape(bias);
  if (!biasShape)
    return success();
  if (biasShape->size() != 1)
    return op->emitOpError("expects a bias of rank 1, but got rank ")
           << biasShape->size() << " (C" << firstLabel + 6 << ")";
  if (!ShapedType::isDynamic(outChannels) &&
      !ShapedType::isDynamic((*biasShape)[0]) && (*biasShape)[0] != outChannels)
    return op->emitOpError("expects one bias per output channel, but got ")
           << (*biasShape)[0] << " for " << outChannels << " channels (C"
           << firstLabel + 6 << ")";
  return success();
}

FailureOr<std::optional<Dims>>
window::inferConvDims(ShapeContext &ctx, Operation *op, Value x, Value w) {
  std::optional<Dims> input = ctx.getDims(x), weight = ctx.getDims(w);
  if (!input && !weight)
    return std::optional<Dims>();
  size_t rank = input ? input->size() : weight->size();
  if (rank < 3 || (weight && weight->size() != rank))
    return op->emitOpError("expects input and weight of the same rank, 3 or "
                           "more, but got ranks ")
           << rank << " and " << (weight ? weight->size() : rank);
  Dims dims = input ? *input : ctx.unknowns(rank);
  Dims kernel = weight ? *weight : ctx.unknowns(rank);
  Window window = getWindow(op, rank - 2, ArrayRef<Dim>(kernel).drop_front(2));
  FailureOr<Dims> spatial =
      inferSpatialDims(op, window, ArrayRef<Dim>(dims).drop_front(2));
  if (failed(spatial))
    return failure();
  Dims output = {dims[0], kernel[0]};
  output.append(spatial->begin(), spatial->end());
  return std::optional<Dims>(output);
}
