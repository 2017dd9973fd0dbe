// Folds what training leaves behind a convolution into its quantized weights.
// Enters: Conv(x, dequantized w), then factors, sums and batch normalizations
// with constants of one number per channel. Leaves: the Conv with other scales
// of w, and a bias. PyTorch trains with a normalization behind the quantized
// weights, and divides by its factor between the two.

#include "Fold.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

/// factor * x + shift, per channel.
struct Affine {
  SmallVector<double> factor, shift;
};

class Folder {
public:
  explicit Folder(Plan &plan) : plan(plan), builder(plan.module.getContext()) {}
  /// Whether something was folded.
  bool fold(ConvOp conv);

private:
  /// Adds an op that follows a tensor; false if it is of another kind.
  bool follow(Operation *op, Value value, Affine &affine) const;
  bool followBinary(Operation *op, Value value, Affine &affine) const;
  bool followNorm(BatchNormalizationOp norm, Affine &affine) const;
  std::optional<SmallVector<double>> perChannel(Value value, int64_t channels,
                                                int64_t rank) const;
  Value scaledWeights(ConvOp conv, const QuantizedOperand &weight,
                      const Affine &affine);

  Plan &plan;
  OpBuilder builder;
};

} // namespace

/// The numbers of a constant of one element, or of one for each channel of a
/// tensor of this rank.
std::optional<SmallVector<double>>
Folder::perChannel(Value value, int64_t channels, int64_t rank) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<SmallVector<double>> numbers = numbersOf(value);
  if (!type || !numbers || type.getRank() > rank)
    return std::nullopt;
  if (numbers->size() == 1)
    return SmallVector<double>(channels, numbers->front());
  // Dimensions are aligned at the last one.
  int64_t axis = type.getRank() - (rank - 1);
  if (static_cast<int64_t>(numbers->size()) != channels || axis < 0 ||
      type.getDimSize(axis) != channels)
    return std::nullopt;
  return numbers;
}

bool Folder::followBinary(Operation *op, Value value, Affine &affine) const {
  bool isFirst = op->getOperand(0) == value;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || op->getOperand(0) == op->getOperand(1) ||
      op->getResult(0).getType() != value.getType() ||
      (!isFirst && isa<DivOp, SubOp>(op)))
    return false;
  std::optional<SmallVector<double>> numbers =
      perChannel(op->getOperand(isFirst), affine.factor.size(), type.getRank());
  if (!numbers)
    return false;
  for (auto [number, factor, shift] :
       llvm::zip(*numbers, affine.factor, affine.shift)) {
    if (isa<AddOp>(op))
      shift += number;
    else if (isa<SubOp>(op))
      shift -= number;
    else {
      double by = isa<DivOp>(op) ? 1 / number : number;
      factor *= by;
      shift *= by;
    }
  }
  return true;
}

bool Folder::followNorm(BatchNormalizationOp norm, Affine &affine) const {
  size_t channels = affine.factor.size();
  std::optional<SmallVector<double>> numbers[4];
  for (auto [index, each] : llvm::enumerate(numbers)) {
    each = numbersOf(norm->getOperand(1 + index));
    if (!each || each->size() != channels)
      return false;
  }
  if (norm.getTrainingMode() != 0)
    return false;
  auto &[scale, bias, mean, variance] = numbers;
  double epsilon = norm.getEpsilon().convertToDouble();
  for (size_t i = 0; i < channels; ++i) {
    double by = (*scale)[i] / std::sqrt((*variance)[i] + epsilon);
    affine.factor[i] *= by;
    affine.shift[i] = (affine.shift[i] - (*mean)[i]) * by + (*bias)[i];
  }
  return true;
}

bool Folder::follow(Operation *op, Value value, Affine &affine) const {
  if (isa<MulOp, DivOp, AddOp, SubOp>(op))
    return followBinary(op, value, affine);
  auto norm = dyn_cast<BatchNormalizationOp>(op);
  return norm && norm.getX() == value && followNorm(norm, affine);
}

/// The dequantized weights with the factors in their scales; null if integers
/// can't say it.
Value Folder::scaledWeights(ConvOp conv, const QuantizedOperand &weight,
                            const Affine &affine) {
  auto channels = static_cast<int64_t>(affine.factor.size());
  std::optional<SmallVector<double>> integers = numbersOf(weight.value),
                                     scales = numbersOf(weight.scale),
                                     zeros = numbersOf(weight.zeroPoint);
  auto type = cast<RankedTensorType>(weight.value.getType());
  std::optional<QuantType> narrow = quantTypeOf(type.getElementType());
  if (!integers || !scales || !zeros || !narrow ||
      (scales->size() != 1 && static_cast<int64_t>(scales->size()) != channels))
    return {};
  if (scales->size() == 1) {
    scales->assign(channels, scales->front());
    zeros->assign(channels, zeros->front());
  }
  SmallVector<int64_t> numbers, zeroPoints;
  size_t inner = integers->size() / channels;
  for (int64_t c = 0; c < channels; ++c) {
    double factor = affine.factor[c];
    // Scales are positive: the integers change their sign.
    int64_t sign = factor < 0 ? -1 : 1;
    double scale = castScale((*scales)[c] * std::fabs(factor), ScaleType::F32);
    if (!std::isfinite(scale) || scale <= 0)
      return {};
    (*scales)[c] = scale;
    zeroPoints.push_back(sign * static_cast<int64_t>((*zeros)[c]));
    for (double number : ArrayRef(*integers).slice(c * inner, inner))
      numbers.push_back(sign * static_cast<int64_t>(number));
  }
  auto isWithin = [&](int64_t number) {
    return number >= narrow->min() && number <= narrow->max();
  };
  if (!llvm::all_of(numbers, isWithin) || !llvm::all_of(zeroPoints, isWithin))
    return {};
  builder.setInsertionPoint(conv);
  std::string name = tensorName(weight.value);
  Location loc = conv.getLoc();
  OperationState state(loc, DequantizeLinearOp::getOperationName());
  state.addOperands(
      {createConstant(builder, loc, name + "_folded", numbers, type.getShape(),
                      type.getElementType()),
       createConstant(builder, loc, name + "_folded_scale", *scales, {channels},
                      getElementTypeOrSelf(weight.scale)),
       createConstant(builder, loc, name + "_folded_zero_point", zeroPoints,
                      {channels}, type.getElementType())});
  state.addTypes(conv.getW().getType());
  state.addAttribute(
      "axis", builder.getIntegerAttr(builder.getIntegerType(64, true), 0));
  Operation *dequantizer = builder.create(state);
  setNames(dequantizer, name + "_DequantizeLinear",
           name + "_DequantizeLinear_Output");
  return dequantizer->getResult(0);
}

bool Folder::fold(ConvOp conv) {
  QuantizedOperand weight = dequantizedBy(conv.getW());
  auto type = dyn_cast<RankedTensorType>(conv.getW().getType());
  if (!weight.value || !constantOf(weight.value) || !type ||
      !type.hasStaticShape() || !type.getElementType().isF32())
    return false;
  int64_t channels = type.getDimSize(0);
  Affine affine{SmallVector<double>(channels, 1),
                SmallVector<double>(channels, 0)};
  if (!isa<NoneType>(conv.getB().getType())) {
    std::optional<SmallVector<double>> bias = dequantizedNumbers(conv.getB());
    if (!bias || static_cast<int64_t>(bias->size()) != channels)
      return false;
    affine.shift = *bias;
  }
  SmallVector<Operation *> followers;
  Value last = conv.getY();
  while (last.hasOneUse()) {
    Operation *next = *last.user_begin();
    Affine extended = affine;
    if (next->getBlock() != conv->getBlock() || !follow(next, last, extended) ||
        !llvm::all_of(extended.shift,
                      [](double x) { return std::isfinite(x); }))
      break;
    affine = std::move(extended);
    followers.push_back(next);
    last = next->getResult(0);
  }
  Value weights =
      followers.empty() ? Value() : scaledWeights(conv, weight, affine);
  if (!weights)
    return false;
  conv->setOperand(1, weights);
  conv->setOperand(2, createConstant(builder, conv.getLoc(),
                                     nodeName(conv) + "_bias", affine.shift,
                                     {channels}, type.getElementType()));
  setNames(conv, nodeName(conv), tensorName(last));
  last.replaceAllUsesWith(conv.getY());
  for (Operation *op : llvm::reverse(followers)) {
    if (Node *node = plan.find(op)) {
      node->quantized = true;
      node->reason = "folded into the convolution before it";
      node->op = nullptr;
    }
    op->erase();
  }
  return true;
}

void quantize::foldTrained(Plan &plan) {
  Folder folder(plan);
  for (Node &node : plan.nodes)
    if (auto conv = dyn_cast_or_null<ConvOp>(node.op))
      folder.fold(conv);
}
