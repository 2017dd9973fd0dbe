// From the LLVM dialect to machine code for a named target.

#ifndef ONNXQUANT_TARGET_TARGET_H
#define ONNXQUANT_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace onnxquant {

/// What code is generated for. Nothing of it depends on the machine that the
/// compiler runs on, unless the target is `native`.
struct TargetOptions {
  std::string triple, cpu, features;
  unsigned optLevel = 3;
};

/// The names that `parseTarget` knows.
std::vector<std::string> getTargetNames();

/// `native`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`,
/// `aarch64+dotprod`, `aarch64+i8mm`, `riscv64` or `riscv64+v`; `cpu` and
/// `features` (such as `+avx512vnni,-fma`) refine it.
llvm::Expected<TargetOptions> parseTarget(llvm::StringRef name,
                                          llvm::StringRef cpu = "",
                                          llvm::StringRef features = "");

/// What the module says it is for (`onnxq.target`), if it does.
std::optional<TargetOptions> readTarget(mlir::ModuleOp module);

/// Whether the target multiplies and adds floats in one instruction.
bool hasFusedMultiplyAdd(const TargetOptions &options);

/// A machine to generate code for.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetOptions &options);

/// Translates and optimizes a module of the LLVM dialect.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                const TargetOptions &options);

/// Defines `onnxq_get_model`, by which a shared library tells its model NAME.
void addModelGetter(llvm::Module &module, llvm::StringRef name);

enum class OutputKind { LLVMIR, Assembly, Object };

/// Machine code (or text) of an optimized module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitModule(llvm::Module &module, OutputKind kind, const TargetOptions &options);

/// Links an object to a shared library with the target's linker. The library
/// appears whole or not at all.
llvm::Error linkSharedLibrary(llvm::MemoryBufferRef object,
                              llvm::StringRef output,
                              const TargetOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_TARGET_H
