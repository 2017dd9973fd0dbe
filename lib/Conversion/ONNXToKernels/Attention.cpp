// Attention that exporters write as products, a softmax and what is between:
//
//   MatMul(Q, Transpose(K)) -> Mul, Div -> Add, Where -> Softmax -> MatMul(V)
//
// (`AttentionMatch.cpp`) becomes `onnxq.attention`. Transposes that move heads,
// before Q, K and V and behind the result, go into the kernel's layouts;
// factors of Q and K into its scale. Masks become one addend of the scores.

#include "Attention.h"
#include "AttentionMatch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "onnx-to-kernels"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::AttentionOp;

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

/// Rank 4 of a value whose first dimension has batches and heads.
static Value splitHeads(ImplicitLocOpBuilder &b, const HeadsValue &heads) {
  RankedTensorType type = heads.getType();
  if (type == heads.value.getType())
    return heads.value;
  OpFoldResult first = getSize(b, heads.value, 0);
  OpFoldResult inner = b.getIndexAttr(heads.split), outer = first;
  if (heads.tokensFirst) {
    outer = b.getIndexAttr(1);
    inner = first;
  } else if (!type.isDynamicDim(0)) {
    outer = b.getIndexAttr(type.getDimSize(0));
  } else if (heads.split != 1) {
    outer = arith::DivUIOp::create(b, toIndex(b, first), toIndex(b, inner))
                .getResult();
  }
  OpFoldResult sizes[] = {outer, inner, getSize(b, heads.value, 1),
                          getSize(b, heads.value, 2)};
  ReassociationIndices groups[] = {{0, 1}, {2}, {3}};
  return tensor::ExpandShapeOp::create(b, type, heads.value, groups, sizes);
}

/// Matrices with rows and columns exchanged, at once with a transpose before.
static Value turn(ImplicitLocOpBuilder &b, Operation *node, Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  auto before = value.getDefiningOp<onnx::TransposeOp>();
  if (before && before.getPerm()) {
    value = before.getOperand();
    ArrayAttr perm = *before.getPerm();
    for (auto [place, axis] : llvm::zip_equal(order, perm))
      place = cast<IntegerAttr>(axis).getInt();
  }
  std::swap(order[rank - 2], order[rank - 1]);
  return llvm::is_sorted(order) ? value : makeTranspose(b, node, value, order);
}

/// Back to batches and heads in one dimension.
static Value joinHeads(ImplicitLocOpBuilder &b, Value value) {
  ReassociationIndices groups[] = {{0, 1}, {2}, {3}};
  return tensor::CollapseShapeOp::create(b, value, groups);
}

/// With ones in front, as many dimensions as scores have.
static Value expandRank(ImplicitLocOpBuilder &b, Value value, int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t missing = rank - type.getRank();
  if (missing == 0)
    return value;
  SmallVector<int64_t> shape(missing, 1);
  shape.append(type.getShape().begin(), type.getShape().end());
  SmallVector<ReassociationIndices> groups(type.getRank());
  for (int64_t axis = 0; axis < rank; ++axis)
    groups[std::max<int64_t>(axis - missing, 0)].push_back(axis);
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value, groups);
}

/// A mask as a number that is added.
static Value makeAddend(ImplicitLocOpBuilder &b, Operation *node,
                        const AttentionMatch::Addend &addend) {
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

static Value makeBias(ImplicitLocOpBuilder &b, AttentionMatch &match) {
  Value bias;
  for (const AttentionMatch::Addend &addend : match.addends) {
    Value next = makeAddend(b, match.softmax, addend);
    next = expandRank(b, next, addend.scores.getRank());
    if (addend.scores.getRank() == 3) {
      bool isForAll = cast<RankedTensorType>(next.getType()).getDimSize(0) == 1;
      next = splitHeads(b, {next, false, isForAll ? 1 : match.heads});
    } else if (addend.scores.getRank() == 5) {
      ReassociationIndices groups[] = {{0, 1}, {2}, {3}, {4}};
      next = tensor::CollapseShapeOp::create(b, next, groups);
    }
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

static void build(AttentionMatch &match, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(match.last);
  ImplicitLocOpBuilder b(match.product.getLoc(), rewriter);
  Operation *node = match.product;
  HeadsValue &q = match.q, &k = match.k, &v = match.v;
  if (match.turnsKeys)
    k.value = turn(b, node, k.value);
  if (match.turnsValues)
    v.value = turn(b, node, v.value);
  for (HeadsValue *heads : {&q, &k, &v})
    heads->value = splitHeads(b, *heads);
  SmallVector<OpFoldResult> batches, tokens;
  for (const HeadsValue *heads : {&q, &k, &v}) {
    batches.push_back(getSize(b, heads->value, 0));
    tokens.push_back(getSize(b, heads->value, heads->tokenAxis()));
  }
  OpFoldResult batch = largest(b, batches);
  for (OpFoldResult size : batches)
    checkSize(b, node, size, batch, /*servesAll=*/true,
              "queries, keys and values have different batches");
  checkSize(b, node, tokens[2], tokens[1], /*servesAll=*/false,
            "keys and values have different lengths");
  OpFoldResult heads = getSize(b, q.value, q.headAxis());
  Value bias = makeBias(b, match);
  if (bias) {
    OpFoldResult full[] = {batch, heads, tokens[0], tokens[1]};
    for (auto [axis, size] : llvm::enumerate(full))
      checkSize(b, node, getSize(b, bias, axis), size, /*servesAll=*/true,
                "what is added to the scores has other sizes");
  }
  OpFoldResult width = getSize(b, v.value, 3);
  SmallVector<OpFoldResult> sizes = {batch, heads, tokens[0], width};
  if (match.outputTokensFirst)
    std::swap(sizes[1], sizes[2]);
  Value empty = makeEmpty(b, sizes, b.getF32Type());
  bool layouts[] = {q.tokensFirst, k.tokensFirst, v.tokensFirst,
                    match.outputTokensFirst};
  auto op = AttentionOp::create(
      b, TypeRange(empty.getType()), q.value, k.value, v.value, bias, empty,
      b.getF32FloatAttr(static_cast<float>(match.scale)),
      b.getDenseBoolArrayAttr(layouts));
  Value y = op.getResult(0), old = match.last->getResult(0);
  if (match.turnsValues)
    y = turn(b, node, y);
  if (cast<RankedTensorType>(old.getType()).getRank() == 3)
    y = joinHeads(b, y);
  rewriter.replaceAllUsesWith(old, castLike(b, node, y, old));
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
    // New for each, since what is erased leaves its places to others.
    onnx::ShapeContext shapes;
    AttentionMatch match;
    StringRef reason = readAttention(op, shapes, match);
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
