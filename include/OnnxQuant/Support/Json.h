// Reads JSON. In what people write, a key given twice is a mistake.

#ifndef ONNXQUANT_SUPPORT_JSON_H
#define ONNXQUANT_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace onnxquant {

/// Parses a text. An object that has a key twice is refused, by the key's name.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Parses what other programs write: of a key given twice, one value counts.
llvm::Expected<llvm::json::Value> parseForeignJson(llvm::StringRef text);

/// The same of a file. Errors begin with its path.
llvm::Expected<llvm::json::Value> readForeignJson(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_JSON_H
