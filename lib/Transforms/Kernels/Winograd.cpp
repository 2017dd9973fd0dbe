// When the transform is worth it, and its weights.

#include "Winograd.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Channels and columns of floats that are worth transforming.
static constexpr int64_t fewestChannels = 24;

int64_t kernels::countWinogradTiles(onnxq::ContractOp op) {
  ArrayRef<int64_t> shape = op.getInit().getType().getShape();
  if (ShapedType::isDynamicShape(shape))
    return -1;
  return shape[0] * llvm::divideCeil(shape[1], winogradOut) *
         llvm::divideCeil(shape[2], winogradOut);
}

static bool isPlainWindow(onnxq::ContractOp op) {
  auto isOne = [](int64_t x) { return x == 1; };
  return op.getKernel() == ArrayRef<int64_t>{3, 3} && op.getGroups() == 1 &&
         llvm::all_of(op.getStrides(), isOne) &&
         llvm::all_of(op.getDilations(), isOne);
}

/// Whether the fewest tiles of a block fit the stack's share.
static bool fitsScratch(int64_t channels, int64_t bytes) {
  return winogradNumbers * channels * bytes * leastWinogradTiles <=
         winogradScratch;
}

bool kernels::suitsWinograd(onnxq::ContractOp op) {
  int64_t channels = op.getChannels();
  return isPlainWindow(op) && channels >= fewestChannels &&
         op.getColumns() >= fewestChannels &&
         channels % winogradChannels == 0 &&
         fitsScratch(channels, sizeof(float));
}

bool kernels::canTransform(onnxq::ContractOp op, ArrayRef<int16_t> weights) {
  int64_t channels = op.getChannels();
  if (!isPlainWindow(op) ||
      !op.getInput().getType().getElementType().isInteger(8) ||
      !cast<onnxq::KernelOpInterface>(op.getOperation())
           .getAccumulatorType()
           .isInteger(32) ||
      channels % winogradChannels != 0 ||
      !fitsScratch(channels, sizeof(int16_t)))
    return false;
  // Four times a sum stays within 32 bits.
  constexpr int64_t mostInput = 255, mostWeight = 255;
  if (mostInput * mostWeight * 9 * channels >= int64_t(1)
                                                   << (31 - winogradShift))
    return false;
  return llvm::all_of(weights, [](int16_t weight) {
    return weight >= -mostWeight && weight <= mostWeight;
  });
}

/// Four of three: the sums at 0, 1, -1 and infinity, halves in between.
static void transform(const double *from, int64_t fromStep, double *to,
                      int64_t toStep) {
  double a = from[0], b = from[fromStep], c = from[2 * fromStep];
  to[0] = a;
  to[toStep] = (a + b + c) / 2;
  to[2 * toStep] = (a - b + c) / 2;
  to[3 * toStep] = c;
}

template <typename T>
static std::vector<T> packTransformed(ArrayRef<T> weights,
                                      onnxq::PackingAttr packing,
                                      double factor) {
  int64_t columns = packing.getColumns(), nr = packing.getNr();
  int64_t channels = packing.getDepth() / 9, step = packing.getStep();
  std::vector<T> packed(packing.getPanels() * winogradNumbers * channels * nr);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t j = 0; j < columns; ++j) {
      double filter[9], half[12], numbers[winogradNumbers];
      for (int64_t tap = 0; tap < 9; ++tap)
        filter[tap] = weights[(tap * channels + c) * columns + j];
      for (int64_t x = 0; x < 3; ++x)
        transform(filter + x, 3, half + x, 3);
      for (int64_t y = 0; y < winogradIn; ++y)
        transform(half + 3 * y, 1, numbers + winogradIn * y, 1);
      T *to = packed.data() + j / nr * winogradNumbers * channels * nr +
              (c / step * nr + j % nr) * step + c % step;
      for (int64_t g = 0; g < winogradNumbers; ++g)
        to[g * channels * nr] = static_cast<T>(numbers[g] * factor);
    }
  return packed;
}

std::vector<float> kernels::packWinograd(ArrayRef<float> weights,
                                         onnxq::PackingAttr packing) {
  return packTransformed(weights, packing, 1);
}

std::vector<int16_t> kernels::packWinograd(ArrayRef<int16_t> weights,
                                           onnxq::PackingAttr packing) {
  return packTransformed(weights, packing, int64_t(1) << winogradShift);
}
