// What code needs of a processor.

#include "Processor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;

static const ProcessorFeature x86Features[] = {
#define ONNXQ_X86(name, word, bit, state) {name, word, bit, state},
#include "OnnxQuant/Target/ProcessorFeatures.def"
};
static const ProcessorFeature aarch64Features[] = {
#define ONNXQ_AARCH64(name, word, bit) {name, word, bit, 0},
#include "OnnxQuant/Target/ProcessorFeatures.def"
};
static const ProcessorFeature riscvFeatures[] = {
#define ONNXQ_RISCV(name, word, bit) {name, word, bit, 0},
#include "OnnxQuant/Target/ProcessorFeatures.def"
};

ArrayRef<ProcessorFeature> onnxquant::knownFeatures(StringRef triple) {
  Triple system(triple);
  if (system.isX86())
    return x86Features;
  if (system.isAArch64())
    return aarch64Features;
  if (system.isRISCV())
    return riscvFeatures;
  return {};
}

std::vector<std::string>
onnxquant::neededFeatures(const onnxquant::TargetOptions &options) {
  std::vector<std::string> needed;
  for (const ProcessorFeature &feature : knownFeatures(options.triple))
    if (hasFeatures(options, ("+" + feature.name).str()))
      needed.push_back(feature.name.str());
  return needed;
}

std::string onnxquant::describeTarget(const onnxquant::TargetOptions &options) {
  std::vector<std::string> needed = neededFeatures(options);
  std::string name = options.name.empty() ? options.cpu : options.name;
  if (options.name == "native" && !options.cpu.empty())
    name += " (" + options.cpu + ")";
  // What a level stands for needs no list.
  if (Triple(options.triple).isX86())
    for (StringRef level : {"x86-64-v4", "x86-64-v3", "x86-64-v2"}) {
      if (options.name == level)
        continue;
      onnxquant::TargetOptions least = options;
      least.cpu = level.str();
      least.features = "";
      std::vector<std::string> implied = neededFeatures(least);
      if (!all_of(implied, [&](const std::string &feature) {
            return is_contained(needed, feature);
          }))
        continue;
      erase_if(needed, [&](const std::string &feature) {
        return is_contained(implied, feature);
      });
      needed.insert(needed.begin(), level.str());
      break;
    }
  return name + (needed.empty() ? "" : ": " + join(needed, " "));
}

std::string onnxquant::targetLine(const onnxquant::TargetOptions &options) {
  std::string name = options.name.empty() ? options.cpu : options.name;
  return name + "\t" + join(neededFeatures(options), " ") + "\n";
}

Error onnxquant::orderVariants(std::vector<onnxquant::TargetOptions> &targets) {
  struct Ranked {
    onnxquant::TargetOptions target;
    std::vector<std::string> needed;
  };
  std::vector<Ranked> ranked;
  for (const onnxquant::TargetOptions &target : targets) {
    if (Triple(target.triple).getArch() !=
        Triple(targets.front().triple).getArch())
      return createStringError(
          "targets '" + targets.front().name + "' and '" + target.name +
          "' are for different machines: a library is for one");
    std::vector<std::string> needed = neededFeatures(target);
    // Of two that fit the same processors, the second would never be chosen.
    if (any_of(ranked,
               [&](const Ranked &other) { return other.needed == needed; }))
      continue;
    ranked.push_back({target, needed});
  }
  stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.needed.size() > b.needed.size();
  });
  targets.clear();
  for (Ranked &each : ranked)
    targets.push_back(std::move(each.target));
  return Error::success();
}
