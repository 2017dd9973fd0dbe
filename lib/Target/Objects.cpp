// Machine code in several objects, made at the same time.
//
// The functions of a module of the LLVM dialect are dealt out to parts by their
// size, each a module of its own that declares what it uses of the others. What
// was private to the module becomes hidden, under names with the model's name
// in front. Each part goes to a thread, with a context of LLVM of its own. How
// functions are dealt out depends on the module alone.

#include "EmitSteps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace onnxquant;
namespace dialect = mlir::LLVM;

/// Operations that make a part worth its while, and the most parts.
static constexpr size_t partSize = 1500, mostParts = 32;

namespace {

/// Functions that are compiled together.
struct Part {
  size_t operations = 0;
  SmallVector<dialect::LLVMFuncOp> functions;
};

/// A module, and the object made of it. The first is the module that the others
/// were taken from.
struct PartJob {
  size_t operations = 0;
  bool isFirst = false;
  mlir::ModuleOp module;
  mlir::OwningOpRef<mlir::ModuleOp> own;
  std::unique_ptr<MemoryBuffer> object;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// What a function will have of instructions, about.
static size_t countOperations(dialect::LLVMFuncOp function) {
  size_t count = 0;
  function.walk([&](mlir::Operation *op) {
    count += !op->hasTrait<mlir::OpTrait::ConstantLike>();
  });
  return count;
}

/// Whether a function stays one, so that it can be compiled on its own.
static bool isKernel(dialect::LLVMFuncOp function) {
  std::optional<mlir::ArrayAttr> attributes = function.getPassthrough();
  return attributes && any_of(*attributes, [](mlir::Attribute attribute) {
           auto name = dyn_cast<mlir::StringAttr>(attribute);
           return name && name.getValue() == "noinline";
         });
}

/// The first part has all that isn't a kernel: it is called from outside, or
/// small enough to be inlined.
static std::vector<Part> dealFunctions(mlir::ModuleOp module) {
  std::vector<Part> parts(1);
  std::vector<std::tuple<size_t, size_t, dialect::LLVMFuncOp>> kernels;
  size_t total = 0;
  for (auto function : module.getOps<dialect::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    size_t size = countOperations(function);
    if (isKernel(function)) {
      kernels.push_back({size, kernels.size(), function});
      total += size;
    } else {
      parts[0].functions.push_back(function);
      parts[0].operations += size;
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
                                      return a.operations < b.operations;
                                    });
    least.functions.push_back(function);
    least.operations += size;
  }
  erase_if(parts, [](const Part &part) { return part.functions.empty(); });
  return parts;
}

/// A declaration of what another part defines, or of what no part does.
static mlir::Operation *declare(mlir::Operation *symbol) {
  mlir::Operation *copy = symbol->cloneWithoutRegions();
  auto hide = [](auto op) {
    if (op.getLinkage() != dialect::Linkage::Private &&
        op.getLinkage() != dialect::Linkage::Internal)
      return;
    op.setLinkage(dialect::Linkage::External);
    op.setVisibility_(dialect::Visibility::Hidden);
  };
  if (auto function = dyn_cast<dialect::LLVMFuncOp>(copy))
    hide(function);
  if (auto global = dyn_cast<dialect::GlobalOp>(copy)) {
    global.removeValueAttr();
    hide(global);
  }
  return copy;
}

/// Declares what a module uses and doesn't have.
static void
declareUsed(mlir::ModuleOp module,
            const DenseMap<mlir::StringAttr, mlir::Operation *> &symbols) {
  mlir::SymbolTable own(module);
  std::optional<mlir::SymbolTable::UseRange> uses =
      mlir::SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses)
    return;
  mlir::Block *body = module.getBody();
  for (mlir::SymbolTable::SymbolUse use : *uses) {
    mlir::StringAttr name = use.getSymbolRef().getRootReference();
    mlir::Operation *symbol = symbols.lookup(name);
    if (symbol && !own.lookup(name))
      own.insert(declare(symbol), body->begin());
  }
}

static std::vector<PartJob> splitModule(mlir::ModuleOp source) {
  std::vector<Part> parts = dealFunctions(source);
  DenseMap<mlir::StringAttr, mlir::Operation *> symbols;
  for (auto symbol : source.getOps<mlir::SymbolOpInterface>())
    symbols[symbol.getNameAttr()] = symbol;
  std::vector<PartJob> jobs(parts.size());
  for (size_t index = 0; index < parts.size(); ++index) {
    PartJob &job = jobs[index];
    job.operations = parts[index].operations;
    job.isFirst = index == 0;
    job.module = source;
    if (job.isFirst)
      continue;
    job.own = mlir::ModuleOp::create(source.getLoc());
    job.module = *job.own;
    job.module->setAttrs(source->getAttrDictionary());
    for (dialect::LLVMFuncOp function : parts[index].functions) {
      function->remove();
      job.module.push_back(function);
    }
  }
  for (PartJob &job : jobs)
    declareUsed(job.module, symbols);
  return jobs;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static StringSet<> namesOf(mlir::ModuleOp module) {
  StringSet<> names;
  for (auto symbol : module.getOps<mlir::SymbolOpInterface>())
    names.insert(symbol.getName());
  return names;
}

/// Makes everything that is private visible to the module's other parts, and to
/// them only. What has none of these names was made by the translation, for
/// this part alone. What is `elsewhere` has a name already, which constants
/// that are equal share.
static void shareSymbols(Module &module, const StringSet<> &names,
                         StringRef prefix,
                         const StringMap<std::string> &elsewhere) {
  SmallVector<GlobalValue *> same;
  for (GlobalValue &value : module.global_values()) {
    bool isShared = value.hasLocalLinkage() ||
                    (value.isDeclaration() && value.hasHiddenVisibility());
    if (!isShared || !names.contains(value.getName()))
      continue;
    value.setLinkage(GlobalValue::ExternalLinkage);
    value.setVisibility(GlobalValue::HiddenVisibility);
    auto other = elsewhere.find(value.getName());
    std::string name = other != elsewhere.end()
                           ? other->second
                           : (prefix + "_" + value.getName()).str();
    GlobalValue *known = module.getNamedValue(name);
    if (known && known != &value) {
      value.replaceAllUsesWith(known);
      same.push_back(&value);
    } else {
      value.setName(name);
    }
  }
  for (GlobalValue *value : same)
    value->eraseFromParent();
}

static Error compile(PartJob &job, const ObjectOptions &objects,
                     const StringMap<std::string> &elsewhere,
                     const onnxquant::TargetOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  auto module = translateOnly(job.module, context, **machine, options);
  if (!module)
    return module.takeError();
  StringSet<> names = namesOf(job.module);
  job.own = {};
  if (job.isFirst && objects.hasGetter)
    addModelGetter(**module, objects.name);
  shareSymbols(**module, names, objects.name, elsewhere);
  optimizeModule(**module, **machine, options);
  auto object = emitModule(**module, OutputKind::Object, options);
  if (!object)
    return object.takeError();
  job.object = std::move(*object);
  return Error::success();
}

/// Compiles the parts on the cores there are, the largest first.
static Error compileAll(std::vector<PartJob> &jobs,
                        const ObjectOptions &objects,
                        const StringMap<std::string> &elsewhere,
                        const onnxquant::TargetOptions &options) {
  std::vector<PartJob *> order;
  for (PartJob &job : jobs)
    order.push_back(&job);
  // In which order doesn't matter for what comes out.
  sort(order, [](const PartJob *a, const PartJob *b) {
    return a->operations > b->operations;
  });
  // Attributes are made in several threads only where the context allows it.
  bool isThreaded = jobs[0].module.getContext()->isMultithreadingEnabled();
  std::mutex mutex;
  Error failed = Error::success();
  DefaultThreadPool pool(hardware_concurrency(isThreaded ? 0 : 1));
  for (PartJob *job : order)
    pool.async([&, job] {
      Error error = compile(*job, objects, elsewhere, options);
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
  StringMap<std::string> elsewhere;
  if (!objects.single) {
    LLVMContext context;
    if (auto constants = takeConstants(source, objects.name, context,
                                       objects.shared, elsewhere)) {
      auto object = emitConstants(*constants, **machine, options);
      if (!object)
        return object.takeError();
      result.push_back(std::move(*object));
    }
  }
  registerTranslations(*source.getContext());
  if (objects.single) {
    LLVMContext context;
    auto module = translateOnly(source, context, **machine, options);
    if (!module)
      return module.takeError();
    if (objects.hasGetter)
      addModelGetter(**module, objects.name);
    optimizeModule(**module, **machine, options);
    auto object = emitModule(**module, OutputKind::Object, options);
    if (!object)
      return object.takeError();
    result.push_back(std::move(*object));
    return result;
  }
  std::vector<PartJob> jobs = splitModule(source);
  if (Error error = compileAll(jobs, objects, elsewhere, options))
    return error;
  for (PartJob &job : jobs)
    result.push_back(std::move(job.object));
  return result;
}
