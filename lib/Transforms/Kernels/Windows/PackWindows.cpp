// Packs the weights of int8 depthwise convolutions so that a vector of them
// meets two rows of taps, and puts in front what the accumulators begin with.

#include "PackWindows.h"
#include "../PackedConstants.h"
#include "../Tuning.h"
#include "LowerWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

/// The zero point as an integer; none if it is only known at run time.
static std::optional<int64_t> readZero(WindowOp op) {
  if (!op.getPad())
    return 0;
  APInt zero;
  if (!matchPattern(op.getPad(), m_ConstantInt(&zero)))
    return std::nullopt;
  return op.getInputUnsigned() ? static_cast<int64_t>(zero.getZExtValue())
                               : zero.getSExtValue();
}

/// The bias, if the epilogue begins with adding a known one; it is removed from
/// there.
static std::optional<std::vector<int32_t>> takeBias(WindowOp op) {
  Block &block = op.getEpilogue().front();
  Value sum = block.getArgument(0);
  if (!sum.hasOneUse())
    return std::nullopt;
  auto add = dyn_cast<arith::AddIOp>(*sum.user_begin());
  if (!add)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(add.getLhs() == sum ? add.getRhs()
                                                              : add.getLhs());
  if (!argument || argument.getOwner() != &block || !argument.hasOneUse())
    return std::nullopt;
  unsigned index = argument.getArgNumber() - 1;
  auto map = cast<AffineMapAttr>(op.getEpilogueMaps()[index]).getValue();
  unsigned last = map.getNumDims() - 1;
  if (map.getNumResults() != 1 || !map.getResult(0).isFunctionOfDim(last))
    return std::nullopt;
  auto bias = readConstant<int32_t>(op.getEpilogueOperands()[index]);
  if (!bias)
    return std::nullopt;
  add.getResult().replaceAllUsesWith(sum);
  add.erase();
  SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
  maps.erase(maps.begin() + index);
  op.getEpilogueOperandsMutable().erase(index);
  op.setEpilogueMapsAttr(ArrayAttr::get(op.getContext(), maps));
  block.eraseArgument(index + 1);
  return bias;
}

/// Whether a window has a packed form.
static bool canPack(WindowOp op, const TargetInfo &target) {
  auto input = cast<ShapedType>(op.getInput().getType());
  auto output = cast<ShapedType>(op.getInit().getType());
  if (!planWindow(op, target).isPaired || op.getKernel().size() != 2 ||
      input.isDynamicDim(2) || output.isDynamicDim(2))
    return false;
  ArrayRef<int64_t> kernel = op.getKernel();
  int64_t extent = (kernel[1] - 1) * op.getDilations()[1] + 1;
  return kernel[0] * kernel[1] <= tuning::mostPairedTaps &&
         extent <= tuning::mostPairedTaps &&
         input.getDimSize(2) * input.getDimSize(3) <=
             tuning::mostBorderRowBytes;
}

bool kernels::packWindow(WindowOp op, const TargetInfo &target) {
  std::optional<int64_t> zero = readZero(op);
  if (!zero || !canPack(op, target))
    return false;
  auto weights = readConstant<int16_t>(op.getWeights());
  if (!weights)
    return false;
  std::optional<std::vector<int32_t>> bias = takeBias(op);
  constexpr int64_t lanes = WindowOp::packedChannels;
  int64_t channels = op.getInput().getType().getShape().back();
  int64_t rows = op.getKernel()[0], length = op.getKernel()[1];
  std::vector<int16_t> packed(op.getPackedSize(), 0);
  int16_t *to = packed.data();
  auto write = [&](uint32_t word) {
    *to++ = static_cast<int16_t>(word);
    *to++ = static_cast<int16_t>(word >> 16);
  };
  // What some taps of a channel add: wraps, as the sums do.
  auto sumTimesZero = [&](int64_t first, int64_t end, int64_t c) {
    uint32_t sum = 0;
    for (int64_t tap = first; tap < end; ++tap)
      sum -= static_cast<uint32_t>(*zero * (*weights)[tap * channels + c]);
    return sum;
  };
  auto getWeight = [&](int64_t row, int64_t tap, int64_t c) -> int16_t {
    bool isAny = row < rows && tap >= 0 && tap < length;
    return isAny ? (*weights)[(row * length + tap) * channels + c] : 0;
  };
  SmallVector<int64_t> order = getPackedOrder(target);
  for (int64_t block = 0; block < channels; block += lanes) {
    int64_t from = std::min(block, channels - lanes);
    for (int64_t c : order) {
      uint32_t start = bias ? static_cast<uint32_t>((*bias)[from + c]) : 0;
      write(start + sumTimesZero(0, rows * length, from + c));
    }
    for (int64_t row = 0; row < rows; row += 2) {
      if (row + 1 == rows && op.pairsColumns()) {
        int64_t forms = op.getStrides()[1] % 2 != 0 ? 2 : 1;
        for (int64_t before = 0; before < forms; ++before)
          for (int64_t i = 0; i < op.getColumnSteps(before); ++i)
            for (int64_t c : order)
              for (int64_t tap : {2 * i - before, 2 * i - before + 1})
                *to++ = getWeight(row, tap, from + c);
      } else {
        for (int64_t tap = 0; tap < length; ++tap)
          for (int64_t c : order)
            for (int64_t which : {row, row + 1})
              *to++ = getWeight(which, tap, from + c);
      }
      if (!op.leavesOutRows())
        continue;
      int64_t first = row * length, end = std::min(row + 2, rows) * length;
      for (int64_t c : order)
        write(-sumTimesZero(first, end, from + c));
    }
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Operation *old = op.getWeights().getDefiningOp();
  op.getWeightsMutable().assign(
      makePayload(b, b.getI16Type(), asBytes(packed)));
  op.setPacked(true);
  if (old->use_empty())
    old->erase();
  return true;
}
