// Notes on quantized models.

#include "QuantizeNotes.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;

/// Whether this processor is an x86 without instructions that add products of
/// bytes in 32 bits.
static bool lacksVnni() {
  if (!Triple(sys::getProcessTriple()).isX86())
    return false;
  StringMap<bool> features = sys::getHostCPUFeatures();
  return !features.lookup("avx512vnni") && !features.lookup("avxvnni");
}

std::string onnxquant::cli::saturationNote(const QuantizeReport &report,
                                           StringRef runtime) {
  bool named = runtime == "onnxruntime";
  if (report.saturating == 0 || (!named && (!runtime.empty() || !lacksVnni())))
    return "";
  std::string text;
  raw_string_ostream os(text);
  os << "ONNX Runtime adds products of u8 and s8 in 16 bits on x86 without "
        "VNNI"
     << (named ? "" : ", as this processor is") << ": " << report.saturating
     << (report.saturating == 1 ? " layer" : " layers")
     << " may saturate there. Quantize "
     << (named ? "without --weight-type s8" : "with --for onnxruntime")
     << ", or run it with session.x64quantprecision=1; onnxq's own code is "
        "exact";
  return text;
}
