// Applies upgrade rules to a node, oldest first, and holds what rules share.
//
// A rule may rename the node (Upsample becomes Resize); the rules of the new
// name take over from there.

#include "Upgrade.h"
#include "UpgradeUtils.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

namespace {
using RulesOfOp = llvm::SmallVector<const UpgradeRule *>;
} // namespace

/// All rules by operator, ascending by version.
static const llvm::StringMap<RulesOfOp> &getRules() {
  static const llvm::StringMap<RulesOfOp> rules = [] {
    llvm::StringMap<RulesOfOp> map;
    for (ArrayRef<UpgradeRule> list :
         {getMathUpgrades(), getTensorUpgrades(), getNNUpgrades(),
          getReductionUpgrades(), getMiscUpgrades()})
      for (const UpgradeRule &rule : list)
        map[rule.opType].push_back(&rule);
    for (auto &entry : map)
      llvm::sort(entry.second, [](const UpgradeRule *a, const UpgradeRule *b) {
        return a->version < b->version;
      });
    return map;
  }();
  return rules;
}

static const UpgradeRule *findNextRule(StringRef opType, int64_t version) {
  auto it = getRules().find(opType);
  if (it == getRules().end())
    return nullptr;
  for (const UpgradeRule *rule : it->second)
    if (rule->version > version)
      return rule;
  return nullptr;
}

LogicalResult import::upgradeNode(Node &node, Upgrader &upgrader) {
  int64_t version = node.opset;
  // Opset 10 took Upsample away, but files have it still.
  if (node.opType == "Upsample" && version == 10)
    version = 9;
  while (const UpgradeRule *rule = findNextRule(node.opType, version)) {
    if (failed(rule->apply(node, upgrader)))
      return failure();
    if (!node.replacement.empty())
      return success();
    version = rule->version;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Upgrader::constant(ArrayRef<int64_t> values, StringRef suffix) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder().getI64Type());
  return constant(DenseElementsAttr::get(type, values), suffix);
}

Value Upgrader::scalar(double value, Type elementType, StringRef suffix) {
  Attribute element;
  if (auto integer = dyn_cast_or_null<IntegerType>(elementType))
    element = IntegerAttr::get(
        integer,
        APInt(64, static_cast<int64_t>(value)).sextOrTrunc(integer.getWidth()));
  else if (auto real = dyn_cast_or_null<FloatType>(elementType))
    element = FloatAttr::get(real, value);
  else
    element = FloatAttr::get(elementType = builder().getF32Type(), value);
  return constant(
      DenseElementsAttr::get(RankedTensorType::get({}, elementType), element),
      suffix);
}

Value import::floatsConstant(Upgrader &upgrader, ArrayRef<double> values,
                             StringRef suffix) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    upgrader.builder().getF32Type());
  llvm::SmallVector<float> narrowed(values.begin(), values.end());
  return upgrader.constant(
      DenseElementsAttr::get(type, ArrayRef<float>(narrowed)), suffix);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::optional<int64_t> readInt(Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getBitWidth() > 64)
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

static std::optional<double> readFloat(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  return std::nullopt;
}

static std::optional<std::string> readString(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue().str();
  return std::nullopt;
}

template <typename T>
static std::optional<llvm::SmallVector<T>>
readList(Attribute attribute, std::optional<T> (*read)(Attribute)) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array)
    return std::nullopt;
  llvm::SmallVector<T> values;
  for (Attribute element : array) {
    std::optional<T> value = read(element);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

static std::optional<Ints> readInts(Attribute attribute) {
  return readList<int64_t>(attribute, readInt);
}

static std::optional<Doubles> readFloats(Attribute attribute) {
  // A list without elements has lost what its elements would be.
  if (auto array = dyn_cast<ArrayAttr>(attribute); array && array.empty())
    return Doubles();
  return readList<double>(attribute, readFloat);
}

template <typename T>
static FailureOr<std::optional<T>> takeAs(Node &node, Upgrader &upgrader,
                                          StringRef name, StringRef kind,
                                          std::optional<T> (*read)(Attribute)) {
  Attribute attribute = node.take(name);
  if (!attribute)
    return std::optional<T>();
  std::optional<T> value = read(attribute);
  if (!value) {
    upgrader.error() << "expects attribute '" << name << "' to be " << kind
                     << ", but got " << attribute;
    return failure();
  }
  return value;
}

FailureOr<std::optional<int64_t>>
import::takeInt(Node &node, Upgrader &upgrader, StringRef name) {
  return takeAs<int64_t>(node, upgrader, name, "an integer", readInt);
}

FailureOr<std::optional<Ints>> import::takeInts(Node &node, Upgrader &upgrader,
                                                StringRef name) {
  return takeAs<Ints>(node, upgrader, name, "a list of integers", readInts);
}

FailureOr<std::optional<double>>
import::takeFloat(Node &node, Upgrader &upgrader, StringRef name) {
  return takeAs<double>(node, upgrader, name, "a float", readFloat);
}

FailureOr<std::optional<Doubles>>
import::takeFloats(Node &node, Upgrader &upgrader, StringRef name) {
  return takeAs<Doubles>(node, upgrader, name, "a list of floats", readFloats);
}

FailureOr<std::optional<std::string>>
import::takeString(Node &node, Upgrader &upgrader, StringRef name) {
  return takeAs<std::string>(node, upgrader, name, "a string", readString);
}

void import::setInt(Node &node, Upgrader &upgrader, StringRef name,
                    int64_t value) {
  Builder &builder = upgrader.builder();
  node.attributes.set(
      name, builder.getIntegerAttr(builder.getIntegerType(64, true), value));
}

void import::setFloat(Node &node, Upgrader &upgrader, StringRef name,
                      double value) {
  node.attributes.set(
      name, upgrader.builder().getF32FloatAttr(static_cast<float>(value)));
}

void import::setString(Node &node, Upgrader &upgrader, StringRef name,
                       StringRef value) {
  node.attributes.set(name, upgrader.builder().getStringAttr(value));
}

/// Puts what an attribute said into the place of an operand, which the node
/// can't have given too.
static LogicalResult fillOperand(Node &node, Upgrader &upgrader,
                                 StringRef attribute, size_t index,
                                 llvm::function_ref<Value()> make) {
  if (node.operand(index))
    return upgrader.error() << "expects attribute '" << attribute
                            << "' or operand " << index << ", but got both";
  node.setOperand(index, make());
  return success();
}

LogicalResult import::intsToOperand(Node &node, Upgrader &upgrader,
                                    StringRef attribute, size_t index,
                                    bool dropEmpty) {
  auto values = takeInts(node, upgrader, attribute);
  if (failed(values))
    return failure();
  if (!*values || (dropEmpty && (*values)->empty()))
    return success();
  return fillOperand(node, upgrader, attribute, index,
                     [&] { return upgrader.constant(**values, attribute); });
}

LogicalResult import::floatToOperand(Node &node, Upgrader &upgrader,
                                     StringRef attribute, size_t index,
                                     Type elementType, StringRef suffix) {
  auto value = takeFloat(node, upgrader, attribute);
  if (failed(value))
    return failure();
  if (!*value)
    return success();
  return fillOperand(node, upgrader, attribute, index, [&] {
    return upgrader.scalar(**value, elementType, suffix);
  });
}

LogicalResult import::makeAxesPositive(Node &node, Upgrader &upgrader,
                                       StringRef attribute,
                                       std::optional<int64_t> rank,
                                       int64_t keptFrom) {
  Attribute axes = node.attributes.get(attribute);
  if (!axes || !rank)
    return success();
  auto toPositive = [&](int64_t axis) {
    bool change = axis < 0 && axis < keptFrom && axis >= -*rank;
    return change ? axis + *rank : axis;
  };
  if (std::optional<int64_t> axis = readInt(axes)) {
    if (toPositive(*axis) != *axis)
      setInt(node, upgrader, attribute, toPositive(*axis));
    return success();
  }
  std::optional<Ints> list = readInts(axes);
  if (!list)
    return upgrader.error()
           << "expects attribute '" << attribute
           << "' to be an integer or a list of integers, but got " << axes;
  Ints positive = llvm::map_to_vector(*list, toPositive);
  if (positive != *list)
    node.attributes.set(attribute,
                        upgrader.builder().getI64ArrayAttr(positive));
  return success();
}

LogicalResult import::dropConsumedInputs(Node &node, Upgrader &) {
  node.take("consumed_inputs");
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> import::rankOf(Upgrader &upgrader, Value value) {
  if (!value || !isa<TensorType>(value.getType()))
    return std::nullopt;
  return upgrader.shapes().getRank(value);
}

std::optional<onnx::Dims> import::dimsOf(Upgrader &upgrader, Value value) {
  if (!value || !isa<TensorType>(value.getType()))
    return std::nullopt;
  return upgrader.shapes().getDims(value);
}

bool import::hasOneElement(Upgrader &upgrader, Value value) {
  std::optional<onnx::Dims> dims = dimsOf(upgrader, value);
  return dims && llvm::all_of(*dims, [](const onnx::Dim &dim) {
           return dim.isConstant(1);
         });
}

Type import::floatTypeOf(Upgrader &upgrader, Value value) {
  if (value)
    if (auto tensor = dyn_cast<TensorType>(value.getType()))
      if (isa<FloatType>(tensor.getElementType()))
        return tensor.getElementType();
  return upgrader.builder().getF32Type();
}

FailureOr<Value> import::emitOne(Upgrader &upgrader, StringRef opType,
                                 ArrayRef<Value> operands,
                                 NamedAttrList attributes, StringRef suffix) {
  auto results =
      upgrader.emit(opType, operands, std::move(attributes), suffix, 1);
  if (failed(results) || results->empty())
    return failure();
  return results->front();
}
