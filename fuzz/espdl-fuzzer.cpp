// Reads arbitrary bytes as a .espdl file; what can be read is written and read
// again.

#include "OnnxQuant/ESP/Espdl.h"
#include "llvm/Support/Error.h"

using namespace onnxquant;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  static const esp::Key key = {};
  auto package = esp::readPackage(bytes, key);
  if (!package) {
    llvm::consumeError(package.takeError());
    return 0;
  }
  for (const esp::Entry &entry : package->entries) {
    std::vector<char> file = esp::writeModel(entry.model);
    auto again = esp::readPackage(file);
    // What was read once is no error the second time.
    if (!again || esp::writeModel(again->entries[0].model) != file)
      __builtin_trap();
  }
  return 0;
}
