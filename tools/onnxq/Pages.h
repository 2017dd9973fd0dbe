// What is made of the verbs' help: completions for shells, and manual pages.

#ifndef ONNXQUANT_TOOLS_ONNXQ_PAGES_H
#define ONNXQUANT_TOOLS_ONNXQ_PAGES_H

#include "Verb.h"

namespace onnxquant::cli {

/// `onnxq completion bash|zsh|fish`.
int printCompletion(llvm::ArrayRef<const char *> arguments);

/// `onnxq man [VERB]`, or `onnxq man --output-dir DIR` for a file of each page.
int printManual(llvm::ArrayRef<const char *> arguments);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_PAGES_H
