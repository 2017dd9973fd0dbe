// Settings of verbs in a file: `--config`, up to a whole job.

#ifndef ONNXQUANT_TOOLS_ONNXQ_CONFIG_H
#define ONNXQUANT_TOOLS_ONNXQ_CONFIG_H

#include "Verb.h"

namespace onnxquant::cli {

/// Runs a verb. With `--config FILE`, what the file says goes before the
/// arguments, which win; for quantize, other verbs follow that the file has
/// sections for. See docs/Execution.md.
int runWithConfig(const Verb &verb, llvm::ArrayRef<const char *> arguments);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_CONFIG_H
