// onnxq: verbs over the pipelines.

#include "Config.h"
#include "OnnxQuant/Support/Crash.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Version.h"
#include "OnnxQuant/Target/Target.h"
#include "Pages.h"
#include "Verb.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

static const Verb *const verbs[] = {
    &infoVerb,  &preprocessVerb, &calibrateVerb,   &mergeVerb,   &quantizeVerb,
    &debugVerb, &evaluateVerb,   &sensitivityVerb, &compileVerb, &runVerb,
    &benchVerb, &generateVerb,   &testVerb,        &espVerb};

/// What can stand in the place of a verb.
static constexpr StringLiteral others[] = {"help", "version", "completion",
                                           "man"};

ArrayRef<const Verb *> onnxquant::cli::allVerbs() { return verbs; }

static void printVerbs(raw_ostream &os) {
  os << "onnxq: float ONNX models into int8 programs\n\n"
        "usage: onnxq VERB ...\n\n";
  for (const Verb *verb : verbs)
    os << "  " << left_justify(verb->name, 12) << verb->summary << "\n";
  os << "\n'onnxq help VERB' tells more, with an example. Beside verbs:\n"
        "'onnxq --version', 'onnxq completion bash|zsh|fish', 'onnxq man "
        "[VERB]'.\n";
}

static int runVerbNamed(StringRef name, ArrayRef<const char *> arguments) {
  for (const Verb *verb : verbs)
    if (verb->name == name)
      return runWithConfig(*verb, arguments);
  std::vector<std::string> names = {"--help", "--version"};
  for (StringRef other : others)
    names.push_back(other.str());
  for (const Verb *verb : verbs)
    names.push_back(verb->name.str());
  std::string nearest = nearestName(name, names, /*farthest=*/2);
  errs() << "error: onnxq has no verb '" << name << "'"
         << (nearest.empty() ? "" : ", did you mean '" + nearest + "'?")
         << "; see 'onnxq --help'\n";
  return BadUsage;
}

static int help(ArrayRef<const char *> arguments) {
  // What isn't a verb is explained beside them.
  if (arguments.empty() ||
      is_contained(others, StringRef(arguments[0]).ltrim('-'))) {
    printVerbs(outs());
    return Done;
  }
  std::vector<const char *> asked(arguments.begin() + 1, arguments.end());
  asked.push_back("--help");
  return runVerbNamed(arguments[0], asked);
}

int main(int argc, char **argv) {
  llvm_shutdown_obj shutDown;
  installCrashHandler(argc, argv, shortVersion());
  installInterrupts();
  Phase::show(true);
  if (argc < 2) {
    printVerbs(errs());
    return BadUsage;
  }
  StringRef name = argv[1];
  ArrayRef<const char *> arguments(argv + 2, argc - 2);
  if (name == "--help" || name == "-h" || name == "help")
    return help(arguments);
  if (name == "--version" || name == "-V" || name == "version") {
    outs() << versionText("onnxq");
    return Done;
  }
  if (name == "completion")
    return printCompletion(arguments);
  if (name == "man")
    return printManual(arguments);
  return interruptedStatus(runVerbNamed(name, arguments));
}
