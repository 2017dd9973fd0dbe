// NumPy's files: what is read, and what is refused.

#include "OnnxQuant/Support/NumPy.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <fstream>

using namespace onnxquant;

namespace {

std::string npy(const std::string &dictionary, const std::string &data,
                char version = 1) {
  std::string text("\x93NUMPY", 6);
  text += version;
  text += '\0';
  size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(length >> (8 * i) & 255);
  return text + dictionary + data;
}

std::string dictionary(const std::string &type, const std::string &shape,
                       const char *fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }\n";
}

std::string refusal(const std::string &bytes) {
  auto tensor = parseNpy(bytes, "file");
  return tensor ? "" : llvm::toString(tensor.takeError());
}

} // namespace

TEST(NumPy, ReadsArrays) {
  std::string six = {1, 2, 3, 4, 5, 6};
  for (char version : {1, 2, 3}) {
    auto tensor = parseNpy(npy(dictionary("|u1", "(2, 3)"), six, version), "f");
    ASSERT_TRUE(static_cast<bool>(tensor));
    EXPECT_EQ(tensor->dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(tensor->at(4), 5);
  }
  auto scalar = parseNpy(npy(dictionary("|b1", "()"), "\x01"), "f");
  ASSERT_TRUE(static_cast<bool>(scalar));
  EXPECT_TRUE(scalar->dims.empty());
  auto vector = parseNpy(npy(dictionary("|i1", "(2,)"), "\xff\x02"), "f");
  ASSERT_TRUE(static_cast<bool>(vector));
  EXPECT_EQ(vector->at(0), -1);
  auto empty = parseNpy(npy(dictionary("<f4", "(0, 3)"), ""), "f");
  ASSERT_TRUE(static_cast<bool>(empty));
  EXPECT_EQ(empty->numElements(), 0);
}

TEST(NumPy, PutsFortranOrderIntoC) {
  std::string six = {1, 2, 3, 4, 5, 6};
  auto tensor = parseNpy(npy(dictionary("|u1", "(2, 3)", "True"), six), "f");
  ASSERT_TRUE(static_cast<bool>(tensor));
  EXPECT_EQ(tensor->data, (std::vector<char>{1, 3, 5, 2, 4, 6}));
}

TEST(NumPy, RefusesWhatItCannotRead) {
  EXPECT_EQ(refusal("PK"), "file: is no NumPy file");
  EXPECT_EQ(refusal(""), "file: is no NumPy file");
  EXPECT_EQ(refusal(npy(dictionary("<f4", "(2, 3)"), "abc")),
            "file: is truncated");
  EXPECT_EQ(refusal(npy(std::string(300, ' '), "").substr(0, 100)),
            "file: is truncated");
  EXPECT_EQ(refusal(npy(dictionary("<c8", "(1,)"), "12345678")),
            "file: has elements of type '<c8', which models don't have");
  EXPECT_EQ(refusal(npy(dictionary("|O", "(1,)"), "12345678")),
            "file: has elements of type '|O', which models don't have");
  for (const char *shape : {"(-1,)", "(a,)", "5", "(4294967296, 4294967296)",
                            "(9223372036854775807,)"})
    EXPECT_NE(refusal(npy(dictionary("<f4", shape), "1234")), "") << shape;
  EXPECT_NE(refusal(npy("{}", "1234")), "");
}

TEST(NumPy, WritesWhatItReads) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("onnxq", "npy", path));
  HostTensor tensor;
  tensor.type = 7;
  tensor.dims = {2, 1};
  tensor.data.assign(16, 3);
  ASSERT_FALSE(static_cast<bool>(writeNpy(tensor, path)));
  auto again = readNpy(path);
  ASSERT_TRUE(static_cast<bool>(again));
  EXPECT_EQ(again->type, 7);
  EXPECT_EQ(again->dims, tensor.dims);
  EXPECT_EQ(again->data, tensor.data);
  llvm::sys::fs::remove(path);
}

TEST(Npz, RefusesWhatIsNoArchive) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("onnxq", "npz", path));
  // The end of a directory that says there is an entry far away.
  std::string tail("PK\x05\x06\0\0\0\0\x01\0\x01\0", 12);
  tail += std::string("\x2e\0\0\0\xff\xff\xff\x7f\0\0", 10);
  const std::pair<std::string, const char *> cases[] = {
      {"", "is no archive"},
      {"not a zip file", "is no archive"},
      {"PK\x03\x04", "is truncated"},
      {std::string("PK\x05\x06\0\0", 6), "is truncated"},
      {tail, "is truncated"},
  };
  for (const auto &[bytes, reason] : cases) {
    std::ofstream(path.c_str(), std::ios::binary) << bytes;
    auto tensors = readNpz(path);
    ASSERT_FALSE(static_cast<bool>(tensors));
    std::string message = llvm::toString(tensors.takeError());
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
  llvm::sys::fs::remove(path);
}
