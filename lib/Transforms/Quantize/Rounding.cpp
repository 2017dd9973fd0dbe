// Rounds weights. To the nearest integer, or so that the sum of a convolution's
// kernel is kept.
//
// What a kernel reads at once are neighbours in a picture or a sound, which are
// nearly equal: its error is little more than their mean times the sum of the
// weights' errors. So numbers that are close to the middle between two integers
// are rounded the other way where this brings the sum closer to that of the
// floats. The mean of the rest goes to the bias, see Biases.cpp.

#include "Plan.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// How alike the numbers are that a kernel reads at once: 0 is not at all, 1 is
/// equal. The error to keep small is that of their mean and that of the rest,
/// in these parts.
static constexpr double likeness = 0.9;

/// Moves numbers of one kernel by one step, as long as that makes the error
/// smaller. Errors are in steps; numbers stay between the limits.
static void keepSum(MutableArrayRef<int64_t> numbers,
                    MutableArrayRef<double> errors, int64_t min, int64_t max) {
  double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  for (size_t moves = 0; moves < numbers.size(); ++moves) {
    int64_t step = sum > 0 ? 1 : -1;
    std::optional<size_t> best;
    for (size_t i = 0; i < numbers.size(); ++i) {
      int64_t moved = numbers[i] - step;
      if (moved >= min && moved <= max &&
          (!best || errors[i] * step > errors[*best] * step))
        best = i;
    }
    if (!best)
      return;
    double change = (1 - likeness) * (1 - 2 * errors[*best] * step) +
                    likeness * (1 - 2 * std::fabs(sum));
    if (change >= 0)
      return;
    numbers[*best] -= step;
    errors[*best] -= step;
    sum -= step;
  }
}

/// The number of weights in a kernel: those of one channel of the result and
/// one of the input. One if no element of the result meets them all.
static int64_t kernelSizeOf(const Weight &weight, ArrayRef<int64_t> shape) {
  auto op = dyn_cast<QuantizableOpInterface>(weight.use->getOwner());
  if (!op)
    return 1;
  unsigned operand = weight.use->getOperandNumber();
  std::optional<int64_t> channel = op.getChannelAxis(operand),
                         reduction = op.getReductionAxis(operand);
  if (!weight.contracted || !channel || !reduction || op.takesWeightsOnly() ||
      op.getShareOfTaps() != 1.0)
    return 1;
  int64_t size = 1;
  for (int64_t dim : shape.drop_front(std::max(*channel, *reduction) + 1))
    size *= dim;
  return size;
}

SmallVector<int64_t> quantize::roundWeight(const Settings &settings,
                                           const Weight &weight) {
  Value value = weight.use->get();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  const Parameters &parameters = weight.parameters;
  SmallVector<double> floats = *numbersOf(value);
  ParameterIndex index(shape, parameters);
  SmallVector<int64_t> numbers;
  numbers.reserve(floats.size());
  for (auto [i, number] : llvm::enumerate(floats))
    numbers.push_back(quantizeValue(number, parameters.values[index[i]],
                                    parameters.type, parameters.scaleType));
  int64_t size = kernelSizeOf(weight, shape);
  if (!settings.keepSums || size <= 1 || numbers.empty())
    return numbers;
  // No number leaves the range of the others, which may be reduced.
  auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  int64_t min = *least, max = *greatest;
  SmallVector<double> errors(size);
  for (size_t start = 0; start < numbers.size(); start += size) {
    for (int64_t i = 0; i < size; ++i) {
      const ScaleAndZeroPoint &pair = parameters.values[index[start + i]];
      errors[i] =
          (dequantizeValue(numbers[start + i], pair) - floats[start + i]) /
          pair.scale;
    }
    keepSum(MutableArrayRef(numbers).slice(start, size), errors, min, max);
  }
  return numbers;
}
