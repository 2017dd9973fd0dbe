// Finds the rule that takes a fused node apart, and emits parts.

#include "Decompose.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

bool import::isKeptWhole(StringRef domain, StringRef opType) {
  return domain == "com.microsoft" &&
         (opType == "Attention" || opType == "EmbedLayerNormalization");
}

LogicalResult import::decomposeNode(StringRef domain, Node &node,
                                    Upgrader &upgrader) {
  for (ArrayRef<DecomposeRule> list :
       {getFusedDecompositions(), getAttentionDecompositions(),
        getBlockedDecompositions(), getBnb4Decompositions(),
        getEmbeddingDecompositions()})
    for (const DecomposeRule &rule : list)
      if (rule.opType == node.opType && rule.domain == domain)
        return rule.apply(node, upgrader);
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value Parts::operator()(StringRef opType, Operands operands, StringRef suffix,
                        Attributes attributes) {
  if (hasFailed)
    return {};
  NamedAttrList list(attributes);
  FailureOr<Value> value =
      emitOne(upgrader, opType, operands, std::move(list), suffix);
  hasFailed = failed(value);
  if (hasFailed)
    return {};
  if (suffix.empty())
    main = *value;
  return *value;
}

SmallVector<Value> Parts::split(Value value, int64_t axis,
                                ArrayRef<int64_t> sizes, StringRef suffix) {
  SmallVector<Value> none(sizes.size());
  if (hasFailed)
    return none;
  NamedAttrList attributes;
  attributes.push_back(attribute("axis", axis));
  auto results =
      upgrader.emit("Split", {value, ints(sizes, (suffix + "_sizes").str())},
                    attributes, suffix, sizes.size());
  hasFailed = failed(results);
  return hasFailed ? none : *results;
}

Value Parts::cast(Value value, Type type, StringRef suffix) {
  Builder &b = upgrader.builder();
  return (*this)("Cast", {value}, suffix,
                 b.getNamedAttr("to", TypeAttr::get(type)));
}

Value Parts::transpose(Value value, ArrayRef<int64_t> order, StringRef suffix) {
  return (*this)("Transpose", {value}, suffix, attribute("perm", order));
}

Value Parts::reshape(Value value, ArrayRef<int64_t> shape, StringRef suffix) {
  return (*this)("Reshape", {value, ints(shape, (suffix + "_shape").str())},
                 suffix);
}

Value Parts::unsqueeze(Value value, ArrayRef<int64_t> axes, StringRef suffix) {
  return (*this)("Unsqueeze", {value, ints(axes, (suffix + "_axes").str())},
                 suffix);
}

Value Parts::sizeOf(Value value, int64_t axis, StringRef suffix) {
  Value shape = (*this)("Shape", {value}, (suffix + "_shape").str());
  Value index =
      scalar(static_cast<double>(axis), upgrader.builder().getI64Type(),
             (suffix + "_axis").str());
  return (*this)("Gather", {shape, index}, suffix,
                 attribute("axis", int64_t(0)));
}

NamedAttribute Parts::attribute(StringRef name, int64_t value) {
  Builder &b = upgrader.builder();
  return b.getNamedAttr(
      name, b.getIntegerAttr(b.getIntegerType(64, /*isSigned=*/true), value));
}

NamedAttribute Parts::attribute(StringRef name, double value) {
  Builder &b = upgrader.builder();
  return b.getNamedAttr(name, b.getF32FloatAttr(static_cast<float>(value)));
}

NamedAttribute Parts::attribute(StringRef name, ArrayRef<int64_t> values) {
  Builder &b = upgrader.builder();
  return b.getNamedAttr(name, b.getI64ArrayAttr(values));
}

/// Gives a tensor that an op makes a name.
static void setName(OpResult result, const Twine &name, Builder &b) {
  Operation *op = result.getOwner();
  SmallVector<Attribute> names(op->getNumResults(), b.getStringAttr(""));
  if (auto old = op->getAttrOfType<ArrayAttr>(onnx::resultNamesAttr))
    llvm::copy(old, names.begin());
  names[result.getResultNumber()] = b.getStringAttr(name);
  op->setAttr(onnx::resultNamesAttr, b.getArrayAttr(names));
}

LogicalResult Parts::finish(Operands results) {
  if (hasFailed)
    return failure();
  Builder &b = upgrader.builder();
  node.replacement.assign(results.begin(), results.end());
  node.replacement.resize(std::max(results.size(), node.resultNames.size()));
  if (main && !llvm::is_contained(results, main))
    setName(llvm::cast<OpResult>(main), node.resultNames.front() + "_raw", b);
  for (auto [name, value] : llvm::zip(node.resultNames, node.replacement)) {
    auto result = dyn_cast_or_null<OpResult>(value);
    if (result && !name.empty() && !llvm::is_contained(node.operands, value))
      setName(result, name, b);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What is known of a node
//===----------------------------------------------------------------------===//

std::optional<int64_t> import::sizeAt(Upgrader &upgrader, Value value,
                                      int64_t axis) {
  std::optional<onnx::Dims> dims = dimsOf(upgrader, value);
  if (!dims)
    return std::nullopt;
  if (axis < 0)
    axis += dims->size();
  if (axis < 0 || axis >= static_cast<int64_t>(dims->size()))
    return std::nullopt;
  return (*dims)[axis].getConstant();
}

int64_t import::intOr(const Node &node, StringRef name, int64_t missing) {
  auto value = dyn_cast_or_null<IntegerAttr>(node.attributes.get(name));
  return value ? value.getValue().getSExtValue() : missing;
}

double import::floatOr(const Node &node, StringRef name, double missing) {
  auto value = dyn_cast_or_null<FloatAttr>(node.attributes.get(name));
  return value ? value.getValueAsDouble() : missing;
}

std::string import::textOr(const Node &node, StringRef name,
                           StringRef missing) {
  auto value = dyn_cast_or_null<StringAttr>(node.attributes.get(name));
  return value ? value.str() : missing.str();
}

SmallVector<double> import::floatsOf(const Node &node, StringRef name) {
  SmallVector<double> values;
  if (auto list = dyn_cast_or_null<ArrayAttr>(node.attributes.get(name)))
    for (Attribute element : list)
      if (auto number = dyn_cast<FloatAttr>(element))
        values.push_back(number.getValueAsDouble());
  return values;
}

SmallVector<int64_t> import::intsOf(const Node &node, StringRef name) {
  SmallVector<int64_t> values;
  if (auto list = dyn_cast_or_null<ArrayAttr>(node.attributes.get(name)))
    for (Attribute element : list)
      if (auto number = dyn_cast<IntegerAttr>(element))
        values.push_back(number.getValue().getSExtValue());
  return values;
}
