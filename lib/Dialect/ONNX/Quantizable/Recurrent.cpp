// How recurrent layers are quantized: their weights only. The state between
// steps is no tensor of the graph, so that its range cannot be known ahead.

#include "Models.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

namespace {

template <typename Model, typename Op>
struct RecurrentBase : public Base<Model, Op> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {1, 2};
  }
  SmallVector<unsigned> getQuantizableResults(Operation *) const { return {}; }
  bool isContraction(Operation *) const { return true; }
  bool takesWeightsOnly(Operation *) const { return true; }
  /// W is [directions, gates * hidden, input], R alike.
  std::optional<int64_t> getChannelAxis(Operation *, unsigned) const {
    return 1;
  }
  std::optional<int64_t> getReductionAxis(Operation *, unsigned) const {
    return 2;
  }
};

template <typename Op>
struct RecurrentModel : public RecurrentBase<RecurrentModel<Op>, Op> {};

struct LSTMModel : public RecurrentBase<LSTMModel, LSTMOp> {
  FailureOr<Operation *>
  buildDynamic(Operation *op, OpBuilder &builder,
               ArrayRef<QuantizedOperand> operands) const;
};

} // namespace

/// A constant in the place of another, with its name.
static Value replacement(OpBuilder &builder, Operation *op, Value value,
                         DenseElementsAttr elements) {
  OperationState state(op->getLoc(), ConstantOp::getOperationName());
  state.addTypes(elements.getType());
  state.addAttribute("value", elements);
  if (Attribute names = value.getDefiningOp()->getAttr(resultNamesAttr))
    state.addAttribute(resultNamesAttr, names);
  return builder.create(state)->getResult(0);
}

/// The last two dimensions of a constant of 8-bit numbers exchanged.
static FailureOr<Value> transposeGates(OpBuilder &builder, Operation *op,
                                       Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  ElementsAttr constant = getConstant(value);
  auto numbers = constant
                     ? readInts(constant, std::numeric_limits<int64_t>::max())
                     : std::nullopt;
  if (!numbers || type.getRank() != 3)
    return failure();
  int64_t count = type.getDimSize(0), rows = type.getDimSize(1),
          columns = type.getDimSize(2);
  std::vector<char> bytes(numbers->size());
  for (int64_t d = 0; d < count; ++d)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        bytes[(d * columns + j) * rows + i] =
            static_cast<char>((*numbers)[(d * rows + i) * columns + j]);
  auto result =
      RankedTensorType::get({count, columns, rows}, type.getElementType());
  return replacement(builder, op, value,
                     DenseElementsAttr::getFromRawBuffer(result, bytes));
}

/// A parameter repeated for each direction: [directions], or
/// [directions, gates * hidden].
static FailureOr<Value> repeat(OpBuilder &builder, Operation *op, Value value,
                               int64_t directions) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(getConstant(value));
  if (!elements)
    return failure();
  SmallVector<int64_t> shape{directions};
  if (elements.getNumElements() > 1)
    shape.push_back(elements.getNumElements());
  SmallVector<Attribute> numbers;
  for (int64_t d = 0; d < directions; ++d)
    llvm::append_range(numbers, elements.getValues<Attribute>());
  auto type = RankedTensorType::get(shape, elements.getElementType());
  return replacement(builder, op, value, DenseElementsAttr::get(type, numbers));
}

FailureOr<Operation *>
LSTMModel::buildDynamic(Operation *op, OpBuilder &builder,
                        ArrayRef<QuantizedOperand> operands) const {
  auto lstm = cast<LSTMOp>(op);
  const QuantizedOperand &w = operands[1], &r = operands[2];
  if (!w.value || !r.value || !haveEightBits(operands) || lstm.getLayout() != 0)
    return failure();
  int64_t directions = cast<RankedTensorType>(w.value.getType()).getDimSize(0);
  FailureOr<Value> values[] = {transposeGates(builder, op, w.value),
                               transposeGates(builder, op, r.value),
                               repeat(builder, op, w.scale, directions),
                               repeat(builder, op, w.zeroPoint, directions),
                               repeat(builder, op, r.scale, directions),
                               repeat(builder, op, r.zeroPoint, directions)};
  if (llvm::any_of(values, [](FailureOr<Value> v) { return failed(v); }))
    return failure();
  OperationState state(op->getLoc(),
                       microsoft::DynamicQuantizeLSTMOp::getOperationName());
  state.addOperands({lstm.getX(), *values[0], *values[1]});
  state.addOperands(op->getOperands().slice(3, 5));
  state.addOperands({*values[2], *values[3], *values[4], *values[5]});
  state.addTypes(op->getResultTypes());
  for (StringRef name : {"activation_alpha", "activation_beta", "activations",
                         "clip", "direction", "hidden_size", "input_forget"})
    if (Attribute value = op->getAttr(name))
      state.addAttribute(name, value);
  return builder.create(state);
}

void onnxquant::onnx::quantizable::attachRecurrent(MLIRContext &context) {
  LSTMOp::attachInterface<LSTMModel>(context);
  GRUOp::attachInterface<RecurrentModel<GRUOp>>(context);
  RNNOp::attachInterface<RecurrentModel<RNNOp>>(context);
}
