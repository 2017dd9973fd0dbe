// Reads bytes as a file of ESP-DL: see EspdlCase.h.

#include "EspdlCase.h"
#include "OnnxQuant/ESP/Espdl.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace onnxquant;

/// A refusal says why.
static bool isRefused(Error error) {
  if (!error)
    return false;
  if (toString(std::move(error)).empty())
    report_fatal_error("an error without a reason");
  return true;
}

static void checkModel(const esp::Model &model) {
  std::vector<char> file = esp::writeModel(model);
  auto again = esp::readPackage(file);
  // What was read once is no error the second time.
  if (!again || esp::writeModel(again->entries[0].model) != file)
    report_fatal_error("a model isn't read as it was written");
  esp::SimulationOptions options;
  options.chip = esp::likelyChips(model).front();
  for (bool real : {false, true}) {
    options.realPorts = real;
    isRefused(esp::simulate(model, options).takeError());
  }
  isRefused(esp::writeQdq(model, *options.chip).takeError());
  esp::doubtsOf(model, *options.chip);
}

bool fuzz::runEspdl(ArrayRef<char> bytes) {
  // Without a key an encrypted file is refused; with one it is read.
  isRefused(esp::readPackage(bytes).takeError());
  static const esp::Key key = {};
  auto package = esp::readPackage(bytes, key);
  if (!package)
    return !isRefused(package.takeError());
  for (const esp::Entry &entry : package->entries)
    checkModel(entry.model);
  return true;
}
