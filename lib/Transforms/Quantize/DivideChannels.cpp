// Takes factors out of the channels of a tensor for some that read it.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "Plan.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// A vector of a channel's numbers, each divided by its factor; null if the
/// operand isn't a constant vector of that many.
static Value dividedVector(OpBuilder &builder, Value operand,
                           ArrayRef<double> factors) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  auto numbers = numbersOf(operand);
  if (!type || !numbers || numbers->size() != factors.size() ||
      type.getRank() < 1 ||
      type.getShape().back() != static_cast<int64_t>(factors.size()))
    return {};
  for (auto [number, factor] : llvm::zip(*numbers, factors))
    number /= factor;
  return createConstant(builder, operand.getLoc(),
                        tensorName(operand) + "_divided", *numbers,
                        type.getShape(), type.getElementType());
}

/// Changes the constants of an op that ends with a product by channel; false if
/// it is no such op.
static bool divideMaker(Operation *op, ArrayRef<double> factors) {
  OpBuilder builder(op);
  if (auto norm = dyn_cast<LayerNormalizationOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(norm.getX().getType());
    if (!type || (norm.getAxis() != -1 && norm.getAxis() != type.getRank() - 1))
      return false;
    Value scale = dividedVector(builder, op->getOperand(1), factors);
    bool hasBias = !isa<NoneType>(op->getOperand(2).getType());
    Value bias =
        hasBias ? dividedVector(builder, op->getOperand(2), factors) : Value();
    if (!scale || (hasBias && !bias))
      return false;
    op->setOperand(1, scale);
    if (hasBias)
      op->setOperand(2, bias);
    return true;
  }
  if (!isa<MulOp>(op))
    return false;
  for (unsigned side : {1u, 0u})
    if (Value divided = dividedVector(builder, op->getOperand(side), factors)) {
      op->setOperand(side, divided);
      return true;
    }
  return false;
}

Value quantize::divideChannels(Value value, ArrayRef<double> factors,
                               ArrayRef<Operation *> readers, bool mayFold) {
  Operation *maker = value.getDefiningOp();
  bool onlyReaders = llvm::all_of(value.getUsers(), [&](Operation *user) {
    return llvm::is_contained(readers, user);
  });
  if (mayFold && maker && onlyReaders && maker->getNumResults() >= 1 &&
      maker->getResult(0) == value && divideMaker(maker, factors))
    return value;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  std::string name = tensorName(value);
  SmallVector<double> inverse;
  for (double factor : factors)
    inverse.push_back(1 / factor);
  Value by = createConstant(builder, value.getLoc(), name + "_channel_factors",
                            inverse, {static_cast<int64_t>(factors.size())},
                            getElementTypeOrSelf(value.getType()));
  OperationState state(value.getLoc(), MulOp::getOperationName());
  state.addOperands({value, by});
  state.addTypes(value.getType());
  Operation *product = builder.create(state);
  setNames(product, name + "_divide_channels", name + "_divided");
  return product->getResult(0);
}
