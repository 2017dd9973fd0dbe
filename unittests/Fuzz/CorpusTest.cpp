// What fuzzers found, and files of each kind, again: test/Inputs/corpus has a
// folder per parser. A file's name begins with what is expected of it, `accept`
// or `refuse`.

#include "EspdlCase.h"
#include "ModelCase.h"
#include "ParserCases.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace onnxquant::fuzz;

/// Lets `accepts` read each file of a folder; how many there are.
static unsigned replay(StringRef folder,
                       function_ref<bool(StringRef)> accepts) {
  unsigned count = 0;
  std::error_code code;
  SmallString<128> path(ONNXQUANT_CORPUS);
  sys::path::append(path, folder);
  for (sys::fs::directory_iterator it(path, code), end; it != end && !code;
       it.increment(code)) {
    auto file = MemoryBuffer::getFile(it->path(), /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!file) {
      ADD_FAILURE() << it->path() << ": " << file.getError().message();
      continue;
    }
    bool expected = sys::path::filename(it->path()).starts_with("accept");
    EXPECT_EQ(accepts((*file)->getBuffer()), expected) << it->path();
    ++count;
  }
  EXPECT_FALSE(code) << path.str().str() << ": " << code.message();
  return count;
}

TEST(Corpus, Parsers) {
  for (const Parser &parser : getParsers())
    EXPECT_GT(replay(parser.name,
                     [&](StringRef bytes) { return runParser(parser, bytes); }),
              1u)
        << parser.name.str();
}

TEST(Corpus, Espdl) {
  auto accepts = [](StringRef bytes) {
    return runEspdl({bytes.data(), bytes.size()});
  };
  EXPECT_GT(replay("espdl", accepts), 1u);
}

TEST(Corpus, Models) {
  SmallString<128> scratch;
  ASSERT_FALSE(sys::fs::createTemporaryFile("corpus", "onnx", scratch));
  auto accepts = [&](StringRef bytes) {
    CaseResult result =
        runModel(ArrayRef<char>(bytes.data(), bytes.size()), scratch);
    EXPECT_EQ(result.problem, "");
    return result.outcome != Outcome::Refused;
  };
  EXPECT_GT(replay("onnx", accepts), 1u);
}

TEST(Corpus, Texts) {
  auto accepts = [](StringRef bytes) {
    CaseResult result = runText(bytes);
    EXPECT_EQ(result.problem, "");
    return result.outcome != Outcome::Refused;
  };
  EXPECT_GT(replay("mlir", accepts), 1u);
}
