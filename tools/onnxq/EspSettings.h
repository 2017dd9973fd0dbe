// Options and steps that verbs for float models share.

#ifndef ONNXQUANT_TOOLS_ONNXQ_ESPSETTINGS_H
#define ONNXQUANT_TOOLS_ONNXQ_ESPSETTINGS_H

#include "DataArguments.h"
#include "Esp.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/Esp.h"
#include "llvm/Support/JSON.h"

namespace onnxquant::cli {

struct EspSettings {
  std::string path, output, table, chipName = "esp32s3", granularity,
                                   method = "kl", wideNodes, keyText,
                                   modelClass, config, modelName;
  int64_t bits = 8, tableStep = 256;
  bool testValues = false, quiet = false, json = false, equalize = false,
       scaleChannels = false, correctBiases = false;
  std::string maxWide;
  /// What `--json` prints at the end.
  llvm::json::Object told;
  DataArguments data;
  ModelOptions model;
  esp::QuantizeOptions quantize;
  esp::MeasureOptions measure;
  esp::MixedOptions mixed;

  void declare(Arguments &parser);
  /// Checks the options; an exit code says that they are wrong. `legacy` is for
  /// the toolkit before .espdl.
  std::optional<int> finish(const Arguments &parser, bool legacy = false);
};

// Each reports its errors; the exit code says whether there were any.

/// Reads a model, folds and fuses what ESP-DL's own tool does, and gives open
/// batches the size 1.
int espReadFloat(const EspSettings &settings, mlir::MLIRContext &context,
                 esp::Model &model);
/// Exponents from `--table`, or measured with `--data`. The model's channels
/// and biases change where options ask for that.
int espFindExponents(EspSettings &settings, esp::Model &model,
                     mlir::MLIRContext &context, esp::Exponents &exponents);
/// All of it: from the file to the model for the device.
int espQuantize(EspSettings &settings, mlir::MLIRContext &context,
                esp::Model &floats, esp::Model &device);
/// Ends a verb: with what was told as JSON, or with this line.
int espTell(EspSettings &settings, const llvm::Twine &line);
/// Writes files that are one output.
int espWrite(llvm::ArrayRef<std::pair<std::string, std::string>> files);

/// `esp export` to .cpp, `esp calibrate` to .pickle.
int espExportLegacy(EspSettings &settings);
int espCalibrateLegacy(EspSettings &settings);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_ESPSETTINGS_H
