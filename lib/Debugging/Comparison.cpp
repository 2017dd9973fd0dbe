// Chooses the tensors to compare, and adds up what runs give.

#include "Comparison.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "Weights.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

/// What users know a tensor of the quantized graph as.
static std::string nameOf(Value value) {
  if (StringRef name = ir::getTensorName(value); !name.empty())
    return name.str();
  Operation *op = value.getDefiningOp();
  return op ? nameOfNode(op) : "";
}

ComparisonPlan::ComparisonPlan(func::FuncOp real, func::FuncOp quant,
                               const GraphMatch &match,
                               ArrayRef<TakenBranch> realBranches,
                               ArrayRef<TakenBranch> quantBranches)
    : realGraph(real), quantGraph(quant), match(match), realProber(real),
      quantProber(quant) {
  for (auto [index, op] : llvm::enumerate(nodesOf(real)))
    order[op] = static_cast<int64_t>(index) + 1;
  // Probes add nodes; those that are there now are the model's.
  for (Operation *op : nodesOf(quant)) {
    if (isQuantizer(op) || isa<ir::DynamicQuantizeLinearOp>(op)) {
      // Weights may be quantized in the graph; they are compared as weights.
      if (!ir::getConstant(op->getOperand(0)))
        addPoint(op->getOperand(0), viewTensor(op->getResult(0)));
    } else if (isa<ir::NodeOpInterface>(op) && op->getNumResults() > 0) {
      QuantTensor result = viewTensor(op->getResult(0));
      auto moving = dyn_cast<ir::QuantizableOpInterface>(op);
      bool moved = moving && moving.movesData();
      if (result.isQuantized() && !moved)
        addPoint(Value(), result);
      if (Operation *found = match.real(op);
          found && isContraction(roleOf(found)))
        addLayer(op, found);
    }
  }
  addOutputs();
  for (const TakenBranch &branch : realBranches)
    realConditions.push_back(realProber.add(branch.condition));
  for (const TakenBranch &branch : quantBranches)
    quantConditions.push_back(quantProber.add(branch.condition));
  realProber.finish();
  quantProber.finish();
  llvm::stable_sort(tensors, [](const TensorPlan &a, const TensorPlan &b) {
    return a.tensor.order < b.tensor.order;
  });
}

TensorPlan &ComparisonPlan::planOf(Value real) {
  auto [place, isNew] = known.try_emplace(real, tensors.size());
  if (!isNew)
    return tensors[place->second];
  TensorPlan &plan = tensors.emplace_back();
  plan.tensor.name = ir::getTensorName(real).str();
  if (Operation *op = real.getDefiningOp()) {
    plan.tensor.node = nameOfNode(op);
    plan.tensor.opType = roleOf(op).str();
    plan.tensor.order = order.lookup(op);
  } else {
    plan.tensor.opType = "input";
  }
  if (isa<RankedTensorType>(real.getType()))
    if (plan.channelAxis = channelAxisOf(real); plan.channelAxis >= 0)
      plan.channelAxis += depthOf(real);
  plan.real = realProber.add(real);
  return plan;
}

void ComparisonPlan::addPoint(Value before, const QuantTensor &quantized) {
  Value real = match.real(quantized.value);
  if (!real || !Prober::canSee(real) || !Prober::canSee(quantized.value)) {
    unmatched.push_back(nameOf(before ? before : quantized.value));
    return;
  }
  TensorPlan &plan = planOf(real);
  if (plan.quant)
    return;
  plan.tensor.stored = describeStorage(quantized);
  plan.quant = quantProber.add(quantized);
  plan.clamp = match.clamp(quantized.value);
  if (before) {
    plan.before = quantProber.add(before);
    plan.tensor.ownMeasured = true;
  }
}

void ComparisonPlan::addLayer(Operation *quant, Operation *real) {
  Value result = match.resultOf(quant);
  if (!result || !match.real(result))
    return;
  QuantTensor tensor = viewTensor(result);
  bool isReal =
      isa<FloatType>(cast<TensorType>(result.getType()).getElementType());
  if ((!isReal && !tensor.isQuantized()) || !Prober::canSee(result) ||
      !Prober::canSee(match.real(result)))
    return;
  TensorPlan &plan = planOf(match.real(result));
  plan.tensor.node = nameOfNode(real);
  plan.tensor.opType = roleOf(real).str();
  if (!plan.quant)
    plan.quant = quantProber.add(tensor);
  Value shadow = quantProber.addShadow(quant, real);
  if (!shadow)
    return;
  plan.shadow = quantProber.add(shadow);
  plan.actual = quantProber.add(tensor);
  plan.shadowClamp = match.clamp(tensor.value);
  plan.tensor.local.emplace();
}

void ComparisonPlan::addOutputs() {
  Operation *realEnd = realGraph.getBody().front().getTerminator();
  Operation *quantEnd = quantGraph.getBody().front().getTerminator();
  // Probes follow the graph's own outputs.
  SmallVector<std::pair<Value, Value>> pairs;
  for (auto [real, quant] :
       llvm::zip(realEnd->getOperands(), quantEnd->getOperands()))
    pairs.emplace_back(real, quant);
  for (auto [index, pair] : llvm::enumerate(pairs)) {
    auto name =
        realGraph.getResultAttrOfType<StringAttr>(index, ir::argNameAttr);
    if (name && name.getValue().starts_with("onnxq.probe."))
      break;
    auto [real, quant] = pair;
    auto isFloat = [](Value value) {
      auto type = dyn_cast<TensorType>(value.getType());
      return type && isa<FloatType>(type.getElementType());
    };
    if (!isFloat(real) || !isFloat(quant))
      continue;
    TensorPlan &plan = planOf(real);
    plan.tensor.isOutput = true;
    if (plan.tensor.name.empty() && name)
      plan.tensor.name = name.str();
    plan.tensor.outputName = name ? name.str() : plan.tensor.name;
    if (!plan.quant)
      plan.quant = quantProber.add(quant);
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Elements as floats; `storage` holds them where they are of another type.
static ArrayRef<float> floatsOf(const HostTensor &tensor,
                                std::vector<float> &storage) {
  constexpr int32_t float32 = 1;
  auto count = static_cast<size_t>(tensor.numElements());
  if (tensor.type == float32)
    return {reinterpret_cast<const float *>(tensor.data.data()), count};
  storage.resize(count);
  for (size_t i = 0; i < count; ++i)
    storage[i] = static_cast<float>(tensor.at(i));
  return storage;
}

static std::vector<float> clamped(ArrayRef<float> values,
                                  const std::optional<ir::RealRange> &range) {
  std::vector<float> result(values.begin(), values.end());
  if (range)
    for (float &value : result)
      if (std::fabs(value) < sentinelMagnitude)
        value = std::clamp(value, static_cast<float>(range->min),
                           static_cast<float>(range->max));
  return result;
}

/// Numbers as a tensor with one scale stores them.
static std::vector<float> quantized(ArrayRef<float> values,
                                    const StoredAs &stored) {
  auto type = QuantType::parse(stored.type);
  std::vector<float> result(values.begin(), values.end());
  if (!type || stored.scales.empty())
    return result;
  auto scale = static_cast<float>(stored.scales[0]);
  auto zero = static_cast<float>(stored.zeroPoints[0]);
  auto least = static_cast<float>(type->min()) - zero,
       most = static_cast<float>(type->max()) - zero;
  for (float &value : result)
    value = std::clamp(std::nearbyint(value / scale), least, most) * scale;
  return result;
}

static int64_t countBeyond(ArrayRef<float> values, const StoredAs &stored) {
  if (!stored.range || stored.scales.size() != 1)
    return 0;
  double slack = stored.scales[0] * 0.501;
  double least = stored.range->first - slack,
         most = stored.range->second + slack;
  return llvm::count_if(values, [&](float value) {
    return std::isfinite(value) && std::fabs(value) < sentinelMagnitude &&
           (value < least || value > most);
  });
}

void debugging::addRun(TensorPlan &plan, const std::vector<HostTensor> &inputs,
                       const std::vector<HostTensor> &real,
                       const std::vector<HostTensor> &quant) {
  DebugTensor &tensor = *plan.sums;
  std::vector<float> realStorage, quantStorage, storage;
  const HostTensor &right = plan.real.get(inputs, real);
  ArrayRef<float> realValues = floatsOf(right, realStorage);
  ArrayRef<float> quantValues =
      floatsOf(plan.quant.get(inputs, quant), quantStorage);
  tensor.errors.add(realValues, quantValues, right.dims, plan.channelAxis);
  bool isStored = !tensor.stored.type.empty();
  if (isStored && plan.before) {
    std::vector<float> before =
        clamped(floatsOf(plan.before.get(inputs, quant), storage), plan.clamp);
    tensor.own.add(before, quantValues, right.dims, plan.channelAxis);
    tensor.saturated += countBeyond(before, tensor.stored);
  } else if (isStored && tensor.stored.scales.size() == 1) {
    tensor.own.add(realValues, quantized(realValues, tensor.stored), right.dims,
                   plan.channelAxis);
    tensor.saturated += countBeyond(realValues, tensor.stored);
  }
  if (!tensor.local)
    return;
  std::vector<float> actualStorage;
  std::vector<float> shadow = clamped(
      floatsOf(plan.shadow.get(inputs, quant), storage), plan.shadowClamp);
  tensor.local->add(shadow,
                    floatsOf(plan.actual.get(inputs, quant), actualStorage),
                    right.dims, plan.channelAxis);
}
