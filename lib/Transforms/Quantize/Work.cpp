// Which tensors are as cheap in float: each number is read for a few products
// only, so that rounding it to 8 bits takes as long as these do, and all of
// them stay in a core's cache, so that four bytes are read as fast as one.
// Products of a depthwise convolution are never summed over channels, so that
// its integers are widened to 16 bits one by one: they take no less time than
// floats, however many of them there are. Fused placement leaves such tensors
// float, since that costs no time and spares the error.

#include "Plan.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// The most products of a number, the most bytes of a tensor in float, and the
/// largest share of a contraction in all products of the model.
static constexpr double mostProducts = 8, mostBytes = 512 << 10,
                        largestShare = 0.01;

static std::optional<double> elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return static_cast<double>(type.getNumElements());
}

/// How many products a contraction with constant weights computes; none if a
/// size is open.
static std::optional<double> productsOf(QuantizableOpInterface op) {
  std::optional<double> results = elementsOf(op->getResult(0));
  for (unsigned index : op.getQuantizableOperands()) {
    Value weight = op->getOperand(index);
    std::optional<int64_t> channel = op.getChannelAxis(index);
    std::optional<double> weights = elementsOf(weight);
    if (!constantOf(weight) || !channel || !weights || !results)
      continue;
    double channels = static_cast<double>(
        cast<RankedTensorType>(weight.getType()).getDimSize(*channel));
    return *results * *weights / channels * op.getShareOfTaps();
  }
  return std::nullopt;
}

bool quantize::filtersChannels(QuantizableOpInterface op) {
  SmallVector<unsigned> operands = op.getQuantizableOperands();
  if (operands.size() != 2 || !constantOf(op->getOperand(operands[1])))
    return false;
  auto input =
      dyn_cast<RankedTensorType>(op->getOperand(operands[0]).getType());
  auto weight =
      dyn_cast<RankedTensorType>(op->getOperand(operands[1]).getType());
  std::optional<int64_t> reduction = op.getReductionAxis(operands[1]);
  return isa<ConvOp>(op) && input && weight && reduction &&
         weight.getDimSize(*reduction) == 1 && input.getRank() > 1 &&
         input.getDimSize(1) > 1;
}

CheapTensors::CheapTensors(Plan &plan) : plan(plan) {
  for (const Node &node : plan.nodes) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (op && op.isContraction())
      total += productsOf(op).value_or(0);
  }
}

bool CheapTensors::contains(Value value) const {
  if (!plan.settings.keepCheap)
    return false;
  std::optional<double> elements = elementsOf(value);
  if (!elements || *elements == 0 || plan.overrides.count(tensorName(value)))
    return false;
  double products = 0;
  for (Operation *user : value.getUsers()) {
    auto op = dyn_cast<QuantizableOpInterface>(user);
    if (!op || !op.isContraction() || !plan.isSelected(op))
      continue;
    // Forms with integer operators are asked for these.
    if (plan.settings.form == Mode::QDQ && filtersChannels(op))
      continue;
    std::optional<double> own = productsOf(op);
    // ONNX Runtime quantizes by itself what a MatMul reads beside integers.
    if (!own || *own > largestShare * total || isa<MatMulOp>(user))
      return false;
    products += *own;
  }
  return *elements * sizeof(float) <= mostBytes &&
         products <= mostProducts * *elements;
}

bool CheapTensors::feeds(QuantizableOpInterface contraction) const {
  return plan.settings.nodes.empty() &&
         llvm::any_of(contraction.getQuantizableOperands(), [&](unsigned i) {
           Value value = contraction->getOperand(i);
           return !constantOf(value) && contains(value);
         });
}

bool CheapTensors::holdsGated(Value value) const {
  bool reduced = false;
  for (Operation *user : value.getUsers()) {
    auto op = dyn_cast<QuantizableOpInterface>(user);
    if (!op || op.isContraction() || op.movesData())
      return false;
    reduced |= !op.isElementwise() && isVector(op->getResult(0));
  }
  return reduced && contains(value);
}
