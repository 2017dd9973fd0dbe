// Finds the lowest opset that can say an op, and writes the op in one.
//
// From the newest form the rules are applied version by version, downwards,
// until one refuses or the operator didn't exist before. A rule may rename the
// node (Resize becomes Upsample); the rules of the new name take over.

#include "Downgrade.h"

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Export/Export.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

/// The opset whose forms the dialect has.

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
/// Operators took element types at some operands and results only from a
/// version on. Bits of `params` are operands from 0 and results from 16; bits
/// of `types` are ONNX's data type numbers. The names are split by spaces.
struct TypeRow {
  int64_t version;
  uint32_t params;
  uint32_t types;
  llvm::StringLiteral operators;
};
} // namespace

static constexpr TypeRow typeRows[] = {
#include "TypeVersions.inc"
};

static const llvm::StringMap<SmallVector<const TypeRow *>> &getTypeRows() {
  static const llvm::StringMap<SmallVector<const TypeRow *>> rows = [] {
    llvm::StringMap<SmallVector<const TypeRow *>> map;
    for (const TypeRow &row : typeRows) {
      SmallVector<StringRef> names;
      row.operators.split(names, ' ');
      for (StringRef name : names)
        map[name].push_back(&row);
    }
    return map;
  }();
  return rows;
}

/// The bit of a value's element type; 0 if it has none that ONNX knows.
static uint32_t getTypeBit(Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (!tensor)
    return 0;
  std::optional<int64_t> number =
      onnx::onnxFromElementType(tensor.getElementType());
  return number && *number > 0 && *number < 32 ? uint32_t(1) << *number : 0;
}

int64_t exporting::minOpsetForTypes(Operation *op) {
  auto node = dyn_cast<onnx::NodeOpInterface>(op);
  if (!node || !node.getOnnxDomain().empty())
    return 1;
  auto it = getTypeRows().find(node.getOnnxOpType());
  if (it == getTypeRows().end())
    return 1;
  int64_t version = 1;
  auto visit = [&](auto values, unsigned firstBit) {
    for (auto [index, value] : llvm::enumerate(values)) {
      uint32_t type = getTypeBit(value);
      uint32_t param = uint32_t(1) << (firstBit + std::min<size_t>(index, 15));
      for (const TypeRow *row : it->second)
        if ((row->types & type) && (row->params & param))
          version = std::max(version, row->version);
    }
  };
  visit(op->getOperands(), 0);
  visit(op->getResults(), 16);
  return version;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static const DowngradeRule *findRule(StringRef opType, int64_t version) {
  using RulesOfOp = SmallVector<const DowngradeRule *>;
  static const llvm::StringMap<RulesOfOp> rules = [] {
    llvm::StringMap<RulesOfOp> map;
    for (ArrayRef<DowngradeRule> list :
         {getMathDowngrades(), getTensorDowngrades(), getNNDowngrades(),
          getReductionDowngrades(), getMiscDowngrades()})
      for (const DowngradeRule &rule : list)
        map[rule.opType].push_back(&rule);
    return map;
  }();
  auto it = rules.find(opType);
  if (it == rules.end())
    return nullptr;
  for (const DowngradeRule *rule : it->second)
    if (rule->version == version)
      return rule;
  return nullptr;
}

/// The opset that introduced a node's operator.
static int64_t getFirstVersion(const Node &node) {
  auto iface = cast<onnx::NodeOpInterface>(node.op);
  if (node.opType == iface.getOnnxOpType()) {
    ArrayRef<int> versions = iface.getSinceVersions();
    return versions.empty() ? 1 : versions.front();
  }
  // Operators that later got another name.
  return llvm::StringSwitch<int64_t>(node.opType).Case("Scatter", 9).Default(1);
}

/// Text of onnx-mlir may number the types of random ops in its own way; files
/// have ONNX's numbers.
static void nameRandomType(Node &node) {
  constexpr int64_t half = 10, wide = 11;
  auto dtype = dyn_cast_or_null<IntegerAttr>(node.attributes.get("dtype"));
  if (!dtype || !StringRef(node.opType).starts_with("Random"))
    return;
  int64_t number = dtype.getValue().getSExtValue();
  if (number == 0 || number == 2)
    node.attributes.set(
        "dtype", IntegerAttr::get(dtype.getType(), number == 0 ? half : wide));
}

static Node makeNode(Operation *op) {
  Node node;
  node.op = op;
  if (auto iface = dyn_cast<onnx::NodeOpInterface>(op))
    node.opType = iface.getOnnxOpType().str();
  node.operands.assign(op->operand_begin(), op->operand_end());
  for (NamedAttribute attribute : op->getAttrs())
    if (!llvm::is_contained(
            {StringRef(onnx::nodeNameAttr), StringRef(onnx::resultNamesAttr),
             StringRef(onnx::dimParamsAttr), StringRef(onnx::docStringAttr),
             StringRef(onnx::metadataAttr)},
            attribute.getName().getValue()))
      node.attributes.push_back(attribute);
  nameRandomType(node);
  return node;
}

/// Brings a node of version `version` to the form before it.
static LogicalResult stepBelow(Node &node, int64_t version) {
  if (const DowngradeRule *rule = findRule(node.opType, version))
    return rule->apply(node);
  return success(version != getFirstVersion(node));
}

/// Whether an op becomes a node of the ai.onnx domain. Constants become
/// initializers, which all opsets have.
static bool isStandardOp(Operation *op) {
  auto node = dyn_cast<onnx::NodeOpInterface>(op);
  return node && node.getOnnxDomain().empty() && !isa<onnx::ConstantOp>(op);
}

int64_t exporting::minOpset(Operation *op, int64_t floor) {
  if (!isStandardOp(op))
    return floor;
  int64_t lowest = std::max(floor, minOpsetForTypes(op));
  Node node = makeNode(op);
  for (int64_t version = newestOpset; version > lowest; --version)
    if (failed(stepBelow(node, version)))
      return version;
  return lowest;
}

Node exporting::downgrade(Operation *op, int64_t opset) {
  Node node = makeNode(op);
  if (!isStandardOp(op))
    return node;
  for (int64_t version = newestOpset; version > opset; --version) {
    Node older = node;
    if (failed(stepBelow(older, version)))
      break;
    node = std::move(older);
  }
  return node;
}
