// libFuzzer's target for one parser, which the build names: NAME-fuzzer
// CORPUS...

#include "ParserCases.h"
#include <cstdio>
#include <cstdlib>

using namespace onnxquant::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Parser *parser = findParser(ONNXQUANT_PARSER);
  if (!parser) {
    std::fputs("there is no parser " ONNXQUANT_PARSER "\n", stderr);
    std::exit(1);
  }
  runParser(*parser,
            llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
