// Which products of a quantized model saturate in ONNX Runtime. On x86 without
// VNNI its kernels for u8 and s8 multiply bytes and add neighbouring products
// in 16 bits (vpmaddubsw), whose greatest number is 32767. 255 times two
// weights of one channel leaves that if the two together are beyond 128.

#include "Fold.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {
/// An integer product: what is computed at run time, the constant, and the
/// constant's axis that is the output's channel.
struct Product {
  Value activation, weight;
  int64_t channelAxis = 0;
};
} // namespace

static int64_t lastAxis(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() - 1 : 0;
}

static std::optional<Product> productOf(Operation *op) {
  Value a, b;
  bool isConvolution = isa<QLinearConvOp, ConvIntegerOp>(op);
  if (isa<QLinearConvOp, QLinearMatMulOp, microsoft::QGemmOp>(op)) {
    a = op->getOperand(0);
    b = op->getOperand(3);
  } else if (isa<ConvIntegerOp, MatMulIntegerOp>(op)) {
    a = op->getOperand(0);
    b = op->getOperand(1);
  }
  if (b)
    return Product{a, b, isConvolution ? 0 : lastAxis(b)};
  auto quantizable = dyn_cast<QuantizableOpInterface>(op);
  if (!quantizable || !quantizable.isContraction())
    return std::nullopt;
  SmallVector<unsigned> operands = quantizable.getQuantizableOperands();
  std::optional<int64_t> axis;
  if (operands.size() == 2)
    axis = quantizable.getChannelAxis(operands[1]);
  if (!axis)
    return std::nullopt;
  return Product{dequantizedBy(op->getOperand(operands[0])).value,
                 dequantizedBy(op->getOperand(operands[1])).value, *axis};
}

/// Whether two weights of a channel, whichever are neighbours, are together
/// beyond 128.
static bool hasLargePairs(Value weight, int64_t channelAxis) {
  constexpr double most = 128;
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  std::optional<SmallVector<double>> numbers = numbersOf(weight);
  if (!type || !numbers || channelAxis >= type.getRank())
    return false;
  int64_t channels = type.getDimSize(channelAxis), inner = 1;
  for (int64_t dim : type.getShape().drop_front(channelAxis + 1))
    inner *= dim;
  struct Extremes {
    double greatest = 0, next = 0, least = 0, nextLeast = 0;
  };
  SmallVector<Extremes> extremes(channels);
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    Extremes &own = extremes[static_cast<int64_t>(i) / inner % channels];
    if (number > own.greatest)
      own.next = std::exchange(own.greatest, number);
    else
      own.next = std::max(own.next, number);
    if (number < own.least)
      own.nextLeast = std::exchange(own.least, number);
    else
      own.nextLeast = std::min(own.nextLeast, number);
  }
  return llvm::any_of(extremes, [](const Extremes &own) {
    return own.greatest + own.next > most || own.least + own.nextLeast < -most;
  });
}

int64_t quantize::countSaturating(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](Operation *op) {
    std::optional<Product> product = productOf(op);
    if (product && product->activation && product->weight &&
        getElementTypeOrSelf(product->activation).isUnsignedInteger(8) &&
        getElementTypeOrSelf(product->weight).isSignlessInteger(8) &&
        hasLargePairs(product->weight, product->channelAxis))
      ++count;
  });
  return count;
}
