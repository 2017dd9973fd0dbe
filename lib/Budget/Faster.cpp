// Finds the layers that 8 bits don't make faster: each is looked at by itself,
// in code that has all layers in 8 bits and in code that has none. What rounds
// numbers for a layer counts with it.

#include "OnnxQuant/Budget/Faster.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Budget/Costs.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Pipelines/FirstSample.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::budget;

/// Times that differ by less are the same: a measurement isn't nearer, and a
/// layer in float makes others round.
static constexpr double margin = 1.05;

namespace {

/// The layers of a model that are quantized, and what rounds for them.
struct EightBits {
  std::set<std::string> layers;
  /// Quantizers, and the layers that read what they make.
  std::map<std::string, std::set<std::string>> readers;
};

class Faster {
public:
  Faster(ModuleOp module, const QuantizePipelineOptions &options)
      : module(module), given(options),
        options(withoutBudget(options.quantize)) {
    target =
        options.quantize.target.empty() ? "native" : options.quantize.target;
    slow.isMeasured = target == "native";
    plain = this->options;
    plain.report.clear();
    plain.remarks = false;
  }
  LogicalResult run();

private:
  LogicalResult calibrate();
  LogicalResult openSample(const SeenRuns &seen);
  FailureOr<EightBits> find8Bits();
  LogicalResult measure(const EightBits &found);
  LogicalResult model(const EightBits &found);
  void consider(const std::string &node, double time8, double timeFloat);
  LogicalResult compareWhole();
  QuantizeOptions without(QuantizeOptions base) const;
  void explain(QuantizeReport &report) const;
  std::string note() const;
  llvm::Error writeReport(const QuantizeReport &report) const;

  ModuleOp module;
  const QuantizePipelineOptions &given;
  /// Those of the result, and those to try with.
  QuantizeOptions options, plain;
  std::string target;
  Tensors sample;
  SlowLayers slow;
  /// Layers that were slow by themselves, without which the whole is slower.
  int64_t undone = 0;
};

} // namespace

/// The first sample: what was run may be several at once. Those that come one
/// after the other can't be read again.
LogicalResult Faster::openSample(const SeenRuns &seen) {
  auto inputs = graphInputs(module);
  if (failed(inputs))
    return failure();
  DataOptions data = given.collect.data;
  data.note = nullptr;
  auto fail = [&](llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  };
  auto opened = DataSet::open(data, *inputs);
  if (!opened)
    return fail(opened.takeError());
  for (int64_t i = 0;
       !opened->isStream() && i < opened->size() && sample.empty(); ++i) {
    auto loaded = opened->load(i);
    if (loaded)
      sample = std::move(*loaded);
    else if (!data.skipBad)
      return fail(loaded.takeError());
    else
      llvm::consumeError(loaded.takeError());
  }
  if (sample.empty() && !seen.samples.empty())
    sample = seen.samples.front();
  if (sample.empty())
    return module.emitError("only-where-faster expects a sample to run");
  return success();
}

/// Layers that are left float make others need ranges: all tensors get some.
LogicalResult Faster::calibrate() {
  CollectOptions collect = given.collect;
  if (!collect.data.source && failed(checkFirstSample(module, collect.data)))
    return failure();
  SeenRuns own;
  if (!collect.seen)
    collect.seen = &own;
  SeenRuns &seen = *collect.seen;
  int64_t wanted = seen.wanted;
  seen.wanted = std::max<int64_t>(wanted, 1);
  std::unique_ptr<Executor> executor = createCalibrationExecutor();
  auto table = calibrateModule(module, *executor, collect, nullptr,
                               /*perChannel=*/true);
  if (failed(table))
    return failure();
  if (given.ran)
    given.ran(table->samples, table->skipped);
  if (failed(openSample(seen)))
    return failure();
  seen.wanted = wanted;
  if (wanted == 0) {
    seen.samples.clear();
    seen.outputs.clear();
  }
  return success();
}

static StringRef nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
  return name ? name.getValue() : "";
}

FailureOr<EightBits> Faster::find8Bits() {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  EightBits found;
  PassManager pm(module.getContext());
  pm.addPass(createQuantize(plain, [&](const QuantizeReport &report) {
    for (const NodeReport &node : report.nodes)
      if (node.quantized)
        found.layers.insert(node.name);
  }));
  if (failed(pm.run(*copy)))
    return failure();
  std::set<std::string> layers;
  copy->walk([&](Operation *op) {
    std::string name = nameOf(op).str();
    if (isContraction(op) && found.layers.count(name) != 0)
      layers.insert(name);
    if (op->getName().stripDialect() != "QuantizeLinear" || name.empty())
      return;
    for (Operation *back : op->getUsers())
      if (back->getName().stripDialect() == "DequantizeLinear")
        for (Operation *reader : back->getUsers())
          if (isContraction(reader) && !nameOf(reader).empty())
            found.readers[name].insert(nameOf(reader).str());
  });
  found.layers = std::move(layers);
  return found;
}

void Faster::consider(const std::string &node, double time8, double timeFloat) {
  if (time8 > timeFloat * margin)
    slow.layers.push_back({node, time8, timeFloat});
}

LogicalResult Faster::measure(const EightBits &found) {
  auto times = measureForms(module, {&plain, nullptr}, sample);
  if (failed(times))
    return failure();
  Times &with8 = (*times)[0], &inFloat = (*times)[1];
  slow.all8 = sumOf(with8);
  slow.allFloat = sumOf(inFloat);
  // A number is rounded once for all that read it.
  std::map<std::string, double> rounding;
  for (const auto &[quantizer, readers] : found.readers)
    if (auto time = with8.find(quantizer); time != with8.end())
      for (const std::string &reader : readers)
        rounding[reader] += time->second / static_cast<double>(readers.size());
  for (const std::string &node : found.layers) {
    if (with8.count(node) == 0 || inFloat.count(node) == 0)
      ++slow.unknown;
    else
      consider(node, with8[node] + rounding[node], inFloat[node]);
  }
  return success();
}

LogicalResult Faster::model(const EightBits &found) {
  auto parsed = parseTarget(target);
  if (!parsed)
    return module.emitError() << llvm::toString(parsed.takeError());
  auto costs =
      modelCosts(module, sample,
                 getTargetInfo(parsed->triple, parsed->cpu, parsed->features));
  if (failed(costs))
    return failure();
  for (const std::string &node : found.layers) {
    auto times = costs->layers.find(node);
    if (times == costs->layers.end())
      ++slow.unknown;
    else
      consider(node, times->second.time8, times->second.timeFloat);
  }
  return success();
}

QuantizeOptions Faster::without(QuantizeOptions base) const {
  for (const SlowLayer &layer : slow.layers)
    base.excluded.push_back(llvm::Regex::escape(layer.node));
  return base;
}

/// A layer in float makes what is around it round; where that takes longer in
/// all, nothing is left float.
LogicalResult Faster::compareWhole() {
  QuantizeOptions chosen = without(plain);
  auto times = measureForms(module, {&plain, &chosen}, sample);
  if (failed(times))
    return failure();
  slow.all8 = sumOf((*times)[0]);
  slow.chosen = sumOf((*times)[1]);
  if (*slow.chosen <= *slow.all8)
    return success();
  undone = static_cast<int64_t>(slow.layers.size());
  slow.layers.clear();
  return success();
}

std::string Faster::note() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const char *how =
      slow.isMeasured ? " (measured" : " (by a model of its costs";
  if (undone > 0)
    os << "no convolution or product stays float: 8 bits take longer for "
       << undone << " of " << slow.considered << " by themselves on " << target
       << ", but less for the whole" << how;
  else if (slow.layers.empty())
    os << "none of " << slow.considered
       << " convolutions and products takes longer in 8 bits on " << target
       << how;
  else
    os << slow.layers.size() << " of " << slow.considered
       << " convolutions and products stay float, as 8 bits take longer on "
       << target << how;
  if (slow.unknown > 0)
    os << "; " << slow.unknown << " have no time of their own";
  os << ")";
  if (slow.all8 && slow.allFloat) {
    os << llvm::format(": %.3g ms with all in 8 bits, ", *slow.all8);
    if (slow.chosen)
      os << llvm::format("%.3g with these in float, ", *slow.chosen);
    os << llvm::format("%.3g in float", *slow.allFloat);
  }
  return text;
}

/// Tells of each layer why it stays float, and of all in a note.
void Faster::explain(QuantizeReport &report) const {
  llvm::StringMap<const SlowLayer *> byNode;
  for (const SlowLayer &layer : slow.layers)
    byNode[layer.node] = &layer;
  const char *unit = slow.isMeasured ? "ms" : "thousand cycles";
  for (NodeReport &node : report.nodes) {
    auto found = byNode.find(node.name);
    if (found == byNode.end() || node.quantized)
      continue;
    node.reason.clear();
    llvm::raw_string_ostream(node.reason)
        << "8 bits take longer on " << target
        << llvm::format(": %.3g %s, float %.3g", found->second->time8, unit,
                        found->second->timeFloat);
  }
  report.notes.push_back(note());
}

llvm::Error Faster::writeReport(const QuantizeReport &report) const {
  if (options.report.empty())
    return llvm::Error::success();
  auto file = AtomicFile::create(options.report);
  if (!file)
    return file.takeError();
  (*file)->os() << llvm::formatv("{0:2}", report.toJson()) << "\n";
  return (*file)->commit();
}

LogicalResult Faster::run() {
  if (failed(calibrate()))
    return failure();
  auto found = find8Bits();
  if (failed(found))
    return failure();
  slow.considered = static_cast<int64_t>(found->layers.size());
  if (failed(slow.isMeasured ? measure(*found) : model(*found)))
    return failure();
  if (slow.considered > 0 &&
      static_cast<int64_t>(slow.layers.size()) == slow.considered)
    return module.emitError("no convolution or product is faster in 8 bits on ")
           << target << ": keep the float model, or leave out "
           << "only-where-faster";
  if (slow.isMeasured && !slow.layers.empty() && failed(compareWhole()))
    return failure();
  QuantizeOptions last = without(options);
  last.report.clear();
  llvm::Error error = llvm::Error::success();
  PassManager pm(module.getContext());
  pm.addPass(createQuantize(last, [&](const QuantizeReport &report) {
    QuantizeReport whole = report;
    explain(whole);
    if (given.sink)
      given.sink(whole);
    error = llvm::joinErrors(std::move(error), writeReport(whole));
  }));
  LogicalResult done = pm.run(module);
  if (error)
    return module.emitError() << llvm::toString(std::move(error));
  return done;
}

LogicalResult
onnxquant::budget::quantizeWhereFaster(ModuleOp module,
                                       const QuantizePipelineOptions &options) {
  return Faster(module, options).run();
}
