// Numbers and switches as people write them.

#ifndef ONNXQUANT_SUPPORT_NUMBERS_H
#define ONNXQUANT_SUPPORT_NUMBERS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace onnxquant {

/// A finite number: `0.5`, `1e-3`, or a fraction such as `1/255`.
std::optional<double> parseNumber(llvm::StringRef text);

/// true, yes, on, 1, or false, no, off, 0, in any case.
std::optional<bool> parseTruth(llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_NUMBERS_H
