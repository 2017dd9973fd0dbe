// Opens a model, and hands it to the graph importer.

#include "OnnxQuant/Import/Import.h"
#include "GraphImporter.h"
#include "OnnxQuant/Support/InputFile.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

using namespace mlir;
using namespace onnxquant;

static Location locOf(StringRef file, MLIRContext *context) {
  return FileLineColLoc::get(context, file, 0, 0);
}

/// What must be there before anything else is read.
static LogicalResult checkModel(const ::onnx_format::ModelProto &model,
                                Location loc) {
  if (!model.has_graph() ||
      (!model.has_ir_version() && model.opset_import_size() == 0))
    return emitError(loc,
                     "is not an ONNX model: it has no graph or no version");
  if (model.training_info_size() > 0)
    return emitError(loc, "has training graphs [category: training]");
  return success();
}

static OwningOpRef<ModuleOp> build(::onnx_format::ModelProto &model,
                                   StringRef file, StringRef folder,
                                   MLIRContext *context,
                                   const ImportOptions &options) {
  context->loadDialect<onnxquant::onnx::ONNXDialect, func::FuncDialect>();
  Location loc = locOf(file, context);
  if (failed(checkModel(model, loc)))
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  import::GraphImporter importer(model, file, folder, context, options);
  if (failed(importer.run(*module)) || failed(verify(*module)))
    return {};
  return module;
}

static bool parse(google::protobuf::io::ZeroCopyInputStream &stream,
                  ::onnx_format::ModelProto &model) {
  google::protobuf::LogSilencer quiet;
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

static constexpr const char *parseError =
    "cannot be parsed: it is truncated, nested too deeply, or no ONNX model";

OwningOpRef<ModuleOp> onnxquant::importModel(StringRef path,
                                             MLIRContext *context,
                                             const ImportOptions &options) {
  Location loc = locOf(path, context);
  if (llvm::Error error = checkInput(path, FileLimits::model)) {
    emitError(loc) << llvm::toString(std::move(error));
    return {};
  }
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    emitError(loc, "cannot be opened: ") << llvm::toString(file.takeError());
    return {};
  }
  ::onnx_format::ModelProto model;
  google::protobuf::io::FileInputStream stream(*file);
  stream.SetCloseOnDelete(true);
  if (!parse(stream, model)) {
    emitError(loc, parseError);
    return {};
  }
  StringRef folder = llvm::sys::path::parent_path(path);
  return build(model, path, folder.empty() ? "." : folder, context, options);
}

OwningOpRef<ModuleOp> onnxquant::importModel(ArrayRef<char> bytes,
                                             StringRef name, StringRef folder,
                                             MLIRContext *context,
                                             const ImportOptions &options) {
  ::onnx_format::ModelProto model;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), bytes.size());
  if (bytes.size() > INT_MAX || !parse(stream, model)) {
    emitError(locOf(name, context), parseError);
    return {};
  }
  return build(model, name, folder, context, options);
}
