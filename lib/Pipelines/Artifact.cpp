// Writes compiled code to files, by their extension.

#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Target/BareObject.h"
#include "OnnxQuant/Target/Header.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;

bool onnxquant::isArtifact(StringRef path) {
  return llvm::is_contained({".ll", ".s", ".o", ".a", ".so"},
                            llvm::sys::path::extension(path));
}

/// What the compiled graph's attributes tell of it; no name if there is none.
static ModelDescription describe(ModuleOp module, const TargetOptions &target) {
  ModelDescription model;
  auto name = module->getAttrOfType<StringAttr>(modelNameAttr);
  if (!name)
    return model;
  model.name = name.str();
  model.triple = target.triple;
  model.cpu = target.cpu;
  model.isBare = isBare(target);
  model.allocates = module.lookupSymbol("malloc") != nullptr;
  if (auto threads = module->getAttrOfType<IntegerAttr>(threadsAttr))
    model.threads = threads.getInt();
  auto exponents = module->getAttrOfType<DictionaryAttr>(exponentsAttr);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto bytes = function->getAttrOfType<IntegerAttr>(workspaceBytesAttr);
    auto ends = function->getAttrOfType<DictionaryAttr>(signatureAttr);
    if (!bytes || !ends)
      continue;
    model.workspaceBytes = bytes.getInt();
    auto read = [&](StringRef which, std::vector<ModelDescription::End> &list) {
      for (Attribute attribute : ends.getAs<ArrayAttr>(which)) {
        auto entry = cast<DictionaryAttr>(attribute);
        auto type =
            cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue());
        ModelDescription::End end;
        end.name = entry.getAs<StringAttr>("name").str();
        end.type = onnx::onnxFromElementType(type.getElementType()).value_or(0);
        for (int64_t size : type.getShape())
          end.dims.push_back(ShapedType::isDynamic(size) ? -1 : size);
        if (exponents)
          if (auto exponent = exponents.getAs<IntegerAttr>(end.name))
            end.exponent = exponent.getInt();
        list.push_back(end);
      }
    };
    read("inputs", model.inputs);
    read("outputs", model.outputs);
  }
  return model;
}

/// "3 Conv, 1 MatMul" of the nodes without a kernel that run as `kind`; empty
/// if there is none. Counts them.
static std::string listOps(ArrayAttr nodes, StringRef kind, int64_t &count) {
  std::map<std::string, int64_t> byOp;
  count = 0;
  for (auto node : nodes.getAsRange<DictionaryAttr>())
    if (node.getAs<StringAttr>("as").getValue() == kind) {
      ++byOp[node.getAs<StringAttr>("op").str()];
      ++count;
    }
  std::string text;
  for (const auto &[op, number] : byOp)
    text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + op;
  return text;
}

/// A line on the nodes that no vectorized kernel computes.
static std::string summarizeLeft(ModuleOp module) {
  auto nodes = module->getAttrOfType<ArrayAttr>(withoutKernelAttr);
  if (!nodes)
    return "";
  int64_t loops, floats;
  std::string loopOps = listOps(nodes, "loops", loops);
  std::string floatOps = listOps(nodes, "float", floats);
  std::string text;
  llvm::raw_string_ostream os(text);
  auto nodesAre = [&](int64_t count, StringRef kind) {
    os << count << kind << (count == 1 ? " node runs " : " nodes run ");
  };
  if (loops > 0) {
    nodesAre(loops, "");
    os << "without a vectorized kernel (" << loopOps << ")";
  }
  if (floats > 0) {
    os << (loops > 0 ? ", " : "");
    nodesAre(floats, " quantized");
    os << "in float (" << floatOps << ")";
  }
  return text;
}

static void reportLeft(StringRef text, MLIRContext *context,
                       const CompileOptions &options) {
  if (text.empty() || options.kernelReport == KernelReport::None)
    return;
  emitRemark(UnknownLoc::get(context))
      << text
      << (options.kernelReport == KernelReport::Count
              ? "; --verbose tells which, and why"
              : "");
}

/// Writes the object and its header, if there is one; neither appears without
/// the other's having been written whole.
static llvm::Error writeObject(StringRef path, StringRef bytes,
                               StringRef headerText) {
  auto object = AtomicFile::create(path);
  if (!object)
    return object.takeError();
  (*object)->os() << bytes;
  if (headerText.empty())
    return (*object)->commit();
  SmallString<128> headerPath(path);
  llvm::sys::path::replace_extension(headerPath, ".h");
  auto header = AtomicFile::create(headerPath);
  if (!header)
    return header.takeError();
  (*header)->os() << headerText;
  return commitTogether({object->get(), header->get()});
}

/// Text of the target's kind: assembly or LLVM IR.
static llvm::Error writeText(ModuleOp module, StringRef path, OutputKind kind,
                             const TargetOptions &target) {
  llvm::LLVMContext context;
  auto translated = translateModule(module, context, target);
  if (!translated)
    return translated.takeError();
  auto emitted = emitModule(**translated, kind, target);
  if (!emitted)
    return emitted.takeError();
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  (*file)->os() << (*emitted)->getBuffer();
  return (*file)->commit();
}

/// Machine code of a graph for several targets, the best first, or for one that
/// not every processor is: with an entry that chooses.
static llvm::Expected<CompiledModel>
emitVariants(ArrayRef<std::pair<ModuleOp, TargetOptions>> modules,
             bool hasGetter) {
  ModelDescription description;
  std::vector<Variant> variants;
  SharedConstants shared;
  CompiledModel model;
  for (auto [index, pair] : llvm::enumerate(modules)) {
    auto [module, target] = pair;
    ModelDescription own = describe(module, target);
    if (index == 0)
      description = own;
    description.workspaceBytes =
        std::max(description.workspaceBytes, own.workspaceBytes);
    description.allocates |= own.allocates;
    description.targets.push_back(describeTarget(target));
    variants.push_back(hideEntry(module, own.name, index, target));
    ObjectOptions options;
    options.name = variantName(own.name, index);
    options.shared = &shared;
    auto objects = emitObjects(module, options, target);
    if (!objects)
      return objects.takeError();
    std::move(objects->begin(), objects->end(),
              std::back_inserter(model.objects));
  }
  auto entry = emitDispatcher(description, variants, hasGetter);
  if (!entry)
    return entry.takeError();
  model.objects.push_back(std::move(*entry));
  model.header = writeHeader(description);
  model.usesOpenMP = description.threads > 1;
  return model;
}

/// Machine code of a module of the LLVM dialect. Without a joiner, what can't
/// be linked later must be one object, which doesn't look at the processor.
static llvm::Expected<CompiledModel> emit(ModuleOp module, CodeKind kind,
                                          const TargetOptions &target) {
  ModelDescription description = describe(module, target);
  bool isFile = kind == CodeKind::Library || kind == CodeKind::Object;
  if (isFile && !description.name.empty() && needsDispatch(target))
    return emitVariants(std::pair(module, target), kind == CodeKind::Library);
  ObjectOptions options;
  options.name = description.name;
  options.hasGetter = kind == CodeKind::Library;
  // A module of no graph keeps the symbols that it has.
  options.single = kind == CodeKind::SingleObject || description.name.empty();
  auto objects = emitObjects(module, options, target);
  if (!objects)
    return objects.takeError();
  CompiledModel model;
  model.objects = std::move(*objects);
  description.targets.push_back(describeTarget(target));
  if (!description.name.empty())
    model.header = writeHeader(description);
  model.usesOpenMP = description.threads > 1;
  return model;
}

/// Lowers a graph for all its targets; remarks are of the best one.
static FailureOr<CompiledModel>
compileVariants(ModuleOp module, const CompileOptions &options, CodeKind kind) {
  std::vector<TargetOptions> targets = {options.target};
  targets.insert(targets.end(), options.otherTargets.begin(),
                 options.otherTargets.end());
  if (llvm::Error error = orderVariants(targets))
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  std::vector<OwningOpRef<ModuleOp>> own;
  std::vector<std::pair<ModuleOp, TargetOptions>> modules;
  for (const TargetOptions &target : targets) {
    CompileOptions each = options;
    each.target = target;
    if (!modules.empty())
      each.kernelReport = KernelReport::None;
    own.push_back(cast<ModuleOp>(module->clone()));
    if (failed(lowerToLLVM(*own.back(), each)))
      return failure();
    modules.push_back({*own.back(), target});
  }
  Phase generating("generating code");
  std::string left = summarizeLeft(*own.front());
  auto model = emitVariants(modules, kind == CodeKind::Library);
  if (!model)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(model.takeError());
  model->withoutKernel = left;
  return std::move(*model);
}

/// The same for one target.
static FailureOr<CompiledModel>
compileOne(ModuleOp module, const CompileOptions &options, CodeKind kind) {
  if (failed(lowerToLLVM(module, options)))
    return failure();
  Phase generating("generating code");
  std::string left = summarizeLeft(module);
  auto model = emit(module, kind, options.target);
  if (!model)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(model.takeError());
  model->withoutKernel = left;
  return std::move(*model);
}

static StringRef nameOf(CodeKind kind) {
  switch (kind) {
  case CodeKind::Library:
    return "library";
  case CodeKind::Object:
    return "object";
  case CodeKind::SingleObject:
    return "single";
  case CodeKind::InProcess:
    return "process";
  }
  return "";
}

FailureOr<CompiledModel>
onnxquant::compileToObjects(ModuleOp module, const CompileOptions &options,
                            CodeKind kind) {
  CodeCache cache(options.cacheFolder);
  std::string key;
  if (cache.isOn()) {
    key = CodeCache::keyOf(module, options, nameOf(kind));
    // Only compilation tells why nodes have no kernel.
    std::optional<CompiledModel> found;
    if (options.kernelReport != KernelReport::Nodes)
      found = cache.find(key);
    if (found) {
      reportLeft(found->withoutKernel, module.getContext(), options);
      return std::move(*found);
    }
  }
  FailureOr<CompiledModel> model = options.otherTargets.empty()
                                       ? compileOne(module, options, kind)
                                       : compileVariants(module, options, kind);
  if (failed(model))
    return failure();
  reportLeft(model->withoutKernel, module.getContext(), options);
  if (llvm::Error error = cache.keep(key, *model))
    emitWarning(UnknownLoc::get(module.getContext()))
        << "the compiled model can't be kept: "
        << llvm::toString(std::move(error));
  return model;
}

/// Links or joins what was compiled.
static llvm::Error write(CompiledModel model, StringRef path,
                         const TargetOptions &target) {
  Phase linking("linking");
  if (llvm::sys::path::extension(path) == ".so")
    return linkSharedLibrary(model.objects, path, target, model.usesOpenMP);
  auto object = joinObjects(std::move(model.objects), target);
  if (!object)
    return object.takeError();
  if (isBare(target)) {
    auto use = measureObject(**object);
    if (!use)
      return use.takeError();
    if (llvm::Error error = checkCalls(*use))
      return error;
    if (llvm::sys::path::extension(path) == ".a") {
      object = makeArchive(**object, llvm::sys::path::stem(path));
      if (!object)
        return object.takeError();
    }
  }
  return writeObject(path, (*object)->getBuffer(), model.header);
}

static CodeKind kindOf(StringRef path, const TargetOptions &target) {
  if (llvm::sys::path::extension(path) == ".so")
    return CodeKind::Library;
  if (isBare(target))
    return CodeKind::SingleObject;
  return canJoinObjects(target) ? CodeKind::Object : CodeKind::SingleObject;
}

/// Writes a module of the LLVM dialect.
static llvm::Error writeLowered(ModuleOp module, StringRef path,
                                const TargetOptions &target) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".ll")
    return writeText(module, path, OutputKind::LLVMIR, target);
  if (extension == ".s")
    return writeText(module, path, OutputKind::Assembly, target);
  bool isLibrary = extension == ".so";
  if (isLibrary && !module->hasAttr(modelNameAttr))
    return llvm::createStringError(
        path + ": cannot be written: the module has no compiled graph");
  auto model = emit(module, kindOf(path, target), target);
  if (!model)
    return model.takeError();
  return write(std::move(*model), path, target);
}

LogicalResult onnxquant::writeArtifact(ModuleOp module, StringRef path,
                                       const CompileOptions &options) {
  StringRef extension = llvm::sys::path::extension(path);
  bool isLibrary = extension == ".so";
  bool isGraph = !module.getOps<onnx::EntryPointOp>().empty();
  auto report = [&](llvm::Error error) -> LogicalResult {
    if (!error)
      return success();
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  };
  bool observes =
      module.walk([](onnxq::ObserveOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (observes && isLibrary)
    return report(llvm::createStringError(
        path +
        ": cannot be linked: observers are functions of the process "
        "that calibrates; run the model with onnxq calibrate, or "
        "compile it to an object and link that with OnnxQuantObservers"));
  if (isBare(options.target) ? isLibrary : extension == ".a")
    return report(llvm::createStringError(
        path + ": cannot be written: " + options.target.name + " has " +
        (isLibrary ? "no shared libraries; expects .o or .a"
                   : "shared libraries and objects; expects .so or .o")));
  if (isGraph && (isLibrary || extension == ".o" || extension == ".a")) {
    CodeKind kind = kindOf(path, options.target);
    if (kind == CodeKind::SingleObject && !options.otherTargets.empty())
      return report(llvm::createStringError(
          path + ": cannot be written: code for several targets is joined by a "
                 "linker, and there is none"));
    FailureOr<CompiledModel> model = compileToObjects(module, options, kind);
    if (failed(model))
      return failure();
    return report(write(std::move(*model), path, options.target));
  }
  if (isGraph && failed(lowerToLLVM(module, options)))
    return failure();
  reportLeft(summarizeLeft(module), module.getContext(), options);
  TargetOptions target = options.target;
  if (std::optional<TargetOptions> own = readTarget(module))
    target = *own;
  target.optLevel = options.target.optLevel;
  return report(writeLowered(module, path, target));
}
