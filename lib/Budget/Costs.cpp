// Times of layers: measured in this process, or by a model of processors.

#include "OnnxQuant/Budget/Costs.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Budget/Choice.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/DotCost.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "onnxquant-c/runtime.h"
#include <chrono>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::budget;

//===----------------------------------------------------------------------===//
// Measured
//===----------------------------------------------------------------------===//

namespace {

using Clock = std::chrono::steady_clock;

struct FreeWorkspace {
  void operator()(void *workspace) const { onnxq_free_workspace(workspace); }
};

/// Code that tells where its time goes.
struct MeasuredCode {
  std::unique_ptr<LoadedObject> object;
  /// Kept from run to run: new memory costs time.
  std::unique_ptr<void, FreeWorkspace> workspace;
  /// The least of all runs, by part.
  std::vector<int64_t> least;

  /// Parts by node, in milliseconds.
  Times times() const {
    Times result;
    const onnxq_profile_data &data = *object->profile();
    for (int64_t i = 0; i < data.count; ++i)
      result[llvm::StringRef(data.texts[i]).split('\t').first.str()] +=
          static_cast<double>(least[i]) * 1e-6;
    return result;
  }
};

} // namespace

static FailureOr<MeasuredCode> compileToMeasure(ModuleOp module,
                                                const Tensors &sample) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  auto target = parseTarget("native");
  if (!target)
    return module.emitError() << llvm::toString(target.takeError());
  if (failed(graph))
    return failure();
  specializeInputs(*graph, sample, /*keepFirst=*/false);
  CompileOptions options;
  options.target = *target;
  options.profile = true;
  auto object = compileAndLoad(module, options);
  if (failed(object))
    return failure();
  if (!(*object)->profile())
    return module.emitError("the code has no measurement");
  MeasuredCode code{std::move(*object), nullptr, {}};
  code.workspace.reset(onnxq_make_workspace(&code.object->model()));
  code.least.assign(code.object->profile()->count,
                    std::numeric_limits<int64_t>::max());
  return code;
}

/// Runs once. The first run fills the caches, and is told to be left out.
static llvm::Error runOnce(MeasuredCode &code, const Tensors &sample,
                           bool counts) {
  const onnxq_profile_data &data = *code.object->profile();
  std::fill_n(data.nanoseconds, data.count, 0);
  std::fill_n(data.calls, data.count, 0);
  auto outputs = runModel(code.object->model(), sample, code.workspace.get());
  if (!outputs)
    return outputs.takeError();
  for (int64_t i = 0; counts && i < data.count; ++i)
    code.least[i] = std::min(code.least[i], data.nanoseconds[i]);
  return llvm::Error::success();
}

FailureOr<std::vector<Times>>
onnxquant::budget::measureForms(ModuleOp real,
                                llvm::ArrayRef<const QuantizeOptions *> forms,
                                const Tensors &sample) {
  constexpr double seconds = 1.5;
  constexpr int64_t fewest = 5;
  std::vector<MeasuredCode> codes;
  for (const QuantizeOptions *form : forms) {
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(real->clone()));
    PassManager pm(real.getContext());
    if (form)
      pm.addPass(createQuantize(*form, nullptr));
    if (failed(pm.run(*copy)))
      return failure();
    auto code = compileToMeasure(*copy, sample);
    if (failed(code))
      return failure();
    codes.push_back(std::move(*code));
  }
  // In turns, so that what else the machine does is the same for all.
  Clock::time_point end;
  for (int64_t round = -1; round < fewest || Clock::now() < end; ++round) {
    for (MeasuredCode &code : codes)
      if (llvm::Error error = runOnce(code, sample, round >= 0))
        return real.emitError() << llvm::toString(std::move(error));
    if (round < 0)
      end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(seconds));
  }
  std::vector<Times> result;
  for (const MeasuredCode &code : codes)
    result.push_back(code.times());
  return result;
}

double onnxquant::budget::sumOf(const Times &times) {
  double sum = 0;
  for (const auto &[node, time] : times)
    sum += time;
  return sum;
}

FailureOr<Costs> onnxquant::budget::measureCosts(ModuleOp real,
                                                 const QuantizeOptions &options,
                                                 const Tensors &sample) {
  // All activations in 16 bits, with the sign that they have.
  QuantizeOptions wide = options;
  wide.activationType =
      llvm::StringRef(options.activationType).contains_insensitive("s8") ||
              llvm::StringRef(options.activationType)
                  .equals_insensitive("QInt8")
          ? "s16"
          : "u16";
  auto times = measureForms(real, {&options, &wide, nullptr}, sample);
  if (failed(times))
    return failure();
  Times &with8 = (*times)[0], &with16 = (*times)[1], &inFloat = (*times)[2];
  Costs costs;
  for (const auto &[node, time] : with8) {
    // What has no counterpart is the same in all, or a quantizer.
    if (with16.count(node) == 0 || inFloat.count(node) == 0) {
      costs.other += time;
      continue;
    }
    costs.layers[node] = {coarse(time), coarse(with16[node]),
                          coarse(inFloat[node])};
  }
  costs.other = coarse(costs.other);
  return costs;
}

//===----------------------------------------------------------------------===//
// Modelled
//===----------------------------------------------------------------------===//

/// Multiply-adds of a cycle with floats, bytes and 16-bit integers.
static LayerTimes ratesOf(const TargetInfo &target) {
  double lanes = static_cast<double>(target.lanes());
  double inFloat = target.hasFMA ? 2 * lanes : lanes;
  if (target.hasAMX)
    return {32 * lanes, 4 * lanes, inFloat};
  if (target.hasAVX512VNNI || target.hasAVXVNNI)
    return {8 * lanes, 4 * lanes, inFloat};
  if (target.hasI8mm)
    return {16 * lanes, 2 * lanes, inFloat};
  if (target.hasDotprod)
    return {8 * lanes, 2 * lanes, inFloat};
  if (target.hasAVX2) {
    // Measured: fiftieths of a cycle for four rows of a tile of 64.
    constexpr double products = 4 * 64 * 50;
    return {products / dotcost::bundle, products / dotcost::widened, inFloat};
  }
  return {2 * lanes, 2 * lanes, inFloat};
}

LayerTimes onnxquant::budget::modelCost(const LayerWork &work,
                                        const TargetInfo &target) {
  LayerTimes rates = ratesOf(target);
  // Vectors that are read in a cycle, and products that a rounding takes as
  // long as.
  constexpr double reads = 1, roundings = 8;
  double bytes = reads * static_cast<double>(target.vectorBytes);
  auto time = [&](double rate, double size, double weightSize, bool rounds) {
    double macs =
        work.isDepthwise ? work.macs / rates.timeFloat : work.macs / rate;
    double moved =
        (size * (work.inputs + work.outputs) + weightSize * work.weights) /
        bytes;
    double rounded = rounds ? roundings * work.inputs / rates.timeFloat : 0;
    return (macs + moved + rounded) * 1e-3;
  };
  return {time(rates.time8, 1, 1, true), time(rates.time16, 2, 1, true),
          time(rates.timeFloat, 4, 4, false)};
}

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape()
             ? static_cast<double>(type.getNumElements())
             : 0;
}

FailureOr<Costs> onnxquant::budget::modelCosts(ModuleOp real,
                                               const Tensors &sample,
                                               const TargetInfo &target) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(real->clone()));
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return failure();
  specializeInputs(*graph, sample, /*keepFirst=*/false);
  PassManager pm(real.getContext());
  pm.addPass(createShapeInference());
  if (failed(pm.run(*copy)))
    return failure();
  Costs costs;
  copy->walk([&](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
    if (!isa<onnx::NodeOpInterface>(op) || op->getNumResults() == 0)
      return;
    if (!isContraction(op) || !name) {
      // What isn't a product moves its numbers in any form.
      costs.other += elementsOf(op->getResult(0)) /
                     static_cast<double>(target.lanes()) * 1e-3;
      return;
    }
    LayerWork work;
    work.macs = static_cast<double>(countMacs(op).value_or(0));
    work.inputs = elementsOf(op->getOperand(0));
    work.weights = elementsOf(op->getOperand(1));
    work.outputs = elementsOf(op->getResult(0));
    auto weight = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
    work.isDepthwise = isa<onnx::ConvOp>(op) && weight &&
                       weight.getRank() > 2 && weight.getDimSize(1) == 1;
    LayerTimes own = modelCost(work, target);
    LayerTimes &times = costs.layers[name.str()];
    times.time8 += own.time8;
    times.time16 += own.time16;
    times.timeFloat += own.timeFloat;
  });
  return costs;
}
