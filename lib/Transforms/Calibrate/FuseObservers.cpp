// Computes and observes chains of elementwise ops part by part, so that a part
// is observed while it is in the cache. Enters: bufferized linalg ops and
// observers. Leaves: loops around parts of them.
//
// Where channels are along the second axis, a part is a channel of a sample:
// loops are over the first two dimensions. Where they are along the last, it is
// a block of rows, a row being all channels of a place; buffers that only the
// loop uses are as small as a block then.
//
// An op joins the loop of its neighbours if every buffer that one of them
// writes is used by all of them under one name and element by element: then
// parts don't depend on each other, and their order within a part is the ops'
// own.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Runtime/Observers.h"
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
/// The elements of a block of rows, so that it stays in the first cache with
/// what is made of it; the fewest rows that are worth a look at a channel, the
/// rows that observers take at once and the channels that they have room for.
static constexpr int64_t blockElements = 1 << 12, fewRows = 32, mostRows = 256;
static constexpr int64_t mostChannels = 4096;

namespace {

/// How an op uses a buffer.
struct Access {
  Value buffer, root;
  /// Element by element at the loop's own indices.
  bool identity;
  bool writes;
};

/// How a loop may cut buffers.
enum Cut : unsigned { None = 0, Slices = 1, Rows = 2, Either = 3 };

/// How an op takes part in a loop.
struct Part {
  unsigned cuts = None;
  ArrayRef<int64_t> shape;
  SmallVector<Access> accesses;
};

/// Ops that will share a loop.
struct Group {
  unsigned cuts = Either;
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
  void fuseSlices(Group &group, ImplicitLocOpBuilder &b);
  void fuseRows(Group &group, ImplicitLocOpBuilder &b);

  /// Of the group at hand: the observers' memory, and buffers that have become
  /// smaller ones.
  DenseMap<Operation *, Value> scratch;
  SmallVector<Operation *> unused;
};

} // namespace

/// The buffer that a view is of.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// The dimensions of a buffer as blocks of rows see it.
struct RowShape {
  int64_t first, rows, channels, block;
};

/// Rows that divide into blocks; none if blocks would be too small.
static std::optional<RowShape> getRows(ArrayRef<int64_t> shape) {
  RowShape result = {shape.front(), 1, shape.back(), 0};
  for (int64_t size : shape.drop_front().drop_back())
    result.rows *= size;
  if (result.channels > mostChannels)
    return std::nullopt;
  result.block =
      std::clamp<int64_t>(blockElements / result.channels, fewRows, mostRows);
  while (result.rows % result.block != 0)
    --result.block;
  if (result.block * result.channels < minSlice * 4)
    return std::nullopt;
  return result;
}

/// The ways to cut a buffer.
static unsigned getCuts(MemRefType type) {
  if (!type.hasStaticShape() || type.getRank() < 3 ||
      !type.getLayout().isIdentity() || type.getNumElements() < minElements)
    return None;
  int64_t slice =
      type.getNumElements() / (type.getDimSize(0) * type.getDimSize(1));
  return (slice >= minSlice ? Slices : None) |
         (getRows(type.getShape()) ? Rows : None);
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

/// Whether rows can be cut out of all operands of an op: each is as large as
/// the result, or has no dimension but samples and channels.
static bool canCutRows(linalg::GenericOp op, ArrayRef<int64_t> shape) {
  unsigned last = op.getNumLoops() - 1;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!type)
      continue;
    if (map.isIdentity()) {
      if (type.getShape() != shape || !type.getLayout().isIdentity())
        return false;
      continue;
    }
    unsigned lasts = 0;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && dim.getPosition() != 0 && dim.getPosition() != last)
        return false;
      lasts += dim && dim.getPosition() == last;
    }
    if (lasts > 1)
      return false;
  }
  return true;
}

/// How an op takes part: not at all if it has no cuts.
static Part partOf(Operation *op) {
  Part part;
  if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
    auto type = dyn_cast<MemRefType>(observe.getInput().getType());
    if (!type || !type.getElementType().isF32())
      return part;
    auto axis = static_cast<int64_t>(observe.getChannelAxis());
    part.cuts = getCuts(type) & (axis == 1                    ? Slices
                                 : axis == type.getRank() - 1 ? Rows
                                                              : None);
    part.accesses.push_back({observe.getInput(), rootOf(observe.getInput()),
                             /*identity=*/true, /*writes=*/false});
    part.shape = type.getShape();
    return part;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isElementwise(generic))
    return part;
  auto type = dyn_cast<MemRefType>(generic.getDpsInits().front().getType());
  if (!type)
    return part;
  part.shape = type.getShape();
  part.cuts = getCuts(type);
  if ((part.cuts & Rows) && !canCutRows(generic, part.shape))
    part.cuts &= ~Rows;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    part.accesses.push_back(
        {operand.get(), rootOf(operand.get()),
         generic.getMatchingIndexingMap(&operand).isIdentity(),
         generic.isDpsInit(&operand)});
  }
  return part;
}

/// Adds an op to a group if parts stay independent of each other.
bool FuseObservers::join(Operation *op, Group &group) {
  Part part = partOf(op);
  if ((part.cuts & group.cuts) == None ||
      (!group.ops.empty() && part.shape != group.shape))
    return false;
  for (const Access &a : part.accesses)
    for (const Access &b :
         llvm::concat<const Access>(group.accesses, part.accesses))
      if (a.root == b.root && (a.writes || b.writes) &&
          (a.buffer != b.buffer || !a.identity || !b.identity))
        return false;
  group.cuts &= part.cuts;
  group.ops.push_back(op);
  group.accesses.append(part.accesses);
  group.shape = part.shape;
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

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

void FuseObservers::fuseSlices(Group &group, ImplicitLocOpBuilder &b) {
  Value zero = constant(b, 0), one = constant(b, 1);
  auto outer = scf::ForOp::create(b, zero, constant(b, group.shape[0]), one);
  b.setInsertionPointToStart(outer.getBody());
  auto inner = scf::ForOp::create(b, zero, constant(b, group.shape[1]), one);
  b.setInsertionPointToStart(inner.getBody());
  Value ivs[] = {outer.getInductionVar(), inner.getInductionVar()};
  for (Operation *op : group.ops) {
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
      onnxq::ObserveSliceOp::create(b, observe.getInput(), ivs[0], ivs[1],
                                    scratch[op]);
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
}

//===----------------------------------------------------------------------===//
// Blocks of rows
//===----------------------------------------------------------------------===//

namespace {

/// Emits ops on one block of rows.
class BlockEmitter {
public:
  BlockEmitter(ImplicitLocOpBuilder &b, RowShape shape,
               const DenseMap<Value, Value> &small)
      : b(b), shape(shape), small(small) {}

  /// The block that the next ops are of.
  void enter(Value sample, Value rowInSample) {
    this->sample = sample;
    Value start = arith::MulIOp::create(b, sample, constant(b, shape.rows));
    row = arith::AddIOp::create(b, start, rowInSample);
    place = arith::MulIOp::create(b, row, constant(b, shape.channels));
  }
  void compute(linalg::GenericOp op);
  void observe(onnxq::ObserveOp op, Value scratch);

private:
  Value cutBlock(Value buffer, bool isFlat);
  Value cutRest(Value buffer, AffineMap map, AffineMap &newMap);

  ImplicitLocOpBuilder &b;
  RowShape shape;
  const DenseMap<Value, Value> &small;
  Value sample, row, place;
};

} // namespace

/// The block of a buffer as one row, or as rows of channels.
Value BlockEmitter::cutBlock(Value buffer, bool isFlat) {
  int64_t length = shape.block * shape.channels;
  auto one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  if (Value own = small.lookup(buffer)) {
    if (isFlat)
      return own;
    auto type =
        MemRefType::get({shape.block, shape.channels},
                        cast<MemRefType>(own.getType()).getElementType());
    return memref::ExpandShapeOp::create(
        b, type, own, ArrayRef<ReassociationIndices>{{0, 1}});
  }
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  ReassociationIndices leading = llvm::to_vector(llvm::seq(rank));
  if (isFlat) {
    Value flat = memref::CollapseShapeOp::create(
        b, buffer, ArrayRef<ReassociationIndices>{leading});
    return memref::SubViewOp::create(
        b, flat, ArrayRef<OpFoldResult>{place},
        ArrayRef<OpFoldResult>{b.getIndexAttr(length)},
        ArrayRef<OpFoldResult>{one});
  }
  leading.pop_back();
  Value rows = memref::CollapseShapeOp::create(
      b, buffer, ArrayRef<ReassociationIndices>{leading, {rank - 1}});
  return memref::SubViewOp::create(
      b, rows, ArrayRef<OpFoldResult>{row, zero},
      ArrayRef<OpFoldResult>{b.getIndexAttr(shape.block),
                             b.getIndexAttr(shape.channels)},
      ArrayRef<OpFoldResult>{one, one});
}

/// What a block reads of an operand that isn't cut into rows: one element, or
/// one for each channel.
Value BlockEmitter::cutRest(Value buffer, AffineMap map, AffineMap &newMap) {
  MLIRContext *context = b.getContext();
  unsigned loops = newMap.getNumDims();
  auto type = dyn_cast<MemRefType>(buffer.getType());
  newMap = AffineMap::get(loops, 0, {}, context);
  if (!type)
    return buffer;
  SmallVector<OpFoldResult> offsets, sizes,
      strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> kept;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isSample = dim && dim.getPosition() == 0;
    bool isChannel = dim && !isSample;
    offsets.push_back(isSample ? OpFoldResult(sample) : b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(isChannel ? shape.channels : 1));
    if (!isChannel)
      continue;
    kept.push_back(shape.channels);
    newMap = AffineMap::get(loops, 0, b.getAffineDimExpr(1), context);
  }
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      kept, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, reduced, buffer, offsets, sizes, strides);
}

void BlockEmitter::compute(linalg::GenericOp op) {
  // Without operands for each channel a block is one long row.
  bool isFlat = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isIdentity() ||
           llvm::all_of(map.getResults(), [](AffineExpr expr) {
             auto dim = dyn_cast<AffineDimExpr>(expr);
             return !dim || dim.getPosition() == 0;
           });
  });
  unsigned loops = isFlat ? 1 : 2;
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, maps;
  // An input that is overwritten is read as what the result was: otherwise the
  // two look as if they might overlap in other ways, and aren't vectorized.
  auto memoryOf = [&](Value buffer) {
    Value own = small.lookup(buffer);
    return own ? own : buffer;
  };
  DenseMap<Value, OpOperand *> overwritten;
  for (OpOperand &init : op.getDpsInitsMutable())
    overwritten[memoryOf(init.get())] = &init;
  SmallVector<std::pair<OpOperand *, OpOperand *>> merged;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AffineMap newMap = b.getMultiDimIdentityMap(loops);
    bool isBlock = map.isIdentity() && isa<MemRefType>(operand.get().getType());
    bool isInit = op.isDpsInit(&operand);
    OpOperand *same =
        isBlock ? overwritten.lookup(memoryOf(operand.get())) : nullptr;
    if (!isInit && same) {
      merged.push_back({&operand, same});
      continue;
    }
    Value cut = isBlock ? cutBlock(operand.get(), isFlat)
                        : cutRest(operand.get(), map, newMap);
    (isInit ? outputs : inputs).push_back(cut);
    (isInit ? maps : inputMaps).push_back(newMap);
  }
  inputMaps.append(maps);
  auto block = linalg::GenericOp::create(
      b, TypeRange{}, inputs, outputs, inputMaps,
      SmallVector<utils::IteratorType>(loops, utils::IteratorType::parallel));
  block->setLoc(op.getLoc());
  IRMapping mapping;
  op.getRegion().cloneInto(&block.getRegion(), mapping);
  Block &body = block.getRegion().front();
  for (auto [input, init] : merged)
    mapping.lookup(op.getMatchingBlockArgument(input))
        .replaceAllUsesWith(mapping.lookup(op.getMatchingBlockArgument(init)));
  for (auto [input, init] : llvm::reverse(merged))
    body.eraseArgument(op.getMatchingBlockArgument(input).getArgNumber());
}

void BlockEmitter::observe(onnxq::ObserveOp op, Value scratch) {
  Value own = small.lookup(op.getInput());
  onnxq::ObserveRowsOp::create(b, own ? own : op.getInput(),
                               own ? constant(b, 0) : place, row, scratch,
                               b.getI64IntegerAttr(shape.block),
                               b.getI64IntegerAttr(shape.first * shape.rows));
}

/// The first and the last op of a group that use a buffer.
static std::pair<int64_t, int64_t> usesOf(Value buffer, const Group &group) {
  auto uses = [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), buffer);
  };
  auto first = llvm::find_if(group.ops, uses);
  auto last = llvm::find_if(llvm::reverse(group.ops), uses);
  return {first - group.ops.begin(), last.base() - group.ops.begin() - 1};
}

/// Whether only these ops use a buffer, the first of them to write all of it.
static bool isOwn(memref::AllocOp alloc, const Group &group) {
  if (!llvm::all_of(alloc->getUsers(), [&](Operation *user) {
        return llvm::is_contained(group.ops, user);
      }))
    return false;
  auto writer =
      dyn_cast<linalg::GenericOp>(group.ops[usesOf(alloc, group).first]);
  return writer && llvm::all_of(writer->getOpOperands(), [&](OpOperand &use) {
           return use.get() != alloc.getResult() ||
                  (writer.isDpsInit(&use) &&
                   writer.getMatchingBlockArgument(&use).use_empty());
         });
}

/// Buffers that only these ops use, and what has room for a block of each. A
/// buffer whose last reader makes another one is overwritten by it, so that
/// blocks take less of the cache.
static DenseMap<Value, Value> shrinkBuffers(const Group &group, RowShape shape,
                                            ImplicitLocOpBuilder &b) {
  DenseMap<Value, Value> small;
  struct Room {
    Value memory, buffer;
    int64_t last;
  };
  SmallVector<Room> rooms;
  for (const Access &access : group.accesses) {
    auto alloc = access.buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc || !access.identity || small.contains(alloc) ||
        !isOwn(alloc, group))
      continue;
    auto type = MemRefType::get(shape.block * shape.channels,
                                alloc.getType().getElementType());
    auto [first, last] = usesOf(alloc, group);
    auto inits = cast<linalg::GenericOp>(group.ops[first]).getDpsInits();
    auto room = llvm::find_if(rooms, [&, start = first](const Room &room) {
      return room.memory.getType() == type && room.last <= start &&
             !llvm::is_contained(inits, room.buffer);
    });
    if (room == rooms.end()) {
      Value memory = memref::AllocOp::create(b, type, b.getI64IntegerAttr(64));
      room = rooms.insert(rooms.end(), {memory, alloc, last});
    }
    room->buffer = alloc;
    room->last = last;
    small[alloc] = room->memory;
  }
  return small;
}

void FuseObservers::fuseRows(Group &group, ImplicitLocOpBuilder &b) {
  RowShape shape = *getRows(group.shape);
  DenseMap<Value, Value> small = shrinkBuffers(group, shape, b);
  numSmall += small.size();
  BlockEmitter emitter(b, shape, small);
  Value zero = constant(b, 0), one = constant(b, 1);
  auto outer = scf::ForOp::create(b, zero, constant(b, shape.first), one);
  b.setInsertionPointToStart(outer.getBody());
  auto inner = scf::ForOp::create(b, zero, constant(b, shape.rows),
                                  constant(b, shape.block));
  b.setInsertionPointToStart(inner.getBody());
  emitter.enter(outer.getInductionVar(), inner.getInductionVar());
  for (Operation *op : group.ops) {
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op))
      emitter.observe(observe, scratch[op]);
    else
      emitter.compute(cast<linalg::GenericOp>(op));
  }
  b.setInsertionPointAfter(outer);
  for (auto &entry : small)
    unused.push_back(entry.first.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void FuseObservers::fuse(Group &group) {
  bool observes = llvm::any_of(group.ops, llvm::IsaPred<onnxq::ObserveOp>);
  if (group.ops.size() < 2 || !observes)
    return;
  Operation *last = group.ops.back();
  ImplicitLocOpBuilder b(last->getLoc(), last);
  // Scratch memory of each observer lives as long as the loop.
  scratch.clear();
  for (Operation *op : group.ops)
    if (auto observe = dyn_cast<onnxq::ObserveOp>(op)) {
      auto room = MemRefType::get(
          {countScratchWords(observe.getChannels(), observe.getBins())},
          b.getI64Type());
      scratch[op] = memref::AllocOp::create(b, room, b.getI64IntegerAttr(64));
      onnxq::ObserveBeginOp::create(
          b, scratch[op], observe.getState(), observe.getOffsetAttr(),
          observe.getChannelsAttr(), observe.getBinsAttr(),
          observe.getPartsAttr(), b.getI64IntegerAttr(group.shape[0]));
    }
  if (group.cuts & Rows)
    fuseRows(group, b);
  else
    fuseSlices(group, b);
  for (Operation *op : group.ops)
    if (isa<onnxq::ObserveOp>(op)) {
      onnxq::ObserveEndOp::create(b, scratch[op]);
      ++numFused;
    }
  for (Operation *op : group.ops)
    op->erase();
  for (Operation *op : unused)
    op->erase();
  unused.clear();
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
