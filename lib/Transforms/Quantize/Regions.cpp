// How compiled code cuts a graph into pieces: a contraction and the elementwise
// ops behind it are one region, computed where the products are made. What one
// region gives to another is stored in memory. Fused placement asks here which
// tensors these are, and which contractions are too small to matter.

#include "Plan.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// The number of elements; none if a size is open.
static std::optional<int64_t> elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

/// Sizes but the first are 1, except one.
bool quantize::isVector(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 2)
    return false;
  return llvm::count_if(type.getShape().drop_front(),
                        [](int64_t dim) { return dim != 1; }) <= 1;
}

/// Whether an elementwise op spreads `value` over a larger tensor that is
/// computed too.
static bool spreads(QuantizableOpInterface op, Value value) {
  std::optional<int64_t> before = elementsOf(value),
                         after = elementsOf(op->getResult(0));
  return op.isElementwise() && before && after && *after > *before;
}

bool quantize::makesGate(QuantizableOpInterface contraction) {
  SmallVector<Value> pending{contraction->getResult(0)};
  llvm::SmallPtrSet<Operation *, 8> seen{contraction};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!isVector(value))
      continue;
    for (Operation *user : value.getUsers()) {
      auto op = dyn_cast<QuantizableOpInterface>(user);
      if (!op || !seen.insert(user).second)
        continue;
      if (spreads(op, value))
        return true;
      if (op.isElementwise() || op.isContraction() || op.movesData())
        pending.push_back(op->getResult(0));
    }
  }
  return false;
}

/// What is normalized are sums of all layers before, and what normalizations
/// make is summed up again: an error there reaches the outputs as it is. They
/// take and make floats anyway.
bool quantize::staysFloat(const Plan &plan, Value value) {
  const Settings &settings = plan.settings;
  if (!settings.keepCheap || settings.dynamic || settings.form != Mode::QDQ ||
      settings.placement != Placement::Fused ||
      plan.overrides.count(tensorName(value)))
    return false;
  return value.getDefiningOp<LayerNormalizationOp>() ||
         llvm::any_of(value.getUsers(), llvm::IsaPred<LayerNormalizationOp>);
}

namespace {

/// Finds the tensors between regions, from the first op to the last.
class RegionFinder {
public:
  explicit RegionFinder(Plan &plan) : plan(plan), cheap(plan) {}
  SmallVector<Value> run();

private:
  unsigned regionOf(Value value) const;
  void visit(unsigned index, QuantizableOpInterface op);
  void store(Value value);
  bool leadsToContraction(Value value);

  Plan &plan;
  CheapTensors cheap;
  /// The region that a value is computed in: the number of the op it began
  /// with.
  llvm::DenseMap<Value, unsigned> regions;
  llvm::SetVector<Value> stored;
  llvm::DenseMap<Value, bool> leads;
};

} // namespace

/// Inputs and what other ops make belong to no region.
unsigned RegionFinder::regionOf(Value value) const {
  auto it = regions.find(value);
  return it == regions.end() ? ~0u : it->second;
}

/// Whether a contraction comes after a value; what none comes after is the
/// model's head.
bool RegionFinder::leadsToContraction(Value value) {
  auto [it, isNew] = leads.try_emplace(value, false);
  if (!isNew)
    return it->second;
  bool found = llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<QuantizableOpInterface>(user);
    if (op && op.isContraction() && plan.isSelected(user))
      return true;
    return llvm::any_of(user->getResults(), [&](Value result) {
      return leadsToContraction(result);
    });
  });
  return leads[value] = found;
}

void RegionFinder::store(Value value) {
  if (regions.count(value) && !isVector(value) && scaleTypeOf(value) &&
      leadsToContraction(value) && !cheap.holdsGated(value) &&
      !staysFloat(plan, value))
    stored.insert(value);
}

void RegionFinder::visit(unsigned index, QuantizableOpInterface op) {
  SmallVector<Value> operands;
  for (unsigned operand : op.getQuantizableOperands())
    if (!constantOf(op->getOperand(operand)))
      operands.push_back(op->getOperand(operand));
  if (op.isContraction()) {
    regions[op->getResult(0)] = index;
    return;
  }
  if (!op.isElementwise()) {
    // Reductions and resampling read what was stored; data that is only moved
    // is quantized where it is read. A Softmax raises its operand's errors to
    // factors, and most of its time goes into exponentials: it reads floats.
    if (!op.movesData() && !isa<SoftmaxOp>(op))
      llvm::for_each(operands, [&](Value value) { store(value); });
    return;
  }
  // The op is computed with the operand that is made last; others wait for it.
  std::optional<unsigned> last;
  for (Value value : operands)
    if (unsigned region = regionOf(value); region != ~0u)
      last = std::max(last.value_or(region), region);
  if (!last)
    return;
  regions[op->getResult(0)] = *last;
  for (Value value : operands)
    if (regionOf(value) != *last)
      store(value);
}

SmallVector<Value> RegionFinder::run() {
  for (auto [index, node] : llvm::enumerate(plan.nodes))
    if (node.selected)
      visit(index, cast<QuantizableOpInterface>(node.op));
  return stored.takeVector();
}

SmallVector<Value> quantize::findStored(Plan &plan) {
  return RegionFinder(plan).run();
}
