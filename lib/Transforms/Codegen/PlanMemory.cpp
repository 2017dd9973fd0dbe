// Places buffers in one workspace by lifetime; allocates the rest through the
// run's context, and frees it behind its last reader. Large results may lie in
// the caller's memory instead. Enters: one bufferized function with
// memref.alloc. Leaves: no allocation that the context doesn't know.

#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "RunContext.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <queue>
#include <set>

namespace onnxquant {
#define GEN_PASS_DEF_PLANMEMORY
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr int64_t bufferAlignment = 64;
/// No machine has more memory for one buffer.
static constexpr int64_t maxBufferBytes = int64_t(1) << 48;

namespace {

/// A buffer of static size: its offset, and the top-level ops between which it
/// is alive.
struct Slot {
  memref::AllocOp alloc;
  int64_t bytes;
  unsigned begin, end;
  int64_t offset = 0;
};

/// A buffer of dynamic size, and the top-level op behind which nothing reads
/// it; null if it leaves the run or an iteration.
struct OpenBuffer {
  memref::AllocOp alloc;
  Operation *last = nullptr;
};

struct PlanMemory : public onnxquant::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;

private:
  LogicalResult plan(func::FuncOp function);
  void allocateDynamically(const OpenBuffer &buffer, Value context);
  Value makeMessage(ImplicitLocOpBuilder &b, memref::AllocOp alloc);
  LogicalResult checkTotal(func::FuncOp function, ArrayRef<Slot> slots,
                           int64_t total);

  /// Symbols of the messages.
  llvm::StringMap<std::string> messages;
};

} // namespace

/// The bytes of a buffer of static size; nothing if no machine has as many.
static std::optional<int64_t> bytesOf(MemRefType type) {
  unsigned bits = type.getElementType().isIndex()
                      ? 64
                      : type.getElementType().getIntOrFloatBitWidth();
  int64_t bytes = (bits + 7) / 8;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  if (bytes > (int64_t(1) << 56))
    return std::nullopt;
  return bytes;
}

/// Whether a buffer made in a loop is still read after its iteration.
static bool leavesIteration(memref::AllocOp alloc,
                            const BufferViewFlowAnalysis::ValueSetT &aliases) {
  for (Operation *parent = alloc->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp()) {
    if (!isa<LoopLikeOpInterface>(parent))
      continue;
    for (Value alias : aliases)
      if (!parent->isProperAncestor(alias.getParentRegion()->getParentOp()) &&
          alias.getParentRegion()->getParentOp() != parent)
        return true;
    // Carried to the next iteration.
    for (Value alias : aliases)
      if (auto argument = dyn_cast<BlockArgument>(alias))
        if (argument.getOwner()->getParentOp() == parent)
          return true;
  }
  return false;
}

namespace {
/// Memory that grows, and its parts that are free.
class FreeParts {
public:
  int64_t take(int64_t bytes) {
    auto it = bySize.lower_bound({bytes, 0});
    if (it == bySize.end()) {
      int64_t offset = size;
      size += bytes;
      return offset;
    }
    auto [room, offset] = *it;
    remove(offset);
    if (room > bytes)
      add(offset + bytes, room - bytes);
    return offset;
  }
  void give(int64_t offset, int64_t bytes) {
    auto after = byOffset.find(offset + bytes);
    if (after != byOffset.end()) {
      bytes += after->second;
      remove(after->first);
    }
    auto before = byOffset.lower_bound(offset);
    if (before != byOffset.begin() &&
        (--before)->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      remove(offset);
    }
    add(offset, bytes);
  }
  int64_t size = 0;

private:
  void add(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void remove(int64_t offset) {
    bySize.erase({byOffset[offset], offset});
    byOffset.erase(offset);
  }
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
};
} // namespace

/// Finds an offset for each of many buffers in the order in which they come to
/// life: the smallest part that is free then and large enough.
static int64_t placeInOrder(MutableArrayRef<Slot> slots) {
  std::vector<Slot *> order;
  for (Slot &slot : slots)
    order.push_back(&slot);
  llvm::sort(order, [](const Slot *a, const Slot *b) {
    return std::tuple(a->begin, -a->bytes, a) <
           std::tuple(b->begin, -b->bytes, b);
  });
  auto endsLater = [](const Slot *a, const Slot *b) { return a->end > b->end; };
  std::priority_queue<Slot *, std::vector<Slot *>, decltype(endsLater)> alive(
      endsLater);
  FreeParts parts;
  auto bytesOf = [](const Slot *slot) {
    return static_cast<int64_t>(llvm::alignTo(slot->bytes, bufferAlignment));
  };
  for (Slot *slot : order) {
    for (; !alive.empty() && alive.top()->end < slot->begin; alive.pop())
      parts.give(alive.top()->offset, bytesOf(alive.top()));
    slot->offset = parts.take(bytesOf(slot));
    alive.push(slot);
  }
  return parts.size;
}

/// Finds the lowest offset for each buffer, largest first. Each is compared
/// with all others, so that graphs of very many are placed in their order
/// instead.
static int64_t placeSlots(MutableArrayRef<Slot> slots) {
  if (slots.size() > tuning::mostComparedBuffers)
    return placeInOrder(slots);
  std::vector<Slot *> order;
  for (Slot &slot : slots)
    order.push_back(&slot);
  llvm::sort(order, [](const Slot *a, const Slot *b) {
    return std::tuple(-a->bytes, a->begin, a) <
           std::tuple(-b->bytes, b->begin, b);
  });
  std::vector<Slot *> placed;
  int64_t total = 0;
  for (Slot *slot : order) {
    std::vector<Slot *> rivals;
    for (Slot *other : placed)
      if (slot->begin <= other->end && other->begin <= slot->end)
        rivals.push_back(other);
    llvm::sort(rivals, [](const Slot *a, const Slot *b) {
      return a->offset < b->offset;
    });
    int64_t offset = 0;
    for (Slot *rival : rivals) {
      if (offset + slot->bytes <= rival->offset)
        break;
      offset =
          std::max(offset, static_cast<int64_t>(llvm::alignTo(
                               rival->offset + rival->bytes, bufferAlignment)));
    }
    slot->offset = offset;
    total = std::max(total, offset + slot->bytes);
    placed.push_back(slot);
  }
  return total;
}

/// The buffer that a value is the whole of.
static memref::AllocOp findBuffer(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<memref::CastOp, memref::CollapseShapeOp,
                         memref::ExpandShapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<memref::AllocOp>(op);
}

/// Gives large results of their own an argument each for the memory in which
/// they are computed: the caller's, or their offset in the workspace.
static DenseMap<Operation *, Value> placeResults(func::FuncOp function,
                                                 MutableArrayRef<Slot> slots) {
  Block &body = function.getBody().front();
  DenseMap<Operation *, const Slot *> slotOf;
  for (Slot &slot : slots)
    if (slot.alloc->getBlock() == &body &&
        slot.bytes >= tuning::leastPlacedBytes &&
        slot.alloc.getType().getLayout().isIdentity())
      slotOf[slot.alloc] = &slot;
  SmallVector<memref::AllocOp> results;
  DenseMap<Operation *, unsigned> uses;
  for (Value result : body.getTerminator()->getOperands()) {
    results.push_back(findBuffer(result));
    ++uses[results.back()];
  }
  Type type = body.getArgument(1).getType();
  DenseMap<Operation *, Value> memories;
  SmallVector<int64_t> placed;
  for (auto [index, alloc] : llvm::enumerate(results)) {
    if (!alloc || uses[alloc] > 1 || memories.size() == tuning::mostPlaced)
      continue;
    const Slot *slot = slotOf.lookup(alloc);
    if (!slot)
      continue;
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, type, {}, alloc.getLoc());
    memories[alloc] = body.getArgument(last);
    placed.append({static_cast<int64_t>(index), slot->offset});
  }
  if (!placed.empty())
    function->setAttr(placedResultsAttr,
                      DenseI64ArrayAttr::get(function.getContext(), placed));
  return memories;
}

/// The buffers with their nodes, sizes, offsets and lifetimes.
static ArrayAttr describe(Builder b, ArrayRef<Slot> slots) {
  SmallVector<Attribute> list;
  for (const Slot &slot : slots) {
    list.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("begin", b.getI64IntegerAttr(slot.begin)),
         b.getNamedAttr("bytes", b.getI64IntegerAttr(slot.bytes)),
         b.getNamedAttr("end", b.getI64IntegerAttr(slot.end)),
         b.getNamedAttr("node", b.getStringAttr(nodeOf(slot.alloc))),
         b.getNamedAttr("offset", b.getI64IntegerAttr(slot.offset))}));
  }
  return b.getArrayAttr(list);
}

/// The bytes of a buffer, and whether they are few enough to be counted: a size
/// that a node computes may be anything.
static std::pair<Value, Value> countBytes(ImplicitLocOpBuilder &b,
                                          memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  unsigned bits = type.getElementType().isIndex()
                      ? 64
                      : type.getElementType().getIntOrFloatBitWidth();
  int64_t known = (bits + 7) / 8;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      known *= size;
  Type i64 = b.getI64Type();
  Value bytes = arith::ConstantIntOp::create(b, known, 64);
  Value most = arith::ConstantIntOp::create(b, maxBufferBytes, 64);
  Value zero = arith::ConstantIntOp::create(b, 0, 64);
  Value fits = arith::ConstantIntOp::create(b, 1, 1);
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    fits = arith::AndIOp::create(b, fits,
                                 arith::CmpIOp::create(b, predicate, x, y));
  };
  for (Value size : alloc.getDynamicSizes()) {
    auto product = arith::MulUIExtendedOp::create(
        b, bytes, arith::IndexCastOp::create(b, i64, size));
    bytes = product.getLow();
    require(arith::CmpIPredicate::eq, product.getHigh(), zero);
    require(arith::CmpIPredicate::ule, bytes, most);
  }
  return {arith::IndexCastOp::create(b, b.getIndexType(), bytes), fits};
}

/// What is said where there is no memory for a buffer.
Value PlanMemory::makeMessage(ImplicitLocOpBuilder &b, memref::AllocOp alloc) {
  std::string text =
      "node '" + nodeOf(alloc) + "': not enough memory for a tensor";
  if (maxBytes > 0)
    text += "; the run may use " + std::to_string(maxBytes >> 20) +
            " MiB in all (see --max-memory)";
  auto [it, isNew] = messages.try_emplace(
      text, "onnxq_memory_" + std::to_string(messages.size()));
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  if (isNew) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(getOperation().getBody());
    std::string bytes = text + '\0';
    LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Private, it->second,
        b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, pointer, it->second);
}

/// Refuses a graph whose buffers of static size take more than a run may.
LogicalResult PlanMemory::checkTotal(func::FuncOp function,
                                     ArrayRef<Slot> slots, int64_t total) {
  if (maxBytes <= 0)
    return success();
  for (Type result : function.getResultTypes())
    if (auto type = dyn_cast<MemRefType>(result); type && type.hasStaticShape())
      if (std::optional<int64_t> bytes = bytesOf(type))
        total = llvm::SaturatingAdd<uint64_t>(total, *bytes) > INT64_MAX
                    ? INT64_MAX
                    : total + *bytes;
  if (total <= maxBytes)
    return success();
  Location loc = function.getLoc();
  int64_t largest = 0;
  for (Slot slot : slots)
    if (slot.bytes > largest) {
      largest = slot.bytes;
      loc = slot.alloc.getLoc();
    }
  InFlightDiagnostic error = emitError(loc, "cannot be run: ");
  if (largest > 0)
    error << "its tensor of " << (largest >> 20)
          << " MiB is the largest of a run that ";
  return error << "takes " << (total >> 20) << " MiB, but may use "
               << (maxBytes >> 20) << " MiB (see --max-memory)";
}

void PlanMemory::allocateDynamically(const OpenBuffer &buffer, Value context) {
  memref::AllocOp alloc = buffer.alloc;
  ImplicitLocOpBuilder b(alloc.getLoc(), alloc);
  MemRefType type = alloc.getType();
  auto [bytes, fits] = countBytes(b, alloc);
  cf::AssertOp::create(b, fits,
                       b.getStringAttr("node '" + nodeOf(alloc) +
                                       "': a tensor would have a negative size "
                                       "or more elements than memory holds"));
  auto raw = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Value memory =
      func::CallOp::create(b, allocFunction, TypeRange{raw},
                           ValueRange{context, bytes, makeMessage(b, alloc)})
          .getResult(0);
  Value start = arith::ConstantIndexOp::create(b, 0);
  Value view =
      memref::ViewOp::create(b, type, memory, start, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
  ++numDynamic;
  if (!buffer.last)
    return;
  b.setInsertionPointAfter(buffer.last);
  Value data = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  func::CallOp::create(b, dropFunction, TypeRange{}, ValueRange{context, data});
}

/// The op of the function's block behind which nothing reads a buffer.
static Operation *findLast(memref::AllocOp alloc, Block &body,
                           const BufferViewFlowAnalysis::ValueSetT &aliases,
                           function_ref<unsigned(Operation *)> positionOf) {
  if (alloc->getBlock() != &body)
    return nullptr;
  Operation *last = alloc;
  for (Value alias : aliases)
    for (Operation *user : alias.getUsers())
      if (positionOf(user) > positionOf(last))
        last = body.findAncestorOpInBlock(*user);
  return last == alloc || last == body.getTerminator() ? nullptr : last;
}

/// Loops that allocate free what they don't carry on after each iteration.
static void trimLoops(ArrayRef<Operation *> loops, Value context) {
  for (Operation *loop : loops) {
    ImplicitLocOpBuilder b(loop->getLoc(), loop);
    Value mark =
        func::CallOp::create(b, markFunction, TypeRange{b.getIndexType()},
                             ValueRange{context})
            .getResult(0);
    Operation *yield =
        isa<scf::ForOp>(loop)
            ? cast<scf::ForOp>(loop).getBody()->getTerminator()
            : cast<scf::WhileOp>(loop).getYieldOp().getOperation();
    b.setInsertionPoint(yield);
    for (Value carried : yield->getOperands())
      if (isa<MemRefType>(carried.getType())) {
        Value data = memref::ExtractAlignedPointerAsIndexOp::create(b, carried);
        func::CallOp::create(b, keepFunction, TypeRange{},
                             ValueRange{context, mark, data});
      }
    func::CallOp::create(b, trimFunction, TypeRange{},
                         ValueRange{context, mark});
  }
}

LogicalResult PlanMemory::plan(func::FuncOp function) {
  Builder builder(&getContext());
  auto workspaceType =
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Block &body = function.getBody().front();
  BufferViewFlowAnalysis aliasAnalysis(function);
  DenseMap<Operation *, unsigned> position;
  for (auto [index, op] : llvm::enumerate(body))
    position[&op] = index;
  auto positionOf = [&](Operation *op) {
    return position.lookup(body.findAncestorOpInBlock(*op));
  };

  std::vector<Slot> slots;
  SmallVector<OpenBuffer> dynamic;
  WalkResult walked = function.walk([&](memref::AllocOp alloc) {
    auto aliases = aliasAnalysis.resolve(alloc.getResult());
    if (!alloc.getType().hasStaticShape() || leavesIteration(alloc, aliases)) {
      dynamic.push_back({alloc, findLast(alloc, body, aliases, positionOf)});
      return WalkResult::advance();
    }
    std::optional<int64_t> bytes = bytesOf(alloc.getType());
    if (!bytes) {
      emitError(alloc.getLoc(), "cannot be run: a tensor of shape ")
          << alloc.getType() << " has more bytes than any machine";
      return WalkResult::interrupt();
    }
    Slot slot{alloc, std::max<int64_t>(*bytes, 1), positionOf(alloc),
              positionOf(alloc)};
    for (Value alias : aliases)
      for (Operation *user : alias.getUsers())
        slot.end = std::max(slot.end, positionOf(user));
    slots.push_back(slot);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  (void)function.insertArgument(0, LLVM::LLVMPointerType::get(&getContext()),
                                {}, function.getLoc());
  (void)function.insertArgument(1, workspaceType, {}, function.getLoc());
  int64_t total = placeSlots(slots);
  if (failed(checkTotal(function, slots, total)))
    return failure();
  if (report)
    function->setAttr(buffersAttr, describe(builder, slots));
  DenseMap<Operation *, Value> memories = placeResults(function, slots);
  for (Slot &slot : slots) {
    ImplicitLocOpBuilder b(slot.alloc.getLoc(), slot.alloc);
    Value memory = memories.lookup(slot.alloc);
    Value offset = arith::ConstantIndexOp::create(b, memory ? 0 : slot.offset);
    Value view = memref::ViewOp::create(b, slot.alloc.getType(),
                                        memory ? memory : body.getArgument(1),
                                        offset, ValueRange{});
    slot.alloc.replaceAllUsesWith(view);
    slot.alloc.erase();
    ++numPlanned;
  }
  SetVector<Operation *> loops;
  for (OpenBuffer &buffer : dynamic) {
    for (Operation *parent = buffer.alloc->getParentOp(); parent != function;
         parent = parent->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(parent))
        loops.insert(parent);
    allocateDynamically(buffer, body.getArgument(0));
  }
  trimLoops(loops.getArrayRef(), body.getArgument(0));
  SmallVector<memref::DeallocOp> deallocs;
  function.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  for (memref::DeallocOp op : deallocs)
    op.erase();
  function->setAttr(workspaceBytesAttr, builder.getI64IntegerAttr(total));
  return success();
}

void PlanMemory::runOnOperation() {
  ModuleOp module = getOperation();
  messages.clear();
  if (maxBytes > 0)
    module->setAttr(maxBytesAttr,
                    Builder(&getContext()).getI64IntegerAttr(maxBytes));
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal() && !function->hasAttr(kernelAttr) &&
        !function->hasAttr(loadBytesAttr) && failed(plan(function)))
      return signalPassFailure();
  // The context's functions; their bodies come with the entry point.
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto raw = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Type index = b.getIndexType();
  auto declare = [&](StringRef name, ArrayRef<Type> inputs,
                     ArrayRef<Type> results) {
    func::FuncOp::create(b, module.getLoc(), name,
                         b.getFunctionType(inputs, results))
        .setPrivate();
  };
  declare(allocFunction, {pointer, index, pointer}, {raw});
  declare(markFunction, {pointer}, {index});
  declare(keepFunction, {pointer, index, index}, {});
  declare(trimFunction, {pointer, index}, {});
  declare(dropFunction, {pointer, index}, {});
}
