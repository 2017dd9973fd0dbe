// Layouts of ops that keep the order of elements under another shape: Squeeze,
// Unsqueeze, Reshape and Flatten.
//
// A Reshape is cut into the shortest runs of dimensions with the same number of
// elements before and after. Runs may change places as a whole; dimensions of
// size 1 may stand anywhere.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

namespace {

/// Squeeze and Unsqueeze: the shorter tensor, the longer one, and the axes of
/// the latter that the former lacks.
template <typename Op, bool removes>
struct OnesModel : public Base<OnesModel<Op, removes>, Op> {
  static std::optional<SmallVector<int64_t>> getAxes(Operation *op) {
    std::optional<int64_t> rank =
        rankOf(removes ? op->getOperand(0) : op->getResult(0));
    if (!rank || isLeftOut(op->getOperand(1)))
      return std::nullopt;
    return readAxes(op->getOperand(1), *rank);
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    std::optional<SmallVector<int64_t>> axes = getAxes(op);
    std::optional<int64_t> in = rankOf(op->getOperand(0));
    std::optional<int64_t> out = rankOf(op->getResult(0));
    if (!axes || !in || !out || (!place.isResult && place.number != 0) ||
        std::max(*in, *out) !=
            std::min(*in, *out) + static_cast<int64_t>(axes->size()))
      return failure();
    OpLayout layout = makeLayout(op);
    Permutation &longer = removes ? layout.operands[0] : layout.results[0];
    Permutation &shorter = removes ? layout.results[0] : layout.operands[0];
    if (place.isResult != removes) {
      longer.assign(perm.begin(), perm.end());
      shorter = layout::dropDims(perm, *axes);
    } else {
      shorter.assign(perm.begin(), perm.end());
      longer = addDims(perm, *axes, std::max(*in, *out));
    }
    return layout;
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    SmallVector<int64_t> axes =
        mapAxes(*getAxes(op), removes ? layout.operands[0] : layout.results[0]);
    llvm::sort(axes);
    Value list = createInts(builder, op->getLoc(), axes);
    return {rebuild(builder, op, layout, {operands[0], list})->getResult(0)};
  }
};

/// Dimensions before and after that hold the same elements, without those of
/// size 1.
struct Run {
  SmallVector<int64_t> before, after;
};

} // namespace

static SmallVector<int64_t> getLongDims(ArrayRef<Dim> dims) {
  SmallVector<int64_t> longer;
  for (auto [index, dim] : llvm::enumerate(dims))
    if (!dim.isConstant(1))
      longer.push_back(static_cast<int64_t>(index));
  return longer;
}

/// The next run at places `i` and `j` of the lists of dimensions: the one that
/// takes the fewest of them.
static std::optional<Run> getRun(ArrayRef<Dim> in, ArrayRef<Dim> out,
                                 ArrayRef<int64_t> before,
                                 ArrayRef<int64_t> after) {
  for (size_t total = 2; total <= before.size() + after.size(); ++total) {
    for (size_t n = 1; n < total && n <= before.size(); ++n) {
      size_t m = total - n;
      if (m > after.size())
        continue;
      Dim a(1), b(1);
      for (int64_t dim : before.take_front(n))
        a = a * in[dim];
      for (int64_t dim : after.take_front(m))
        b = b * out[dim];
      if (a.isValid() && a == b)
        return Run{SmallVector<int64_t>(before.take_front(n)),
                   SmallVector<int64_t>(after.take_front(m))};
    }
  }
  return std::nullopt;
}

/// All runs, in order; none if the dimensions don't tell them.
static std::optional<SmallVector<Run>> getRuns(ArrayRef<Dim> in,
                                               ArrayRef<Dim> out) {
  SmallVector<int64_t> inDims = getLongDims(in), outDims = getLongDims(out);
  ArrayRef<int64_t> before(inDims), after(outDims);
  auto isEmpty = [](const Dim &dim) { return dim.isConstant(0); };
  if (llvm::any_of(in, isEmpty) || llvm::any_of(out, isEmpty))
    return std::nullopt;
  SmallVector<Run> runs;
  while (!before.empty() && !after.empty()) {
    std::optional<Run> run = getRun(in, out, before, after);
    if (!run)
      return std::nullopt;
    before = before.drop_front(run->before.size());
    after = after.drop_front(run->after.size());
    runs.push_back(std::move(*run));
  }
  if (!before.empty() || !after.empty())
    return std::nullopt;
  return runs;
}

/// The order of the other side's dimensions if one side's are ordered by
/// `perm`; failure if a run is torn.
static FailureOr<Permutation> moveRuns(ArrayRef<Run> runs, PermutationRef perm,
                                       bool fromAfter, ArrayRef<Dim> from,
                                       ArrayRef<Dim> to) {
  SmallVector<int64_t> ordered;
  llvm::copy_if(perm, std::back_inserter(ordered),
                [&](int64_t dim) { return !from[dim].isConstant(1); });
  SmallVector<int64_t> toDims = getLongDims(to), moved;
  ArrayRef<int64_t> rest(ordered);
  while (!rest.empty()) {
    const auto *run = llvm::find_if(runs, [&](const Run &run) {
      return (fromAfter ? run.after : run.before).front() == rest.front();
    });
    if (run == runs.end())
      return failure();
    ArrayRef<int64_t> own = fromAfter ? run->after : run->before;
    if (rest.size() < own.size() || rest.take_front(own.size()) != own)
      return failure();
    rest = rest.drop_front(own.size());
    llvm::append_range(moved, fromAfter ? run->before : run->after);
  }
  // From the dimensions that aren't 1 to all of them.
  SmallVector<int64_t> ones;
  for (auto [index, dim] : llvm::enumerate(to))
    if (dim.isConstant(1))
      ones.push_back(static_cast<int64_t>(index));
  Permutation shorter;
  for (int64_t dim : moved)
    shorter.push_back(llvm::find(toDims, dim) - toDims.begin());
  return addDims(shorter, ones, static_cast<int64_t>(to.size()));
}

namespace {

struct Shapes {
  Dims in, out;
};

/// Reshape and Flatten.
template <typename Op> struct ReshapeModel : public Base<ReshapeModel<Op>, Op> {
  static std::optional<Shapes> getShapes(Operation *op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    ShapeContext ctx;
    std::optional<Dims> in = ctx.getDims(op->getOperand(0));
    if (!type || !in || failed(ctx.infer(op)))
      return std::nullopt;
    std::optional<Dims> out = ctx.getDims(op->getResult(0));
    if (!out)
      return std::nullopt;
    return Shapes{*in, *out};
  }

  /// The numbers that say the result's shape in another order; none if they
  /// can't: 0 takes over the dimension at the same place, -1 is what is left.
  static std::optional<SmallVector<int64_t>> getList(const Shapes &shapes,
                                                     const OpLayout &layout) {
    SmallVector<int64_t> list;
    bool isOpen = false;
    for (auto [place, dim] : llvm::enumerate(layout.results[0])) {
      const Dim &size = shapes.out[dim];
      if (std::optional<int64_t> number = size.getConstant()) {
        list.push_back(*number);
        continue;
      }
      if (place < shapes.in.size() &&
          shapes.in[layout.operands[0][place]] == size) {
        list.push_back(0);
        continue;
      }
      if (isOpen)
        return std::nullopt;
      isOpen = true;
      list.push_back(-1);
    }
    return list;
  }

  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    if (!place.isResult && place.number != 0)
      return failure();
    std::optional<Shapes> shapes = getShapes(op);
    if (!shapes)
      return failure();
    auto runs = getRuns(shapes->in, shapes->out);
    if (!runs)
      return failure();
    OpLayout layout = makeLayout(op);
    Permutation &own = place.isResult ? layout.results[0] : layout.operands[0];
    Permutation &other =
        place.isResult ? layout.operands[0] : layout.results[0];
    own.assign(perm.begin(), perm.end());
    const Dims &from = place.isResult ? shapes->out : shapes->in;
    const Dims &to = place.isResult ? shapes->in : shapes->out;
    if (from.size() != perm.size())
      return failure();
    FailureOr<Permutation> moved =
        moveRuns(*runs, perm, place.isResult, from, to);
    if (failed(moved))
      return failure();
    other = *moved;
    if (!getList(*shapes, layout))
      return failure();
    return layout;
  }

  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    SmallVector<int64_t> list = *getList(*getShapes(op), layout);
    Value shape = createInts(builder, op->getLoc(), list);
    Operation *made = rebuildAs(builder, ReshapeOp::getOperationName(), op,
                                layout, {operands[0], shape});
    made->setAttr("allowzero", makeSigned(op, 0));
    return {made->getResult(0)};
  }
};

} // namespace

void onnxquant::onnx::layout::attachReshaping(MLIRContext &context) {
  SqueezeOp::attachInterface<OnesModel<SqueezeOp, true>>(context);
  UnsqueezeOp::attachInterface<OnesModel<UnsqueezeOp, false>>(context);
  ReshapeOp::attachInterface<ReshapeModel<ReshapeOp>>(context);
  FlattenOp::attachInterface<ReshapeModel<FlattenOp>>(context);
}
