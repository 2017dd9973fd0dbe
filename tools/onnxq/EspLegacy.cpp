// The toolkit before .espdl: export to C++, its table, its arithmetic.

#include "EspSettings.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

int cli::espQuantizeLegacy(EspSettings &settings, esp::Model &device) {
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  esp::Model model;
  if (int code = espReadFloat(settings, context.get(), model))
    return code;
  esp::Exponents exponents;
  if (int code = espFindExponents(settings, model, context.get(), exponents))
    return code;
  auto made =
      esp::quantizeModel(model, std::move(exponents), settings.quantize);
  if (!made)
    return espFail(settings.path + ": " + llvm::toString(made.takeError()));
  device = std::move(*made);
  return Done;
}

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
  if (llvm::sys::fs::is_directory(settings.path)) {
    llvm::SmallString<128> config(settings.path);
    llvm::sys::path::append(config, "config.json");
    auto read =
        esp::readConvertFolder(settings.path, config, *settings.quantize.chip,
                               settings.quantize.perChannel);
    if (!read)
      return espFail(read.takeError());
    layers = std::move(*read);
  } else {
    esp::Model device;
    if (int code = espQuantizeLegacy(settings, device))
      return code;
    layers = esp::legacyLayers(device);
    if (!settings.quiet)
      printExponents(device);
  }
  esp::LegacyFiles files =
      esp::writeLegacy(layers, llvm::sys::path::stem(settings.output));
  llvm::SmallString<128> header(settings.output);
  llvm::sys::path::replace_extension(header, ".hpp");
  if (int code = espWriteText(settings.output, files.source))
    return code;
  return espWriteText(header, files.header);
}

int cli::espCalibrateLegacy(EspSettings &settings) {
  esp::Model device;
  if (int code = espQuantizeLegacy(settings, device))
    return code;
  esp::ScaleTable table;
  auto add = [&](const std::string &name, llvm::ArrayRef<int64_t> exponents) {
    for (int64_t exponent : exponents)
      table[name].push_back(std::ldexp(1.0, exponent));
  };
  for (const esp::Value &value : device.values)
    add(value.name, value.exponents);
  for (const esp::Tensor &tensor : device.initializers)
    if (tensor.type == esp::Int8 || tensor.type == esp::Int16)
      add(tensor.name, tensor.exponents);
  if (int code = espWriteText(settings.output, esp::writePickle(table)))
    return code;
  if (!settings.quiet)
    llvm::outs() << settings.output << ": scales of " << table.size()
                 << " tensors\n";
  return Done;
}
