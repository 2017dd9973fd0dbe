// Attributes, constants and shapes as downgrade rules look at them.

#include "DowngradeUtils.h"

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::optional<int64_t> readInt(Attribute attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getBitWidth() > 64)
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

std::optional<int64_t> exporting::getInt(const Node &node, StringRef name) {
  return readInt(node.attributes.get(name));
}

std::optional<Ints> exporting::getInts(const Node &node, StringRef name) {
  auto array = dyn_cast_or_null<ArrayAttr>(node.attributes.get(name));
  if (!array)
    return std::nullopt;
  Ints values;
  for (Attribute element : array) {
    std::optional<int64_t> value = readInt(element);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<StringRef> exporting::getString(const Node &node,
                                              StringRef name) {
  if (auto text = dyn_cast_or_null<StringAttr>(node.attributes.get(name)))
    return text.getValue();
  return std::nullopt;
}

void exporting::setInt(Node &node, StringRef name, int64_t value) {
  Builder builder(node.op->getContext());
  node.attributes.set(
      name, builder.getIntegerAttr(builder.getIntegerType(64, true), value));
}

void exporting::setInts(Node &node, StringRef name, ArrayRef<int64_t> values) {
  Builder builder(node.op->getContext());
  node.attributes.set(name, builder.getI64ArrayAttr(values));
}

void exporting::setFloat(Node &node, StringRef name, float value) {
  Builder builder(node.op->getContext());
  node.attributes.set(name, builder.getF32FloatAttr(value));
}

void exporting::setString(Node &node, StringRef name, StringRef value) {
  Builder builder(node.op->getContext());
  node.attributes.set(name, builder.getStringAttr(value));
}

LogicalResult exporting::dropDefault(Node &node, StringRef name,
                                     int64_t value) {
  if (!node.attributes.get(name))
    return success();
  if (getInt(node, name) != value)
    return failure();
  node.attributes.erase(name);
  return success();
}

LogicalResult exporting::dropDefault(Node &node, StringRef name,
                                     StringRef value) {
  if (!node.attributes.get(name))
    return success();
  if (getString(node, name) != value)
    return failure();
  node.attributes.erase(name);
  return success();
}

LogicalResult exporting::dropDefault(Node &node, StringRef name, double value) {
  Attribute attribute = node.attributes.get(name);
  if (!attribute)
    return success();
  auto number = dyn_cast<FloatAttr>(attribute);
  if (!number || number.getValueAsDouble() != value)
    return failure();
  node.attributes.erase(name);
  return success();
}

LogicalResult exporting::dropOnes(Node &node, StringRef name) {
  if (!node.attributes.get(name))
    return success();
  std::optional<Ints> values = getInts(node, name);
  if (!values || llvm::any_of(*values, [](int64_t v) { return v != 1; }))
    return failure();
  node.attributes.erase(name);
  return success();
}

LogicalResult exporting::refuse(const Node &node, StringRef name) {
  return success(!node.attributes.get(name));
}

LogicalResult exporting::refuseAll(Node &) { return failure(); }

//===----------------------------------------------------------------------===//
// Constant operands
//===----------------------------------------------------------------------===//

static ElementsAttr getConstantOf(Value value) {
  return value ? onnx::getConstant(value) : ElementsAttr();
}

std::optional<Ints> exporting::getConstantInts(Value value) {
  ElementsAttr constant = getConstantOf(value);
  if (!constant)
    return std::nullopt;
  return onnx::readInts(constant, maxAttributeElements);
}

LogicalResult exporting::operandToInts(Node &node, size_t index,
                                       StringRef name) {
  if (!node.has(index))
    return success();
  std::optional<Ints> values = getConstantInts(node.operand(index));
  if (!values)
    return failure();
  setInts(node, name, *values);
  return success();
}

LogicalResult exporting::operandToFloats(Node &node, size_t index,
                                         StringRef name) {
  if (!node.has(index))
    return success();
  ElementsAttr constant = getConstantOf(node.operand(index));
  if (!constant || !constant.getElementType().isF32())
    return failure();
  auto values = onnx::readFloats(constant, maxAttributeElements);
  if (!values)
    return failure();
  SmallVector<float> narrowed(values->begin(), values->end());
  Builder builder(node.op->getContext());
  node.attributes.set(name, builder.getF32ArrayAttr(narrowed));
  return success();
}

LogicalResult exporting::operandToFloat(Node &node, size_t index,
                                        StringRef name) {
  if (!node.has(index))
    return success();
  ElementsAttr constant = getConstantOf(node.operand(index));
  auto values = constant ? onnx::readFloats(constant, 1) : std::nullopt;
  if (!values || values->size() != 1 ||
      !isa<FloatType>(constant.getElementType()))
    return failure();
  float narrowed = static_cast<float>(values->front());
  // A number that isn't one survives as an attribute too.
  if (narrowed != values->front() && !std::isnan(values->front()))
    return failure();
  setFloat(node, name, narrowed);
  return success();
}

void exporting::keepOperands(Node &node, size_t count) {
  if (node.operands.size() > count)
    node.operands.resize(count);
}

LogicalResult exporting::refuseNegative(const Node &node, size_t index) {
  ElementsAttr constant = getConstantOf(node.operand(index));
  if (!constant)
    return success();
  auto values = onnx::readInts(constant, int64_t(1) << 22);
  return success(values &&
                 llvm::none_of(*values, [](int64_t v) { return v < 0; }));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<int64_t> exporting::rankOf(Value value) {
  if (value)
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      return tensor.getRank();
  return std::nullopt;
}

Type exporting::elementTypeOf(Value value) {
  if (value)
    if (auto tensor = dyn_cast<TensorType>(value.getType()))
      if (!isa<onnx::UnknownType>(tensor.getElementType()))
        return tensor.getElementType();
  return {};
}

bool exporting::haveSameElements(Value a, Value b) {
  Type typeA = elementTypeOf(a), typeB = elementTypeOf(b);
  return !typeA || !typeB || typeA == typeB;
}

bool exporting::hasOneElement(Value value) {
  auto tensor =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return tensor &&
         llvm::all_of(tensor.getShape(), [](int64_t dim) { return dim == 1; });
}

/// The dimensions that the type and the names beside it tell.
static std::optional<onnx::Dims> dimsOf(onnx::ShapeContext &context,
                                        Value value) {
  if (!value || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  return context.getDims(value);
}

bool exporting::isSuffixOf(Value value, Value other) {
  // One context for both, so that unknown dimensions of different tensors are
  // different.
  onnx::ShapeContext context;
  std::optional<onnx::Dims> dims = dimsOf(context, value);
  std::optional<onnx::Dims> otherDims = dimsOf(context, other);
  return dims && otherDims && dims->size() <= otherDims->size() &&
         ArrayRef(*otherDims).take_back(dims->size()) == ArrayRef(*dims);
}

bool exporting::haveSameDims(Value a, Value b) {
  return a == b || (rankOf(a) == rankOf(b) && isSuffixOf(a, b));
}

bool exporting::hasResult(const Node &node, size_t index) {
  return index < node.op->getNumResults() &&
         !isa<NoneType>(node.op->getResult(index).getType());
}

LogicalResult exporting::makeAxesPositive(Node &node, StringRef name,
                                          std::optional<int64_t> rank,
                                          int64_t keptFrom) {
  if (!node.attributes.get(name))
    return success();
  std::optional<int64_t> single = getInt(node, name);
  std::optional<Ints> axes = single ? Ints{*single} : getInts(node, name);
  if (!axes)
    return failure();
  bool changed = false;
  for (int64_t &axis : *axes) {
    if (axis >= 0 || axis >= keptFrom)
      continue;
    if (!rank || axis < -*rank)
      return failure();
    axis += *rank;
    changed = true;
  }
  if (changed && single)
    setInt(node, name, axes->front());
  else if (changed)
    setInts(node, name, *axes);
  return success();
}
