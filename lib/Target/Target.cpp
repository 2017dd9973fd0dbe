// Names of targets and the machines behind them.

#include "OnnxQuant/Target/Target.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "Processor.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <mutex>
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace llvm;
using namespace onnxquant;

namespace {
struct NamedTarget {
  StringLiteral name, triple, cpu, features;
};
} // namespace

static const NamedTarget targets[] = {
    {"x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", ""},
    {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", ""},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", ""},
    {"aarch64", "aarch64-unknown-linux-gnu", "generic", "+neon"},
    {"aarch64+dotprod", "aarch64-unknown-linux-gnu", "generic",
     "+v8.2a,+dotprod"},
    {"aarch64+i8mm", "aarch64-unknown-linux-gnu", "generic",
     "+v8.6a,+dotprod,+i8mm"},
    {"riscv64", "riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c"},
    {"riscv64+v", "riscv64-unknown-linux-gnu", "generic-rv64",
     "+m,+a,+f,+d,+c,+v"},
    {"esp32c3", "riscv32-unknown-none-elf", "generic-rv32", "+m,+c"},
    {"esp32p4", "riscv32-unknown-none-elf", "generic-rv32", "+m,+a,+f,+c"},
    // LLVM has no name for the esp32s3's core: that of the esp32, without its
    // instructions for doubles.
    {"esp32s3", "xtensa-unknown-none-elf", "esp32", "-dfpaccel"},
};

std::vector<std::string> onnxquant::getTargetNames() {
  std::vector<std::string> names = {"native"};
  for (const NamedTarget &target : targets)
    names.push_back(target.name.str());
  return names;
}

/// Whether the system lets this process use AMX tiles.
static bool systemHasTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long askForState = 0x1023, tileState = 18;
  return syscall(SYS_arch_prctl, askForState, tileState) == 0;
#else
  return false;
#endif
}

static std::string hostFeatures() {
  SubtargetFeatures features;
  bool tiles = systemHasTiles();
  for (const auto &feature : sys::getHostCPUFeatures())
    features.AddFeature(feature.first(),
                        feature.second &&
                            (tiles || !feature.first().starts_with("amx-")));
  return features.getString();
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmParsers();
    InitializeAllAsmPrinters();
  });
}

/// What LLVM knows of a system's processors.
static Expected<std::unique_ptr<MCSubtargetInfo>>
createSubtarget(const onnxquant::TargetOptions &options, StringRef cpu = "",
                StringRef features = "") {
  initializeTargets();
  Triple triple(options.triple);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(inconvertibleErrorCode(), message);
  return std::unique_ptr<MCSubtargetInfo>(
      target->createMCSubtargetInfo(triple, cpu, features));
}

/// Whether LLVM knows the processor and the features that were asked for; it
/// would only warn of them.
static Error checkNames(const onnxquant::TargetOptions &options,
                        StringRef features) {
  auto subtarget = createSubtarget(options);
  if (!subtarget)
    return subtarget.takeError();
  if (!*subtarget || !(*subtarget)->isCPUStringValid(options.cpu))
    return createStringError(inconvertibleErrorCode(),
                             "unknown cpu '" + options.cpu + "' for " +
                                 options.triple);
  SmallVector<StringRef> parts;
  features.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    bool hasSign = part.consume_front("+") || part.consume_front("-");
    bool known = any_of(
        (*subtarget)->getAllProcessorFeatures(),
        [&](const SubtargetFeatureKV &feature) { return part == feature.Key; });
    if (!hasSign || !known)
      return createStringError(inconvertibleErrorCode(),
                               "unknown feature '" + part + "' for " +
                                   options.triple +
                                   "; expects such as +NAME,-NAME");
  }
  return Error::success();
}

Expected<onnxquant::TargetOptions>
onnxquant::parseTarget(StringRef name, StringRef cpu, StringRef features) {
  onnxquant::TargetOptions options;
  options.name = name.str();
  if (name == "native") {
    options.triple = sys::getDefaultTargetTriple();
    options.cpu = sys::getHostCPUName().str();
    options.features = hostFeatures();
  } else {
    auto found = find_if(targets, [&](const NamedTarget &target) {
      return target.name == name;
    });
    if (found == std::end(targets))
      return createStringError(inconvertibleErrorCode(),
                               "unknown target '" + name + "'; known are " +
                                   join(getTargetNames(), ", "));
    options.triple = found->triple.str();
    options.cpu = found->cpu.str();
    options.features = found->features.str();
  }
  if (!cpu.empty()) {
    options.cpu = options.name = cpu.str();
    // The features of this machine's processor are not those of another one.
    if (name == "native")
      options.features.clear();
  }
  if (!features.empty())
    options.features += (options.features.empty() ? "" : ",") + features.str();
  if (Error error = checkNames(options, features))
    return error;
  // LLVM keeps to half of AVX-512's vectors on most processors that have them.
  // Kernels multiply for most of the time, which pays for a lower clock.
  if (Triple(options.triple).isX86() && !features.contains("prefer-256-bit"))
    options.features +=
        (options.features.empty() ? "" : ",") + std::string("-prefer-256-bit");
  return options;
}

bool onnxquant::hasFeatures(const onnxquant::TargetOptions &options,
                            StringRef features) {
  auto subtarget = createSubtarget(options, options.cpu, options.features);
  if (!subtarget) {
    consumeError(subtarget.takeError());
    return false;
  }
  return (*subtarget)->checkFeatures(features);
}

bool onnxquant::isBare(const onnxquant::TargetOptions &options) {
  Triple triple(options.triple);
  return triple.isRISCV32() || triple.getArch() == Triple::xtensa;
}

bool onnxquant::hasFusedMultiplyAdd(const onnxquant::TargetOptions &options) {
  if (isBare(options))
    return Triple(options.triple).isRISCV() && hasFeatures(options, "+f");
  return !Triple(options.triple).isX86() || hasFeatures(options, "+fma");
}

std::optional<onnxquant::TargetOptions>
onnxquant::readTarget(mlir::ModuleOp module) {
  auto target = module->getAttrOfType<mlir::DictionaryAttr>(targetAttr);
  if (!target)
    return std::nullopt;
  onnxquant::TargetOptions options;
  auto read = [&](StringRef key, std::string &text) {
    if (auto value = target.getAs<mlir::StringAttr>(key))
      text = value.str();
  };
  read("name", options.name);
  read("triple", options.triple);
  read("cpu", options.cpu);
  read("features", options.features);
  return options;
}

Expected<std::unique_ptr<TargetMachine>>
onnxquant::createTargetMachine(const onnxquant::TargetOptions &options) {
  initializeTargets();
  Triple triple(options.triple);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(inconvertibleErrorCode(), message);
  llvm::TargetOptions machineOptions;
  // Not every linker makes constructors of the older kind run.
  machineOptions.UseInitArray = true;
  bool bare = isBare(options);
  if (triple.isRISCV64())
    machineOptions.MCOptions.ABIName = "lp64d";
  else if (triple.isRISCV())
    machineOptions.MCOptions.ABIName =
        hasFeatures(options, "+f") ? "ilp32f" : "ilp32";
  // Sections that a linker leaves out if nothing refers to them, and what
  // functions take of the stack.
  machineOptions.FunctionSections = machineOptions.DataSections = bare;
  machineOptions.EmitStackSizeSection = bare;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, machineOptions,
      bare ? Reloc::Static : Reloc::PIC_, std::nullopt,
      options.optLevel == 0   ? CodeGenOptLevel::None
      : options.optLevel == 1 ? CodeGenOptLevel::Less
                              : CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError(inconvertibleErrorCode(),
                             "no code can be generated for " + options.triple);
  return machine;
}
