// One call from Python into the compiler: a context, what it says, and the
// Python exceptions that callbacks leave behind.
//
// LLVM and MLIR are built without exceptions. A callback that runs Python
// catches what it raises, keeps it here and returns an llvm::Error or "stop";
// the exception goes on when the call is back in code of this folder.

#ifndef ONNXQUANT_PYTHON_CALL_H
#define ONNXQUANT_PYTHON_CALL_H

#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/OptionTable.h"
#include "OnnxQuant/Support/Progress.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <thread>

namespace onnxquant::python {

namespace py = pybind11;

/// A model as Python has it: a file, or bytes with what stands for a name and
/// the folder of their external data.
struct ModelArgument {
  std::string path;
  std::optional<py::buffer_info> bytes;
  std::string name, folder;
};
/// From a path, or a tuple (bytes, name, folder).
ModelArgument readModelArgument(const py::object &model);

/// Text and lists out of a dictionary, which must hold nothing else.
class Options {
public:
  explicit Options(const py::dict &options);
  std::string text(const char *name, std::string otherwise = "");
  std::vector<std::string> list(const char *name);
  int64_t integer(const char *name, int64_t otherwise);
  double number(const char *name, double otherwise);
  bool flag(const char *name, bool otherwise);

private:
  std::optional<py::object> find(const char *name);
  py::dict options;
};

/// The texts of a value that an option of a pass is given.
std::vector<std::string> textsOf(const py::handle &value,
                                 const OptionInfo &option);

/// Throws `onnxquant.errors.make(kind, text, file, node)`.
[[noreturn]] void throwError(const char *kind, const std::string &text,
                             const std::string &file = "",
                             const std::string &node = "");

/// The options of a pass among those of a dictionary, by their names with `_`.
template <typename PassOptions>
PassOptions readTable(OptionTable<PassOptions> table, const py::dict &given) {
  PassOptions options;
  for (const OptionEntry<PassOptions> &entry : table) {
    std::string name = entry.name.str();
    std::replace(name.begin(), name.end(), '-', '_');
    if (!given.contains(name))
      continue;
    for (const std::string &text : textsOf(given[name.c_str()], entry))
      if (!entry.read(options, text))
        throwError("Usage", llvm::toString(wrongValue(entry, text)));
  }
  return options;
}

class Call {
public:
  /// `progress` is None or takes (label, unit, done, total). `kind` names the
  /// exception that errors become.
  Call(const char *kind, const py::object &progress);
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  mlir::MLIRContext *context() { return mlirContext.get(); }
  /// The names of the inputs of the first model that was read.
  const std::vector<std::string> &inputs() const { return inputNames; }
  /// Reads a model with the GIL released. Throws if that fails.
  mlir::OwningOpRef<mlir::ModuleOp>
  read(const ModelArgument &model, const std::vector<std::string> &dims = {},
       const std::vector<std::string> &inputShapes = {},
       const ImportOptions &importing = {});
  /// Runs `work`, which holds no GIL, and throws if it fails.
  template <typename Work> void run(Work work) {
    bool failed;
    {
      py::gil_scoped_release release;
      ProgressScope scope(progressSink());
      failed = mlir::failed(work());
    }
    check(failed);
  }
  /// Makes an error of LLVM's an error of this call.
  llvm::LogicalResult fail(llvm::Error error);

  /// Whether the work should end: a signal came, or Python raised something.
  bool isInterrupted();
  /// Keeps the exception that is being handled; the GIL is held.
  void keep(py::error_already_set &error);
  bool hasException();

private:
  /// Throws what Python raised, or what went wrong; logs warnings.
  void check(bool failed);
  ProgressSink progressSink();
  void report(const ModelMessage &message);

  std::vector<std::string> inputNames;
  const char *kind;
  py::object progress;
  std::thread::id caller = std::this_thread::get_id();
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  std::unique_ptr<ModelDiagnosticHandler> handler;
  std::mutex mutex;
  std::vector<ModelMessage> messages;
  std::optional<py::object> exceptionType, exceptionValue, exceptionTrace;
};

inline void check(const char *kind, llvm::Error error) {
  if (error)
    throwError(kind, llvm::toString(std::move(error)));
}
/// The value, or an exception.
template <typename T> T unwrap(const char *kind, llvm::Expected<T> value) {
  if (!value)
    throwError(kind, llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_CALL_H
