// What a comparison comes to: whether the data goes with the model, whether
// layers stand out, and how the model was quantized.

#include "Comparison.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "QuantView.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

/// A range that is so much wider, or narrower, than the samples was found with
/// other data.
static constexpr double otherwiseWide = 4, otherwiseNarrow = 1.5;
/// Shares of an input's values beyond its range: together with a narrow range,
/// and by themselves.
static constexpr double someBeyond = 0.01, mostlyBeyond = 0.2;

bool DebugTensor::isMismatch() const {
  if (!isInput() || !stored.range || errors.count == 0)
    return false;
  // A range holds 0 in any case.
  auto [least, most] = *stored.range;
  double width = most - least;
  double span = std::max(0.0, errors.max) - std::min(0.0, errors.min);
  if (!(width > 0) || !(span > 0))
    return false;
  double beyond = saturatedShare();
  return width > otherwiseWide * span || beyond > mostlyBeyond ||
         (beyond > someBeyond && span > otherwiseNarrow * width);
}

const DebugTensor *DebugResult::worstOutput() const {
  const DebugTensor *worst = nullptr;
  for (const DebugTensor &tensor : tensors)
    if (tensor.isOutput && tensor.errors.count > 0 &&
        (!worst ||
         tensor.errors.noiseToSignal() > worst->errors.noiseToSignal()))
      worst = &tensor;
  return worst;
}

Verdict DebugResult::verdict() const {
  if (llvm::any_of(tensors, [](const DebugTensor &tensor) {
        return tensor.isMismatch();
      }))
    return Verdict::InputMismatch;
  if (llvm::any_of(tensors, [](const DebugTensor &tensor) {
        return !tensor.advice.empty();
      }))
    return Verdict::Layers;
  const DebugTensor *output = worstOutput();
  return output && isBadRatio(output->errors.noiseToSignal()) ? Verdict::Spread
                                                              : Verdict::Good;
}

double DebugSample::noiseShare() const {
  return std::pow(10.0,
                  -signalToNoise(std::sqrt(signal), std::sqrt(noise)) / 20);
}

//===----------------------------------------------------------------------===//
// How a model was quantized
//===----------------------------------------------------------------------===//

/// Operators that only quantized models have.
static bool isQuantizedOp(Operation *op) {
  StringRef type = roleOf(op);
  return isQuantizer(op) || isDequantizer(op) ||
         isa<ir::DynamicQuantizeLinearOp>(op) || type.starts_with("QLinear") ||
         type.ends_with("Integer") || type == "QGemm" || type == "QAttention" ||
         type == "MatMulNBits" || type == "MatMulIntegerToFloat" ||
         type.starts_with("DynamicQuantize");
}

bool onnxquant::isQuantizedModel(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isQuantizedOp(op) ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// What is counted of a quantized graph.
struct Traits {
  llvm::StringMap<int64_t> activations, weights;
  int64_t singleScales = 0, manyScales = 0;
  bool isDynamic = false, hasQLinear = false, hasIntegers = false;

  void add(Operation *op);
};
} // namespace

static std::string typeOf(Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  auto type = tensor ? quantType(tensor.getElementType()) : std::nullopt;
  return type ? type->str() : "";
}

void Traits::add(Operation *op) {
  StringRef type = roleOf(op);
  isDynamic |= isa<ir::DynamicQuantizeLinearOp>(op);
  hasQLinear |= type.starts_with("QLinear") || type == "QGemm";
  hasIntegers |= type.ends_with("Integer");
  if (isQuantizer(op) && !ir::getConstant(op->getOperand(0)))
    ++activations[typeOf(op->getResult(0))];
  QuantNode node = viewNode(op);
  if (!isContraction(node.role) || node.operands.size() < 2)
    return;
  const QuantTensor &weight = node.operands[1];
  if (!weight.value || !ir::getConstant(weight.value))
    return;
  if (std::string stored = typeOf(weight.value); !stored.empty())
    ++weights[stored];
  if (ElementsAttr scale =
          weight.scale ? ir::getConstant(weight.scale) : ElementsAttr())
    ++(scale.getNumElements() == 1 ? singleScales : manyScales);
}

static std::string mostFrequent(const llvm::StringMap<int64_t> &counts) {
  std::string best;
  int64_t most = 0;
  for (const auto &entry : counts)
    if (entry.second > most ||
        (entry.second == most && entry.first() < StringRef(best))) {
      most = entry.second;
      best = entry.first().str();
    }
  return best;
}

std::vector<std::pair<std::string, std::string>>
onnxquant::guessQuantizeOptions(ModuleOp module) {
  Traits traits;
  module.walk([&](Operation *op) {
    if (isa<ir::NodeOpInterface>(op))
      traits.add(op);
  });
  std::vector<std::pair<std::string, std::string>> options;
  if (traits.hasQLinear)
    options.emplace_back("mode", "qlinear");
  else if (traits.hasIntegers)
    options.emplace_back("mode", "integer");
  if (traits.isDynamic)
    options.emplace_back("dynamic", "true");
  std::string activation = mostFrequent(traits.activations),
              weight = mostFrequent(traits.weights);
  if (!activation.empty() && activation != "u8" && !traits.isDynamic)
    options.emplace_back("activation-type", activation);
  // In the form `integer` convolutions have unsigned weights by default.
  if (!weight.empty() && weight != "s8" &&
      !(traits.hasIntegers && weight == "u8"))
    options.emplace_back("weight-type", weight);
  if (traits.singleScales > 0 && traits.manyScales == 0)
    options.emplace_back("per-channel", "false");
  return options;
}
