// Attention that exporters write as products, a softmax and what is between:
//
//   MatMul(Q, Transpose(K)) -> Mul, Div -> Add, Where -> Softmax -> MatMul(V)
//
// becomes `onnxq.attention`. Transposes that move heads, before Q, K and V and
// behind the result, go into the kernel's layouts; factors of Q and K into its
// scale. Masks become one addend of the scores.

#include "Attention.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "onnx-to-kernels"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::AttentionOp;

/// Where a mask says no, at least this is taken from a score: next to it no
/// score changes the sum.
static constexpr double hidden = -1e30;
/// Wider heads aren't worth keeping blocks of on the stack.
static constexpr int64_t widestHead = 256;

namespace {
/// One of Q, K and V before its heads were moved.
struct HeadsValue {
  Value value;
  bool tokensFirst = false;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
  int64_t headAxis() const { return tokensFirst ? 2 : 1; }
  int64_t tokenAxis() const { return tokensFirst ? 1 : 2; }
};

struct Match {
  onnx::SoftmaxOp softmax;
  HeadsValue q, k, v;
  /// The product with V, and what its result becomes: itself or a transpose.
  onnx::MatMulOp product;
  Operation *last;
  bool outputTokensFirst = false;
  /// K is to be transposed first.
  bool turnsKeys = false;
  double scale = 1;
  /// Addends of the scores, and masks with what hidden scores are.
  struct Addend {
    Value value;
    /// A mask: scores stay where it is `shown`.
    bool isMask = false, shown = true;
    double fill = 0;
  };
  SmallVector<Addend> addends;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading the graph
//===----------------------------------------------------------------------===//

/// A constant of one element.
static std::optional<double> readScalar(Value value) {
  ElementsAttr elements = onnx::getConstant(value);
  if (!elements || elements.getNumElements() != 1 ||
      !elements.getElementType().isF32())
    return std::nullopt;
  auto numbers = onnx::readFloats(elements, 1);
  return numbers ? std::optional<double>(numbers->front()) : std::nullopt;
}

/// What a factor multiplies: {value, factor}.
static std::optional<std::pair<Value, double>> readScaling(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_if_present<onnx::MulOp>(op)) {
    if (auto factor = readScalar(mul.getB()))
      return std::pair(Value(mul.getA()), *factor);
    if (auto factor = readScalar(mul.getA()))
      return std::pair(Value(mul.getB()), *factor);
  }
  if (auto div = dyn_cast_if_present<onnx::DivOp>(op))
    if (auto factor = readScalar(div.getB()); factor && *factor != 0)
      return std::pair(Value(div.getA()), 1 / *factor);
  return std::nullopt;
}

static bool isTransposed(Value value, ArrayRef<int64_t> perm, Value &from) {
  auto op = value.getDefiningOp<onnx::TransposeOp>();
  if (!op || !op.getPerm())
    return false;
  SmallVector<int64_t> given;
  ArrayAttr axes = *op.getPerm();
  for (Attribute axis : axes)
    given.push_back(cast<IntegerAttr>(axis).getInt());
  if (ArrayRef<int64_t>(given) != perm)
    return false;
  from = op.getOperand();
  return true;
}

static bool isHeads(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 4 && type.getElementType().isF32();
}

/// Whether heads and width of a value are known.
static bool isKnown(const HeadsValue &heads) {
  RankedTensorType type = heads.getType();
  return !type.isDynamicDim(heads.headAxis()) && !type.isDynamicDim(3);
}

/// Sees through factors, and the transpose that moves heads.
static HeadsValue readHeads(Value value, double &scale) {
  HeadsValue heads = {value};
  Value from;
  double factor = 1;
  for (int steps = 0; steps < 4; ++steps) {
    auto scaling = readScaling(value);
    // The scaled tensor has the size of the result.
    if (scaling && scaling->first.getType() == value.getType()) {
      factor *= scaling->second;
      value = scaling->first;
      heads.value = value;
      continue;
    }
    if (!heads.tokensFirst && isTransposed(value, {0, 2, 1, 3}, from)) {
      HeadsValue before = {from, true};
      if (!isHeads(from) || !isKnown(before))
        break;
      heads = before;
      value = from;
      continue;
    }
    break;
  }
  scale *= factor;
  return heads;
}

/// K of a product with K^T.
static bool readKeys(Value turned, Match &match) {
  double scale = 1;
  while (auto scaling = readScaling(turned)) {
    if (scaling->first.getType() != turned.getType())
      break;
    scale *= scaling->second;
    turned = scaling->first;
  }
  Value from;
  if (isTransposed(turned, {0, 2, 3, 1}, from)) {
    match.k = {from, true};
  } else if (isTransposed(turned, {0, 1, 3, 2}, from)) {
    match.k = readHeads(from, scale);
  } else {
    match.k = {turned};
    match.turnsKeys = true;
  }
  match.scale *= scale;
  return isHeads(match.k.value);
}

/// Whether the scores come from this operand: a product lies behind it.
static bool leadsToProduct(Value value, int steps = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0 || !value.hasOneUse())
    return false;
  if (isa<onnx::MatMulOp>(op))
    return true;
  if (isa<onnx::MulOp, onnx::AddOp>(op))
    return leadsToProduct(op->getOperand(0), steps - 1) ||
           leadsToProduct(op->getOperand(1), steps - 1);
  if (isa<onnx::DivOp>(op))
    return leadsToProduct(op->getOperand(0), steps - 1);
  if (isa<onnx::WhereOp>(op))
    return leadsToProduct(op->getOperand(1), steps - 1) ||
           leadsToProduct(op->getOperand(2), steps - 1);
  return false;
}

/// Follows the scores from the softmax back to their product; null where
/// something else is between.
static onnx::MatMulOp readScores(Value value, Match &match) {
  Type type = value.getType();
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse() || value.getType() != type)
      return {};
    if (auto product = dyn_cast<onnx::MatMulOp>(op))
      return product;
    if (auto scaling = readScaling(value)) {
      // What was added comes after the factor.
      match.scale *= scaling->second;
      value = scaling->first;
      // Nothing may be added before it.
      if (leadsToProduct(value) &&
          isa<onnx::AddOp, onnx::WhereOp>(value.getDefiningOp()))
        return {};
      continue;
    }
    if (auto add = dyn_cast<onnx::AddOp>(op)) {
      bool isFirst = leadsToProduct(add.getA());
      match.addends.push_back({isFirst ? add.getB() : add.getA()});
      value = isFirst ? add.getA() : add.getB();
      continue;
    }
    if (auto where = dyn_cast<onnx::WhereOp>(op)) {
      bool shown = leadsToProduct(where.getX());
      auto fill = readScalar(shown ? where.getY() : where.getX());
      if (!fill || *fill > hidden)
        return {};
      match.addends.push_back({where.getCondition(), true, shown, *fill});
      value = shown ? where.getX() : where.getY();
      continue;
    }
    return {};
  }
}

static bool mayServe(int64_t size, int64_t all) {
  return size == 1 || size == all || ShapedType::isDynamic(size) ||
         ShapedType::isDynamic(all);
}

/// Why a softmax is no attention's; empty if it is.
static StringRef readMatch(onnx::SoftmaxOp softmax, Match &match) {
  match.softmax = softmax;
  auto type = dyn_cast<RankedTensorType>(softmax.getOutput().getType());
  if (!type || type.getRank() != 4 || !type.getElementType().isF32() ||
      (softmax.getAxis() != -1 && softmax.getAxis() != 3) ||
      softmax.getInput().getType() != type)
    return "isn't along the last of four dimensions of floats";
  if (!softmax.getOutput().hasOneUse())
    return "has several readers";
  match.product =
      dyn_cast<onnx::MatMulOp>(*softmax.getOutput().getUsers().begin());
  if (!match.product || match.product.getA() != softmax.getOutput() ||
      !isHeads(match.product.getB()) || !isHeads(match.product.getY()))
    return "isn't followed by a product";
  onnx::MatMulOp scores = readScores(softmax.getInput(), match);
  if (!scores || !isHeads(scores.getA()) || !isHeads(scores.getB()))
    return "isn't made of products, factors and addends";
  for (const Match::Addend &addend : match.addends) {
    auto own = dyn_cast<RankedTensorType>(addend.value.getType());
    if (!own || own.getRank() < 1 || own.getRank() > 4 ||
        (!addend.isMask && !own.getElementType().isF32()))
      return "has an addend of another kind";
    for (auto [size, all] : llvm::zip(llvm::reverse(own.getShape()),
                                      llvm::reverse(type.getShape())))
      if (!mayServe(size, all))
        return "has an addend of other sizes";
  }
  match.q = readHeads(scores.getA(), match.scale);
  double none = 1;
  match.v = readHeads(match.product.getB(), none);
  if (none != 1)
    match.v = {match.product.getB()};
  if (!readKeys(scores.getB(), match))
    return "has keys of another form";
  HeadsValue turned = match.k;
  RankedTensorType k = match.k.getType();
  int64_t keyWidth = k.getDimSize(match.turnsKeys ? 2 : 3);
  if (!isKnown(match.q) || !isKnown(match.v) ||
      k.isDynamicDim(turned.headAxis()) || ShapedType::isDynamic(keyWidth))
    return "has open heads or widths";
  int64_t heads = match.q.getType().getDimSize(match.q.headAxis());
  int64_t width = match.q.getType().getDimSize(3);
  if (k.getDimSize(turned.headAxis()) != heads ||
      match.v.getType().getDimSize(match.v.headAxis()) != heads ||
      keyWidth != width || width < 1 || width > widestHead ||
      match.v.getType().getDimSize(3) > widestHead ||
      match.v.getType().getDimSize(3) < 1)
    return "has heads of other sizes";
  match.last = match.product;
  Value result = match.product.getY(), from;
  if (result.hasOneUse()) {
    Operation *user = *result.getUsers().begin();
    if (isa<onnx::TransposeOp>(user) &&
        isTransposed(user->getResult(0), {0, 2, 1, 3}, from)) {
      match.last = user;
      match.outputTokensFirst = true;
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Building the kernel
//===----------------------------------------------------------------------===//

static Value toIndex(ImplicitLocOpBuilder &b, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

/// Ends the run unless two sizes are equal, or the first is one where that
/// serves all.
static void checkSize(ImplicitLocOpBuilder &b, Operation *node,
                      OpFoldResult size, OpFoldResult all, bool servesAll,
                      const Twine &message) {
  if (isEqualConstantIntOrValue(size, all) ||
      (servesAll && isConstantIntValue(size, 1)))
    return;
  Value own = toIndex(b, size);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own, toIndex(b, all));
  if (servesAll) {
    Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own,
                                        arith::ConstantIndexOp::create(b, 1));
    fits = arith::OrIOp::create(b, fits, isOne);
  }
  check(b, node, fits, message);
}

/// The larger of sizes, of which those that are smaller are one.
static OpFoldResult largest(ImplicitLocOpBuilder &b,
                            ArrayRef<OpFoldResult> sizes) {
  for (OpFoldResult size : sizes)
    if (auto known = getConstantIntValue(size); known && *known != 1)
      return size;
  OpFoldResult most;
  for (OpFoldResult size : sizes) {
    if (isConstantIntValue(size, 1) && most)
      continue;
    if (!most || isConstantIntValue(most, 1))
      most = size;
    else if (most != size)
      most = arith::MaxSIOp::create(b, toIndex(b, most), toIndex(b, size))
                 .getResult();
  }
  return most;
}

/// With ones in front, as many dimensions as scores have.
static Value expandRank(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t missing = 4 - type.getRank();
  if (missing == 0)
    return value;
  SmallVector<int64_t> shape(missing, 1);
  shape.append(type.getShape().begin(), type.getShape().end());
  SmallVector<ReassociationIndices> groups(type.getRank());
  for (int64_t axis = 0; axis < 4; ++axis)
    groups[std::max<int64_t>(axis - missing, 0)].push_back(axis);
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value, groups);
}

static Value makeOp(ImplicitLocOpBuilder &b, Operation *node, StringRef name,
                    ValueRange operands, Type type) {
  OperationState state(b.getLoc(), name, operands, type);
  if (Attribute given = node->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, given);
  return b.create(state)->getResult(0);
}

/// A mask as a number that is added.
static Value makeAddend(ImplicitLocOpBuilder &b, Operation *node,
                        const Match::Addend &addend) {
  if (!addend.isMask)
    return addend.value;
  auto type = cast<RankedTensorType>(addend.value.getType());
  auto scalar = [&](float number) {
    return makeNumbers<float>(b, {}, b.getF32Type(), {number}, "fill");
  };
  Value nothing = scalar(0), fill = scalar(static_cast<float>(addend.fill));
  Value operands[] = {addend.value, addend.shown ? nothing : fill,
                      addend.shown ? fill : nothing};
  return makeOp(b, node, onnx::WhereOp::getOperationName(), operands,
                type.clone(b.getF32Type()));
}

static Value makeBias(ImplicitLocOpBuilder &b, Match &match) {
  Value bias;
  for (const Match::Addend &addend : match.addends) {
    Value next = expandRank(b, makeAddend(b, match.softmax, addend));
    if (!bias) {
      bias = next;
      continue;
    }
    auto x = cast<RankedTensorType>(bias.getType()),
         y = cast<RankedTensorType>(next.getType());
    SmallVector<int64_t> shape;
    for (auto [size, other] : llvm::zip(x.getShape(), y.getShape()))
      shape.push_back(size == 1 || (ShapedType::isDynamic(size) && other != 1)
                          ? other
                          : size);
    bias = makeOp(b, match.softmax, onnx::AddOp::getOperationName(),
                  {bias, next}, RankedTensorType::get(shape, b.getF32Type()));
  }
  return bias;
}

static void build(Match &match, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(match.last);
  ImplicitLocOpBuilder b(match.product.getLoc(), rewriter);
  Operation *node = match.product;
  HeadsValue k = match.k;
  if (match.turnsKeys)
    k.value = makeTranspose(b, node, k.value, {0, 1, 3, 2});
  const HeadsValue *all[] = {&match.q, &k, &match.v};
  SmallVector<OpFoldResult> batches, tokens;
  for (const HeadsValue *heads : all) {
    batches.push_back(getSize(b, heads->value, 0));
    tokens.push_back(getSize(b, heads->value, heads->tokenAxis()));
  }
  OpFoldResult batch = largest(b, batches);
  for (OpFoldResult size : batches)
    checkSize(b, node, size, batch, /*servesAll=*/true,
              "queries, keys and values have different batches");
  checkSize(b, node, tokens[2], tokens[1], /*servesAll=*/false,
            "keys and values have different lengths");
  OpFoldResult heads = getSize(b, match.q.value, match.q.headAxis());
  Value bias = makeBias(b, match);
  if (bias) {
    OpFoldResult full[] = {batch, heads, tokens[0], tokens[1]};
    for (auto [axis, size] : llvm::enumerate(full))
      checkSize(b, node, getSize(b, bias, axis), size, /*servesAll=*/true,
                "what is added to the scores has other sizes");
  }
  OpFoldResult width = getSize(b, match.v.value, 3);
  SmallVector<OpFoldResult> sizes = {batch, heads, tokens[0], width};
  if (match.outputTokensFirst)
    std::swap(sizes[1], sizes[2]);
  Value empty = makeEmpty(b, sizes, b.getF32Type());
  bool layouts[] = {match.q.tokensFirst, k.tokensFirst, match.v.tokensFirst,
                    match.outputTokensFirst};
  auto op = AttentionOp::create(
      b, TypeRange(empty.getType()), match.q.value, k.value, match.v.value,
      bias, empty, b.getF32FloatAttr(static_cast<float>(match.scale)),
      b.getDenseBoolArrayAttr(layouts));
  Value y = castLike(b, node, op.getResult(0), match.last->getResult(0));
  rewriter.replaceAllUsesWith(match.last->getResult(0), y);
}

/// Erases an op that nothing reads, and what only it read.
static void eraseUnused(Operation *op, RewriterBase &rewriter) {
  if (!op || !isOpTriviallyDead(op))
    return;
  SmallVector<Operation *> makers;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp();
        maker && !llvm::is_contained(makers, maker))
      makers.push_back(maker);
  rewriter.eraseOp(op);
  for (Operation *maker : makers)
    eraseUnused(maker, rewriter);
}

int64_t kernels::fuseAttention(Operation *root) {
  SmallVector<onnx::SoftmaxOp> ops;
  root->walk([&](onnx::SoftmaxOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  int64_t fused = 0;
  for (onnx::SoftmaxOp op : ops) {
    Match match;
    StringRef reason = readMatch(op, match);
    if (!reason.empty()) {
      LLVM_DEBUG(llvm::dbgs()
                 << "softmax " << op.getLoc() << " " << reason << "\n");
      continue;
    }
    build(match, rewriter);
    eraseUnused(match.last, rewriter);
    ++fused;
  }
  return fused;
}
