// Reads and writes models of any kind, by the file's extension.

#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace onnxquant;

OwningOpRef<ModuleOp> onnxquant::readModel(StringRef path,
                                           MLIRContext *context) {
  if (llvm::sys::path::extension(path) == ".onnx")
    return importModel(path, context);
  llvm::SourceMgr sources;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (std::error_code code = file.getError()) {
    emitError(FileLineColLoc::get(context, path, 0, 0), "cannot be opened: ")
        << code.message();
    return {};
  }
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, context);
}

bool onnxquant::isModelOutput(StringRef path) {
  return path == "-" || path == "/dev/null" ||
         llvm::is_contained({".onnx", ".mlir", ".mlirbc"},
                            llvm::sys::path::extension(path));
}

LogicalResult onnxquant::writeModel(ModuleOp module, StringRef path,
                                    const ExportOptions &options) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".onnx")
    return exportModel(module, path, options);
  Location loc = FileLineColLoc::get(module.getContext(), path, 0, 0);
  if (!isModelOutput(path))
    return emitError(loc, "cannot be written: expects the extension .onnx, "
                          ".mlir or .mlirbc");
  auto file = AtomicFile::create(path);
  if (!file)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(file.takeError());
  if (extension == ".mlirbc") {
    if (failed(writeBytecodeToFile(module, (*file)->os())))
      return emitError(loc, "cannot be written as bytecode");
  } else {
    module->print((*file)->os());
    (*file)->os() << "\n";
  }
  if (llvm::Error error = (*file)->commit())
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  return success();
}
