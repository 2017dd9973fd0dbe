// When the transform is worth it, and its weights.

#include "Winograd.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Channels and columns that are worth transforming.
static constexpr int64_t fewestChannels = 24;

int64_t kernels::countWinogradTiles(onnxq::ContractOp op) {
  ArrayRef<int64_t> shape = op.getInit().getType().getShape();
  if (ShapedType::isDynamicShape(shape))
    return -1;
  return shape[0] * llvm::divideCeil(shape[1], winogradOut) *
         llvm::divideCeil(shape[2], winogradOut);
}

bool kernels::suitsWinograd(onnxq::ContractOp op) {
  auto isOne = [](int64_t x) { return x == 1; };
  if (op.getKernel() != ArrayRef<int64_t>{3, 3} || op.getGroups() != 1 ||
      !llvm::all_of(op.getStrides(), isOne) ||
      !llvm::all_of(op.getDilations(), isOne))
    return false;
  int64_t channels = op.getChannels();
  int64_t bytes = winogradNumbers * channels * int64_t(sizeof(float));
  return channels >= fewestChannels && op.getColumns() >= fewestChannels &&
         channels % 8 == 0 && bytes * leastWinogradTiles <= winogradScratch;
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

std::vector<float> kernels::packWinograd(ArrayRef<float> weights,
                                         onnxq::PackingAttr packing) {
  int64_t columns = packing.getColumns(), nr = packing.getNr();
  int64_t channels = packing.getDepth() / 9;
  std::vector<float> packed(
      packing.getPanels() * winogradNumbers * channels * nr, 0.0f);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t j = 0; j < columns; ++j) {
      double filter[9], half[12], numbers[winogradNumbers];
      for (int64_t tap = 0; tap < 9; ++tap)
        filter[tap] = weights[(tap * channels + c) * columns + j];
      for (int64_t x = 0; x < 3; ++x)
        transform(filter + x, 3, half + x, 3);
      for (int64_t y = 0; y < winogradIn; ++y)
        transform(half + 3 * y, 1, numbers + winogradIn * y, 1);
      float *to = packed.data() +
                  ((j / nr * winogradNumbers) * channels + c) * nr + j % nr;
      for (int64_t g = 0; g < winogradNumbers; ++g)
        to[g * channels * nr] = static_cast<float>(numbers[g]);
    }
  return packed;
}
