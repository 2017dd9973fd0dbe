// How elementwise ops are quantized: functions of one operand, clamps, and
// arithmetic of two.

#include "Models.h"
#include <limits>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A form of com.microsoft with one operand and one result, both 8 bits wide.
static FailureOr<Value> buildUnary(Operation *op, OpBuilder &builder,
                                   StringRef name,
                                   ArrayRef<QuantizedOperand> operands,
                                   const QuantizedOperand &result,
                                   ArrayRef<StringRef> attributes = {}) {
  const QuantizedOperand &x = operands[0];
  // One type for both is what these ops take.
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

/// A function without a quantized form.
template <typename Op> struct UnaryModel : public Base<UnaryModel<Op>, Op> {
  bool isElementwise(Operation *) const { return true; }
};

/// A function with values between two constants.
template <typename Op, int least>
struct BoundedModel : public Base<BoundedModel<Op, least>, Op> {
  bool isElementwise(Operation *) const { return true; }
  std::optional<RealRange> getFixedRange(Operation *, QuantizedForm) const {
    return RealRange{least, 1.0};
  }
};

struct SigmoidModel : public Base<SigmoidModel, SigmoidOp> {
  bool isElementwise(Operation *) const { return true; }
  std::optional<RealRange> getFixedRange(Operation *, QuantizedForm) const {
    return RealRange{0.0, 1.0};
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    return buildUnary(op, builder,
                      microsoft::QLinearSigmoidOp::getOperationName(), operands,
                      result);
  }
};

struct LeakyReluModel : public Base<LeakyReluModel, LeakyReluOp> {
  bool isElementwise(Operation *) const { return true; }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    return buildUnary(op, builder,
                      microsoft::QLinearLeakyReluOp::getOperationName(),
                      operands, result, {"alpha"});
  }
};

struct ReluModel : public Base<ReluModel, ReluOp> {
  bool isElementwise(Operation *) const { return true; }
  std::optional<RealRange> getClamp(Operation *) const {
    return RealRange{0.0, infinity};
  }
};

struct ClipModel : public Base<ClipModel, ClipOp> {
  bool isElementwise(Operation *) const { return true; }
  /// Both bounds must be known.
  std::optional<RealRange> getClamp(Operation *op) const {
    auto bound = [](Value value, double otherwise) -> std::optional<double> {
      if (isAbsent(value))
        return otherwise;
      ElementsAttr constant = getConstant(value);
      auto number = constant ? readFloats(constant, 1) : std::nullopt;
      if (!number || number->size() != 1)
        return std::nullopt;
      return (*number)[0];
    };
    auto clip = cast<ClipOp>(op);
    std::optional<double> min = bound(clip.getMin(), -infinity),
                          max = bound(clip.getMax(), infinity);
    if (!min || !max)
      return std::nullopt;
    return RealRange{*min, *max};
  }
};

/// Arithmetic of two operands; `Form` is its form in com.microsoft.
template <typename Op, typename Form = void>
struct BinaryModel : public Base<BinaryModel<Op, Form>, Op> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {0, 1};
  }
  bool isElementwise(Operation *) const { return true; }
  QuantizedForm getQLinearForm(Operation *) const {
    return std::is_void_v<Form> ? QuantizedForm::None : QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    if constexpr (std::is_void_v<Form>) {
      return failure();
    } else {
      const QuantizedOperand &a = operands[0], &b = operands[1];
      if (!a.value || !b.value || !haveEightBits(operands) ||
          elementTypeOf(a.value) != elementTypeOf(b.value) ||
          elementTypeOf(a.value) != elementTypeOf(result.zeroPoint))
        return failure();
      return createNode(builder, op, Form::getOperationName(),
                        {a.value, a.scale, a.zeroPoint, b.value, b.scale,
                         b.zeroPoint, result.scale, result.zeroPoint},
                        withElementType(op->getResult(0).getType(),
                                        elementTypeOf(result.zeroPoint)))
          ->getResult(0);
    }
  }
};

/// A constant divisor stays exact: it is a factor of the result's scale.
struct DivModel : public Base<DivModel, DivOp> {
  bool isElementwise(Operation *) const { return true; }
  std::string getObstacle(Operation *op) const {
    return getConstant(cast<DivOp>(op).getB()) ? ""
                                               : "its divisor is not constant";
  }
};

} // namespace

void onnxquant::onnx::quantizable::attachElementwise(MLIRContext &context) {
  ReluOp::attachInterface<ReluModel>(context);
  ClipOp::attachInterface<ClipModel>(context);
  LeakyReluOp::attachInterface<LeakyReluModel>(context);
  SigmoidOp::attachInterface<SigmoidModel>(context);
  HardSigmoidOp::attachInterface<BoundedModel<HardSigmoidOp, 0>>(context);
  TanhOp::attachInterface<BoundedModel<TanhOp, -1>>(context);
  HardSwishOp::attachInterface<UnaryModel<HardSwishOp>>(context);
  EluOp::attachInterface<UnaryModel<EluOp>>(context);
  GeluOp::attachInterface<UnaryModel<GeluOp>>(context);
  MishOp::attachInterface<UnaryModel<MishOp>>(context);
  AddOp::attachInterface<BinaryModel<AddOp, microsoft::QLinearAddOp>>(context);
  MulOp::attachInterface<BinaryModel<MulOp, microsoft::QLinearMulOp>>(context);
  SubOp::attachInterface<BinaryModel<SubOp>>(context);
  DivOp::attachInterface<DivModel>(context);
}
