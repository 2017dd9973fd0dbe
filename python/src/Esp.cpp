// ESP-DL for Python. Models go in as everywhere; tables, sources and graphs
// that compute what the chip computes come out as bytes and text.

#include "Esp.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Pipelines/Esp.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "Output.h"
#include "Samples.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::python;

/// What a toolkit of v1.x was told: bits, granularity, chip.
static esp::QuantizeOptions readOptions(Options given) {
  esp::QuantizeOptions options;
  options.legacy = true;
  options.bits = given.integer("bits", 8);
  options.perChannel = given.text("granularity") == "per-channel";
  std::string chip = given.text("chip", "esp32s3");
  options.chip = esp::findChip(chip);
  if (!options.chip ||
      !llvm::is_contained({"esp32", "esp32s2", "esp32c3", "esp32s3"}, chip))
    throwError("Usage", "chip expects esp32, esp32s2, esp32c3 or esp32s3, but "
                        "got '" +
                            chip + "'");
  return options;
}

/// The model made ready. What the kernels lack is in `reasons`.
static LogicalResult prepare(ModuleOp module,
                             const esp::QuantizeOptions &options,
                             esp::Prepared &prepared, bool refuses = true) {
  auto made = esp::prepareModule(module, options);
  if (failed(made))
    return failure();
  prepared = std::move(*made);
  if (!refuses || prepared.reasons.empty())
    return success();
  return module.emitError() << llvm::join(prepared.reasons, "; ");
}

/// (bytes or None, changes as JSON).
static py::tuple optimize(const py::object &model,
                          const std::vector<std::string> &passes,
                          const std::string &batch, const std::string &out) {
  checkOut(out);
  Call call("ModelError", py::none());
  auto module = call.read(readModelArgument(model));
  llvm::json::Array changes;
  std::string bytes;
  call.run([&]() -> LogicalResult {
    requestReport(*module);
    if (failed(esp::optimizeModule(*module, passes, batch)))
      return failure();
    changes = changesOf(*module);
    return write(*module, out, {}, bytes);
  });
  return py::make_tuple(
      bytesOrNone(out, bytes),
      llvm::formatv("{0}", llvm::json::Value(std::move(changes))).str());
}

/// Why nodes can't run, a line for each.
static std::vector<std::string> checkModel(const py::object &model) {
  Call call("ModelError", py::none());
  auto module = call.read(readModelArgument(model));
  esp::QuantizeOptions options;
  options.legacy = true;
  options.chip = esp::findChip("esp32s3");
  esp::Prepared prepared;
  call.run(
      [&]() { return prepare(*module, options, prepared, /*refuses=*/false); });
  return prepared.reasons;
}

/// The quantized model, by a table or by samples.
static esp::Model quantize(Call &call, const py::object &model,
                           const esp::QuantizeOptions &options,
                           const std::string &table,
                           const esp::MeasureOptions *measure) {
  auto module = call.read(readModelArgument(model));
  esp::Model device;
  call.run([&]() -> LogicalResult {
    esp::Prepared prepared;
    if (failed(prepare(*module, options, prepared)))
      return failure();
    esp::Exponents exponents;
    if (measure) {
      auto measured =
          esp::measure(prepared.model, options, *measure, call.context());
      if (failed(measured))
        return failure();
      exponents = std::move(measured->exponents);
    } else {
      auto read = esp::readExponents(table);
      if (!read)
        return call.fail(read.takeError());
      exponents = std::move(*read);
    }
    auto made =
        esp::quantizeModel(prepared.model, std::move(exponents), options);
    if (!made)
      return call.fail(made.takeError());
    device = std::move(*made);
    return success();
  });
  return device;
}

/// The pickled table of scales.
static py::bytes makeTable(const py::object &model, const py::dict &options,
                           const py::object &samples, int64_t size,
                           const py::object &progress) {
  Call call("CalibrationError", progress);
  Options given(options);
  esp::MeasureOptions measure;
  measure.method = given.text("method", "minmax") == "entropy"
                       ? esp::Observer::Method::OldEntropy
                       : esp::Observer::Method::OldMinMax;
  constexpr int64_t none = 1 << 20;
  int64_t exponent = given.integer("input_exponent", none);
  if (exponent != none)
    measure.inputExponent = exponent;
  measure.data.source = readSamples(call, samples, size);
  measure.interrupted = [&call]() { return call.isInterrupted(); };
  esp::Model device = quantize(call, model, readOptions(given), "", &measure);
  return py::bytes(esp::writePickle(esp::legacyTable(device)));
}

/// (exponent of each input, of each layer's output): name, op, exponent.
static py::list describeExponents(const esp::Model &device) {
  py::list rows;
  for (const esp::Value &value : device.inputs)
    rows.append(py::make_tuple(value.name, "", value.exponent()));
  for (const esp::Node &node : device.nodes)
    if (const esp::Value *value = device.findValue(node.outputs[0]))
      rows.append(py::make_tuple(node.name, node.opType, value->exponent()));
  return rows;
}

/// (source, header, model, exponents); the model is empty without a class.
static py::tuple exportSources(const py::object &model,
                               const std::string &table,
                               const py::dict &options, const std::string &name,
                               const std::string &className) {
  Call call("QuantizeError", py::none());
  esp::Model device =
      quantize(call, model, readOptions(Options(options)), table, nullptr);
  std::vector<esp::LegacyLayer> layers = esp::legacyLayers(device);
  esp::LegacyFiles files = esp::writeLegacy(layers, name);
  std::string definition;
  if (!className.empty())
    definition = unwrap("QuantizeError",
                        esp::writeLegacyModel(device, layers, className, name));
  return py::make_tuple(files.source, files.header, definition,
                        describeExponents(device));
}

static py::list describeValues(const std::vector<esp::Value> &values) {
  py::list rows;
  for (const esp::Value &value : values)
    rows.append(py::make_tuple(value.name, esp::nameOf(value.type), value.dims,
                               value.exponent()));
  return rows;
}

/// A graph of integers that computes what the chip does, and its inputs and
/// outputs: name, type, shape, exponent.
static py::tuple simulate(const py::object &model, const std::string &table,
                          const py::dict &options) {
  Call call("QuantizeError", py::none());
  esp::QuantizeOptions quantization = readOptions(Options(options));
  esp::Model device = quantize(call, model, quantization, table, nullptr);
  esp::SimulationOptions simulation;
  simulation.chip = quantization.chip;
  simulation.legacy = true;
  simulation.lanes = true;
  std::string bytes =
      unwrap("QuantizeError", esp::simulate(device, simulation));
  return py::make_tuple(py::bytes(bytes), describeValues(device.inputs),
                        describeValues(device.outputs));
}

void python::defineEsp(py::module_ &module) {
  module.def("esp_optimize", &optimize, py::arg("model"), py::arg("passes"),
             py::arg("batch"), py::arg("out"));
  module.def("esp_check", &checkModel, py::arg("model"));
  module.def("esp_table", &makeTable, py::arg("model"), py::arg("options"),
             py::arg("samples"), py::arg("size"), py::arg("progress"));
  module.def("esp_export", &exportSources, py::arg("model"), py::arg("table"),
             py::arg("options"), py::arg("name"), py::arg("class_name"));
  module.def("esp_simulate", &simulate, py::arg("model"), py::arg("table"),
             py::arg("options"));
}
