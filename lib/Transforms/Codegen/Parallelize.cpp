// Shares the work of kernels between threads.
//
// Enters: kernel functions with scf.parallel. Leaves: none of them. A loop that
// is worth it becomes a function that does a range of one of its dimensions,
// and a parallel region of OpenMP in which every thread calls it with its
// share. All other loops become sequential. An element is computed in the same
// way whoever computes it, so results don't depend on the number of threads.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "Outlining.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace onnxquant {
#define GEN_PASS_DEF_PARALLELIZE
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// The prefix of products of AMX tiles.
static constexpr StringLiteral tileProducts = "llvm.x86.tdp";

namespace {
struct Parallelize : public onnxquant::impl::ParallelizeBase<Parallelize> {
  using ParallelizeBase::ParallelizeBase;
  void runOnOperation() override;

private:
  bool isWorthIt(scf::ParallelOp loop);
  void share(scf::ParallelOp loop, SymbolTable &symbols);

  /// The same as operations of single elements.
  int64_t fewest = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// How often a loop repeats; none if its size is open.
static std::optional<int64_t> tripsOf(OpFoldResult low, OpFoldResult high,
                                      OpFoldResult step) {
  std::optional<int64_t> from = getConstantIntValue(low),
                         to = getConstantIntValue(high),
                         by = getConstantIntValue(step);
  if (!from || !to || !by || *by <= 0)
    return std::nullopt;
  return *to <= *from ? 0 : llvm::divideCeil(*to - *from, *by);
}

static std::optional<int64_t> tripsOf(scf::ParallelOp loop, unsigned axis) {
  return tripsOf(loop.getLowerBound()[axis], loop.getUpperBound()[axis],
                 loop.getStep()[axis]);
}

static int64_t multiply(int64_t x, int64_t y) {
  int64_t product;
  return llvm::MulOverflow(x, y, product) ? INT64_MAX / 2 : product;
}

/// The scalar operations of a block, about.
static int64_t costOf(Block &block) {
  int64_t cost = 0;
  for (Operation &op : block) {
    int64_t own = 1;
    for (Type type : op.getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        own = std::max(own, vector.getNumElements());
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
        call && call.getIntrin().starts_with(tileProducts))
      own = tuning::operationsOfAmxTile;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        own += costOf(inner);
    int64_t trips = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      trips =
          tripsOf(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())
              .value_or(tuning::dynamicIterations);
    else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
      for (unsigned axis = 0; axis < parallel.getNumLoops(); ++axis)
        trips = multiply(
            trips, tripsOf(parallel, axis).value_or(tuning::dynamicIterations));
    cost = std::min(cost + multiply(own, trips), INT64_MAX / 4);
  }
  return cost;
}

/// The dimension that is shared: the outermost one whose shares are about
/// equal, or the one with the most equal ones.
static unsigned chooseAxis(scf::ParallelOp loop, int64_t threads) {
  unsigned best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis) {
    std::optional<int64_t> trips = tripsOf(loop, axis);
    if (trips && *trips == 0)
      return axis;
    // What the slowest thread has to do, in equal shares.
    int64_t count = trips.value_or(tuning::dynamicIterations * threads);
    double share =
        static_cast<double>(llvm::divideCeil(count, threads)) * threads / count;
    if (share < least - 0.03) {
      least = share;
      best = axis;
    }
  }
  return best;
}

/// Whether a loop does anything to memory but read it, by any view of it.
static bool mayWrite(scf::ParallelOp loop, Value memory) {
  return llvm::any_of(memory.getUsers(), [&](Operation *user) {
    if (isa<memref::LoadOp, vector::LoadOp, memref::DimOp, memref::PrefetchOp>(
            user))
      return false;
    if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp,
            arith::SelectOp>(user))
      return llvm::any_of(user->getResults(), [&](Value view) {
        return isa<MemRefType>(view.getType()) && mayWrite(loop, view);
      });
    return loop->isProperAncestor(user);
  });
}

/// Whether a loop may be shared, and is large enough as far as is known.
bool Parallelize::isWorthIt(scf::ParallelOp loop) {
  if (threads == 1 || loop.getNumReductions() != 0 ||
      loop->getParentOfType<scf::ParallelOp>())
    return false;
  auto function = loop->getParentOfType<func::FuncOp>();
  if (!function->hasAttr(kernelAttr))
    return false;
  // A check that fails leaves the run, which no other thread may do.
  bool checks = loop->walk([](cf::AssertOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
  // Scratch memory around the loop that it writes belongs to all of its
  // iterations.
  bool sharesScratch =
      llvm::any_of(collectCaptured(loop), [&](const Captured &captured) {
        Value owner = isa<MemRefType>(captured.value.getType())
                          ? ownerOf(captured.value)
                          : Value();
        return owner && owner.getDefiningOp<memref::AllocaOp>() &&
               mayWrite(loop, owner);
      });
  if (checks || sharesScratch)
    return false;
  int64_t cost = costOf(*loop.getBody());
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis) {
    std::optional<int64_t> trips = tripsOf(loop, axis);
    if (!trips)
      return true;
    cost = multiply(cost, *trips);
  }
  return cost >= fewest;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// How often a dimension repeats, at run time.
static Value countTrips(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                        unsigned axis) {
  Value span = b.createOrFold<arith::SubIOp>(loop.getUpperBound()[axis],
                                             loop.getLowerBound()[axis]);
  Value trips = b.createOrFold<arith::CeilDivSIOp>(span, loop.getStep()[axis]);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  return b.createOrFold<arith::MaxSIOp>(trips, zero);
}

/// Whether the whole loop is large enough; none if that is known already.
static Value isLarge(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                     int64_t fewest) {
  bool isOpen = false;
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis)
    isOpen |= !tripsOf(loop, axis);
  if (!isOpen)
    return {};
  Value work = arith::ConstantIndexOp::create(
      b, std::min<int64_t>(costOf(*loop.getBody()), fewest));
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis)
    work = arith::MulIOp::create(b, work, countTrips(b, loop, axis));
  Value limit = arith::ConstantIndexOp::create(b, fewest);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, work, limit);
}

/// Restricts a dimension of a loop to the iterations [from, to).
static void restrictAxis(scf::ParallelOp loop, unsigned axis, Value from,
                         Value to) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value low = loop.getLowerBound()[axis], step = loop.getStep()[axis];
  auto indexOf = [&](Value trip) -> Value {
    return arith::AddIOp::create(b, low, arith::MulIOp::create(b, trip, step));
  };
  Value first = indexOf(from), last = indexOf(to);
  loop.getLowerBoundMutable()[axis].set(first);
  loop.getUpperBoundMutable()[axis].set(last);
}

/// Calls the function for each share, in as many threads as there are shares.
static void callShares(ImplicitLocOpBuilder &b, func::FuncOp function,
                       ValueRange arguments, Value trips, int64_t shares) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value count = arith::ConstantIndexOp::create(b, shares);
  omp::ParallelOperands team;
  team.numThreads = arith::ConstantIntOp::create(b, shares, 32);
  auto parallel = omp::ParallelOp::create(b, b.getLoc(), team);
  b.createBlock(&parallel.getRegion());
  auto shared = omp::WsloopOp::create(b, b.getLoc(), omp::WsloopOperands());
  omp::TerminatorOp::create(b);
  b.createBlock(&shared.getRegion());
  omp::LoopNestOperands bounds;
  bounds.loopLowerBounds.push_back(zero);
  bounds.loopUpperBounds.push_back(count);
  bounds.loopSteps.push_back(one);
  auto nest = omp::LoopNestOp::create(b, b.getLoc(), bounds);
  Block *body =
      b.createBlock(&nest.getRegion(), {}, {b.getIndexType()}, {b.getLoc()});
  Value share = body->getArgument(0);
  auto bound = [&](Value index) -> Value {
    return arith::DivUIOp::create(b, arith::MulIOp::create(b, index, trips),
                                  count);
  };
  SmallVector<Value> all(arguments);
  all.push_back(bound(share));
  all.push_back(bound(arith::AddIOp::create(b, share, one)));
  func::CallOp::create(b, function, all);
  omp::YieldOp::create(b, ValueRange());
  b.setInsertionPointAfter(parallel);
}

/// Moves a loop into a function of a range, which is called for each share.
void Parallelize::share(scf::ParallelOp loop, SymbolTable &symbols) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  unsigned axis = chooseAxis(loop, threads);
  Outlined outlined = copyToFunction(loop, b);
  func::FuncOp function = outlined.function;
  unsigned numArguments = outlined.arguments.size();
  for (unsigned i = 0; i < 2; ++i)
    (void)function.insertArgument(numArguments + i, b.getIndexType(), {},
                                  loop.getLoc());
  restrictAxis(cast<scf::ParallelOp>(outlined.copy), axis,
               function.getArgument(numArguments),
               function.getArgument(numArguments + 1));
  auto kernel = loop->getParentOfType<func::FuncOp>();
  function.setName((kernel.getName() + "_share").str());
  symbols.insert(function);

  Value trips = countTrips(b, loop, axis);
  if (Value large = isLarge(b, loop, fewest)) {
    auto choice = scf::IfOp::create(b, large, /*withElseRegion=*/true);
    b.setInsertionPointToStart(choice.elseBlock());
    SmallVector<Value> all(outlined.arguments);
    all.push_back(arith::ConstantIndexOp::create(b, 0));
    all.push_back(trips);
    func::CallOp::create(b, function, all);
    b.setInsertionPointToStart(choice.thenBlock());
  }
  callShares(b, function, outlined.arguments, trips, threads);
  loop.erase();
  ++numShared;
}

void Parallelize::runOnOperation() {
  ModuleOp module = getOperation();
  fewest = tuning::fewestSharedOperations * getTargetInfo(module).lanes();
  SymbolTable symbols(module);
  SmallVector<scf::ParallelOp> loops;
  module.walk([&](scf::ParallelOp loop) {
    if (isWorthIt(loop))
      loops.push_back(loop);
  });
  for (scf::ParallelOp loop : loops)
    share(loop, symbols);
  if (!loops.empty())
    module->setAttr(threadsAttr,
                    Builder(&getContext()).getI64IntegerAttr(threads));
  loops.clear();
  module.walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
  IRRewriter rewriter(&getContext());
  for (scf::ParallelOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (loop.getNumReductions() == 0 &&
        failed(scf::parallelForToNestedFors(rewriter, loop))) {
      loop.emitError("can't be made sequential");
      return signalPassFailure();
    }
    ++numSequential;
  }
}
