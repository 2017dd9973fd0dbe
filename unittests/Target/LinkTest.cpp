// Where libraries that come along with a program are looked for.

#include "OnnxQuant/Support/Temporaries.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace onnxquant;

static std::string program() {
  static int anchor;
  return sys::fs::getMainExecutable(nullptr, &anchor);
}

TEST(Link, LooksBesideItsProgram) {
  std::string file = program();
  StringRef folder = sys::path::parent_path(file);
  std::string library =
      (sys::path::parent_path(folder) + "/lib/libomp.so.5").str();
  EXPECT_TRUE(is_contained(getOpenMPLibraries(), library)) << library;
}

// A script may start a program by any name.
TEST(Link, LooksThereWhateverItsName) {
  std::string file = program(), message;
  StringRef arguments[] = {"renamed",
                           "--gtest_filter=Link.LooksBesideItsProgram"};
  EXPECT_EQ(
      runProgram({file, arguments, "/dev/null", "/dev/null", "", 60}, message),
      0)
      << message;
}
