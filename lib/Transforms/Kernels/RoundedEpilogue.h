// Requantization to 8 bits on vectors, as the last op of an epilogue:
//
//   y = min(upper, max(lower, round(x) + zero_point))
//
// Bounds and zero point are integers, so that clamping first, to bounds
// less the zero point, gives the same; then one conversion rounds
// (vcvtps2dq), and narrowing (vpackssdw, vpackuswb) saturates.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H

#include "KernelBuilder.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// An epilogue that ends so.
struct RoundedEpilogue {
  /// What is rounded, a value of the region.
  mlir::Value value;
  /// The zero point and the bounds, all of u8 or all of s8.
  int64_t zero, low, high;
  /// The table that the byte is looked up in; null if it is the result.
  mlir::DenseIntElementsAttr table;
  /// Whether x86's instructions of 32 and of 64 bytes are there.
  bool hasAVX2, hasAVX512;
  /// Whether rounding and converting takes longer than an addition.
  bool byAddition;
  /// Whether it is known to fit 32 bits once it is rounded.
  bool isSmall;
};

/// The form of an epilogue; none if it doesn't end in a requantization to 8
/// bits, looked up in a table at most, with a zero point that is known.
std::optional<RoundedEpilogue> matchRounded(mlir::Region &epilogue,
                                            const TargetInfo &target);
/// The same of what a region computes.
std::optional<RoundedEpilogue> matchRounded(mlir::Value result,
                                            const TargetInfo &target);

/// A vector of floats as 8-bit integers. With `isInFours` 16 floats are in the
/// order that AVX2's packing undoes (getPackedOrder).
mlir::Value emitRounded(KernelBuilder &b, const RoundedEpilogue &rounded,
                        mlir::Value values, bool isInFours = false);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H
