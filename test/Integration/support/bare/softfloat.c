/* Floats of 32 bits without a unit for them: what libgcc has for such chips, as
 * far as models need it. Rounds to nearest, half to even; NaNs are quiet. */

#include <stdint.h>

typedef union {
  float real;
  uint32_t bits;
} word;

static const uint32_t sign = 0x80000000u, infinite = 0x7f800000u,
                      notANumber = 0x7fc00000u;

static uint32_t bitsOf(float x) {
  word w;
  w.real = x;
  return w.bits;
}

static float ofBits(uint32_t bits) {
  word w;
  w.bits = bits;
  return w.real;
}

static int isNaN(uint32_t x) { return (x & ~sign) > infinite; }

/* mantissa * 2^exponent with a sign, rounded once. */
static float pack(uint32_t signBit, uint64_t mantissa, int exponent) {
  if (mantissa == 0)
    return ofBits(signBit);
  int top = 63;
  while (!(mantissa >> top & 1))
    --top;
  /* The place of the last bit that stays. */
  int last = top - 23;
  if (exponent + last < -149)
    last = -149 - exponent;
  if (last > 63)
    return ofBits(signBit);
  uint64_t kept = last > 0 ? mantissa >> last : mantissa << -last;
  if (last > 0) {
    uint64_t rest = mantissa & (((uint64_t)1 << last) - 1),
             half = (uint64_t)1 << (last - 1);
    if (rest > half || (rest == half && (kept & 1)))
      ++kept;
  }
  int scale = exponent + last;
  if (kept >> 24) {
    kept >>= 1;
    ++scale;
  }
  if (kept < (1u << 23))
    return ofBits(signBit | (uint32_t)kept);
  int biased = scale + 150;
  if (biased >= 255)
    return ofBits(signBit | infinite);
  return ofBits(signBit | (uint32_t)biased << 23 |
                ((uint32_t)kept & 0x7fffffu));
}

/* The mantissa of a finite number, and the exponent that goes with it. */
static uint32_t unpack(uint32_t x, int *exponent) {
  uint32_t field = x >> 23 & 255, mantissa = x & 0x7fffffu;
  *exponent = (field ? (int)field : 1) - 150;
  return field ? mantissa | 1u << 23 : mantissa;
}

float __addsf3(float a, float b) {
  uint32_t x = bitsOf(a), y = bitsOf(b);
  if (isNaN(x) || isNaN(y))
    return ofBits(notANumber);
  if ((x & ~sign) == infinite || (y & ~sign) == infinite) {
    if ((x & ~sign) != infinite)
      return b;
    if ((y & ~sign) == infinite && x != y)
      return ofBits(notANumber);
    return a;
  }
  if ((x & ~sign) < (y & ~sign)) {
    uint32_t other = x;
    x = y;
    y = other;
  }
  int e, f;
  uint64_t m = (uint64_t)unpack(x, &e) << 32, n = (uint64_t)unpack(y, &f) << 32;
  int apart = e - f;
  if (apart > 60)
    n = n != 0;
  else if (apart > 0)
    n = n >> apart | ((n & (((uint64_t)1 << apart) - 1)) != 0);
  int isSum = (x & sign) == (y & sign);
  uint64_t sum = isSum ? m + n : m - n;
  uint32_t signBit = sum == 0 && !isSum ? 0 : x & sign;
  return pack(signBit, sum, e - 32);
}

float __subsf3(float a, float b) {
  return __addsf3(a, ofBits(bitsOf(b) ^ sign));
}

float __mulsf3(float a, float b) {
  uint32_t x = bitsOf(a), y = bitsOf(b), signBit = (x ^ y) & sign;
  if (isNaN(x) || isNaN(y))
    return ofBits(notANumber);
  if ((x & ~sign) == infinite || (y & ~sign) == infinite)
    return ofBits(!(x & ~sign) || !(y & ~sign) ? notANumber
                                               : signBit | infinite);
  int e, f;
  uint32_t m = unpack(x, &e), n = unpack(y, &f);
  return pack(signBit, (uint64_t)m * n, e + f);
}

float __divsf3(float a, float b) {
  uint32_t x = bitsOf(a), y = bitsOf(b), signBit = (x ^ y) & sign;
  int xIsInfinite = (x & ~sign) == infinite,
      yIsInfinite = (y & ~sign) == infinite;
  if (isNaN(x) || isNaN(y) || (xIsInfinite && yIsInfinite))
    return ofBits(notANumber);
  if (xIsInfinite)
    return ofBits(signBit | infinite);
  if (yIsInfinite)
    return ofBits(signBit);
  if (!(y & ~sign))
    return ofBits(x & ~sign ? signBit | infinite : notANumber);
  int e, f;
  uint64_t rest = unpack(x, &e), n = unpack(y, &f), quotient = 0;
  while (rest && rest < (uint64_t)1 << 23) {
    rest <<= 1;
    --e;
  }
  while (n < (uint64_t)1 << 23) {
    n <<= 1;
    --f;
  }
  for (int i = 0; i < 40; ++i) {
    quotient <<= 1;
    if (rest >= n) {
      rest -= n;
      quotient |= 1;
    }
    rest <<= 1;
  }
  return pack(signBit, quotient << 1 | (rest != 0), e - f - 40);
}

static float ofInteger(uint32_t signBit, uint64_t size) {
  return pack(signBit, size, 0);
}
float __floatsisf(int32_t x) {
  return ofInteger(x < 0 ? sign : 0, x < 0 ? -(int64_t)x : x);
}
float __floatunsisf(uint32_t x) { return ofInteger(0, x); }
float __floatdisf(int64_t x) {
  return ofInteger(x < 0 ? sign : 0, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

int64_t __fixsfdi(float a) {
  uint32_t x = bitsOf(a);
  int e;
  uint64_t m = unpack(x, &e);
  if ((x & ~sign) >= infinite || e > 39)
    return x & sign ? INT64_MIN : INT64_MAX;
  m = e >= 0 ? m << e : e > -64 ? m >> -e : 0;
  return x & sign ? -(int64_t)m : (int64_t)m;
}

int32_t __fixsfsi(float a) {
  int64_t x = __fixsfdi(a);
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

int __unordsf2(float a, float b) {
  return isNaN(bitsOf(a)) || isNaN(bitsOf(b));
}

/* -1, 0 or 1; `unordered` if one is no number. */
static int compare(float a, float b, int unordered) {
  uint32_t x = bitsOf(a), y = bitsOf(b);
  if (isNaN(x) || isNaN(y))
    return unordered;
  int64_t p = x & sign ? -(int64_t)(x & ~sign) : (int64_t)x,
          q = y & sign ? -(int64_t)(y & ~sign) : (int64_t)y;
  return (p > q) - (p < q);
}
int __eqsf2(float a, float b) { return compare(a, b, 1); }
int __nesf2(float a, float b) { return compare(a, b, 1); }
int __ltsf2(float a, float b) { return compare(a, b, 1); }
int __lesf2(float a, float b) { return compare(a, b, 1); }
int __gtsf2(float a, float b) { return compare(a, b, -1); }
int __gesf2(float a, float b) { return compare(a, b, -1); }
