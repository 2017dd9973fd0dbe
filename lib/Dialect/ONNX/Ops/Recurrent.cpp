// Recurrent networks: the definitions that TableGen generates, verifiers and
// shapes.
//
// The three ops share their sizes, so the verifier reads all operands as
// equations over these sizes and shape inference picks the best known ones.

#include "NNVerify.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::nn;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Recurrent.cpp.inc"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static bool isKnownActivation(StringRef name) {
  static constexpr llvm::StringLiteral names[] = {
      "Affine",   "Elu",        "HardSigmoid",    "LeakyRelu",
      "Relu",     "ScaledTanh", "Sigmoid",        "Softplus",
      "Softsign", "Tanh",       "ThresholdedRelu"};
  return llvm::any_of(
      names, [&](StringRef known) { return known.equals_insensitive(name); });
}

static int64_t getDirections(StringRef direction) {
  return direction == "bidirectional" ? 2 : 1;
}

template <typename OpTy> static LogicalResult verifyAttributes(OpTy op) {
  StringRef direction = op.getDirection();
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return op.emitOpError("expects direction to be forward, reverse or "
                          "bidirectional, but got '")
           << direction << "' (C1)";
  if (op.getLayout() != 0 && op.getLayout() != 1)
    return op.emitOpError("expects layout to be 0 or 1, but got ")
           << op.getLayout() << " (C2)";
  if (std::optional<int64_t> size = op.getHiddenSize(); size && *size < 1)
    return op.emitOpError("expects a positive hidden_size, but got ")
           << *size << " (C3)";
  std::optional<ArrayAttr> activations = op.getActivations();
  if (!activations || activations->empty())
    return success();
  int64_t count = activations->size();
  int64_t expected = OpTy::numFunctions * getDirections(direction);
  if (count != expected && count != 2 * OpTy::numFunctions)
    return op.emitOpError("expects ")
           << expected << " activations, but got " << count << " (C4)";
  for (auto name : activations->template getAsRange<StringAttr>())
    if (!isKnownActivation(name.getValue()))
      return op.emitOpError("expects a known activation, but got '")
             << name.getValue() << "' (C4)";
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// A size that several operands tell, as far as it is known.
struct Size {
  StringRef name;
  int64_t value = dynamic;
};

/// What one dimension of an operand is: a multiple of a size.
struct Multiple {
  Size *size;
  int64_t factor = 1;
};
} // namespace

/// Checks an operand against its sizes, which become known on the way.
static LogicalResult verifySizes(Operation *op, Value value, StringRef name,
                                 ArrayRef<Multiple> expected) {
  if (failed(verifyRank(op, value, name, expected.size(), 5)))
    return failure();
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape)
    return success();
  for (auto [i, dim] : llvm::enumerate(*shape)) {
    Size &size = *expected[i].size;
    int64_t factor = expected[i].factor, product;
    if (dim == dynamic)
      continue;
    if (size.value == dynamic && dim % factor == 0) {
      size.value = dim / factor;
      continue;
    }
    if (size.value != dynamic &&
        !llvm::MulOverflow(size.value, factor, product) && product == dim)
      continue;
    InFlightDiagnostic error = op->emitOpError("expects dimension ")
                               << i << " of " << name << " to be ";
    if (factor != 1)
      error << factor << " times ";
    error << size.name;
    if (size.value != dynamic)
      error << " (" << size.value << ")";
    return error << ", but got " << dim << " (C6)";
  }
  return success();
}

template <typename OpTy> static LogicalResult verifyRecurrent(OpTy op) {
  if (failed(verifyAttributes(op)))
    return failure();
  Size steps{"the number of steps"}, batch{"the number of sequences"},
      inputs{"the number of inputs"};
  Size hidden{"hidden_size", op.getHiddenSize().value_or(dynamic)};
  Size directions{"the number of directions", getDirections(op.getDirection())};
  SmallVector<Multiple> input = {{&steps}, {&batch}, {&inputs}};
  SmallVector<Multiple> state = {{&directions}, {&batch}, {&hidden}};
  if (op.getLayout() == 1) {
    std::swap(input[0], input[1]);
    std::swap(state[0], state[1]);
  }
  constexpr int64_t gates = OpTy::numGates;
  // R comes first, as it tells the hidden size without a factor.
  if (failed(verifySizes(op, op.getR(), "R",
                         {{&directions}, {&hidden, gates}, {&hidden}})) ||
      failed(verifySizes(op, op.getX(), "X", input)) ||
      failed(verifySizes(op, op.getW(), "W",
                         {{&directions}, {&hidden, gates}, {&inputs}})) ||
      failed(verifySizes(op, op.getB(), "B",
                         {{&directions}, {&hidden, 2 * gates}})) ||
      failed(
          verifySizes(op, op.getSequenceLens(), "sequence_lens", {{&batch}})) ||
      failed(verifySizes(op, op.getInitialH(), "initial_h", state)))
    return failure();
  if constexpr (std::is_same_v<OpTy, LSTMOp>) {
    if (failed(verifySizes(op, op.getInitialC(), "initial_c", state)) ||
        failed(verifySizes(op, op.getP(), "P", {{&directions}, {&hidden, 3}})))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The best known of several expressions for one size: a number, else one with
/// names, else any.
static Dim pickBest(ShapeContext &ctx, ArrayRef<Dim> candidates) {
  for (const Dim &dim : candidates)
    if (dim.isConstant())
      return dim;
  for (const Dim &dim : candidates)
    if (!dim.isAnonymous())
      return dim;
  return candidates.empty() ? ctx.unknown() : candidates.front();
}

template <typename OpTy>
static LogicalResult inferRecurrent(ShapeContext &ctx, OpTy op) {
  if (failed(verifyRecurrent(op)))
    return failure();
  bool batchFirst = op.getLayout() == 1;
  SmallVector<Dim> steps, batch, hidden;
  auto add = [&](SmallVector<Dim> &candidates, Value value, size_t i,
                 int64_t factor = 1) {
    if (std::optional<Dims> dims = ctx.getDims(value); dims && i < dims->size())
      candidates.push_back((*dims)[i].floorDiv(Dim(factor)));
  };
  add(steps, op.getX(), batchFirst ? 1 : 0);
  add(batch, op.getX(), batchFirst ? 0 : 1);
  add(batch, op.getSequenceLens(), 0);
  add(batch, op.getInitialH(), batchFirst ? 0 : 1);
  if (std::optional<int64_t> size = op.getHiddenSize())
    hidden.push_back(Dim(*size));
  add(hidden, op.getR(), 2);
  add(hidden, op.getInitialH(), 2);
  add(hidden, op.getW(), 1, OpTy::numGates);

  Dim t = pickBest(ctx, steps), n = pickBest(ctx, batch),
      h = pickBest(ctx, hidden), d = getDirections(op.getDirection());
  std::optional<Dims> all = batchFirst ? Dims{n, t, d, h} : Dims{t, d, n, h};
  std::optional<Dims> state = batchFirst ? Dims{n, d, h} : Dims{d, n, h};
  Type type = getElementType(op.getX());
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (failed(ctx.set(result, type, i == 0 ? all : state)))
      return failure();
  return success();
}

LogicalResult RNNOp::verify() { return verifyRecurrent(*this); }
LogicalResult RNNOp::inferShapes(ShapeContext &ctx) {
  return inferRecurrent(ctx, *this);
}

LogicalResult GRUOp::verify() { return verifyRecurrent(*this); }
LogicalResult GRUOp::inferShapes(ShapeContext &ctx) {
  return inferRecurrent(ctx, *this);
}

LogicalResult LSTMOp::verify() { return verifyRecurrent(*this); }
LogicalResult LSTMOp::inferShapes(ShapeContext &ctx) {
  return inferRecurrent(ctx, *this);
}
