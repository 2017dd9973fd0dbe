// onnxq bench: how long a model takes.
//
// The model is compiled to a library, which runs in a process of its own
// without the compiler: what is measured is what a user of the library has.

#include "Models.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "Profile.h"
#include "Runner.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {
struct Measurement {
  std::vector<double> times;
  double compileSeconds = 0, loadMilliseconds = 0, peakMiB = 0;
  uint64_t libraryBytes = 0;

  /// The time that a share of the runs didn't exceed; times are sorted.
  double quantile(double share) const {
    size_t rank = static_cast<size_t>(std::ceil(share * times.size()));
    return times[std::min(std::max<size_t>(rank, 1), times.size()) - 1];
  }
};
} // namespace

static int complain(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return BadInput;
}

/// Random inputs have a size in each dimension.
static void noteOpenSizes(const std::vector<InputSpec> &specs,
                          const std::vector<HostTensor> &inputs,
                          StringRef options) {
  for (auto [spec, tensor] : llvm::zip(specs, inputs))
    if (spec.dims && spec.dims != tensor.dims)
      llvm::errs() << "note: open sizes of input '" << spec.name
                   << "' are 1 here; give them by " << options << " "
                   << spec.name << "=SHAPE\n";
}

/// Compiles the model to a library in `folder`.
static int compile(StringRef path, const ModelOptions &model,
                   const CompileOptions &options, StringRef library,
                   double &seconds, ProfiledNodes &nodes) {
  auto start = std::chrono::steady_clock::now();
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module = model.read(path, context.get());
  if (!module)
    return BadInput;
  auto specs = describeInputs(*module);
  auto inputs = matchInputs(specs, {}, 0);
  if (!inputs)
    return complain(inputs.takeError());
  noteOpenSizes(specs, *inputs, "--dim or --input-shape");
  // What inputs have, the code is for.
  ModelOptions shapes;
  shapes.inputShapes = shapesOf(*inputs);
  if (failed(shapes.apply(*module)))
    return BadInput;
  if (options.profile)
    nodes = collectNodes(*module);
  if (failed(writeArtifact(*module, library, options)))
    return BadInput;
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return Done;
}

/// Runs the library on random inputs in the runner's process; gives what that
/// prints.
static llvm::Expected<std::string>
startRuns(StringRef mode, StringRef library, StringRef folder, double seconds,
          const std::vector<std::string> &shapes) {
  std::vector<HostTensor> inputs;
  {
    auto loaded = LoadedLibrary::open(library);
    if (!loaded)
      return loaded.takeError();
    std::vector<InputSpec> specs = describeInputs((*loaded)->model());
    if (llvm::Error error = giveShapes(specs, shapes))
      return error;
    auto made = matchInputs(specs, {}, 0);
    if (!made)
      return made.takeError();
    noteOpenSizes(specs, *made, "--input-shape");
    inputs = std::move(*made);
  }
  auto runner = findRunner();
  if (!runner)
    return runner.takeError();
  std::string bundle = (folder + "/inputs").str();
  if (llvm::Error error = writeBundle(inputs, bundle))
    return error;
  Phase running("running");
  return startRunner(
      {*runner, mode.str(), library.str(), bundle, std::to_string(seconds)},
      folder, static_cast<unsigned>(seconds) + 600);
}

static llvm::Error measure(StringRef library, StringRef folder, double seconds,
                           const std::vector<std::string> &shapes,
                           Measurement &result) {
  auto said = startRuns("bench", library, folder, seconds, shapes);
  if (!said)
    return said.takeError();
  SmallVector<StringRef> lines;
  StringRef(*said).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<double> numbers;
  for (StringRef line : lines) {
    double number;
    if (line.getAsDouble(number))
      return llvm::createStringError("the runner gave '" + line + "'");
    numbers.push_back(number);
  }
  if (numbers.size() < 3)
    return llvm::createStringError("the runner gave no times");
  result.loadMilliseconds = numbers[0];
  result.peakMiB = numbers[1] / 1024;
  result.times.assign(numbers.begin() + 2, numbers.end());
  llvm::sort(result.times);
  return llvm::Error::success();
}

/// Runs a library that was compiled to be measured, and tells of its nodes.
static int runProfile(StringRef library, StringRef folder, double seconds,
                      const ProfiledNodes &nodes, const CompileOptions &options,
                      bool json) {
  auto said = startRuns("profile", library, folder, seconds, /*shapes=*/{});
  if (!said)
    return complain(said.takeError());
  auto profile = readProfile(*said, nodes, options.target);
  if (!profile)
    return complain(profile.takeError());
  printProfile(*profile, json);
  return Done;
}

static void print(const Measurement &result, bool json) {
  double median = result.quantile(0.5), least = result.times.front(),
         p90 = result.quantile(0.9);
  if (json) {
    llvm::json::Object root{
        {"median_ms", median},
        {"min_ms", least},
        {"p90_ms", p90},
        {"runs", static_cast<int64_t>(result.times.size())},
        {"compile_s", result.compileSeconds},
        {"load_ms", result.loadMilliseconds},
        {"peak_rss_mib", result.peakMiB},
        {"lib_bytes", static_cast<int64_t>(result.libraryBytes)}};
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
                 << "\n";
    return;
  }
  llvm::outs() << llvm::format(
      "median    %.3f ms\nmin       %.3f ms\np90       %.3f ms\n"
      "runs      %zu\ncompile   %.2f s\nload      %.2f ms\n"
      "peak RSS  %.1f MiB\nlibrary   %llu bytes\n",
      median, least, p90, result.times.size(), result.compileSeconds,
      result.loadMilliseconds, result.peakMiB,
      static_cast<unsigned long long>(result.libraryBytes));
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::string path;
  double seconds = 3;
  bool json = false, profile = false;
  ModelOptions model;
  CodeOptions code;
  Arguments parser(benchVerb);
  parser.positional("MODEL", path)
      .option("seconds", seconds)
      .flag("profile", profile)
      .flag("json", json);
  model.declare(parser);
  code.declare(parser);
  if (std::optional<int> ended = parser.parse(arguments))
    return *ended;
  if (!(seconds >= 0 && seconds <= 86400))
    return parser.wrong("option '--seconds' expects 0 to 86400");
  CompileOptions options;
  if (std::optional<int> ended = code.read(parser, options))
    return *ended;
  bool isLibrary = llvm::sys::path::extension(path) == ".so";
  options.profile = profile;
  if (profile && !options.otherTargets.empty())
    return parser.wrong("--profile is for one target");
  if (!isHostTarget(options.target))
    return parser.wrong("code for " + options.target.triple +
                        " can't run on this machine");
  if (isLibrary)
    if (std::optional<int> ended = refuseForLibrary(
            parser, {"profile", "dim", "trust-bytecode", "target", "cpu",
                     "features", "max-iterations", "cache", "check-bounds",
                     "no-winograd", "verbose"}))
      return *ended;
  if (isLibrary && options.threads != 1)
    return parser.wrong("option '--threads' is for models: a library is "
                        "compiled already");
  auto temporary = TemporaryFolder::create("onnxq-bench");
  if (!temporary)
    return complain(temporary.takeError());
  StringRef folder = temporary->path();
  Measurement result;
  ProfiledNodes nodes;
  std::string library = isLibrary ? path : (folder + "/model.so").str();
  if (!isLibrary)
    if (int failed = compile(path, model, options, library,
                             result.compileSeconds, nodes))
      return failed;
  if (profile)
    return runProfile(library, folder, seconds, nodes, options, json);
  // A model has been compiled for its shapes.
  std::vector<std::string> shapes;
  if (isLibrary)
    shapes = model.inputShapes;
  if (llvm::Error error = measure(library, folder, seconds, shapes, result))
    return complain(std::move(error));
  llvm::sys::fs::file_size(library, result.libraryBytes);
  print(result, json);
  return Done;
}

const Verb onnxquant::cli::benchVerb = {"bench",
                                        "time a model or a compiled library",
                                        R"(usage: onnxq bench MODEL [options]

Times runs of a model (.onnx, .mlir, .mlirbc) or of a library (.so made by
'onnxq compile') on random inputs. The library runs in a process of its own:
peak_rss_mib is its peak of resident memory. Open sizes are 1, unless given.

  --seconds S               how long to run (3), at least three times
  --threads N               threads that a run uses (1)
  --target, --cpu, --features, --cache, --dim, --input-shape, --no-winograd,
  --trust-bytecode, --verbose
                            as of 'onnxq compile'
  --profile                 time per node instead, slowest first, with GMAC/s and
                            percent of the processor's peak
  --json                    median_ms, min_ms, p90_ms, runs, compile_s, load_ms,
                            peak_rss_mib, lib_bytes

example: onnxq bench model.onnx --input-shape x=1x3x224x224 --json
)",
                                        run};
