// Objects and static libraries for microcontrollers.

#ifndef ONNXQUANT_TARGET_BAREOBJECT_H
#define ONNXQUANT_TARGET_BAREOBJECT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace onnxquant {

/// What an object takes of a chip's memory, beside the workspace of its runs.
struct BareUse {
  /// Flash: instructions, and weights and tables.
  uint64_t codeBytes = 0, constantBytes = 0;
  /// RAM that is taken all the time.
  uint64_t dataBytes = 0;
  /// The most that a run takes of the stack, without the functions below.
  uint64_t stackBytes = 0;
  /// Functions that the program must bring, sorted.
  std::vector<std::string> calls;

  uint64_t flashBytes() const { return codeBytes + constantBytes + dataBytes; }
};

/// Reads an object or a static library.
llvm::Expected<BareUse> measureObject(const llvm::MemoryBuffer &file);

/// Fails if an object needs more than memcpy, memmove, memset and what a C
/// compiler's own library has: integers of 64 bits, floats of 32.
llvm::Error checkCalls(const BareUse &use);

/// A static library of one object, `NAME.o`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
makeArchive(const llvm::MemoryBuffer &object, llvm::StringRef name);

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_BAREOBJECT_H
