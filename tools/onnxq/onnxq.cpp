// onnxq: verbs over the pipelines.

#include "OnnxQuant/Support/NearestName.h"
#include "Verb.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

static const Verb *const verbs[] = {
    &infoVerb,     &preprocessVerb, &calibrateVerb, &mergeVerb,
    &quantizeVerb, &debugVerb,      &evaluateVerb,  &sensitivityVerb,
    &compileVerb,  &runVerb,        &benchVerb,     &testVerb};

static void printVerbs(raw_ostream &os) {
  os << "onnxq: float ONNX models into int8 programs\n\n"
        "usage: onnxq VERB ...\n\n";
  for (const Verb *verb : verbs)
    os << "  " << left_justify(verb->name, 12) << verb->summary << "\n";
  os << "\n'onnxq VERB --help' tells more, with an example.\n";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  if (argc < 2) {
    printVerbs(errs());
    return BadUsage;
  }
  StringRef name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    printVerbs(outs());
    return Done;
  }
  if (name == "--version") {
    outs() << "onnxq " << ONNXQUANT_VERSION << "\n";
    return Done;
  }
  for (const Verb *verb : verbs)
    if (verb->name == name)
      return verb->run(ArrayRef<const char *>(argv + 2, argc - 2));
  std::vector<std::string> names;
  for (const Verb *verb : verbs)
    names.push_back(verb->name.str());
  std::string nearest = nearestName(name, names, /*farthest=*/2);
  errs() << "error: onnxq has no verb '" << name << "'"
         << (nearest.empty() ? "" : ", did you mean '" + nearest + "'?")
         << "; see 'onnxq --help'\n";
  return BadUsage;
}
