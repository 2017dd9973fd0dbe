// Codes of blocks by what the inputs say: second-order rounding (as of GPTQ)
// and factors for channels (as of AWQ).
//
// With E the error of a weight [depth, rows] and C the inputs' products, the
// squared error of the results is the trace of E^T C E. Second-order rounding
// goes through the channels, those with the largest squares first, since the
// later ones can make up for less; then it visits each channel again and takes
// the code that is best beside all others. Scales and zero points are chosen
// before, by the error weighted with the channels' squares, so that blocks
// keep their order.

#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

using namespace onnxquant;
using llvm::ArrayRef;

/// to += factor * from.
template <typename T>
static void addTimes(T *to, const T *from, T factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += factor * from[i];
}

//===----------------------------------------------------------------------===//
// Scales of blocks
//===----------------------------------------------------------------------===//

/// Narrows the range of each block by the error weighted with the squares of
/// the channels: of ranges that leave out more and more of the largest weights.
static void chooseScales(BlockCodes &result, ArrayRef<float> matrix,
                         ArrayRef<double> squares) {
  constexpr int steps = 24;
  constexpr float step = 0.02f;
  const BlockSpec &spec = result.spec;
  auto most = static_cast<float>(spec.maxCode());
  int64_t blocks = result.blocks(), size = spec.blockSize;
  for (int64_t at = 0; at < result.rows * blocks; ++at) {
    int64_t first = at % blocks * size;
    int64_t count = std::min(size, result.depth - first);
    const float *in = &matrix[at / blocks * result.depth + first];
    float whole = result.scales[at];
    if (whole == 0)
      continue;
    float start = result.zeros[at], min = -start * whole;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < steps; ++i) {
      float share = 1 - step * static_cast<float>(i), scale = whole * share;
      if (spec.halfScales && i > 0)
        break;
      float zero = start;
      // Either side may give way.
      for (float side : {0.0f, 0.5f, 1.0f}) {
        if (!spec.symmetric)
          zero = std::clamp(
              std::round(-(min + side * (whole - scale) * most) / scale), 0.0f,
              most);
        else if (side > 0)
          break;
        double error = 0;
        float inverse = 1 / scale;
        for (int64_t k = 0; k < count; ++k) {
          float code =
              std::clamp(std::round(in[k] * inverse + zero), 0.0f, most);
          float rest = in[k] - (code - zero) * scale;
          error += squares[first + k] * rest * rest;
        }
        if (error < least) {
          least = error;
          result.scales[at] = scale;
          result.zeros[at] = zero;
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Factors of the inverse
//===----------------------------------------------------------------------===//

/// Rows that are worked on together, so that they stay in the cache while the
/// others go by.
static constexpr int64_t group = 32;

/// L^T of A = L * L^T, in place of A's upper half. False if A isn't positive.
static bool factorize(std::vector<double> &a, int64_t n) {
  for (int64_t first = 0; first < n; first += group) {
    int64_t end = std::min(first + group, n);
    for (int64_t j = first; j < end; ++j) {
      double *pivot = &a[j * n];
      if (!(pivot[j] > 0))
        return false;
      double root = std::sqrt(pivot[j]);
      for (int64_t i = j; i < n; ++i)
        pivot[i] /= root;
      for (int64_t i = j + 1; i < end; ++i)
        addTimes(&a[i * n + i], pivot + i, -pivot[i], n - i);
    }
    for (int64_t i = end; i < n; ++i)
      for (int64_t j = first; j < end; ++j)
        addTimes(&a[i * n + i], &a[j * n + i], -a[j * n + i], n - i);
  }
  return true;
}

/// The inverse of L, row by row, where `upper` holds L^T in its upper half.
static std::vector<double> invertLower(const std::vector<double> &upper,
                                       int64_t n) {
  std::vector<double> result(n * n, 0);
  for (int64_t i = 0; i < n; ++i)
    result[i * n + i] = 1;
  for (int64_t first = 0; first < n; first += group) {
    int64_t end = std::min(first + group, n);
    for (int64_t j = first; j < end; ++j) {
      double *row = &result[j * n];
      double pivot = upper[j * n + j];
      for (int64_t k = 0; k <= j; ++k)
        row[k] /= pivot;
      for (int64_t i = j + 1; i < end; ++i)
        addTimes(&result[i * n], row, -upper[j * n + i], j + 1);
    }
    for (int64_t i = end; i < n; ++i)
      for (int64_t j = first; j < end; ++j)
        addTimes(&result[i * n], &result[j * n], -upper[j * n + i], j + 1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Second-order rounding
//===----------------------------------------------------------------------===//

/// Outputs that are rounded together: they don't depend on each other.
static constexpr int64_t panel = 64;
using Vector = std::array<float, panel>;

static void addTimes(Vector &to, const Vector &from, float factor) {
  for (int64_t n = 0; n < panel; ++n)
    to[n] += factor * from[n];
}

namespace {
/// What the inputs of a weight are like, in the form that rounding needs.
struct Inputs {
  int64_t depth;
  /// Products, damped, and their diagonal.
  std::vector<float> products;
  std::vector<double> squares;
  /// The order of channels, and the factor of the inverse in that order, by
  /// rows; empty if there is none.
  std::vector<int64_t> order;
  std::vector<float> factor;

  Inputs(const Covariance &inputs, const SecondOrderSpec &settings);
};

/// A few outputs of a weight.
class Panel {
public:
  Panel(ArrayRef<float> matrix, BlockCodes &result, const Inputs &inputs,
        int64_t first)
      : matrix(matrix), result(result), inputs(inputs), first(first),
        count(std::min(panel, result.rows - first)) {}

  void roundOnce();
  void improve(int passes);

private:
  /// All outputs' weights of a channel, before and after rounding.
  Vector original(int64_t k) const {
    return gather([&](int64_t n) { return matrix[n * result.depth + k]; });
  }
  Vector current(int64_t k) const {
    return gather([&](int64_t n) { return result.weight(n, k); });
  }
  template <typename Read> Vector gather(Read read) const {
    Vector vector{};
    for (int64_t n = 0; n < count; ++n)
      vector[n] = read(first + n);
    return vector;
  }
  /// Takes the codes that are next to what is wanted; gives what they are.
  Vector take(int64_t k, const Vector &wanted);

  ArrayRef<float> matrix;
  BlockCodes &result;
  const Inputs &inputs;
  int64_t first, count;
};
} // namespace

Inputs::Inputs(const Covariance &inputs, const SecondOrderSpec &settings)
    : depth(inputs.size) {
  std::vector<double> damped = inputs.sums;
  double mean = 0;
  for (int64_t k = 0; k < depth; ++k)
    mean += damped[k * depth + k] / static_cast<double>(depth);
  // A channel that is always zero says nothing.
  double least = mean > 0 ? settings.damping * mean : 1;
  for (int64_t k = 0; k < depth; ++k) {
    damped[k * depth + k] += least;
    squares.push_back(damped[k * depth + k]);
  }
  products.assign(damped.begin(), damped.end());
  order.resize(depth);
  std::iota(order.begin(), order.end(), 0);
  if (settings.sortsChannels)
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::pair(-squares[a], a) < std::pair(-squares[b], b);
    });
  // The factor U of the inverse = U^T * U, U upper, is the inverse of that of
  // the matrix from its end on.
  std::vector<double> reversed(depth * depth);
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t j = 0; j < depth; ++j)
      reversed[i * depth + j] =
          damped[order[depth - 1 - i] * depth + order[depth - 1 - j]];
  damped = {};
  if (!factorize(reversed, depth))
    return;
  std::vector<double> inverse = invertLower(reversed, depth);
  factor.assign(inverse.rbegin(), inverse.rend());
}

Vector Panel::take(int64_t k, const Vector &wanted) {
  auto most = static_cast<float>(result.spec.maxCode());
  int64_t blocks = result.blocks(), block = k / result.spec.blockSize;
  Vector taken{};
  for (int64_t n = 0; n < count; ++n) {
    float scale = result.scales[(first + n) * blocks + block];
    float zero = result.zeros[(first + n) * blocks + block];
    float code =
        scale != 0
            ? std::clamp(std::nearbyint(wanted[n] / scale + zero), 0.0f, most)
            : zero;
    result.codes[(first + n) * result.depth + k] = static_cast<uint8_t>(code);
    taken[n] = (code - zero) * scale;
  }
  return taken;
}

void Panel::roundOnce() {
  int64_t depth = inputs.depth;
  std::vector<Vector> left(depth), errors(group);
  for (int64_t i = 0; i < depth; ++i)
    left[i] = original(inputs.order[i]);
  // Errors of a few channels are taken to the rest together.
  for (int64_t begin = 0; begin < depth; begin += group) {
    int64_t end = std::min(begin + group, depth);
    for (int64_t i = begin; i < end; ++i) {
      const float *factors = &inputs.factor[i * depth];
      Vector taken = take(inputs.order[i], left[i]);
      Vector &error = errors[i - begin];
      for (int64_t n = 0; n < panel; ++n)
        error[n] = (left[i][n] - taken[n]) / factors[i];
      for (int64_t j = i + 1; j < end; ++j)
        addTimes(left[j], error, -factors[j]);
    }
    for (int64_t j = end; j < depth; ++j)
      for (int64_t i = begin; i < end; ++i)
        addTimes(left[j], errors[i - begin], -inputs.factor[i * depth + j]);
  }
}

void Panel::improve(int passes) {
  int64_t depth = inputs.depth;
  // What is missing, and the products of the inputs with it.
  std::vector<Vector> missing(depth), pull(depth, Vector{});
  for (int64_t k = 0; k < depth; ++k) {
    missing[k] = original(k);
    addTimes(missing[k], current(k), -1);
  }
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < depth; ++j)
      addTimes(pull[k], missing[j], inputs.products[k * depth + j]);
  for (int pass = 0; pass < passes; ++pass)
    for (int64_t k = 0; k < depth; ++k) {
      Vector before = current(k), wanted = before;
      addTimes(wanted, pull[k], 1 / static_cast<float>(inputs.squares[k]));
      Vector change = take(k, wanted);
      addTimes(change, before, -1);
      if (llvm::all_of(change, [](float each) { return each == 0; }))
        continue;
      for (int64_t j = 0; j < depth; ++j)
        addTimes(pull[j], change, -inputs.products[k * depth + j]);
    }
}

BlockCodes onnxquant::secondOrder(ArrayRef<float> matrix, int64_t rows,
                                  int64_t depth, const BlockSpec &spec,
                                  const Covariance &covariance,
                                  const SecondOrderSpec &settings) {
  constexpr int passes = 2;
  Inputs inputs(covariance, settings);
  BlockCodes result = roundToNearest(matrix, rows, depth, spec);
  if (settings.searchesScales)
    chooseScales(result, matrix, inputs.squares);
  llvm::parallelFor(0, (rows + panel - 1) / panel, [&](size_t i) {
    Panel part(matrix, result, inputs, static_cast<int64_t>(i) * panel);
    // Without a factorization, visiting channels still does what it can.
    if (!inputs.factor.empty())
      part.roundOnce();
    part.improve(passes);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Errors and factors
//===----------------------------------------------------------------------===//

/// The trace of E C E^T, E [rows, depth].
static double quadraticForm(ArrayRef<float> errors, int64_t rows,
                            const Covariance &inputs) {
  int64_t depth = inputs.size, panels = (rows + panel - 1) / panel;
  std::vector<double> totals(panels, 0);
  llvm::parallelFor(0, panels, [&](size_t i) {
    int64_t first = static_cast<int64_t>(i) * panel;
    int64_t count = std::min(panel, rows - first);
    std::vector<Vector> part(depth, Vector{});
    for (int64_t n = 0; n < count; ++n)
      for (int64_t k = 0; k < depth; ++k)
        part[k][n] = errors[(first + n) * depth + k];
    for (int64_t k = 0; k < depth; ++k) {
      Vector sums{};
      for (int64_t j = 0; j < depth; ++j)
        addTimes(sums, part[j], static_cast<float>(inputs.sums[k * depth + j]));
      for (int64_t n = 0; n < panel; ++n)
        totals[i] += static_cast<double>(sums[n]) * part[k][n];
    }
  });
  return std::accumulate(totals.begin(), totals.end(), 0.0);
}

double onnxquant::productError(ArrayRef<float> matrix, const BlockCodes &codes,
                               const Covariance &inputs) {
  std::vector<float> errors(matrix.begin(), matrix.end());
  for (int64_t n = 0; n < codes.rows; ++n)
    for (int64_t k = 0; k < codes.depth; ++k)
      errors[n * codes.depth + k] -= codes.weight(n, k);
  return quadraticForm(errors, codes.rows, inputs);
}

std::vector<float>
onnxquant::activationAwareFactors(ArrayRef<ArrayRef<float>> matrices,
                                  int64_t depth, const BlockSpec &spec,
                                  const Covariance &inputs) {
  constexpr int steps = 10;
  std::vector<double> sizes(depth);
  for (int64_t k = 0; k < depth; ++k)
    sizes[k] = std::sqrt(inputs.sums[k * depth + k]);
  double largest = *llvm::max_element(sizes);
  std::vector<float> best(depth, 1.0f), factors(depth), scaled, errors;
  double least = std::numeric_limits<double>::infinity();
  if (!(largest > 0))
    return best;
  for (int step = 0; step < steps; ++step) {
    double power = static_cast<double>(step) / steps, low = 1, high = 0;
    for (int64_t k = 0; k < depth; ++k) {
      // Channels that hardly count must not be blown up.
      double factor = std::pow(std::max(sizes[k], 1e-4 * largest), power);
      factors[k] = static_cast<float>(factor);
      low = k == 0 ? factor : std::min(low, factor);
      high = std::max(high, factor);
    }
    auto middle = static_cast<float>(std::sqrt(low * high));
    for (float &factor : factors)
      factor /= middle;
    double error = 0;
    for (ArrayRef<float> matrix : matrices) {
      int64_t rows = static_cast<int64_t>(matrix.size()) / depth;
      scaled.assign(matrix.begin(), matrix.end());
      for (size_t i = 0; i < scaled.size(); ++i)
        scaled[i] *= factors[i % depth];
      BlockCodes codes = roundToNearest(scaled, rows, depth, spec);
      errors.resize(matrix.size());
      for (int64_t n = 0; n < rows; ++n)
        for (int64_t k = 0; k < depth; ++k)
          errors[n * depth + k] =
              matrix[n * depth + k] - codes.weight(n, k) / factors[k];
      error += quadraticForm(errors, rows, inputs);
    }
    if (error < least) {
      least = error;
      best = factors;
    }
  }
  return best;
}
