// Which tensors' records follow from those of others: tensors that hold the
// elements of others (those of Concat, Transpose, Identity, and of Resize that
// repeats elements), and tensors that are another one plus or times a number.
//
// A record has extremes by sample, along the first axis, and lists by channel.
// Both must lie in the tensor as they do in those that it is made of, or follow
// each other.
//
// The sums of a tensor plus or times a number are those of the real numbers,
// before they are rounded to float: linear in the other's, so that they are
// exact and merge as all sums do. Extremes are rounded as the elements are,
// which keeps their order.

#include "Derive.h"
#include "OnnxQuant/Calibration/Records.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

/// How often Resize takes each element; none if not all as often, or if samples
/// or channels are repeated.
static std::optional<int64_t> timesOf(ir::ResizeOp op, int64_t channelAxis) {
  StringRef mode = op.getCoordinateTransformationMode();
  StringRef rounding = op.getNearestMode();
  bool isCentered =
      mode.ends_with("half_pixel") || mode == "half_pixel_symmetric";
  bool repeats =
      isCentered ? rounding.starts_with("round")
                 : rounding == "floor" &&
                       (mode == "asymmetric" || mode == "tf_half_pixel_for_nn");
  ElementsAttr constant = ir::getConstant(op.getScales());
  if (op.getMode() != "nearest" || !repeats || op.getAxes() || !constant)
    return std::nullopt;
  auto scales = ir::readFloats(constant, /*limit=*/8);
  auto type = cast<RankedTensorType>(op.getY().getType());
  if (!scales || static_cast<int64_t>(scales->size()) != type.getRank())
    return std::nullopt;
  double times = 1;
  for (auto [axis, scale] : llvm::enumerate(*scales)) {
    bool isKept = axis == 0 || static_cast<int64_t>(axis) == channelAxis;
    if (scale != std::floor(scale) || scale < 1 || (isKept && scale != 1))
      return std::nullopt;
    times *= scale;
  }
  return times <= 1024 ? std::optional<int64_t>(times) : std::nullopt;
}

/// Whether Transpose leaves samples in place and moves channels to `to`.
static bool keepsChannels(ir::TransposeOp op, int64_t from, int64_t to) {
  if (!op.getPerm() || from < 0 || to < 0)
    return false;
  ArrayAttr perm = *op.getPerm();
  auto at = [&](int64_t i) { return cast<IntegerAttr>(perm[i]).getInt(); };
  return at(0) == 0 && at(to) == from;
}

/// The smallest power of two that floats are multiples of; the smallest that
/// sums of squares can be made of.
static constexpr int64_t floatGrain = -149,
                         leastGrain = -ObserverLayout::squareBias / 2;
/// The largest factor: sums have room for it.
static constexpr double mostFactor = 1024;

bool onnxquant::isObservable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type &&
         isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(
             type.getElementType()) &&
         !value.getDefiningOp<ir::ConstantOp>();
}

Derivations::Derivations(func::FuncOp graph) {
  auto add = [&](ValueRange values) {
    for (Value value : values) {
      order.push_back(value);
      if (!isObservable(value))
        continue;
      // Sources of one block stand before it, so that their plans are known.
      if (std::optional<Plan> plan = planOf(value))
        plans.try_emplace(value, std::move(*plan));
    }
  };
  add(graph.getArguments());
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    add(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  });
}

SmallVector<Value> Derivations::withSources(ArrayRef<Value> values) const {
  DenseSet<Value> needed(values.begin(), values.end());
  for (Value value : llvm::reverse(order))
    if (const Plan *plan = find(value); plan && needed.contains(value))
      needed.insert(plan->sources.begin(), plan->sources.end());
  SmallVector<Value> result;
  for (Value value : order)
    if (needed.contains(value))
      result.push_back(value);
  return result;
}

int64_t Derivations::grainOf(Value value) const {
  const Plan *plan = find(value);
  return plan ? plan->grain : floatGrain;
}

std::optional<Derivations::Plan> Derivations::planOf(Value value) const {
  std::optional<Plan> plan = planMoved(value);
  if (!plan)
    plan = planAffine(value);
  if (!plan)
    return std::nullopt;
  for (Value source : plan->sources)
    // Tensors of one block are computed equally often.
    if (!isObservable(source) ||
        source.getParentBlock() != value.getParentBlock())
      return std::nullopt;
  return plan;
}

/// The number of channels, one without an axis.
static int64_t channelsOf(Value value) {
  int64_t axis = channelAxisOf(value);
  return axis < 0 ? 1
                  : cast<RankedTensorType>(value.getType()).getDimSize(axis);
}

std::optional<Derivations::Plan> Derivations::planMoved(Value value) const {
  Operation *op = value.getDefiningOp();
  int64_t axis = channelAxisOf(value);
  Plan plan;
  if (auto concat = dyn_cast_or_null<ir::ConcatOp>(op)) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    int64_t joined = concat.getAxis();
    joined += joined < 0 ? rank : 0;
    if (joined == 0)
      return std::nullopt;
    plan.how.kind = Derivation::Kind::Joined;
    plan.how.byChannel = joined == axis;
    plan.sources.append(concat.getInputs().begin(), concat.getInputs().end());
  } else if (isa_and_nonnull<ir::ResizeOp, ir::TransposeOp, ir::IdentityOp>(
                 op)) {
    plan.how.kind = Derivation::Kind::Repeated;
    plan.sources.push_back(op->getOperand(0));
  } else {
    return std::nullopt;
  }
  plan.grain = floatGrain;
  for (Value source : plan.sources) {
    if (!isObservable(source) ||
        (!isa<ir::TransposeOp>(op) && channelAxisOf(source) != axis) ||
        (!plan.how.byChannel && channelsOf(source) != channelsOf(value)))
      return std::nullopt;
    plan.grain = std::min(plan.grain, grainOf(source));
  }
  int64_t sourceAxis = channelAxisOf(plan.sources.front());
  if (auto resize = dyn_cast<ir::ResizeOp>(op)) {
    std::optional<int64_t> times = timesOf(resize, sourceAxis);
    if (!times)
      return std::nullopt;
    plan.how.times = *times;
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op);
      transpose && !keepsChannels(transpose, sourceAxis, axis))
    return std::nullopt;
  return plan;
}

/// The only element of a constant; none if it isn't one.
static std::optional<double> numberOf(Value value) {
  ElementsAttr constant = ir::getConstant(value);
  if (!constant || constant.getNumElements() != 1)
    return std::nullopt;
  auto numbers = ir::readFloats(constant, /*limit=*/1);
  if (!numbers || !std::isfinite(numbers->front()))
    return std::nullopt;
  return numbers->front();
}

std::optional<Derivations::Plan> Derivations::planAffine(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<ir::AddOp, ir::SubOp, ir::MulOp>(op))
    return std::nullopt;
  Plan plan;
  Value source = op->getOperand(0);
  std::optional<double> number = numberOf(op->getOperand(1));
  if (!number && !isa<ir::SubOp>(op)) {
    source = op->getOperand(1);
    number = numberOf(op->getOperand(0));
  }
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!number || !type || type != value.getType() ||
      !type.getElementType().isF32() ||
      channelAxisOf(source) != channelAxisOf(value))
    return std::nullopt;
  plan.sources.push_back(source);
  plan.how.number = static_cast<float>(*number);
  int64_t grain = grainOf(source);
  int64_t own = BinaryFraction(plan.how.number).exponent;
  if (isa<ir::MulOp>(op)) {
    plan.how.kind = Derivation::Kind::Scaled;
    plan.grain = grain + std::min<int64_t>(own, 0);
    if (*number == 0 || std::fabs(*number) > mostFactor)
      return std::nullopt;
  } else {
    plan.how.kind = Derivation::Kind::Shifted;
    plan.grain = std::min(grain, own);
    if (isa<ir::SubOp>(op))
      plan.how.number = -plan.how.number;
    // What counts must still count.
    if (std::fabs(*number) > 1e30)
      return std::nullopt;
  }
  return plan.grain >= leastGrain ? std::optional<Plan>(std::move(plan))
                                  : std::nullopt;
}
