// Gives activations their parameters: from the user, from the function that
// makes them, or from their calibrated range. Tensors that share numbers share
// parameters; what is clamped takes the range of what the clamp leaves.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// How much wider than observed ranges are taken: of vectors, and of tensors
/// of 16 bits.
static constexpr double vectorMargin = 1.5, wideMargin = 2;

bool Activation::isConvertedFor(Operation *user) const {
  if (!converted)
    return false;
  // The graph's output is converted if all readers want that.
  auto wants = [&](Operation *op) {
    return llvm::is_contained(*receivers, nodeName(op));
  };
  if (!receivers || wants(user))
    return true;
  return isa<ReturnOp, func::ReturnOp>(user) &&
         llvm::all_of(uses, [&](OpOperand *use) {
           return use->getOwner() == user || wants(use->getOwner());
         });
}

namespace {

class ActivationCollector {
public:
  explicit ActivationCollector(Plan &plan)
      : plan(plan), settings(plan.settings) {
    ranges = plan.module->getAttrOfType<DictionaryAttr>(calibrationAttr);
  }
  LogicalResult run();

private:
  std::optional<RealRange> observed(Value value);
  std::optional<RealRange> rangeOf(Value value);
  QuantizedForm formOf(QuantizableOpInterface op);
  LogicalResult useRange(ArrayRef<Value> group);
  void group();
  SmallVector<unsigned> inGraphOrder();
  void widen();
  LogicalResult reportMissing();
  LogicalResult checkOverride(const Activation &activation);
  LogicalResult checkReceivers(const Activation &activation,
                               const TensorOverride &given);
  LogicalResult convert(Activation &activation);
  LogicalResult readGiven(StringRef name, const TensorOverride &given,
                          Parameters &parameters);
  ScaleAndZeroPoint scaleOf(RealRange range, const TensorOverride &override,
                            const Parameters &parameters);
  LogicalResult collectGroup(ArrayRef<unsigned> indices);
  QuantType sharedType(ArrayRef<Value> group);

  Plan &plan;
  const Settings &settings;
  DictionaryAttr ranges;
  /// Indices of activations that have one set of parameters.
  llvm::EquivalenceClasses<unsigned> groups;
  /// Activations that have what a second quantizer makes of another one.
  llvm::DenseMap<unsigned, unsigned> follows;
  /// Ranges of constants that join a group.
  llvm::DenseMap<Value, SmallVector<RealRange>> constants;
  llvm::DenseMap<Value, QuantType> types;
  std::vector<std::string> missing;
};

} // namespace

std::optional<RealRange> ActivationCollector::observed(Value value) {
  auto override = plan.overrides.find(tensorName(value));
  if (override != plan.overrides.end() && !override->second.mins.empty())
    return RealRange{override->second.mins[0], override->second.maxs[0]};
  auto entry =
      ranges ? dyn_cast_or_null<DictionaryAttr>(ranges.get(tensorName(value)))
             : DictionaryAttr();
  if (!entry)
    return std::nullopt;
  auto min = dyn_cast_or_null<FloatAttr>(entry.get("min"));
  auto max = dyn_cast_or_null<FloatAttr>(entry.get("max"));
  if (!min || !max)
    return std::nullopt;
  return RealRange{min.getValueAsDouble(), max.getValueAsDouble()};
}

/// The form that an op is going to have.
QuantizedForm ActivationCollector::formOf(QuantizableOpInterface op) {
  QuantizedForm form = op.getQLinearForm();
  if (!settings.quantizesResults() ||
      (form == QuantizedForm::Contrib && !settings.contribOps))
    return QuantizedForm::None;
  return form;
}

std::optional<RealRange> ActivationCollector::rangeOf(Value value) {
  std::optional<RealRange> range = observed(value);
  if (auto op = value.getDefiningOp<QuantizableOpInterface>()) {
    // What is observed of a function may be narrower than all it can give; a
    // Softmax is the exception, since its kernels expect the whole range.
    std::optional<RealRange> fixed = op.getFixedRange(formOf(op));
    if (fixed && (!range || !op.isElementwise()))
      range = fixed;
  }
  if (!value.hasOneUse())
    return range;
  auto next = dyn_cast<QuantizableOpInterface>(*value.user_begin());
  std::optional<RealRange> clamp =
      next && plan.isSelected(next) ? next.getClamp() : std::nullopt;
  if (!clamp || next->getOperand(0) != value)
    return range;
  if (std::optional<RealRange> after = observed(next->getResult(0)))
    return after;
  if (range)
    range = RealRange{std::clamp(range->min, clamp->min, clamp->max),
                      std::clamp(range->max, clamp->min, clamp->max)};
  return range;
}

/// The type of an activation: the user's, or that of all activations.
static QuantType typeOf(const Plan &plan, StringRef name) {
  auto override = plan.overrides.find(name);
  if (override != plan.overrides.end() && override->second.type)
    return *override->second.type;
  return plan.settings.activation;
}

/// What a user says of an activation must be what activations have.
LogicalResult ActivationCollector::checkOverride(const Activation &activation) {
  auto given = plan.overrides.find(activation.name);
  if (given == plan.overrides.end())
    return success();
  auto fail = [&](StringRef expected) {
    return plan.module.emitError("tensor '")
           << activation.name << "' is an activation, and expects " << expected;
  };
  if (given->second.scales.size() > 1 || given->second.mins.size() > 1 ||
      given->second.axis)
    return fail("one scale for all of it");
  if (given->second.type && given->second.type->bits == 4)
    return fail("8 or 16 bits: 4 are for weights");
  if (!given->second.convert)
    return success();
  if (activation.dynamic || settings.form != Mode::QDQ ||
      settings.dedicatedPair)
    return fail("no convert here: that is for static mode=qdq without "
                "dedicated-qdq-pair");
  if (given->second.convert->type->bits == 4)
    return fail("8 or 16 bits: 4 are for weights");
  return checkReceivers(activation, given->second);
}

/// Nodes that read what a second quantizer makes must read the tensor.
LogicalResult ActivationCollector::checkReceivers(const Activation &activation,
                                                  const TensorOverride &given) {
  for (const std::string &name :
       given.receivers.value_or(std::vector<std::string>())) {
    bool reads =
        llvm::any_of(activation.value.getUsers(),
                     [&](Operation *user) { return nodeName(user) == name; });
    if (!reads)
      return plan.module.emitError("tensor '")
             << activation.name << "': convert expects nodes that read it, but "
             << "got '" << name << "'";
  }
  return success();
}

LogicalResult ActivationCollector::readGiven(StringRef name,
                                             const TensorOverride &given,
                                             Parameters &parameters) {
  int64_t zeroPoint = given.zeroPoints.empty() ? 0 : given.zeroPoints[0];
  if (zeroPoint < parameters.type.min() || zeroPoint > parameters.type.max())
    return plan.module.emitError("tensor '")
           << name << "' expects a zero point of type " << parameters.type.str()
           << ", but got " << zeroPoint;
  parameters.values = {
      {castScale(given.scales[0], parameters.scaleType), zeroPoint}};
  return success();
}

/// Ops that share parameters join their quantized tensors.
void ActivationCollector::group() {
  for (auto [index, entry] : llvm::enumerate(plan.activations))
    groups.insert(index);
  auto indexOf = [&](Value value) -> std::optional<unsigned> {
    auto it = plan.activations.find(value);
    if (it == plan.activations.end() || it->second.dynamic)
      return std::nullopt;
    return it - plan.activations.begin();
  };
  for (auto [first, second] : plan.joined)
    if (indexOf(first) && indexOf(second)) {
      groups.unionSets(*indexOf(first), *indexOf(second));
      plan.activations[second].source = first;
    }
  for (Node &node : plan.nodes) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (!node.quantized || !op || !sharesParameters(settings, op))
      continue;
    std::optional<unsigned> first;
    auto join = [&](Value value) {
      std::optional<unsigned> index = indexOf(value);
      if (!index)
        return;
      // What is moved after it was converted follows the second quantizer.
      const Activation &activation = plan.activations.begin()[*index].second;
      if (activation.isConvertedFor(op)) {
        if (first)
          follows[*first] = *index;
        return;
      }
      if (first)
        groups.unionSets(*first, *index);
      first = index;
    };
    for (unsigned index : op.getQuantizableResults())
      join(op->getResult(index));
    for (unsigned index : op.getQuantizableOperands())
      join(op->getOperand(index));
    Value moved = op->getOperand(op.getQuantizableOperands().front());
    for (unsigned index : op.getQuantizableResults())
      if (indexOf(op->getResult(index)) && indexOf(moved))
        plan.activations[op->getResult(index)].source = moved;
    if (!first)
      continue;
    for (unsigned index : op.getQuantizableOperands())
      if (constantOf(op->getOperand(index)))
        if (auto numbers = numbersOf(op->getOperand(index)))
          if (auto range = finiteRange(*numbers))
            constants[(plan.activations.begin() + *first)->first].push_back(
                {range->first, range->second});
  }
}

/// Inputs, then what the first node makes, and so on.
SmallVector<unsigned> ActivationCollector::inGraphOrder() {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, plan.activations.size()));
  auto position = [&](unsigned index) -> int64_t {
    Value value = plan.activations.begin()[index].first;
    auto it = plan.nodeIndex.find(value.getDefiningOp());
    return it == plan.nodeIndex.end() ? -1 : static_cast<int64_t>(it->second);
  };
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return position(a) < position(b); });
  return order;
}

/// Chosen activations get 16 bits, with all that share their parameters.
void ActivationCollector::widen() {
  std::vector<llvm::Regex> patterns;
  for (const std::string &text : settings.int16Tensors)
    patterns.emplace_back("^(" + text + ")$");
  std::vector<bool> used(patterns.size());
  int64_t first = settings.int16First;
  llvm::SmallDenseSet<unsigned> counted;
  for (unsigned index : inGraphOrder()) {
    Activation &activation = plan.activations.begin()[index].second;
    QuantType &type = types[activation.value];
    // Scaled channels have given it another name than the model's.
    StringRef name = activation.name;
    name.consume_back("_scaled");
    bool wide = false;
    for (auto [i, text] : llvm::enumerate(settings.int16Tensors)) {
      std::string ignored;
      auto matchesName = [&, &text = text, i = i](StringRef name) {
        return text == name ||
               (patterns[i].isValid(ignored) && patterns[i].match(name));
      };
      bool matches = matchesName(activation.name) || matchesName(name);
      used[i] = used[i] || matches;
      wide |= matches;
    }
    // Tensors that share parameters count once.
    if (first > 0 && counted.insert(groups.getLeaderValue(index)).second) {
      --first;
      wide = true;
    }
    if (wide)
      type.bits = 16;
  }
  for (auto [i, text] : llvm::enumerate(settings.int16Tensors))
    if (!used[i])
      plan.module.emitWarning("int16-tensors: '")
          << text << "' is no activation that is quantized";
}

/// Other samples go beyond the range of those that were seen, and what is cut
/// off costs more than wider steps where these are fine anyway, in 16 bits, or
/// where there were few numbers to take a range from: in a vector for each
/// sample.
static RealRange withMargin(Value value, RealRange range, QuantType type) {
  auto op = value.getDefiningOp<QuantizableOpInterface>();
  double margin = type.bits == 16 ? wideMargin : 1;
  if (op && !op.movesData() && isVector(value))
    margin = std::max(margin, vectorMargin);
  if (op && op.getFixedRange(QuantizedForm::None))
    return range;
  range.min *= margin;
  range.max *= margin;
  std::optional<RealRange> clamp = op ? op.getClamp() : std::nullopt;
  if (clamp) {
    range.min = std::clamp(range.min, clamp->min, clamp->max);
    range.max = std::clamp(range.max, clamp->min, clamp->max);
  }
  return range;
}

/// A zero point at the least integer, or in the middle where a number is
/// negative.
static ScaleAndZeroPoint restrictedScale(RealRange range, ScaleType type) {
  double min = std::min(range.min, 0.0), max = std::max(range.max, 0.0);
  double scale = min >= 0 ? max / 255 : std::max(max / 127, -min / 128);
  scale = castScale(scale, type);
  return {scale < std::numeric_limits<float>::min() ? 1.0 : scale,
          min >= 0 ? 0 : 128};
}

/// The type of tensors that share parameters: the widest, of equal ones that
/// which a user chose.
QuantType ActivationCollector::sharedType(ArrayRef<Value> group) {
  QuantType type = types.lookup(group.front());
  bool chosen = false;
  for (Value value : group) {
    QuantType own = types.lookup(value);
    auto given = plan.overrides.find(tensorName(value));
    bool isChosen = given != plan.overrides.end() && given->second.type;
    if (own.bits > type.bits ||
        (own.bits == type.bits && isChosen && !chosen)) {
      type = own;
      chosen = isChosen;
    }
  }
  return type;
}

ScaleAndZeroPoint ActivationCollector::scaleOf(RealRange range,
                                               const TensorOverride &override,
                                               const Parameters &parameters) {
  bool isRestricted =
      settings.restrictedAsymmetric && parameters.type == QuantType{8, false};
  if (isRestricted)
    return restrictedScale(range, parameters.scaleType);
  ScaleRule rule{parameters.type,
                 override.symmetric.value_or(settings.symmetricActivations),
                 override.reduceRange.value_or(false),
                 settings.minimumRealRange, parameters.scaleType};
  return computeScale(range.min, range.max, rule);
}

/// The parameters of a second quantizer, of the same range unless it has one.
LogicalResult ActivationCollector::convert(Activation &activation) {
  const TensorOverride &second =
      *plan.overrides.find(activation.name)->second.convert;
  Parameters &parameters = *activation.converted;
  parameters.type = *second.type;
  parameters.scaleType = *scaleTypeOf(activation.value);
  if (!second.scales.empty())
    return readGiven(activation.name, second, parameters);
  std::optional<RealRange> range = rangeOf(activation.value);
  if (!second.mins.empty())
    range = RealRange{second.mins[0], second.maxs[0]};
  if (range)
    parameters.values = {scaleOf(*range, second, parameters)};
  else
    missing.push_back(activation.name);
  return success();
}

LogicalResult ActivationCollector::useRange(ArrayRef<Value> group) {
  std::optional<RealRange> all;
  auto add = [&](RealRange range) {
    if (!all)
      all = range;
    all->min = std::min(all->min, range.min);
    all->max = std::max(all->max, range.max);
  };
  QuantType type = sharedType(group);
  TensorOverride override;
  for (Value value : group) {
    auto given = plan.overrides.find(tensorName(value));
    if (given != plan.overrides.end())
      override = given->second;
    if (std::optional<RealRange> range = rangeOf(value)) {
      if (!std::isfinite(range->min) || !std::isfinite(range->max))
        return plan.module.emitError("the range of tensor '")
               << tensorName(value) << "' is not finite";
      if (range->min > range->max)
        return plan.module.emitError("the range of tensor '")
               << tensorName(value) << "' is empty: its least value is above "
               << "its greatest";
      bool exact =
          settings.placement == Placement::EveryOp || !override.mins.empty();
      add(exact ? *range : withMargin(value, *range, type));
    }
    for (RealRange range : constants.lookup(value))
      add(range);
  }
  if (!all) {
    missing.push_back(tensorName(group.front()));
    return success();
  }
  for (Value value : group) {
    Parameters &parameters = plan.activations[value].parameters;
    parameters.type = type;
    parameters.scaleType = *scaleTypeOf(value);
    parameters.values = {scaleOf(*all, override, parameters)};
    if (!std::isfinite(parameters.values[0].scale))
      return plan.module.emitError("the range of tensor '")
             << tensorName(value) << "' is too wide for a finite scale";
  }
  return success();
}

LogicalResult ActivationCollector::reportMissing() {
  if (missing.empty())
    return success();
  if (!ranges)
    return plan.module.emitError("the model has no ranges, and tensor '")
           << missing[0]
           << "' needs one: calibrate it (--data), load a table (--table), "
              "give input-quantization-params, or find ranges at run time "
              "(--dynamic)";
  constexpr size_t shown = 5;
  auto diagnostic = plan.module.emitError("no range is known of tensor");
  diagnostic << (missing.size() > 1 ? "s " : " ");
  for (size_t i = 0; i < std::min(shown, missing.size()); ++i)
    diagnostic << (i ? ", '" : "'") << missing[i] << "'";
  if (missing.size() > shown)
    diagnostic << " and " << missing.size() - shown << " more";
  return diagnostic;
}

/// Gives the members of one group their parameters.
LogicalResult ActivationCollector::collectGroup(ArrayRef<unsigned> indices) {
  SmallVector<Value> group;
  std::optional<Parameters> given;
  for (unsigned index : indices) {
    auto &[value, activation] = plan.activations.begin()[index];
    if (activation.dynamic)
      continue;
    group.push_back(value);
    auto source = follows.find(index);
    if (source != follows.end()) {
      given = plan.activations.begin()[source->second].second.converted;
      continue;
    }
    if (!activation.given)
      continue;
    activation.parameters.type = types.lookup(value);
    activation.parameters.scaleType = *scaleTypeOf(value);
    if (failed(readGiven(activation.name,
                         plan.overrides.lookup(activation.name),
                         activation.parameters)))
      return failure();
    if (!given)
      given = activation.parameters;
  }
  if (group.empty())
    return success();
  if (!given)
    return useRange(group);
  // What shares numbers with a tensor of given parameters has the same.
  for (Value value : group)
    if (!plan.activations[value].given)
      plan.activations[value].parameters = *given;
  return success();
}

LogicalResult ActivationCollector::run() {
  for (auto &[value, activation] : plan.activations) {
    if (failed(checkOverride(activation)))
      return failure();
    types[value] = typeOf(plan, activation.name);
    auto given = plan.overrides.find(activation.name);
    if (given == plan.overrides.end() || !given->second.convert)
      continue;
    activation.converted.emplace();
    activation.receivers = given->second.receivers;
    if (failed(convert(activation)))
      return failure();
  }
  group();
  widen();
  for (const auto &leader : groups) {
    if (!leader->isLeader())
      continue;
    SmallVector<unsigned> indices(groups.member_begin(*leader),
                                  groups.member_end());
    llvm::sort(indices);
    if (failed(collectGroup(indices)))
      return failure();
  }
  return reportMissing();
}

/// Says of which tensors parameters were given that nothing uses.
static void warnOfUnused(Plan &plan) {
  llvm::StringSet<> used;
  for (const auto &[use, weight] : plan.weights)
    used.insert(weight.name);
  for (const auto &[value, activation] : plan.activations)
    if (!activation.dynamic)
      used.insert(activation.name);
  std::vector<StringRef> given;
  for (const auto &entry : plan.settings.overrides)
    if (!used.contains(entry.first()) &&
        !used.contains(plan.passedOn.lookup(entry.first())))
      given.push_back(entry.first());
  llvm::sort(given);
  for (StringRef name : given)
    plan.module.emitWarning("nothing uses the parameters given for tensor '")
        << name << "': it "
        << (plan.settings.dynamic
                ? "is not quantized, or its range is found at run time"
                : "is not quantized");
}

LogicalResult quantize::collectActivations(Plan &plan) {
  warnOfUnused(plan);
  return ActivationCollector(plan).run();
}
