// onnxq test: runs ONNX backend test cases, each in a process of its own.

#include "Arguments.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <atomic>
#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {
struct TestOptions {
  std::string root, filter, target = "native";
  bool checkBounds = false, verbose = false;
  int64_t jobs = 0, timeout = 120;
  double rtol = 1e-3, atol = 1e-7;
};

/// How a case ended; the message says why it failed or was skipped.
struct Outcome {
  enum Kind : char { Passed = 'P', Failed = 'F', Skipped = 'S' } kind = Failed;
  std::string message;
};
} // namespace

/// All folders below `root` that hold a model and data, in order.
static std::vector<std::string> findCases(StringRef root) {
  std::vector<std::string> cases;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(root, code), end;
       it != end && !code; it.increment(code))
    if (llvm::sys::path::filename(it->path()) == "model.onnx")
      cases.push_back(llvm::sys::path::parent_path(it->path()).str());
  if (llvm::sys::fs::exists(root + "/model.onnx"))
    cases.push_back(root.str());
  llvm::sort(cases);
  cases.erase(llvm::unique(cases), cases.end());
  return cases;
}

/// The tensors `input_0.pb`, `input_1.pb`, ... of a data set.
static llvm::Expected<std::vector<HostTensor>> readData(StringRef folder,
                                                        StringRef kind) {
  std::vector<HostTensor> tensors;
  for (unsigned i = 0;; ++i) {
    std::string path = (folder + "/" + kind + "_" + Twine(i) + ".pb").str();
    if (!llvm::sys::fs::exists(path))
      return tensors;
    auto tensor = readTensorProto(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
}

/// Where a result differs from what is expected; empty if it doesn't.
static std::string compare(const HostTensor &result, const HostTensor &expected,
                           const TestOptions &options) {
  if (result.type != expected.type)
    return "output '" + result.name + "' has elements of " +
           typeName(result.type) + ", expected " + typeName(expected.type);
  if (result.dims != expected.dims)
    return "output '" + result.name + "' has another shape than expected";
  bool isFloat = result.type == 1 || result.type == 10 || result.type == 11 ||
                 (result.type >= 16 && result.type <= 20);
  for (int64_t i = 0, e = result.numElements(); i < e; ++i) {
    double a = result.at(i), b = expected.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    // One step of the type where it is coarser than the tolerance.
    double tolerance = options.atol + options.rtol * std::abs(b);
    if (result.type == 16)
      tolerance = std::max(tolerance, std::abs(b) / 128);
    if (isFloat && std::abs(a - b) <= tolerance)
      continue;
    return "output '" + result.name + "' differs at element " +
           std::to_string(i) + ": " + std::to_string(a) + ", expected " +
           std::to_string(b);
  }
  return "";
}

/// Why a model's results can't be compared; empty if they can.
static std::string outOfScope(ModuleOp module) {
  std::string reason;
  module.walk([&](Operation *op) {
    if (auto custom = dyn_cast<onnx::CustomOp>(op))
      if (custom.getDomainName().contains("training"))
        reason = "trains [category: training]";
    if (isa<onnx::BernoulliOp, onnx::MultinomialOp, onnx::RandomNormalOp,
            onnx::RandomNormalLikeOp, onnx::RandomUniformOp,
            onnx::RandomUniformLikeOp>(op))
      reason = "draws random numbers [category: random]";
    // Whether a Dropout draws may be an input.
    if (isa<onnx::DropoutOp>(op) && !isMemoryEffectFree(op))
      reason = "draws random numbers [category: random]";
  });
  return reason;
}

/// The test data has no bfloat16: such tensors come as their bits.
static void takeBits(HostTensor &tensor, int32_t type) {
  if (type == 16 && tensor.type == 4)
    tensor.type = type;
}

/// Whether a data set has other sizes than the model states for an input.
static bool contradicts(const onnxq_model &model,
                        const std::vector<HostTensor> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<int32_t>(i) >= model.num_inputs)
      return false;
    const onnxq_tensor_info &info = model.inputs[i];
    if (static_cast<size_t>(info.rank) != inputs[i].dims.size())
      return true;
    for (int32_t d = 0; d < info.rank; ++d)
      if (info.dims[d] >= 0 && info.dims[d] != inputs[i].dims[d])
        return true;
  }
  return false;
}

/// Compiles the model for the shapes of its first data set and runs all sets.
static Outcome runCase(const std::string &folder, const TestOptions &options) {
  auto failed = [](std::string message) {
    return Outcome{Outcome::Failed, std::move(message)};
  };
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  ModelDiagnosticHandler handler(&context, os);
  auto refused = [&]() {
    StringRef text = StringRef(diagnostics).split('\n').first;
    bool documented = text.contains("[category: ");
    return Outcome{documented ? Outcome::Skipped : Outcome::Failed, text.str()};
  };
  OwningOpRef<ModuleOp> module = readModel(folder + "/model.onnx", &context);
  if (!module)
    return refused();
  if (std::string reason = outOfScope(*module); !reason.empty())
    return {Outcome::Skipped, reason};
  CompileOptions compile;
  auto target = parseTarget(options.target);
  if (!target)
    return failed(llvm::toString(target.takeError()));
  compile.target = *target;
  compile.target.optLevel = 1;
  compile.checkBounds = options.checkBounds;
  auto loaded = compileAndLoad(*module, compile);
  if (mlir::failed(loaded))
    return refused();
  unsigned sets = 0;
  for (;; ++sets) {
    std::string data = folder + "/test_data_set_" + std::to_string(sets);
    if (!llvm::sys::fs::is_directory(data))
      break;
    auto inputs = readData(data, "input");
    if (!inputs)
      return failed(llvm::toString(inputs.takeError()));
    auto expected = readData(data, "output");
    if (!expected)
      return failed(llvm::toString(expected.takeError()));
    for (size_t i = 0; i < inputs->size(); ++i)
      (*inputs)[i].name.clear();
    const onnxq_model &model = (*loaded)->model();
    for (size_t i = 0; i < inputs->size(); ++i)
      if (static_cast<int32_t>(i) < model.num_inputs)
        takeBits((*inputs)[i], model.inputs[i].type);
    if (contradicts(model, *inputs))
      return {Outcome::Skipped, "its data has other shapes than the model "
                                "states [category: data]"};
    auto ordered = orderInputs(model, std::move(*inputs));
    if (!ordered)
      return failed(llvm::toString(ordered.takeError()));
    auto outputs = runModel((*loaded)->model(), *ordered);
    if (!outputs)
      return failed(llvm::toString(outputs.takeError()));
    if (outputs->size() < expected->size())
      return failed("the model has fewer outputs than the data set");
    for (auto [result, want] : llvm::zip(*outputs, *expected))
      takeBits(want, result.type);
    for (auto [result, want] : llvm::zip(*outputs, *expected))
      if (std::string difference = compare(result, want, options);
          !difference.empty())
        return failed(difference);
  }
  if (sets == 0)
    return failed("has no data");
  return Outcome{Outcome::Passed, ""};
}

/// Runs a case in a child, so that a crash or a hang is only its own failure.
static Outcome runIsolated(const std::string &folder,
                           const TestOptions &options) {
  int channel[2];
  if (pipe(channel) != 0)
    return {Outcome::Failed, "no pipe could be made"};
  pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    alarm(options.timeout);
    Outcome outcome = runCase(folder, options);
    std::string text = std::string(1, outcome.kind) + outcome.message;
    (void)!write(channel[1], text.data(), text.size());
    _exit(0);
  }
  close(channel[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(channel[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, n);
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return {Outcome::Failed,
            WTERMSIG(status) == SIGALRM
                ? "took longer than the time allowed"
                : "crashed with signal " + std::to_string(WTERMSIG(status))};
  if (text.empty())
    return {Outcome::Failed, "ended without a result"};
  return {static_cast<Outcome::Kind>(text[0]), text.substr(1)};
}

static int run(llvm::ArrayRef<const char *> arguments) {
  TestOptions options;
  if (std::optional<int> code = Arguments(testVerb)
                                    .positional("ROOT", options.root)
                                    .option("filter", options.filter)
                                    .option("jobs", options.jobs)
                                    .option("timeout", options.timeout)
                                    .option("rtol", options.rtol)
                                    .option("atol", options.atol)
                                    .flag("check-bounds", options.checkBounds)
                                    .flag("verbose", options.verbose)
                                    .parse(arguments))
    return *code;
  if (!llvm::sys::fs::is_directory(options.root)) {
    llvm::errs() << "error: " << options.root << ": is no folder\n";
    return BadInput;
  }
  llvm::Regex filter(options.filter.empty() ? "." : options.filter);
  std::string message;
  if (!filter.isValid(message)) {
    llvm::errs() << "error: onnxq test: --filter: " << message << "\n";
    return BadUsage;
  }
  std::vector<std::string> cases = findCases(options.root);
  llvm::erase_if(cases,
                 [&](const std::string &path) { return !filter.match(path); });
  if (cases.empty()) {
    llvm::errs() << "error: " << options.root << ": has no test case\n";
    return BadInput;
  }
  std::vector<Outcome> outcomes(cases.size());
  size_t jobs = options.jobs > 0
                    ? options.jobs
                    : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (size_t i = 0; i < jobs; ++i)
    workers.emplace_back([&]() {
      for (size_t at; (at = next++) < cases.size();)
        outcomes[at] = runIsolated(cases[at], options);
    });
  for (std::thread &worker : workers)
    worker.join();
  size_t counts[3] = {0, 0, 0};
  for (auto [path, outcome] : llvm::zip(cases, outcomes)) {
    StringRef name =
        StringRef(path).drop_front(std::min(path.size(), options.root.size()));
    name = name.ltrim('/');
    counts[outcome.kind == Outcome::Passed   ? 0
           : outcome.kind == Outcome::Failed ? 1
                                             : 2]++;
    if (outcome.kind == Outcome::Failed)
      llvm::outs() << "FAIL " << name << ": " << outcome.message << "\n";
    else if (outcome.kind == Outcome::Skipped)
      llvm::outs() << "SKIP " << name << ": " << outcome.message << "\n";
    else if (options.verbose)
      llvm::outs() << "PASS " << name << "\n";
  }
  llvm::outs() << counts[0] << " passed, " << counts[1] << " failed, "
               << counts[2] << " skipped\n";
  return counts[1] == 0 ? Done : BadInput;
}

const Verb onnxquant::cli::testVerb = {
    "test", "run ONNX backend test cases and compare the results",
    R"(usage: onnxq test ROOT [options]

Compiles and runs every case below ROOT (model.onnx with test_data_set_*) and
compares the outputs. Prints a line for each failure with the reason; the last
line is 'N passed, N failed, N skipped'. Skipped are models that need what is
documented as out of scope.

  --filter REGEX   only cases whose path matches
  --check-bounds   check every access to a buffer
  --rtol, --atol   tolerance of floats (1e-3, 1e-7)
  --jobs N         cases at a time (default: cores)
  --timeout N      seconds that a case may take (120)
  --verbose        also list what passes

example: onnxq test /usr/share/libonnx-testdata/data/node --filter test_conv
)",
    run};
