// Weights that are stored in 8 bits next to activations that stay in float:
// their values are computed here, once, so that kernels of floats take them.

#include "IntegerProduct.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnx;

namespace {
/// Elements between neighbours along the axis that scales are of, and how many
/// scales there are.
struct ScaleAxis {
  int64_t stride, count;
};
} // namespace

static std::optional<ScaleAxis> getAxis(DequantizeLinearOp op,
                                        RankedTensorType type, int64_t scales) {
  if (scales == 1)
    return ScaleAxis{1, 1};
  int64_t rank = type.getRank(), axis = op.getAxis();
  axis += axis < 0 ? rank : 0;
  if (op.getBlockSize() != 0 || axis < 0 || axis >= rank ||
      type.getDimSize(axis) != scales)
    return std::nullopt;
  int64_t stride = 1;
  for (int64_t size : type.getShape().drop_front(axis + 1))
    stride *= size;
  return ScaleAxis{stride, scales};
}

/// (x - zero point) * scale of 8-bit constants, rounded once; none of others.
static std::optional<std::vector<float>> expand(DequantizeLinearOp op) {
  auto result = dyn_cast<RankedTensorType>(op.getY().getType());
  ElementsAttr scaleOf = getConstant(op.getXScale());
  std::optional<RawElements> raw = readElements(op.getX());
  if (!raw || !scaleOf || !result || !result.getElementType().isF32() ||
      !scaleOf.getElementType().isF32() ||
      !raw->type.getElementType().isInteger(8))
    return std::nullopt;
  auto scales = readFloats(scaleOf, scaleOf.getNumElements());
  if (!scales)
    return std::nullopt;
  SmallVector<int64_t> zeros(scales->size(), 0);
  if (!isAbsent(op.getXZeroPoint())) {
    ElementsAttr zeroOf = getConstant(op.getXZeroPoint());
    auto values = zeroOf ? readInts(zeroOf, scales->size()) : std::nullopt;
    if (!values || values->size() != scales->size())
      return std::nullopt;
    zeros = *values;
  }
  auto axis = getAxis(op, raw->type, static_cast<int64_t>(scales->size()));
  if (!axis)
    return std::nullopt;
  bool isUnsigned = raw->type.getElementType().isUnsignedInteger();
  std::vector<float> values(raw->bytes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t at = static_cast<int64_t>(i) / axis->stride % axis->count;
    auto byte = static_cast<int8_t>(raw->bytes[i]);
    int64_t x = isUnsigned ? static_cast<uint8_t>(byte) : byte;
    values[i] =
        static_cast<float>(x - zeros[at]) * static_cast<float>((*scales)[at]);
  }
  return values;
}

void kernels::expandWeights(Operation *root,
                            function_ref<bool(Operation *)> hasKernel) {
  SmallVector<DequantizeLinearOp> ops;
  root->walk([&](DequantizeLinearOp op) { ops.push_back(op); });
  for (DequantizeLinearOp op : ops) {
    bool isWeight = llvm::any_of(op->getUses(), [&](OpOperand &use) {
      return use.getOperandNumber() > 0 && hasKernel(use.getOwner());
    });
    if (!isWeight)
      continue;
    std::optional<std::vector<float>> values = expand(op);
    if (!values)
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    ArrayRef<char> bytes(reinterpret_cast<const char *>(values->data()),
                         values->size() * sizeof(float));
    auto type = cast<RankedTensorType>(op.getX().getType())
                    .clone(Float32Type::get(b.getContext()));
    op.getY().replaceAllUsesWith(makeConstant(b, type, bytes, "expanded"));
    op.erase();
  }
}
