// From the LLVM dialect to machine code for a named target.

#ifndef ONNXQUANT_TARGET_TARGET_H
#define ONNXQUANT_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
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

struct ModelDescription;

/// What code is generated for. Nothing of it depends on the machine that the
/// compiler runs on, unless the target is `native`.
struct TargetOptions {
  /// What the user called it, such as `x86-64-v3`.
  std::string name;
  std::string triple, cpu, features;
  unsigned optLevel = 3;
  /// For code that runs some hundred times: leave out what takes longer to
  /// compile than it saves then.
  bool isBrief = false;
};

/// The names that `parseTarget` knows.
std::vector<std::string> getTargetNames();

/// `native`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`,
/// `aarch64+dotprod`, `aarch64+i8mm`, `riscv64`, `riscv64+v`, `esp32c3`,
/// `esp32p4` or `esp32s3`; `cpu` and `features` (such as `+avx512vnni,-fma`)
/// refine it.
llvm::Expected<TargetOptions> parseTarget(llvm::StringRef name,
                                          llvm::StringRef cpu = "",
                                          llvm::StringRef features = "");

/// What `--version` prints: the tool, its version, LLVM's, and the targets.
std::string versionText(llvm::StringRef tool);

/// The features beyond what every processor of its architecture has that code
/// for a target may use, as onnxquant-c/runtime.h knows them.
std::vector<std::string> neededFeatures(const TargetOptions &options);
/// The same in a line that begins with the target's name.
std::string describeTarget(const TargetOptions &options);
/// Orders targets of one library: the one that needs most comes first, as the
/// best that a processor may have. Equal ones are left out; different machines
/// are an error.
llvm::Error orderVariants(std::vector<TargetOptions> &targets);

/// What the module says it is for (`onnxq.target`), if it does.
std::optional<TargetOptions> readTarget(mlir::ModuleOp module);

/// Whether the target is a microcontroller: no operating system, pointers and
/// indices of 32 bits, no vectors, little memory.
bool isBare(const TargetOptions &options);

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

/// Objects that make one program together.
using Objects = std::vector<std::unique_ptr<llvm::MemoryBuffer>>;

/// Constants of several modules that are linked together, by a hash of what
/// they are: the symbol that holds each.
using SharedConstants = llvm::StringMap<std::string>;

/// How objects are made of a module.
struct ObjectOptions {
  /// Begins the names of what the objects share.
  std::string name = "model";
  /// Define `onnxq_get_model`.
  bool hasGetter = false;
  /// One object instead of several.
  bool single = false;
  /// Large constants that are there already; those of this module are added.
  SharedConstants *shared = nullptr;
};

/// Machine code of a module of the LLVM dialect, which is consumed: constants
/// in an object of their own, functions in several that are made at the same
/// time on the cores there are. What comes out doesn't depend on their number.
llvm::Expected<Objects> emitObjects(mlir::ModuleOp module,
                                    const ObjectOptions &objects,
                                    const TargetOptions &options);

/// A model's code for one target.
struct Variant {
  TargetOptions target;
  /// Whether something is computed when it is loaded.
  bool hasLoad = false;
};

/// Whether code for these targets must look at the processor that it runs on.
bool needsDispatch(llvm::ArrayRef<TargetOptions> targets);
/// Begins the names of what a variant of a model defines.
std::string variantName(llvm::StringRef model, size_t index);
/// Makes a module of the LLVM dialect with the entry of `model` a variant of
/// it: the entry gets a name of its own, which is hidden.
Variant hideEntry(mlir::ModuleOp module, llvm::StringRef model, size_t index,
                  const TargetOptions &target);
/// The object with the model's entry, which runs the first of the variants that
/// the processor has the features for.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitDispatcher(const ModelDescription &model, llvm::ArrayRef<Variant> variants,
               bool hasGetter);

/// Links objects to a shared library with the target's linker, and with
/// OpenMP's library where it is needed. The library appears whole or not at
/// all.
llvm::Error linkSharedLibrary(const Objects &objects, llvm::StringRef output,
                              const TargetOptions &options,
                              bool usesOpenMP = false);

/// Names of OpenMP's library on this machine, the best first.
std::vector<std::string> getOpenMPLibraries();

/// Whether there is a program that joins objects of the target.
bool canJoinObjects(const TargetOptions &options);
/// Joins objects to one with the target's linker.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
joinObjects(Objects objects, const TargetOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_TARGET_H
