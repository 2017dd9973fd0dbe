// onnxq esp: ESP-DL's models. Each verb below it has a file of its own.

#include "Esp.h"
#include "OnnxQuant/Support/NearestName.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace onnxquant;
using namespace onnxquant::cli;
using llvm::StringRef;

static const Verb *const verbs[] = {&espInfoVerb,      &espCheckVerb,
                                    &espCalibrateVerb, &espQuantizeVerb,
                                    &espExportVerb,    &espEvaluateVerb};

int cli::espFail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return BadInput;
}

int cli::espFail(llvm::Error error) {
  return espFail(llvm::toString(std::move(error)));
}

void EspFileOptions::declare(Arguments &arguments) {
  arguments.option("key", keyText).option("model", modelName);
}

int EspFileOptions::read(esp::Package &package) const {
  std::optional<esp::Key> key;
  if (!keyText.empty()) {
    auto parsed = esp::parseKey(keyText);
    if (!parsed)
      return espFail("option '--key': " + llvm::toString(parsed.takeError()));
    key = *parsed;
  }
  auto read = esp::readPackageFile(path, key);
  if (!read)
    return espFail(read.takeError());
  package = std::move(*read);
  return Done;
}

int EspFileOptions::readOne(esp::Entry &entry) const {
  esp::Package package;
  if (int code = read(package))
    return code;
  std::vector<std::string> names;
  for (esp::Entry &candidate : package.entries) {
    names.push_back("'" + candidate.name + "'");
    if (candidate.name == modelName ||
        (modelName.empty() && package.entries.size() == 1)) {
      entry = std::move(candidate);
      return Done;
    }
  }
  if (names.empty())
    return espFail(path + ": has no model");
  return espFail(path + ": " +
                 (modelName.empty() ? "holds several models"
                                    : "has no model '" + modelName + "'") +
                 "; choose by --model: " + llvm::join(names, ", "));
}

static int run(llvm::ArrayRef<const char *> arguments) {
  StringRef name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    llvm::outs() << espVerb.help;
    return Done;
  }
  for (const Verb *verb : verbs)
    if (verb->name == ("esp " + name).str())
      return verb->run(arguments.drop_front());
  if (name.empty()) {
    llvm::errs() << "error: onnxq esp expects a verb; see 'onnxq esp --help'\n";
    return BadUsage;
  }
  std::vector<std::string> names;
  for (const Verb *verb : verbs)
    names.push_back(verb->name.drop_front(4).str());
  std::string nearest = nearestName(name, names, /*farthest=*/2);
  llvm::errs() << "error: onnxq esp has no verb '" << name << "'"
               << (nearest.empty() ? "" : ", did you mean '" + nearest + "'?")
               << "; see 'onnxq esp --help'\n";
  return BadUsage;
}

const Verb onnxquant::cli::espVerb = {
    "esp", "quantize and evaluate for ESP-DL's chips",
    R"(usage: onnxq esp VERB ...

Models of ESP-DL, the library for Espressif's chips.

  info FILE        what a .espdl file or package holds
  check MODEL      whether the runtime can run a float model
  calibrate MODEL  find the exponents of its tensors
  quantize MODEL   quantize it and write a .espdl file
  export MODEL     the same, by a file's extension
  evaluate FILE    run a .espdl model as the chip does, to the bit

'onnxq esp VERB --help' tells more.

example: onnxq esp evaluate model.espdl --test-values
)",
    run};
