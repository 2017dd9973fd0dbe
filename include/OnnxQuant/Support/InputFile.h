// Input files: ordinary files of a size that makes sense.

#ifndef ONNXQUANT_SUPPORT_INPUTFILE_H
#define ONNXQUANT_SUPPORT_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <string>
#include <vector>

namespace onnxquant {

/// The most bytes that files of a kind may have.
struct FileLimits {
  /// Models: what protobuf can parse, which weights beside them don't count to,
  /// and text of models with their weights.
  static constexpr uint64_t model = uint64_t(1) << 31;
  static constexpr uint64_t text = uint64_t(1) << 36;
  /// Calibration tables, labels, detections, checkpoints.
  static constexpr uint64_t table = uint64_t(1) << 28;
  /// Files of options and of parameters of single tensors.
  static constexpr uint64_t config = uint64_t(1) << 26;
  /// An image of the most pixels that are decoded, hardly packed.
  static constexpr uint64_t image = uint64_t(1) << 31;
  /// Tensors, which are mapped.
  static constexpr uint64_t data = uint64_t(1) << 40;
};

/// Why a file can't be read as input: there is none, it is a device, a pipe or
/// a folder, or it is larger than `most`. Doesn't wait for a pipe's other end.
llvm::Error checkInput(llvm::StringRef path, uint64_t most);

/// Opens an ordinary file of at most so many bytes. Text ends with a zero.
/// Errors tell the reason only; the caller names the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openInput(llvm::StringRef path, uint64_t most, bool isText = false);

/// The same; a path of `-` is standard input.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openInputOrStdin(llvm::StringRef path, uint64_t most);

/// All that isn't a folder, below a folder and those within, sorted. A folder
/// that symbolic links lead to again is entered once, whatever they do.
std::vector<std::string> filesBelow(llvm::StringRef folder);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_INPUTFILE_H
