// When the transform is worth it, and its weights.

#include "Winograd.h"
#include "../Tuning.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

std::optional<int64_t> kernels::countWinogradTiles(onnxq::ContractOp op,
                                                   WinogradTile tile) {
  ArrayRef<int64_t> shape = op.getInit().getType().getShape();
  if (ShapedType::isDynamicShape(shape))
    return std::nullopt;
  return shape[0] * llvm::divideCeil(shape[1], tile.out) *
         llvm::divideCeil(shape[2], tile.out);
}

WinogradTile kernels::getWinogradTile(onnxq::ContractOp op) {
  onnxq::PackingAttr packing = op.getPackingAttr();
  int64_t perPoint = packing.getPanels() * packing.getK() / 9 * packing.getNr();
  WinogradTile large{4};
  return op.getWeights().getType().getNumElements() >= large.points() * perPoint
             ? large
             : WinogradTile{2};
}

static bool isPlainWindow(onnxq::ContractOp op) {
  auto isOne = [](int64_t x) { return x == 1; };
  return op.getKernel() == ArrayRef<int64_t>{3, 3} && op.getGroups() == 1 &&
         llvm::all_of(op.getStrides(), isOne) &&
         llvm::all_of(op.getDilations(), isOne);
}

/// Whether the fewest tiles of a block fit the stack's share.
static bool fitsScratch(int64_t channels, int64_t bytes, WinogradTile tile) {
  return tile.points() * channels * bytes * tuning::leastWinogradTiles <=
         tuning::winogradScratch;
}

bool kernels::suitsWinograd(onnxq::ContractOp op) {
  int64_t channels = op.getChannels();
  return isPlainWindow(op) && channels >= tuning::fewestWinogradChannels &&
         op.getN() >= tuning::fewestWinogradChannels &&
         channels % winogradChannels == 0 &&
         fitsScratch(channels, sizeof(float), WinogradTile());
}

/// The largest absolute value that a sum of a column can have.
static int64_t getLargestSum(ArrayRef<int16_t> weights, int64_t columns,
                             bool isUnsigned) {
  std::vector<int64_t> above(columns, 0), below(columns, 0);
  for (size_t i = 0; i < weights.size(); ++i)
    (weights[i] > 0 ? above : below)[i % columns] += std::abs(weights[i]);
  int64_t most = 0;
  for (auto [plus, minus] : llvm::zip(above, below))
    most = std::max(most, isUnsigned ? 255 * std::max(plus, minus)
                                     : 128 * (plus + minus));
  return most;
}

bool kernels::canTransform(onnxq::ContractOp op, ArrayRef<int16_t> weights,
                           WinogradTile tile) {
  int64_t channels = op.getChannels();
  if (!isPlainWindow(op) ||
      !op.getInput().getType().getElementType().isInteger(8) ||
      !cast<onnxq::KernelOpInterface>(op.getOperation())
           .getAccumulatorType()
           .isInteger(32) ||
      channels % winogradChannels != 0 ||
      !fitsScratch(channels, sizeof(int16_t), tile))
    return false;
  // Transformed weights fit 16 bits.
  auto isSmall = [](int16_t weight) { return std::abs(weight) <= 255; };
  if (!llvm::all_of(weights, isSmall))
    return false;
  // Four times a sum, or 64 times, fits 32 bits.
  int64_t limit = int64_t(1) << (tile.out == 2 ? 29 : 25);
  return getLargestSum(weights, op.getN(), op.getInputUnsigned()) < limit;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Of three weights, `step` apart, the points of a side of the tile: the sums
/// at 0, 1, -1 and infinity, halves in between.
static void transform(const double *from, int64_t fromStep, double *to,
                      int64_t toStep) {
  double a = from[0], b = from[fromStep], c = from[2 * fromStep];
  double points[] = {a, (a + b + c) / 2, (a - b + c) / 2, c};
  for (double value : points)
    *to = value, to += toStep;
}

std::vector<float> kernels::packWinograd(ArrayRef<float> weights,
                                         onnxq::PackingAttr packing) {
  WinogradTile tile;
  int64_t columns = packing.getN(), nr = packing.getNr();
  int64_t channels = packing.getK() / 9, step = packing.getStep();
  std::vector<float> packed(packing.getPanels() * tile.points() * channels *
                            nr);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t j = 0; j < columns; ++j) {
      double filter[9], half[12], points[16];
      for (int64_t tap = 0; tap < 9; ++tap)
        filter[tap] = weights[(tap * channels + c) * columns + j];
      for (int64_t x = 0; x < 3; ++x)
        transform(filter + x, 3, half + x, 3);
      for (int64_t y = 0; y < tile.in(); ++y)
        transform(half + 3 * y, 1, points + tile.in() * y, 1);
      float *to = packed.data() + j / nr * tile.points() * channels * nr +
                  (c / step * nr + j % nr) * step + c % step;
      for (int64_t g = 0; g < tile.points(); ++g)
        to[g * channels * nr] = static_cast<float>(points[g]);
    }
  return packed;
}
