// Epilogues that end in a quantized byte, in fewer instructions.
//
// A number is rounded half to even, the zero point added, the sum clamped to
// the type and narrowed (F3 of docs/QuantizationSemantics.md). Bounds and zero
// point are whole numbers, so that clamping first, to bounds less the zero
// point, gives the same bytes; then one conversion rounds, and narrowing has
// room to add.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H

#include "KernelBuilder.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// A number of type f32, rounded, between bounds that are whole.
struct ClampedNumber {
  /// Before it is clamped.
  mlir::Value number;
  int64_t low, high;
};

/// What a number is clamped from; none if it is no such number.
std::optional<ClampedNumber> matchClampedNumber(mlir::Value clamped);

/// A byte that is a number of type f32 clamped to bounds; the number is whole
/// within them.
struct ClampedByte {
  /// Before and after it is clamped.
  mlir::Value number, clamped;
  int64_t low, high;
};

/// What a byte is made of; none if in another way.
std::optional<ClampedByte> matchClamped(mlir::Value byte);
/// The byte of a number, clamped to other bounds.
mlir::Value emitClamped(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                        int64_t low, int64_t high);

/// The number that a byte less a zero point is; zero with whichever sign unless
/// `keepsZeros`.
mlir::Value emitDifference(mlir::ImplicitLocOpBuilder &b,
                           const ClampedByte &byte, int64_t zero,
                           bool keepsZeros);

/// An epilogue that ends so.
struct RoundedEpilogue {
  /// The number before it is rounded, a value of the region.
  mlir::Value number;
  /// The zero point and the bounds, both bytes without sign or both with one.
  int64_t zero, low, high;
  /// The table that the byte is looked up in; null if it is the result.
  mlir::DenseIntElementsAttr table;
  /// Whether x86's instructions of 32 and of 64 bytes are there.
  bool hasAVX2, hasAVX512;
  /// Whether rounding and converting takes longer than an addition.
  bool byAddition;
  /// Whether the number is known to fit 32 bits once it is rounded.
  bool isSmall;
};

/// Marks what is rounded to an integer that is known to fit 32 bits, while the
/// constants that prove it are at hand.
void markSmallNumbers(mlir::Block &epilogue);

/// The form of an epilogue; none if it ends in another way, or if one of the
/// numbers isn't known now.
std::optional<RoundedEpilogue> matchRounded(mlir::Region &epilogue,
                                            const TargetInfo &target);
/// The same of what a region computes.
std::optional<RoundedEpilogue> matchRounded(mlir::Value result,
                                            const TargetInfo &target);

/// The bytes of a vector of numbers. With `isInFours` 16 numbers are in the
/// order that AVX2's packing undoes (getPackedOrder).
mlir::Value emitRounded(KernelBuilder &b, const RoundedEpilogue &rounded,
                        mlir::Value numbers, bool isInFours = false);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_ROUNDEDEPILOGUE_H
