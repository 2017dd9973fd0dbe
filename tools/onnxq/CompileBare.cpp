// onnxq compile for microcontrollers: .espdl models as objects.

#include "CompileBare.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Target/BareObject.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

bool cli::isEspdl(StringRef path) {
  return llvm::sys::path::extension(path) == ".espdl";
}

std::optional<int> cli::checkBareOptions(const Arguments &arguments,
                                         const CompileOptions &options,
                                         StringRef path, StringRef output) {
  bool bare = isBare(options.target);
  std::string target = options.target.name;
  for (StringRef name : {"chip", "key", "model"})
    if (!isEspdl(path) && arguments.isGiven(name))
      return arguments.wrong("option '--" + name.str() +
                             "' is for .espdl models");
  for (StringRef name : {"dim", "input-shape", "trust-bytecode"})
    if (isEspdl(path) && arguments.isGiven(name))
      return arguments.wrong("option '--" + name.str() +
                             "' doesn't go with a .espdl model");
  StringRef extension = llvm::sys::path::extension(output);
  if (!bare) {
    if (extension == ".a")
      return arguments.wrong("a static library (.a) is for a microcontroller, "
                             "but --target is " +
                             target);
    return std::nullopt;
  }
  if (!isEspdl(path))
    return arguments.wrong("--target " + target +
                           " expects a .espdl model, but got '" + path.str() +
                           "'; see 'onnxq esp quantize --help'");
  if (extension == ".so")
    return arguments.wrong("--target " + target +
                           " expects OUT to end with .o, .a, .s or .ll");
  for (StringRef name : {"chip", "threads", "check-bounds", "cpu",
                         "no-winograd", "max-iterations"})
    if (arguments.isGiven(name))
      return arguments.wrong("option '--" + name.str() +
                             "' doesn't go with --target " + target);
  return std::nullopt;
}

/// Whether two chips compute the same, from filters that lie the same.
static bool areAlike(const esp::Chip &a, const esp::Chip &b) {
  return a.rounding == b.rounding && a.isPacked == b.isPacked;
}

static std::string namesOf(llvm::ArrayRef<const esp::Chip *> chips) {
  std::string names;
  for (const esp::Chip *chip : chips)
    names += (names.empty() ? "" : " or ") + chip->name.str();
  return names;
}

/// The chip of this name, which must be one that the model is for; the model's
/// own without a name.
static const esp::Chip *chooseChip(const esp::Model &model, StringRef path,
                                   StringRef name) {
  std::vector<const esp::Chip *> likely = esp::likelyChips(model);
  if (name.empty()) {
    if (llvm::all_of(likely, [&](const esp::Chip *chip) {
          return areAlike(*chip, *likely.front());
        }))
      return likely.front();
    espFail(path + ": may be for " + namesOf(likely) +
            ", which round differently; say by --chip");
    return nullptr;
  }
  const esp::Chip *chip = esp::findChip(name);
  if (!chip) {
    espFail("option '--chip' expects one of " + esp::chipNames() +
            ", but got '" + name + "'");
    return nullptr;
  }
  if (llvm::any_of(likely,
                   [&](const esp::Chip *one) { return areAlike(*one, *chip); }))
    return chip;
  espFail(path + ": is a model for " + namesOf(likely) +
          ", whose kernels round or lay out filters otherwise than those of "
          "the " +
          name + "; quantize it with --chip " + name);
  return nullptr;
}

OwningOpRef<ModuleOp> cli::readForChip(const EspFileOptions &file,
                                       StringRef chipName,
                                       MLIRContext &context) {
  esp::Entry entry;
  if (file.readOne(entry) != Done)
    return {};
  esp::Model &model = entry.model;
  const esp::Chip *chip = chooseChip(model, file.path, chipName);
  if (!chip)
    return {};
  for (const esp::Node &node : model.nodes)
    if (node.opType == "StreamingCache") {
      espFail(file.path + ": node '" + node.name +
              "' (StreamingCache) keeps frames from run to run, which compiled "
              "code doesn't; compile the model without streaming");
      return {};
    }
  espFollowTestInputs(model);
  esp::SimulationOptions options;
  options.chip = chip;
  OwningOpRef<ModuleOp> module =
      esp::importSimulation(model, options, file.path, &context);
  if (!module)
    return {};
  Builder b(&context);
  NamedAttrList exponents;
  for (const auto *list : {&model.inputs, &model.outputs})
    for (const esp::Value &end : *list)
      if (const esp::Value *value = model.findValue(end.name);
          value && (value->type == esp::Int8 || value->type == esp::Int16) &&
          !value->exponents.empty())
        exponents.set(end.name, b.getI64IntegerAttr(value->exponent()));
  (*module)->setAttr(exponentsAttr, exponents.getDictionary(&context));
  return module;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The numbers that a header defines by names with this ending, added up.
static int64_t defined(StringRef header, StringRef kind, StringRef ending) {
  int64_t sum = 0;
  SmallVector<StringRef> lines;
  header.split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.consume_front("#define "))
      continue;
    auto [name, text] = line.split(' ');
    int64_t number;
    if (name.contains(kind) && name.ends_with(ending) &&
        !text.getAsInteger(10, number))
      sum += number;
  }
  return sum;
}

llvm::Expected<BareReport> cli::reportBare(StringRef output) {
  auto file = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  SmallString<128> headerPath(output);
  llvm::sys::path::replace_extension(headerPath, ".h");
  auto header = llvm::MemoryBuffer::getFile(headerPath);
  if (!file || !header)
    return llvm::createStringError(output + ": cannot be read again");
  auto use = measureObject(**file);
  if (!use)
    return use.takeError();
  StringRef text = (*header)->getBuffer();
  int64_t workspace = defined(text, "", "_WORKSPACE_BYTES"),
          inputs = defined(text, "_INPUT_", "_BYTES"),
          outputs = defined(text, "_OUTPUT_", "_BYTES");
  BareReport report;
  llvm::raw_string_ostream os(report.text);
  os << "flash: " << sizeText(use->flashBytes()) << " ("
     << sizeText(use->codeBytes) << " of code, "
     << sizeText(use->constantBytes + use->dataBytes)
     << " of weights and tables)\n";
  os << "RAM: " << sizeText(workspace + use->dataBytes + inputs + outputs)
     << " (workspace " << sizeText(workspace) << ", inputs " << sizeText(inputs)
     << ", outputs " << sizeText(outputs) << ", static "
     << sizeText(use->dataBytes) << "), and at most "
     << sizeText(use->stackBytes) << " of stack\n";
  os << "calls: "
     << (use->calls.empty() ? "nothing" : llvm::join(use->calls, ", ")) << "\n";
  report.json = llvm::json::Object{
      {"flash",
       llvm::json::Object{
           {"code", static_cast<int64_t>(use->codeBytes)},
           {"constants",
            static_cast<int64_t>(use->constantBytes + use->dataBytes)},
           {"total", static_cast<int64_t>(use->flashBytes())}}},
      {"ram",
       llvm::json::Object{{"workspace", workspace},
                          {"inputs", inputs},
                          {"outputs", outputs},
                          {"static", static_cast<int64_t>(use->dataBytes)},
                          {"stack", static_cast<int64_t>(use->stackBytes)}}},
      {"calls", llvm::json::Array(use->calls)}};
  return report;
}
