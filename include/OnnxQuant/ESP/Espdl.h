// Files of ESP-DL's current generation: .espdl models (EDL1, EDL2) and packages
// of them (PDL1, PDL2, PDL3).

#ifndef ONNXQUANT_ESP_ESPDL_H
#define ONNXQUANT_ESP_ESPDL_H

#include "OnnxQuant/ESP/Model.h"
#include "llvm/Support/Error.h"
#include <array>

namespace onnxquant::esp {

/// A key of AES-128.
using Key = std::array<uint8_t, 16>;

/// Reads 32 hexadecimal digits.
llvm::Expected<Key> parseKey(llvm::StringRef text);

/// Encrypts or decrypts (it is the same) with AES-128 in counter mode. The
/// counter begins as the bytes 0x10 to 0x1f.
void applyCipher(const Key &key, llvm::MutableArrayRef<char> data);

/// One model of a file.
struct Entry {
  /// Its name in a package; empty for a file of its own.
  std::string name;
  /// EDL1 or EDL2.
  std::string magic;
  bool isEncrypted = false;
  uint64_t bytes = 0;
  Model model;
};

/// What a file holds.
struct Package {
  /// The file's magic.
  std::string magic;
  /// The version text of PDL3.
  std::string version;
  std::vector<Entry> entries;
};

/// Reads all models of a file from its bytes. Every offset, size and name is
/// checked. A key is for models that are encrypted.
llvm::Expected<Package> readPackage(llvm::ArrayRef<char> bytes,
                                    const std::optional<Key> &key = {});
/// The same from a path, which errors name.
llvm::Expected<Package> readPackageFile(llvm::StringRef path,
                                        const std::optional<Key> &key = {});

/// The FlatBuffer of a model, in the form of EDL2.
std::vector<char> writeFlatBuffer(const Model &model);
/// A file of container EDL2, encrypted if a key is given.
std::vector<char> writeModel(const Model &model,
                             const std::optional<Key> &key = {});
/// A package of EDL2 files: PDL2, or PDL3 if there is a version text.
llvm::Expected<std::vector<char>>
writePackage(llvm::ArrayRef<std::pair<std::string, std::vector<char>>> models,
             const std::optional<std::string> &version = {});

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_ESPDL_H
