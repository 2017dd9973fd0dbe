// The arithmetic of quantization. Scales are computed in double and cast last.

#include "OnnxQuant/Support/Quantization.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace onnxquant;

static constexpr QuantType float8{8, true, true};

std::string QuantType::str() const {
  if (isFloat)
    return "f8e4m3fn";
  return (isSigned ? "s" : "u") + std::to_string(bits);
}

std::optional<QuantType> QuantType::parse(llvm::StringRef text) {
  std::string lower = text.lower();
  return llvm::StringSwitch<std::optional<QuantType>>(lower)
      .Cases({"u8", "uint8", "quint8"}, QuantType{8, false})
      .Cases({"s8", "i8", "int8", "qint8"}, QuantType{8, true})
      .Cases({"u16", "uint16", "quint16"}, QuantType{16, false})
      .Cases({"s16", "i16", "int16", "qint16"}, QuantType{16, true})
      .Cases({"u4", "uint4", "quint4"}, QuantType{4, false})
      .Cases({"s4", "i4", "int4", "qint4"}, QuantType{4, true})
      .Cases({"f8e4m3fn", "float8e4m3fn", "qfloat8e4m3fn"}, float8)
      .Default(std::nullopt);
}

std::pair<int64_t, int64_t>
onnxquant::quantizedRange(QuantType type, bool symmetric, bool reduced) {
  if (reduced) {
    int64_t half = int64_t(1) << (type.bits - 2);
    if (!type.isSigned)
      return {0, 2 * half - 1};
    // Of 4 bits, the symmetric end would take a third of the range.
    return {-half, type.bits == 4 ? half - 1 : half};
  }
  if (symmetric && type.isSigned && type.bits > 4)
    return {-type.max(), type.max()};
  return {type.min(), type.max()};
}

double onnxquant::roundHalfEven(double value) {
  // The default rounding mode of floating point is half to even.
  return std::nearbyint(value);
}

double onnxquant::castScale(double scale, ScaleType type) {
  if (type == ScaleType::F32)
    return static_cast<float>(scale);
  bool exact;
  llvm::APFloat number(scale);
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                 &exact);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &exact);
  return number.convertToDouble();
}

static double smallestNormal(ScaleType type) {
  return type == ScaleType::F32
             ? static_cast<double>(std::numeric_limits<float>::min())
             : std::ldexp(1.0, -14);
}

ScaleAndZeroPoint onnxquant::computeScale(double min, double max,
                                          const ScaleRule &rule) {
  min = std::min(min, 0.0);
  max = std::max(max, 0.0);
  max = std::max(max, min + rule.minimumRealRange);
  if (rule.symmetric) {
    double absolute = std::max(-min, max);
    min = -absolute;
    max = absolute;
  }
  if (rule.type.isFloat) {
    double scale = std::max(-min, max) / float8Greatest;
    return {scale < smallestNormal(rule.scaleType)
                ? 1.0
                : castScale(scale, rule.scaleType),
            0};
  }
  auto [lo, hi] = quantizedRange(rule.type, rule.symmetric, rule.reduced);
  double scale = (max - min) / static_cast<double>(hi - lo);
  if (scale < smallestNormal(rule.scaleType))
    return {1.0, 0};
  double zero = rule.symmetric ? roundHalfEven(static_cast<double>(lo + hi) / 2)
                               : std::clamp(roundHalfEven(lo - min / scale),
                                            static_cast<double>(lo),
                                            static_cast<double>(hi));
  return {castScale(scale, rule.scaleType), static_cast<int64_t>(zero)};
}

double onnxquant::float8Value(int64_t code) {
  llvm::APFloat number(llvm::APFloat::Float8E4M3FN(),
                       llvm::APInt(8, code & 255));
  bool exact;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &exact);
  return number.convertToDouble();
}

/// Halves go to the even number, what is beyond the greatest to that.
static int64_t float8Code(double value) {
  llvm::APFloat number(std::clamp(value, -float8Greatest, float8Greatest));
  bool exact;
  number.convert(llvm::APFloat::Float8E4M3FN(),
                 llvm::APFloat::rmNearestTiesToEven, &exact);
  return static_cast<int64_t>(number.bitcastToAPInt().getZExtValue());
}

int64_t onnxquant::quantizeValue(double value,
                                 const ScaleAndZeroPoint &parameters,
                                 QuantType type, ScaleType scaleType) {
  double quotient =
      scaleType == ScaleType::F32
          ? static_cast<float>(value) / static_cast<float>(parameters.scale)
          : castScale(value / parameters.scale, scaleType);
  if (std::isnan(quotient))
    quotient = 0;
  if (type.isFloat)
    return float8Code(quotient);
  double shifted =
      roundHalfEven(quotient) + static_cast<double>(parameters.zeroPoint);
  return static_cast<int64_t>(std::clamp(shifted,
                                         static_cast<double>(type.min()),
                                         static_cast<double>(type.max())));
}

int32_t onnxquant::quantizeBias(double value, double scale) {
  return static_cast<int32_t>(
      std::clamp(roundHalfEven(value / scale), -2147483648.0, 2147483647.0));
}

double onnxquant::leastBiasScale(double largest) {
  return 1.0001 * 2 * largest / 4294967294.0;
}

double onnxquant::signalToNoise(double signalNorm, double noiseNorm) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return 20 * std::log10(std::max(signalNorm, epsilon) /
                         std::max(noiseNorm, epsilon));
}

std::optional<std::pair<double, double>>
onnxquant::finiteRange(llvm::ArrayRef<double> values) {
  std::optional<std::pair<double, double>> range;
  for (double value : values) {
    if (!std::isfinite(value))
      continue;
    if (!range)
      range = {value, value};
    range->first = std::min(range->first, value);
    range->second = std::max(range->second, value);
  }
  return range;
}
