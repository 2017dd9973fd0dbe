// Sums of floats without rounding.

#include "OnnxQuant/Statistics/ExactSum.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace onnxquant;

/// A big integer divided by 2^bias, rounded once.
static double scaledToDouble(const APInt &value, int64_t bias) {
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

void ExactSum::add(double value) {
  if (value == 0)
    return;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  int64_t position = static_cast<int64_t>((bits >> 52) & 2047) - 1075 + bias;
  uint64_t mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  std::array<int64_t, limbCount> row{};
  int64_t limb = position >> 5, shift = position & 31;
  uint64_t low = (mantissa & 0xffffffff) << shift;
  uint64_t high = (mantissa >> 32) << shift;
  int64_t sign = value < 0 ? -1 : 1;
  if (limb < 0 || limb + 2 >= limbCount)
    return;
  row[limb] = sign * static_cast<int64_t>(low & 0xffffffff);
  row[limb + 1] =
      sign * static_cast<int64_t>((low >> 32) + (high & 0xffffffff));
  row[limb + 2] = sign * static_cast<int64_t>(high >> 32);
  addLimbs(row.data());
}

APInt ExactSum::scaled() const {
  APInt value(width, static_cast<uint64_t>(limbs[limbCount - 1]),
              /*isSigned=*/true);
  for (int64_t i = limbCount - 2; i >= 0; --i) {
    value <<= 32;
    value += APInt(width, static_cast<uint64_t>(limbs[i]));
  }
  return value;
}

void ExactSum::fromScaled(const APInt &value) {
  for (int64_t i = 0; i < limbCount - 1; ++i)
    limbs[i] = value.extractBitsAsZExtValue(32, 32 * i);
  limbs[limbCount - 1] = static_cast<int64_t>(
      value.extractBitsAsZExtValue(64, 32 * (limbCount - 1)));
}

double ExactSum::toDouble() const { return scaledToDouble(scaled(), bias); }

std::string ExactSum::toHex() const {
  SmallString<128> text;
  scaled().toString(text, 16, /*Signed=*/true, /*formatAsCLiteral=*/false,
                    /*UpperCase=*/false);
  return text.str().str();
}

bool ExactSum::fromHex(StringRef text) {
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || digits.size() > (width - 2) / 4 ||
      !all_of(digits, [](char c) { return isHexDigit(c); }))
    return false;
  APInt value(width, digits, 16);
  fromScaled(negative ? -value : value);
  return true;
}
