// Damaged files of ESP-DL: every truncation and every changed byte gives an
// error that names the place, or a model.

#include "OnnxQuant/ESP/Espdl.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace onnxquant;
using Bytes = std::vector<char>;

static Bytes readFile(StringRef name) {
  std::string path = (ONNXQUANT_ESP_FILES "/" + name).str();
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file) {
    ADD_FAILURE() << path << ": " << file.getError().message();
    return {};
  }
  StringRef text = (*file)->getBuffer();
  return Bytes(text.begin(), text.end());
}

/// What is wrong with a file; nothing if it can be read.
static std::string errorOf(ArrayRef<char> bytes,
                           std::optional<esp::Key> key = std::nullopt) {
  auto package = esp::readPackage(bytes, key);
  return package ? "" : toString(package.takeError());
}

/// A package of both forms of models, of each form with and without a hash.
static Bytes packageOf(const Bytes &model, std::optional<std::string> version) {
  auto made = esp::writePackage({{"one", model}, {"two", model}}, version);
  EXPECT_TRUE(bool(made));
  return made ? *made : Bytes();
}

static const char edl2[] = "ops/c_linear_ishap_1_16_kshap_16_16_relu_s8.espdl",
                  edl1[] = "ops/s3_add2d_s8_ishap_1_96_1_1.espdl";

TEST(Files, TruncatedAnywhere) {
  Bytes whole = readFile(edl2), old = readFile(edl1);
  esp::Key key = {};
  auto model = esp::readPackage(whole);
  ASSERT_TRUE(bool(model));
  Bytes secret = esp::writeModel(model->entries[0].model, key);
  for (const Bytes &file :
       {whole, old, secret, packageOf(whole, std::nullopt),
        packageOf(whole, "1.2"), packageOf(secret, "1.2")}) {
    EXPECT_EQ(errorOf(file, key), "");
    for (size_t size = 0; size < file.size(); ++size) {
      std::string error = errorOf(ArrayRef(file).take_front(size), key);
      // Only padding behind the last model may be missing.
      bool isPadding = size + 16 > file.size() && file[0] == 'P';
      ASSERT_TRUE(!error.empty() || isPadding) << size;
      bool named = error.empty() || size < 4 ||
                   StringRef(error).contains("is truncated") ||
                   StringRef(error).contains("lies beyond the file's end");
      ASSERT_TRUE(named) << size << ": " << error;
    }
  }
}

TEST(Files, AnyByteChanged) {
  for (const char *name : {edl2, edl1}) {
    Bytes whole = readFile(name);
    for (size_t at = 0; at < whole.size(); ++at)
      for (char change : {char(0xff), char(0x80), char(1)}) {
        Bytes file = whole;
        file[at] ^= change;
        auto package = esp::readPackage(file);
        if (package)
          esp::writeModel(package->entries[0].model);
        else
          EXPECT_NE(toString(package.takeError()), "");
      }
  }
}

TEST(Files, DamageIsNamed) {
  Bytes whole = readFile(edl2);
  // Offsets that lead beyond the end: of the root, then of others in turn.
  Bytes file = whole;
  support::endian::write32le(file.data() + 16, 0x7fffffff);
  EXPECT_EQ(errorOf(file), "is damaged: offsets or sizes of its FlatBuffer "
                           "lead out of it (root)");
  bool seesNode = false, seesInitializer = false;
  for (size_t at = 20; at + 4 < whole.size(); at += 4) {
    file = whole;
    support::endian::write32le(file.data() + at, 0x7ffffff0);
    std::string error = errorOf(file);
    seesNode |= StringRef(error).ends_with("(node 0)");
    seesInitializer |= StringRef(error).ends_with("(initializer 0)");
  }
  EXPECT_TRUE(seesNode);
  EXPECT_TRUE(seesInitializer);
}

TEST(Files, PackagesThatRepeatThemselves) {
  Bytes file = packageOf(readFile(edl2), std::nullopt);
  EXPECT_EQ(errorOf(file), "");
  // Both entries show the first model: still no more than the file has.
  support::endian::write32le(file.data() + 8 + 12,
                             support::endian::read32le(file.data() + 8));
  EXPECT_EQ(errorOf(file), "");
  // A thousand do.
  Bytes model = readFile(edl2), many = {'P', 'D', 'L', '2'};
  many.resize(8 + 12 * 1000);
  support::endian::write32le(many.data() + 4, 1000);
  for (int i = 0; i < 1000; ++i)
    support::endian::write32le(many.data() + 8 + 12 * i, many.size());
  many.insert(many.end(), model.begin(), model.end());
  EXPECT_TRUE(StringRef(errorOf(many)).ends_with("lies where others do"))
      << errorOf(many);
}

TEST(Files, KeysAreAskedFor) {
  auto model = esp::readPackage(readFile(edl2));
  ASSERT_TRUE(bool(model));
  esp::Key key = {}, other = {};
  other[5] = 1;
  Bytes secret = esp::writeModel(model->entries[0].model, key);
  EXPECT_EQ(errorOf(secret, key), "");
  EXPECT_TRUE(StringRef(errorOf(secret)).starts_with("is encrypted"));
  EXPECT_TRUE(StringRef(errorOf(secret, other))
                  .starts_with("can't be decrypted with this key"));
}
