// The products of recurrent layers that no step waits for, as MatMul ops that
// become kernels: those of all inputs, and those of the first state where there
// is one step. What enters is a layer with constant weights; what leaves reads
// the products' sums as its input, which an attribute says, and
// has weights of zeros that nothing reads. Where a step waits for the one
// before, the product stays in the layer's loop.

#include "RecurrentProducts.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "Patterns.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// An op of one result that has the node's name.
static Value makeNamed(ImplicitLocOpBuilder &b, Operation *node, StringRef name,
                       ValueRange operands, RankedTensorType type) {
  OperationState state(b.getLoc(), name);
  state.addOperands(operands);
  state.addTypes(type);
  if (auto nodeName = node->getAttrOfType<StringAttr>(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, nodeName);
  return b.create(state)->getResult(0);
}

/// The constant values of weights [D, C, K] of known sizes; none of others.
static std::optional<RawElements> readWeights(Value weights) {
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  if (!type || !type.hasStaticShape() || type.getRank() != 3 ||
      !type.getElementType().isF32() || type.getNumElements() == 0)
    return std::nullopt;
  return readElements(weights);
}

/// [.., K] times weights [D, C, K]: [.., D * C].
static Value multiply(ImplicitLocOpBuilder &b, Operation *node, Value x,
                      const RawElements &raw) {
  ArrayRef<int64_t> shape = raw.type.getShape();
  Type f32 = b.getF32Type();
  int64_t columns = shape[0] * shape[1];
  std::vector<char> bytes = permuteElements(raw, shape, {2, 0, 1});
  Value weights = makeConstant(
      b, RankedTensorType::get({shape[2], columns}, f32), bytes, "weights");
  SmallVector<int64_t> sizes(cast<RankedTensorType>(x.getType()).getShape());
  sizes.back() = columns;
  return makeNamed(b, node, onnx::MatMulOp::getOperationName(), {x, weights},
                   RankedTensorType::get(sizes, f32));
}

/// Whether the only step's products of the first state are those of all gates:
/// a GRU multiplies some of them after its reset.
template <typename OpTy> static bool hasOneStep(OpTy op, RankedTensorType x) {
  if constexpr (std::is_same_v<OpTy, onnx::GRUOp>)
    return false;
  auto state = dyn_cast<RankedTensorType>(op.getInitialH().getType());
  return x.getDimSize(0) == 1 && op.getLayout() == 0 && state &&
         state.getRank() == 3 && state.getElementType().isF32() &&
         state.getDimSize(0) == 1 && state.getDimSize(1) == x.getDimSize(1) &&
         op.getDirection() != "bidirectional";
}

template <typename OpTy> static void project(OpTy op) {
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  std::optional<RawElements> raw = readWeights(op.getW());
  if (!type || type.getRank() != 3 || !type.getElementType().isF32() || !raw ||
      type.getDimSize(2) != raw->type.getDimSize(2) ||
      raw->type.getDimSize(0) * raw->type.getDimSize(1) < 2)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value sums = multiply(b, op, op.getX(), *raw);
  auto sumType = cast<RankedTensorType>(sums.getType());
  if (hasOneStep(op, type)) {
    std::optional<RawElements> hidden = readWeights(op.getR());
    auto state = cast<RankedTensorType>(op.getInitialH().getType());
    if (hidden && hidden->type.getDimSize(0) == 1 &&
        hidden->type.getDimSize(1) == sumType.getDimSize(2) &&
        hidden->type.getDimSize(2) == state.getDimSize(2)) {
      Value more = multiply(b, op, op.getInitialH(), *hidden);
      sums = makeNamed(b, op, onnx::AddOp::getOperationName(), {sums, more},
                       sumType);
      op->setAttr(hiddenProjectedAttr, b.getUnitAttr());
    }
  }
  // Sizes still go together, at no cost: a splat is one value.
  auto zeros = RankedTensorType::get(
      {raw->type.getDimSize(0), raw->type.getDimSize(1), sumType.getDimSize(2)},
      b.getF32Type());
  OperationState state(b.getLoc(), onnx::ConstantOp::getOperationName());
  state.addAttribute("value", DenseElementsAttr::get(zeros, 0.0f));
  state.addTypes(zeros);
  op.getXMutable().assign(sums);
  op.getWMutable().assign(b.create(state)->getResult(0));
  op->setAttr(inputProjectedAttr, b.getUnitAttr());
}

bool kernels::isRecurrent(Operation *op) {
  return isa<onnx::RNNOp, onnx::GRUOp, onnx::LSTMOp>(op);
}

void kernels::projectRecurrent(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isRecurrent(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    llvm::TypeSwitch<Operation *>(op)
        .Case<onnx::RNNOp, onnx::GRUOp, onnx::LSTMOp>(
            [](auto recurrent) { project(recurrent); });
}
