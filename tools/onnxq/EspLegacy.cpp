// The toolkit before .espdl: export to C++, its table.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// The exponents of inputs and of what layers give, as the old toolkit lists
/// them.
static void tellExponents(EspSettings &settings, const esp::Model &device) {
  llvm::json::Object inputs, layers;
  for (const esp::Value &value : device.inputs)
    inputs[value.name] = value.exponent();
  for (const esp::Node &node : device.nodes)
    if (const esp::Value *value = device.findValue(node.outputs[0]))
      layers[node.name] = value->exponent();
  settings.told["input_exponents"] = std::move(inputs);
  settings.told["output_exponents"] = std::move(layers);
  if (settings.quiet || settings.json)
    return;
  for (const esp::Value &value : device.inputs)
    llvm::outs() << "model input name: " << value.name
                 << ", exponent: " << value.exponent() << "\n";
  for (const esp::Node &node : device.nodes)
    if (const esp::Value *value = device.findValue(node.outputs[0]))
      llvm::outs() << node.opType << " layer name: " << node.name
                   << ", output_exponent: " << value->exponent() << "\n";
}

int cli::espExportLegacy(EspSettings &settings) {
  std::vector<esp::LegacyLayer> layers;
  std::string definition;
  StringRef name = llvm::sys::path::stem(settings.output);
  if (llvm::sys::fs::is_directory(settings.path)) {
    llvm::SmallString<128> config(settings.config);
    if (config.empty()) {
      config = settings.path;
      llvm::sys::path::append(config, "config.json");
    }
    auto read =
        esp::readConvertFolder(settings.path, config, *settings.quantize.chip,
                               settings.quantize.perChannel);
    if (!read)
      return espFail(read.takeError());
    layers = std::move(*read);
  } else {
    ModelContext context;
    ModelDiagnosticHandler handler(&context.get());
    esp::Model floats, device;
    if (int code = espQuantize(settings, context.get(), floats, device))
      return code;
    layers = esp::legacyLayers(device);
    if (!settings.modelClass.empty()) {
      auto written =
          esp::writeLegacyModel(device, layers, settings.modelClass, name);
      if (!written)
        return espFail(settings.path + ": " +
                       llvm::toString(written.takeError()));
      definition = std::move(*written);
    }
    tellExponents(settings, device);
  }
  esp::LegacyFiles files = esp::writeLegacy(layers, name);
  llvm::SmallString<128> beside(settings.output);
  llvm::sys::path::replace_extension(beside, ".hpp");
  std::vector<std::pair<std::string, std::string>> texts = {
      {settings.output, files.source}, {beside.str().str(), files.header}};
  if (!definition.empty()) {
    llvm::sys::path::remove_filename(beside);
    llvm::sys::path::append(beside, "model_define.hpp");
    texts.emplace_back(beside.str(), definition);
  }
  if (int code = espWrite(texts))
    return code;
  return settings.json ? espTell(settings, "") : int(Done);
}

int cli::espCalibrateLegacy(EspSettings &settings) {
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  esp::Model floats, device;
  if (int code = espQuantize(settings, context.get(), floats, device))
    return code;
  esp::ScaleTable table = esp::legacyTable(device);
  if (int code = espWrite({{settings.output, esp::writePickle(table)}}))
    return code;
  settings.told["tensors"] = static_cast<int64_t>(table.size());
  return espTell(settings, settings.output + ": scales of " +
                               llvm::Twine(table.size()) + " tensors");
}
