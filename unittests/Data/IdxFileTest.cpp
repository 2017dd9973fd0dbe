// Files of the form of MNIST's, plain and compressed.

#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <zlib.h>

using namespace llvm;
using namespace onnxquant;

namespace {

class IdxFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    SmallString<64> name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("idx", "", name));
    path = name.str().str();
  }
  void TearDown() override { sys::fs::remove(path); }

  void write(StringRef bytes) {
    std::error_code code;
    raw_fd_ostream(path, code) << bytes;
  }
  void compress(StringRef bytes) {
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), bytes.size());
    gzclose(file);
  }

  /// Three images of 1x2 pixels.
  StringRef images = StringRef("\0\0\x08\x03\0\0\0\x03\0\0\0\x01\0\0\0\x02"
                               "abcdef",
                               22);
  std::string path;
};

} // namespace

TEST_F(IdxFileTest, PlainAndCompressedAreTheSame) {
  for (bool isCompressed : {false, true}) {
    isCompressed ? compress(images) : write(images);
    EXPECT_TRUE(isIdxFile(path));
    auto file = IdxFile::open(path);
    ASSERT_TRUE(static_cast<bool>(file));
    EXPECT_EQ(file->dims(), ArrayRef<int64_t>({3, 1, 2}));
    auto bytes = file->read(2, 2);
    ASSERT_TRUE(static_cast<bool>(bytes));
    EXPECT_EQ(*bytes, (std::vector<uint8_t>{'c', 'd'}));
  }
}

TEST_F(IdxFileTest, TruncatedFilesAreRefused) {
  for (bool isCompressed : {false, true}) {
    isCompressed ? compress(images.drop_back()) : write(images.drop_back());
    auto file = IdxFile::open(path);
    ASSERT_FALSE(static_cast<bool>(file));
    EXPECT_NE(toString(file.takeError()).find("truncated"), std::string::npos);
  }
}

TEST_F(IdxFileTest, SizesThatOverflowAreRefused) {
  write(StringRef("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                  "abcdef",
                  22));
  auto file = IdxFile::open(path);
  ASSERT_FALSE(static_cast<bool>(file));
  consumeError(file.takeError());
}

TEST_F(IdxFileTest, OnlyTheImagesAreInflated) {
  // Much that follows them isn't read, but damage is noticed.
  compress(images.str() + std::string(64 << 20, 0));
  auto file = IdxFile::open(path);
  ASSERT_TRUE(static_cast<bool>(file));
  int64_t before = std::exchange(RunLimits::get().memory, 16);
  file = IdxFile::open(path);
  RunLimits::get().memory = before;
  ASSERT_FALSE(static_cast<bool>(file));
  EXPECT_NE(toString(file.takeError()).find("memory"), std::string::npos);
}

TEST_F(IdxFileTest, OtherFilesAreNone) {
  write("no such file at all");
  EXPECT_FALSE(isIdxFile(path));
  EXPECT_FALSE(isIdxFile(path + ".missing"));
  write(StringRef("\0\0\x0d\x01\0\0\0\x01\0\0\0\0", 12));
  EXPECT_FALSE(isIdxFile(path));
}
