// Lists the nodes of a model and says of each whether it may be quantized, and
// if not, why.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Support/NearestName.h"
#include "Plan.h"
#include "Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

/// Names and regular expressions, and which of them have met a node.
class NamePatterns {
public:
  explicit NamePatterns(llvm::ArrayRef<std::string> texts) {
    for (const std::string &text : texts) {
      std::string ignored;
      llvm::Regex regex("^(" + text + ")$");
      patterns.push_back({text, std::move(regex), false});
    }
  }
  bool empty() const { return patterns.empty(); }
  bool matches(StringRef name) {
    bool any = false;
    for (Pattern &pattern : patterns) {
      std::string ignored;
      if (pattern.text == name ||
          (pattern.regex.isValid(ignored) && pattern.regex.match(name))) {
        pattern.used = true;
        any = true;
      }
    }
    return any;
  }
  /// The first that met nothing.
  std::optional<std::string> unused() const {
    for (const Pattern &pattern : patterns)
      if (!pattern.used)
        return pattern.text;
    return std::nullopt;
  }

private:
  struct Pattern {
    std::string text;
    llvm::Regex regex;
    bool used;
  };
  std::vector<Pattern> patterns;
};

} // namespace

/// Constants and terminators are no nodes.
static bool isNode(Operation *op) {
  return (isa<NodeOpInterface>(op) || isa<CustomOp>(op)) &&
         !isa<ConstantOp, NoValueOp, ReturnOp, YieldOp>(op);
}

/// Whether a static range of a tensor is known or can be observed, which takes
/// a known rank.
static bool canHaveRange(Plan &plan, Value value) {
  std::string name = tensorName(value);
  return isa<RankedTensorType, NoneType>(value.getType()) ||
         plan.overrides.count(name) || getRange(plan.module, name);
}

/// Why a node whose operator can be quantized is not; empty if it is.
static std::string obstacleOf(Plan &plan, QuantizableOpInterface op) {
  const Settings &settings = plan.settings;
  SmallVector<unsigned> operands = op.getQuantizableOperands();
  if (!operands.empty()) {
    Value first = op->getOperand(operands[0]);
    std::optional<ScaleType> type = scaleTypeOf(first);
    if (!type)
      return "its numbers are not float32 or float16";
  }
  if (!isa<func::FuncOp>(op->getParentOp()) && !settings.enableSubgraph)
    return "it is part of a subgraph, and enable-subgraph is false";
  if (std::string obstacle = op.getObstacle(); !obstacle.empty())
    return obstacle;
  auto isConstant = [&](unsigned i) {
    return static_cast<bool>(constantOf(op->getOperand(i)));
  };
  if (isa<microsoft::AttentionOp>(op) &&
      !(settings.dynamic && settings.contribOps))
    return "attention has a quantized form in dynamic modes with contrib-ops";
  if (op.takesWeightsOnly()) {
    if (!settings.dynamic)
      return "recurrent layers are quantized in dynamic modes";
    if (!llvm::all_of(operands, isConstant))
      return "its weights are not constant";
  }
  SmallVector<Value> stored;
  for (unsigned index : operands)
    stored.push_back(op->getOperand(index));
  if (settings.quantizesResults() || settings.placement == Placement::EveryOp)
    for (unsigned index : op.getQuantizableResults())
      stored.push_back(op->getResult(index));
  if (!settings.dynamic && !llvm::all_of(stored, [&](Value value) {
        return canHaveRange(plan, value);
      }))
    return "a tensor of unknown rank has no range";
  bool limited = settings.dynamic || settings.form == Mode::Integer;
  bool absorbed = settings.quantizesResults() && op.getClamp();
  if (limited && !op.isContraction() && !absorbed)
    return "dynamic and integer modes quantize contractions only";
  if (op.isContraction() && settings.constantProductsOnly &&
      llvm::none_of(operands, isConstant))
    return "neither of its operands is constant; see matmul-const-b-only";
  return "";
}

/// Whether a mask goes through an op; contractions read what they must.
static bool holdsMask(Plan &plan, QuantizableOpInterface op) {
  auto isMasked = [&](Value value) { return plan.masked.contains(value); };
  return !op.isContraction() && (llvm::any_of(op->getOperands(), isMasked) ||
                                 llvm::any_of(op->getResults(), isMasked));
}

/// Operators that have a model of the interface.
static std::vector<std::string> quantizableTypes(MLIRContext *context) {
  std::vector<std::string> types;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.hasInterface<QuantizableOpInterface>())
      types.push_back(name.getStringRef().rsplit('.').second.str());
  llvm::sort(types);
  return types;
}

static LogicalResult checkOpTypes(Plan &plan) {
  // Any operator may be listed there.
  if (plan.settings.isCompatible() && plan.settings.form == Mode::QDQ)
    return success();
  std::vector<std::string> known =
      plan.settings.weightOnly
          ? std::vector<std::string>{"Gather", "Gemm", "MatMul"}
          : quantizableTypes(plan.module.getContext());
  if (plan.settings.dynamic && plan.settings.contribOps)
    known.push_back("EmbedLayerNormalization");
  for (const std::string &type : plan.settings.opTypes)
    if (!llvm::is_contained(known, type))
      return plan.module.emitError(
                 "op-types-to-quantize expects operators that can be "
                 "quantized, but got '")
             << type << "'" << suggestName(type, known);
  return success();
}

static LogicalResult checkUsed(Plan &plan, StringRef option,
                               const NamePatterns &patterns) {
  std::optional<std::string> unused = patterns.unused();
  if (!unused)
    return success();
  std::vector<std::string> names;
  for (const Node &node : plan.nodes)
    names.push_back(node.name);
  return plan.module.emitError()
         << option << ": the model has no node '" << *unused << "'"
         << suggestName(*unused, names);
}

/// A model that is quantized already has nothing left to choose: it stays as it
/// is. Quantizers of training are for `mode=qat`.
static bool isQuantized(Plan &plan) {
  static const llvm::StringSet<> quantized = {"QuantizeLinear",
                                              "DequantizeLinear",
                                              "DynamicQuantizeLinear",
                                              "ConvInteger",
                                              "MatMulInteger",
                                              "MatMulIntegerToFloat",
                                              "DynamicQuantizeMatMul",
                                              "DynamicQuantizeLSTM",
                                              "MatMulNBits",
                                              "GatherBlockQuantized",
                                              "QAttention",
                                              "QGemm",
                                              "QEmbedLayerNormalization"};
  auto isQuantizedType = [](StringRef type) {
    return quantized.contains(type) || type.starts_with("QLinear");
  };
  auto first = llvm::find_if(plan.nodes, [&](const Node &node) {
    return isQuantizedType(opTypeOf(node.op));
  });
  if (first == plan.nodes.end())
    return false;
  bool pairs =
      isa<QuantizeLinearOp, DequantizeLinearOp, microsoft::QuantizeLinearOp,
          microsoft::DequantizeLinearOp>(first->op);
  // ONNX Runtime's tool quantizes what has no quantizers yet.
  if (pairs && plan.settings.isCompatible() && plan.settings.form == Mode::QDQ)
    return false;
  plan.module.emitWarning("the model is quantized already: it has a ")
      << opTypeOf(first->op) << ", and stays as it is"
      << (pairs ? "; mode=qat takes over the quantizers of a trained model"
                : "");
  for (Node &node : plan.nodes)
    node.reason = "the model is quantized already";
  return true;
}

/// All names of tensors must exist, or an option does nothing silently.
static LogicalResult checkTensors(Plan &plan) {
  llvm::StringSet<> known;
  std::vector<std::string> names;
  auto add = [&](Value value) {
    std::string name = tensorName(value);
    if (!isa<NoneType>(value.getType()) && known.insert(name).second)
      names.push_back(name);
  };
  plan.module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
    llvm::for_each(op->getResults(), add);
  });
  NamePatterns wide(plan.settings.int16Tensors);
  for (const std::string &name : names)
    wide.matches(name);
  auto unknown = [&](StringRef option, StringRef name) {
    return plan.module.emitError() << option << ": the model has no tensor '"
                                   << name << "'" << suggestName(name, names);
  };
  if (auto unused = wide.unused())
    return unknown("int16-tensors", *unused);
  std::vector<StringRef> given;
  for (const auto &entry : plan.settings.overrides)
    given.push_back(entry.first());
  llvm::sort(given);
  for (StringRef name : given)
    if (!known.contains(name))
      return unknown("quantization parameters", name);
  return success();
}

/// Parameters of what only a Relu or Clip reads are meant for what it leaves,
/// and the other way round: tools name either of the two tensors.
static void passOnParameters(Plan &plan) {
  auto isGiven = [&](const std::string &name) {
    auto entry = plan.overrides.find(name);
    return entry != plan.overrides.end() && !entry->second.scales.empty();
  };
  for (const Node &node : plan.nodes) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (!op || !op.getClamp() || !op->getOperand(0).hasOneUse())
      continue;
    std::string before = tensorName(op->getOperand(0)),
                after = tensorName(op->getResult(0));
    if (isGiven(before) && isGiven(after)) {
      // Both say the same, or the first is of no use.
      const TensorOverride &one = plan.overrides[before],
                           &other = plan.overrides[after];
      if (one.scales == other.scales && one.zeroPoints == other.zeroPoints)
        plan.passedOn[before] = after;
      continue;
    }
    if (!isGiven(before) && !isGiven(after))
      continue;
    if (!isGiven(before))
      std::swap(before, after);
    TensorOverride entry = plan.overrides[before];
    plan.overrides[after] = entry;
    plan.passedOn[before] = after;
  }
}

LogicalResult quantize::selectNodes(Plan &plan) {
  const Settings &settings = plan.settings;
  plan.module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isNode(op))
      return;
    plan.nodeIndex[op] = plan.nodes.size();
    plan.nodes.emplace_back(op);
    plan.nodes.back().name = nodeName(op);
    plan.nodes.back().report.opType = opTypeOf(op).str();
  });
  if (settings.mode == Mode::QAT)
    return success();
  // Weights may be stored in several runs, with bits of their own.
  plan.isQuantized = !settings.weightOnly && isQuantized(plan);
  if (plan.isQuantized)
    return success();
  if (failed(checkOpTypes(plan)) || failed(checkTensors(plan)))
    return failure();
  passOnParameters(plan);
  if (!settings.dynamic && !settings.weightOnly)
    findMasks(plan);
  // Other tools don't look at that, and a user who names nodes has.
  llvm::DenseSet<Operation *> sizing;
  if (!settings.isCompatible() && settings.nodes.empty())
    sizing = findSizing(plan.module);
  NamePatterns chosen(settings.nodes), excluded(settings.excluded);
  for (Node &node : plan.nodes) {
    node.excluded = excluded.matches(node.name);
    bool isChosen = chosen.empty() || chosen.matches(node.name);
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    node.plain = isPlainForOnnxRuntime(settings, node.op);
    node.embeds = isEmbedding(settings, node.op);
    if (!op && !node.plain && !node.embeds)
      node.reason = "there is no quantized form of " + opTypeOf(node.op).str();
    else if (node.excluded)
      node.reason = "excluded by nodes-to-exclude";
    else if (!isChosen)
      node.reason = "not among nodes-to-quantize";
    else if (!settings.opTypes.empty() &&
             !llvm::is_contained(settings.opTypes, opTypeOf(node.op)))
      node.reason = "not among op-types-to-quantize";
    else if (node.excluded = op && holdsMask(plan, op); node.excluded)
      node.reason = "it holds an attention mask, which no range may follow";
    else if (node.excluded = (node.embeds || (op && op.isContraction())) &&
                             sizing.contains(node.op);
             node.excluded)
      node.reason = "it decides sizes, which rounding would change";
    else if (settings.isCompatible() && !node.plain && !node.embeds)
      node.reason = leftByOnnxRuntime(settings, opTypeOf(node.op));
    if (op && !node.embeds && node.reason.empty())
      node.reason = settings.weightOnly ? obstacleToCodes(plan, op)
                                        : obstacleOf(plan, op);
    if (node.embeds && node.reason.empty())
      node.reason = obstacleOfEmbedding(settings, node.op);
    node.selected = node.reason.empty();
  }
  if (failed(checkUsed(plan, "nodes-to-quantize", chosen)) ||
      failed(checkUsed(plan, "nodes-to-exclude", excluded)))
    return failure();
  return success();
}
