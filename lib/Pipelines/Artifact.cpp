// Writes compiled code to files, by their extension.

#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Target/Header.h"
#include "OnnxQuant/Transforms/KernelFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;

bool onnxquant::isArtifact(StringRef path) {
  return llvm::is_contained({".ll", ".s", ".o", ".so"},
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
  model.allocates = module.lookupSymbol("malloc") != nullptr;
  if (auto threads = module->getAttrOfType<IntegerAttr>(threadsAttr))
    model.threads = threads.getInt();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto bytes = function->getAttrOfType<IntegerAttr>(workspaceBytesAttr);
    auto ends = function->getAttrOfType<DictionaryAttr>(endsAttr);
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
        list.push_back(end);
      }
    };
    read("inputs", model.inputs);
    read("outputs", model.outputs);
  }
  return model;
}

/// Writes the object and its header; neither appears without the other's having
/// been written whole.
static llvm::Error writeObject(StringRef path, StringRef bytes,
                               const ModelDescription &model) {
  auto object = AtomicFile::create(path);
  if (!object)
    return object.takeError();
  (*object)->os() << bytes;
  if (model.name.empty())
    return (*object)->commit();
  SmallString<128> headerPath(path);
  llvm::sys::path::replace_extension(headerPath, ".h");
  auto header = AtomicFile::create(headerPath);
  if (!header)
    return header.takeError();
  (*header)->os() << writeHeader(model);
  if (llvm::Error error = (*object)->commit())
    return error;
  return (*header)->commit();
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

/// Code of the target's kind in the file's kind.
static llvm::Error write(ModuleOp module, StringRef path,
                         const TargetOptions &target) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".ll")
    return writeText(module, path, OutputKind::LLVMIR, target);
  if (extension == ".s")
    return writeText(module, path, OutputKind::Assembly, target);
  ModelDescription model = describe(module, target);
  if (extension == ".so" && model.name.empty())
    return llvm::createStringError(
        path + ": cannot be written: the module has no compiled graph");
  ObjectOptions options;
  options.name = model.name;
  options.hasGetter = extension == ".so";
  // A module of no graph keeps the symbols that it has.
  options.single =
      model.name.empty() || (extension == ".o" && !canJoinObjects(target));
  auto objects = emitObjects(module, options, target);
  if (!objects)
    return objects.takeError();
  if (extension == ".so")
    return linkSharedLibrary(*objects, path, target, model.threads > 1);
  auto object = joinObjects(std::move(*objects), target);
  if (!object)
    return object.takeError();
  return writeObject(path, (*object)->getBuffer(), model);
}

LogicalResult onnxquant::writeArtifact(ModuleOp module, StringRef path,
                                       const CompileOptions &options) {
  bool isGraph = !module.getOps<onnx::EntryPointOp>().empty();
  if (isGraph && failed(lowerToLLVM(module, options)))
    return failure();
  TargetOptions target = options.target;
  if (std::optional<TargetOptions> own = readTarget(module))
    target = *own;
  target.optLevel = options.target.optLevel;
  if (llvm::Error error = write(module, path, target))
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  return success();
}
