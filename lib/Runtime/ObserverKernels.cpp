// Loops over values, written once on vectors and compiled for each instruction
// set.
//
// A sum is exact, so that it depends on neither the order nor the lanes. Four
// rows are added as doubles; adding 1.5 * 2^52 times the grid makes the
// double's last bits the sum as an integer, which is added to others. Rounding
// anywhere on the way raises the processor's inexact flag: who called then adds
// value by value. A float has 24 bits and the sum of four rows 51, so that
// values of 2^-26 of the largest are added here.

#include "OnnxQuant/Runtime/ObserverKernels.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

using namespace onnxquant;

static constexpr int64_t lanes = ObserverKernels::minColumns;
typedef float Floats __attribute__((vector_size(4 * lanes)));
typedef int32_t Ints __attribute__((vector_size(4 * lanes)));
typedef double Doubles __attribute__((vector_size(8 * lanes)));
typedef int64_t Longs __attribute__((vector_size(8 * lanes)));

#define ALWAYS_INLINE inline __attribute__((always_inline))

namespace {

/// The processor's flag that a result was rounded.
struct InexactFlag {
#ifdef __SSE2__
  static void clear() { _mm_setcsr(_mm_getcsr() & ~_MM_EXCEPT_INEXACT); }
  static bool isSet() { return _mm_getcsr() & _MM_EXCEPT_INEXACT; }
#else
  static void clear() { std::feclearexcept(FE_INEXACT); }
  static bool isSet() { return std::fetestexcept(FE_INEXACT) != 0; }
#endif
};

} // namespace

template <typename Vector>
static ALWAYS_INLINE void load(Vector &vector, const void *from) {
  std::memcpy(&vector, from, sizeof(vector));
}

template <typename Vector>
static ALWAYS_INLINE void store(const Vector &vector, void *to) {
  std::memcpy(to, &vector, sizeof(vector));
}

/// Minima, maxima and sums of `lanes` columns.
struct Lanes {
  Floats low, high;
  Longs sums, seen;

  ALWAYS_INLINE void widen(const Floats &value) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  ALWAYS_INLINE void addToGrid(const Doubles &sum, double magic) {
    Doubles moved = sum + magic;
    Longs bits;
    std::memcpy(&bits, &moved, sizeof(bits));
    sums += bits;
    seen |= bits;
  }
};

/// False if a value is NaN. Rounding raises the inexact flag.
static ALWAYS_INLINE bool addColumnsOf(const float *x, int64_t rows,
                                       int64_t columns, int64_t exponent,
                                       ColumnSums out,
                                       ObserverExtremes &extremes) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  double magic =
      std::ldexp(1.5, static_cast<int>(exponent) -
                          static_cast<int>(ObserverKernels::bandBits) + 52);
  int64_t magicBits;
  std::memcpy(&magicBits, &magic, sizeof(magicBits));
  Floats low = Floats{} + inf, high = Floats{} - inf;
  Longs seen = {};
  int64_t groups =
      (rows + ObserverKernels::rowsAtOnce - 1) / ObserverKernels::rowsAtOnce;
  for (int64_t c = 0; c < columns; c += lanes) {
    // The last columns may have been looked at before.
    int64_t first = std::min(c, columns - lanes);
    const float *row = x + first;
    Lanes at = {Floats{} + inf, Floats{} - inf, Longs{}, Longs{}};
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, row += 4 * columns) {
      Floats a, b, c, d;
      load(a, row);
      load(b, row + columns);
      load(c, row + 2 * columns);
      load(d, row + 3 * columns);
      at.widen(a);
      at.widen(b);
      at.widen(c);
      at.widen(d);
      at.addToGrid((__builtin_convertvector(a, Doubles) +
                    __builtin_convertvector(b, Doubles)) +
                       (__builtin_convertvector(c, Doubles) +
                        __builtin_convertvector(d, Doubles)),
                   magic);
    }
    Doubles rest = {};
    for (; r < rows; ++r, row += columns) {
      Floats a;
      load(a, row);
      at.widen(a);
      rest += __builtin_convertvector(a, Doubles);
    }
    if (rows % 4 != 0)
      at.addToGrid(rest, magic);
    // Each group added the magic number's bits, too.
    at.sums -= static_cast<int64_t>(static_cast<uint64_t>(magicBits) *
                                    static_cast<uint64_t>(groups));
    store(at.low, out.mins + first);
    store(at.high, out.maxs + first);
    store(at.sums, out.sums + first);
    low = at.low < low ? at.low : low;
    high = at.high > high ? at.high : high;
    seen |= at.seen;
  }
  extremes = {inf, -inf};
  int64_t bits = 0;
  for (int64_t i = 0; i < lanes; ++i) {
    extremes.min = std::min(extremes.min, low[i]);
    extremes.max = std::max(extremes.max, high[i]);
    bits |= seen[i];
  }
  // Infinities and NaN have an exponent of ones.
  constexpr int64_t ones = int64_t(0x7ff) << 52;
  return (bits & ones) != ones;
}

static ALWAYS_INLINE void addBinsOf(const float *x, int64_t count,
                                    int64_t exponent, int64_t bins,
                                    uint32_t *counts) {
  int64_t half = bins / 2, stride = ObserverKernels::stride(bins);
  auto scale = static_cast<float>(
      std::ldexp(static_cast<double>(half), -static_cast<int>(exponent)));
  Ints offsets;
  for (int64_t i = 0; i < lanes; ++i)
    offsets[i] =
        static_cast<int32_t>(half + i % ObserverKernels::copies * stride);
  int64_t done = 0;
  for (; done + lanes <= count; done += lanes) {
    Floats value;
    load(value, x + done);
    // -0 becomes 0.
    value += 0.0f;
    Ints bits, magnitude;
    std::memcpy(&bits, &value, sizeof(bits));
    magnitude = bits & 0x7fffffff;
    std::memcpy(&value, &magnitude, sizeof(value));
    // Bin k for positive values, -1 - k for negative ones.
    Ints bin = __builtin_convertvector(value * scale, Ints) ^ (bits >> 31);
    bin += offsets;
    // Two at a time: loads are what there is least room for.
    uint64_t places[lanes / 2];
    store(bin, places);
    for (int64_t i = 0; i < lanes / 2; ++i) {
      ++counts[places[i] & 0xffffffff];
      ++counts[places[i] >> 32];
    }
  }
  for (; done < count; ++done) {
    auto bin = static_cast<int64_t>(std::fabs(x[done]) * scale);
    ++counts[x[done] < 0 ? half - 1 - bin : half + bin];
  }
}

/// The functions of one instruction set.
#define VARIANT(NAME, TARGET)                                                  \
  TARGET __attribute__((noinline)) static bool add##NAME##Columns(             \
      const float *x, int64_t rows, int64_t columns, int64_t exponent,         \
      ColumnSums out, ObserverExtremes &extremes) {                            \
    return addColumnsOf(x, rows, columns, exponent, out, extremes);            \
  }                                                                            \
  static bool add##NAME##Exactly(const float *x, int64_t rows,                 \
                                 int64_t columns, int64_t exponent,            \
                                 ColumnSums out, ObserverExtremes &extremes) { \
    InexactFlag::clear();                                                      \
    bool isOrdered =                                                           \
        add##NAME##Columns(x, rows, columns, exponent, out, extremes);         \
    return isOrdered && !InexactFlag::isSet();                                 \
  }                                                                            \
  TARGET static void add##NAME##Bins(const float *x, int64_t count,            \
                                     int64_t exponent, int64_t bins,           \
                                     uint32_t *counts) {                       \
    addBinsOf(x, count, exponent, bins, counts);                               \
  }                                                                            \
  static const ObserverKernels kernels##NAME = {#NAME, add##NAME##Exactly,     \
                                                add##NAME##Bins};

VARIANT(Portable, )
#ifdef __x86_64__
VARIANT(Avx2, __attribute__((target("avx2"))))
VARIANT(Avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))
#endif

const ObserverKernels *onnxquant::getPortableKernels() {
  return &kernelsPortable;
}

const ObserverKernels *onnxquant::getAvx2Kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2"))
    return &kernelsAvx2;
#endif
  return nullptr;
}

const ObserverKernels *onnxquant::getAvx512Kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return &kernelsAvx512;
#endif
  return nullptr;
}

const ObserverKernels &onnxquant::getObserverKernels() {
  static const ObserverKernels &best = *[] {
    if (const ObserverKernels *kernels = getAvx512Kernels())
      return kernels;
    if (const ObserverKernels *kernels = getAvx2Kernels())
      return kernels;
    return getPortableKernels();
  }();
  return best;
}
