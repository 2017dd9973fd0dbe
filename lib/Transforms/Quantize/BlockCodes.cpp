// Codes of blocks by what the weights alone say: nearest, half-quadratic,
// weighted; and how codes lie in bytes.

#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace onnxquant;
using llvm::ArrayRef;

BlockCodes::BlockCodes(const BlockSpec &spec, int64_t rows, int64_t depth)
    : spec(spec), rows(rows), depth(depth), codes(rows * depth, 0),
      scales(rows * blocks(), 0),
      zeros(rows * blocks(), static_cast<float>(spec.middle())) {}

std::vector<uint8_t> onnxquant::packBits(ArrayRef<uint8_t> numbers,
                                         unsigned bits) {
  size_t perByte = 8 / bits;
  std::vector<uint8_t> bytes((numbers.size() + perByte - 1) / perByte, 0);
  for (size_t i = 0; i < numbers.size(); ++i)
    bytes[i / perByte] = static_cast<uint8_t>(
        bytes[i / perByte] | (numbers[i] << (i % perByte * bits)));
  return bytes;
}

std::vector<uint8_t> BlockCodes::packCodes() const {
  int64_t padded = blocks() * spec.blockSize;
  std::vector<uint8_t> bytes, row(padded);
  bytes.reserve(rows * padded * spec.bits / 8);
  for (int64_t n = 0; n < rows; ++n) {
    std::copy_n(codes.begin() + n * depth, depth, row.begin());
    float last = std::clamp(zeros[(n + 1) * blocks() - 1], 0.0f,
                            static_cast<float>(spec.maxCode()));
    std::fill(row.begin() + depth, row.end(),
              static_cast<uint8_t>(std::nearbyint(last)));
    std::vector<uint8_t> packed = packBits(row, spec.bits);
    bytes.insert(bytes.end(), packed.begin(), packed.end());
  }
  return bytes;
}

std::vector<uint8_t> BlockCodes::packZeros() const {
  std::vector<uint8_t> bytes, row(blocks());
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t i = 0; i < blocks(); ++i)
      row[i] = static_cast<uint8_t>(zeros[n * blocks() + i]);
    std::vector<uint8_t> packed = packBits(row, spec.bits);
    bytes.insert(bytes.end(), packed.begin(), packed.end());
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Nearest
//===----------------------------------------------------------------------===//

static float storedScale(const BlockSpec &spec, float scale) {
  if (!spec.halfScales)
    return scale;
  bool exact;
  llvm::APFloat half(scale);
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
               &exact);
  return half.convertToFloat();
}

/// Calls `body(block, place, weights, codes)` for each block of each row.
template <typename Body>
static void forBlocks(BlockCodes &result, ArrayRef<float> matrix, Body body) {
  int64_t blocks = result.blocks(), size = result.spec.blockSize;
  for (int64_t n = 0; n < result.rows; ++n)
    for (int64_t i = 0; i < blocks; ++i) {
      int64_t start = n * result.depth + i * size;
      int64_t count = std::min(size, result.depth - i * size);
      body(n * blocks + i, matrix.slice(start, count), &result.codes[start]);
    }
}

/// Halves go away from zero, and the zero point is added before.
static uint8_t nearestCode(float weight, float inverse, float zero,
                           float most) {
  return static_cast<uint8_t>(
      std::clamp(std::round(weight * inverse + zero), 0.0f, most));
}

BlockCodes onnxquant::roundToNearest(ArrayRef<float> matrix, int64_t rows,
                                     int64_t depth, const BlockSpec &spec) {
  BlockCodes result(spec, rows, depth);
  auto most = static_cast<float>(spec.maxCode());
  auto middle = static_cast<float>(spec.middle());
  forBlocks(result, matrix, [&](int64_t at, ArrayRef<float> in, uint8_t *out) {
    auto [low, high] = std::minmax_element(in.begin(), in.end());
    float min = *low, max = *high, zero = middle, scale;
    if (spec.symmetric) {
      scale = (std::fabs(max) > std::fabs(min) ? max : min) / -middle;
    } else {
      min = std::min(min, 0.0f);
      max = std::max(max, 0.0f);
      scale = (max - min) / most;
      zero = scale != 0 ? std::clamp(std::round(0.0f - min / scale), 0.0f, most)
                        : 0.0f;
    }
    scale = storedScale(spec, scale);
    float inverse = scale != 0 ? 1.0f / scale : 0.0f;
    for (size_t k = 0; k < in.size(); ++k)
      out[k] = nearestCode(in[k], inverse, zero, most);
    result.scales[at] = scale;
    result.zeros[at] = zero;
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Half-quadratic
//===----------------------------------------------------------------------===//

/// What is left of an error if a norm below one pulls small ones to zero.
static float shrunk(float error, float beta) {
  constexpr float power = 0.7f, tiny = 1e-8f;
  float size = std::fabs(error);
  float left = size - std::pow(size + tiny, power - 1) / beta;
  return left > 0 ? std::copysign(left, error) : 0.0f;
}

BlockCodes onnxquant::halfQuadratic(ArrayRef<float> matrix, int64_t rows,
                                    int64_t depth, const BlockSpec &spec) {
  constexpr int steps = 20;
  constexpr float steepest = 2e4f, growth = 1.01f;
  BlockCodes result(spec, rows, depth);
  auto most = static_cast<float>(spec.maxCode());
  forBlocks(result, matrix, [&](int64_t at, ArrayRef<float> in, uint8_t *out) {
    auto [low, high] = std::minmax_element(in.begin(), in.end());
    float range = *high - *low;
    float inverse = range > 0 ? std::min(most / range, steepest) : 1.0f;
    inverse = 1.0f / storedScale(spec, 1.0f / inverse);
    float zero = std::nearbyint(-*low * inverse), kept = zero, beta = 10;
    float least = std::numeric_limits<float>::infinity();
    auto code = [&](float weight, float offset) {
      return std::clamp(std::nearbyint(weight * inverse + offset), 0.0f, most);
    };
    for (int step = 0; step < steps; ++step, beta *= growth) {
      float error = 0, sum = 0;
      for (float weight : in) {
        float q = code(weight, zero), rest = weight - (q - zero) / inverse;
        error += std::fabs(rest);
        sum += q - (weight - shrunk(rest, beta)) * inverse;
      }
      if (error >= least)
        break;
      least = error;
      kept = zero;
      zero = storedScale(spec, sum / static_cast<float>(in.size()));
    }
    for (size_t k = 0; k < in.size(); ++k)
      out[k] = static_cast<uint8_t>(code(in[k], kept));
    result.scales[at] = 1.0f / inverse;
    result.zeros[at] = kept;
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Weighted
//===----------------------------------------------------------------------===//

namespace {
/// A scale and a least weight, with the error of what they give.
struct Fit {
  double scale = 1, min = 0;
  double error = std::numeric_limits<double>::infinity();
};
} // namespace

/// The weights' importance: their size, and that of the block.
static std::vector<double> importanceOf(ArrayRef<float> in) {
  double squares = 0;
  for (float weight : in)
    squares += static_cast<double>(weight) * weight;
  double typical = std::sqrt(squares / static_cast<double>(in.size()));
  std::vector<double> importance;
  for (float weight : in)
    importance.push_back(typical + std::fabs(weight));
  return importance;
}

/// Codes by `inverse` from `min` on, then the scale and the least weight that
/// fit these codes best.
static Fit fitCodes(ArrayRef<float> in, ArrayRef<double> importance,
                    double inverse, double min, double most) {
  double w = 0, x = 0, l = 0, ll = 0, xl = 0;
  std::vector<double> codes;
  for (auto [weight, matters] : llvm::zip(in, importance)) {
    double code =
        std::clamp(std::nearbyint(inverse * (weight - min)), 0., most);
    codes.push_back(code);
    w += matters;
    x += matters * weight;
    l += matters * code;
    ll += matters * code * code;
    xl += matters * code * weight;
  }
  double determinant = w * ll - l * l;
  if (!(determinant > 0))
    return {};
  Fit fit;
  fit.scale = (w * xl - x * l) / determinant;
  fit.min = (ll * x - l * xl) / determinant;
  if (!(fit.scale > 0))
    return {};
  fit.error = 0;
  for (auto [weight, matters, code] : llvm::zip(in, importance, codes)) {
    double rest = fit.scale * code + fit.min - weight;
    fit.error += matters * rest * rest;
  }
  return fit;
}

BlockCodes onnxquant::fitWeighted(ArrayRef<float> matrix, int64_t rows,
                                  int64_t depth, const BlockSpec &spec) {
  constexpr int steps = 20;
  constexpr double first = -1, step = 0.1;
  BlockCodes result = roundToNearest(matrix, rows, depth, spec);
  auto most = static_cast<double>(spec.maxCode());
  forBlocks(result, matrix, [&](int64_t at, ArrayRef<float> in, uint8_t *out) {
    auto [low, high] = std::minmax_element(in.begin(), in.end());
    double min = *low, range = static_cast<double>(*high) - *low;
    if (range <= 0)
      return;
    std::vector<double> importance = importanceOf(in);
    auto codeOf = [&](float weight, float scale, float zero) {
      return std::clamp(
          std::nearbyint(static_cast<double>(weight) / scale + zero), 0.0,
          most);
    };
    // The error with a zero point that is a code.
    auto errorOf = [&](float scale, float zero) {
      double error = 0;
      for (auto [weight, matters] : llvm::zip(in, importance)) {
        double rest = (codeOf(weight, scale, zero) - zero) * scale - weight;
        error += matters * rest * rest;
      }
      return error;
    };
    float &kept = result.scales[at], &zeroKept = result.zeros[at];
    double least = errorOf(kept, zeroKept);
    for (int i = 0; i < steps; ++i) {
      Fit fit = fitCodes(in, importance, (first + step * i + most) / range, min,
                         most);
      float scale = storedScale(spec, static_cast<float>(fit.scale));
      if (!std::isfinite(fit.error) || !(scale > 0))
        continue;
      auto zero = static_cast<float>(
          std::clamp(std::nearbyint(-fit.min / scale), 0.0, most));
      if (double error = errorOf(scale, zero); error < least) {
        least = error;
        kept = scale;
        zeroKept = zero;
      }
    }
    for (size_t k = 0; k < in.size(); ++k)
      out[k] = static_cast<uint8_t>(codeOf(in[k], kept, zeroKept));
  });
  return result;
}
