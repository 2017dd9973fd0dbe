// The steps of code generation that files of this folder share.

#ifndef ONNXQUANT_LIB_TARGET_EMITSTEPS_H
#define ONNXQUANT_LIB_TARGET_EMITSTEPS_H

#include "OnnxQuant/Target/Target.h"

namespace onnxquant {

/// Fails if a module has more constants than code can reach.
llvm::Error checkConstants(mlir::ModuleOp module);

/// Makes a context's modules translatable.
void registerTranslations(mlir::MLIRContext &context);

/// Translates a module of the LLVM dialect as it is. Modules of one context may
/// be translated at the same time.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateOnly(mlir::ModuleOp source, llvm::LLVMContext &context,
              llvm::TargetMachine &machine, const TargetOptions &options);

/// Runs LLVM's default pipeline for the target.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    const TargetOptions &options);

/// The object of a text of assembly.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
assemble(const llvm::MemoryBuffer &text, const TargetOptions &options);

/// Takes large constants out of a module of the LLVM dialect, where they become
/// hidden declarations, and gives a module that defines them; none if there are
/// no large constants. `prefix` begins their names there. What is in `shared`
/// isn't defined again: `names` then tells how it is called.
std::unique_ptr<llvm::Module>
takeConstants(mlir::ModuleOp source, llvm::StringRef prefix,
              llvm::LLVMContext &context, SharedConstants *shared,
              llvm::StringMap<std::string> &names);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TARGET_EMITSTEPS_H
