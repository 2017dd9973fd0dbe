// Stages inputs of contractions.

#include "StagedInput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

Value kernels::convertElement(ImplicitLocOpBuilder &b, Value element,
                              const ElementForm &form) {
  if (form.isWidened) {
    Type wide = b.getI16Type();
    return form.isUnsigned
               ? arith::ExtUIOp::create(b, wide, element).getResult()
               : arith::ExtSIOp::create(b, wide, element).getResult();
  }
  if (!form.isFlipped)
    return element;
  Type type = element.getType();
  int64_t top = int64_t(1) << (type.getIntOrFloatBitWidth() - 1);
  Value mask = arith::ConstantOp::create(b, b.getIntegerAttr(type, -top));
  return arith::XOrIOp::create(b, element, mask);
}

void kernels::stageInput(ContractOp op, int64_t channels,
                         const ElementForm &form) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  Type element = type.getElementType();
  int64_t rank = type.getRank(), spatial = op.getKernel().size();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), input);
  SmallVector<int64_t> pads(2 * (rank - 2), 0);
  for (int64_t i = 0; i < spatial; ++i) {
    pads[i] = op.getPads()[i];
    pads[spatial + i] = op.getPads()[spatial + i];
    int64_t both = pads[i] + pads[spatial + i];
    OpFoldResult &size = sizes[i + 1];
    if (auto known = getConstantIntValue(size))
      size = b.getIndexAttr(*known + both);
    else
      size = arith::AddIOp::create(b, cast<Value>(size),
                                   arith::ConstantIndexOp::create(b, both))
                 .getResult();
  }
  sizes.back() = b.getIndexAttr(channels);
  // Elements of the border are converted, too.
  Value pad = op.getPad();
  if (!pad && form.isFlipped)
    pad = arith::ConstantOp::create(b, b.getZeroAttr(element));
  if (pad)
    pad = convertElement(b, pad, form);
  Type stored = form.isWidened ? Type(b.getI16Type()) : element;
  Value empty = tensor::EmptyOp::create(b, sizes, stored);
  auto stage = StageOp::create(b, empty.getType(), input, pad, empty, pads);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&stage.getConversion(), {},
                                 getRegionType(element), op.getLoc());
    YieldOp::create(b, convertElement(b, block->getArgument(0), form));
  }
  op.getInputMutable().set(stage.getResult(0));
  op.setPads(SmallVector<int64_t>(2 * spatial, 0));
  op.getPadMutable().clear();
}
