// How convolutions and matrix products are quantized. A weight may be on either
// side of a product; its channels are what the result keeps of it.

#include "Models.h"
#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

static const StringRef windowAttributes[] = {
    "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};

namespace {

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

template <typename Model, typename Op>
struct ConvolutionBase : public Base<Model, Op> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {0, 1};
  }
  bool isContraction(Operation *) const { return true; }
  std::optional<unsigned> getBiasOperand(Operation *) const { return 2; }
  std::optional<int64_t> getResultChannelAxis(Operation *, unsigned i) const {
    return i == 1 ? std::optional<int64_t>(1) : std::nullopt;
  }
};

struct ConvModel : public ConvolutionBase<ConvModel, ConvOp> {
  std::optional<int64_t> getChannelAxis(Operation *, unsigned i) const {
    return i == 1 ? std::optional<int64_t>(0) : std::nullopt;
  }
  std::optional<int64_t> getReductionAxis(Operation *, unsigned) const {
    return 1;
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Standard;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value bias) const {
    const QuantizedOperand &x = operands[0], &w = operands[1];
    if (!x.value || !w.value || !haveEightBits(operands) ||
        !isSingle(x.scale) || !elementTypeOf(x.scale).isF32())
      return failure();
    if (!bias)
      bias = createAbsent(builder, op->getLoc());
    return createNode(builder, op, QLinearConvOp::getOperationName(),
                      {x.value, x.scale, x.zeroPoint, w.value, w.scale,
                       w.zeroPoint, result.scale, result.zeroPoint, bias},
                      withElementType(op->getResult(0).getType(),
                                      elementTypeOf(result.zeroPoint)),
                      windowAttributes)
        ->getResult(0);
  }
  /// ONNX Runtime has no kernel of ConvInteger for signed weights.
  bool takesUnsignedIntegers(Operation *) const { return true; }
  FailureOr<Value> buildInteger(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands) const {
    const QuantizedOperand &x = operands[0], &w = operands[1];
    if (!x.value || !w.value || !haveEightBits(operands) || !isSingle(x.scale))
      return failure();
    return createNode(builder, op, ConvIntegerOp::getOperationName(),
                      {x.value, w.value, x.zeroPoint, w.zeroPoint},
                      withElementType(op->getResult(0).getType(),
                                      builder.getI32Type()),
                      windowAttributes)
        ->getResult(0);
  }
};

/// The kernel is [C, M / group, ...]: with groups, a channel is no index of one
/// axis, so such a kernel has one scale.
struct ConvTransposeModel
    : public ConvolutionBase<ConvTransposeModel, ConvTransposeOp> {
  std::optional<int64_t> getChannelAxis(Operation *op, unsigned i) const {
    return i == 1 && cast<ConvTransposeOp>(op).getGroup() == 1
               ? std::optional<int64_t>(1)
               : std::nullopt;
  }
  std::optional<int64_t> getReductionAxis(Operation *, unsigned i) const {
    return i == 1 ? 0 : 1;
  }
  double getShareOfTaps(Operation *op) const {
    double share = 1;
    if (ArrayAttr strides = cast<ConvTransposeOp>(op).getStridesAttr())
      for (Attribute stride : strides)
        share /= static_cast<double>(cast<IntegerAttr>(stride).getInt());
    return share;
  }
};

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// A parameter per column of a batch of matrices, repeated for each of them:
/// one row of [batch.., 1, columns], which is the form that runtimes take.
Value repeatForBatches(OpBuilder &builder, Operation *op, Value parameter,
                       Value matrices) {
  auto type = cast<RankedTensorType>(matrices.getType());
  auto numbers = dyn_cast_or_null<DenseElementsAttr>(getConstant(parameter));
  if (type.getRank() <= 2 || !numbers || numbers.getNumElements() <= 1)
    return parameter;
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] = 1;
  auto repeated = RankedTensorType::get(shape, numbers.getElementType());
  SmallVector<Attribute> values;
  while (static_cast<int64_t>(values.size()) < repeated.getNumElements())
    llvm::append_range(values, numbers.getValues<Attribute>());
  OperationState state(op->getLoc(), ConstantOp::getOperationName());
  state.addAttribute("value", DenseElementsAttr::get(repeated, values));
  state.addTypes(repeated);
  return builder.create(state)->getResult(0);
}

FailureOr<Value> buildQLinearMatMul(Operation *op, OpBuilder &builder,
                                    const QuantizedOperand &a,
                                    const QuantizedOperand &b,
                                    const QuantizedOperand &result) {
  if (!a.value || !b.value || !haveEightBits({a, b}) || !isSingle(a.scale) ||
      !elementTypeOf(a.scale).isF32())
    return failure();
  Value scale = repeatForBatches(builder, op, b.scale, b.value),
        zeroPoint = repeatForBatches(builder, op, b.zeroPoint, b.value);
  return createNode(builder, op, QLinearMatMulOp::getOperationName(),
                    {a.value, a.scale, a.zeroPoint, b.value, scale, zeroPoint,
                     result.scale, result.zeroPoint},
                    withElementType(op->getResult(0).getType(),
                                    elementTypeOf(result.zeroPoint)))
      ->getResult(0);
}

FailureOr<Value> buildMatMulInteger(Operation *op, OpBuilder &builder,
                                    const QuantizedOperand &a,
                                    const QuantizedOperand &b) {
  if (!a.value || !b.value || !haveEightBits({a, b}))
    return failure();
  return createNode(
             builder, op, MatMulIntegerOp::getOperationName(),
             {a.value, b.value, a.zeroPoint, b.zeroPoint},
             withElementType(op->getResult(0).getType(), builder.getI32Type()))
      ->getResult(0);
}

struct MatMulModel : public Base<MatMulModel, MatMulOp> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {0, 1};
  }
  bool isContraction(Operation *) const { return true; }
  std::optional<int64_t> getChannelAxis(Operation *op, unsigned i) const {
    std::optional<int64_t> rank = rankOf(op->getOperand(i));
    if (!rank || *rank < 2)
      return std::nullopt;
    return i == 0 ? *rank - 2 : *rank - 1;
  }
  std::optional<int64_t> getReductionAxis(Operation *op, unsigned i) const {
    std::optional<int64_t> rank = rankOf(op->getOperand(i));
    if (!rank || *rank < 2)
      return std::nullopt;
    return i == 0 ? *rank - 1 : *rank - 2;
  }
  std::optional<int64_t> getResultChannelAxis(Operation *op, unsigned i) const {
    std::optional<int64_t> rank = rankOf(op->getResult(0)),
                           other = rankOf(op->getOperand(1));
    if (!rank || !other)
      return std::nullopt;
    return *rank - (i == 0 && *other > 1 ? 2 : 1);
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Standard;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    return buildQLinearMatMul(op, builder, operands[0], operands[1], result);
  }
  FailureOr<Value> buildInteger(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands) const {
    return buildMatMulInteger(op, builder, operands[0], operands[1]);
  }
};

struct GemmModel : public Base<GemmModel, GemmOp> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {0, 1};
  }
  bool isContraction(Operation *) const { return true; }
  std::optional<int64_t> getChannelAxis(Operation *op, unsigned i) const {
    auto gemm = cast<GemmOp>(op);
    return i == 0 ? gemm.getTransA() != 0 : gemm.getTransB() == 0;
  }
  std::optional<int64_t> getReductionAxis(Operation *op, unsigned i) const {
    return 1 - *getChannelAxis(op, i);
  }
  std::optional<int64_t> getResultChannelAxis(Operation *, unsigned i) const {
    return i;
  }
  /// C is a bias where it has one number per column.
  std::optional<unsigned> getBiasOperand(Operation *op) const {
    Value c = cast<GemmOp>(op).getC();
    if (isAbsent(c))
      return 2;
    auto type = dyn_cast<RankedTensorType>(c.getType());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0 || !result ||
        type.getNumElements() != type.getShape().back() ||
        type.getNumElements() != result.getShape().back())
      return std::nullopt;
    return 2;
  }
  double getBiasFactor(Operation *op) const {
    return cast<GemmOp>(op).getBeta().convertToDouble();
  }
  double getProductFactor(Operation *op) const {
    return cast<GemmOp>(op).getAlpha().convertToDouble();
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value bias) const {
    const QuantizedOperand &a = operands[0], &b = operands[1];
    auto gemm = cast<GemmOp>(op);
    // The op adds its bias before it scales, and knows no beta.
    if (!a.value || !b.value || !haveEightBits(operands) ||
        !isSingle(a.scale) || !elementTypeOf(a.scale).isF32() ||
        (!bias && !isAbsent(gemm.getC())))
      return failure();
    if (!bias)
      bias = createAbsent(builder, op->getLoc());
    static const StringRef attributes[] = {"alpha", "transA", "transB"};
    return createNode(builder, op, microsoft::QGemmOp::getOperationName(),
                      {a.value, a.scale, a.zeroPoint, b.value, b.scale,
                       b.zeroPoint, bias, result.scale, result.zeroPoint},
                      withElementType(op->getResult(0).getType(),
                                      elementTypeOf(result.zeroPoint)),
                      attributes)
        ->getResult(0);
  }
  FailureOr<Value> buildInteger(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands) const {
    auto gemm = cast<GemmOp>(op);
    QuantizedOperand a = operands[0], b = operands[1];
    if (!a.value || !b.value || !haveEightBits(operands))
      return failure();
    if (gemm.getTransA())
      a.value = transposeMatrix(builder, op, a.value);
    if (gemm.getTransB())
      b.value = transposeMatrix(builder, op, b.value);
    return buildMatMulInteger(op, builder, a, b);
  }
};

//===----------------------------------------------------------------------===//
// Einsum, where it is a product of two tensors
//===----------------------------------------------------------------------===//

struct EinsumModel : public Base<EinsumModel, EinsumOp> {
  static FailureOr<EinsumLoops> loopsOf(Operation *op) {
    std::string error;
    FailureOr<EinsumEquation> equation =
        EinsumEquation::parse(cast<EinsumOp>(op).getEquation(), error);
    SmallVector<int64_t> ranks;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> rank = rankOf(operand);
      if (!rank)
        return failure();
      ranks.push_back(*rank);
    }
    if (failed(equation))
      return failure();
    return equation->resolve(ranks);
  }
  static bool isRepeated(ArrayRef<unsigned> loops) {
    llvm::SmallDenseSet<unsigned> seen;
    return llvm::any_of(
        loops, [&](unsigned loop) { return !seen.insert(loop).second; });
  }
  /// Two operands, and what is summed over is part of both.
  static bool isProduct(const EinsumLoops &loops) {
    if (loops.operands.size() != 2 || isRepeated(loops.operands[0]) ||
        isRepeated(loops.operands[1]))
      return false;
    bool sums = false;
    for (unsigned loop = 0; loop < loops.numLoops; ++loop) {
      if (llvm::is_contained(loops.output, loop))
        continue;
      if (!llvm::is_contained(loops.operands[0], loop) ||
          !llvm::is_contained(loops.operands[1], loop))
        return false;
      sums = true;
    }
    return sums;
  }
  /// The axes of operand `i` that only it and the output have.
  static SmallVector<int64_t> freeAxes(const EinsumLoops &loops, unsigned i) {
    SmallVector<int64_t> axes;
    for (auto [axis, loop] : llvm::enumerate(loops.operands[i]))
      if (llvm::is_contained(loops.output, loop) &&
          !llvm::is_contained(loops.operands[1 - i], loop))
        axes.push_back(axis);
    return axes;
  }
  SmallVector<unsigned> getQuantizableOperands(Operation *op) const {
    return op->getNumOperands() == 2 ? SmallVector<unsigned>{0, 1}
                                     : SmallVector<unsigned>{};
  }
  bool isContraction(Operation *) const { return true; }
  std::string getObstacle(Operation *op) const {
    FailureOr<EinsumLoops> loops = loopsOf(op);
    return succeeded(loops) && isProduct(*loops)
               ? ""
               : "its equation is no product of two tensors";
  }
  std::optional<int64_t> getChannelAxis(Operation *op, unsigned i) const {
    FailureOr<EinsumLoops> loops = loopsOf(op);
    if (failed(loops) || loops->operands.size() != 2)
      return std::nullopt;
    SmallVector<int64_t> axes = freeAxes(*loops, i);
    return axes.size() == 1 ? std::optional<int64_t>(axes[0]) : std::nullopt;
  }
  std::optional<int64_t> getReductionAxis(Operation *op, unsigned i) const {
    FailureOr<EinsumLoops> loops = loopsOf(op);
    if (failed(loops) || loops->operands.size() != 2)
      return std::nullopt;
    for (auto [axis, loop] : llvm::enumerate(loops->operands[i]))
      if (!llvm::is_contained(loops->output, loop))
        return axis;
    return std::nullopt;
  }
  std::optional<int64_t> getResultChannelAxis(Operation *op, unsigned i) const {
    std::optional<int64_t> axis = getChannelAxis(op, i);
    if (!axis)
      return std::nullopt;
    FailureOr<EinsumLoops> loops = loopsOf(op);
    return llvm::find(loops->output, loops->operands[i][*axis]) -
           loops->output.begin();
  }
  /// Whether the op is a MatMul: [batch.., i, k] times [batch.., k, j].
  static bool isMatMul(Operation *op) {
    FailureOr<EinsumLoops> loops = loopsOf(op);
    if (failed(loops) || !isProduct(*loops))
      return false;
    ArrayRef<unsigned> a = loops->operands[0], b = loops->operands[1],
                       out = loops->output;
    return a.size() >= 2 && b.size() >= 2 && out.size() == a.size() &&
           a.back() == b[b.size() - 2] && out.back() == b.back() &&
           out[out.size() - 2] == a[a.size() - 2] &&
           a.drop_back(2) == out.drop_back(2) &&
           (b.size() == 2 || b.drop_back(2) == out.drop_back(2));
  }
  QuantizedForm getQLinearForm(Operation *op) const {
    return isMatMul(op) ? QuantizedForm::Standard : QuantizedForm::None;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    if (!isMatMul(op))
      return failure();
    return buildQLinearMatMul(op, builder, operands[0], operands[1], result);
  }
  FailureOr<Value> buildInteger(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands) const {
    if (!isMatMul(op))
      return failure();
    return buildMatMulInteger(op, builder, operands[0], operands[1]);
  }
};

} // namespace

void onnxquant::onnx::quantizable::attachContractions(MLIRContext &context) {
  ConvOp::attachInterface<ConvModel>(context);
  ConvTransposeOp::attachInterface<ConvTransposeModel>(context);
  MatMulOp::attachInterface<MatMulModel>(context);
  GemmOp::attachInterface<GemmModel>(context);
  EinsumOp::attachInterface<EinsumModel>(context);
}
