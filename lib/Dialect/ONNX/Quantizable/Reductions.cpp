// How ops are quantized that reduce or normalize: averages, softmax, and the
// place of a greatest element.

#include "Models.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

/// Operand, result and their parameters, as all forms of com.microsoft here
/// take them.
static FailureOr<Value> buildReduction(Operation *op, OpBuilder &builder,
                                       StringRef name,
                                       ArrayRef<QuantizedOperand> operands,
                                       const QuantizedOperand &result,
                                       ArrayRef<StringRef> attributes) {
  const QuantizedOperand &x = operands[0];
  if (!x.value || !haveEightBits(operands) ||
      elementTypeOf(x.value) != elementTypeOf(result.zeroPoint))
    return failure();
  return createNode(
             builder, op, name,
             {x.value, x.scale, x.zeroPoint, result.scale, result.zeroPoint},
             withElementType(op->getResult(0).getType(),
                             elementTypeOf(result.zeroPoint)),
             attributes)
      ->getResult(0);
}

namespace {

struct AveragePoolModel : public Base<AveragePoolModel, AveragePoolOp> {
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    // The form has no dilations.
    if (ArrayAttr dilations = cast<AveragePoolOp>(op).getDilationsAttr())
      for (Attribute dilation : dilations)
        if (cast<IntegerAttr>(dilation).getInt() != 1)
          return failure();
    return buildReduction(op, builder,
                          microsoft::QLinearAveragePoolOp::getOperationName(),
                          operands, result,
                          {"auto_pad", "ceil_mode", "count_include_pad",
                           "kernel_shape", "pads", "strides"});
  }
};

struct GlobalAveragePoolModel
    : public Base<GlobalAveragePoolModel, GlobalAveragePoolOp> {
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    return buildReduction(
        op, builder, microsoft::QLinearGlobalAveragePoolOp::getOperationName(),
        operands, result, {});
  }
};

/// There is a QLinearReduceMean, but ONNX Runtime has no kernel of it.
struct ReduceMeanModel : public Base<ReduceMeanModel, ReduceMeanOp> {};

struct SoftmaxModel : public Base<SoftmaxModel, SoftmaxOp> {
  /// ONNX Runtime's form takes 1/256 as the scale.
  std::optional<RealRange> getFixedRange(Operation *,
                                         QuantizedForm form) const {
    return RealRange{0.0, form == QuantizedForm::Contrib ? 255.0 / 256.0 : 1.0};
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    FailureOr<Value> built = buildReduction(
        op, builder, microsoft::QLinearSoftmaxOp::getOperationName(), operands,
        result, {"axis"});
    if (succeeded(built))
      built->getDefiningOp()->setAttr(
          "opset", builder.getIntegerAttr(
                       builder.getIntegerType(64, /*isSigned=*/true), 13));
    return built;
  }
};

/// The result is an index.
struct ArgMaxModel : public Base<ArgMaxModel, ArgMaxOp> {
  SmallVector<unsigned> getQuantizableResults(Operation *) const { return {}; }
  bool movesData(Operation *) const { return true; }
};

} // namespace

void onnxquant::onnx::quantizable::attachReductions(MLIRContext &context) {
  AveragePoolOp::attachInterface<AveragePoolModel>(context);
  GlobalAveragePoolOp::attachInterface<GlobalAveragePoolModel>(context);
  ReduceMeanOp::attachInterface<ReduceMeanModel>(context);
  SoftmaxOp::attachInterface<SoftmaxModel>(context);
  ArgMaxOp::attachInterface<ArgMaxModel>(context);
}
