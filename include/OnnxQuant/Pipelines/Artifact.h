// Files with compiled code, by their extension: `.ll`, `.s`, `.o`, `.so`.

#ifndef ONNXQUANT_PIPELINES_ARTIFACT_H
#define ONNXQUANT_PIPELINES_ARTIFACT_H

#include "OnnxQuant/Pipelines/CodeCache.h"
#include "OnnxQuant/Pipelines/Compile.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxquant {

/// Whether a path has an extension of compiled code.
bool isArtifact(llvm::StringRef path);

/// Writes a module of the LLVM dialect, as the pipeline to it leaves it, for
/// the target that is written on it. A module that is still of the `onnx`
/// dialect is lowered with `options` first. An object gets a C header beside
/// it. Errors are diagnostics; nothing is left behind then.
llvm::LogicalResult writeArtifact(mlir::ModuleOp module, llvm::StringRef path,
                                  const CompileOptions &options);

/// What compiled code becomes: code in this process, a shared library (which
/// defines `onnxq_get_model`), or an object, which is linked of several or made
/// as one.
enum class CodeKind { InProcess, Library, Object, SingleObject };

/// Compiles a module of the `onnx` dialect (which is consumed), or finds it in
/// the cache. Errors are diagnostics.
llvm::FailureOr<CompiledModel>
compileToObjects(mlir::ModuleOp module, const CompileOptions &options,
                 CodeKind kind = CodeKind::InProcess);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_ARTIFACT_H
