// libFuzzer's target for everything that reads a model: import-fuzzer CORPUS...
//
// Mutants are made by the project's own mutator half of the time: bytes alone
// rarely come past the parser.

#include "ModelCase.h"
#include "ModelMutator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace onnxquant::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// A file of this process in the folder for temporary ones.
static const std::string &scratchFile() {
  static const std::string *path = [] {
    llvm::SmallString<128> name;
    if (llvm::sys::fs::createTemporaryFile("import-fuzzer", "onnx", name)) {
      std::fputs("cannot create a temporary file\n", stderr);
      std::exit(1);
    }
    return new std::string(name.str());
  }();
  return *path;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CaseResult result =
      runModel(llvm::ArrayRef<char>(reinterpret_cast<const char *>(data), size),
               scratchFile());
  if (result.problem.empty())
    return 0;
  std::fprintf(stderr, "%s\n", result.problem.c_str());
  std::abort();
}

static size_t store(const std::string &bytes, uint8_t *data, size_t maxSize) {
  size_t size = std::min(bytes.size(), maxSize);
  std::memcpy(data, bytes.data(), size);
  return size;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  if (random.oneIn(2))
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string bytes(reinterpret_cast<char *>(data), size);
  return store(mutate(bytes, bytes, random), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                            size_t firstSize,
                                            const uint8_t *second,
                                            size_t secondSize, uint8_t *out,
                                            size_t maxOutSize, unsigned seed) {
  Random random(seed);
  return store(mutate({reinterpret_cast<const char *>(first), firstSize},
                      {reinterpret_cast<const char *>(second), secondSize},
                      random),
               out, maxOutSize);
}
