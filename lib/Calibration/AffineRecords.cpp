// Records of tensors that are others times or plus a number.
//
// Sums are fixed-point numbers in limbs of 32 bits, the last of which has a
// sign. An observer's limbs may be larger; canonical ones are not.

#include "OnnxQuant/Calibration/Records.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace onnxquant;
using Layout = ObserverLayout;

static constexpr int64_t limbMask = 0xffffffff;

BinaryFraction::BinaryFraction(float value) {
  if (value == 0)
    return;
  int position;
  // 24 bits are all that a float has.
  integer = static_cast<int64_t>(std::ldexp(std::frexp(value, &position), 24));
  exponent = position - 24;
  while (integer % 2 == 0) {
    integer /= 2;
    ++exponent;
  }
}

static void makeCanonical(MutableArrayRef<int64_t> limbs) {
  int64_t carry = 0;
  for (int64_t &limb : limbs.drop_back()) {
    int64_t sum = limb + carry;
    limb = sum & limbMask;
    carry = sum >> 32;
  }
  limbs.back() += carry;
}

/// Multiplies canonical limbs by a number of up to 24 bits and a sign.
static void multiply(MutableArrayRef<int64_t> limbs, int64_t by) {
  for (int64_t &limb : limbs)
    limb *= by;
  makeCanonical(limbs);
}

/// Adds canonical limbs times 2^bits; bits below the first limb are zero.
static void addShifted(MutableArrayRef<int64_t> limbs, ArrayRef<int64_t> added,
                       int64_t bits) {
  auto end = static_cast<int64_t>(limbs.size());
  for (auto [i, limb] : enumerate(added)) {
    int64_t position = 32 * static_cast<int64_t>(i) + bits;
    int64_t at = position >> 5;
    int64_t wide = limb * (int64_t(1) << (position & 31));
    if (at >= 0 && at < end)
      limbs[at] += at + 1 == end ? wide : wide & limbMask;
    if (at + 1 >= 0 && at + 1 < end)
      limbs[at + 1] += wide >> 32;
  }
  makeCanonical(limbs);
}

/// Applies a monotonic function of floats to pairs of a minimum and a maximum.
/// What would be no value any more becomes the largest that is one.
static void mapExtremes(MutableArrayRef<int64_t> pairs, bool swaps,
                        function_ref<float(float)> function) {
  float most = std::nextafter(Layout::limit, 0.0f);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    float ends[2];
    for (int64_t k = 0; k < 2; ++k) {
      auto bits = static_cast<uint32_t>(pairs[i + k]);
      std::memcpy(&ends[k], &bits, sizeof(bits));
    }
    // There was none.
    if (!(ends[0] <= ends[1]))
      continue;
    for (int64_t k = 0; k < 2; ++k) {
      float end = std::clamp(function(ends[swaps ? 1 - k : k]), -most, most);
      uint32_t bits;
      std::memcpy(&bits, &end, sizeof(bits));
      pairs[i + k] = bits;
    }
  }
}

static void mapAllExtremes(const Layout &layout, std::vector<int64_t> &record,
                           bool swaps, function_ref<float(float)> function) {
  MutableArrayRef<int64_t> words(record);
  mapExtremes(words.slice(Layout::Min, 2), swaps, function);
  mapExtremes(words.slice(layout.partExtremes(), 2 * layout.parts), swaps,
              function);
  mapExtremes(words.slice(layout.channelExtremes(), 2 * layout.channels), swaps,
              function);
}

static MutableArrayRef<int64_t> squaresOf(std::vector<int64_t> &record) {
  return MutableArrayRef<int64_t>(record).slice(Layout::Squares,
                                                Layout::squareLimbs);
}

static MutableArrayRef<int64_t>
sumOf(const Layout &layout, std::vector<int64_t> &record, int64_t channel) {
  return MutableArrayRef<int64_t>(record).slice(
      layout.channelSums() + Layout::sumLimbs * channel, Layout::sumLimbs);
}

/// Multiplies a sum by integer * 2^exponent.
static void scaleSum(MutableArrayRef<int64_t> sum, ArrayRef<int64_t> integers,
                     int64_t exponent) {
  SmallVector<int64_t> product(sum.begin(), sum.end());
  makeCanonical(product);
  for (int64_t integer : integers)
    multiply(product, integer);
  llvm::fill(sum, 0);
  addShifted(sum, product, exponent);
}

std::vector<int64_t> onnxquant::scaleRecord(const Layout &layout,
                                            ArrayRef<int64_t> record,
                                            float factor) {
  std::vector<int64_t> result(record.begin(), record.end());
  BinaryFraction by(factor);
  scaleSum(squaresOf(result), {by.integer, by.integer}, 2 * by.exponent);
  for (int64_t c = 0; c < layout.channels; ++c)
    scaleSum(sumOf(layout, result, c), by.integer, by.exponent);
  mapAllExtremes(layout, result, /*swaps=*/factor < 0,
                 [&](float value) { return value * factor; });
  return result;
}

/// Adds a count times the product of integers times 2^bits.
static void addTimes(MutableArrayRef<int64_t> limbs, int64_t count,
                     ArrayRef<int64_t> integers, int64_t bits) {
  int64_t product[5] = {count & limbMask, count >> 32, 0, 0, 0};
  for (int64_t integer : integers)
    multiply(product, integer);
  addShifted(limbs, product, bits);
}

std::vector<int64_t> onnxquant::shiftRecord(const Layout &layout,
                                            ArrayRef<int64_t> record,
                                            float addend) {
  std::vector<int64_t> result(record.begin(), record.end());
  BinaryFraction by(addend);
  // The sum of (x + a)^2 is that of x^2, and 2 a x, and a^2.
  SmallVector<int64_t> sum(Layout::sumLimbs, 0);
  for (int64_t c = 0; c < layout.channels; ++c) {
    MutableArrayRef<int64_t> own = sumOf(layout, result, c);
    makeCanonical(own);
    addShifted(sum, own, 0);
    addTimes(own, result[layout.channelCounts() + c], by.integer,
             by.exponent + Layout::sumBias);
  }
  multiply(sum, by.integer);
  MutableArrayRef<int64_t> squares = squaresOf(result);
  makeCanonical(squares);
  addShifted(squares, sum,
             by.exponent + 1 + Layout::squareBias - Layout::sumBias);
  addTimes(squares, result[Layout::Count], {by.integer, by.integer},
           2 * by.exponent + Layout::squareBias);
  mapAllExtremes(layout, result, /*swaps=*/false,
                 [&](float value) { return value + addend; });
  return result;
}
