// Output files that appear whole or not at all.

#ifndef ONNXQUANT_SUPPORT_ATOMICFILE_H
#define ONNXQUANT_SUPPORT_ATOMICFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace onnxquant {

/// Writes to a temporary file beside `path`; `commit` renames it into place.
/// Without `commit` nothing is left behind. A path of `-` is standard output;
/// devices and pipes are written to as they are.
class AtomicFile {
public:
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  create(llvm::StringRef path);
  ~AtomicFile();

  llvm::raw_fd_ostream &os() { return *stream; }
  /// Flushes and renames; names the path in the error.
  llvm::Error commit();

private:
  AtomicFile() = default;

  std::string path;
  std::string temporary;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

/// Whether `path` can be created or replaced: its folder is there and can be
/// written to. To be asked before long work whose result goes there.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_ATOMICFILE_H
