// The C header that goes with a compiled object.

#include "OnnxQuant/Target/Header.h"
#include "ModelHeader.h"
#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using End = ModelDescription::End;

bool onnxquant::isIdentifier(StringRef text) {
  auto fits = [](char c) { return isAlnum(c) || c == '_'; };
  return !text.empty() && !isDigit(text.front()) && all_of(text, fits);
}

std::string onnxquant::makeIdentifier(StringRef text) {
  std::string result;
  for (char c : text)
    result += isAlnum(c) ? c : '_';
  if (result.empty() || isDigit(result.front()))
    result.insert(0, "m");
  return result;
}

/// A name as it can stand in a comment or a string.
static std::string quoted(StringRef text) {
  std::string result;
  for (char c : text)
    result += isPrint(c) && !StringRef("\\\"*?").contains(c) ? c : '_';
  return result;
}

static bool isStatic(const End &end) {
  return all_of(end.dims, [](int64_t dim) { return dim >= 0; });
}

static int64_t numElements(const End &end) {
  int64_t count = 1;
  for (int64_t dim : end.dims)
    count *= dim;
  return count;
}

static std::string shapeText(const End &end, StringRef open = "?") {
  std::string text;
  for (auto [axis, dim] : enumerate(end.dims))
    text += (axis ? ", " : "") + (dim < 0 ? open.str() : std::to_string(dim));
  return text;
}

/// The C type that holds an element; types that C doesn't have are their bits.
static StringRef elementType(int32_t type) {
  switch (type) {
  case 1:
    return "float";
  case 11:
    return "double";
  case 3:
  case 22:
    return "int8_t";
  case 5:
    return "int16_t";
  case 6:
    return "int32_t";
  case 7:
    return "int64_t";
  case 4:
  case 10:
  case 16:
    return "uint16_t";
  case 12:
    return "uint32_t";
  case 13:
    return "uint64_t";
  default:
    return "uint8_t";
  }
}

namespace {
/// Writes one model's header.
class HeaderWriter {
public:
  explicit HeaderWriter(const ModelDescription &model)
      : model(model), upper(StringRef(model.name).upper()), os(text) {
    auto known = [](const End &end) { return isStatic(end); };
    allStatic = all_of(model.inputs, known) && all_of(model.outputs, known);
  }
  std::string write();

private:
  void writeSummary();
  void writeExample();
  void writeSizes(StringRef kind, const std::vector<End> &ends);
  void writeCall();

  const ModelDescription &model;
  std::string upper, text;
  raw_string_ostream os;
  bool allStatic;
};
} // namespace

void HeaderWriter::writeSummary() {
  os << "/* " << model.name << ": a model compiled by OnnxQuant for "
     << model.triple << ".\n *\n";
  for (const std::string &target : model.targets)
    os << " *   target    " << target << "\n";
  auto list = [&](StringRef kind, const std::vector<End> &ends) {
    for (auto [index, end] : enumerate(ends))
      os << " *   " << left_justify(kind, 6) << " " << index << "  '"
         << quoted(end.name) << "': " << typeName(end.type) << " ["
         << shapeText(end) << "]\n";
  };
  list("input", model.inputs);
  list("output", model.outputs);
  if (model.targets.size() > 1)
    os << " *\n * A run is of the first target that the processor has the "
          "features for, and\n * fails if there is none.\n";
  os << " *\n * ";
  if (model.isBare)
    os << "The object needs memcpy, memmove, memset and the compiler's own "
          "library. ";
  else
    os << "Link the object with -lm"
       << (model.threads > 1 ? " and -lomp (OpenMP of LLVM)" : "") << ". ";
  if (model.threads > 1)
    os << "A run uses " << model.threads << " threads.\n * ";
  os << (model.allocates
             ? "A run allocates with malloc, and frees what it\n * doesn't "
               "give to the caller.\n"
             : "A run allocates nothing.\n");
  os << " * Runs may be concurrent, each with buffers and a workspace of its "
        "own.\n";
  if (allStatic)
    writeExample();
  os << " */\n";
}

void HeaderWriter::writeExample() {
  os << " *\n";
  auto declare = [&](StringRef kind, char letter,
                     const std::vector<End> &ends) {
    for (auto [index, end] : enumerate(ends))
      os << " *   static " << elementType(end.type) << " " << letter << index
         << "[" << upper << "_" << kind << "_" << index << "_ELEMENTS];\n";
  };
  declare("INPUT", 'x', model.inputs);
  declare("OUTPUT", 'y', model.outputs);
  bool needs = model.workspaceBytes > 0;
  if (needs)
    os << " *   static _Alignas(ONNXQ_WORKSPACE_ALIGNMENT)\n *       char "
          "workspace["
       << upper << "_WORKSPACE_BYTES];\n";
  os << " *   const char *error;\n *   if (" << model.name << "_call(";
  for (size_t i = 0; i < model.inputs.size(); ++i)
    os << "x" << i << ", ";
  for (size_t i = 0; i < model.outputs.size(); ++i)
    os << "y" << i << ", ";
  os << (needs ? "workspace" : "NULL") << ", &error) != ONNXQ_OK)\n"
     << " *     puts(error);\n";
}

void HeaderWriter::writeSizes(StringRef kind, const std::vector<End> &ends) {
  os << "#define " << upper << "_NUM_" << kind << "S " << ends.size() << "\n";
  for (auto [index, end] : enumerate(ends)) {
    std::string prefix =
        ("#define " + upper + "_" + kind + "_" + Twine(index)).str();
    os << prefix << "_NAME \"" << quoted(end.name) << "\"\n";
    os << prefix << "_TYPE " << end.type << "\n";
    os << prefix << "_RANK " << end.dims.size() << "\n";
    if (!end.dims.empty())
      os << prefix << "_DIMS {" << shapeText(end, "-1") << "}\n";
    if (end.exponent)
      os << prefix << "_EXPONENT " << *end.exponent << "\n";
    if (!isStatic(end))
      continue;
    os << prefix << "_ELEMENTS " << numElements(end) << "\n";
    os << prefix << "_BYTES " << numElements(end) * elementBytes(end.type)
       << "\n";
  }
}

/// The run function with a pointer for each tensor.
void HeaderWriter::writeCall() {
  os << "\n/* " << model.name << "_run with a pointer for each tensor. */\n"
     << "static inline int32_t " << model.name << "_call(";
  for (auto [index, end] : enumerate(model.inputs))
    os << "const " << elementType(end.type) << " *input" << index << ", ";
  for (auto [index, end] : enumerate(model.outputs))
    os << elementType(end.type) << " *output" << index << ", ";
  os << "void *workspace, const char **error) {\n";
  auto fill = [&](StringRef kind, size_t count) {
    os << "  onnxq_buffer " << kind << "s[" << std::max<size_t>(count, 1)
       << "] = {";
    for (size_t i = 0; i < count; ++i)
      os << (i ? ", " : "") << "{(void *)" << kind << i << ", 0}";
    os << (count ? "" : "{0, 0}") << "};\n";
  };
  fill("input", model.inputs.size());
  fill("output", model.outputs.size());
  os << "  return " << model.name
     << "_run(inputs, outputs, workspace, error);\n}\n";
}

std::string HeaderWriter::write() {
  writeSummary();
  os << "#ifndef ONNXQ_MODEL_" << upper << "_H\n#define ONNXQ_MODEL_" << upper
     << "_H\n\n"
     << modelHeader << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  os << "#define " << upper << "_WORKSPACE_BYTES " << model.workspaceBytes
     << "\n";
  os << "/* What the code is for, the best first. */\n#define " << upper
     << "_TARGETS \"" << llvm::join(model.targets, "; ") << "\"\n";
  writeSizes("INPUT", model.inputs);
  writeSizes("OUTPUT", model.outputs);
  os << "\n/* Names, types and shapes for programs that take any model. */\n"
     << "extern const onnxq_model " << model.name << "_model;\n\n"
     << "/* Runs the model once: inputs and outputs in the order above. "
        "Returns "
        "ONNXQ_OK, or\n * ONNXQ_RUN_FAILED with a message in *error (which may "
        "be NULL). */\n"
     << "int32_t " << model.name
     << "_run(const onnxq_buffer *inputs, onnxq_buffer *outputs,\n"
     << "    void *workspace, const char **error);\n";
  if (allStatic)
    writeCall();
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* ONNXQ_MODEL_" << upper
     << "_H */\n";
  return text;
}

std::string onnxquant::writeHeader(const ModelDescription &model) {
  return HeaderWriter(model).write();
}
