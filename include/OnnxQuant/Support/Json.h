// Reads JSON that people write: a key given twice is a mistake there.

#ifndef ONNXQUANT_SUPPORT_JSON_H
#define ONNXQUANT_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace onnxquant {

/// Parses a text. An object that has a key twice is refused, by the key's name.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_JSON_H
