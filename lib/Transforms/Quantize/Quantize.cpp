// The pass: reads its options, then takes the steps in order.

#include "OnnxQuant/Support/AtomicFile.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxquant {
#define GEN_PASS_DEF_QUANTIZE
#include "OnnxQuant/Transforms/Quantize/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

struct Quantize : public onnxquant::impl::QuantizeBase<Quantize> {
  using QuantizeBase::QuantizeBase;
  void runOnOperation() override;

  std::function<void(const QuantizeReport &)> sink;
  CovarianceSource source;

private:
#define GEN_OPTIONS_OF_QUANTIZE
#include "OnnxQuant/Transforms/Quantize/Options.h.inc"
  LogicalResult quantize(Plan &plan);
  LogicalResult finish(Plan &plan);
};

} // namespace

/// Bytes of all constants of a module.
static int64_t constantBytes(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](ConstantOp op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat())
      return;
    bytes += (type.getNumElements() *
                  static_cast<int64_t>(
                      type.getElementType().getIntOrFloatBitWidth()) +
              7) /
             8;
  });
  return bytes;
}

LogicalResult Quantize::quantize(Plan &plan) {
  if (plan.settings.mode == Mode::QAT)
    unifyQuantizers(plan.module);
  if (failed(selectNodes(plan)))
    return failure();
  if (plan.isQuantized)
    return success();
  if (plan.settings.weightOnly)
    return quantizeWeightsOnly(plan, source);
  if (plan.settings.mode == Mode::QAT) {
    if (failed(takeOverQuantizers(plan)))
      return failure();
  } else {
    if (plan.settings.smoothQuant)
      smoothChannels(plan);
    if (failed(placeQuantizers(plan)) ||
        (leaveUnseenBranches(plan) && failed(placeQuantizers(plan))))
      return failure();
    if (plan.settings.scaleChannels)
      scaleChannels(plan);
    if (failed(collectActivations(plan)) || failed(collectWeights(plan)) ||
        failed(adjustBiases(plan)))
      return failure();
    insertQuantizers(plan);
    if (!plan.settings.isCompatible())
      storeEmbeddings(plan);
  }
  if (plan.settings.form == Mode::QLinear)
    foldToQLinear(plan);
  if (plan.settings.form == Mode::Integer)
    foldToInteger(plan);
  if (plan.settings.dynamic && plan.settings.contribOps) {
    foldToDynamic(plan);
    quantizeEmbeddings(plan);
  }
  cleanUp(plan);
  if (plan.settings.isCompatible())
    renameAsOnnxRuntime(plan);
  return success();
}

LogicalResult Quantize::finish(Plan &plan) {
  fillReport(plan);
  plan.report.bytesAfter = constantBytes(plan.module);
  plan.report.saturating = countSaturating(plan.module);
  numQuantized = plan.report.numQuantized();
  numFloat = plan.report.nodes.size() - numQuantized;
  numActivations = plan.report.activations;
  numWeights = plan.report.weights;
  if (sink)
    sink(plan.report);
  if (report.empty())
    return success();
  auto fail = [&](llvm::Error error) {
    return emitError(UnknownLoc::get(&getContext()))
           << llvm::toString(std::move(error));
  };
  auto file = AtomicFile::create(report);
  if (!file)
    return fail(file.takeError());
  (*file)->os() << llvm::formatv("{0:2}", plan.report.toJson()) << "\n";
  if (llvm::Error error = (*file)->commit())
    return fail(std::move(error));
  return success();
}

void Quantize::runOnOperation() {
  QuantizeOptions options = readOptions();
  if (auto name = findBudgetOption(options)) {
    getOperation().emitError(*name)
        << " asks for a search that runs samples, which a pass alone doesn't "
           "do: it is for 'onnxq quantize' and onnxquant.quantize()";
    return signalPassFailure();
  }
  llvm::Expected<Settings> settings = readSettings(options);
  if (!settings) {
    getOperation().emitError(llvm::toString(settings.takeError()));
    return signalPassFailure();
  }
  Plan plan(getOperation(), *settings);
  plan.report.mode = options.quantizationMode.empty()
                         ? (options.modeName.empty() ? "qdq" : options.modeName)
                         : options.quantizationMode;
  if (settings->weightOnly)
    plan.report.mode = (settings->weightOnly->asPairs ? "qdq " : "") +
                       std::string("weights of ") +
                       std::to_string(settings->weightOnly->bits) +
                       " bits in blocks of " +
                       std::to_string(settings->weightOnly->blockSize) + ", " +
                       options.algorithmName;
  else if (options.quantizationMode.empty() && settings->mode != Mode::QAT)
    plan.report.mode += settings->dynamic ? " dynamic" : " static";
  plan.report.placement = options.placementName;
  plan.report.bytesBefore = constantBytes(getOperation());
  if (failed(quantize(plan)))
    return signalPassFailure();
  if (options.remarks)
    for (const Node &node : plan.nodes)
      emitRemark(node.location)
          << node.name << ": " << (node.quantized ? "quantized" : "float")
          << (node.reason.empty() ? "" : ", ") << node.reason;
  if (failed(finish(plan)))
    return signalPassFailure();
}

std::unique_ptr<Pass>
onnxquant::createQuantize(QuantizeOptions options,
                          std::function<void(const QuantizeReport &)> sink,
                          CovarianceSource source) {
  auto pass = std::make_unique<::Quantize>(std::move(options));
  pass->sink = std::move(sink);
  pass->source = std::move(source);
  return pass;
}

FailureOr<std::set<std::string>>
onnxquant::tensorsToCalibrate(ModuleOp module, const QuantizeOptions &options) {
  llvm::Expected<Settings> settings = readSettings(options);
  if (!settings)
    return module.emitError(llvm::toString(settings.takeError()));
  std::set<std::string> names;
  if (settings->mode == Mode::QAT || settings->weightOnly)
    return names;
  // Quantization warns of the same.
  ScopedDiagnosticHandler once(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  Plan plan(module, *settings);
  if (failed(selectNodes(plan)))
    return failure();
  if (plan.isQuantized)
    return names;
  if (failed(placeQuantizers(plan)))
    return failure();
  auto add = [&](Value value) { names.insert(tensorName(value)); };
  for (auto &[value, activation] : plan.activations) {
    add(value);
    // What a clamp leaves may stand for what enters it.
    for (Operation *user : value.getUsers())
      if (auto next = dyn_cast<QuantizableOpInterface>(user))
        if (next.getClamp())
          add(next->getResult(0));
  }
  // Biases are corrected by the means of what contractions read.
  for (const Node &node : plan.nodes) {
    auto op = dyn_cast<QuantizableOpInterface>(node.op);
    if (!op || !(node.quantized || node.weightsOnly))
      continue;
    SmallVector<unsigned> operands = op.getQuantizableOperands();
    if (operands.size() > 1 && op.getReductionAxis(operands[1]))
      add(op->getOperand(operands[0]));
  }
  return names;
}
