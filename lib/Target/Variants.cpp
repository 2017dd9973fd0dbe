// The way into a compiled model: code for every processor of its architecture
// that looks which of the model's variants this one can run.
//
// A variant's own entry is hidden under a name of its own. NAME_run finds the
// first variant whose features the processor has, remembers it, and goes on
// there; without one it fails and says what is needed. What a variant computes
// when it is loaded runs for the chosen one only.

#include "EmitSteps.h"
#include "OnnxQuant/Target/Header.h"
#include "Processor.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;

static constexpr char x86Processor[] =
#include "Processor_x86_64.inc"
    ;
static constexpr char hwcapProcessor[] =
#include "Processor_hwcap.inc"
    ;

/// The words that say what a processor has, and the one that says whether the
/// system grants tiles.
static constexpr unsigned numWords = 9, grantWord = 8;
static constexpr unsigned modelBytes = 64, loadPriority = 101;

std::string onnxquant::variantName(StringRef model, size_t index) {
  return (model + "_v" + Twine(index)).str();
}

bool onnxquant::needsDispatch(ArrayRef<onnxquant::TargetOptions> targets) {
  return targets.size() > 1 || !neededFeatures(targets.front()).empty();
}

Variant onnxquant::hideEntry(mlir::ModuleOp module, StringRef model,
                             size_t index,
                             const onnxquant::TargetOptions &target) {
  Variant variant;
  variant.target = target;
  std::string name = variantName(model, index);
  auto hide = [&](StringRef suffix) {
    auto function = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(
        (model + "_" + suffix).str());
    if (!function)
      return false;
    function.setSymName((name + "_" + suffix).str());
    function.setVisibility_(mlir::LLVM::Visibility::Hidden);
    return true;
  };
  if (auto description = module.lookupSymbol((model + "_model").str()))
    description->erase();
  for (auto constructors :
       make_early_inc_range(module.getOps<mlir::LLVM::GlobalCtorsOp>()))
    constructors.erase();
  hide("run");
  variant.hasLoad = hide("onnxq_load");
  return variant;
}

namespace {
/// Writes the dispatcher as LLVM IR.
class Dispatcher {
public:
  Dispatcher(const ModelDescription &model, ArrayRef<Variant> variants,
             bool hasGetter)
      : model(model), variants(variants), hasGetter(hasGetter), os(text) {
    for (const Variant &variant : variants)
      targets += targetLine(variant.target);
  }
  std::string write();

private:
  std::array<uint32_t, numWords> wordsOf(const Variant &variant) const;
  void writeText(const Twine &symbol, StringRef value);
  void writeNote();
  void writeEnds(StringRef kind,
                 const std::vector<ModelDescription::End> &ends);
  void writeModel();
  void writeChoose();
  void writeRun();
  void writeLoad();
  std::string message() const;

  const ModelDescription &model;
  ArrayRef<Variant> variants;
  bool hasGetter;
  std::string targets, text;
  raw_string_ostream os;
};
} // namespace

std::array<uint32_t, numWords>
Dispatcher::wordsOf(const Variant &variant) const {
  std::array<uint32_t, numWords> words = {};
  bool isX86 = Triple(model.triple).isX86();
  std::vector<std::string> needed = neededFeatures(variant.target);
  for (const ProcessorFeature &feature : knownFeatures(model.triple)) {
    if (!is_contained(needed, feature.name.str()))
      continue;
    words[feature.word] |= 1u << feature.bit;
    if (isX86)
      words[7] |= feature.state;
    // A variant alone says by itself that the system refuses.
    if (isX86 && feature.name == "amx-tile" && variants.size() > 1)
      words[grantWord] = 1;
  }
  return words;
}

void Dispatcher::writeText(const Twine &symbol, StringRef value) {
  os << "@" << symbol << " = private unnamed_addr constant ["
     << value.size() + 1 << " x i8] c\"";
  printEscapedString(value, os);
  os << "\\00\", align 1\n";
}

/// A note that programs read without loading the code.
void Dispatcher::writeNote() {
  std::string padded = targets;
  padded.resize(alignTo(targets.size() + 1, 4));
  os << "@" << model.name
     << "_note = internal constant <{ i32, i32, i32, [12 x "
     << "i8], [" << padded.size() << " x i8] }> <{ i32 10, i32 "
     << targets.size() + 1 << ", i32 1, [12 x i8] c\"OnnxQuant\\00\\00\\00\", ["
     << padded.size() << " x i8] c\"";
  printEscapedString(padded, os);
  os << "\" }>, section \".note.onnxq\", align 4\n"
     << "@llvm.compiler.used = appending global [1 x ptr] [ptr @" << model.name
     << "_note], section \"llvm.metadata\"\n";
}

void Dispatcher::writeEnds(StringRef kind,
                           const std::vector<ModelDescription::End> &ends) {
  for (auto [index, end] : enumerate(ends)) {
    std::string symbol = (model.name + "_" + kind + "_" + Twine(index)).str();
    writeText(symbol + "_name", end.name);
    os << "@" << symbol << "_dims = private unnamed_addr constant ["
       << std::max<size_t>(end.dims.size(), 1) << " x i64] [";
    ListSeparator comma;
    for (int64_t dim : end.dims)
      os << comma << "i64 " << dim;
    os << (end.dims.empty() ? "i64 0" : "") << "], align 8\n";
  }
  os << "@" << model.name << "_" << kind
     << "s = private unnamed_addr constant ["
     << std::max<size_t>(ends.size(), 1) << " x { ptr, i32, i32, ptr }] ";
  if (ends.empty())
    os << "zeroinitializer";
  ListSeparator comma;
  for (auto [index, end] : enumerate(ends)) {
    std::string symbol = (model.name + "_" + kind + "_" + Twine(index)).str();
    os << (index ? "" : "[") << comma << "{ ptr, i32, i32, ptr } { ptr @"
       << symbol << "_name, i32 " << end.type << ", i32 " << end.dims.size()
       << ", ptr @" << symbol << "_dims }";
  }
  os << (ends.empty() ? "" : "]") << ", align 8\n";
}

void Dispatcher::writeModel() {
  const std::string &name = model.name;
  writeText(name + "_name", name);
  writeText(name + "_targets", targets);
  writeEnds("input", model.inputs);
  writeEnds("output", model.outputs);
  os << "@" << name
     << "_model = constant { i32, i32, i32, i32, ptr, ptr, ptr, i64, ptr, ptr "
        "} { i32 1, i32 "
     << model.inputs.size() << ", i32 " << model.outputs.size() << ", i32 "
     << modelBytes << ", ptr @" << name << "_name, ptr @" << name
     << "_inputs, ptr @" << name << "_outputs, i64 " << model.workspaceBytes
     << ", ptr @" << name << "_run, ptr @" << name << "_targets }, align 8\n";
  if (hasGetter)
    os << "define ptr @onnxq_get_model() {\n  ret ptr @" << name
       << "_model\n}\n";
}

/// What a run says on a processor that has none of it.
std::string Dispatcher::message() const {
  std::string reason;
  for (const Variant &variant : variants) {
    const onnxquant::TargetOptions &target = variant.target;
    reason += (reason.empty() ? "" : ", or, for ") +
              (target.name.empty() ? target.cpu : target.name) + ", " +
              join(neededFeatures(target), " ");
  }
  return "this processor doesn't have what the code needs: for " + reason;
}

void Dispatcher::writeChoose() {
  const std::string &name = model.name;
  bool asksSystem = any_of(variants, [&](const Variant &variant) {
    return wordsOf(variant)[grantWord] != 0;
  });
  if (asksSystem)
    os << "declare i64 @syscall(i64, i64, i64)\n";
  os << "@" << name << "_chosen = internal global ptr null, align 8\n";
  writeText(name + "_unfit_text", message());
  os << "define internal ptr @" << name << "_choose() {\n"
     << "  %words = alloca [" << numWords << " x i32], align 8\n"
     << "  call void @onnxq_processor(ptr %words)\n"
     << "  br label %variant0\n";
  for (auto [index, variant] : enumerate(variants)) {
    std::string at = std::to_string(index);
    os << "variant" << at << ":\n";
    std::string fits = "true";
    std::array<uint32_t, numWords> words = wordsOf(variant);
    for (unsigned word = 0; word < grantWord; ++word) {
      if (words[word] == 0)
        continue;
      std::string id = at + "." + std::to_string(word);
      os << "  %place" << id << " = getelementptr i32, ptr %words, i64 " << word
         << "\n  %has" << id << " = load i32, ptr %place" << id
         << ", align 4\n  %both" << id << " = and i32 %has" << id << ", "
         << static_cast<int32_t>(words[word]) << "\n  %all" << id
         << " = icmp eq i32 %both" << id << ", "
         << static_cast<int32_t>(words[word]) << "\n  %fits" << id
         << " = and i1 " << fits << ", %all" << id << "\n";
      fits = "%fits" + id;
    }
    std::string next = index + 1 < variants.size()
                           ? "variant" + std::to_string(index + 1)
                           : "none";
    bool asks = words[grantWord] != 0;
    os << "  br i1 " << fits << ", label %" << (asks ? "ask" : "take") << at
       << ", label %" << next << "\n";
    if (asks)
      // Linux's arch_prctl: whether this process may have the state of tiles.
      os << "ask" << at << ":\n  %answer" << at
         << " = call i64 @syscall(i64 158, i64 4131, i64 18)\n  %granted" << at
         << " = icmp eq i64 %answer" << at << ", 0\n  br i1 %granted" << at
         << ", label %take" << at << ", label %" << next << "\n";
    os << "take" << at << ":\n  store atomic ptr @" << variantName(name, index)
       << "_run, ptr @" << name << "_chosen monotonic, align 8\n  ret ptr @"
       << variantName(name, index) << "_run\n";
  }
  os << "none:\n  ret ptr @" << name << "_unfit\n}\n";
}

void Dispatcher::writeRun() {
  const std::string &name = model.name;
  for (size_t index = 0; index < variants.size(); ++index)
    os << "declare hidden i32 @" << variantName(name, index)
       << "_run(ptr, ptr, ptr, ptr)\n";
  os << "define internal i32 @" << name
     << "_unfit(ptr %inputs, ptr %outputs, ptr %workspace, ptr %error) {\n"
     << "  %wants = icmp ne ptr %error, null\n"
     << "  br i1 %wants, label %say, label %leave\nsay:\n  store ptr @" << name
     << "_unfit_text, ptr %error, align 8\n  br label %leave\nleave:\n"
     << "  ret i32 1\n}\n";
  os << "define i32 @" << name
     << "_run(ptr %inputs, ptr %outputs, ptr %workspace, ptr %error) {\n"
     << "known:\n  %before = load atomic ptr, ptr @" << name
     << "_chosen monotonic, align 8\n"
     << "  %isNew = icmp eq ptr %before, null\n"
     << "  br i1 %isNew, label %ask, label %go\nask:\n  %found = call ptr @"
     << name << "_choose()\n  br label %go\ngo:\n"
     << "  %run = phi ptr [ %before, %known ], [ %found, %ask ]\n"
     << "  %code = tail call i32 %run(ptr %inputs, ptr %outputs, ptr "
        "%workspace, ptr %error)\n  ret i32 %code\n}\n";
}

/// What the chosen variant computes when it is loaded.
void Dispatcher::writeLoad() {
  const std::string &name = model.name;
  if (none_of(variants, [](const Variant &variant) { return variant.hasLoad; }))
    return;
  for (auto [index, variant] : enumerate(variants))
    if (variant.hasLoad)
      os << "declare hidden void @" << variantName(name, index)
         << "_onnxq_load()\n";
  os << "define hidden void @" << name << "_onnxq_load() {\n"
     << "  %run = call ptr @" << name << "_choose()\n  br label %try0\n";
  for (auto [index, variant] : enumerate(variants)) {
    os << "try" << index << ":\n";
    if (variant.hasLoad)
      os << "  %is" << index << " = icmp eq ptr %run, @"
         << variantName(name, index) << "_run\n  br i1 %is" << index
         << ", label %load" << index << ", label %try" << index + 1 << "\nload"
         << index << ":\n  call void @" << variantName(name, index)
         << "_onnxq_load()\n  ret void\n";
    else
      os << "  br label %try" << index + 1 << "\n";
  }
  os << "try" << variants.size() << ":\n  ret void\n}\n"
     << "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, "
        "ptr, ptr } { i32 "
     << loadPriority << ", ptr @" << name << "_onnxq_load, ptr null }]\n";
}

std::string Dispatcher::write() {
  os << (Triple(model.triple).isX86() ? x86Processor : hwcapProcessor) << "\n";
  writeNote();
  writeModel();
  writeChoose();
  writeRun();
  writeLoad();
  return text;
}

/// The least processor of an architecture.
static onnxquant::TargetOptions
leastTarget(const onnxquant::TargetOptions &target) {
  onnxquant::TargetOptions least = target;
  Triple triple(target.triple);
  least.cpu = triple.isX86()     ? "x86-64"
              : triple.isRISCV() ? "generic-rv64"
                                 : "generic";
  least.features = triple.isRISCV() ? "+m,+a,+f,+d,+c" : "";
  return least;
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::emitDispatcher(const ModelDescription &model,
                          ArrayRef<Variant> variants, bool hasGetter) {
  std::string text = Dispatcher(model, variants, hasGetter).write();
  onnxquant::TargetOptions target = leastTarget(variants.front().target);
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module =
      parseAssemblyString(text, diagnostic, context);
  if (!module)
    return createStringError("the code that chooses a variant can't be made: " +
                             diagnostic.getMessage());
  module->setTargetTriple(Triple(target.triple));
  module->setDataLayout((*machine)->createDataLayout());
  optimizeModule(*module, **machine, target);
  return emitModule(*module, OutputKind::Object, target);
}
