// onnxq esp evaluate: a .espdl model run as the chip runs it.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct EvaluateOptions {
  EspFileOptions file;
  std::string chipName, outputDir;
  /// Of a float model that runs by the rules of ESP-DL v1.x.
  EspSettings legacy;
  bool isLegacy = false;
  std::vector<std::string> inputs;
  bool testValues = false, json = false, exact = false, lanes = false,
       toFloat = false;
  int64_t threads = 1;
};

/// How an output compares with what the file says of it.
struct Comparison {
  std::string name, type;
  std::vector<int64_t> dims;
  int64_t count = 0, different = 0, first = -1;
  double largest = 0, expected = 0, got = 0;
  /// What is still taken for equal.
  double tolerance = 0;

  bool isEqual() const { return largest <= tolerance; }
};

/// One way to read the file: a chip, and the rule of its tables.
struct Attempt {
  const esp::Chip *chip;
  bool interpolate;
  std::vector<Comparison> outputs;

  bool isEqual() const {
    return llvm::all_of(
        outputs, [](const Comparison &output) { return output.isEqual(); });
  }
  int64_t numDifferent() const {
    int64_t count = 0;
    for (const Comparison &output : outputs)
      count += output.different;
    return count;
  }
};

} // namespace

static StringRef roundingText(esp::Rounding rounding) {
  return rounding == esp::Rounding::HalfEven ? "half to even" : "half up";
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Whether a node reads a table of 16 bits, whose rule changed once.
static bool hasWideTable(const esp::Model &model) {
  return llvm::any_of(model.nodes, [](const esp::Node &node) {
    return node.find("lut") && node.getString("quant_type") == "S16";
  });
}

static HostTensor toHost(const esp::Tensor &tensor, const InputSpec &spec) {
  HostTensor host;
  host.name = tensor.name;
  host.type = tensor.type;
  host.dims = tensor.dims;
  host.data = tensor.data;
  // Old files leave the batch out.
  int64_t count = 1;
  for (int64_t dim : spec.dims.value_or(std::vector<int64_t>()))
    count *= dim;
  if (spec.dims && count == tensor.numElements())
    host.dims = *spec.dims;
  return host;
}

/// Compiles a model for this machine and runs it once. Nothing if it failed,
/// which has been reported.
static std::optional<std::vector<HostTensor>>
runSimulation(const esp::Model &model, const esp::SimulationOptions &options,
              const EvaluateOptions &settings,
              llvm::function_ref<llvm::Expected<std::vector<HostTensor>>(
                  const std::vector<InputSpec> &)>
                  makeInputs) {
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module =
      esp::importSimulation(model, options, settings.file.path, &context.get());
  if (!module)
    return std::nullopt;
  auto inputs = makeInputs(describeInputs(*module));
  if (!inputs) {
    espFail(inputs.takeError());
    return std::nullopt;
  }
  CompileOptions compile;
  compile.threads = settings.threads;
  auto target = parseTarget("native");
  if (!target) {
    espFail(target.takeError());
    return std::nullopt;
  }
  compile.target = *target;
  compile.target.isBrief = true;
  auto loaded = compileAndLoad(*module, compile);
  if (failed(loaded))
    return std::nullopt;
  auto outputs = runModel((*loaded)->model(), *inputs);
  if (!outputs) {
    espFail(outputs.takeError());
    return std::nullopt;
  }
  return std::move(*outputs);
}

//===----------------------------------------------------------------------===//
// Test values
//===----------------------------------------------------------------------===//

static Comparison compare(const esp::Tensor &expected, const HostTensor &got,
                          bool exact) {
  Comparison result;
  result.name = expected.name;
  result.type = esp::nameOf(expected.type);
  result.dims = expected.dims;
  result.count = expected.numElements();
  // What the device's own check allows.
  if (!exact)
    result.tolerance = expected.type == esp::Float   ? 2e-5
                       : expected.type == esp::Int16 ? 1
                                                     : 0;
  for (int64_t i = 0; i < result.count; ++i) {
    double a = expected.at(i), b = got.at(i), apart = std::abs(a - b);
    if (std::isnan(apart))
      apart = std::isnan(a) && std::isnan(b) ? 0 : HUGE_VAL;
    if (a == b || apart == 0)
      continue;
    ++result.different;
    // The first one that matters, or else the first one.
    bool matters = apart > result.tolerance;
    if (result.first < 0 || (matters && result.largest <= result.tolerance)) {
      result.first = i;
      result.expected = a;
      result.got = b;
    }
    result.largest = std::max(result.largest, apart);
  }
  return result;
}

static std::string placeText(int64_t index, llvm::ArrayRef<int64_t> dims) {
  std::vector<int64_t> place(dims.size());
  for (size_t i = dims.size(); i-- > 0; index /= std::max<int64_t>(dims[i], 1))
    place[i] = index % std::max<int64_t>(dims[i], 1);
  return shapeText(place);
}

static int tryChip(const esp::Model &model, const EvaluateOptions &options,
                   Attempt &attempt) {
  esp::SimulationOptions simulation;
  simulation.chip = attempt.chip;
  simulation.interpolate = attempt.interpolate;
  simulation.lanes = options.lanes;
  for (const esp::Tensor &tensor : model.testOutputs)
    simulation.outputs.push_back(tensor.name);
  auto outputs = runSimulation(
      model, simulation, options,
      [&](const std::vector<InputSpec> &specs)
          -> llvm::Expected<std::vector<HostTensor>> {
        std::vector<HostTensor> inputs;
        for (const InputSpec &spec : specs) {
          auto found =
              llvm::find_if(model.testInputs, [&](const esp::Tensor &tensor) {
                return tensor.name == spec.name;
              });
          if (found == model.testInputs.end())
            return llvm::createStringError(options.file.path +
                                           ": has no test value of input '" +
                                           spec.name + "'");
          inputs.push_back(toHost(*found, spec));
        }
        return inputs;
      });
  if (!outputs)
    return BadInput;
  for (auto [expected, got] : llvm::zip(model.testOutputs, *outputs)) {
    if (expected.type != got.type ||
        expected.numElements() != got.numElements())
      return espFail(options.file.path + ": test output '" + expected.name +
                     "' has another type or size than the model gives it");
    attempt.outputs.push_back(compare(expected, got, options.exact));
  }
  return Done;
}

static void printTestJson(const EvaluateOptions &options,
                          const Attempt &attempt) {
  llvm::json::Array outputs;
  for (const Comparison &output : attempt.outputs) {
    llvm::json::Object entry{{"name", output.name},
                             {"type", output.type},
                             {"shape", llvm::json::Array(output.dims)},
                             {"count", output.count},
                             {"different", output.different},
                             {"max_difference", output.largest},
                             {"tolerance", output.tolerance}};
    if (output.first >= 0)
      entry["first_difference"] =
          llvm::json::Object{{"index", output.first},
                             {"expected", output.expected},
                             {"got", output.got}};
    outputs.push_back(std::move(entry));
  }
  llvm::json::Object root{{"file", options.file.path},
                          {"chip", attempt.chip->name.str()},
                          {"rounding", roundingText(attempt.chip->rounding)},
                          {"equal", attempt.isEqual()},
                          {"outputs", std::move(outputs)}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
               << "\n";
}

static void printTestText(const Attempt &attempt) {
  for (const Comparison &output : attempt.outputs) {
    llvm::outs() << "output " << output.name << ": ";
    if (output.different == 0)
      llvm::outs() << output.count << " values equal";
    else
      llvm::outs() << output.different << " of " << output.count
                   << llvm::format(" values differ by at most %g",
                                   output.largest);
    if (output.different && output.isEqual())
      llvm::outs() << llvm::format(" (the device allows %g)", output.tolerance);
    llvm::outs() << "\n";
  }
  llvm::outs() << (attempt.isEqual() ? "equal" : "not equal")
               << " with the arithmetic of " << attempt.chip->name
               << " (rounds " << roundingText(attempt.chip->rounding)
               << (attempt.interpolate ? ", interpolates tables" : "") << ")\n";
}

void cli::espFollowTestInputs(esp::Model &model) {
  for (const esp::Tensor &tensor : model.testInputs)
    for (auto *list : {&model.inputs, &model.values})
      for (esp::Value &value : *list)
        if (value.name == tensor.name && value.type != tensor.type) {
          value.type = tensor.type;
          value.exponents = tensor.exponents;
        }
}

static void noteDoubts(const esp::Model &model, const esp::Chip &chip,
                       const EvaluateOptions &options) {
  if (options.isLegacy)
    return;
  for (const std::string &doubt : esp::doubtsOf(model, chip))
    llvm::errs() << "note: " << options.file.path << ": " << doubt << "\n";
}

static int evaluateTestValues(esp::Model &model, const EvaluateOptions &options,
                              const esp::Chip *chip) {
  if (model.testInputs.empty() || model.testOutputs.empty())
    return espFail(options.file.path + ": has no test values");
  espFollowTestInputs(model);
  std::vector<const esp::Chip *> chips = esp::likelyChips(model);
  if (chip)
    chips = {chip};
  std::optional<Attempt> best;
  bool hasTable = hasWideTable(model);
  for (const esp::Chip *candidate : chips)
    for (bool interpolate : {false, true}) {
      if (interpolate && !hasTable)
        continue;
      if (best && best->isEqual())
        continue;
      Attempt attempt = {candidate, interpolate, {}};
      if (int code = tryChip(model, options, attempt))
        return code;
      if (!best || attempt.isEqual() ||
          attempt.numDifferent() < best->numDifferent())
        best = std::move(attempt);
    }
  noteDoubts(model, *best->chip, options);
  if (options.json)
    printTestJson(options, *best);
  else
    printTestText(*best);
  if (best->isEqual())
    return Done;
  for (const Comparison &output : best->outputs)
    if (!output.isEqual())
      return espFail(options.file.path + ": output '" + output.name +
                     "' differs, first at " +
                     placeText(output.first, output.dims) + ": expected " +
                     shortestDecimal(output.expected) + ", got " +
                     shortestDecimal(output.got));
  return BadInput;
}

//===----------------------------------------------------------------------===//
// Given inputs
//===----------------------------------------------------------------------===//

static int evaluateInputs(const esp::Model &model,
                          const EvaluateOptions &options,
                          const esp::Chip *chip) {
  esp::SimulationOptions simulation;
  std::vector<const esp::Chip *> likely = esp::likelyChips(model);
  simulation.chip = chip ? chip : likely.front();
  for (const esp::Chip *other : likely)
    if (!chip && other->rounding != likely.front()->rounding)
      llvm::errs() << "note: " << options.file.path
                   << ": doesn't say its chip; results are rounded "
                   << roundingText(likely.front()->rounding) << ", --chip "
                   << other->name << " rounds " << roundingText(other->rounding)
                   << "\n";
  noteDoubts(model, *simulation.chip, options);
  simulation.lanes = options.lanes;
  simulation.legacy = options.isLegacy;
  auto outputs = runSimulation(
      model, simulation, options,
      [&](const std::vector<InputSpec> &specs)
          -> llvm::Expected<std::vector<HostTensor>> {
        std::vector<HostTensor> tensors;
        for (const std::string &argument : options.inputs) {
          auto read = readInputs(argument);
          if (!read)
            return read.takeError();
          std::move(read->begin(), read->end(), std::back_inserter(tensors));
        }
        for (auto [index, tensor] : llvm::enumerate(tensors)) {
          std::string name = tensor.name.empty() && index < specs.size()
                                 ? specs[index].name
                                 : tensor.name;
          if (const esp::Value *value = model.findValue(name))
            tensor =
                esp::toDevice(tensor, *value,
                              options.isLegacy ? esp::Rounding::HalfEven
                                               : simulation.chip->rounding);
        }
        return matchInputs(specs, std::move(tensors), std::nullopt);
      });
  if (!outputs)
    return BadInput;
  for (HostTensor &tensor : *outputs) {
    const esp::Value *value = model.findValue(tensor.name);
    int64_t exponent = value ? value->exponent() : 0;
    if (options.toFloat && tensor.type != esp::Float)
      tensor = esp::toReal(tensor, exponent);
    llvm::outs() << tensor.name << ": " << typeName(tensor.type) << " "
                 << shapeText(tensor.dims) << ", exponent " << exponent << ":";
    for (int64_t i = 0; i < std::min<int64_t>(tensor.numElements(), 10); ++i)
      llvm::outs() << llvm::format(" %g", tensor.at(i));
    llvm::outs() << (tensor.numElements() > 10 ? " ...\n" : "\n");
    if (options.outputDir.empty())
      continue;
    if (std::error_code code =
            llvm::sys::fs::create_directories(options.outputDir))
      return espFail(options.outputDir + ": cannot be made: " + code.message());
    std::string name;
    for (char c : tensor.name)
      name += llvm::isAlnum(c) || StringRef("._-+").contains(c) ? c : '_';
    llvm::SmallString<128> path(options.outputDir);
    llvm::sys::path::append(path, name + ".npy");
    if (llvm::Error error = writeNpy(tensor, path))
      return espFail(std::move(error));
  }
  return Done;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  EvaluateOptions options;
  Arguments parser(espEvaluateVerb);
  parser.positional("FILE", options.file.path)
      .option("chip", options.chipName)
      .list("input", options.inputs)
      .option("output-dir", options.outputDir)
      .option("threads", options.threads)
      .option("table", options.legacy.table)
      .option("bits", options.legacy.bits)
      .option("granularity", options.legacy.granularity)
      .flag("test-values", options.testValues)
      .flag("exact", options.exact)
      .flag("lanes", options.lanes)
      .flag("to-float", options.toFloat)
      .flag("json", options.json);
  options.file.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = checkThreads(parser, options.threads))
    return *code;
  const esp::Chip *chip = nullptr;
  if (!options.chipName.empty() && !(chip = esp::findChip(options.chipName)))
    return parser.wrong("option '--chip' can't take '" + options.chipName +
                        "'; the chips are " + esp::chipNames());
  if (options.testValues == !options.inputs.empty())
    return parser.wrong("expects --test-values, or --input");
  if (options.testValues && (!options.outputDir.empty() || options.toFloat))
    return parser.wrong("--output-dir and --to-float go with --input");
  if (!options.testValues && (options.exact || options.json))
    return parser.wrong("--exact and --json go with --test-values");
  if (llvm::sys::path::extension(options.file.path) == ".onnx") {
    EspSettings &legacy = options.legacy;
    if (options.testValues || legacy.table.empty())
      return parser.wrong("a float model takes --table and --input");
    legacy.path = options.file.path;
    legacy.quiet = true;
    if (!options.chipName.empty())
      legacy.chipName = options.chipName;
    if (std::optional<int> code = legacy.finish(parser, /*legacy=*/true))
      return *code;
    ModelContext context;
    ModelDiagnosticHandler handler(&context.get());
    esp::Model floats, device;
    if (int code = espQuantize(legacy, context.get(), floats, device))
      return code;
    options.isLegacy = true;
    return evaluateInputs(device, options, legacy.quantize.chip);
  }
  if (!options.legacy.table.empty() || parser.isGiven("bits") ||
      !options.legacy.granularity.empty())
    return parser.wrong("--table, --bits and --granularity are for a float "
                        "model (.onnx)");
  esp::Entry entry;
  if (int code = options.file.readOne(entry))
    return code;
  return options.testValues ? evaluateTestValues(entry.model, options, chip)
                            : evaluateInputs(entry.model, options, chip);
}

const Verb onnxquant::cli::espEvaluateVerb = {
    "esp evaluate", "run a .espdl model as the chip does",
    R"(usage: onnxq esp evaluate FILE --test-values [options]
       onnxq esp evaluate FILE --input NAME=FILE... [options]
       onnxq esp evaluate MODEL.onnx --table FILE --input NAME=FILE... [options]

Compiles a .espdl model into code that computes what the chip computes, to the
bit, and runs it on its test values or on inputs (floats are quantized first). A
float model with a table of exponents runs by the rules of ESP-DL v1.x.

  --test-values       compare with the values in the file; 0 if equal, 1 if not
  --input NAME=FILE   an input in the device's layout (NHWC): .npy, .npz or .pb
  --chip NAME         whose rounding counts: esp32s3, esp32p4, esp32c3, ...
                      (default: as the file says, or whichever is equal)
  --exact             without it int16 may differ by 1 and floats by 2e-5, as in
                      the device's own check
  --lanes             let sums of int8 saturate at 20 bits, as lanes of the
                      esp32s3 do; published test values don't
  --to-float, --output-dir DIR   outputs as real numbers; to DIR/NAME.npy
  --table FILE, --bits 8|16, --granularity per-tensor|per-channel   for .onnx
  --model NAME        the model of a package; --key HEX of an encrypted file
  --threads N, --json

example: onnxq esp evaluate model.espdl --test-values
)",
    run};
