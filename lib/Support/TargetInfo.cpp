// What kernels ask of a processor, out of LLVM's tables: they know which
// features a processor's name stands for, and which features imply others.

#include "OnnxQuant/Support/TargetInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace onnxquant;

static void initializeSubtargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeAllTargetInfos();
    InitializeAllTargetMCs();
  });
}

static void describeX86(const MCSubtargetInfo &subtarget, TargetInfo &info) {
  auto has = [&](StringRef features) {
    return subtarget.checkFeatures(features);
  };
  info.arch = TargetInfo::Arch::X86;
  info.hasFMA = has("+avx2,+fma");
  info.hasAVX2 = has("+avx2");
  // Whoever prefers half of the wide vectors gets them.
  bool isWide = has("+avx512f,+avx512bw,+avx512dq,+avx512vl");
  info.hasAVX512 = isWide && !has("+prefer-256-bit");
  info.hasAVX512VNNI = info.hasAVX512 && has("+avx512vnni");
  info.hasAVXVNNI = has("+avxvnni") || has("+avx512vnni,+avx512vl");
  info.hasSSSE3 = has("+ssse3");
  info.hasVBMI = info.hasAVX512 && has("+avx512vbmi");
  info.hasAMX = info.hasAVX512 && has("+amx-tile,+amx-int8") &&
                subtarget.getTargetTriple().isOSLinux();
  info.vectorBytes = info.hasAVX512 ? 64 : has("+avx") ? 32 : 16;
  info.numVectors = isWide ? 32 : 16;
  if (isWide)
    info.cacheBytes = 1024 * 1024;
}

static void describeAArch64(const MCSubtargetInfo &subtarget,
                            TargetInfo &info) {
  info.arch = TargetInfo::Arch::AArch64;
  info.hasFMA = subtarget.checkFeatures("+neon");
  info.hasDotprod = subtarget.checkFeatures("+dotprod");
  info.hasI8mm = subtarget.checkFeatures("+i8mm");
  info.numVectors = 32;
}

static void describeRISCV(const MCSubtargetInfo &subtarget, TargetInfo &info) {
  info.arch = TargetInfo::Arch::RISCV;
  info.numVectors = 32;
  info.hasRVV = subtarget.checkFeatures("+zve32f");
  // Without vectors, element by element.
  info.hasFMA = subtarget.checkFeatures("+f");
  if (!info.hasRVV)
    return;
  info.vectorBytes = 4;
  for (int64_t bits : {64, 128, 256, 512, 1024})
    if (subtarget.checkFeatures("+zvl" + std::to_string(bits) + "b"))
      info.vectorBytes = bits / 8;
}

TargetInfo onnxquant::getTargetInfo(StringRef triple, StringRef cpu,
                                    StringRef features) {
  initializeSubtargets();
  TargetInfo info;
  Triple system(triple);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(system, message);
  if (!target)
    return info;
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(system, cpu, features));
  if (!subtarget)
    return info;
  if (system.isX86())
    describeX86(*subtarget, info);
  else if (system.isAArch64())
    describeAArch64(*subtarget, info);
  else if (system.isRISCV())
    describeRISCV(*subtarget, info);
  return info;
}
