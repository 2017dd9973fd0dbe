// What kernels ask of the processor that they are for.

#ifndef ONNXQUANT_SUPPORT_TARGETINFO_H
#define ONNXQUANT_SUPPORT_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace onnxquant {

/// A processor as LLVM's tables describe it; by default one of which nothing is
/// known. The machine that the compiler runs on plays no part.
struct TargetInfo {
  enum class Arch { Other, X86, AArch64, RISCV };

  Arch arch = Arch::Other;
  /// The width of a vector register, and how many there are. With RISC-V's
  /// vectors the width that any processor of the target has at least.
  int64_t vectorBytes = 16;
  int64_t numVectors = 16;
  /// What the second level of cache holds on all usual processors of its kind.
  int64_t cacheBytes = 256 * 1024;
  /// Multiply-add with one rounding, for vectors.
  bool hasFMA = false;
  /// x86: 256-bit integers; 512-bit vectors with masks for all element types;
  /// dot products of u8 and s8 with 512- and 256-bit vectors.
  bool hasAVX2 = false;
  bool hasAVX512 = false;
  bool hasAVX512VNNI = false;
  bool hasAVXVNNI = false;
  /// x86: shuffles of 16 bytes, and of all bytes of a 512-bit vector.
  bool hasSSSE3 = false;
  bool hasVBMI = false;
  /// x86: AMX tiles of int8, on a system that a program can ask for
  /// them.
  bool hasAMX = false;
  /// AArch64: dot products and matrix products of 8-bit integers.
  bool hasDotprod = false;
  bool hasI8mm = false;
  /// RISC-V's vectors of 32-bit floats and integers.
  bool hasRVV = false;

  /// Lanes of elements of so many bytes.
  int64_t lanes(int64_t bytes = 4) const { return vectorBytes / bytes; }
  /// Whether a vector of bytes is looked up in a table by a few instructions.
  bool hasByteTables() const { return hasSSSE3 || arch == Arch::AArch64; }
};

/// What LLVM knows of a processor: `triple`, `cpu` and `features` as LLVM calls
/// them. An unknown system is like one of which nothing is known.
TargetInfo getTargetInfo(llvm::StringRef triple, llvm::StringRef cpu,
                         llvm::StringRef features);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_TARGETINFO_H
