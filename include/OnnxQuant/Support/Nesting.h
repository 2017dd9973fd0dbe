// How deep a text nests: parsers that call themselves need stack for each
// level, so texts that nest deeper than people write are refused before.

#ifndef ONNXQUANT_SUPPORT_NESTING_H
#define ONNXQUANT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace onnxquant {

/// The deepest that texts may nest.
inline constexpr unsigned mostJsonDepth = 128;
inline constexpr unsigned mostYamlDepth = 64;
inline constexpr unsigned mostMlirDepth = 512;

/// Whether a text nests deeper. It doesn't have to be valid.
bool jsonNestsDeeper(llvm::StringRef text, unsigned most);
bool yamlNestsDeeper(llvm::StringRef text, unsigned most);
/// Aliases count with what they stand for.
bool mlirNestsDeeper(llvm::StringRef text, unsigned most);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_NESTING_H
