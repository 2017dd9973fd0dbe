// Commands that a verb proposes: as they can be typed, with the options that it
// was given itself.

#ifndef ONNXQUANT_TOOLS_ONNXQ_COMMANDTEXT_H
#define ONNXQUANT_TOOLS_ONNXQ_COMMANDTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace onnxquant::cli {

/// Options by name, without dashes; those of flags are `true` or `false`.
using NamedOptions = std::vector<std::pair<std::string, std::string>>;

/// A word for a shell.
std::string quoteForShell(llvm::StringRef word);

/// The options among arguments but some, with `-` for `_` in their names.
NamedOptions optionsBut(llvm::ArrayRef<const char *> arguments,
                        llvm::ArrayRef<llvm::StringRef> left);

/// Sets an option. Lists of names grow.
void setOption(NamedOptions &options, llvm::StringRef name,
               llvm::StringRef value);

/// Words of `onnxq quantize MODEL ... -o OUTPUT`.
std::vector<std::string> quantizeCommand(llvm::StringRef model,
                                         const NamedOptions &options,
                                         llvm::StringRef output);
/// The same as a line for a shell.
std::string asLine(llvm::ArrayRef<std::string> words);

/// A file's name with something else before its extension.
std::string besides(llvm::StringRef path, llvm::StringRef suffix);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_COMMANDTEXT_H
