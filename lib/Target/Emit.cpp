// Translation, optimization and emission of modules.

#include "EmitSteps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Code reaches its constants by distances of 32 bits with a sign.
static constexpr uint64_t mostConstantBytes = uint64_t(1920) << 20;

/// The bytes of the constants that the code will hold.
static uint64_t constantBytes(mlir::ModuleOp module) {
  uint64_t bytes = 0;
  for (auto global : module.getOps<mlir::LLVM::GlobalOp>())
    if (auto elements =
            dyn_cast_or_null<mlir::ElementsAttr>(global.getValueOrNull())) {
      // Elements that are indices have no width of their own.
      mlir::Type type = elements.getElementType();
      unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
      bytes += elements.getNumElements() * ((bits + 7) / 8);
    }
  return bytes;
}

Error onnxquant::checkConstants(mlir::ModuleOp module) {
  uint64_t bytes = constantBytes(module);
  if (bytes <= mostConstantBytes)
    return Error::success();
  return fail("the model's constants take " + Twine(bytes >> 20) +
              " MiB, but compiled code can hold " +
              Twine(mostConstantBytes >> 20) + " MiB");
}

/// Instructions of a block that LLVM looks through for pairs. Of longer ones,
/// which are graphs that call kernels, it compares all loads with each other.
static constexpr size_t mostPaired = 4096;

/// Whether a block of a function is too long for LLVM's SLP vectorizer.
static bool isLong(const Any &unit) {
  const auto *function = any_cast<const Function *>(&unit);
  return function && any_of(**function, [](const BasicBlock &block) {
           return block.size() > mostPaired;
         });
}

/// Turns of a loop that is written out as a whole, if that isn't long.
static constexpr unsigned fewTurns = 8;

void onnxquant::optimizeModule(Module &module, TargetMachine &machine,
                               const onnxquant::TargetOptions &options) {
  unsigned level = options.optLevel;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = level > 1;
  tuning.SLPVectorization = level > 1;
  // Kernels are unrolled as they should be. What else LLVM would unroll, by up
  // to thousands of instructions, takes longer to compile than it saves.
  tuning.LoopUnrolling = false;
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](StringRef pass, Any unit) {
    return pass != "SLPVectorizerPass" || !isLong(unit);
  });
  PassBuilder passes(&machine, tuning, std::nullopt, &callbacks);
  // Loops of up to so many turns are edges of images.
  bool isBrief = options.isBrief;
  auto unroll = [isBrief](FunctionPassManager &manager,
                          OptimizationLevel level) {
    if (level.getSpeedupLevel() > 1)
      manager.addPass(LoopUnrollPass(LoopUnrollOptions()
                                         .setPartial(false)
                                         .setRuntime(false)
                                         .setUpperBound(!isBrief)
                                         .setFullUnrollMaxCount(fewTurns)));
  };
  passes.registerScalarOptimizerLateEPCallback(unroll);
  passes.registerVectorizerEndEPCallback(unroll);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  OptimizationLevel optLevel = level == 0   ? OptimizationLevel::O0
                               : level == 1 ? OptimizationLevel::O1
                               : level == 2 ? OptimizationLevel::O2
                                            : OptimizationLevel::O3;
  ModulePassManager pipeline =
      level == 0 ? passes.buildO0DefaultPipeline(optLevel)
                 : passes.buildPerModuleDefaultPipeline(optLevel);
  pipeline.run(module, modules);
}

void onnxquant::registerTranslations(mlir::MLIRContext &context) {
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  mlir::registerOpenMPDialectTranslation(context);
}

Expected<std::unique_ptr<Module>>
onnxquant::translateOnly(mlir::ModuleOp source, LLVMContext &context,
                         TargetMachine &machine,
                         const onnxquant::TargetOptions &options) {
  if (Error error = checkConstants(source))
    return error;
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(source, context, "model");
  if (!module)
    return fail("the module can't be translated to LLVM IR");
  module->setTargetTriple(Triple(options.triple));
  module->setDataLayout(machine.createDataLayout());
  for (Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.cpu);
    function.addFnAttr("target-features", options.features);
  }
  return module;
}

Expected<std::unique_ptr<Module>>
onnxquant::translateModule(mlir::ModuleOp source, LLVMContext &context,
                           const onnxquant::TargetOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  registerTranslations(*source.getContext());
  auto module = translateOnly(source, context, **machine, options);
  if (module)
    optimizeModule(**module, **machine, options);
  return module;
}

namespace {
/// Leaves out what takes a fourth of the code generator's time, for a percent
/// of the code's.
class BriefGate : public OptPassGate {
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return pass != "Loop Strength Reduction";
  }
  bool isEnabled() const override { return true; }
};
} // namespace

/// LLVM's writer of Xtensa's objects places constants of code where
/// instructions can't reach them; its assembler, which reads where they are,
/// does not.
static bool needsAssembler(const onnxquant::TargetOptions &options) {
  return Triple(options.triple).getArch() == Triple::xtensa;
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::emitModule(Module &module, OutputKind kind,
                      const onnxquant::TargetOptions &options) {
  if (kind == OutputKind::Object && needsAssembler(options)) {
    auto text = emitModule(module, OutputKind::Assembly, options);
    if (!text)
      return text.takeError();
    return assemble(**text, options);
  }
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  if (kind == OutputKind::LLVMIR) {
    module.print(os, nullptr);
  } else {
    auto machine = createTargetMachine(options);
    if (!machine)
      return machine.takeError();
    legacy::PassManager passes;
    CodeGenFileType type = kind == OutputKind::Object
                               ? CodeGenFileType::ObjectFile
                               : CodeGenFileType::AssemblyFile;
    if ((*machine)->addPassesToEmitFile(passes, os, nullptr, type))
      return fail("the target can't emit this kind of file");
    BriefGate gate;
    OptPassGate &usual = module.getContext().getOptPassGate();
    if (options.isBrief)
      module.getContext().setOptPassGate(gate);
    passes.run(module);
    module.getContext().setOptPassGate(usual);
  }
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), "model", /*RequiresNullTerminator=*/false);
}

void onnxquant::addModelGetter(Module &module, StringRef name) {
  GlobalVariable *model = module.getNamedGlobal((name + "_model").str());
  if (!model || module.getFunction("onnxq_get_model"))
    return;
  LLVMContext &context = module.getContext();
  auto *function =
      Function::Create(FunctionType::get(PointerType::get(context, 0), false),
                       GlobalValue::ExternalLinkage, "onnxq_get_model", module);
  ReturnInst::Create(context, model, BasicBlock::Create(context, "", function));
}
