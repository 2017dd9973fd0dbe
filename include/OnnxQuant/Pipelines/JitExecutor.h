// The executor of this process: compiles for the host and loads the code.

#ifndef ONNXQUANT_PIPELINES_JITEXECUTOR_H
#define ONNXQUANT_PIPELINES_JITEXECUTOR_H

#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Support/Executor.h"

namespace onnxquant {

/// Compiles with `options`; the target is the host's where none is given.
std::unique_ptr<Executor> createJitExecutor(CompileOptions options = {});

/// What samples are run with, for `target` or the host: code that is compiled
/// briefly.
std::unique_ptr<Executor> createCalibrationExecutor(TargetOptions target = {});

/// What constants are folded with: the graphs are small, and the preparation
/// that folds them must not begin again inside.
std::unique_ptr<Executor> createFoldingExecutor();

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_JITEXECUTOR_H
