// Stores tables that Gather takes rows of as bytes, with a scale for each row.
// Enters: Gather(table, i). Leaves: Cast(Gather(bytes, i)) * Gather(scales, i).
// The rows are gathered as integers, so that no run turns the whole table into
// floats, and every runtime has these operators at every opset. One scale for
// the whole table would cost 15 decibels and more: few words have large
// numbers.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// The least number of elements of a table; smaller ones save next to nothing.
static constexpr int64_t leastElements = 1 << 16;
static constexpr int64_t greatest = 127;

/// The table that a Gather takes rows of; null if it does something else.
static Value tableOf(Operation *op) {
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!gather || gather.getAxis() != 0 || !constantOf(gather.getData()))
    return {};
  auto type = dyn_cast<RankedTensorType>(gather.getData().getType());
  if (!type || type.getRank() != 2 || !scaleTypeOf(gather.getData()) ||
      type.getNumElements() < leastElements ||
      !isa<RankedTensorType>(gather->getResult(0).getType()))
    return {};
  return gather.getData();
}

namespace {
/// A table's bytes and scales.
struct Stored {
  Value bytes, scales;
};
} // namespace

static std::optional<Stored> store(Value table) {
  std::optional<SmallVector<double>> numbers = numbersOf(table);
  auto type = cast<RankedTensorType>(table.getType());
  if (!numbers)
    return std::nullopt;
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  SmallVector<int64_t> bytes(numbers->size());
  SmallVector<double> scales(rows);
  for (int64_t row = 0; row < rows; ++row) {
    ArrayRef<double> own = ArrayRef(*numbers).slice(row * columns, columns);
    double most = 0;
    for (double number : own) {
      if (!std::isfinite(number))
        return std::nullopt;
      most = std::max(most, std::fabs(number));
    }
    double scale = most / greatest;
    // As it is stored.
    scale = castScale(scale, *scaleTypeOf(table));
    if (scale == 0)
      scale = 1;
    scales[row] = scale;
    for (auto [column, number] : llvm::enumerate(own))
      bytes[row * columns + column] =
          std::clamp<int64_t>(std::llrint(number / scale), -greatest, greatest);
  }
  OpBuilder builder(table.getDefiningOp());
  std::string name = tensorName(table);
  Stored stored;
  stored.bytes =
      createConstant(builder, table.getLoc(), name + "_quantized", bytes,
                     {rows, columns}, builder.getIntegerType(8));
  stored.scales = createConstant(builder, table.getLoc(), name + "_scale",
                                 scales, {rows, 1}, type.getElementType());
  return stored;
}

static Operation *createNode(OpBuilder &builder, Location loc, StringRef opName,
                             ValueRange operands, Type type, StringRef name,
                             StringRef tensor,
                             ArrayRef<NamedAttribute> attributes = {}) {
  OperationState state(loc, opName);
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(attributes);
  Operation *op = builder.create(state);
  setNames(op, name, tensor);
  return op;
}

/// Replaces a Gather by those of bytes and of scales.
static void rewrite(GatherOp gather, const Stored &stored) {
  OpBuilder builder(gather);
  Location loc = gather.getLoc();
  std::string node = nodeName(gather), tensor = tensorName(gather.getResult());
  auto type = cast<RankedTensorType>(gather->getResult(0).getType());
  auto axis = builder.getNamedAttr("axis", gather->getAttr("axis"));
  SmallVector<int64_t> column(type.getShape());
  column.back() = 1;
  Type byte = builder.getIntegerType(8);
  Value bytes = createNode(builder, loc, GatherOp::getOperationName(),
                           {stored.bytes, gather.getIndices()},
                           type.clone(byte), node, tensor + "_quantized", axis)
                    ->getResult(0);
  Value scales =
      createNode(builder, loc, GatherOp::getOperationName(),
                 {stored.scales, gather.getIndices()},
                 RankedTensorType::get(column, type.getElementType()),
                 node + "_scale", tensor + "_scale", axis)
          ->getResult(0);
  Value numbers = createNode(builder, loc, CastOp::getOperationName(), bytes,
                             type, node + "_cast", tensor + "_cast",
                             builder.getNamedAttr(
                                 "to", TypeAttr::get(type.getElementType())))
                      ->getResult(0);
  Operation *product =
      createNode(builder, loc, MulOp::getOperationName(), {numbers, scales},
                 type, node + "_dequantize", tensor);
  if (Attribute dims = gather->getAttr(dimParamsAttr))
    product->setAttr(dimParamsAttr, dims);
  gather->getResult(0).replaceAllUsesWith(product->getResult(0));
  gather->erase();
}

void quantize::storeEmbeddings(Plan &plan) {
  llvm::MapVector<Value, SmallVector<Node *>> tables;
  for (Node &node : plan.nodes)
    if (node.selected && !node.quantized)
      if (Value table = tableOf(node.op))
        tables[table].push_back(&node);
  for (auto &entry : tables) {
    Value table = entry.first;
    ArrayRef<Node *> nodes = entry.second;
    // Another reader would need the floats as well.
    bool isShared = llvm::any_of(table.getUsers(), [&](Operation *user) {
      return llvm::none_of(nodes,
                           [&](const Node *node) { return node->op == user; });
    });
    std::optional<Stored> stored = isShared ? std::nullopt : store(table);
    if (!stored)
      continue;
    for (Node *node : nodes) {
      rewrite(cast<GatherOp>(node->op), *stored);
      node->op = nullptr;
      node->quantized = true;
      node->weightsOnly = true;
      node->reason = "weights only: it takes rows of a table";
    }
    if (table.use_empty())
      table.getDefiningOp()->erase();
  }
}
