// Where models go that a call made.

#include "Output.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Support/AtomicFile.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::python;

LogicalResult python::write(ModuleOp module, const std::string &out,
                            const ExportOptions &options, std::string &bytes) {
  if (!out.empty())
    return isModelOutput(out) ? writeModel(module, out, options)
                              : exportModel(module, out, options);
  llvm::raw_string_ostream os(bytes);
  return exportModel(module, os, options);
}

void python::checkOut(const std::string &out) {
  if (out.empty())
    return;
  if (llvm::Error error = checkWritable(out))
    throwError("Output", llvm::toString(std::move(error)), out);
}

py::object python::bytesOrNone(const std::string &out, std::string &bytes) {
  if (!out.empty())
    return py::none();
  return py::bytes(bytes.data(), bytes.size());
}

llvm::json::Array python::changesOf(ModuleOp module) {
  llvm::json::Array changes;
  for (const PreprocessCount &entry : takeReport(module))
    changes.push_back(llvm::json::Object{
        {"pass", entry.pass}, {"what", entry.what}, {"count", entry.count}});
  return changes;
}
