// What is remembered goes; programs that are started end.

#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

/// The number that a shell left in a file, once it is there.
static pid_t awaitNumber(StringRef path) {
  for (int i = 0; i < 2000; ++i) {
    auto text = MemoryBuffer::getFile(path);
    int number = 0;
    if (text && (*text)->getBuffer().ends_with("\n") &&
        !(*text)->getBuffer().trim().getAsInteger(10, number))
      return number;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return 0;
}

/// Whether a process has ended, or is about to.
static bool hasEnded(pid_t id) {
  for (int i = 0; i < 2000; ++i) {
    auto text = MemoryBuffer::getFileAsStream("/proc/" + Twine(id) + "/stat");
    if (!text || (*text)->getBuffer().contains(") Z"))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(TemporariesTest, ProgramsEndWithThisOne) {
  auto folder = TemporaryFolder::create("onnxq-unit");
  ASSERT_TRUE(static_cast<bool>(folder));
  std::string number = (folder->path() + "/number").str(), message;
  std::string script = "sleep 600 & echo $! > " + number + "; wait";
  pid_t started = 0;
  std::thread killer([&] {
    started = awaitNumber(number);
    removeTemporaries();
  });
  int status =
      runProgram({"/bin/sh", {"sh", "-c", script}, "", "", "", 0}, message);
  killer.join();
  EXPECT_EQ(status, -2);
  ASSERT_GT(started, 0);
  EXPECT_TRUE(hasEnded(started));
}

TEST(TemporariesTest, StatusOfPrograms) {
  std::string message;
  EXPECT_EQ(runProgram({"/bin/true", {"true"}, "", "", "", 0}, message), 0);
  EXPECT_EQ(
      runProgram({"/bin/sh", {"sh", "-c", "exit 7"}, "", "", "", 9}, message),
      7);
  EXPECT_EQ(
      runProgram({"/bin/sleep", {"sleep", "600"}, "", "", "", 1}, message), -2);
  EXPECT_EQ(message, "it took longer than 1 s");
  EXPECT_EQ(runProgram({"/no/such/program", {"x"}, "", "", "", 0}, message),
            -1);
  EXPECT_NE(message.find("/no/such/program: cannot be started"),
            std::string::npos);
}

TEST(TemporariesTest, ProgramsKeepFilesInTheirFolder) {
  auto folder = TemporaryFolder::create("onnxq-unit");
  ASSERT_TRUE(static_cast<bool>(folder));
  std::string out = (folder->path() + "/out").str(), message;
  EXPECT_EQ(runProgram({"/bin/sh",
                        {"sh", "-c", "echo $TMPDIR; echo wrong >&2"},
                        out,
                        out,
                        folder->path(),
                        0},
                       message),
            0);
  auto text = MemoryBuffer::getFile(out);
  ASSERT_TRUE(static_cast<bool>(text));
  EXPECT_EQ((*text)->getBuffer(), (folder->path() + "\nwrong\n").str());
}

TEST(TemporariesTest, WhatAChildStartedEndsWithIt) {
  auto folder = TemporaryFolder::create("onnxq-unit");
  ASSERT_TRUE(static_cast<bool>(folder));
  std::string number = (folder->path() + "/number").str();
  std::optional<int> status = runInChild([&] {
    std::string script = "sleep 600 & echo $! > " + number;
    if (std::system(script.c_str()) != 0)
      ::_exit(1);
    ::_exit(5);
  });
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 5);
  pid_t started = awaitNumber(number);
  ASSERT_GT(started, 0);
  EXPECT_TRUE(hasEnded(started));
}
