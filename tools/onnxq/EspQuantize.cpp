// onnxq esp check, calibrate, quantize, export: from a float model to a .espdl
// file.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

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
      .option("model-class", modelClass)
      .option("config", config)
      .option("model", modelName)
      .option("min-sqnr", mixed.minSqnr)
      .option("max-int16", maxWide)
      .flag("equalize", equalize)
      .flag("scale-channels", scaleChannels)
      .flag("bias-correction", correctBiases)
      .flag("test-values", testValues)
      .flag("quiet", quiet)
      .flag("json", json);
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
  if (settings.bits == 16 &&
      (settings.granularity == "per-channel" || settings.method != "minmax"))
    return parser.wrong("int16 is per-tensor and minmax in ESP-DL v1.x");
  if (!settings.wideNodes.empty() || !settings.keyText.empty() ||
      settings.testValues || settings.mixed.minSqnr > 0)
    return parser.wrong("--int16-nodes, --min-sqnr, --key and --test-values "
                        "are for .espdl");
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
  if (!legacy && (!modelClass.empty() || !config.empty()))
    return parser.wrong("--model-class and --config are for .cpp");
  if (!legacy && quantize.perChannel && !quantize.chip->isPerChannel)
    return parser.wrong("kernels of the " + chipName +
                        " have one exponent per filter: --granularity "
                        "per-channel is for esp32p4 and esp32s31");
  using Method = esp::Observer::Method;
  if (method == "kl" || method == "entropy")
    measure.method = legacy ? Method::OldEntropy : Method::KL;
  else if (method == "minmax")
    measure.method = legacy ? Method::OldMinMax : Method::MinMax;
  else if (method == "percentile" && !legacy)
    measure.method = Method::Percentile;
  else
    return parser.wrong(
        "option '--method' expects " +
        std::string(legacy ? "minmax or entropy" : "kl, minmax or percentile") +
        ", but got '" + method + "'");
  if (tableStep < 1 || 65536 % tableStep)
    return parser.wrong("option '--table-step' expects a power of two, but "
                        "got " +
                        std::to_string(tableStep));
  quantize.tableStep = tableStep;
  if (equalize && scaleChannels)
    return parser.wrong("--equalize and --scale-channels exclude each other");
  if (!table.empty() && (correctBiases || mixed.minSqnr > 0))
    return parser.wrong("--bias-correction and --min-sqnr measure with --data; "
                        "they don't go with --table");
  StringRef share = maxWide;
  share.consume_back("%");
  double percent = 100;
  if (!share.empty() && (share.getAsDouble(percent) || percent < 0 ||
                         percent > 100 || mixed.minSqnr <= 0))
    return parser.wrong("option '--max-int16' expects a share such as 20%, "
                        "with --min-sqnr, but got '" +
                        maxWide + "'");
  mixed.maxShare = percent / 100;
  if (mixed.minSqnr > 0 && bits == 16)
    return parser.wrong("--min-sqnr gives nodes 16 bits; --bits is 8 with it");
  SmallVector<StringRef> names;
  StringRef(wideNodes).split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names)
    quantize.nodeBits[name.str()] = 16;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int cli::espReadFloat(const EspSettings &settings, MLIRContext &context,
                      esp::Model &model) {
  OwningOpRef<ModuleOp> module = settings.model.read(settings.path, context);
  if (!module)
    return BadInput;
  auto prepared = esp::prepareModule(*module, settings.quantize);
  if (failed(prepared))
    return BadInput;
  for (const std::string &reason : prepared->reasons)
    llvm::errs() << "error: " << settings.path << ": " << reason << "\n";
  if (!prepared->reasons.empty())
    return BadInput;
  model = std::move(prepared->model);
  return Done;
}

/// Which nodes have 16 bits, and what that gives.
static void tellMixed(EspSettings &settings, const esp::Mixed &mixed,
                      size_t numNodes) {
  settings.told["int16"] =
      llvm::json::Object{{"nodes", llvm::json::Array(mixed.nodes)},
                         {"share", mixed.share},
                         {"sqnr", mixed.sqnr},
                         {"sqnr_before", mixed.sqnrBefore}};
  if (settings.quiet || settings.json)
    return;
  llvm::outs() << llvm::formatv(
      "{0} of {1} nodes have 16 bits ({2:F1}% of the multiplications): "
      "{3:F1} dB instead of {4:F1} dB\n",
      mixed.nodes.size(), numNodes, 100 * mixed.share, mixed.sqnr,
      mixed.sqnrBefore);
  for (const std::string &name : mixed.nodes)
    llvm::outs() << "  " << name << "\n";
}

/// Exponents by samples, with what goes with them: corrected biases, nodes of
/// 16 bits.
static int measureExponents(EspSettings &settings, MLIRContext &context,
                            esp::Model &model, esp::Exponents &exponents) {
  if (llvm::Error error = settings.data.finish())
    return espFail(std::move(error)), BadUsage;
  settings.measure.data = settings.data.options;
  auto measured =
      esp::measure(model, settings.quantize, settings.measure, &context);
  if (failed(measured))
    return BadInput;
  if (settings.correctBiases)
    esp::correctBiases(model, settings.quantize, measured->means);
  if (settings.mixed.minSqnr > 0) {
    auto mixed =
        esp::chooseWideNodes(model, settings.quantize, *measured,
                             settings.measure, settings.mixed, &context);
    if (failed(mixed))
      return BadInput;
    tellMixed(settings, *mixed, model.nodes.size());
    if (mixed->sqnr < settings.mixed.minSqnr)
      llvm::errs() << llvm::formatv(
          "warning: {0}: outputs are {1:F1} dB near to float, not the {2:F1} "
          "of --min-sqnr{3}\n",
          settings.path, mixed->sqnr, settings.mixed.minSqnr,
          settings.maxWide.empty() ? "" : "; a larger --max-int16 may help");
  }
  exponents = std::move(measured->exponents);
  return Done;
}

int cli::espFindExponents(EspSettings &settings, esp::Model &model,
                          MLIRContext &context, esp::Exponents &exponents) {
  if (settings.equalize || settings.scaleChannels) {
    esp::EqualizeOptions options;
    options.powersOfTwo = settings.scaleChannels;
    if (settings.scaleChannels)
      options.threshold = 0;
    esp::equalizeChannels(model, options);
  }
  if (settings.table.empty())
    return measureExponents(settings, context, model, exponents);
  auto read = esp::readExponents(settings.table);
  if (!read)
    return espFail(read.takeError());
  exponents = std::move(*read);
  return Done;
}

int cli::espQuantize(EspSettings &settings, MLIRContext &context,
                     esp::Model &floats, esp::Model &device) {
  if (int code = espReadFloat(settings, context, floats))
    return code;
  esp::Exponents exponents;
  if (int code = espFindExponents(settings, floats, context, exponents))
    return code;
  std::vector<std::string> notes;
  settings.quantize.notes = &notes;
  // A table's exponents give what they gave where it comes from.
  settings.quantize.fitsBiases =
      settings.table.empty() && !settings.quantize.legacy;
  auto made =
      esp::quantizeModel(floats, std::move(exponents), settings.quantize);
  settings.quantize.notes = nullptr;
  if (!made)
    return espFail(settings.path + ": " + llvm::toString(made.takeError()));
  for (const std::string &note : notes)
    if (!settings.quiet)
      llvm::errs() << "note: " << settings.path << ": " << note << "\n";
  device = std::move(*made);
  return Done;
}

//===----------------------------------------------------------------------===//
// Verbs
//===----------------------------------------------------------------------===//

int cli::espWrite(llvm::ArrayRef<std::pair<std::string, std::string>> files) {
  if (llvm::Error error = writeTogether(files))
    return espFail(std::move(error));
  return Done;
}

int cli::espTell(EspSettings &settings, const llvm::Twine &line) {
  if (settings.json) {
    settings.told["chip"] = settings.quantize.chip->name;
    if (!settings.output.empty())
      settings.told["output"] = settings.output;
    llvm::outs() << llvm::formatv("{0:2}",
                                  llvm::json::Value(std::move(settings.told)))
                 << "\n";
  } else if (!settings.quiet) {
    llvm::outs() << line << "\n";
  }
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
  esp::Model floats, device;
  if (int code = espQuantize(settings, context.get(), floats, device))
    return code;
  if (settings.testValues) {
    if (llvm::Error error = settings.data.finish())
      return espFail(std::move(error)), BadUsage;
    if (failed(esp::addTestValues(floats, settings.data.options,
                                  *settings.quantize.chip, &context.get(),
                                  device)))
      return BadInput;
  }
  std::vector<char> bytes = esp::writeModel(device, key);
  llvm::SmallString<128> info(settings.output), table(settings.output);
  llvm::sys::path::replace_extension(info, ".info");
  llvm::sys::path::replace_extension(table, ".json");
  if (int code =
          espWrite({{settings.output, std::string(bytes.begin(), bytes.end())},
                    {info.str().str(), esp::writeInfo(device)},
                    {table.str().str(),
                     esp::writeTableJson(device, settings.quantize)}}))
    return code;
  settings.told["bytes"] = static_cast<int64_t>(bytes.size());
  settings.told["nodes"] = static_cast<int64_t>(device.nodes.size());
  return espTell(settings, settings.output + ": " + llvm::Twine(bytes.size()) +
                               " bytes, " + llvm::Twine(device.nodes.size()) +
                               " nodes for " + settings.quantize.chip->name);
}

/// A .espdl file as ordinary ONNX.
static int exportEspdl(EspSettings &settings, const Arguments &parser) {
  if (!isModelOutput(settings.output))
    return parser.wrong("a .espdl file becomes OUT.onnx, OUT.mlir or "
                        "OUT.mlirbc");
  if (!settings.table.empty() || !settings.data.options.paths.empty())
    return parser.wrong("a .espdl file is quantized already: no --data, no "
                        "--table");
  if (std::optional<int> code = checkOutput(settings.output))
    return *code;
  EspFileOptions file = {settings.path, settings.keyText, settings.modelName};
  esp::Entry entry;
  if (int code = file.readOne(entry))
    return code;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  const esp::Chip *chip = parser.isGiven("chip")
                              ? settings.quantize.chip
                              : esp::likelyChips(entry.model).front();
  OwningOpRef<ModuleOp> module =
      esp::importQdq(entry.model, *chip, settings.path, &context.get());
  if (!module || failed(onnxquant::writeModel(*module, settings.output)))
    return BadInput;
  settings.quantize.chip = chip;
  settings.told["nodes"] = static_cast<int64_t>(entry.model.nodes.size());
  return settings.json ? espTell(settings, "") : int(Done);
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
  if (takesLegacy && llvm::sys::path::extension(settings.path) == ".espdl")
    return exportEspdl(settings, parser);
  if (!legacy && extension != ".espdl")
    return parser.wrong(takesLegacy ? "expects -o OUT.espdl or OUT.cpp"
                                    : "expects -o OUT.espdl");
  bool isFolder = legacy && llvm::sys::fs::is_directory(settings.path);
  if (isFolder ? !settings.modelClass.empty() : !settings.config.empty())
    return parser.wrong(isFolder ? "coefficients alone say nothing of the "
                                   "network: --model-class takes a model"
                                 : "--config goes with a folder of .npy");
  if (!isFolder &&
      settings.table.empty() == settings.data.options.paths.empty() &&
      !settings.testValues)
    return parser.wrong("expects --data, or --table");
  if (settings.testValues && settings.data.options.paths.empty())
    return parser.wrong("--test-values takes the first sample of --data, which "
                        "isn't given");
  if (std::optional<int> code = checkOutput(settings.output))
    return *code;
  return legacy ? espExportLegacy(settings) : runQuantize(settings);
}

static int quantize(llvm::ArrayRef<const char *> arguments) {
  return quantizeAs(espQuantizeVerb, arguments, false);
}
static int exportAs(llvm::ArrayRef<const char *> arguments) {
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
  if (int code = espFindExponents(settings, model, context.get(), exponents))
    return code;
  llvm::json::Object list;
  for (const auto &[name, exponent] : exponents)
    list[name] = exponent;
  llvm::json::Object root{{"chip", settings.chipName},
                          {"bits", settings.bits},
                          {"method", settings.method},
                          {"exponents", std::move(list)}};
  if (int code = espWrite(
          {{settings.output,
            llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)))
                .str()}}))
    return code;
  settings.told["tensors"] = static_cast<int64_t>(exponents.size());
  return espTell(settings, settings.output + ": exponents of " +
                               llvm::Twine(exponents.size()) + " tensors");
}

static int check(llvm::ArrayRef<const char *> arguments) {
  EspSettings settings;
  Arguments parser(espCheckVerb);
  parser.positional("MODEL", settings.path)
      .option("chip", settings.chipName)
      .option("bits", settings.bits)
      .flag("json", settings.json);
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
  settings.told["model"] = settings.path;
  settings.told["nodes"] = static_cast<int64_t>(model.nodes.size());
  return espTell(settings, settings.path + ": all " +
                               llvm::Twine(model.nodes.size()) +
                               " nodes run on the " + settings.chipName);
}

#define ONNXQ_ESP_OPTIONS                                                      \
  R"(  --chip NAME         esp32s3 (default), esp32p4, esp32c3, esp32, esp32s2, ...
  --bits 8|16         of activations and weights (8); --int16-nodes A,B for some
  --granularity G     per-tensor or per-channel weights (the chip's default)
  --method M          kl (default), minmax or percentile
  --dim NAME=VALUE, --input-shape NAME=SHAPE; --json, --quiet
)"

const Verb onnxquant::cli::espCheckVerb = {
    "esp check", "whether ESP-DL runs a model",
    R"(usage: onnxq esp check MODEL [options]

Tells which nodes of a float model ESP-DL's runtime can't run, and why: before
anything is calibrated or flashed.

  --chip NAME  esp32s3 (default), esp32p4, esp32c3, esp32, esp32s2, ...
  --bits 8|16  of activations and weights (8)
  --dim NAME=VALUE, --input-shape NAME=SHAPE; --json

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
  --min-sqnr DB       give nodes 16 bits until outputs are that near to float,
                      --max-int16 20%: at most that share of multiplications
  --scale-channels    make channels alike by powers of two, which rounds nothing;
                      --equalize: by any factor, as ESP-DL's quantizer can
  --bias-correction   add to biases what rounded weights take from means
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
       onnxq esp export FILE.espdl -o OUT.onnx [--key HEX] [--model NAME]

OUT.espdl is what 'onnxq esp quantize' writes; see there for options. OUT.cpp is
for ESP-DL v1.x: the coefficients as C++, with OUT.hpp beside it, by that
toolkit's rules. A FOLDER has the coefficients as .npy, and a config.json. A
.espdl file becomes a float model with quantizers, in ONNX's layout.

  --chip NAME         esp32s3 (default), esp32, esp32s2 or esp32c3 for .cpp
  --bits 8|16, --granularity per-tensor|per-channel
  --method minmax|entropy
  --table FILE        exponents: .json, or the .pickle of the old calibrator
  --model-class NAME  also write model_define.hpp beside OUT.cpp: a class that
                      builds the network with the layers of ESP-DL v1.x
  --config FILE       of a FOLDER (config.json in it)
  --json, --quiet

example: onnxq esp export model.onnx --data samples.npy --bits 16 -o model.cpp
)",
    exportAs};
