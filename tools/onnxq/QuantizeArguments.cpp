// The options of quantization on the command line.

#include "QuantizeArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

/// `--name=value`, `--name value`, and `--name` for flags.
std::optional<std::string>
QuantizeArguments::split(ArrayRef<const char *> arguments,
                         std::vector<const char *> &others) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    auto [name, value] = argument.split('=');
    bool known =
        name.consume_front("--") && is_contained(quantizeOptionNames(), name);
    if (!known) {
      others.push_back(arguments[i]);
      continue;
    }
    if (!argument.contains('=')) {
      if (isQuantizeFlag(name))
        value = "true";
      else if (i + 1 == arguments.size())
        return "option '--" + name.str() + "' expects a value";
      else
        value = arguments[++i];
    }
    given.push_back({name.str(), value.str()});
  }
  return std::nullopt;
}

bool QuantizeArguments::isGiven(StringRef name) const {
  return any_of(given, [&](const Given &each) { return each.name == name; });
}

std::optional<int> QuantizeArguments::read(const Verb &verb,
                                           QuantizeOptions &options) const {
  if (!config.empty()) {
    auto set = [&](StringRef name, StringRef value) {
      return isGiven(name) ? Error::success()
                           : setQuantizeOption(options, name, value);
    };
    if (Error error = readQuantizeConfig(config, set)) {
      errs() << "error: " << toString(std::move(error)) << "\n";
      return BadInput;
    }
  }
  for (const Given &each : given)
    if (Error error = setQuantizeOption(options, each.name, each.value)) {
      errs() << "error: onnxq " << verb.name << ": "
             << toString(std::move(error)) << "\n";
      return BadUsage;
    }
  return std::nullopt;
}
