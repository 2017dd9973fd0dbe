// What is remembered goes; programs that are started end.

#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <thread>

using namespace llvm;
using namespace onnxquant;

TEST(TemporariesTest, FoldersGoWithWhatIsInThem) {
  std::string path;
  {
    auto folder = TemporaryFolder::create("onnxq-unit");
    ASSERT_TRUE(static_cast<bool>(folder));
    path = folder->path().str();
    std::error_code code;
    raw_fd_ostream(path + "/file", code) << "text";
    EXPECT_TRUE(sys::fs::exists(path + "/file"));
  }
  EXPECT_FALSE(sys::fs::exists(path));
}

TEST(TemporariesTest, AllIsRemovedAtOnce) {
  auto folder = TemporaryFolder::create("onnxq-unit");
  ASSERT_TRUE(static_cast<bool>(folder));
  std::error_code code;
  raw_fd_ostream((folder->path() + "/file").str(), code) << "text";
  removeTemporaries();
  EXPECT_FALSE(sys::fs::exists(folder->path()));
}

TEST(TemporariesTest, ProgramsEndWithThisOne) {
  auto start = std::chrono::steady_clock::now();
  std::thread killer([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    removeTemporaries();
  });
  std::string message;
  int status = runProgram("/bin/sleep", {"sleep", "30"}, {}, 0, &message);
  killer.join();
  EXPECT_NE(status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(runProgram("/bin/true", {"true"}, {}, 0, &message), 0);
}
