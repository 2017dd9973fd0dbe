// The arithmetic of quantization: types, scales, zero points, rounding. The one
// home of these formulas; docs/QuantizationSemantics.md numbers them.

#ifndef ONNXQUANT_SUPPORT_QUANTIZATION_H
#define ONNXQUANT_SUPPORT_QUANTIZATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace onnxquant {

/// The greatest float8 number (E4M3FN), and how much all of them deviate from
/// their mean, zero.
inline constexpr double float8Greatest = 448;
inline constexpr double float8Deviation = 100.05772608660494;

/// A type that numbers are stored in: integers, or float8 (E4M3FN), whose codes
/// are its bits.
struct QuantType {
  unsigned bits = 8;
  bool isSigned = false;
  bool isFloat = false;

  int64_t min() const { return isSigned ? -(int64_t(1) << (bits - 1)) : 0; }
  int64_t max() const {
    return (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
  }
  bool operator==(const QuantType &other) const {
    return bits == other.bits && isSigned == other.isSigned &&
           isFloat == other.isFloat;
  }
  bool operator!=(const QuantType &other) const { return !(*this == other); }
  /// `u8`, `s4` and so on.
  std::string str() const;
  /// Reads `u8`, `s8`, `u16`, `s16`, `u4`, `s4`, and the spellings `uint8`,
  /// `int8`, `QUInt8`, `QInt8` and so on; `f8e4m3fn`.
  static std::optional<QuantType> parse(llvm::StringRef text);
};

/// What scales are computed in and cast to last.
enum class ScaleType { F16, F32 };

/// How a range becomes a scale.
struct ScaleRule {
  QuantType type;
  bool symmetric = false;
  /// One bit less than the type has.
  bool reduced = false;
  /// The least width of a range.
  double minimumRealRange = 0;
  ScaleType scaleType = ScaleType::F32;
};

struct ScaleAndZeroPoint {
  double scale = 1;
  int64_t zeroPoint = 0;
  bool operator==(const ScaleAndZeroPoint &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint;
  }
};

/// The numbers that scales are chosen for (F5).
std::pair<int64_t, int64_t> quantizedRange(QuantType type, bool symmetric,
                                           bool reduced);

/// Scale and zero point of real numbers from `min` to `max` (F4).
ScaleAndZeroPoint computeScale(double min, double max, const ScaleRule &rule);

/// A double as the scale's type has it.
double castScale(double scale, ScaleType type);

/// Rounds half to even.
double roundHalfEven(double value);

/// A number quantized (F2). The division is that of the scale's type.
int64_t quantizeValue(double value, const ScaleAndZeroPoint &parameters,
                      QuantType type, ScaleType scaleType = ScaleType::F32);

/// The number that the bits of a float8 stand for.
double float8Value(int64_t code);

/// A number back from its quantized one (F1).
inline double dequantizeValue(int64_t value,
                              const ScaleAndZeroPoint &parameters) {
  return static_cast<double>(value - parameters.zeroPoint) * parameters.scale;
}

/// The same of codes that may be a float8's.
inline double dequantizeValue(int64_t value,
                              const ScaleAndZeroPoint &parameters,
                              QuantType type) {
  return type.isFloat ? float8Value(value) * parameters.scale
                      : dequantizeValue(value, parameters);
}

/// A bias as a 32-bit integer (F8b).
int32_t quantizeBias(double value, double scale);
/// The least scale for which a bias of this magnitude doesn't overflow (F8c).
double leastBiasScale(double largest);

/// 20 log10(|x| / |x - y|), the norms not below epsilon (F36).
double signalToNoise(double signalNorm, double noiseNorm);

/// Least and greatest of finite numbers; none if there is no finite one.
std::optional<std::pair<double, double>>
finiteRange(llvm::ArrayRef<double> values);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_QUANTIZATION_H
