// Sums of floats without rounding.

#include "OnnxQuant/Calibration/ExactSum.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace onnxquant;

double onnxquant::scaledToDouble(const APInt &value, int64_t bias) {
  APInt magnitude = value.abs();
  unsigned bits = magnitude.getActiveBits();
  if (bits == 0)
    return 0;
  int64_t drop = 0;
  if (bits > 64) {
    // 64 bits are enough to round once more, with the rest as a sticky bit.
    drop = bits - 64;
    bool sticky = magnitude.countr_zero() < drop;
    magnitude = magnitude.lshr(drop);
    if (sticky)
      magnitude |= 1;
  }
  double result =
      std::ldexp(static_cast<double>(magnitude.getZExtValue()), drop - bias);
  return value.isNegative() ? -result : result;
}

template <int64_t Limbs, int64_t Bias>
void ExactSum<Limbs, Bias>::add(double value) {
  if (value == 0)
    return;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  int64_t position = static_cast<int64_t>((bits >> 52) & 2047) - 1075 + Bias;
  uint64_t mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  std::array<int64_t, Limbs> row{};
  int64_t limb = position >> 5, shift = position & 31;
  uint64_t low = (mantissa & 0xffffffff) << shift;
  uint64_t high = (mantissa >> 32) << shift;
  int64_t sign = value < 0 ? -1 : 1;
  if (limb < 0 || limb + 2 >= Limbs)
    return;
  row[limb] = sign * static_cast<int64_t>(low & 0xffffffff);
  row[limb + 1] =
      sign * static_cast<int64_t>((low >> 32) + (high & 0xffffffff));
  row[limb + 2] = sign * static_cast<int64_t>(high >> 32);
  addLimbs(row.data());
}

template <int64_t Limbs, int64_t Bias>
APInt ExactSum<Limbs, Bias>::scaled() const {
  APInt value(width, static_cast<uint64_t>(limbs[Limbs - 1]),
              /*isSigned=*/true);
  for (int64_t i = Limbs - 2; i >= 0; --i) {
    value <<= 32;
    value += APInt(width, static_cast<uint64_t>(limbs[i]));
  }
  return value;
}

template <int64_t Limbs, int64_t Bias>
void ExactSum<Limbs, Bias>::fromScaled(const APInt &value) {
  for (int64_t i = 0; i < Limbs - 1; ++i)
    limbs[i] = value.extractBitsAsZExtValue(32, 32 * i);
  limbs[Limbs - 1] =
      static_cast<int64_t>(value.extractBitsAsZExtValue(64, 32 * (Limbs - 1)));
}

template <int64_t Limbs, int64_t Bias>
double ExactSum<Limbs, Bias>::toDouble() const {
  return scaledToDouble(scaled(), Bias);
}

template <int64_t Limbs, int64_t Bias>
std::string ExactSum<Limbs, Bias>::toHex() const {
  SmallString<128> text;
  scaled().toString(text, 16, /*Signed=*/true, /*formatAsCLiteral=*/false,
                    /*UpperCase=*/false);
  return text.str().str();
}

template <int64_t Limbs, int64_t Bias>
bool ExactSum<Limbs, Bias>::fromHex(StringRef text) {
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || digits.size() > (width - 2) / 4 ||
      !all_of(digits, [](char c) { return isHexDigit(c); }))
    return false;
  APInt value(width, digits, 16);
  fromScaled(negative ? -value : value);
  return true;
}

template class onnxquant::ExactSum<14, 224>;
template class onnxquant::ExactSum<22, 352>;
