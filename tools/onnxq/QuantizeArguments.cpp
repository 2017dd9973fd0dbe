// The options of quantization on the command line.

#include "QuantizeArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

/// What such options of text are if nobody says: they are flags all the same.
static StringRef thirdValue(StringRef name) {
  return is_contained({"symmetric-weights", "matmul-const-b-only"}, name)
             ? "auto"
             : "";
}

void QuantizeArguments::declare(Arguments &arguments) {
  for (StringRef name : quantizeOptionNames()) {
    auto set = [this, name](StringRef value) {
      given.push_back({name.str(), value.str()});
      return true;
    };
    if (isQuantizeFlag(name) || name == "asymmetric-input-types" ||
        !thirdValue(name).empty())
      arguments.flag(name, set, thirdValue(name));
    else
      arguments.option(name, set);
  }
}

bool QuantizeArguments::isGiven(StringRef name) const {
  return any_of(given, [&](const Given &each) { return each.name == name; });
}

std::optional<int> QuantizeArguments::read(const Verb &verb,
                                           QuantizeOptions &options) const {
  for (const Given &each : given)
    if (Error error = setQuantizeOption(options, each.name, each.value)) {
      errs() << "error: onnxq " << verb.name << ": "
             << toString(std::move(error)) << "\n";
      return BadUsage;
    }
  if (Error error = checkQuantizeOptions(options)) {
    errs() << "error: onnxq " << verb.name << ": " << toString(std::move(error))
           << "; see 'onnxq " << verb.name << " --help'\n";
    return BadUsage;
  }
  return std::nullopt;
}
