// Machine code in several objects, made at the same time.
//
// The functions of a module are dealt out to parts by their size; what was
// private to the module becomes hidden, under names with the model's name in
// front. Each part goes to a thread with a context of its own as bitcode. How
// functions are dealt out depends on the module alone.

#include "EmitSteps.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace llvm;
using namespace onnxquant;

/// Instructions that make a part worth its while, and the most parts.
static constexpr size_t partSize = 1500, mostParts = 32;

namespace {

/// Functions that are compiled together.
struct Part {
  size_t instructions = 0;
  SmallVector<const Function *> functions;
};

/// Bitcode, and the object made of it.
struct PartJob {
  size_t instructions = 0;
  SmallVector<char, 0> bitcode;
  std::unique_ptr<MemoryBuffer> object;
};

} // namespace

/// Makes everything that is private visible to the module's other parts, and to
/// them only.
static void shareSymbols(Module &module, StringRef prefix) {
  for (GlobalValue &value : module.global_values()) {
    bool isShared = value.hasLocalLinkage() ||
                    (value.isDeclaration() && value.hasHiddenVisibility());
    if (!isShared)
      continue;
    value.setLinkage(GlobalValue::ExternalLinkage);
    value.setVisibility(GlobalValue::HiddenVisibility);
    value.setName(prefix + "_" + value.getName());
  }
}

/// The first part has all that isn't a kernel: it is called from outside, or
/// small enough to be inlined.
static std::vector<Part> dealFunctions(const Module &module) {
  std::vector<Part> parts(1);
  std::vector<std::tuple<size_t, size_t, const Function *>> kernels;
  size_t total = 0;
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    size_t size = function.getInstructionCount();
    if (function.hasFnAttribute(Attribute::NoInline)) {
      kernels.push_back({size, kernels.size(), &function});
      total += size;
    } else {
      parts[0].functions.push_back(&function);
      parts[0].instructions += size;
    }
  }
  size_t count = std::clamp<size_t>(total / partSize, 1, mostParts);
  parts.resize(1 + count);
  sort(kernels, [](const auto &a, const auto &b) {
    return std::tuple(std::get<0>(b), std::get<1>(a)) <
           std::tuple(std::get<0>(a), std::get<1>(b));
  });
  for (auto [size, rank, function] : kernels) {
    Part &least = *std::min_element(parts.begin() + 1, parts.end(),
                                    [](const Part &a, const Part &b) {
                                      return a.instructions < b.instructions;
                                    });
    least.functions.push_back(function);
    least.instructions += size;
  }
  erase_if(parts, [](const Part &part) { return part.functions.empty(); });
  return parts;
}

static std::vector<PartJob> splitModule(Module &module) {
  std::vector<Part> parts = dealFunctions(module);
  std::vector<PartJob> jobs(parts.size());
  for (size_t index = 0; index < parts.size(); ++index) {
    const Part &part = parts[index];
    SmallPtrSet<const GlobalValue *, 16> own(part.functions.begin(),
                                             part.functions.end());
    ValueToValueMapTy map;
    std::unique_ptr<Module> copy =
        CloneModule(module, map, [&](const GlobalValue *value) {
          bool isFunction = isa<Function>(value);
          return isFunction ? own.contains(value) : index == 0;
        });
    // Constructors are the first part's.
    if (GlobalVariable *list = copy->getNamedGlobal("llvm.global_ctors");
        list && list->isDeclaration())
      list->eraseFromParent();
    jobs[index].instructions = part.instructions;
    raw_svector_ostream os(jobs[index].bitcode);
    WriteBitcodeToFile(*copy, os);
  }
  return jobs;
}

static Error compile(PartJob &job, const onnxquant::TargetOptions &options) {
  LLVMContext context;
  auto module = parseBitcodeFile(
      MemoryBufferRef(StringRef(job.bitcode.data(), job.bitcode.size()),
                      "part"),
      context);
  if (!module)
    return module.takeError();
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  optimizeModule(**module, **machine, options.optLevel);
  auto object = emitModule(**module, OutputKind::Object, options);
  if (!object)
    return object.takeError();
  job.object = std::move(*object);
  job.bitcode = {};
  return Error::success();
}

/// Compiles the parts on the cores there are, the largest first.
static Error compileAll(std::vector<PartJob> &jobs,
                        const onnxquant::TargetOptions &options) {
  std::vector<PartJob *> order;
  for (PartJob &job : jobs)
    order.push_back(&job);
  // In which order doesn't matter for what comes out.
  sort(order, [](const PartJob *a, const PartJob *b) {
    return a->instructions > b->instructions;
  });
  std::mutex mutex;
  Error failed = Error::success();
  DefaultThreadPool pool(hardware_concurrency());
  for (PartJob *job : order)
    pool.async([&, job] {
      Error error = compile(*job, options);
      std::lock_guard<std::mutex> lock(mutex);
      failed = joinErrors(std::move(failed), std::move(error));
    });
  pool.wait();
  return failed;
}

/// The object with the large constants.
static Expected<std::unique_ptr<MemoryBuffer>>
emitConstants(Module &constants, TargetMachine &machine,
              const onnxquant::TargetOptions &options) {
  constants.setTargetTriple(Triple(options.triple));
  constants.setDataLayout(machine.createDataLayout());
  return emitModule(constants, OutputKind::Object, options);
}

Expected<Objects>
onnxquant::emitObjects(mlir::ModuleOp source, const ObjectOptions &objects,
                       const onnxquant::TargetOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  if (Error error = checkConstants(source))
    return error;
  Objects result;
  if (!objects.single) {
    LLVMContext context;
    if (auto constants = takeConstants(source, objects.name, context)) {
      auto object = emitConstants(*constants, **machine, options);
      if (!object)
        return object.takeError();
      result.push_back(std::move(*object));
    }
  }
  LLVMContext context;
  auto module = translateOnly(source, context, **machine, options);
  if (!module)
    return module.takeError();
  if (objects.hasGetter)
    addModelGetter(**module, objects.name);
  std::vector<PartJob> jobs;
  if (objects.single) {
    optimizeModule(**module, **machine, options.optLevel);
    auto object = emitModule(**module, OutputKind::Object, options);
    if (!object)
      return object.takeError();
    result.push_back(std::move(*object));
    return result;
  }
  shareSymbols(**module, objects.name);
  jobs = splitModule(**module);
  module->reset();
  if (Error error = compileAll(jobs, options))
    return error;
  for (PartJob &job : jobs)
    result.push_back(std::move(job.object));
  return result;
}
