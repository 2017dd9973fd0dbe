// Convolutions and matrix products with constant weights. The weight's place
// tells which channels it connects; everything else follows from that.

#include "Contraction.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

std::optional<std::vector<double>>
onnxquant::preprocess::readPerChannel(Value constant, int64_t rank,
                                      int64_t channels) {
  ElementsAttr elements = getConstant(constant);
  if (!elements || rank < 2 || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  int64_t offset = rank - static_cast<int64_t>(shape.size());
  if (offset < 0)
    return std::nullopt;
  for (auto [index, size] : llvm::enumerate(shape)) {
    bool isChannel = static_cast<int64_t>(index) + offset == 1;
    if (size != 1 && !(isChannel && size == channels))
      return std::nullopt;
  }
  std::optional<Weights> weights = readWeights(constant);
  if (!weights)
    return std::nullopt;
  return std::move(weights->values);
}

FailureOr<ChannelAffine>
onnxquant::preprocess::matchBatchNorm(PatternRewriter &rewriter,
                                      BatchNormalizationOp norm) {
  if (norm.getTrainingMode() != 0)
    return rewriter.notifyMatchFailure(norm, "it computes statistics");
  for (Value extra : {norm.getRunningMean(), norm.getRunningVar()})
    if (!isLeftOut(extra) && !extra.use_empty())
      return rewriter.notifyMatchFailure(norm, "its statistics are used");
  std::optional<Weights> parts[4];
  for (unsigned i = 0; i < 4; ++i) {
    parts[i] = readWeights(norm->getOperand(i + 1));
    if (!parts[i] || parts[i]->values.size() != parts[0]->values.size())
      return rewriter.notifyMatchFailure(norm, "its operands aren't constant");
  }
  double epsilon = norm.getEpsilon().convertToFloat();
  ChannelAffine affine;
  affine.scale.clear();
  affine.shift.clear();
  for (size_t i = 0; i < parts[0]->values.size(); ++i) {
    double scale = (*parts[0])[i] / std::sqrt((*parts[3])[i] + epsilon);
    if (!std::isfinite(scale))
      return rewriter.notifyMatchFailure(norm, "a variance isn't positive");
    affine.scale.push_back(scale);
    affine.shift.push_back((*parts[1])[i] - (*parts[2])[i] * scale);
  }
  return affine;
}

int64_t Contraction::getGroup() const {
  auto group = op->getAttrOfType<IntegerAttr>("group");
  return group ? group.getValue().getSExtValue() : 1;
}

bool Contraction::isTransB() const { return cast<GemmOp>(op).getTransB() != 0; }

FailureOr<Contraction> Contraction::match(PatternRewriter &rewriter,
                                          Operation *op) {
  auto refuse = [&](const char *reason) {
    return rewriter.notifyMatchFailure(op, reason);
  };
  if (!isa<ConvOp, ConvTransposeOp, GemmOp>(op))
    return refuse("it is no convolution and no Gemm");
  if (!isFloat(op->getOperand(1)))
    return refuse("its elements aren't floats");
  std::optional<Weights> weights = readWeights(op->getOperand(1));
  if (!weights || weights->values.empty())
    return refuse("its weights aren't constant");
  Contraction contraction(op);
  contraction.weights = std::move(*weights);
  ArrayRef<int64_t> shape = contraction.weights.type.getShape();
  contraction.rank = shape.size();
  if (shape.size() < 2 || contraction.getGroup() < 1 ||
      shape[0] % contraction.getGroup() != 0)
    return refuse("its groups don't divide its weights");
  if (isa<ConvOp>(op))
    contraction.channels = shape[0];
  else if (isa<ConvTransposeOp>(op))
    contraction.channels = shape[1] * contraction.getGroup();
  else
    contraction.channels = shape[contraction.isTransB() ? 0 : 1];
  if (auto gemm = dyn_cast<GemmOp>(op))
    contraction.alpha = gemm.getAlpha().convertToFloat();
  if (failed(contraction.readBias(rewriter)))
    return failure();
  return contraction;
}

LogicalResult Contraction::readBias(PatternRewriter &rewriter) {
  Value value = op->getOperand(2);
  if (isLeftOut(value))
    return success();
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    // The bias of a Gemm broadcasts to a matrix of the output's shape.
    auto values = readPerChannel(value, 2, channels);
    if (!values)
      return rewriter.notifyMatchFailure(
          op, "its bias isn't a constant for each column");
    for (int64_t i = 0; i < channels; ++i)
      bias.push_back((*values)[values->size() == 1 ? 0 : i] *
                     gemm.getBeta().convertToFloat());
    return success();
  }
  std::optional<Weights> values = readWeights(value);
  if (!values || static_cast<int64_t>(values->values.size()) != channels)
    return rewriter.notifyMatchFailure(op, "its bias isn't constant");
  bias = std::move(values->values);
  return success();
}

int64_t Contraction::getInputChannels() const {
  ArrayRef<int64_t> shape = weights.type.getShape();
  if (isa<ConvOp>(op))
    return shape[1] * getGroup();
  if (isa<ConvTransposeOp>(op))
    return shape[0];
  return shape[isTransB() ? 1 : 0];
}

std::pair<int64_t, int64_t> Contraction::channelsOf(int64_t index) const {
  ArrayRef<int64_t> shape = weights.type.getShape();
  int64_t kernel = 1;
  for (int64_t size : shape.drop_front(2))
    kernel *= size;
  int64_t second = index / kernel % shape[1];
  int64_t first = index / kernel / shape[1];
  if (isa<GemmOp>(op))
    return isTransB() ? std::pair(first, second) : std::pair(second, first);
  // Output and input channels of one group belong together.
  if (isa<ConvOp>(op))
    return {first, first / (shape[0] / getGroup()) * shape[1] + second};
  return {first / (shape[0] / getGroup()) * shape[1] + second, first};
}

void Contraction::scaleOutput(const ChannelAffine &affine) {
  for (size_t i = 0; i < weights.values.size(); ++i)
    weights[i] *= affine.scaleOf(channelsOf(i).first);
  if (bias.empty() && affine.hasShift())
    bias.assign(channels, 0.0);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = bias[i] * affine.scaleOf(i) + affine.shiftOf(i);
}

bool Contraction::isPadded() const {
  if (isa<GemmOp>(op))
    return false;
  // Where an output element sees a different number of inputs at the border.
  if (isa<ConvTransposeOp>(op))
    return true;
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  if (mode && mode != "NOTSET")
    return mode != "VALID";
  auto pads = op->getAttrOfType<ArrayAttr>("pads");
  return llvm::any_of(shape::getInts(pads), [](int64_t pad) { return pad; });
}

LogicalResult Contraction::scaleInput(const ChannelAffine &affine) {
  if (affine.hasShift() && isPadded())
    return failure();
  if (bias.empty() && affine.hasShift())
    bias.assign(channels, 0.0);
  for (size_t i = 0; i < weights.values.size(); ++i) {
    auto [output, input] = channelsOf(i);
    if (!bias.empty())
      bias[output] += alpha * weights[i] * affine.shiftOf(input);
    weights[i] *= affine.scaleOf(input);
  }
  return success();
}

FailureOr<Operation *> Contraction::rebuild(PatternRewriter &rewriter,
                                            Operation *last, Value input,
                                            Value newBias) {
  std::string weightName = nameForNew(op->getOperand(1), op, "weight");
  Value oldBias = isLeftOut(op->getOperand(2)) ? Value() : op->getOperand(2);
  std::string biasName = nameForNew(oldBias ? oldBias : newBias, op, "bias");
  ElementsAttr newWeights = makeElements(weights, weightName), newValues;
  if (!bias.empty()) {
    Weights values{
        RankedTensorType::get(channels, weights.type.getElementType()), bias};
    newValues = makeElements(values, biasName);
  }
  if (!newWeights || (!bias.empty() && !newValues))
    return rewriter.notifyMatchFailure(op, "a weight would become infinite");
  rewriter.setInsertionPoint(last);
  Operation *fused = rewriter.clone(*op);
  rewriter.setInsertionPoint(fused);
  Location loc = op->getLoc();
  fused->setOperand(0, input);
  fused->setOperand(1, makeConstant(rewriter, loc, newWeights, weightName));
  fused->setOperand(2, newValues
                           ? makeConstant(rewriter, loc, newValues, biasName)
                           : makeNoValue(rewriter, loc));
  if (isa<GemmOp>(fused))
    fused->setAttr("beta", rewriter.getF32FloatAttr(1.0f));
  fused->getResult(0).setType(last->getResult(0).getType());
  inheritResults(fused, last);
  return fused;
}

LogicalResult onnxquant::preprocess::fuseIntoProducer(
    PatternRewriter &rewriter, Operation *op,
    function_ref<std::optional<ChannelAffine>(std::vector<double>, bool)>
        makeAffine) {
  std::optional<ConstantAndOther> operands = splitOperands(op);
  if (!operands)
    return rewriter.notifyMatchFailure(op, "not one operand is constant");
  Operation *producer = operands->other.getDefiningOp();
  if (!producer || !operands->other.hasOneUse())
    return rewriter.notifyMatchFailure(op, "others read the other operand");
  FailureOr<Contraction> contraction = Contraction::match(rewriter, producer);
  if (failed(contraction))
    return failure();
  auto values = readPerChannel(operands->constant, contraction->getRank(),
                               contraction->getChannels());
  if (!values)
    return rewriter.notifyMatchFailure(op, "the constant is not per channel");
  std::optional<ChannelAffine> affine =
      makeAffine(std::move(*values), operands->second);
  if (!affine)
    return rewriter.notifyMatchFailure(op, "the constant is a dividend");
  contraction->scaleOutput(*affine);
  FailureOr<Operation *> fused =
      contraction->rebuild(rewriter, op, producer->getOperand(0),
                           affine->hasShift() ? operands->constant : Value());
  if (failed(fused))
    return failure();
  rewriter.replaceOp(op, (*fused)->getResults());
  rewriter.eraseOp(producer);
  return success();
}
