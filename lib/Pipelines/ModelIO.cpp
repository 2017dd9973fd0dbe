// Reads and writes models of any kind, by the file's extension.

#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/ESP/Espdl.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Nesting.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace onnxquant;

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

/// The producer that bytecode names at its beginning, with a checksum.
static constexpr llvm::StringLiteral producer = "OnnxQuant blake3 ";
static constexpr size_t hashBytes = 16, hashDigits = 2 * hashBytes;

using Hasher = llvm::TruncatedBLAKE3<hashBytes>;

namespace {
/// A stream that only hashes.
class HashStream : public llvm::raw_ostream {
public:
  ~HashStream() override { flush(); }
  std::string finish() {
    flush();
    return llvm::toHex(hasher.final(), /*LowerCase=*/true);
  }

private:
  void write_impl(const char *data, size_t size) override {
    hasher.update(StringRef(data, size));
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  Hasher hasher;
  uint64_t position = 0;
};
} // namespace

/// Replaces all locations of a kind inside others.
template <typename Kind>
static void replaceLocations(ModuleOp module, LocationAttr with) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Kind) -> Attribute { return with; });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true);
}

LogicalResult onnxquant::writeBytecode(ModuleOp module, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> copy = module.clone();
  replaceLocations<FileLineColRange>(*copy,
                                     UnknownLoc::get(module.getContext()));
  // The checksum is that of the file with zeros in its place. Writing twice
  // takes less than keeping the weights twice.
  auto write = [&](StringRef digits, llvm::raw_ostream &stream) {
    std::string text = (producer + digits).str();
    BytecodeWriterConfig config(text);
    return writeBytecodeToFile(*copy, stream, config);
  };
  HashStream hash;
  if (failed(write(std::string(hashDigits, '0'), hash)))
    return failure();
  return write(hash.finish(), os);
}

/// Whether bytecode is as our writer wrote it.
static bool hasChecksum(StringRef bytes) {
  size_t at = bytes.take_front(64).find(producer);
  if (at == StringRef::npos || bytes.size() < at + producer.size() + hashDigits)
    return false;
  size_t begin = at + producer.size();
  Hasher hasher;
  hasher.update(bytes.take_front(begin));
  hasher.update(std::string(hashDigits, '0'));
  hasher.update(bytes.drop_front(begin + hashDigits));
  return llvm::toHex(hasher.final(), /*LowerCase=*/true) ==
         bytes.substr(begin, hashDigits);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> readEspdl(StringRef path, MLIRContext *context,
                                       EspForm form) {
  auto package = esp::readPackageFile(path);
  std::string problem;
  if (!package)
    problem = llvm::toString(package.takeError());
  else if (package->entries.size() != 1)
    problem = (path + ": is a package of several models").str();
  if (!problem.empty()) {
    // The message begins with the path, as the location does.
    StringRef text = problem;
    text.consume_front(path);
    text.consume_front(": ");
    emitError(FileLineColLoc::get(context, path, 0, 0)) << text;
    return {};
  }
  const esp::Model &model = package->entries[0].model;
  esp::SimulationOptions options;
  options.chip = esp::likelyChips(model).front();
  options.realPorts = form == EspForm::Real;
  if (form == EspForm::Quantizers)
    return esp::importQdq(model, *options.chip, path, context);
  return esp::importSimulation(model, options, path, context);
}

/// What a file is that can't be a model's text; empty if it can.
static std::string otherKind(StringRef path, StringRef bytes) {
  static constexpr std::pair<StringLiteral, StringLiteral> beginnings[] = {
      {"\x7f"
       "ELF",
       "a compiled library or object"},
      {"\x93NUMPY", "a NumPy array"},
      {"PK\x03\x04", "an archive, as .npz and .pt files are"},
      {"\x89PNG", "an image"},
      {"\xff\xd8\xff", "an image"}};
  for (const auto &[beginning, kind] : beginnings)
    if (bytes.starts_with(beginning))
      return kind.str();
  StringRef extension = llvm::sys::path::extension(path);
  if (llvm::is_contained({".json", ".yaml", ".yml", ".cache", ".csv", ".html"},
                         extension))
    return ("a " + extension + " file").str();
  bool isText = llvm::all_of(bytes.take_front(256), [](char c) {
    return c < 0 || c >= ' ' || llvm::isSpace(c);
  });
  return isText ? ""
                : "bytes that are neither MLIR's text nor its bytecode; files "
                  "of ONNX are known by their extension";
}

OwningOpRef<ModuleOp> onnxquant::readModel(StringRef path, MLIRContext *context,
                                           Bytecode bytecode, EspForm form,
                                           const ImportOptions &options) {
  if (llvm::sys::path::extension(path) == ".onnx")
    return importModel(path, context, options);
  if (llvm::sys::path::extension(path) == ".espdl")
    return readEspdl(path, context, form);
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  auto fail = [&](const Twine &reason) {
    emitError(loc) << reason;
    return OwningOpRef<ModuleOp>();
  };
  auto file = openInputOrStdin(path, FileLimits::text);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  bool isBinary = isBytecode((*file)->getMemBufferRef());
  if (isBinary && bytecode == Bytecode::Checked &&
      !hasChecksum((*file)->getBuffer()))
    return fail(
        "holds bytecode that is damaged or wasn't written by OnnxQuant, "
        "and reading it could do harm; give --trust-bytecode if you "
        "know where it is from");
  if (std::string kind = otherKind(path, (*file)->getBuffer());
      !isBinary && !kind.empty())
    return fail("expects a model (.onnx, .mlir, .mlirbc or .espdl), but got " +
                kind);
  if (!isBinary && mlirNestsDeeper((*file)->getBuffer(), mostMlirDepth))
    return fail("is nested deeper than " + Twine(mostMlirDepth) + " levels");
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  // Bytecode of ours has no names of files.
  if (module && isBinary)
    replaceLocations<UnknownLoc>(*module, loc);
  return module;
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
    if (failed(writeBytecode(module, (*file)->os())))
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

llvm::Error onnxquant::raiseOpset(ModuleOp module, int64_t least) {
  if (least > newestOpset)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "min-opset expects at most " +
                                       llvm::Twine(newestOpset) + ", but got " +
                                       llvm::Twine(least));
  auto opsets = module->getAttrOfType<DictionaryAttr>("onnx.opsets");
  NamedAttrList entries(opsets);
  auto own = dyn_cast_or_null<IntegerAttr>(entries.get("ai.onnx"));
  if (!own || own.getInt() >= least)
    return llvm::Error::success();
  entries.set("ai.onnx", IntegerAttr::get(own.getType(), least));
  module->setAttr("onnx.opsets", entries.getDictionary(module.getContext()));
  return llvm::Error::success();
}

llvm::Error onnxquant::addMetadata(ModuleOp module, StringRef entry) {
  auto [key, value] = entry.split('=');
  if (key.empty() || key.size() == entry.size())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "metadata expects KEY=VALUE, but got '" +
                                       entry + "'");
  Builder builder(module.getContext());
  SmallVector<Attribute> entries;
  if (auto old = module->getAttrOfType<ArrayAttr>("onnx.metadata"))
    for (Attribute one : old)
      if (cast<StringAttr>(cast<ArrayAttr>(one)[0]).getValue() != key)
        entries.push_back(one);
  entries.push_back(builder.getStrArrayAttr({key, value}));
  module->setAttr("onnx.metadata", builder.getArrayAttr(entries));
  return llvm::Error::success();
}
