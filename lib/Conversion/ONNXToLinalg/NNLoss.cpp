// Losses of classifications.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "NNSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {
/// The negative log likelihood of targets, as both ops compute it.
struct Likelihood {
  Emitter &e;
  /// Logarithms of probabilities [N, C, d..] in the type of the sums.
  Tensor input;
  Tensor target, weight;
  std::optional<int64_t> ignoredTarget;

  /// The target as a number, and whether it counts.
  std::pair<Scalar, Value> readTarget(ArrayRef<Value> indices);
  void checkOperands();
  /// The weight of every target; zero for an ignored one.
  Tensor getWeights();
  Tensor getLosses(Tensor weights);
  Tensor reduceTo(StringRef reduction);
};
} // namespace

std::pair<Scalar, Value> Likelihood::readTarget(ArrayRef<Value> indices) {
  Scalar number = e.cast(e.read(target, indices), e.getI64Type());
  Value counts = arith::ConstantIntOp::create(e, 1, 1);
  if (ignoredTarget)
    counts = e.compare(Emitter::NE, number,
                       e.integer(*ignoredTarget, e.getI64Type()));
  return {number, counts};
}

void Likelihood::checkOperands() {
  Sizes sizes = e.sizes(input), classes = e.sizes(target);
  OpFoldResult count = sizes[1];
  sizes.erase(sizes.begin() + 1);
  for (auto [size, own] : llvm::zip(sizes, classes))
    checkEqual(e, size, own, "the targets don't have the input's sizes");
  if (weight)
    checkEqual(e, e.size(weight, 0), count,
               "there is not one weight per class");
  Value limit = e.asValue(count);
  Type type = e.getI64Type();
  checkAll(e, target, "a target is not a class", [&](Scalar element) {
    Scalar number = e.cast(element, type);
    Value fits =
        e.cmpIndex(arith::CmpIPredicate::ult, e.toIndex(number.value), limit);
    if (!ignoredTarget)
      return fits;
    return e.createOrFold<arith::OrIOp>(
        fits, e.compare(Emitter::EQ, number, e.integer(*ignoredTarget, type)));
  });
}

Tensor Likelihood::getWeights() {
  Type type = input.elementType;
  return e.generate(e.sizes(target), type, [&](ArrayRef<Value> indices) {
    auto [number, counts] = readTarget(indices);
    Scalar factor = e.number(1, type), zero = e.number(0, type);
    if (weight) {
      // An ignored target may be no class: the first one stands in for it.
      Value place = e.createOrFold<arith::SelectOp>(
          counts, e.toIndex(number.value), e.index(0));
      factor = e.cast(e.read(weight, {place}), type);
    }
    return e.select(counts, factor, zero);
  });
}

Tensor Likelihood::getLosses(Tensor weights) {
  Type type = input.elementType;
  return e.generate(e.sizes(target), type, [&](ArrayRef<Value> indices) {
    auto [number, counts] = readTarget(indices);
    Indices from(indices);
    from.insert(from.begin() + 1,
                e.createOrFold<arith::SelectOp>(counts, e.toIndex(number.value),
                                                e.index(0)));
    Scalar loss = e.neg(e.mul(e.read(weights, indices), e.read(input, from)));
    return e.select(counts, loss, e.number(0, type));
  });
}

Tensor Likelihood::reduceTo(StringRef reduction) {
  checkOperands();
  Tensor weights = getWeights();
  Tensor losses = getLosses(weights);
  if (reduction == "none")
    return losses;
  Type type = input.elementType;
  auto sum = [&](Tensor tensor) {
    return e.reduce(tensor, axesFrom(0, tensor.rank()), /*keepDims=*/false,
                    e.number(0, type),
                    [&](Scalar v, Scalar s) { return e.add(s, v); });
  };
  Tensor total = sum(losses);
  if (reduction == "sum")
    return total;
  return e.map({total, sum(weights)}, Sizes(), type,
               [&](ArrayRef<Scalar> v) { return e.div(v[0], v[1]); });
}

namespace {
struct LowerNegativeLogLikelihoodLoss
    : OpLowering<onnx::NegativeLogLikelihoodLossOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::NegativeLogLikelihoodLossOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor input = castTo(e, operands[0], accumulatorTypeFor(type));
    Likelihood loss{e, input, operands[1], operands[2], op.getIgnoreIndex()};
    Tensor y = loss.reduceTo(op.getReduction());
    return SmallVector<Value>{castTo(e, y, type).value};
  }
};

struct LowerSoftmaxCrossEntropyLoss
    : OpLowering<onnx::SoftmaxCrossEntropyLossOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SoftmaxCrossEntropyLossOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor scores = castTo(e, operands[0], accumulatorTypeFor(type));
    Tensor logs = logSoftmax(e, scores, 1);
    Likelihood loss{e, logs, operands[1], operands[2], op.getIgnoreIndex()};
    Tensor y = loss.reduceTo(op.getReduction());
    SmallVector<Value> results = {castTo(e, y, type).value};
    bool hasLogs = !isa<NoneType>(op.getLogProb().getType());
    results.push_back(hasLogs ? castTo(e, logs, type).value : Value());
    return results;
  }
};
} // namespace

void onnxquant::lowering::addLossLowerings(RewritePatternSet &patterns,
                                           const StorageTypeConverter &types) {
  patterns.add<LowerNegativeLogLikelihoodLoss, LowerSoftmaxCrossEntropyLoss>(
      types, patterns.getContext());
}
