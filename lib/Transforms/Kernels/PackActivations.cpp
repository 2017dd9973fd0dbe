// int8 contractions whose B is only known at run time (products of two
// activations): the target's micro-kernel, an op that packs B for it, and A
// staged.
//
// Nothing is proved of such a B, so x86 without a dot product multiplies in 16
// bits. Where a micro-kernel wants another sign than an operand has, 128 times
// the sums of the other operand's lines corrects for it.

#include "MicroKernelChoice.h"
#include "PackIntegers.h"
#include "StagedInput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "onnxq-pack-weights"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

namespace {
class ActivationPacker {
public:
  ActivationPacker(ContractOp op, const TargetInfo &target)
      : op(op), target(target), b(op.getLoc(), op) {}
  /// Whether the input is staged.
  bool pack();

private:
  void choose();
  Value sumLines(Value matrices, int64_t axis, bool isUnsigned);
  void addToSums(Value lines, ArrayRef<int64_t> dims, int64_t factor);
  bool stageInput(bool isFlipped);
  void packWeights(bool isFlipped);

  ContractOp op;
  const TargetInfo &target;
  ImplicitLocOpBuilder b;
  KernelChoice plan{};
  /// What the kernel wants of its operands.
  bool takesUnsigned = false, isWidened = false;
};
} // namespace

/// The signs and widths that the kernel wants.
void ActivationPacker::choose() {
  KernelRequest request = getKernelRequest(op);
  plan = chooseForActivations(request, target);
  LLVM_DEBUG(llvm::dbgs() << op.getLoc() << ": m = " << request.shape.m
                          << ", n = " << request.shape.n
                          << ", k = " << request.shape.k << ": "
                          << stringifyEnum(plan.kind) << ", tile " << plan.mr
                          << "x" << plan.nr << ": " << plan.reason << "\n");
  isWidened = plan.kind == PackingKind::Madd || plan.kind == PackingKind::Outer;
  takesUnsigned = plan.kind == PackingKind::Vnni ||
                  plan.kind == PackingKind::Usdot ||
                  (plan.kind == PackingKind::Amx && op.getInputUnsigned());
}

/// The sums of 8-bit integers along an axis, which goes away.
Value ActivationPacker::sumLines(Value matrices, int64_t axis,
                                 bool isUnsigned) {
  auto type = cast<RankedTensorType>(matrices.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), matrices);
  sizes.erase(sizes.begin() + axis);
  Type i32 = b.getI32Type();
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(b, sizes, i32);
  Value zeros = linalg::FillOp::create(b, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> kept;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis)
      kept.push_back(b.getAffineDimExpr(i));
  AffineMap maps[] = {b.getMultiDimIdentityMap(type.getRank()),
                      AffineMap::get(type.getRank(), 0, kept, b.getContext())};
  return linalg::GenericOp::create(
             b, TypeRange(zeros.getType()), ValueRange(matrices),
             ValueRange(zeros), maps, iterators,
             [&](OpBuilder &inner, Location loc, ValueRange in) {
               Value x = isUnsigned
                             ? arith::ExtUIOp::create(inner, loc, i32, in[0])
                                   .getResult()
                             : arith::ExtSIOp::create(inner, loc, i32, in[0])
                                   .getResult();
               Value sum = arith::AddIOp::create(inner, loc, in[1], x);
               linalg::YieldOp::create(inner, loc, sum);
             })
      .getResult(0);
}

/// Adds `factor` times an element of `lines`, read by some of the output's
/// dimensions, to the sums; a constant if there are no lines.
void ActivationPacker::addToSums(Value lines, ArrayRef<int64_t> dims,
                                 int64_t factor) {
  Block &block = op.getEpilogue().front();
  Value acc = block.getArgument(0), addend;
  OpBuilder::InsertionGuard guard(b);
  if (lines) {
    int64_t rank = op.getInit().getType().getRank();
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : dims)
      exprs.push_back(b.getAffineDimExpr(dim));
    SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
    maps.push_back(
        AffineMapAttr::get(AffineMap::get(rank, 0, exprs, b.getContext())));
    op.getEpilogueOperandsMutable().append(lines);
    op.setEpilogueMapsAttr(b.getArrayAttr(maps));
    addend = block.addArgument(b.getI32Type(), op.getLoc());
  }
  b.setInsertionPointToStart(&block);
  Value constant = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(factor)));
  addend =
      addend ? Value(arith::MulIOp::create(b, addend, constant)) : constant;
  auto sum = arith::AddIOp::create(b, acc, addend);
  acc.replaceAllUsesExcept(sum, sum);
}

bool ActivationPacker::stageInput(bool isFlipped) {
  int64_t channels = llvm::alignTo(op.getK(), plan.step);
  if (!isWidened && !isFlipped && channels == op.getK())
    return false;
  kernels::stageInput(op, channels,
                      {op.getInputUnsigned(), isWidened, isFlipped});
  return true;
}

void ActivationPacker::packWeights(bool isFlipped) {
  Value weights = op.getWeights();
  if (!op.getBatched()) {
    SmallVector<ReassociationIndices> parts = {{0, 1}, {2}};
    weights = tensor::CollapseShapeOp::create(b, weights, parts);
  }
  auto type = cast<RankedTensorType>(weights.getType());
  bool isAmx = plan.kind == PackingKind::Amx;
  auto packing = PackingAttr::get(
      op.getContext(), /*groups=*/1, llvm::alignTo(op.getK(), plan.step),
      op.getN(), plan.mr, plan.nr, plan.step, plan.kind, /*int4=*/false,
      isAmx ? op.getK() : 0);
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.push_back(packing.getSize());
  Type stored = isWidened ? Type(b.getI16Type()) : type.getElementType();
  Value empty = tensor::EmptyOp::create(b, shape, stored);
  auto packed =
      PackOp::create(b, TypeRange(empty.getType()), weights, empty, packing);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&packed.getConversion(), {},
                                 type.getElementType(), op.getLoc());
    YieldOp::create(
        b, convertElement(b, block->getArgument(0),
                          {op.getWeightsUnsigned(), isWidened, isFlipped}));
  }
  op.getWeightsMutable().set(packed.getResult(0));
  op.setPackingAttr(packing);
}

bool ActivationPacker::pack() {
  choose();
  bool leftFlips = !isWidened && op.getInputUnsigned() != takesUnsigned;
  bool rightFlips =
      !isWidened && op.getWeightsUnsigned() && plan.kind != PackingKind::Amx;
  Value left = op.getInput(), right = op.getWeights();
  int64_t rank = op.getInit().getType().getRank();
  // With a = a' + p and b = b' + q: sum ab = sum a'b' + p sum b + q sum a - K p
  // q.
  int64_t p = !leftFlips ? 0 : op.getInputUnsigned() ? 128 : -128;
  int64_t q = rightFlips ? 128 : 0;
  SmallVector<int64_t> leading;
  for (int64_t i = 0; i + 1 < rank; ++i)
    leading.push_back(i);
  if (leftFlips) {
    // Weights without batches are [1, K, J].
    int64_t axis = cast<RankedTensorType>(right.getType()).getRank() - 2;
    Value columns = sumLines(right, axis, op.getWeightsUnsigned());
    SmallVector<int64_t> dims;
    if (op.getBatched()) {
      dims.assign(leading.begin(), leading.end() - 1);
    } else {
      SmallVector<ReassociationIndices> parts = {{0, 1}};
      columns = tensor::CollapseShapeOp::create(b, columns, parts);
    }
    dims.push_back(rank - 1);
    addToSums(columns, dims, p);
  }
  if (rightFlips)
    addToSums(sumLines(left, rank - 1, op.getInputUnsigned()), leading, q);
  if (leftFlips && rightFlips)
    addToSums({}, {}, -op.getK() * p * q);
  bool isStaged = stageInput(leftFlips);
  packWeights(rightFlips);
  if (leftFlips)
    op.setInputUnsigned(takesUnsigned);
  if (rightFlips)
    op.setWeightsUnsigned(false);
  return isStaged;
}

bool kernels::packActivations(ContractOp op, const TargetInfo &target) {
  return ActivationPacker(op, target).pack();
}
