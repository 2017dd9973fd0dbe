// What the verbs of `onnxq esp` share.

#ifndef ONNXQUANT_TOOLS_ONNXQ_ESP_H
#define ONNXQUANT_TOOLS_ONNXQ_ESP_H

#include "Arguments.h"
#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/ESP/Espdl.h"
#include "llvm/Support/Error.h"

namespace onnxquant::cli {

extern const Verb espInfoVerb;
extern const Verb espEvaluateVerb;
extern const Verb espCheckVerb;
extern const Verb espCalibrateVerb;
extern const Verb espQuantizeVerb;
extern const Verb espExportVerb;

/// `--key` and `--model`: what opens a .espdl file.
struct EspFileOptions {
  std::string path, keyText, modelName;

  void declare(Arguments &arguments);
  /// All models of the file. Errors have been reported if the exit code isn't
  /// Done.
  int read(esp::Package &package) const;
  /// The one model that is meant.
  int readOne(esp::Entry &entry) const;
};

/// Prints an error; the exit code for it.
int espFail(llvm::Error error);
int espFail(const llvm::Twine &message);

/// Some old files declare an input otherwise than their test values have it;
/// those count.
void espFollowTestInputs(esp::Model &model);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_ESP_H
