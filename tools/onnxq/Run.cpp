// onnxq run: a model on given or random inputs.

#include "Models.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/NumPy.h"
#include "OnnxQuant/Target/Header.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;
using Clock = std::chrono::steady_clock;

namespace {

struct RunOptions {
  std::string path, outputDir, seedText, cache;
  std::vector<std::string> inputs;
  std::optional<uint64_t> seed;
  bool json = false, quiet = false, noSpecialize = false, checkBounds = false;
  int64_t threads = 1;
  ModelOptions model;
  LimitOptions limits;
};

/// What a run gave, and how long it took.
struct RunResult {
  std::vector<HostTensor> inputs, outputs;
  std::vector<std::string> files;
  double compileSeconds = 0, runMilliseconds = 0;
};

/// An output in three numbers.
struct Summary {
  double least = std::nan(""), greatest = std::nan(""), mean = std::nan("");
};

} // namespace

static int complain(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return BadInput;
}

static double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static Summary summarize(const HostTensor &tensor) {
  Summary summary;
  double sum = 0;
  int64_t count = tensor.numElements();
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor.at(i);
    summary.least = i ? std::fmin(summary.least, value) : value;
    summary.greatest = i ? std::fmax(summary.greatest, value) : value;
    sum += value;
  }
  if (count > 0)
    summary.mean = sum / count;
  return summary;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The tensors of all `--input`s, and random ones where asked for.
static llvm::Expected<std::vector<HostTensor>>
collectInputs(const std::vector<InputSpec> &specs, const RunOptions &options) {
  std::vector<HostTensor> tensors;
  for (const std::string &argument : options.inputs) {
    auto read = readInputs(argument);
    if (!read)
      return read.takeError();
    std::move(read->begin(), read->end(), std::back_inserter(tensors));
  }
  std::vector<std::string> notes;
  auto matched = matchInputs(specs, std::move(tensors), options.seed, &notes);
  if (!matched && options.inputs.empty())
    return llvm::createStringError(llvm::toString(matched.takeError()) +
                                   "; see --input and --random-seed");
  if (matched && !options.quiet)
    for (const std::string &note : notes)
      llvm::errs() << "note: " << note << "\n";
  if (!matched || !options.seed || options.quiet)
    return matched;
  for (auto [spec, tensor] : llvm::zip(specs, *matched))
    if (spec.dims && spec.dims != tensor.dims &&
        llvm::all_of(llvm::zip(*spec.dims, tensor.dims), [](auto pair) {
          auto [open, size] = pair;
          return open >= 0 || size == 1;
        }))
      llvm::errs() << "note: open sizes of input '" << spec.name
                   << "' are 1 here; give them by --input-shape " << spec.name
                   << "=SHAPE\n";
  return matched;
}

static llvm::Error execute(const onnxq_model &model, RunResult &result) {
  auto start = Clock::now();
  auto outputs = runModel(model, result.inputs);
  if (!outputs)
    return outputs.takeError();
  result.runMilliseconds = since(start) * 1e3;
  result.outputs = std::move(*outputs);
  return llvm::Error::success();
}

static int runLibrary(const RunOptions &options, RunResult &result) {
  auto library = LoadedLibrary::open(options.path);
  if (!library)
    return complain(library.takeError());
  std::vector<InputSpec> specs = describeInputs((*library)->model());
  if (llvm::Error error = giveShapes(specs, options.model.inputShapes))
    return complain(std::move(error));
  auto inputs = collectInputs(specs, options);
  if (!inputs)
    return complain(inputs.takeError());
  result.inputs = std::move(*inputs);
  if (llvm::Error error = execute((*library)->model(), result))
    return complain(std::move(error));
  return Done;
}

/// Compiles for the sizes of the inputs, unless open sizes are to be kept.
static int runModelFile(const RunOptions &options, RunResult &result) {
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module =
      options.model.read(options.path, context.get());
  if (!module)
    return BadInput;
  auto inputs = collectInputs(describeInputs(*module), options);
  if (!inputs)
    return complain(inputs.takeError());
  result.inputs = std::move(*inputs);
  auto start = Clock::now();
  ModelOptions shapes;
  if (!options.noSpecialize)
    shapes.inputShapes = shapesOf(result.inputs);
  if (failed(shapes.apply(*module)))
    return BadInput;
  CompileOptions compile;
  compile.checkBounds = options.checkBounds;
  compile.threads = options.threads;
  compile.cacheFolder = findCache(options.cache);
  auto target = parseTarget("native");
  if (!target)
    return complain(target.takeError());
  compile.target = *target;
  auto loaded = compileAndLoad(*module, compile);
  if (failed(loaded))
    return BadInput;
  result.compileSeconds = since(start);
  if (llvm::Error error = execute((*loaded)->model(), result))
    return complain(std::move(error));
  return Done;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Writes the outputs as NAME.npy, with what a file can't be called replaced:
/// all of them or none.
static llvm::Error writeOutputs(StringRef folder, RunResult &result) {
  bool isNew = !llvm::sys::fs::exists(folder);
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError(code, "%s: cannot be made: %s",
                                   folder.str().c_str(),
                                   code.message().c_str());
  // A folder without outputs goes again.
  llvm::scope_exit removeFolder([&]() {
    if (isNew)
      llvm::sys::fs::remove(folder);
  });
  llvm::StringMap<bool> used;
  std::vector<std::unique_ptr<AtomicFile>> files;
  std::vector<AtomicFile *> all;
  for (auto [index, tensor] : llvm::enumerate(result.outputs)) {
    std::string name;
    for (char c : tensor.name)
      name += llvm::isAlnum(c) || StringRef("._-+").contains(c) ? c : '_';
    if (name.empty() || name.front() == '.' || !used.try_emplace(name).second)
      name = "output_" + std::to_string(index);
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name + ".npy");
    auto file = prepareNpy(tensor, path);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    all.push_back(files.back().get());
    result.files.push_back(path.str().str());
  }
  if (llvm::Error error = commitTogether(all))
    return error;
  removeFolder.release();
  return llvm::Error::success();
}

/// JSON has no infinities and no NaN.
static llvm::json::Value numberOrNull(double value) {
  if (!std::isfinite(value))
    return nullptr;
  return value;
}

static void printJson(const RunResult &result) {
  auto describe = [](const HostTensor &tensor) {
    return llvm::json::Object{{"name", tensor.name},
                              {"type", typeName(tensor.type)},
                              {"shape", llvm::json::Array(tensor.dims)}};
  };
  llvm::json::Array inputs, outputs;
  for (const HostTensor &tensor : result.inputs)
    inputs.push_back(describe(tensor));
  for (auto [index, tensor] : llvm::enumerate(result.outputs)) {
    llvm::json::Object entry = describe(tensor);
    Summary summary = summarize(tensor);
    entry["min"] = numberOrNull(summary.least);
    entry["max"] = numberOrNull(summary.greatest);
    entry["mean"] = numberOrNull(summary.mean);
    if (index < result.files.size())
      entry["file"] = result.files[index];
    outputs.push_back(std::move(entry));
  }
  llvm::json::Object root{{"inputs", std::move(inputs)},
                          {"outputs", std::move(outputs)},
                          {"compile_s", result.compileSeconds},
                          {"run_ms", result.runMilliseconds}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
               << "\n";
}

static void printText(const RunResult &result) {
  constexpr int64_t shown = 6;
  for (auto [index, tensor] : llvm::enumerate(result.outputs)) {
    Summary summary = summarize(tensor);
    llvm::outs() << tensor.name << ": " << typeName(tensor.type) << " "
                 << shapeText(tensor.dims);
    int64_t count = tensor.numElements();
    if (count > 0) {
      llvm::outs() << llvm::format(", min %g, max %g, mean %g:", summary.least,
                                   summary.greatest, summary.mean);
      for (int64_t i = 0; i < std::min(count, shown); ++i)
        llvm::outs() << llvm::format(" %g", tensor.at(i));
      if (count > shown)
        llvm::outs() << " ...";
    }
    llvm::outs() << "\n";
  }
}

static int run(llvm::ArrayRef<const char *> arguments) {
  RunOptions options;
  Arguments parser(runVerb);
  parser.positional("MODEL", options.path)
      .list("input", options.inputs)
      .option("output-dir", options.outputDir)
      .option("random-seed", options.seedText)
      .option("threads", options.threads)
      .option("cache", options.cache)
      .flag("no-specialize", options.noSpecialize)
      .flag("check-bounds", options.checkBounds)
      .flag("json", options.json)
      .flag("quiet", options.quiet);
  options.model.declare(parser);
  options.limits.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (!options.seedText.empty()) {
    uint64_t seed;
    if (StringRef(options.seedText).getAsInteger(10, seed))
      return parser.wrong("option '--random-seed' can't take '" +
                          options.seedText + "'");
    options.seed = seed;
  }
  if (std::optional<int> code = options.limits.apply(parser))
    return *code;
  if (std::optional<int> code = checkThreads(parser, options.threads))
    return *code;
  bool isLibrary = llvm::sys::path::extension(options.path) == ".so";
  if (isLibrary)
    if (std::optional<int> code = refuseForLibrary(
            parser, {"dim", "trust-bytecode", "no-specialize", "check-bounds",
                     "max-memory", "max-iterations", "cache"}))
      return *code;
  if (isLibrary && options.threads != 1)
    return parser.wrong("option '--threads' is for models: a library is "
                        "compiled already");
  RunResult result;
  if (int code = isLibrary ? runLibrary(options, result)
                           : runModelFile(options, result))
    return code;
  if (!options.outputDir.empty())
    if (llvm::Error error = writeOutputs(options.outputDir, result))
      return complain(std::move(error));
  if (options.json)
    printJson(result);
  else if (!options.quiet)
    printText(result);
  return Done;
}

const Verb onnxquant::cli::runVerb = {
    "run", "run a model or a compiled library once",
    R"(usage: onnxq run MODEL [--input NAME=FILE]... [options]

Runs a model (.onnx, .mlir, .mlirbc; compiled in this process) or a library (.so
made by 'onnxq compile') once, and tells of the outputs.

  --input NAME=FILE         an input: .npy, .npz (the array NAME) or TensorProto
                            .pb; FILE alone takes names from the file, or order
  --random-seed N           make the inputs that aren't given: floats from -1 to
                            1, small integers of any value, wide ones 0 or 1
  --output-dir DIR          write each output to DIR/NAME.npy
  --dim NAME=VALUE          give a named dimension a value
  --input-shape NAME=SHAPE  give an input a shape, such as x=1x3x224x224 (of a
                            library: a random one)
  --trust-bytecode          read .mlirbc that has no checksum of ours
  --no-specialize           compile for dynamic sizes, not those of the inputs
  --threads N               threads that the run uses (1)
  --max-memory BYTES        what tensors may take, such as 8G (the machine's)
  --max-iterations N        let a Loop fail after N (10000000; 0: after none)
  --cache DIR               where compiled models are kept (ONNXQUANT_CODE_CACHE)
  --check-bounds            check every access to a buffer
  --json                    as JSON, with times
  --quiet                   print nothing but errors

example: onnxq run model.onnx --input x=x.npy --output-dir out
)",
    run};
