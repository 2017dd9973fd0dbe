// Reduces along contiguous elements in lanes. Enters: loops over buffers.
// Leaves: the same loops, with a vector loop in front of those that combine one
// element after the other into one accumulator.
//
// Lane i takes elements i, i + 16, ...; the lanes are combined by halves, then
// the elements that are left follow one by one. The order depends on the number
// of elements alone, so results are the same on every target.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_VECTORIZEREDUCTIONS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr int64_t lanes = 16;
/// Fewer elements are not worth combining lanes.
static constexpr int64_t fewest = 2 * lanes;

namespace {

/// A loop of the form `acc = combine(acc, f(element))`.
struct Reduction {
  scf::ForOp loop;
  memref::LoadOp before;
  memref::StoreOp after;
  Operation *combine = nullptr;
  /// The ops between, in order.
  SmallVector<Operation *> ops;
};

struct VectorizeReductions
    : public onnxquant::impl::VectorizeReductionsBase<VectorizeReductions> {
  using VectorizeReductionsBase::VectorizeReductionsBase;
  void runOnOperation() override;
};

} // namespace

/// Numbers that a vector may hold.
static bool isNumber(Type type) {
  return type.isF32() || type.isF64() || type.isInteger(1) ||
         type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

static bool isOutside(scf::ForOp loop, Value value) {
  return loop.isDefinedOutsideOfLoop(value);
}

static bool areOutside(scf::ForOp loop, ValueRange values) {
  return llvm::all_of(values, [&](Value v) { return isOutside(loop, v); });
}

/// Whether a load reads neighbours in neighbouring iterations.
static bool isContiguous(scf::ForOp loop, memref::LoadOp load) {
  ValueRange indices = load.getIndices();
  if (indices.empty() || indices.back() != loop.getInductionVar() ||
      !areOutside(loop, indices.drop_back()) ||
      !isOutside(loop, load.getMemRef()))
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(load.getMemRefType().getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// What combining nothing gives; none if the op isn't one that combines.
static TypedAttr neutralOf(Operation *op) {
  Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
  OpBuilder b(op->getContext());
  auto constant = [&](const APFloat &value) -> TypedAttr {
    return b.getFloatAttr(type, value);
  };
  auto integer = [&](const APInt &value) -> TypedAttr {
    return b.getIntegerAttr(type, value);
  };
  if (auto floating = dyn_cast_if_present<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    if (isa<arith::AddFOp>(op))
      return constant(APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(op))
      return constant(APFloat::getOne(semantics));
    if (isa<arith::MaximumFOp>(op))
      return constant(APFloat::getInf(semantics, /*Negative=*/true));
    if (isa<arith::MinimumFOp>(op))
      return constant(APFloat::getInf(semantics));
    return {};
  }
  if (!type || !type.isInteger())
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<arith::AddIOp, arith::MaxUIOp>(op))
    return integer(APInt::getZero(bits));
  if (isa<arith::MulIOp>(op))
    return integer(APInt(bits, 1));
  if (isa<arith::MaxSIOp>(op))
    return integer(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(op))
    return integer(APInt::getSignedMaxValue(bits));
  if (isa<arith::MinUIOp>(op))
    return integer(APInt::getMaxValue(bits));
  return {};
}

/// Whether an op of the body can be done on lanes.
static bool isLaneWise(scf::ForOp loop, Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isNumber(load.getType()) &&
           (isContiguous(loop, load) || areOutside(loop, load->getOperands()));
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 ||
      !isNumber(op->getResult(0).getType()))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return operand != loop.getInductionVar() && isNumber(operand.getType());
  });
}

static std::optional<Reduction> match(scf::ForOp loop) {
  if (loop.getNumResults() != 0 || getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> high = getConstantIntValue(loop.getUpperBound());
  if (low && high && *high - *low < fewest)
    return std::nullopt;
  Block *body = loop.getBody();
  auto store =
      dyn_cast_or_null<memref::StoreOp>(body->getTerminator()->getPrevNode());
  if (!store || !areOutside(loop, store.getIndices()) ||
      !isOutside(loop, store.getMemRef()))
    return std::nullopt;
  Reduction found;
  found.loop = loop;
  found.after = store;
  found.combine = store.getValue().getDefiningOp();
  if (!found.combine || found.combine->getBlock() != body ||
      !neutralOf(found.combine) || !found.combine->hasOneUse())
    return std::nullopt;
  for (Value operand : found.combine->getOperands())
    if (auto load = operand.getDefiningOp<memref::LoadOp>())
      if (load.getMemRef() == store.getMemRef() &&
          load.getIndices() == store.getIndices() && load->hasOneUse() &&
          load->getBlock() == body)
        found.before = load;
  if (!found.before ||
      found.combine->getOperand(0) == found.combine->getOperand(1))
    return std::nullopt;
  bool reads = false;
  for (Operation &op : body->without_terminator()) {
    if (&op == found.before || &op == found.combine || &op == store)
      continue;
    if (!isLaneWise(loop, &op))
      return std::nullopt;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (load.getMemRef() == store.getMemRef())
        return std::nullopt;
      reads |= isContiguous(loop, load);
    }
    found.ops.push_back(&op);
  }
  if (!reads)
    return std::nullopt;
  return found;
}

/// Emits the ops of the body for the lanes that begin at `at`.
static Value emitLanes(ImplicitLocOpBuilder &b, const Reduction &reduction,
                       Value at, Value sums) {
  scf::ForOp loop = reduction.loop;
  IRMapping mapping;
  auto laneType = [](Type type) { return VectorType::get({lanes}, type); };
  auto get = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value all =
        vector::BroadcastOp::create(b, laneType(value.getType()), value);
    mapping.map(value, all);
    return all;
  };
  mapping.map(reduction.before->getResult(0), sums);
  auto emit = [&](Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(get(operand));
    OperationState state(op->getLoc(), op->getName().getStringRef(), operands,
                         laneType(op->getResult(0).getType()), op->getAttrs());
    mapping.map(op->getResult(0), b.create(state)->getResult(0));
  };
  for (Operation *op : reduction.ops) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load) {
      emit(op);
      continue;
    }
    if (!isContiguous(loop, load)) {
      mapping.map(load.getResult(),
                  vector::BroadcastOp::create(b, laneType(load.getType()),
                                              b.clone(*op)->getResult(0)));
      continue;
    }
    SmallVector<Value> indices(load.getIndices());
    indices.back() = at;
    mapping.map(load.getResult(),
                vector::LoadOp::create(b, laneType(load.getType()),
                                       load.getMemRef(), indices));
  }
  emit(reduction.combine);
  return mapping.lookup(reduction.combine->getResult(0));
}

static Value combineOf(ImplicitLocOpBuilder &b, Operation *combine, Value x,
                       Value y) {
  OperationState state(combine->getLoc(), combine->getName().getStringRef(),
                       {x, y}, x.getType(), combine->getAttrs());
  return b.create(state)->getResult(0);
}

/// The lanes combined by halves.
static Value combineLanes(ImplicitLocOpBuilder &b, Operation *combine,
                          Value sums) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    auto part = [&](int64_t from) {
      return vector::ExtractStridedSliceOp::create(
          b, sums, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
    };
    sums = combineOf(b, combine, part(0), part(half));
  }
  return vector::ExtractOp::create(b, sums, 0);
}

/// Puts a loop over lanes before the loop, which is left with the rest.
static void vectorize(const Reduction &reduction) {
  scf::ForOp loop = reduction.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  Value width = arith::ConstantIndexOp::create(b, lanes);
  Value count = b.createOrFold<arith::SubIOp>(high, low);
  Value rest = b.createOrFold<arith::RemUIOp>(count, width);
  Value end = b.createOrFold<arith::SubIOp>(high, rest);
  Value many = b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::sge, count,
      arith::ConstantIndexOp::create(b, fewest).getResult());
  auto guard = scf::IfOp::create(b, many, /*withElseRegion=*/false);
  Value from = b.createOrFold<arith::SelectOp>(many, end, low);
  loop.setLowerBound(from);

  b.setInsertionPointToStart(guard.thenBlock());
  Type type = reduction.combine->getResult(0).getType();
  auto vectorType = VectorType::get({lanes}, type);
  Value neutral = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType, neutralOf(reduction.combine)));
  auto main = scf::ForOp::create(b, low, end, width, ValueRange{neutral});
  b.setInsertionPointToEnd(main.getBody());
  scf::YieldOp::create(b, emitLanes(b, reduction, main.getInductionVar(),
                                    main.getRegionIterArg(0)));
  b.setInsertionPointAfter(main);
  Value sum = combineLanes(b, reduction.combine, main.getResult(0));
  memref::StoreOp after = reduction.after;
  Value old = memref::LoadOp::create(b, after.getMemRef(), after.getIndices());
  memref::StoreOp::create(b, combineOf(b, reduction.combine, old, sum),
                          after.getMemRef(), after.getIndices());
}

void VectorizeReductions::runOnOperation() {
  SmallVector<Reduction> reductions;
  getOperation().walk([&](scf::ForOp loop) {
    std::optional<Reduction> found = match(loop);
    if (found &&
        (!floats || isa<FloatType>(found->combine->getResult(0).getType())))
      reductions.push_back(*found);
  });
  for (const Reduction &reduction : reductions)
    vectorize(reduction);
  numVectorized += reductions.size();
}
