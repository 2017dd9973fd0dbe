// The containers around FlatBuffers: EDL1 and EDL2 hold one model, PDL1 to PDL3
// several. All numbers are little-endian.

#include "OnnxQuant/ESP/Espdl.h"
#include "OnnxQuant/Support/InputFile.h"
#include "Reader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

/// The hash of PDL3 begins here.
static constexpr size_t versionBytes = 16, sizeAt = 20, hashAt = 24,
                        hashBytes = 32, countAt = 56;

template <typename... Args>
static llvm::Error fail(const char *format, Args... args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), format,
                                 args...);
}

static uint32_t wordAt(ArrayRef<char> bytes, size_t at) {
  return llvm::support::endian::read32le(bytes.data() + at);
}

static void addWord(std::vector<char> &bytes, uint32_t word) {
  for (int i = 0; i < 4; ++i)
    bytes.push_back(static_cast<char>(word >> (8 * i)));
}

static void putWord(std::vector<char> &bytes, size_t at, uint32_t word) {
  llvm::support::endian::write32le(bytes.data() + at, word);
}

static StringRef magicOf(ArrayRef<char> bytes) {
  return bytes.size() < 4 ? StringRef() : StringRef(bytes.data(), 4);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads one model; `bytes` may go on behind it.
static llvm::Error readEntry(ArrayRef<char> bytes, Entry &entry,
                             const std::optional<Key> &key) {
  StringRef magic = magicOf(bytes);
  if (bytes.size() >= 4 && magic != "EDL1" && magic != "EDL2")
    return fail("is no ESP-DL model: it begins with none of EDL1, EDL2, PDL1, "
                "PDL2 and PDL3");
  entry.magic = magic.str();
  if (bytes.size() < 16)
    return fail("is truncated: it has %zu bytes, less than a header",
                bytes.size());
  uint32_t mode = wordAt(bytes, 4), size = wordAt(bytes, 8);
  // For two weeks of 2024 EDL1 had the header of EDL2. Where it has not, the
  // FlatBuffer begins there, with a number that isn't zero.
  bool isLong = magic == "EDL2" || wordAt(bytes, 12) == 0;
  size_t header = isLong ? 16 : 12;
  if (mode > 1)
    return fail("has encryption mode %u; 0 (none) and 1 (AES-128) are known",
                mode);
  if (size > bytes.size() - header)
    return fail("is truncated: its header says %u bytes, but %zu follow", size,
                bytes.size() - header);
  entry.isEncrypted = mode == 1;
  entry.bytes = size;
  if (entry.isEncrypted && !key)
    return fail("is encrypted with AES-128; give its key with --key");
  std::vector<char> data(bytes.begin() + header, bytes.begin() + header + size);
  if (entry.isEncrypted)
    applyCipher(*key, data);
  auto model = readFlatBuffer(data, isLong ? RawForm::Blocks : RawForm::Bytes);
  if (!model && entry.isEncrypted)
    return llvm::joinErrors(
        fail("can't be decrypted with this key"),
        llvm::handleErrors(model.takeError(), [](llvm::StringError &) {}));
  if (!model)
    return model.takeError();
  entry.model = std::move(*model);
  return llvm::Error::success();
}

static llvm::Error checkHash(ArrayRef<char> bytes) {
  if (wordAt(bytes, sizeAt) > bytes.size())
    return fail("is truncated: its header says %u bytes, but it has %zu",
                wordAt(bytes, sizeAt), bytes.size());
  std::vector<uint8_t> copy(bytes.begin(),
                            bytes.begin() + wordAt(bytes, sizeAt));
  if (copy.size() < countAt + 4)
    return fail("is truncated: its package has %zu bytes", copy.size());
  std::fill_n(copy.begin() + hashAt, hashBytes, 0);
  auto hash = llvm::SHA256::hash(copy);
  if (!std::equal(hash.begin(), hash.end(),
                  reinterpret_cast<const uint8_t *>(bytes.data()) + hashAt))
    return fail("is damaged: its SHA-256 differs from the one in its header");
  return llvm::Error::success();
}

static llvm::Error readEntries(ArrayRef<char> bytes, size_t at,
                               Package &package,
                               const std::optional<Key> &key) {
  uint32_t count = wordAt(bytes, at);
  if (count > (bytes.size() - at - 4) / 12)
    return fail("is truncated: it can't hold the %u models that it says",
                count);
  size_t held = 0;
  for (uint32_t i = 0; i < count; ++i) {
    size_t row = at + 4 + 12 * size_t(i);
    uint64_t data = wordAt(bytes, row), name = wordAt(bytes, row + 4),
             length = wordAt(bytes, row + 8);
    if (data > bytes.size() || name + length > bytes.size())
      return fail("model %u of the package lies beyond the file's end", i);
    Entry &entry = package.entries.emplace_back();
    entry.name.assign(bytes.data() + name, length);
    if (llvm::Error error = readEntry(bytes.drop_front(data), entry, key))
      return fail("model %u ('%s') %s", i, entry.name.c_str(),
                  llvm::toString(std::move(error)).c_str());
    // Many entries that show the same bytes would be very much of a small file.
    held += entry.bytes + length;
    if (held > bytes.size())
      return fail("model %u ('%s') lies where others do", i,
                  entry.name.c_str());
  }
  return llvm::Error::success();
}

llvm::Expected<Package> esp::readPackage(ArrayRef<char> bytes,
                                         const std::optional<Key> &key) {
  Package package;
  package.magic = magicOf(bytes).str();
  if (!StringRef(package.magic).starts_with("PDL")) {
    if (llvm::Error error =
            readEntry(bytes, package.entries.emplace_back(), key))
      return std::move(error);
    return package;
  }
  bool hasHash = package.magic == "PDL3";
  size_t at = hasHash ? countAt : 4;
  if (package.magic != "PDL1" && package.magic != "PDL2" && !hasHash)
    return fail("is a package of the unknown form %s", package.magic.c_str());
  if (bytes.size() < at + 4)
    return fail("is truncated: it has %zu bytes, less than a header",
                bytes.size());
  if (hasHash) {
    if (llvm::Error error = checkHash(bytes))
      return std::move(error);
    package.version =
        StringRef(bytes.data() + 4, versionBytes).split('\0').first.str();
  }
  if (llvm::Error error = readEntries(bytes, at, package, key))
    return std::move(error);
  return package;
}

llvm::Expected<Package> esp::readPackageFile(StringRef path,
                                             const std::optional<Key> &key) {
  auto file = openInput(path, FileLimits::model);
  if (!file)
    return fail("%s: %s", path.str().c_str(),
                llvm::toString(file.takeError()).c_str());
  StringRef text = (*file)->getBuffer();
  auto package = readPackage({text.data(), text.size()}, key);
  if (!package)
    return fail("%s: %s", path.str().c_str(),
                llvm::toString(package.takeError()).c_str());
  return package;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::vector<char> esp::writeModel(const Model &model,
                                  const std::optional<Key> &key) {
  std::vector<char> data = writeFlatBuffer(model);
  if (key)
    applyCipher(*key, data);
  std::vector<char> file = {'E', 'D', 'L', '2'};
  addWord(file, key ? 1 : 0);
  addWord(file, data.size());
  addWord(file, 0);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

llvm::Expected<std::vector<char>>
esp::writePackage(ArrayRef<std::pair<std::string, std::vector<char>>> models,
                  const std::optional<std::string> &version) {
  if (version && version->size() >= versionBytes)
    return fail("a package's version has at most %zu characters",
                versionBytes - 1);
  std::vector<char> file = {'P', 'D', 'L', version ? '3' : '2'};
  if (version) {
    file.resize(countAt);
    std::copy(version->begin(), version->end(), file.begin() + 4);
  }
  addWord(file, models.size());
  size_t table = file.size();
  file.resize(table + 12 * models.size());
  for (auto [i, model] : llvm::enumerate(models)) {
    putWord(file, table + 12 * i + 4, file.size());
    putWord(file, table + 12 * i + 8, model.first.size());
    file.insert(file.end(), model.first.begin(), model.first.end());
  }
  for (auto [i, model] : llvm::enumerate(models)) {
    file.resize(llvm::alignTo(file.size(), 16));
    putWord(file, table + 12 * i, file.size());
    file.insert(file.end(), model.second.begin(), model.second.end());
  }
  file.resize(llvm::alignTo(file.size(), 16));
  if (version) {
    putWord(file, sizeAt, file.size());
    auto hash = llvm::SHA256::hash(ArrayRef<uint8_t>(
        reinterpret_cast<const uint8_t *>(file.data()), file.size()));
    std::copy(hash.begin(), hash.end(), file.begin() + hashAt);
  }
  return file;
}
