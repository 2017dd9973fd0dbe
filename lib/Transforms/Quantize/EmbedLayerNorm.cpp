// Tables of 8 bits in dynamic modes, with one scale each as ONNX Runtime's tool
// has it. EmbedLayerNormalization becomes QEmbedLayerNormalization of
// com.microsoft. Neither is an op of the dialect: the importer takes them apart
// unless they are quantized here, so they are custom nodes. Where that tool is
// followed, a Gather takes rows of bytes, and products read them as they are.

#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// Three tables, then scale and bias of the normalization.
static constexpr unsigned firstTable = 2, endOfTables = 7, maskOperand = 7;

/// The table that a Gather takes parts of, in a model as ONNX Runtime's tool
/// writes it; null otherwise.
static Value tableOf(const Settings &settings, Operation *op) {
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!gather || !settings.isCompatible() || !settings.dynamic ||
      !constantOf(gather.getData()) ||
      scaleTypeOf(gather.getData()) != ScaleType::F32 ||
      !isa<RankedTensorType>(gather->getResult(0).getType()))
    return {};
  return gather.getData();
}

bool quantize::isEmbedding(const Settings &settings, Operation *op) {
  if (tableOf(settings, op))
    return true;
  auto custom = dyn_cast<CustomOp>(op);
  return custom && settings.dynamic && settings.contribOps &&
         custom.getDomainName() == "com.microsoft" &&
         custom.getFunctionName() == "EmbedLayerNormalization";
}

static bool isAbsent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() ||
         isa<NoneType>(op->getOperand(index).getType());
}

static std::string obstacleOfTable(Value table) {
  auto numbers = numbersOf(table);
  if (!numbers || scaleTypeOf(table) != ScaleType::F32)
    return "its table '" + tensorName(table) + "' is no constant of float32";
  if (llvm::any_of(*numbers, [](double n) { return !std::isfinite(n); }))
    return "its table '" + tensorName(table) +
           "' has a number that is not finite";
  return "";
}

std::string quantize::obstacleOfEmbedding(const Settings &settings,
                                          Operation *op) {
  if (!isa<func::FuncOp>(op->getParentOp()) && !settings.enableSubgraph)
    return "it is part of a subgraph, and enable-subgraph is false";
  if (Value table = tableOf(settings, op))
    return obstacleOfTable(table);
  if (op->getNumResults() > 2 || !isAbsent(op, maskOperand + 1))
    return "QEmbedLayerNormalization gives no sum and takes no positions";
  for (unsigned i = firstTable; i < endOfTables; ++i) {
    if (isAbsent(op, i))
      continue;
    if (std::string obstacle = obstacleOfTable(op->getOperand(i));
        !obstacle.empty())
      return obstacle;
  }
  for (unsigned i : {2u, 3u, 5u, 6u})
    if (isAbsent(op, i))
      return "it lacks a table";
  return "";
}

namespace {
struct Stored {
  Value bytes, scale, zero;
};
} // namespace

/// One scale for a table, as ONNX Runtime's tool has it.
static Stored store(OpBuilder &builder, Value table,
                    llvm::DenseMap<Value, Stored> &known) {
  Stored &stored = known[table];
  if (stored.bytes)
    return stored;
  // Several graphs may read it.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(table);
  SmallVector<double> numbers = *numbersOf(table);
  QuantType type{8, false};
  auto range = finiteRange(numbers).value_or(std::pair(0.0, 0.0));
  ScaleAndZeroPoint parameters =
      computeScale(range.first, range.second, ScaleRule{type});
  SmallVector<int64_t> bytes;
  for (double number : numbers)
    bytes.push_back(quantizeValue(number, parameters, type));
  std::string name = tensorName(table);
  Location loc = table.getLoc();
  Type byte = irType(builder.getContext(), type);
  stored = {createConstant(builder, loc, name + "_quantized", bytes,
                           cast<RankedTensorType>(table.getType()).getShape(),
                           byte),
            createConstant(builder, loc, name + "_scale",
                           ArrayRef<double>(parameters.scale), {},
                           builder.getF32Type()),
            createConstant(builder, loc, name + "_zero_point",
                           ArrayRef<int64_t>(parameters.zeroPoint), {}, byte)};
  return stored;
}

/// Rows are gathered as bytes. What would quantize their numbers again takes
/// the bytes.
static void gatherBytes(OpBuilder &builder, GatherOp gather,
                        const Stored &stored) {
  builder.setInsertionPoint(gather);
  std::string tensor = tensorName(gather.getResult());
  auto type = cast<RankedTensorType>(gather->getResult(0).getType());
  auto copied = cast<GatherOp>(builder.clone(*gather));
  copied.getDataMutable().assign(stored.bytes);
  copied->getResult(0).setType(
      type.clone(getElementTypeOrSelf(stored.bytes.getType())));
  setNames(copied, nodeName(gather), tensor + "_quantized");
  OperationState state(gather.getLoc(), DequantizeLinearOp::getOperationName());
  state.addOperands({copied->getResult(0), stored.scale, stored.zero});
  state.addTypes(type);
  Operation *real = builder.create(state);
  if (Attribute dims = gather->getAttr(dimParamsAttr))
    real->setAttr(dimParamsAttr, dims);
  setNames(real, tensor + "_DequantizeLinear", tensor);
  gather->getResult(0).replaceAllUsesWith(real->getResult(0));
  gather->erase();
  for (Operation *user :
       llvm::make_early_inc_range(real->getResult(0).getUsers()))
    if (isa<DynamicQuantizeLinearOp>(user)) {
      user->replaceAllUsesWith(
          ValueRange{copied->getResult(0), stored.scale, stored.zero});
      user->erase();
    }
  if (real->use_empty())
    real->erase();
}

/// Whether something reads the floats of a table that Gather takes parts of.
static bool isReadWhole(Plan &plan, Value table) {
  return llvm::any_of(table.getUsers(), [&](Operation *user) {
    Node *node = plan.find(user);
    return !node || !node->embeds || !node->selected;
  });
}

void quantize::quantizeEmbeddings(Plan &plan) {
  OpBuilder builder(plan.module.getContext());
  llvm::DenseMap<Value, Stored> known;
  for (Node &node : plan.nodes) {
    if (!node.embeds || !node.selected)
      continue;
    Operation *op = node.op;
    if (Value table = tableOf(plan.settings, op)) {
      if (isReadWhole(plan, table)) {
        node.reason = "another node reads its table as floats";
        continue;
      }
      Stored stored = store(builder, table, known);
      plan.nodeIndex.erase(op);
      node.op = nullptr;
      node.quantized = node.weightsOnly = true;
      node.reason = "weights only: it takes rows of a table";
      gatherBytes(builder, cast<GatherOp>(op), stored);
      continue;
    }
    node.quantized = true;
    builder.setInsertionPoint(op);
    Value none = NoValueOp::create(
        builder, node.location, builder.getNoneType(), builder.getUnitAttr());
    SmallVector<Value> operands{op->getOperand(0), op->getOperand(1)}, scales,
        zeros;
    for (unsigned i = firstTable; i < endOfTables; ++i) {
      Stored stored = isAbsent(op, i)
                          ? Stored{none, none, none}
                          : store(builder, op->getOperand(i), known);
      operands.push_back(stored.bytes);
      scales.push_back(stored.scale);
      zeros.push_back(stored.zero);
    }
    operands.push_back(isAbsent(op, maskOperand) ? none
                                                 : op->getOperand(maskOperand));
    operands.append(scales);
    operands.append(zeros);
    OperationState state(node.location, CustomOp::getOperationName());
    state.addOperands(operands);
    state.addTypes(op->getResultTypes());
    state.addAttributes(op->getAttrs());
    Operation *made = builder.create(state);
    made->setAttr("function_name",
                  builder.getStringAttr("QEmbedLayerNormalization"));
    made->setAttr(nodeNameAttr, builder.getStringAttr(node.name + "_quant"));
    op->replaceAllUsesWith(made);
    op->erase();
    node.op = nullptr;
  }
  plan.report.weights += static_cast<int64_t>(known.size());
}
