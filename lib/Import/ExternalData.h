// Files that hold a model's weights, mapped once each.

#ifndef ONNXQUANT_LIB_IMPORT_EXTERNALDATA_H
#define ONNXQUANT_LIB_IMPORT_EXTERNALDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <memory>

namespace onnxquant::import {

/// Bytes of a mapped file, and what keeps the mapping alive.
struct MappedBytes {
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<llvm::sys::fs::mapped_file_region> owner;
};

/// The external data files of one model. A location that leaves the model's
/// folder, by its text or by a symbolic link, is refused.
class ExternalData {
public:
  explicit ExternalData(llvm::StringRef folder) : folder(folder) {}

  /// `length` bytes from `offset` of the file at `location`; the rest of the
  /// file if no length is given.
  llvm::Expected<MappedBytes> get(llvm::StringRef location, uint64_t offset,
                                  std::optional<uint64_t> length);

private:
  llvm::Expected<std::shared_ptr<llvm::sys::fs::mapped_file_region>>
  map(llvm::StringRef location);

  std::string folder;
  llvm::StringMap<std::shared_ptr<llvm::sys::fs::mapped_file_region>> files;
};

} // namespace onnxquant::import

#endif // ONNXQUANT_LIB_IMPORT_EXTERNALDATA_H
