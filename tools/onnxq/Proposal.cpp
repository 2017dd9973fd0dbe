// Tries what may make a quantized model better.

#include "Proposal.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "SensitivityRun.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Decibels that are worth a command.
static constexpr double leastGain = 0.5;
/// Tensors whose advice is followed at once, at most.
static constexpr size_t mostTensors = 16;
/// The first tensors in 16 bits carry most of the error.
static constexpr const char *firstTensors = "6";

namespace {

/// Options to try, and why.
struct Candidate {
  NamedOptions options;
  std::vector<std::string> changes;
};

class Proposer {
public:
  Proposer(DebugResult &result, const ProposalRequest &request)
      : result(result), request(request) {}

  void run();

private:
  std::string calibratedAgain() const {
    return !isStatic()           ? "quantized again"
           : request.sameSamples ? "calibrated again with this data"
                                 : "calibrated again";
  }
  /// Without 16 bits and layers in float, unless `all`.
  std::optional<Candidate> fromAdvice(bool all) const;
  std::optional<Candidate> fromSensitivity();
  /// Quantizes with a candidate's options; the decibels at the outputs.
  std::optional<double> measure(const Candidate &candidate);
  /// The share of a model's multiply-adds in 8 bits, at the sizes of a sample
  /// that was compared.
  std::optional<double> int8Share(StringRef path) const;
  void attempt(const std::optional<Candidate> &candidate);
  bool isStatic() const {
    return llvm::none_of(request.quantize, [](const auto &option) {
      return option.first == "dynamic";
    });
  }
  bool isQdq() const {
    return llvm::none_of(request.quantize, [](const auto &option) {
      return option.first == "mode";
    });
  }
  bool isEnough() const {
    return result.proposal && result.proposal->after >= 20;
  }

  DebugResult &result;
  const ProposalRequest &request;
  /// What helps so far; what is tried next comes on top of it.
  NamedOptions base = request.quantize;
  std::vector<std::string> baseChanges;
  double before = 0, bestTried = -INFINITY;
  /// A sample that was compared, for its shapes, and the share of the candidate
  /// that was tried last.
  Tensors sample;
  std::optional<double> share;
};

} // namespace

static double outputDecibels(const DebugResult &result) {
  Likeness sums;
  for (const DebugSample &sample : result.perSample) {
    sums.signal += sample.signal;
    sums.noise += sample.noise;
  }
  return sums.sqnr();
}

namespace {
/// Nothing is written to standard error as long as this lives: that something
/// can't be tried is no error of the comparison.
struct Silence {
  Silence() : kept(::dup(2)) {
    llvm::errs().flush();
    if (int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) {
      ::dup2(nowhere, 2);
      ::close(nowhere);
    }
  }
  ~Silence() {
    llvm::errs().flush();
    if (kept >= 0) {
      ::dup2(kept, 2);
      ::close(kept);
    }
  }
  int kept;
};
} // namespace

/// What the tensors' advice comes to. Quantizing again, with the ranges of
/// these samples, is part of it.
std::optional<Candidate> Proposer::fromAdvice(bool all) const {
  Candidate candidate{request.quantize, {}};
  size_t followed = 0, isNew = 0;
  auto canFollow = [&](const Advice &advice) {
    bool isCheap =
        advice.option == "per-channel" || advice.option == "block-size";
    // Only quantizers around float ops store 16 bits.
    bool hasForm = advice.option != "int16-tensors" || isQdq();
    return !advice.option.empty() && hasForm && (all || isCheap);
  };
  for (size_t index : result.ranking()) {
    const DebugTensor &tensor = result.tensors[index];
    if (tensor.advice.empty() || followed == mostTensors)
      continue;
    ++followed;
    auto found = llvm::find_if(tensor.advice, canFollow);
    if (found == tensor.advice.end())
      continue;
    isNew += found->option != "per-channel" && found->option != "block-size";
    auto known = llvm::find_if(candidate.options, [&](const auto &option) {
      return option.first == found->option && option.second == found->value;
    });
    if (known == candidate.options.end())
      setOption(candidate.options, found->option, found->value);
  }
  if (followed == 0 || (all && isNew == 0))
    return std::nullopt;
  candidate.changes.push_back(calibratedAgain());
  for (const auto &[name, value] : candidate.options)
    if (!llvm::is_contained(request.quantize, std::pair(name, value)))
      candidate.changes.push_back("--" + name + " " + value);
  return candidate;
}

std::optional<Candidate> Proposer::fromSensitivity() {
  ModelContext context;
  // A failure is no error of the comparison: there is no such candidate then.
  ScopedDiagnosticHandler quiet(&context.get(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> real =
      request.model.read(request.realPath, context.get());
  if (!real)
    return std::nullopt;
  SensitivityJob job;
  for (const auto &[name, value] : base)
    if (name != "mode")
      if (llvm::Error error =
              setOption(quantizeOptionTable(), job.quantize, name, value)) {
        llvm::consumeError(std::move(error));
        return std::nullopt;
      }
  job.quantize.keepActivations = true;
  job.options.data = request.samples;
  job.collect.data = request.calibration;
  job.collect.spec.batch = request.samples.batch;
  job.collect.quiet = job.options.quiet = request.quiet;
  job.collect.interrupted = job.options.interrupted = request.interrupted;
  job.options.seconds = request.seconds;
  auto found = runSensitivity(*real, job);
  if (succeeded(found))
    for (const LayerSensitivity &each : found->layers)
      if (each.only)
        result.alone[each.layer.node] = *each.only;
  if (failed(found) || !found->suggestion)
    return std::nullopt;
  Candidate candidate{base, baseChanges};
  const std::vector<std::string> &nodes = found->suggestion->nodes;
  setOption(candidate.options, "nodes-to-exclude", llvm::join(nodes, ","));
  candidate.changes.push_back("in float: " + llvm::join(nodes, ", ") + " (" +
                              std::to_string(nodes.size()) + " of " +
                              std::to_string(found->layers.size()) +
                              " layers, those that cost most alone)");
  return candidate;
}

/// Decibels of a model against the float one, on the samples of the comparison.
static std::optional<double>
compareModels(StringRef path, const ProposalRequest &request, Tensors &seen) {
  ModelContext context;
  ScopedDiagnosticHandler quiet(&context.get(),
                                [](Diagnostic &) { return success(); });
  // A model that can't be quantized in such a way stays float.
  OwningOpRef<ModuleOp> modules[2];
  ModelSource sources[2];
  for (auto [module, source, file] :
       llvm::zip(modules, sources,
                 std::array<StringRef, 2>{path, request.realPath})) {
    module = request.model.read(file, context.get());
    FailureOr<std::vector<InputInfo>> inputs = failure();
    if (module)
      inputs = graphInputs(*module);
    if (failed(inputs) || (file == path && !isQuantizedModel(*module)))
      return std::nullopt;
    source.name = file.str();
    source.inputs = *inputs;
    source.make = [&module, &request, &seen](
                      const Tensors &sample,
                      bool open) -> llvm::Expected<std::unique_ptr<Program>> {
      if (seen.empty())
        seen = sample;
      OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*module)->clone()));
      if (!open)
        specializeInputs(*findGraph(*copy), sample, request.samples.batch > 1);
      auto program = createJitExecutor()->compile(*copy);
      if (llvm::failed(program))
        return llvm::createStringError("it can't be compiled");
      return std::move(*program);
    };
  }
  EvaluationOptions options;
  options.metrics.sqnr = true;
  options.data = request.samples;
  options.quiet = request.quiet;
  options.interrupted = request.interrupted;
  auto result = evaluateModel(sources[0], &sources[1], options);
  if (!result) {
    llvm::consumeError(result.takeError());
    return std::nullopt;
  }
  return result->likeness->sqnr();
}

std::optional<double> Proposer::measure(const Candidate &candidate) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("onnxq-debug", folder))
    return std::nullopt;
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  std::string output = (folder + "/model.onnx").str();
  NamedOptions options = request.data;
  llvm::append_range(options, candidate.options);
  std::vector<std::string> words =
      quantizeCommand(request.realPath, options, output);
  words.push_back("--quiet");
  std::vector<const char *> arguments;
  for (const std::string &word : llvm::ArrayRef(words).drop_front(2))
    arguments.push_back(word.c_str());
  {
    Silence silence;
    if (quantizeVerb.run(arguments) != Done)
      return std::nullopt;
  }
  std::optional<double> after = compareModels(output, request, sample);
  share = after ? int8Share(output) : std::nullopt;
  return after;
}

std::optional<double> Proposer::int8Share(StringRef path) const {
  ModelContext context;
  ScopedDiagnosticHandler quiet(&context.get(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = request.model.read(path, context.get());
  FailureOr<func::FuncOp> graph = failure();
  if (module)
    graph = findGraph(*module);
  if (failed(graph) || graph->getNumArguments() != sample.size())
    return std::nullopt;
  specializeInputs(*graph, sample, /*keepFirst=*/false);
  PassManager pm(&context.get());
  pm.addPass(createShapeInference());
  if (failed(pm.run(*module)))
    return std::nullopt;
  IntegerShare found = getIntegerShare(*module);
  if (found.macs == 0 || found.uncounted > 0)
    return std::nullopt;
  return static_cast<double>(found.integerMacs) /
         static_cast<double>(found.macs);
}

void Proposer::attempt(const std::optional<Candidate> &candidate) {
  if (!candidate || (request.interrupted && request.interrupted()))
    return;
  std::optional<double> after = measure(*candidate);
  if (!after)
    return;
  bestTried = std::max(bestTried, *after);
  if (*after < before + leastGain ||
      (result.proposal && *after <= result.proposal->after))
    return;
  NamedOptions options = request.data;
  llvm::append_range(options, candidate->options);
  result.proposal =
      Proposal{asLine(quantizeCommand(request.realPath, options,
                                      besides(request.quantPath, "-better"))),
               candidate->changes,
               before,
               *after,
               request.sameSamples && isStatic(),
               share ? int8Share(request.quantPath) : std::nullopt,
               share};
  base = candidate->options;
  baseChanges = candidate->changes;
}

void Proposer::run() {
  before = outputDecibels(result);
  if (result.verdict() == Verdict::Layers)
    attempt(fromAdvice(/*all=*/false));
  else
    attempt(Candidate{request.quantize, {calibratedAgain()}});
  if (!isEnough() && result.verdict() == Verdict::Layers)
    attempt(fromAdvice(/*all=*/true));
  if (!isEnough() && before < 20)
    attempt(fromSensitivity());
  if (!isEnough() && before < 20 && isStatic() && isQdq()) {
    Candidate wide{base, baseChanges};
    wide.changes.push_back("the first activations in 16 bits");
    setOption(wide.options, "int16-first", firstTensors);
    attempt(wide);
  }
  if (result.proposal)
    return;
  if (!std::isfinite(bestTried)) {
    result.notes.push_back("nothing better could be tried: 'onnxq quantize' "
                           "refuses the model with this data");
    return;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << "tried to quantize again, which gives "
      << llvm::format("%.1f dB at the outputs, with %.1f dB now", bestTried,
                      before)
      << ": nothing to gain there";
  result.notes.push_back(text);
}

void onnxquant::cli::proposeBetter(DebugResult &result,
                                   const ProposalRequest &request) {
  Proposer(result, request).run();
}
