// The project's parsers of files other than models, one by one. What they
// refuse is an error like any other; crashes are left to the sanitizers.

#ifndef ONNXQUANT_FUZZ_PARSERCASES_H
#define ONNXQUANT_FUZZ_PARSERCASES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace onnxquant::fuzz {

struct Parser {
  llvm::StringRef name;
  /// How its files are named.
  llvm::StringRef extension;
  llvm::Error (*read)(llvm::StringRef path);
};

llvm::ArrayRef<Parser> getParsers();
/// The parser of a name; null if there is none.
const Parser *findParser(llvm::StringRef name);
/// Lets a parser read bytes; whether it accepts them.
bool runParser(const Parser &parser, llvm::StringRef bytes);

} // namespace onnxquant::fuzz

#endif // ONNXQUANT_FUZZ_PARSERCASES_H
