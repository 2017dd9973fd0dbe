// One model through import, shape inference and export, silently. What a tool
// would print as an error counts as a refusal; crashes are left to the
// sanitizers.

#ifndef ONNXQUANT_FUZZ_MODELCASE_H
#define ONNXQUANT_FUZZ_MODELCASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace onnxquant::fuzz {

/// How far a model came. Each stage follows the one before it.
enum class Outcome { Refused, Imported, Inferred, Exported };

struct CaseResult {
  Outcome outcome = Outcome::Refused;
  /// The first error of the stage that failed.
  std::string error;
  /// What must not be, such as a refusal without an error; empty if all is
  /// well.
  std::string problem;
};

/// Runs one model; `scratch` is a file that may be written, and is removed.
CaseResult runModel(llvm::ArrayRef<char> bytes, llvm::StringRef scratch);

/// Reads a model's text, and what it prints as, again.
CaseResult runText(llvm::StringRef text);

} // namespace onnxquant::fuzz

#endif // ONNXQUANT_FUZZ_MODELCASE_H
