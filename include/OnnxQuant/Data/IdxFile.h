// Files of the form of MNIST's: two zero bytes, a type, a rank, big-endian
// sizes, then elements; plain or compressed by gzip. Only bytes are read.

#ifndef ONNXQUANT_DATA_IDXFILE_H
#define ONNXQUANT_DATA_IDXFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onnxquant {

/// Whether a file begins like one of these.
bool isIdxFile(llvm::StringRef path);

class IdxFile {
public:
  /// Errors name the file.
  static llvm::Expected<IdxFile> open(llvm::StringRef path);

  llvm::ArrayRef<int64_t> dims() const { return sizes; }
  /// Elements from a position on.
  llvm::Expected<std::vector<uint8_t>> read(uint64_t start,
                                            uint64_t count) const;

private:
  std::string path;
  std::vector<int64_t> sizes;
  uint64_t offset = 0;
  /// The whole of a compressed file; null for a plain one, which is read where
  /// it lies.
  std::shared_ptr<std::vector<uint8_t>> inflated;
};

} // namespace onnxquant

#endif // ONNXQUANT_DATA_IDXFILE_H
