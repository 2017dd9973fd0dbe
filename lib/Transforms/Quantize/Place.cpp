// Chooses the tensors to quantize. Fused placement takes what feeds a
// contraction or is stored between fused regions, and moves that up through ops
// that only move data, which costs nothing in accuracy; elementwise ops stay
// float, to be computed where their operand is made. The other placement takes
// all tensors of all ops.
//
// The small products that make gates (factors of whole channels) have quantized
// weights but float activations: they take no time, and their error would
// multiply all that they are spread over. So have products that read each
// number so few times that quantizing it would take as long, depthwise ones,
// and products with weights in blocks, which no integer arithmetic can sum.

#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

class Placer {
public:
  explicit Placer(Plan &plan)
      : plan(plan), settings(plan.settings), cheap(plan) {}
  LogicalResult run();

private:
  void mark(Value value);
  void markOperand(QuantizableOpInterface op, unsigned index);
  void markBias(QuantizableOpInterface op);
  void markResults(QuantizableOpInterface op);
  bool isWeightsOnly(QuantizableOpInterface op);
  void placeContraction(Node &node, QuantizableOpInterface op);
  void placeOther(Node &node, QuantizableOpInterface op);
  void placePlain(Node &node);
  bool readsIntegers(OpOperand &use);
  void hoist();
  bool isUsed(OpOperand &use, const Activation &activation);
  void collectUses();
  LogicalResult reportNothing();

  bool isMarked(Value value) { return plan.activations.count(value); }

  Plan &plan;
  const Settings &settings;
  CheapTensors cheap;
};

} // namespace

void Placer::mark(Value value) {
  if (settings.isCompatible() && value.getDefiningOp<DequantizeLinearOp>())
    return;
  Activation &activation = plan.activations[value];
  if (activation.value)
    return;
  activation.value = value;
  activation.name = tensorName(value);
  auto given = plan.overrides.find(activation.name);
  activation.given =
      given != plan.overrides.end() && !given->second.scales.empty();
  activation.dynamic = settings.dynamic && !activation.given;
}

void Placer::markOperand(QuantizableOpInterface op, unsigned index) {
  OpOperand &operand = op->getOpOperand(index);
  if (constantOf(operand.get())) {
    Weight &weight = plan.weights[&operand];
    weight.use = &operand;
    weight.name = tensorName(operand.get());
    weight.contracted = op.isContraction();
  } else if (!op.takesWeightsOnly()) {
    mark(operand.get());
  }
}

/// A bias that the user says something of is a weight.
void Placer::markBias(QuantizableOpInterface op) {
  std::optional<unsigned> index = op.getBiasOperand();
  if (!index || settings.form != Mode::QDQ ||
      !constantOf(op->getOperand(*index)) ||
      !plan.overrides.count(tensorName(op->getOperand(*index))))
    return;
  markOperand(op, *index);
}

/// Results need static parameters also where operands have dynamic ones.
void Placer::markResults(QuantizableOpInterface op) {
  if (llvm::is_contained(settings.outputOpsExcluded, opTypeOf(op)))
    return;
  for (unsigned index : op.getQuantizableResults()) {
    Value result = op->getResult(index);
    if (isa<NoneType>(result.getType()) || result.use_empty() ||
        (settings.excludeOutputs && isGraphOutput(result)))
      continue;
    mark(result);
    plan.activations[result].dynamic = false;
  }
}

bool Placer::isWeightsOnly(QuantizableOpInterface op) {
  bool some = false, blocks = false;
  for (unsigned index : op.getQuantizableOperands())
    if (constantOf(op->getOperand(index))) {
      some = true;
      blocks |= settings.blockSize > 0 && op.getReductionAxis(index);
    }
  if (!some || op.takesWeightsOnly())
    return false;
  bool keepsCheap = settings.keepCheap && !settings.dynamic &&
                    settings.placement == Placement::Fused;
  return blocks || (keepsCheap && (makesGate(op) || cheap.feeds(op)));
}

void Placer::placeContraction(Node &node, QuantizableOpInterface op) {
  node.quantized = true;
  node.weightsOnly = isWeightsOnly(op);
  for (unsigned index : op.getQuantizableOperands())
    if (!node.weightsOnly || constantOf(op->getOperand(index)))
      markOperand(op, index);
  if (node.weightsOnly) {
    node.reason =
        settings.blockSize > 0 ? "weights only: blocks are summed in float"
        : makesGate(op) ? "weights only: it makes factors of whole channels"
        : settings.form == Mode::QDQ && filtersChannels(op)
            ? "weights only: filters of channels take as long in integers"
            : "weights only: it makes few products of each number";
    return;
  }
  if (settings.placement == Placement::EveryOp) {
    markBias(op);
    markResults(op);
    return;
  }
  QuantizedForm form = op.getQLinearForm();
  if (!settings.quantizesResults() || form == QuantizedForm::None ||
      (form == QuantizedForm::Contrib && !settings.contribOps))
    return;
  // A Relu that follows becomes part of the product, so that its result is the
  // one to store.
  Value result = op->getResult(0);
  if (!settings.keepActivations && result.hasOneUse()) {
    auto next = dyn_cast<QuantizableOpInterface>(*result.user_begin());
    if (next && plan.isSelected(next) && next.getClamp()) {
      plan.find(next)->quantized = true;
      markResults(next);
      return;
    }
  }
  markResults(op);
}

void Placer::placeOther(Node &node, QuantizableOpInterface op) {
  if (settings.placement == Placement::Fused)
    return;
  bool any = haveMarkedOperands(settings, op,
                                [&](Value value) { return isMarked(value); });
  bool isClamp = settings.isCompatible() && op.getClamp().has_value();
  bool follows = followsOperands(settings, op) && !settings.forceNoInputCheck;
  if ((follows || isClamp) && !any) {
    node.reason = "it moves data that is float; see "
                  "force-quantize-no-input-check";
    return;
  }
  node.quantized = true;
  for (unsigned index : op.getQuantizableOperands())
    markOperand(op, index);
  if (std::optional<unsigned> filler = quantizedFiller(plan, op))
    markOperand(op, *filler);
  markResults(op);
}

/// A node that stays as it is, with all its float tensors quantized. Its bias
/// is made an integer later.
void Placer::placePlain(Node &node) {
  Operation *op = node.op;
  bool moves = movesPlainly(op);
  if (moves && !isMarked(op->getOperand(0)) && !constantOf(op->getOperand(0)) &&
      !settings.forceNoInputCheck) {
    node.reason = "it moves data that is float; see "
                  "force-quantize-no-input-check";
    return;
  }
  node.quantized = true;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (!scaleTypeOf(operand.get()) || index == plainBiasOf(op) ||
        (moves && index > 0))
      continue;
    if (!constantOf(operand.get())) {
      mark(operand.get());
      continue;
    }
    Weight &weight = plan.weights[&operand];
    weight.use = &operand;
    weight.name = tensorName(operand.get());
    weight.contracted = index == plainWeightOf(op);
  }
  if (llvm::is_contained(settings.outputOpsExcluded, opTypeOf(op)))
    return;
  for (Value result : op->getResults())
    if (scaleTypeOf(result) && !result.use_empty() &&
        !(settings.excludeOutputs && isGraphOutput(result)))
      mark(result);
  if (moves && isMarked(op->getOperand(0)) && isMarked(op->getResult(0)))
    plan.joined.push_back({op->getOperand(0), op->getResult(0)});
}

/// Whether a use is content with integers: a contraction, or an op that moves
/// data to one.
bool Placer::readsIntegers(OpOperand &use) {
  if (isa<ShapeOp, SizeOp>(use.getOwner()))
    return true;
  auto op = dyn_cast<QuantizableOpInterface>(use.getOwner());
  if (!op || !plan.isSelected(op) ||
      !llvm::is_contained(op.getQuantizableOperands(), use.getOperandNumber()))
    return false;
  Node *node = plan.find(op);
  return op.isContraction() ? !node->weightsOnly
                            : op.movesData() && node->quantized;
}

/// From the last op to the first: what is quantized after it was moved is
/// quantized before, if nothing else reads it.
void Placer::hoist() {
  for (Node &node : llvm::reverse(plan.nodes)) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (!node.selected || !op || !op.movesData() || node.quantized ||
        llvm::none_of(op->getResults(),
                      [&](Value result) { return isMarked(result); }))
      continue;
    node.quantized = true;
    SmallVector<unsigned> operands = op.getQuantizableOperands();
    bool moved = false;
    for (unsigned index : operands) {
      Value value = op->getOperand(index);
      if (constantOf(value))
        continue;
      if (isMarked(value) || llvm::all_of(value.getUses(), [&](OpOperand &use) {
            return readsIntegers(use);
          })) {
        mark(value);
        moved = true;
      }
    }
    node.quantized = moved;
    if (!moved)
      continue;
    // All of a Concat's operands go the same way, and all of a Split's results.
    for (unsigned index : operands)
      if (constantOf(op->getOperand(index)))
        markOperand(op, index);
  }
}

bool Placer::isUsed(OpOperand &use, const Activation &activation) {
  Operation *owner = use.getOwner();
  if (activation.dynamic) {
    auto op = dyn_cast<QuantizableOpInterface>(owner);
    return op && plan.isSelected(op) &&
           llvm::is_contained(op.getQuantizableOperands(),
                              use.getOperandNumber()) &&
           !op.takesWeightsOnly();
  }
  if (isa<ReturnOp, func::ReturnOp>(owner))
    return !settings.excludeOutputs &&
           (settings.placement == Placement::EveryOp ||
            settings.quantizesResults());
  if (isa<ShapeOp, SizeOp>(owner))
    return false;
  bool inner = owner->getBlock() != Value(activation.value).getParentBlock();
  if (inner && !settings.enableSubgraph)
    return false;
  auto reader = dyn_cast<QuantizableOpInterface>(owner);
  if (reader && reader.isElementwise() && staysFloat(plan, activation.value))
    return false;
  Node *node = plan.find(owner);
  return !node ||
         ((!node->excluded || settings.isCompatible()) && !node->weightsOnly);
}

void Placer::collectUses() {
  for (auto &[value, activation] : plan.activations)
    for (OpOperand &use : value.getUses())
      if (isUsed(use, activation))
        activation.uses.push_back(&use);
  // The order of uses in memory is no order; that of nodes is.
  for (auto &[value, activation] : plan.activations)
    llvm::sort(activation.uses, [&](OpOperand *a, OpOperand *b) {
      auto key = [&](OpOperand *use) {
        auto it = plan.nodeIndex.find(use->getOwner());
        return std::make_pair(it == plan.nodeIndex.end() ? ~0u : it->second,
                              use->getOperandNumber());
      };
      return key(a) < key(b);
    });
}

LogicalResult Placer::run() {
  for (Node &node : plan.nodes) {
    if (!node.selected)
      continue;
    if (node.plain) {
      placePlain(node);
      continue;
    }
    if (node.embeds)
      continue;
    auto op = cast<QuantizableOpInterface>(node.op);
    if (op.isContraction())
      placeContraction(node, op);
    else
      placeOther(node, op);
  }
  bool staticFused =
      settings.placement == Placement::Fused && !settings.dynamic;
  if (staticFused) {
    for (Value value : findStored(plan))
      mark(value);
    hoist();
  }
  collectUses();
  for (Node &node : plan.nodes)
    if (node.selected && !node.quantized && !node.embeds && node.reason.empty())
      node.reason = "float between contractions (placement=fused)";
  if (llvm::any_of(plan.nodes, [](const Node &n) {
        return n.quantized || (n.embeds && n.selected);
      }))
    return success();
  return reportNothing();
}

/// A float model under another name would be a lie.
LogicalResult Placer::reportNothing() {
  if (settings.isCompatible()) {
    plan.module.emitWarning("no node is quantized: the model stays as it is");
    return success();
  }
  bool filtered = !settings.opTypes.empty() || !settings.nodes.empty() ||
                  !settings.excluded.empty();
  if (filtered)
    return plan.module.emitError(
        "the options leave no node that can be quantized");
  auto diagnostic =
      plan.module.emitError("the model has no node that can be quantized");
  // Contractions say most about why.
  for (const Node &node : plan.nodes) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (op && op.isContraction())
      return diagnostic << "; node '" << node.name << "' (" << opTypeOf(node.op)
                        << ") is not, because " << node.reason;
  }
  return diagnostic << ": it has no Conv, MatMul, Gemm or recurrent layer";
}

LogicalResult quantize::placeQuantizers(Plan &plan) {
  return Placer(plan).run();
}
