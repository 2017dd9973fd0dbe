// A verb of `onnxq`: its options and what it does.

#ifndef ONNXQUANT_TOOLS_ONNXQ_VERB_H
#define ONNXQUANT_TOOLS_ONNXQ_VERB_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace onnxquant::cli {

/// Exit codes that users and scripts rely on.
enum ExitCode { Done = 0, BadInput = 1, BadUsage = 2 };

struct Verb {
  llvm::StringLiteral name;
  /// One line for the list of verbs.
  llvm::StringLiteral summary;
  /// What `--help` prints: usage, options, an example.
  llvm::StringLiteral help;
  /// Runs with the arguments after the verb.
  int (*run)(llvm::ArrayRef<const char *> arguments);
};

/// All of them, in the order of the way from a model to a program.
llvm::ArrayRef<const Verb *> allVerbs();

extern const Verb benchVerb;
extern const Verb calibrateVerb;
extern const Verb compileVerb;
extern const Verb debugVerb;
extern const Verb espVerb;
extern const Verb evaluateVerb;
extern const Verb generateVerb;
extern const Verb infoVerb;
extern const Verb mergeVerb;
extern const Verb runVerb;
extern const Verb preprocessVerb;
extern const Verb quantizeVerb;
extern const Verb sensitivityVerb;
extern const Verb testVerb;

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_VERB_H
