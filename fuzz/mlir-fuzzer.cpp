// libFuzzer's target for models as text: mlir-fuzzer CORPUS...

#include "ModelCase.h"
#include <cstdio>
#include <cstdlib>

using namespace onnxquant::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CaseResult result =
      runText(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (result.problem.empty())
    return 0;
  std::fprintf(stderr, "%s\n", result.problem.c_str());
  std::abort();
}
