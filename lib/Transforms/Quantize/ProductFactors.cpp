// Chooses factors for the channels that products of matrices read.
//
// In transformers a few channels are ten and more times as wide as the others,
// after normalizations and activation functions above all, and one scale for
// all leaves the others a tenth of its steps. When a wide channel is divided by
// a factor and its row of the weights multiplied by it, all channels get finer
// steps, and the channels of the results whose largest weight is in that row
// get coarser ones. Both errors are known before anything is run: steps of
// activations go through the squares of the weights, steps of weights through
// those of the activations. Of 17 bounds that channels are brought below, the
// one with the least of both is taken.

#include "ChannelScaling.h"
#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// Bounds are so many, and each is by this factor below the one before.
static constexpr int bounds = 17;
static const double boundRatio = std::pow(2.0, -0.25);
/// The largest factor: digits of the record go to nine.
static constexpr double greatestFactor = 64;
/// A range is so many deviations of its numbers wide.
static constexpr double rangeInDeviations = 8;
/// A product of the channels takes some time: what is left of the errors must
/// be less than this.
static constexpr double worthwhile = 0.75;

bool quantize::isMatrixProduct(Operation *op) {
  auto gemm = dyn_cast<GemmOp>(op);
  if (!isa<MatMulOp, GemmOp>(op) || (gemm && gemm.getTransA() != 0))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  return type && type.getRank() == 2 && constantOf(op->getOperand(1));
}

int64_t quantize::depthAxisOf(Operation *op) {
  auto gemm = dyn_cast<GemmOp>(op);
  return gemm && gemm.getTransB() != 0 ? 1 : 0;
}

namespace {

/// The magnitudes of weights, a row for each channel that is read.
struct Matrix {
  int64_t columns;
  std::vector<float> numbers;
};

/// What is known of a tensor's channels and of the weights that meet them.
struct Channels {
  ArrayRef<double> mins, maxs;
  SmallVector<double> sizes, squares, weightSquares;
  std::vector<Matrix> weights;
};

} // namespace

static void addWeights(Operation *op, Channels &channels) {
  auto type = cast<RankedTensorType>(op->getOperand(1).getType());
  SmallVector<double> numbers = *numbersOf(op->getOperand(1));
  int64_t axis = depthAxisOf(op), rows = type.getDimSize(axis),
          columns = type.getDimSize(1 - axis);
  Matrix &matrix = channels.weights.emplace_back();
  matrix.columns = columns;
  matrix.numbers.reserve(numbers.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double weight = axis == 0 ? numbers[row * columns + column]
                                : numbers[column * rows + row];
      matrix.numbers.push_back(static_cast<float>(std::fabs(weight)));
      channels.weightSquares[row] += weight * weight;
    }
}

/// The largest weight of each column when rows are multiplied.
static std::vector<float> columnSizes(const Matrix &matrix,
                                      ArrayRef<double> factors) {
  std::vector<float> sizes(matrix.columns, 0);
  const float *row = matrix.numbers.data();
  for (double each : factors) {
    auto factor = static_cast<float>(each);
    for (int64_t i = 0; i < matrix.columns; ++i)
      sizes[i] = std::max(sizes[i], row[i] * factor);
    row += matrix.columns;
  }
  return sizes;
}

/// The errors of all results, but for a factor, if channels are divided.
static double errorOf(const Channels &channels, ArrayRef<double> divisors) {
  double least = 0, greatest = 0, activations = 0, squares = 0;
  for (auto [k, divisor] : llvm::enumerate(divisors)) {
    least = std::min(least, channels.mins[k] / divisor);
    greatest = std::max(greatest, channels.maxs[k] / divisor);
    activations += divisor * divisor * channels.weightSquares[k];
    squares += channels.squares[k] / (divisor * divisor);
  }
  double steps = 0, step = (greatest - least) / 255;
  for (const Matrix &matrix : channels.weights)
    for (float size : columnSizes(matrix, divisors))
      steps += static_cast<double>(size) * size / (127 * 127);
  return step * step * activations + steps * squares;
}

/// The powers of two that bring channels below a bound.
static SmallVector<double> divisorsBelow(ArrayRef<double> sizes, double bound) {
  return llvm::map_to_vector(sizes, [&](double size) {
    double divisor = 1;
    while (size > bound * divisor && divisor < greatestFactor)
      divisor *= 2;
    return divisor;
  });
}

SmallVector<double>
quantize::chooseProductFactors(const TensorRange &range,
                               ArrayRef<Operation *> readers) {
  size_t depth = range.channelMins.size();
  Channels channels{range.channelMins, range.channelMaxs, {}, {}, {}, {}};
  channels.weightSquares.assign(depth, 0);
  for (size_t k = 0; k < depth; ++k) {
    double min = channels.mins[k], max = channels.maxs[k],
           mean = k < range.channelMeans.size() ? range.channelMeans[k] : 0,
           deviation = (max - min) / rangeInDeviations;
    channels.sizes.push_back(std::max(std::fabs(min), std::fabs(max)));
    channels.squares.push_back(mean * mean + deviation * deviation);
  }
  for (Operation *op : readers)
    addWeights(op, channels);
  SmallVector<double> best(depth, 1);
  double bound = *llvm::max_element(channels.sizes),
         before = errorOf(channels, best), least = worthwhile * before;
  for (int i = 1; i < bounds; ++i) {
    bound *= boundRatio;
    SmallVector<double> divisors = divisorsBelow(channels.sizes, bound);
    double error = errorOf(channels, divisors);
    if (error < least) {
      least = error;
      best = std::move(divisors);
    }
  }
  // Narrow channels are multiplied instead, as everywhere.
  double greatest = *llvm::max_element(best);
  return llvm::map_to_vector(
      best, [&](double divisor) { return greatest / divisor; });
}
