// Computes and observes chains of elementwise ops slice by slice, so that a
// slice is observed while it is in the cache. Enters: bufferized linalg ops and
// observers. Leaves: loops over the first two dimensions around slices of them.
//
// An op joins the loop of its neighbours if every buffer that one of them
// writes is used by all of them under one name and element by element: then
// slices don't depend on each other, and their order within a slice is the
// ops' own.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEOBSERVERS
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Smaller tensors stay in the cache as a whole, and smaller slices aren't
/// worth a call.
static constexpr int64_t minElements = 1 << 16, minSlice = 256;

namespace {

/// How an op uses a buffer.
struct Access {
  Value buffer, root;
  /// Element by element at the loop's own indices.
  bool identity;
  bool writes;
};

/// Ops that will share a loop.
struct Group {
  SmallVector<Operation *> ops;
  SmallVector<Access> accesses;
  ArrayRef<int64_t> shape;
};

struct FuseObservers
    : public onnxquant::impl::FuseObserversBase<FuseObservers> {
  void runOnOperation() override;

private:
  void visit(Block &block);
  bool join(Operation *op, Group &group);
  void fuse(Group &group);
};

} // namespace

/// The buffer that a view is of.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

static bool isLarge(MemRefType type) {
  if (!type.hasStaticShape() || type.getRank() < 3 ||
      !type.getLayout().isIdentity())
    return false;
  int64_t slice = type.getNumElements() /
                  std::max<int64_t>(type.getDimSize(0) * type.getDimSize(1), 1);
  return type.getNumElements() >= minElements && slice >= minSlice;
}

/// Whether an op computes each element of its results by itself.
static bool isElementwise(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() < 3)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isOutput = op.isDpsInit(&operand);
    if (isOutput ? !map.isIdentity()
                 : !llvm::all_of(map.getResults(), [](AffineExpr expr) {
                     return isa<AffineDimExpr, AffineConstantExpr>(expr);
                   }))
      return false;
  }
  return op.getBody()
             ->walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
             .wasInterrupted() == false;
}

/// The shape that an op loops over and the buffers that it uses; none if it
/// can't be sliced.
static std::optional<ArrayRef<int64_t>>
accessesOf(Operation *op, SmallVectorImpl<Access> &accesses) {
  if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
    auto type = dyn_cast<MemRefType>(observe.getInput().getType());
    if (!type || !isLarge(type) || !type.getElementType().isF32() ||
        static_cast<int64_t>(observe.getChannelAxis()) != 1)
      return std::nullopt;
    accesses.push_back({observe.getInput(), rootOf(observe.getInput()),
                        /*identity=*/true, /*writes=*/false});
    return type.getShape();
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isElementwise(generic))
    return std::nullopt;
  auto type = dyn_cast<MemRefType>(generic.getDpsInits().front().getType());
  if (!type || !isLarge(type))
    return std::nullopt;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    accesses.push_back({operand.get(), rootOf(operand.get()),
                        generic.getMatchingIndexingMap(&operand).isIdentity(),
                        generic.isDpsInit(&operand)});
  }
  return type.getShape();
}

/// Adds an op to a group if slices stay independent of each other.
bool FuseObservers::join(Operation *op, Group &group) {
  SmallVector<Access> added;
  auto shape = accessesOf(op, added);
  if (!shape || (!group.ops.empty() && *shape != group.shape))
    return false;
  for (const Access &a : added)
    for (const Access &b : llvm::concat<const Access>(group.accesses, added))
      if (a.root == b.root && (a.writes || b.writes) &&
          (a.buffer != b.buffer || !a.identity || !b.identity))
        return false;
  group.ops.push_back(op);
  group.accesses.append(added);
  group.shape = *shape;
  return true;
}

/// The part of a buffer that one iteration of the loops uses.
static Value sliceOf(OpBuilder &b, Location loc, Value buffer, AffineMap map,
                     ArrayRef<Value> ivs) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return buffer;
  SmallVector<OpFoldResult> offsets, sizes,
      strides(type.getRank(), b.getIndexAttr(1));
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isLoop = dim && dim.getPosition() < ivs.size();
    offsets.push_back(isLoop ? OpFoldResult(ivs[dim.getPosition()])
                             : b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(isLoop ? 1 : type.getDimSize(axis)));
  }
  return memref::SubViewOp::create(b, loc, buffer, offsets, sizes, strides);
}

void FuseObservers::fuse(Group &group) {
  bool observes = llvm::any_of(group.ops, llvm::IsaPred<onnxq::ObserveOp>);
  if (group.ops.size() < 2 || !observes)
    return;
  Operation *last = group.ops.back();
  ImplicitLocOpBuilder b(last->getLoc(), last);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  // Scratch memory of each observer lives as long as the loop.
  DenseMap<Operation *, Value> scratch;
  for (Operation *op : group.ops)
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
      auto room = static_cast<int64_t>(
          observe.getBins() ? 4 * (observe.getBins() + 1) : 1);
      scratch[op] =
          memref::AllocOp::create(b, MemRefType::get({room}, b.getI32Type()));
      onnxq::ObserveBeginOp::create(
          b, scratch[op], observe.getState(), observe.getOffsetAttr(),
          observe.getChannelsAttr(), observe.getBinsAttr(),
          observe.getPartsAttr(), b.getI64IntegerAttr(group.shape[0]));
    }
  Value zero = constant(0), one = constant(1);
  auto outer = scf::ForOp::create(b, zero, constant(group.shape[0]), one);
  b.setInsertionPointToStart(outer.getBody());
  auto inner = scf::ForOp::create(b, zero, constant(group.shape[1]), one);
  b.setInsertionPointToStart(inner.getBody());
  Value ivs[] = {outer.getInductionVar(), inner.getInductionVar()};
  for (Operation *op : group.ops) {
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
      onnxq::ObserveSliceOp::create(
          b, observe.getInput(), ivs[0], ivs[1], scratch[op],
          observe.getState(), observe.getOffsetAttr(),
          observe.getChannelsAttr(), observe.getBinsAttr(),
          observe.getPartsAttr());
      continue;
    }
    auto generic = cast<linalg::GenericOp>(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(sliceOf(b, op->getLoc(), operand.get(),
                                 generic.getMatchingIndexingMap(&operand),
                                 ivs));
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
  }
  b.setInsertionPointAfter(outer);
  for (Operation *op : group.ops)
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
      onnxq::ObserveEndOp::create(
          b, scratch[op], observe.getState(), observe.getOffsetAttr(),
          observe.getChannelsAttr(), observe.getBinsAttr(),
          observe.getPartsAttr());
      ++numFused;
    }
  for (Operation *op : group.ops)
    op->erase();
}

void FuseObservers::visit(Block &block) {
  std::vector<Group> groups(1);
  for (Operation &op : block) {
    // What computes no elements may stay before the loop.
    if (isa<memref::AllocOp>(op) ||
        (op.getNumRegions() == 0 && isMemoryEffectFree(&op)))
      continue;
    if (join(&op, groups.back()))
      continue;
    groups.emplace_back();
    (void)join(&op, groups.back());
  }
  for (Group &group : groups)
    fuse(group);
}

void FuseObservers::runOnOperation() {
  bool observes =
      getOperation()
          .walk([](onnxq::ObserveOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!observes)
    return;
  SmallVector<Block *> blocks;
  getOperation().walk([&](Block *block) {
    if (!isa<linalg::LinalgOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  for (Block *block : blocks)
    visit(*block);
}
