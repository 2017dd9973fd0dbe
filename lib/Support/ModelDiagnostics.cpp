// Diagnostics for people who have a model, not MLIR text.

#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/Progress.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace onnxquant;

/// The file and the node that a location names; either may be empty.
static void describe(Location loc, std::string &file, std::string &node) {
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part)) {
      if (node.empty())
        node = name.getName().str();
    } else if (auto position = dyn_cast<FileLineColLoc>(part)) {
      if (file.empty()) {
        file = position.getFilename().str();
        if (position.getLine() > 0)
          file += ":" + std::to_string(position.getLine()) + ":" +
                  std::to_string(position.getColumn());
      }
    }
    return WalkResult::advance();
  });
}

static StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

ModelDiagnosticHandler::ModelDiagnosticHandler(MLIRContext *context,
                                               llvm::raw_ostream &os)
    : ModelDiagnosticHandler(context, [&os](const ModelMessage &message) {
        os << severityName(message.severity) << ": ";
        if (!message.file.empty())
          os << message.file << ": ";
        if (!message.node.empty())
          os << "node '" << message.node << "': ";
        os << message.text << "\n";
      }) {}

ModelDiagnosticHandler::ModelDiagnosticHandler(MLIRContext *context,
                                               MessageSink sink)
    : ScopedDiagnosticHandler(context), sink(std::move(sink)) {
  setHandler([this](Diagnostic &diagnostic) { handle(diagnostic); });
}

void ModelDiagnosticHandler::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    if (failed)
      return;
    failed = true;
  }
  auto line = [&](Diagnostic &part) {
    ModelMessage message;
    message.severity = part.getSeverity();
    describe(part.getLocation(), message.file, message.node);
    // Some messages quote IR over many lines; the first one says it.
    std::string text = part.str();
    message.text = StringRef(text).split('\n').first.str();
    sink(message);
  };
  Progress::leaveLine();
  line(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    if (!StringRef(note.str()).starts_with("see current operation"))
      line(note);
}
