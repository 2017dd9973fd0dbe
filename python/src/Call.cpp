// One call from Python into the compiler.

#include "Call.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::python;

ModelArgument python::readModelArgument(const py::object &model) {
  ModelArgument result;
  if (py::isinstance<py::str>(model)) {
    result.path = py::cast<std::string>(model);
    return result;
  }
  auto parts = py::cast<py::tuple>(model);
  result.bytes = py::cast<py::buffer>(parts[0]).request();
  result.name = py::cast<std::string>(parts[1]);
  result.folder = py::cast<std::string>(parts[2]);
  return result;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Options::Options(const py::dict &options) : options(options) {}

std::optional<py::object> Options::find(const char *name) {
  if (!options.contains(name))
    return std::nullopt;
  py::object value = options[name];
  if (value.is_none())
    return std::nullopt;
  return value;
}

std::string Options::text(const char *name, std::string otherwise) {
  auto value = find(name);
  return value ? py::cast<std::string>(py::str(*value)) : otherwise;
}

std::vector<std::string> Options::list(const char *name) {
  auto value = find(name);
  return value ? py::cast<std::vector<std::string>>(*value)
               : std::vector<std::string>();
}

int64_t Options::integer(const char *name, int64_t otherwise) {
  auto value = find(name);
  return value ? py::cast<int64_t>(*value) : otherwise;
}

double Options::number(const char *name, double otherwise) {
  auto value = find(name);
  return value ? py::cast<double>(*value) : otherwise;
}

bool Options::flag(const char *name, bool otherwise) {
  auto value = find(name);
  return value ? py::cast<bool>(*value) : otherwise;
}

/// A part of a value: what a command line would have.
static std::string textOf(const py::handle &value) {
  if (py::isinstance<py::bool_>(value))
    return py::cast<bool>(value) ? "true" : "false";
  if (py::hasattr(value, "__fspath__"))
    return py::cast<std::string>(value.attr("__fspath__")());
  return py::cast<std::string>(py::str(value));
}

std::vector<std::string> python::textsOf(const py::handle &value,
                                         const OptionInfo &option) {
  if (value.is_none())
    return {};
  bool isOne =
      py::isinstance<py::str>(value) || py::hasattr(value, "__fspath__") ||
      !py::hasattr(value, "__iter__") ||
      // An array without axes.
      (py::hasattr(value, "ndim") && py::cast<int>(value.attr("ndim")) == 0);
  if (isOne)
    return {textOf(value)};
  std::vector<std::string> texts;
  for (py::handle part : value)
    texts.push_back(textOf(part));
  if (option.kind == OptionKind::List)
    return texts;
  return {llvm::join(texts, option.separator)};
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void python::throwError(const char *kind, const std::string &text,
                        const std::string &file, const std::string &node) {
  py::object error = py::module_::import("onnxquant.errors")
                         .attr("make")(kind, text, file, node);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw py::error_already_set();
}

static const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Error:
    break;
  }
  return "error";
}

Call::Call(const char *kind, const py::object &progress)
    : kind(kind), progress(progress) {
  DialectRegistry registry;
  registerAllDialects(registry);
  mlirContext = std::make_unique<MLIRContext>(registry);
  handler = std::make_unique<ModelDiagnosticHandler>(
      mlirContext.get(),
      [this](const ModelMessage &message) { report(message); });
}

Call::~Call() = default;

void Call::report(const ModelMessage &message) {
  std::lock_guard<std::mutex> lock(mutex);
  messages.push_back(message);
}

LogicalResult Call::fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  // An empty one is of what a diagnostic has said already.
  if (!text.empty())
    emitError(UnknownLoc::get(context()), text);
  return failure();
}

void Call::keep(py::error_already_set &error) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!exceptionType) {
    exceptionType = error.type();
    exceptionValue = error.value();
    exceptionTrace = error.trace();
  }
}

bool Call::hasException() {
  std::lock_guard<std::mutex> lock(mutex);
  return exceptionType.has_value();
}

bool Call::isInterrupted() {
  if (hasException())
    return true;
  // Python handles signals in its main thread only, which is the caller's or
  // not concerned.
  if (std::this_thread::get_id() != caller)
    return false;
  py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0)
    return false;
  py::error_already_set error;
  keep(error);
  return true;
}

ProgressSink Call::progressSink() {
  return [this](const std::string &label, const std::string &unit, int64_t done,
                int64_t total) {
    if (progress.is_none() || hasException())
      return;
    py::gil_scoped_acquire acquire;
    try {
      progress(label, unit, done, total);
    } catch (py::error_already_set &error) {
      keep(error);
    }
  };
}

void Call::check(bool failed) {
  if (exceptionType) {
    PyErr_Restore(exceptionType->release().ptr(),
                  exceptionValue->release().ptr(),
                  exceptionTrace->release().ptr());
    throw py::error_already_set();
  }
  py::object log = py::module_::import("onnxquant.errors").attr("log");
  const ModelMessage *first = nullptr;
  std::string notes;
  for (const ModelMessage &message : messages) {
    if (message.severity == DiagnosticSeverity::Error && !first)
      first = &message;
    else if (message.severity == DiagnosticSeverity::Note && first)
      notes += "; " + message.text;
    else if (message.severity != DiagnosticSeverity::Error)
      log(severityName(message.severity), message.text, message.file,
          message.node);
  }
  if (!failed) {
    messages.clear();
    return;
  }
  ModelMessage error = first ? *first : ModelMessage();
  if (!first)
    error.text = "the work failed without a message";
  throwError(kind, error.text + notes, error.file, error.node);
}

OwningOpRef<ModuleOp> Call::read(const ModelArgument &model,
                                 const std::vector<std::string> &dims,
                                 const std::vector<std::string> &inputShapes,
                                 const ImportOptions &importing) {
  OwningOpRef<ModuleOp> module;
  const char *before = kind;
  kind = "ModelError";
  run([&]() -> LogicalResult {
    if (model.bytes)
      module = importModel(
          {static_cast<const char *>(model.bytes->ptr),
           static_cast<size_t>(model.bytes->size * model.bytes->itemsize)},
          model.name, model.folder, context(), importing);
    else if (StringRef(model.path).ends_with(".mlir") ||
             StringRef(model.path).ends_with(".mlirbc"))
      module = readModel(model.path, context());
    else
      module = importModel(model.path, context(), importing);
    if (!module)
      return failure();
    if (auto graphs = module->getOps<func::FuncOp>();
        inputNames.empty() && !graphs.empty())
      for (Value input : (*graphs.begin()).getArguments())
        inputNames.push_back(onnx::getTensorName(input).str());
    if (dims.empty() && inputShapes.empty())
      return success();
    ShapeInferenceOptions shapes;
    shapes.dims.assign(dims.begin(), dims.end());
    shapes.inputShapes.assign(inputShapes.begin(), inputShapes.end());
    PassManager pm(context());
    pm.addPass(createShapeInference(shapes));
    return pm.run(*module);
  });
  kind = before;
  return module;
}
