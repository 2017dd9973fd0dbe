// Reads arbitrary bytes as a .espdl file: see EspdlCase.h.

#include "EspdlCase.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  onnxquant::fuzz::runEspdl({reinterpret_cast<const char *>(data), size});
  return 0;
}
