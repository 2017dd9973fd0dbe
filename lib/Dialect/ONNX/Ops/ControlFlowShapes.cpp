// Shapes of If, Loop and Scan.
//
// A carried value may change its shape from one run of a body to the next. The
// dimensions of its argument are found by trial: a copy of the op is inferred
// with the initial value's dimensions, those that the body does not give back
// are made unknown, and so on until all that is assumed holds. Only then is the
// op itself inferred, since its types can be narrowed but not widened.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"
#include <vector>

using namespace mlir;
using namespace onnxquant::onnx;

/// Trials per loop, and how many loops inside of each other try at all: the
/// costs multiply.
static constexpr unsigned maxTrials = 6;
static constexpr unsigned maxTryingDepth = 3;

/// Infers a region without reporting errors; other threads still report theirs.
static LogicalResult inferQuietly(ShapeContext &ctx, Region &region) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(region.getContext(), [=](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  return ctx.infer(region);
}

static Operation::operand_range getYielded(Region &region) {
  return region.front().getTerminator()->getOperands();
}

/// Forgets all values that a region defines, because they are about to go.
static void forgetAll(ShapeContext &ctx, Region &region) {
  for (Block &block : region)
    for (BlockArgument argument : block.getArguments())
      ctx.forget(argument);
  for (Operation &op : region.getOps()) {
    for (Value result : op.getResults())
      ctx.forget(result);
    for (Region &inner : op.getRegions())
      forgetAll(ctx, inner);
  }
}

/// What is known of a tensor that is one or the other.
static std::optional<Dims> joinDims(ShapeContext &ctx,
                                    const std::optional<Dims> &a,
                                    const std::optional<Dims> &b) {
  if (!a || !b || a->size() != b->size())
    return std::nullopt;
  Dims joined;
  for (auto [left, right] : llvm::zip(*a, *b))
    joined.push_back(left == right ? left : ctx.unknown());
  return joined;
}

static Type joinElementTypes(Value a, Value b) {
  Type type = getElementType(a);
  return type && !isa<UnknownType>(type) ? type : getElementType(b);
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// Moves the ops of the branch that is always taken before the op, and lets
/// both branches yield what they make.
static void hoistBranch(IfOp op, Region &taken, Region &other,
                        ShapeContext &ctx) {
  forgetAll(ctx, other);
  other.front().clear();
  Block &block = taken.front();
  Operation *yield = block.getTerminator();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations(), block.begin(),
                                         yield->getIterator());
  OpBuilder::atBlockEnd(&other.front()).clone(*yield);
}

/// Infers the branches if one is always taken. The other may be wrong for the
/// shapes at hand: models ask for a shape first, and handle either case.
static LogicalResult inferTaken(IfOp op, Region &taken, Region &other,
                                ShapeContext &ctx) {
  if (failed(ctx.infer(taken)))
    return failure();
  if (failed(inferQuietly(ctx, other)))
    hoistBranch(op, taken, other, ctx);
  return success();
}

/// Makes the types of a branch say nothing again but their elements.
static void openShapes(ShapeContext &ctx, Region &branch) {
  forgetAll(ctx, branch);
  branch.walk([](Operation *op) {
    op->removeAttr(dimParamsAttr);
    if (!isa<ShapeInferenceOpInterface>(op) ||
        isa<ConstantOp, NoValueOp, CustomOp>(op))
      return;
    for (OpResult result : op->getResults())
      if (auto tensor = dyn_cast<TensorType>(result.getType()))
        result.setType(UnrankedTensorType::get(tensor.getElementType()));
  });
}

/// Infers both branches; gives the one that counts if the other can't be right
/// for the shapes at hand, which then is an error only if it is run.
static FailureOr<Region *> inferBranches(IfOp op, ShapeContext &ctx) {
  Region &first = op.getThenBranch(), &second = op.getElseBranch();
  bool firstFits = succeeded(inferQuietly(ctx, first));
  bool secondFits = succeeded(inferQuietly(ctx, second));
  if (firstFits && secondFits)
    return nullptr;
  if (!firstFits && !secondFits) {
    // Once more, for its error to be reported.
    (void)ctx.infer(first);
    return failure();
  }
  openShapes(ctx, firstFits ? second : first);
  return firstFits ? &first : &second;
}

LogicalResult IfOp::inferShapes(ShapeContext &ctx) {
  std::optional<int64_t> condition = ctx.getConstant(getCond());
  Region *taken = nullptr, *fitting = nullptr;
  if (condition) {
    taken = *condition != 0 ? &getThenBranch() : &getElseBranch();
    Region &other = *condition != 0 ? getElseBranch() : getThenBranch();
    if (failed(inferTaken(*this, *taken, other, ctx)))
      return failure();
    fitting = taken;
  } else {
    FailureOr<Region *> only = inferBranches(*this, ctx);
    if (failed(only))
      return failure();
    fitting = *only;
  }
  for (OpResult result : getOperation()->getResults()) {
    unsigned index = result.getResultNumber();
    Value a = getYielded(fitting ? *fitting : getThenBranch())[index];
    Value b = getYielded(fitting ? *fitting : getElseBranch())[index];
    if (failed(ctx.set(result, joinElementTypes(a, b),
                       joinDims(ctx, ctx.getDims(a), ctx.getDims(b)))))
      return failure();
    if (!taken)
      continue;
    if (std::optional<Dims> contents = ctx.getContents(a))
      ctx.setContents(result, *contents);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies that run again and again
//===----------------------------------------------------------------------===//

namespace {
/// What is assumed of a body's argument in every run.
struct Assumption {
  Type elementType;
  std::optional<Dims> dims;
  /// What the model declares is taken for granted unless a number contradicts
  /// it: the rank, and per dimension.
  bool rankDeclared = false;
  SmallVector<bool> declared;
  /// The dimensions that are known to change.
  SmallVector<bool> relaxed;

  Assumption(ShapeContext &ctx, BlockArgument argument, Type elementType,
             const std::optional<Dims> &offered);
  void apply(ShapeContext &ctx, BlockArgument argument) const;
  bool relax(ShapeContext &ctx, const std::optional<Dims> &yielded);
  bool relaxDims(ShapeContext &ctx);
  void relaxRank(ShapeContext &ctx);
};

/// A body, its arguments' assumptions, and which of them are carried: argument
/// `firstCarried + i` becomes what is yielded at `firstYielded + i`.
class RepeatedBody {
public:
  RepeatedBody(Operation *op, ShapeContext &ctx, unsigned firstCarried,
               unsigned firstYielded, unsigned numCarried)
      : op(op), ctx(ctx), firstCarried(firstCarried),
        firstYielded(firstYielded), numCarried(numCarried) {}

  /// States the next argument's dimensions in the first run, or in all runs if
  /// it isn't carried.
  void offer(Type elementType, const std::optional<Dims> &dims) {
    BlockArgument argument = op->getRegion(0).getArgument(assumptions.size());
    assumptions.emplace_back(ctx, argument, elementType, dims);
  }

  /// Finds what holds in every run, and infers the body with it.
  LogicalResult infer();
  /// Sets the results that are carried values.
  LogicalResult setCarried();

  Value getYielded(unsigned index) {
    return ::getYielded(op->getRegion(0))[index];
  }

private:
  MutableArrayRef<Assumption> getCarried() {
    return MutableArrayRef(assumptions).slice(firstCarried, numCarried);
  }
  void apply(Region &body);
  FailureOr<SmallVector<std::optional<Dims>>> tryBody();
  bool relaxDims();
  void settle();

  Operation *op;
  ShapeContext &ctx;
  unsigned firstCarried, firstYielded, numCarried;
  std::vector<Assumption> assumptions;
};
} // namespace

Assumption::Assumption(ShapeContext &ctx, BlockArgument argument,
                       Type elementType, const std::optional<Dims> &offered)
    : elementType(elementType), dims(offered) {
  Type old = getElementType(argument);
  if (!this->elementType || (old && !isa<UnknownType>(old)))
    this->elementType = old;
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  bool sameRank = type && offered &&
                  static_cast<int64_t>(offered->size()) == type.getRank();
  if (type && (!offered || sameRank)) {
    rankDeclared = true;
    if (!offered)
      dims = ctx.unknowns(type.getRank());
    declared.assign(type.getRank(), false);
    for (auto [index, size] : llvm::enumerate(type.getShape())) {
      Dim &dim = (*dims)[index];
      // A number that the first run contradicts was declared in error.
      if (ShapedType::isDynamic(size) ||
          (dim.isConstant() && !dim.isConstant(size)))
        continue;
      declared[index] = true;
      dim = Dim(size);
    }
  }
  if (dims) {
    declared.resize(dims->size(), false);
    relaxed.resize(dims->size(), false);
  }
}

void Assumption::apply(ShapeContext &ctx, BlockArgument argument) const {
  if (!elementType)
    return;
  ctx.forget(argument);
  if (!dims) {
    argument.setType(UnrankedTensorType::get(elementType));
    return;
  }
  SmallVector<int64_t> shape;
  for (const Dim &dim : *dims) {
    std::optional<int64_t> size = dim.getConstant();
    shape.push_back(size && *size >= 0 ? *size : ShapedType::kDynamic);
  }
  argument.setType(RankedTensorType::get(shape, elementType));
  ctx.setDims(argument, *dims);
}

/// Gives up what a run contradicts; returns whether that was something.
bool Assumption::relax(ShapeContext &ctx, const std::optional<Dims> &yielded) {
  if (!dims)
    return false;
  if (yielded ? yielded->size() != dims->size() : !rankDeclared) {
    dims.reset();
    return true;
  }
  bool changed = false;
  for (size_t i = 0; i < dims->size(); ++i) {
    Dim &dim = (*dims)[i];
    bool same = yielded && dim == (*yielded)[i];
    bool refuted = yielded && (*yielded)[i].isConstant();
    if (same || relaxed[i] || (declared[i] && !refuted))
      continue;
    relaxed[i] = true;
    declared[i] = false;
    dim = ctx.unknown();
    changed = true;
  }
  return changed;
}

/// Gives up all dimensions that aren't declared.
bool Assumption::relaxDims(ShapeContext &ctx) {
  bool changed = false;
  for (size_t i = 0; dims && i < dims->size(); ++i) {
    if (declared[i] || relaxed[i])
      continue;
    relaxed[i] = true;
    (*dims)[i] = ctx.unknown();
    changed = true;
  }
  return changed;
}

void Assumption::relaxRank(ShapeContext &ctx) {
  if (rankDeclared)
    relaxDims(ctx);
  else
    dims.reset();
}

void RepeatedBody::apply(Region &body) {
  for (auto [argument, assumption] :
       llvm::zip(body.getArguments(), assumptions))
    assumption.apply(ctx, argument);
}

/// Infers a copy of the op's body and gives the dimensions of what it yields
/// for the carried values.
FailureOr<SmallVector<std::optional<Dims>>> RepeatedBody::tryBody() {
  Operation *copy = OpBuilder(op).clone(*op);
  Region &body = copy->getRegion(0);
  apply(body);
  LogicalResult inferred = inferQuietly(ctx, body);
  SmallVector<std::optional<Dims>> yielded;
  for (unsigned i = 0; i < numCarried; ++i)
    yielded.push_back(ctx.getDims(::getYielded(body)[firstYielded + i]));
  forgetAll(ctx, body);
  copy->erase();
  if (failed(inferred))
    return failure();
  return yielded;
}

/// Whether an op is too deep inside of other loops to try.
static bool isDeep(Operation *op) {
  unsigned depth = 0;
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (isa<LoopOp, ScanOp>(parent) && ++depth > maxTryingDepth)
      return true;
  return false;
}

bool RepeatedBody::relaxDims() {
  bool changed = false;
  for (Assumption &assumption : getCarried())
    changed |= assumption.relaxDims(ctx);
  return changed;
}

/// Gives up assumptions until the rest holds in every run.
void RepeatedBody::settle() {
  if (llvm::none_of(getCarried(), [](const Assumption &assumption) {
        return assumption.dims.has_value();
      }))
    return;
  for (unsigned trial = 0; trial < maxTrials && !isDeep(op); ++trial) {
    FailureOr<SmallVector<std::optional<Dims>>> yielded = tryBody();
    if (failed(yielded)) {
      // It may have failed because of what is assumed.
      if (!relaxDims())
        break;
      continue;
    }
    bool changed = false;
    for (auto [assumption, dims] : llvm::zip(getCarried(), *yielded))
      changed |= assumption.relax(ctx, dims);
    if (!changed)
      return;
    if (trial + 2 >= maxTrials)
      relaxDims();
  }
  for (Assumption &assumption : getCarried())
    assumption.relaxRank(ctx);
}

LogicalResult RepeatedBody::infer() {
  settle();
  apply(op->getRegion(0));
  return ctx.infer(op->getRegion(0));
}

LogicalResult RepeatedBody::setCarried() {
  for (auto [index, assumption] : llvm::enumerate(getCarried())) {
    Value yielded = getYielded(firstYielded + index);
    Type elementType = assumption.elementType;
    if (!elementType || isa<UnknownType>(elementType))
      elementType = getElementType(yielded);
    if (failed(ctx.set(op->getOpResult(index), elementType,
                       joinDims(ctx, assumption.dims, ctx.getDims(yielded)))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Looks through ops that only pass their operand on.
static Value skipIdentities(Value value) {
  while (auto identity = value.getDefiningOp<IdentityOp>())
    value = identity->getOperand(0);
  return value;
}

/// The number of runs, if only the limit decides, and is a number.
static Dim getTripCount(LoopOp op, ShapeContext &ctx) {
  if (isLeftOut(op.getM()))
    return ctx.unknown();
  std::optional<int64_t> limit = ctx.getConstant(op.getM());
  std::optional<int64_t> first =
      isLeftOut(op.getCond()) ? 1 : ctx.getConstant(op.getCond());
  if (!limit || !first)
    return ctx.unknown();
  if (*first == 0 || *limit <= 0)
    return 0;
  Value next = skipIdentities(getYielded(op.getBody())[0]);
  if (next == op.getBody().getArgument(1))
    return *limit;
  std::optional<int64_t> constant = ctx.getConstant(next);
  return constant && *constant != 0 ? Dim(*limit) : ctx.unknown();
}

LogicalResult LoopOp::inferShapes(ShapeContext &ctx) {
  unsigned numCarried = getVInitial().size();
  RepeatedBody body(*this, ctx, /*firstCarried=*/2, /*firstYielded=*/1,
                    numCarried);
  // The number and the condition are scalars unless declared otherwise.
  for (BlockArgument argument : getBody().getArguments().take_front(2)) {
    std::optional<Dims> dims = ctx.getDims(argument);
    body.offer(
        IntegerType::get(getContext(), argument.getArgNumber() == 0 ? 64 : 1),
        dims ? *dims : Dims());
  }
  for (Value initial : getVInitial())
    body.offer(getElementType(initial), ctx.getDims(initial));
  if (failed(body.infer()) || failed(body.setCarried()))
    return failure();

  Dim count = getTripCount(*this, ctx);
  for (OpResult result : getOperation()->getResults().drop_front(numCarried)) {
    Value element = body.getYielded(result.getResultNumber() + 1);
    std::optional<Dims> dims = ctx.getDims(element);
    if (dims)
      dims->insert(dims->begin(), count);
    if (failed(ctx.set(result, getElementType(element), dims)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  Operation *op = getOperation();
  size_t inputs = getNumScanInputs();
  size_t states = op->getNumOperands() - inputs;
  RepeatedBody body(op, ctx, /*firstCarried=*/0, /*firstYielded=*/0, states);
  for (Value state : op->getOperands().take_front(states))
    body.offer(getElementType(state), ctx.getDims(state));

  // A number is the best description of the common length.
  std::optional<Dim> length;
  SmallVector<int64_t> axes = shape::getInts(getScanInputAxes(), inputs);
  for (auto [value, place] :
       llvm::zip(op->getOperands().drop_front(states), axes)) {
    std::optional<Dims> dims = ctx.getDims(value);
    if (dims) {
      int64_t axis = *shape::normalizeAxis(place, dims->size());
      const Dim &size = (*dims)[axis];
      if (!length || (!length->isConstant() && size.isConstant()))
        length = size;
      dims->erase(dims->begin() + axis);
    }
    body.offer(getElementType(value), dims);
  }
  if (failed(body.infer()) || failed(body.setCarried()))
    return failure();

  if (!length)
    length = ctx.unknown();
  axes = shape::getInts(getScanOutputAxes(), op->getNumResults() - states);
  for (auto [result, place] :
       llvm::zip(op->getResults().drop_front(states), axes)) {
    Value element = body.getYielded(result.getResultNumber());
    std::optional<Dims> dims = ctx.getDims(element);
    if (dims) {
      FailureOr<int64_t> axis = shape::normalizeAxis(place, dims->size() + 1);
      if (failed(axis))
        return emitOpError("expects the axis of a scan output within rank ")
               << dims->size() + 1 << ", but got " << place << " (C6)";
      dims->insert(dims->begin() + *axis, *length);
    }
    if (failed(ctx.set(result, getElementType(element), dims)))
      return failure();
  }
  return success();
}
