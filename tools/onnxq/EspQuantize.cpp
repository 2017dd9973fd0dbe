// onnxq esp check, calibrate, quantize, export: from a float model to a .espdl
// file.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/Progress.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

void EspSettings::declare(Arguments &parser) {
  parser.positional("MODEL", path)
      .option("o", output)
      .option("chip", chipName)
      .option("bits", bits)
      .option("granularity", granularity)
      .option("method", method)
      .option("table", table)
      .option("int16-nodes", wideNodes)
      .option("table-step", tableStep)
      .option("key", keyText)
      .flag("test-values", testValues)
      .flag("quiet", quiet);
  data.declare(parser);
  model.declare(parser);
}

/// The old toolkit's combinations.
static std::optional<int> checkLegacy(const EspSettings &settings,
                                      const Arguments &parser) {
  if (!llvm::is_contained({"esp32", "esp32s2", "esp32c3", "esp32s3"},
                          StringRef(settings.chipName)))
    return parser.wrong("ESP-DL v1.x has the chips esp32, esp32s2, esp32c3 and "
                        "esp32s3");
  if (settings.method != "minmax")
    return parser.wrong("ESP-DL v1.x takes --method minmax here");
  if (settings.bits == 16 && settings.granularity == "per-channel")
    return parser.wrong("int16 is per-tensor in ESP-DL v1.x");
  if (!settings.wideNodes.empty() || !settings.keyText.empty() ||
      settings.testValues)
    return parser.wrong("--int16-nodes, --key and --test-values are for "
                        ".espdl");
  return std::nullopt;
}

std::optional<int> EspSettings::finish(const Arguments &parser, bool legacy) {
  quantize.legacy = legacy;
  if (legacy && !parser.isGiven("method"))
    method = "minmax";
  quantize.chip = esp::findChip(chipName);
  if (!quantize.chip)
    return parser.wrong("option '--chip' can't take '" + chipName +
                        "'; the chips are " + esp::chipNames());
  if (bits != 8 && bits != 16)
    return parser.wrong("option '--bits' expects 8 or 16, but got " +
                        std::to_string(bits));
  quantize.bits = bits;
  quantize.perChannel = !legacy && quantize.chip->isPerChannel;
  if (!granularity.empty() && granularity != "per-tensor" &&
      granularity != "per-channel")
    return parser.wrong("option '--granularity' expects per-tensor or "
                        "per-channel, but got '" +
                        granularity + "'");
  if (!granularity.empty())
    quantize.perChannel = granularity == "per-channel";
  if (legacy)
    if (std::optional<int> code = checkLegacy(*this, parser))
      return code;
  if (!legacy && quantize.perChannel && !quantize.chip->isPerChannel)
    return parser.wrong("kernels of the " + chipName +
                        " have one exponent per filter: --granularity "
                        "per-channel is for esp32p4 and esp32s31");
  if (method == "kl" || method == "entropy")
    observer = esp::Observer::Method::KL;
  else if (method == "minmax")
    observer = esp::Observer::Method::MinMax;
  else if (method == "percentile")
    observer = esp::Observer::Method::Percentile;
  else
    return parser.wrong("option '--method' expects kl, minmax or percentile, "
                        "but got '" +
                        method + "'");
  if (tableStep < 1 || 65536 % tableStep)
    return parser.wrong("option '--table-step' expects a power of two, but "
                        "got " +
                        std::to_string(tableStep));
  quantize.tableStep = tableStep;
  SmallVector<StringRef> names;
  StringRef(wideNodes).split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names)
    quantize.nodeBits[name.str()] = 16;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The float model
//===----------------------------------------------------------------------===//

/// Names of products that a fusion made, as the old toolkit gives them.
static void nameFusedGemms(esp::Model &model, const llvm::StringSet<> &given) {
  int count = 0;
  for (esp::Node &node : model.nodes)
    if (node.opType == "Gemm" && !given.contains(node.name))
      node.name = "fused_gemm_" + std::to_string(count++);
}

int cli::espReadFloat(const EspSettings &settings, MLIRContext &context,
                      esp::Model &model) {
  OwningOpRef<ModuleOp> module = settings.model.read(settings.path, context);
  if (!module)
    return BadInput;
  ModelOptions shapes;
  for (const InputSpec &spec : describeInputs(*module)) {
    if (!spec.dims || spec.dims->empty() || spec.dims->front() >= 0)
      continue;
    std::string text = spec.name + "=";
    for (auto [index, dim] : llvm::enumerate(*spec.dims))
      text += (index ? "x" : "") + std::to_string(index == 0 ? 1 : dim);
    if (StringRef(text).contains("-"))
      return espFail(settings.path + ": input '" + spec.name +
                     "' has open sizes; give them by --input-shape");
    shapes.inputShapes.push_back(text);
  }
  if (failed(shapes.apply(*module)))
    return BadInput;
  llvm::StringSet<> gemms;
  module->walk([&](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>("onnx_node_name");
    if (name && op->getName().getStringRef() == "onnx.Gemm")
      gemms.insert(name.getValue());
  });
  PreprocessOptions options;
  options.executor = createFoldingExecutor;
  options.skip = {"recognize-hard-swish", "recognize-gelu", "recognize-sigmoid",
                  "recognize-layer-norm", "split-gemm",     "div-to-mul"};
  PassManager pm(&context);
  if (llvm::Error error = buildPreprocessPipeline(pm, options))
    return espFail(std::move(error));
  if (failed(pm.run(*module)))
    return BadInput;
  auto imported = esp::importFloat(*module);
  if (!imported)
    return espFail(settings.path + ": " + llvm::toString(imported.takeError()));
  model = std::move(*imported);
  bool legacy = settings.quantize.legacy;
  if (legacy)
    nameFusedGemms(model, gemms);
  std::vector<std::string> reasons =
      legacy ? esp::checkLegacyModel(model) : esp::checkModel(model);
  for (const std::string &reason : reasons)
    llvm::errs() << "error: " << settings.path << ": " << reason << "\n";
  if (!reasons.empty())
    return BadInput;
  esp::prepareFloat(model, legacy);
  llvm::StringSet<> names;
  for (const esp::Node &node : model.nodes)
    names.insert(node.name);
  for (const auto &[name, bits] : settings.quantize.nodeBits)
    if (!names.contains(name))
      return espFail(settings.path + ": has no node '" + name +
                     "' (--int16-nodes)");
  return Done;
}

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

static llvm::ArrayRef<float> floatsOf(const HostTensor &tensor) {
  return {reinterpret_cast<const float *>(tensor.data.data()),
          static_cast<size_t>(tensor.numElements())};
}

/// The bits that tensors are measured for: those of what computes them, and of
/// the first reader of an input.
static std::map<std::string, int> tensorBits(const esp::Model &model,
                                             const esp::QuantizeOptions &o) {
  std::map<std::string, int> bits;
  for (const esp::Node &node : llvm::reverse(model.nodes)) {
    auto found = o.nodeBits.find(node.name);
    int own = found == o.nodeBits.end() ? o.bits : found->second;
    for (const std::string &name : node.inputs)
      bits[name] = own;
  }
  for (const esp::Node &node : model.nodes) {
    auto found = o.nodeBits.find(node.name);
    int own = found == o.nodeBits.end() ? o.bits : found->second;
    for (const std::string &name : node.outputs)
      bits[name] = own;
  }
  return bits;
}

static int calibrate(EspSettings &settings, const esp::Model &model,
                     MLIRContext &context, esp::Exponents &exponents) {
  if (llvm::Error error = settings.data.finish())
    return espFail(std::move(error)), BadUsage;
  std::vector<std::string> tensors;
  std::string bytes =
      esp::writeCalibrationModel(model, settings.quantize, tensors);
  OwningOpRef<ModuleOp> module =
      importModel({bytes.data(), bytes.size()}, settings.path, "", &context);
  if (!module)
    return BadInput;
  std::vector<InputInfo> inputs;
  for (const esp::Value &value : model.inputs)
    inputs.push_back({value.name, value.type, value.dims});
  auto data = DataSet::open(settings.data.options, inputs);
  if (!data)
    return espFail(data.takeError());
  if (data->size() == 0)
    return espFail("there are no samples to calibrate with");
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return BadInput;
  std::map<std::string, int> bits = tensorBits(model, settings.quantize);
  std::map<std::string, esp::Observer> observers;
  auto observer = [&](const std::string &name) -> esp::Observer & {
    return observers.try_emplace(name, settings.observer).first->second;
  };
  for (int pass : {0, 1}) {
    if (pass == 1 && settings.observer != esp::Observer::Method::KL)
      break;
    for (int64_t i = 0; i < data->size(); ++i) {
      auto sample = data->load(i);
      if (!sample)
        return espFail(sample.takeError());
      auto results = (*program)->run(*sample);
      if (!results)
        return espFail(results.takeError());
      auto observe = [&](const std::string &name, const HostTensor &tensor) {
        if (tensor.type != esp::Float)
          return;
        if (pass == 0)
          observer(name).observeRange(floatsOf(tensor));
        else
          observer(name).observeHistogram(floatsOf(tensor), bits[name]);
      };
      for (auto [info, tensor] : llvm::zip(inputs, *sample))
        observe(info.name, tensor);
      for (auto [name, tensor] : llvm::zip(tensors, *results))
        observe(name, tensor);
    }
  }
  for (const auto &[name, found] : observers) {
    int own = bits[name] ? bits[name] : settings.bits;
    exponents[name] = settings.quantize.legacy
                          ? esp::legacyExponent(found.magnitude(), own)
                          : found.exponent(own);
  }
  if (settings.quantize.legacy)
    for (const InputInfo &info : inputs)
      exponents[info.name] = esp::legacyInputExponent(
          observer(info.name).magnitude(), settings.bits);
  return Done;
}

/// Exponents of a table of ours, of ESP-DL's quantizer, or of a .espdl file.
static int readTable(const EspSettings &settings, esp::Exponents &exponents) {
  const std::string &path = settings.table;
  if (llvm::sys::path::extension(path) == ".espdl") {
    auto package = esp::readPackageFile(path);
    if (!package)
      return espFail(package.takeError());
    for (const esp::Entry &entry : package->entries)
      for (const esp::Value &value : entry.model.values)
        exponents[value.name] = value.exponent();
    return Done;
  }
  auto file = llvm::MemoryBuffer::getFile(path);
  if (std::error_code code = file.getError())
    return espFail(path + ": cannot be opened: " + code.message());
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".pickle" || extension == ".pkl") {
    StringRef text = (*file)->getBuffer();
    auto scales = esp::readPickle({text.data(), text.size()});
    if (!scales)
      return espFail(path + ": " + llvm::toString(scales.takeError()));
    for (const auto &[name, list] : *scales)
      if (!list.empty() && list[0] > 0)
        exponents[name] = static_cast<int64_t>(std::lround(std::log2(list[0])));
    return Done;
  }
  auto json = llvm::json::parse((*file)->getBuffer());
  if (!json)
    return espFail(path + ": " + llvm::toString(json.takeError()));
  llvm::json::Object *root = json->getAsObject();
  if (llvm::json::Object *own = root ? root->getObject("exponents") : nullptr) {
    for (const auto &[name, value] : *own) {
      auto number = value.getAsInteger();
      if (!number)
        return espFail(path + ": '" + name.str() + "' has no exponent");
      exponents[name.str()] = *number;
    }
    return Done;
  }
  llvm::json::Object *configs = root ? root->getObject("configs") : nullptr;
  llvm::json::Object *values = root ? root->getObject("values") : nullptr;
  if (!configs || !values)
    return espFail(path + ": is no table of exponents");
  for (const auto &[node, tensors] : *configs)
    if (const llvm::json::Object *list = tensors.getAsObject())
      for (const auto &[name, entry] : *list) {
        const llvm::json::Object *fields = entry.getAsObject();
        if (!fields)
          continue;
        std::string key;
        if (const llvm::json::Value *dominator = fields->get("dominator"))
          key = dominator->getAsString()
                    ? dominator->getAsString()->str()
                    : llvm::formatv("{0}", *dominator).str();
        const llvm::json::Object *value = values->getObject(key);
        auto scale = value ? value->getNumber("scale") : std::nullopt;
        if (scale && *scale > 0)
          exponents[name.str()] =
              static_cast<int64_t>(std::lround(std::log2(*scale)));
      }
  return Done;
}

int cli::espFindExponents(EspSettings &settings, const esp::Model &model,
                          MLIRContext &context, esp::Exponents &exponents) {
  if (!settings.table.empty())
    return readTable(settings, exponents);
  return calibrate(settings, model, context, exponents);
}

//===----------------------------------------------------------------------===//
// Test values
//===----------------------------------------------------------------------===//

/// The first sample as an input of the device: quantized, channels last.
static esp::Tensor deviceInput(const HostTensor &sample,
                               const esp::Value &value, const esp::Chip &chip) {
  esp::Tensor tensor;
  tensor.name = value.name;
  tensor.type = value.type;
  tensor.dims = value.dims;
  tensor.exponents = value.exponents;
  std::vector<int64_t> from = sample.dims;
  bool isLast = from != value.dims && from.size() > 2;
  int64_t channels = isLast ? from[1] : 1, count = sample.numElements(),
          places =
              isLast ? count / std::max<int64_t>(from[0] * channels, 1) : count;
  double limit = value.type == esp::Int8 ? 127 : 32767;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i;
    if (isLast) {
      int64_t c = i % channels, p = i / channels % places,
              n = i / (channels * places);
      at = (n * channels + c) * places + p;
    }
    double q = std::ldexp(sample.at(at), -value.exponent());
    q = chip.rounding == esp::Rounding::HalfEven ? std::nearbyint(q)
                                                 : std::floor(q + 0.5);
    int16_t number = static_cast<int16_t>(
        std::isnan(q) ? 0 : std::clamp(q, -limit - 1, limit));
    auto *bytes = reinterpret_cast<const char *>(&number);
    tensor.data.insert(tensor.data.end(), bytes,
                       bytes + esp::bytesOf(value.type));
  }
  return tensor;
}

static int addTestValues(EspSettings &settings, const esp::Model &floats,
                         MLIRContext &context, esp::Model &device) {
  if (settings.data.options.paths.empty())
    return espFail("--test-values takes the first sample of --data, which "
                   "isn't given");
  if (llvm::Error error = settings.data.finish())
    return espFail(std::move(error)), BadUsage;
  std::vector<InputInfo> inputs;
  for (const esp::Value &value : floats.inputs)
    inputs.push_back({value.name, value.type, value.dims});
  auto data = DataSet::open(settings.data.options, inputs);
  if (!data)
    return espFail(data.takeError());
  auto sample = data->load(0);
  if (!sample)
    return espFail(sample.takeError());
  std::vector<HostTensor> feed;
  for (auto [tensor, value] : llvm::zip(*sample, device.inputs)) {
    esp::Tensor given = deviceInput(tensor, value, *settings.quantize.chip);
    HostTensor host;
    host.name = given.name;
    host.type = given.type;
    host.dims = given.dims;
    host.data = given.data;
    feed.push_back(std::move(host));
    device.testInputs.push_back(std::move(given));
  }
  esp::SimulationOptions simulation;
  simulation.chip = settings.quantize.chip;
  OwningOpRef<ModuleOp> module =
      esp::importSimulation(device, simulation, settings.path, &context);
  if (!module)
    return BadInput;
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return BadInput;
  auto results = (*program)->run(feed);
  if (!results)
    return espFail(results.takeError());
  for (auto [result, value] : llvm::zip(*results, device.outputs)) {
    esp::Tensor &tensor = device.testOutputs.emplace_back();
    tensor.name = value.name;
    tensor.type = result.type;
    tensor.dims = result.dims;
    tensor.data = result.data;
    tensor.exponents = value.exponents;
  }
  return Done;
}

//===----------------------------------------------------------------------===//
// Verbs
//===----------------------------------------------------------------------===//

int cli::espWriteText(StringRef path, StringRef text) {
  auto file = AtomicFile::create(path);
  if (!file)
    return espFail(file.takeError());
  (*file)->os() << text;
  if (llvm::Error error = (*file)->commit())
    return espFail(std::move(error));
  return Done;
}

static int runQuantize(EspSettings &settings) {
  std::optional<esp::Key> key;
  if (!settings.keyText.empty()) {
    auto parsed = esp::parseKey(settings.keyText);
    if (!parsed)
      return espFail("option '--key': " + llvm::toString(parsed.takeError()));
    key = *parsed;
  }
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  esp::Model model;
  if (int code = espReadFloat(settings, context.get(), model))
    return code;
  esp::Exponents exponents;
  if (int code = espFindExponents(settings, model, context.get(), exponents))
    return code;
  auto device =
      esp::quantizeModel(model, std::move(exponents), settings.quantize);
  if (!device)
    return espFail(settings.path + ": " + llvm::toString(device.takeError()));
  if (settings.testValues)
    if (int code = addTestValues(settings, model, context.get(), *device))
      return code;
  std::vector<char> bytes = esp::writeModel(*device, key);
  if (int code = espWriteText(settings.output, {bytes.data(), bytes.size()}))
    return code;
  llvm::SmallString<128> beside(settings.output);
  llvm::sys::path::replace_extension(beside, ".info");
  if (int code = espWriteText(beside, esp::writeInfo(*device)))
    return code;
  llvm::sys::path::replace_extension(beside, ".json");
  if (int code =
          espWriteText(beside, esp::writeTableJson(*device, settings.quantize)))
    return code;
  if (!settings.quiet)
    llvm::outs() << settings.output << ": " << bytes.size() << " bytes, "
                 << device->nodes.size() << " nodes for "
                 << settings.quantize.chip->name << "\n";
  return Done;
}

static int quantizeAs(const Verb &verb, llvm::ArrayRef<const char *> arguments,
                      bool takesLegacy) {
  EspSettings settings;
  Arguments parser(verb);
  settings.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  StringRef extension = llvm::sys::path::extension(settings.output);
  bool legacy = takesLegacy && extension == ".cpp";
  if (std::optional<int> code = settings.finish(parser, legacy))
    return *code;
  if (!legacy && extension != ".espdl")
    return parser.wrong(takesLegacy ? "expects -o OUT.espdl or OUT.cpp"
                                    : "expects -o OUT.espdl");
  bool isFolder = legacy && llvm::sys::fs::is_directory(settings.path);
  if (!isFolder &&
      settings.table.empty() == settings.data.options.paths.empty() &&
      !settings.testValues)
    return parser.wrong("expects --data, or --table");
  if (std::optional<int> code = checkOutput(settings.output))
    return *code;
  return legacy ? espExportLegacy(settings) : runQuantize(settings);
}

static int quantize(llvm::ArrayRef<const char *> arguments) {
  return quantizeAs(espQuantizeVerb, arguments, false);
}
static int exportModel(llvm::ArrayRef<const char *> arguments) {
  return quantizeAs(espExportVerb, arguments, true);
}

static int runCalibrate(llvm::ArrayRef<const char *> arguments) {
  EspSettings settings;
  Arguments parser(espCalibrateVerb);
  settings.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  bool legacy = llvm::sys::path::extension(settings.output) == ".pickle";
  if (std::optional<int> code = settings.finish(parser, legacy))
    return *code;
  if (settings.output.empty() || settings.data.options.paths.empty())
    return parser.wrong("expects --data PATH and -o TABLE.json");
  if (std::optional<int> code = checkOutput(settings.output))
    return *code;
  if (legacy)
    return espCalibrateLegacy(settings);
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  esp::Model model;
  if (int code = espReadFloat(settings, context.get(), model))
    return code;
  esp::Exponents exponents;
  if (int code = calibrate(settings, model, context.get(), exponents))
    return code;
  llvm::json::Object list;
  for (const auto &[name, exponent] : exponents)
    list[name] = exponent;
  llvm::json::Object root{{"chip", settings.chipName},
                          {"bits", settings.bits},
                          {"method", settings.method},
                          {"exponents", std::move(list)}};
  if (int code = espWriteText(
          settings.output,
          llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root))).str()))
    return code;
  if (!settings.quiet)
    llvm::outs() << settings.output << ": exponents of " << exponents.size()
                 << " tensors\n";
  return Done;
}

static int check(llvm::ArrayRef<const char *> arguments) {
  EspSettings settings;
  Arguments parser(espCheckVerb);
  parser.positional("MODEL", settings.path).option("chip", settings.chipName);
  settings.model.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = settings.finish(parser))
    return *code;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  esp::Model model;
  if (int code = espReadFloat(settings, context.get(), model))
    return code;
  llvm::outs() << settings.path << ": all " << model.nodes.size()
               << " nodes run on the " << settings.chipName << "\n";
  return Done;
}

#define ONNXQ_ESP_OPTIONS                                                      \
  R"(  --chip NAME         esp32s3 (default), esp32p4, esp32c3, esp32, esp32s2, ...
  --bits 8|16         of activations and weights (8); --int16-nodes A,B for some
  --granularity G     per-tensor or per-channel weights (the chip's default)
  --method M          kl (default), minmax or percentile
  --dim NAME=VALUE, --input-shape NAME=SHAPE; --quiet
)"

const Verb onnxquant::cli::espCheckVerb = {
    "esp check", "whether ESP-DL runs a model",
    R"(usage: onnxq esp check MODEL [options]

Tells which nodes of a float model ESP-DL's runtime can't run, and why: before
anything is calibrated or flashed.

  --chip NAME  esp32s3 (default), esp32p4, esp32c3, esp32, esp32s2, ...
  --dim NAME=VALUE, --input-shape NAME=SHAPE

example: onnxq esp check model.onnx
)",
    check};

const Verb onnxquant::cli::espCalibrateVerb = {
    "esp calibrate", "find the exponents of a model's tensors",
    R"(usage: onnxq esp calibrate MODEL --data PATH -o TABLE.json [options]

Runs samples through a float model with quantized weights and writes the
exponent of each tensor: a real number is the integer times 2^exponent.

)" ONNXQ_ESP_OPTIONS
    R"(  --data PATH, --limit N, ...   samples, as for 'onnxq calibrate'

example: onnxq esp calibrate model.onnx --data samples.npy -o table.json
)",
    runCalibrate};

const Verb onnxquant::cli::espQuantizeVerb = {
    "esp quantize", "quantize a float model into a .espdl file",
    R"(usage: onnxq esp quantize MODEL --data PATH -o OUT.espdl [options]
       onnxq esp quantize MODEL --table FILE -o OUT.espdl [options]

Quantizes a float model by powers of two, as ESP-DL's kernels compute, and
writes it in the chip's layout, with OUT.info and OUT.json beside it.

)" ONNXQ_ESP_OPTIONS
    R"(  --table FILE        exponents from 'esp calibrate', from the .json of ESP-DL's
                      quantizer, or from a .espdl file
  --test-values       add the first sample and what the chip makes of it
  --table-step N      distance of inputs of int16 tables (256)
  --key HEX           encrypt with AES-128: 32 hexadecimal digits
  --data PATH, --limit N, ...   samples, as for 'onnxq calibrate'

example: onnxq esp quantize model.onnx --data samples.npy -o model.espdl
)",
    quantize};

const Verb onnxquant::cli::espExportVerb = {
    "esp export", "write a model for a chip",
    R"(usage: onnxq esp export MODEL --data PATH|--table FILE -o OUT [options]
       onnxq esp export FOLDER -o OUT.cpp [options]

OUT.espdl is what 'onnxq esp quantize' writes; see there for options. OUT.cpp is
for ESP-DL v1.x: the coefficients as C++, with OUT.hpp beside it, by that
toolkit's rules. A FOLDER has the coefficients as .npy, and a config.json.

  --chip NAME         esp32s3 (default), esp32, esp32s2 or esp32c3 for .cpp
  --bits 8|16, --granularity per-tensor|per-channel
  --table FILE        exponents: .json, or the .pickle of the old calibrator

example: onnxq esp export model.onnx --data samples.npy --bits 16 -o model.cpp
)",
    exportModel};
