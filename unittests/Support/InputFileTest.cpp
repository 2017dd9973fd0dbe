// Input files: ordinary ones of a size that makes sense; nothing waits.

#include "OnnxQuant/Support/InputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <sys/stat.h>

using namespace onnxquant;

static std::string reasonOf(llvm::StringRef path, uint64_t most) {
  auto file = openInput(path, most);
  return file ? "" : llvm::toString(file.takeError());
}

TEST(InputFile, RefusesWhatIsNoFile) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("input-file", folder));
  std::string pipe = (folder + "/pipe").str(), file = (folder + "/file").str();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  {
    std::error_code code;
    llvm::raw_fd_ostream(file, code) << "12345";
    ASSERT_FALSE(code);
  }
  EXPECT_NE(reasonOf(pipe, 10).find("device or a pipe"), std::string::npos);
  EXPECT_NE(reasonOf("/dev/zero", 10).find("device or a pipe"),
            std::string::npos);
  EXPECT_NE(reasonOf(folder, 10).find("folder"), std::string::npos);
  EXPECT_NE(reasonOf(file + "s", 10).find("cannot be opened"),
            std::string::npos);
  EXPECT_NE(reasonOf(file, 4).find("too large"), std::string::npos);
  EXPECT_EQ(reasonOf(file, 5), "");
  EXPECT_EQ((*llvm::cantFail(openInput(file, 5, /*isText=*/true))).getBuffer(),
            "12345");
  llvm::sys::fs::remove_directories(folder);
}

TEST(InputFile, FoldersAreEnteredOnce) {
  using llvm::sys::fs::create_directory;
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("files-below", folder));
  std::string inner = (folder + "/inner").str();
  ASSERT_FALSE(create_directory(inner));
  for (std::string file : {(folder + "/b").str(), inner + "/a"}) {
    std::error_code code;
    llvm::raw_fd_ostream(file, code) << "1";
    ASSERT_FALSE(code);
  }
  // Before the folder itself by name, back to the start, and to nothing.
  ASSERT_FALSE(llvm::sys::fs::create_link("inner", folder + "/again"));
  ASSERT_FALSE(llvm::sys::fs::create_link("..", inner + "/back"));
  ASSERT_FALSE(llvm::sys::fs::create_link("nowhere", folder + "/none"));
  EXPECT_EQ(filesBelow(folder),
            (std::vector<std::string>{(folder + "/b").str(), inner + "/a",
                                      (folder + "/none").str()}));
  EXPECT_EQ(filesBelow((folder + "/missing").str()),
            std::vector<std::string>());
  llvm::sys::fs::remove_directories(folder);
}
