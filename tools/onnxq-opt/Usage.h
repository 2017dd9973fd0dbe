// The command line of onnxq-opt for people: its help, and what was meant by
// names that don't exist.

#ifndef ONNXQUANT_TOOLS_ONNXQ_OPT_USAGE_H
#define ONNXQUANT_TOOLS_ONNXQ_OPT_USAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <string>

namespace onnxquant {

/// The names of all options that there are now: before MLIR's and ours are
/// registered, LLVM's own.
llvm::StringSet<> registeredOptions();

/// Prints the help if the arguments ask for it: models and passes first, LLVM's
/// own options not at all; `--help PASS` is of one pass. The exit status, if it
/// was asked for.
std::optional<int> printUsage(llvm::ArrayRef<const char *> arguments,
                              const llvm::StringSet<> &ofLLVM);

/// What is wrong with a name among the arguments, if anything is: an option, a
/// pass or an option of a pass that doesn't exist.
std::optional<std::string>
findWrongName(llvm::ArrayRef<const char *> arguments);

/// Leaves out weights that are printed to a terminal, unless the arguments say
/// from what size on.
void elideWeights();

} // namespace onnxquant

#endif // ONNXQUANT_TOOLS_ONNXQ_OPT_USAGE_H
