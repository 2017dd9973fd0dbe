// Where models go that a call made: a file, or memory.

#ifndef ONNXQUANT_PYTHON_OUTPUT_H
#define ONNXQUANT_PYTHON_OUTPUT_H

#include "Call.h"
#include "OnnxQuant/Export/Export.h"
#include "llvm/Support/JSON.h"

namespace onnxquant::python {

/// Before long work whose result goes there.
void checkOut(const std::string &out);
/// Writes to `out`, or to memory where that is empty.
llvm::LogicalResult write(mlir::ModuleOp module, const std::string &out,
                          const ExportOptions &options, std::string &bytes);
py::object bytesOrNone(const std::string &out, std::string &bytes);

/// What preprocessing counted in a module.
llvm::json::Array changesOf(mlir::ModuleOp module);

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_OUTPUT_H
