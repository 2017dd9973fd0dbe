// The C header that goes with a compiled object.

#ifndef ONNXQUANT_TARGET_HEADER_H
#define ONNXQUANT_TARGET_HEADER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant {

/// What a header tells of a compiled model.
struct ModelDescription {
  struct End {
    std::string name;
    /// ONNX's number of the element type.
    int32_t type = 0;
    /// -1 where the size is known at run time only.
    std::vector<int64_t> dims;
    /// A real number is an element times 2 to this power, if that is known.
    std::optional<int64_t> exponent;
  };
  /// Prefix of the model's symbols.
  std::string name;
  std::vector<End> inputs, outputs;
  int64_t workspaceBytes = 0;
  /// Whether a run calls malloc.
  bool allocates = false;
  /// Whether it is for a microcontroller.
  bool isBare = false;
  /// Threads that a run uses.
  int64_t threads = 1;
  /// LLVM's names of system and processor.
  std::string triple, cpu;
  /// A line on each target: its name, and the features that code for it needs.
  std::vector<std::string> targets;
};

/// A header in plain C that needs no other: names, shapes, sizes, the run
/// function, and an example of its use.
std::string writeHeader(const ModelDescription &model);

/// Whether a text can be the name of a C function.
bool isIdentifier(llvm::StringRef text);
/// The text with everything replaced that an identifier can't have.
std::string makeIdentifier(llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_HEADER_H
