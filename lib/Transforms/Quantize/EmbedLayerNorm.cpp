// EmbedLayerNormalization with 8-bit tables: QEmbedLayerNormalization of
// com.microsoft. Neither is an op of the dialect: the importer takes them apart
// unless they are quantized here, so they are custom nodes.

#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// Three tables, then scale and bias of the normalization.
static constexpr unsigned firstTable = 2, endOfTables = 7, maskOperand = 7;

bool quantize::isEmbedding(const Settings &settings, Operation *op) {
  auto custom = dyn_cast<CustomOp>(op);
  return custom && settings.dynamic && settings.contribOps &&
         custom.getDomainName() == "com.microsoft" &&
         custom.getFunctionName() == "EmbedLayerNormalization";
}

static bool isAbsent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() ||
         isa<NoneType>(op->getOperand(index).getType());
}

std::string quantize::obstacleOfEmbedding(Operation *op) {
  if (op->getNumResults() > 2 || !isAbsent(op, maskOperand + 1))
    return "QEmbedLayerNormalization gives no sum and takes no positions";
  for (unsigned i = firstTable; i < endOfTables; ++i) {
    if (isAbsent(op, i))
      continue;
    Value table = op->getOperand(i);
    auto numbers = numbersOf(table);
    if (!numbers || scaleTypeOf(table) != ScaleType::F32)
      return "its table '" + tensorName(table) + "' is no constant of float32";
    if (llvm::any_of(*numbers, [](double n) { return !std::isfinite(n); }))
      return "its table '" + tensorName(table) +
             "' has a number that is not finite";
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

void quantize::quantizeEmbeddings(Plan &plan) {
  OpBuilder builder(plan.module.getContext());
  llvm::DenseMap<Value, Stored> known;
  for (Node &node : plan.nodes) {
    if (!node.embeds || !node.selected)
      continue;
    node.quantized = true;
    Operation *op = node.op;
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
