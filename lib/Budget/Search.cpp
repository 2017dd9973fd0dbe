// The steps of a search: errors, times, an order, and real models along it.

#include "OnnxQuant/Budget/Search.h"
#include "Checkpoint.h"
#include "Judge.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Support/Quantization.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::budget;

/// Samples that errors of single tensors are measured on: the order changes
/// little with more, and all are judged by others.
static constexpr int64_t mostSamples = 64;

/// The form must be static, and something must run.
static llvm::Error checkFaster(const QuantizeOptions &options, bool hasData) {
  auto wrong = [&](llvm::StringRef reason) {
    return llvm::createStringError("only-where-faster " + reason.str());
  };
  if (options.dynamic || options.weightOnlyBits != 0 ||
      !options.quantizationMode.empty() ||
      (!options.modeName.empty() && options.modeName != "qdq"))
    return wrong("is for static mode=qdq");
  if (!options.runtime.empty() || !options.preset.empty())
    return wrong("compares code of OnnxQuant, whose times say nothing of ONNX "
                 "Runtime's: leave out for and compatible");
  if (!hasData)
    return wrong("expects samples, the first of which is run to compare "
                 "layers: give data");
  return parseTarget(options.target.empty() ? "native" : options.target)
      .takeError();
}

llvm::Error onnxquant::budget::checkRequest(const QuantizeOptions &options,
                                            bool hasData, bool hasTable) {
  auto bounds = readBounds(options);
  if (!bounds)
    return bounds.takeError();
  if (!*bounds)
    return options.onlyWhereFaster ? checkFaster(options, hasData)
                                   : llvm::Error::success();
  auto wrong = [&](llvm::StringRef reason) {
    return llvm::createStringError(findBudgetOption(options)->str() + " " +
                                   reason.str());
  };
  if (options.dynamic ||
      options.quantizationMode.find("Dynamic") != std::string::npos)
    return wrong("means nothing with dynamic, whose scales are found at run "
                 "time: 16 bits can't be chosen there");
  if ((!options.modeName.empty() && options.modeName != "qdq") ||
      !options.quantizationMode.empty())
    return wrong("is for mode=qdq, which alone has activations of 16 bits");
  if (options.weightOnlyBits != 0)
    return wrong("means nothing with weight-only, which leaves activations "
                 "float");
  if (hasTable)
    return wrong("expects ranges of the samples that aren't held back: give "
                 "data instead of a table");
  if (!hasData)
    return wrong("expects samples to judge models by: give data");
  auto target = parseTarget(options.target.empty() ? "native" : options.target);
  if (!target)
    return target.takeError();
  if ((*bounds)->maxLatency && !options.target.empty() &&
      options.target != "native")
    return llvm::createStringError(
        "max-latency is measured on this processor: it goes with target=native "
        "only");
  return llvm::Error::success();
}

namespace {

class Searcher {
public:
  Searcher(ModuleOp module, const Request &request)
      : module(module), request(request), bounds(request.bounds),
        base(withoutBudget(request.quantize)), judge(module, request) {
    result.bounds = bounds;
    base.report.clear();
    base.remarks = false;
  }

  FailureOr<Result> run();

private:
  LogicalResult fail(const Twine &message) {
    return emitError(UnknownLoc::get(module.getContext())) << message;
  }
  LogicalResult fail(llvm::Error error) {
    std::string message = llvm::toString(std::move(error));
    return message.empty() ? LogicalResult::failure() : fail(message);
  }
  bool isInterrupted() const {
    return request.collect.interrupted && request.collect.interrupted();
  }
  LogicalResult openData();
  LogicalResult calibrate();
  LogicalResult measureErrors();
  LogicalResult findCosts();
  void describeProblem();
  LogicalResult save();
  LogicalResult searchLoss();
  LogicalResult searchTime();
  LogicalResult finish();

  /// None if it failed or was interrupted.
  std::optional<Score> scoreAt(int64_t place);
  std::optional<double> timeAt(int64_t place);
  std::optional<int64_t> bestSoFar() const;
  int64_t guessBySqnr(int64_t low, int64_t high) const;
  QuantizeOptions optionsAt(int64_t place, Result *lists = nullptr) const;
  Point pointAt(int64_t place) const;
  int64_t last() const { return static_cast<int64_t>(moves.size()); }
  double noiseAt(int64_t place) const {
    return place == 0 ? noiseOf(problem) : moves[place - 1].noise;
  }
  double relativeTime(int64_t place) const {
    double all = problem.time8();
    return place == 0 || all <= 0 ? 1 : moves[place - 1].time / all;
  }
  bool choosesFiner() const {
    return !base.perChannel && base.blockSize == 0 &&
           base.tensorOverrides.empty();
  }

  ModuleOp module;
  const Request &request;
  const Bounds &bounds;
  QuantizeOptions base;
  Judge judge;
  Checkpoint checkpoint;
  Tensors sample;
  SourceSensitivity sensitivity;
  Costs costs;
  Problem problem;
  /// Of the problem's layers: the weight's name and its axis.
  std::vector<std::pair<std::string, int64_t>> weights;
  std::vector<Move> moves;
  std::optional<int64_t> chosen;
  bool hasFailed = false;
  Result result;
};

} // namespace

LogicalResult Searcher::openData() {
  auto inputs = graphInputs(module);
  if (failed(inputs))
    return failure();
  for (auto [part, count] :
       {std::pair(DataOptions::Part::Calibration, &result.calibration),
        {DataOptions::Part::HeldBack, &result.heldBack}}) {
    DataOptions options = request.collect.data;
    options.part = part;
    options.note = nullptr;
    auto data = DataSet::open(options, *inputs);
    if (!data)
      return fail(data.takeError());
    if (data->isStream())
      return fail("samples that come one after the other can't be held back: "
                  "give an array, a list or files");
    *count = data->size();
    for (int64_t i = 0; i < data->size() && sample.empty(); ++i) {
      auto loaded = data->load(i);
      if (loaded)
        sample = std::move(*loaded);
      else if (!options.skipBad)
        return fail(loaded.takeError());
      else
        llvm::consumeError(loaded.takeError());
    }
  }
  if (result.calibration == 0 || result.heldBack == 0)
    return fail("a search expects two samples at least: one to calibrate with "
                "and one to judge by, but got " +
                Twine(result.calibration + result.heldBack));
  if (std::string reason = tooFew(bounds, result.heldBack); !reason.empty())
    return fail(reason);
  std::string identity = request.identity + " samples " +
                         std::to_string(result.calibration) + "+" +
                         std::to_string(result.heldBack);
  for (const auto &option : quantizeOptionTable())
    if (option.isSet(base))
      identity += " " + option.name.str() + "=" + option.print(base);
  if (bounds.maxDrop)
    identity += " " + bounds.metric + " " + bounds.labels;
  if (bounds.minAgreement)
    identity += " agreement";
  identity += " target " + request.target;
  auto loaded = Checkpoint::load(request.checkpoint, identity);
  if (!loaded)
    return fail(loaded.takeError());
  checkpoint = std::move(*loaded);
  return success();
}

/// Layers that are left float make others need ranges: all tensors get some.
LogicalResult Searcher::calibrate() {
  CollectOptions collect = request.collect;
  collect.data.part = DataOptions::Part::Calibration;
  std::unique_ptr<Executor> executor = createCalibrationExecutor();
  auto table = calibrateModule(module, *executor, collect, nullptr,
                               /*perChannel=*/true);
  if (failed(table))
    return failure();
  result.run = table->samples;
  result.skipped = table->skipped;
  return success();
}

LogicalResult Searcher::save() {
  if (request.checkpoint.empty())
    return success();
  if (llvm::Error error = checkpoint.save(request.checkpoint))
    return fail(std::move(error));
  return success();
}

LogicalResult Searcher::measureErrors() {
  OwningOpRef<ModuleOp> real(cast<ModuleOp>(module->clone()));
  numberNodes(*real);
  OwningOpRef<ModuleOp> quant(cast<ModuleOp>((*real)->clone()));
  QuantizeOptions options = base;
  // A clamp that a quantizer stands for would be missing without it.
  options.keepActivations = true;
  PassManager pm(module.getContext());
  pm.addPass(createQuantize(options, nullptr));
  if (failed(pm.run(*quant)))
    return failure();
  // Sources that are switched off have the factors of their channels, too.
  std::vector<ScaledTensor> scaled = readScaledTensors(*quant);
  applyScaledTensors(*real, scaled);
  CompileOptions compile;
  compile.prepare = false;
  std::unique_ptr<Executor> executor = createJitExecutor(compile);
  SourceOptions measure;
  measure.data = request.collect.data;
  measure.data.part = DataOptions::Part::Calibration;
  measure.data.note = nullptr;
  measure.quiet = request.collect.quiet;
  measure.most = mostSamples;
  measure.interrupted = request.collect.interrupted;
  measure.before = checkpoint.sensitivity;
  bool canSave = true;
  measure.kept = [&](const SourceSensitivity &soFar) {
    checkpoint.sensitivity = soFar;
    canSave = canSave && succeeded(save());
  };
  auto measured = measureSources(*real, *quant, *executor, measure);
  if (failed(measured) || !canSave)
    return failure();
  sensitivity = std::move(*measured);
  result.sensitivityRuns = sensitivity.runs;
  llvm::StringSet<> renamed;
  for (const ScaledTensor &tensor : scaled)
    renamed.insert(tensor.name);
  for (SwitchedSource &source : sensitivity.sources) {
    StringRef name = source.name;
    if (name.consume_back("_scaled") && renamed.contains(name))
      source.name = name.str();
  }
  return success();
}

LogicalResult Searcher::findCosts() {
  bool isNative = request.target.empty() || request.target == "native";
  result.isMeasured = isNative;
  result.target = request.target;
  if (checkpoint.costs) {
    costs = *checkpoint.costs;
    return success();
  }
  FailureOr<Costs> found = failure();
  if (isNative) {
    found = measureCosts(module, base, sample);
  } else {
    auto target = parseTarget(request.target);
    if (!target)
      return fail(target.takeError());
    found = modelCosts(
        module, sample,
        getTargetInfo(target->triple, target->cpu, target->features));
  }
  if (failed(found))
    return failure();
  costs = std::move(*found);
  checkpoint.costs = costs;
  return save();
}

void Searcher::describeProblem() {
  // What has no name of its own can't be chosen.
  llvm::StringSet<> nodes, tensors;
  auto addTensor = [&](Value value) {
    tensors.insert(onnx::getTensorName(value));
  };
  module.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr))
      nodes.insert(name.getValue());
    llvm::for_each(op->getResults(), addTensor);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), addTensor);
  });
  llvm::StringMap<size_t> byNode;
  auto layerOf = [&](const std::pair<std::string, std::string> &reader) {
    auto [place, isNew] =
        byNode.try_emplace(reader.first, problem.layers.size());
    if (isNew) {
      Layer &layer = problem.layers.emplace_back();
      std::tie(layer.node, layer.op) = reader;
      layer.canBeFloat = !layer.node.empty() && nodes.contains(layer.node);
      layer.isContraction = false;
      weights.emplace_back();
      if (auto found = costs.layers.find(layer.node);
          found != costs.layers.end()) {
        layer.time8 = found->second.time8;
        layer.time16 = found->second.time16;
        layer.timeFloat = found->second.timeFloat;
      }
    }
    return place->second;
  };
  problem.otherTime = costs.other;
  for (auto [source, noise] :
       llvm::zip(sensitivity.sources, sensitivity.noise)) {
    if (!source.isWeight) {
      Tensor &tensor = problem.tensors.emplace_back();
      tensor.name = source.name;
      tensor.noise = noise;
      tensor.canBeWide = !tensor.name.empty() && tensors.contains(tensor.name);
      for (const auto &reader : source.readers)
        tensor.readers.push_back(layerOf(reader));
      continue;
    }
    for (const auto &reader : source.readers) {
      size_t index = layerOf(reader);
      Layer &layer = problem.layers[index];
      layer.isContraction = true;
      layer.noise += noise;
      if (choosesFiner() && source.channelAxis && !source.name.empty() &&
          source.finerShare < 1) {
        layer.finerNoise = layer.noise * source.finerShare;
        weights[index] = {source.name, *source.channelAxis};
      }
    }
  }
  // Without weights to keep, any layer will do.
  if (llvm::none_of(problem.layers,
                    [](const Layer &layer) { return layer.isContraction; }))
    for (Layer &layer : problem.layers)
      layer.isContraction = true;
  for (const auto &[node, times] : costs.layers)
    if (!byNode.contains(node))
      problem.otherTime += times.time8;
  moves = orderMoves(problem);
  result.tensors = static_cast<int64_t>(problem.tensors.size());
  result.layers = static_cast<int64_t>(problem.layers.size());
  double inFloat = problem.otherTime;
  for (const Layer &layer : problem.layers)
    inFloat += layer.timeFloat;
  if (problem.time8() > 0)
    result.floatTime = inFloat / problem.time8();
  for (int64_t place = 0; place <= last(); ++place)
    result.curve.emplace_back(
        relativeTime(place),
        signalToNoise(std::sqrt(sensitivity.signal),
                      std::sqrt(std::max(noiseAt(place), 0.0))));
}

QuantizeOptions Searcher::optionsAt(int64_t place, Result *lists) const {
  QuantizeOptions options = base;
  llvm::json::Object overrides;
  std::vector<std::string> wide, finer, floats;
  for (const Move &move : llvm::ArrayRef(moves).take_front(place))
    for (const Change &change : move.changes)
      switch (change.kind) {
      case Change::Kind::Wide:
        wide.push_back(problem.tensors[change.index].name);
        break;
      case Change::Kind::Finer:
        finer.push_back(weights[change.index].first);
        overrides[weights[change.index].first] =
            llvm::json::Object{{"axis", weights[change.index].second}};
        break;
      case Change::Kind::Float:
        floats.push_back(problem.layers[change.index].node);
        break;
      }
  llvm::append_range(options.int16Tensors, wide);
  llvm::append_range(options.excluded, floats);
  if (!overrides.empty())
    llvm::raw_string_ostream(options.tensorOverrides)
        << llvm::json::Value(std::move(overrides));
  if (lists) {
    lists->wideTensors = std::move(wide);
    lists->finerWeights = std::move(finer);
    lists->floatNodes = std::move(floats);
  }
  return options;
}

Point Searcher::pointAt(int64_t place) const {
  Point point;
  point.place = place;
  Result lists;
  optionsAt(place, &lists);
  point.wide = static_cast<int64_t>(lists.wideTensors.size());
  point.finer = static_cast<int64_t>(lists.finerWeights.size());
  point.floats = static_cast<int64_t>(lists.floatNodes.size());
  point.relativeTime = relativeTime(place);
  if (auto found = checkpoint.scores.find(place);
      found != checkpoint.scores.end())
    point.score = found->second;
  if (auto found = checkpoint.milliseconds.find(place);
      found != checkpoint.milliseconds.end())
    point.milliseconds = found->second;
  return point;
}

std::optional<Score> Searcher::scoreAt(int64_t place) {
  if (auto found = checkpoint.scores.find(place);
      found != checkpoint.scores.end())
    return found->second;
  // A tensor that a choice leaves float already isn't worth a warning.
  ScopedDiagnosticHandler quiet(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
      });
  auto score = judge.judge(optionsAt(place));
  if (!score) {
    if (isInterrupted()) {
      llvm::consumeError(score.takeError());
      return std::nullopt;
    }
    hasFailed = true;
    (void)fail(score.takeError());
    return std::nullopt;
  }
  ++result.judged;
  if (std::string reason = tooFewRows(bounds, score->rows); !reason.empty()) {
    hasFailed = true;
    (void)fail(reason);
    return std::nullopt;
  }
  checkpoint.scores[place] = *score;
  if (failed(save())) {
    hasFailed = true;
    return std::nullopt;
  }
  return *score;
}

std::optional<double> Searcher::timeAt(int64_t place) {
  if (auto found = checkpoint.milliseconds.find(place);
      found != checkpoint.milliseconds.end())
    return found->second;
  QuantizeOptions options = optionsAt(place);
  auto times = judge.time({&options}, sample);
  if (!times) {
    hasFailed = !isInterrupted();
    if (hasFailed)
      (void)fail(times.takeError());
    else
      llvm::consumeError(times.takeError());
    return std::nullopt;
  }
  checkpoint.milliseconds[place] = times->front();
  if (failed(save())) {
    hasFailed = true;
    return std::nullopt;
  }
  return times->front();
}

/// Errors add up, about: what was measured at a place tells how far off that
/// is.
int64_t Searcher::guessBySqnr(int64_t low, int64_t high) const {
  int64_t middle = low + (high - low) / 2;
  auto known = checkpoint.scores.find(std::max<int64_t>(low, 0));
  double expected = noiseAt(std::max<int64_t>(low, 0)) / sensitivity.signal;
  if (!bounds.minSqnr || known == checkpoint.scores.end() || !(expected > 0))
    return middle;
  double factor = std::pow(10, -known->second.sqnr / 10) / expected;
  double wanted = std::pow(10, -*bounds.minSqnr / 10);
  for (int64_t place = low + 1; place < high; ++place)
    if (noiseAt(place) / sensitivity.signal * factor <= wanted)
      return place;
  return middle;
}

std::optional<int64_t> Searcher::bestSoFar() const {
  if (!bounds.boundsLoss()) {
    std::optional<int64_t> most;
    for (const auto &[place, time] : checkpoint.milliseconds)
      if (time <= *bounds.maxLatency)
        most = std::max(most.value_or(0), place);
    return most;
  }
  for (const auto &[place, score] : checkpoint.scores)
    if (holds(score, bounds))
      return place;
  return std::nullopt;
}

template <typename... Values>
static std::string formatted(const char *pattern, Values... values) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(pattern, values...);
  return text;
}

LogicalResult Searcher::searchLoss() {
  chosen = findLeast(
      last(),
      [&](int64_t place) -> std::optional<bool> {
        auto score = scoreAt(place);
        if (!score)
          return std::nullopt;
        return holds(*score, bounds);
      },
      [&](int64_t low, int64_t high) { return guessBySqnr(low, high); });
  if (hasFailed)
    return failure();
  if (isInterrupted()) {
    chosen = bestSoFar();
    return success();
  }
  if (!chosen) {
    const Score &nearest = checkpoint.scores.at(last());
    Point point = pointAt(last());
    result.reason =
        describe(bounds) + " can't be met: the nearest is " +
        describe(nearest, bounds) + " with " + std::to_string(point.wide) +
        " tensors in 16 bits and " + std::to_string(point.floats) +
        " layers in float" +
        formatted(", %.2f times the time of all 8 bits", point.relativeTime) +
        "; only the float model has more. Ask for no more than that, or "
        "calibrate with more samples";
    return success();
  }
  if (!bounds.maxLatency)
    return success();
  auto time = timeAt(*chosen);
  if (hasFailed)
    return failure();
  if (time && *time > *bounds.maxLatency) {
    result.reason = describe(bounds) + " can't be met together: " +
                    describe(checkpoint.scores.at(*chosen), bounds) +
                    formatted(" takes %.3g ms", *time);
    chosen.reset();
  }
  return success();
}

LogicalResult Searcher::searchTime() {
  auto tooSlow = findLeast(
      last(),
      [&](int64_t place) -> std::optional<bool> {
        auto time = timeAt(place);
        if (!time)
          return std::nullopt;
        return *time > *bounds.maxLatency;
      },
      [&](int64_t low, int64_t high) {
        auto first = checkpoint.milliseconds.find(0);
        for (int64_t place = low + 1;
             first != checkpoint.milliseconds.end() && place < high; ++place)
          if (first->second * relativeTime(place) > *bounds.maxLatency)
            return place;
        return low + (high - low) / 2;
      });
  if (hasFailed)
    return failure();
  if (isInterrupted()) {
    chosen = bestSoFar();
    return success();
  }
  if (tooSlow == 0) {
    result.reason = describe(bounds) +
                    formatted(" can't be met: with all 8 bits a run takes "
                              "%.3g ms. Ask for that, or for a smaller model",
                              checkpoint.milliseconds.at(0));
    return success();
  }
  chosen = tooSlow ? *tooSlow - 1 : last();
  for (int64_t place : {int64_t(0), *chosen})
    if (!scoreAt(place) && hasFailed)
      return failure();
  return success();
}

LogicalResult Searcher::finish() {
  if (result.isMeasured && chosen && !isInterrupted()) {
    QuantizeOptions first = optionsAt(0), found = optionsAt(*chosen);
    std::vector<const QuantizeOptions *> forms{&first, nullptr};
    if (*chosen != 0)
      forms.push_back(&found);
    auto times = judge.time(forms, sample);
    if (times) {
      checkpoint.milliseconds[0] = (*times)[0];
      result.floatMilliseconds = (*times)[1];
      checkpoint.milliseconds[*chosen] = times->back();
      if (*chosen == 0)
        checkpoint.milliseconds[0] = (*times)[0];
    } else if (isInterrupted()) {
      llvm::consumeError(times.takeError());
    } else {
      return fail(times.takeError());
    }
  }
  result.wasInterrupted = isInterrupted();
  std::set<int64_t> places;
  for (const auto &[place, score] : checkpoint.scores)
    places.insert(place);
  for (const auto &[place, time] : checkpoint.milliseconds)
    places.insert(place);
  for (int64_t place : places) {
    if (place > last())
      continue;
    if (place == chosen)
      result.chosen = result.points.size();
    result.points.push_back(pointAt(place));
  }
  if (!chosen)
    return success();
  result.options = optionsAt(*chosen, &result);
  result.options.remarks = request.quantize.remarks;
  const Point &point = result.points[*result.chosen];
  if (point.score)
    result.notes = doubts(*point.score, bounds);
  return success();
}

FailureOr<Result> Searcher::run() {
  if (failed(openData()) || failed(calibrate()) || failed(measureErrors()))
    return failure();
  if (!isInterrupted()) {
    if (failed(findCosts()))
      return failure();
    describeProblem();
    if (failed(bounds.boundsLoss() ? searchLoss() : searchTime()))
      return failure();
  }
  if (failed(finish()))
    return failure();
  if (!request.checkpoint.empty() && !result.wasInterrupted)
    (void)llvm::sys::fs::remove(request.checkpoint);
  return std::move(result);
}

FailureOr<Result> onnxquant::budget::search(ModuleOp module,
                                            const Request &request) {
  return Searcher(module, request).run();
}
