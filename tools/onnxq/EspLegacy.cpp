// The toolkit before .espdl: export to C++, its table.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

static void printExponents(const esp::Model &device) {
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
    if (!settings.quiet)
      printExponents(device);
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
  return espWrite(texts);
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
  if (!settings.quiet)
    llvm::outs() << settings.output << ": scales of " << table.size()
                 << " tensors\n";
  return Done;
}
