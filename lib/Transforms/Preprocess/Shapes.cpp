// What shape inference does to a graph besides asking its ops: old shapes
// forgotten, outputs updated, and the two guesses that users can ask for.

#include "Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;

/// When inputs change, what was inferred from the old ones must go, or it would
/// stand against what is inferred now. Constants keep their types.
void preprocess::forgetShapes(func::FuncOp function) {
  function->walk([](Operation *op) {
    op->removeAttr(dimParamsAttr);
    if (isa<ConstantOp, NoValueOp, CustomOp>(op) ||
        !isa<ShapeInferenceOpInterface>(op))
      return;
    for (OpResult result : op->getResults())
      if (auto tensor = dyn_cast<TensorType>(result.getType()))
        result.setType(UnrankedTensorType::get(tensor.getElementType()));
  });
}

/// The graph's outputs get the types that were inferred.
void preprocess::updateResults(func::FuncOp function, ShapeContext &ctx) {
  auto terminator =
      dyn_cast<ReturnOp>(function.getBody().front().getTerminator());
  if (!terminator)
    return;
  SmallVector<Type> results(terminator.getOperandTypes());
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), results));
  SmallVector<DictionaryAttr> all;
  for (auto [index, value] : llvm::enumerate(terminator.getOperands())) {
    std::optional<Dims> dims = ctx.getDims(value);
    std::string params = dims ? formatDimParams(*dims) : "";
    NamedAttrList attributes(function.getResultAttrDict(index));
    if (params.empty())
      attributes.erase(argDimParamsAttr);
    else
      attributes.set(argDimParamsAttr,
                     StringAttr::get(function.getContext(), params));
    all.push_back(attributes.getDictionary(function.getContext()));
  }
  function.setAllResultAttrs(all);
}

void preprocess::dropExpressions(func::FuncOp function) {
  function->walk([](Operation *op) { op->removeAttr(dimParamsAttr); });
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.removeResultAttr(
        i, StringAttr::get(function.getContext(), argDimParamsAttr));
}

bool preprocess::guessOutputRanks(func::FuncOp function) {
  bool guessed = false;
  function->walk([&](CustomOp op) {
    auto input = op->getNumOperands() > 0
                     ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
                     : RankedTensorType();
    if (!input)
      return;
    SmallVector<int64_t> shape(input.getRank(), ShapedType::kDynamic);
    for (OpResult result : op->getResults())
      if (auto open = dyn_cast<UnrankedTensorType>(result.getType())) {
        result.setType(RankedTensorType::get(shape, open.getElementType()));
        guessed = true;
      }
  });
  return guessed;
}

/// Whether operands meet element by element, broadcast from the right.
static bool isElementwise(Operation *op) {
  return isa<AddOp, SubOp, MulOp, DivOp, ModOp, PowOp, MaxOp, MinOp, SumOp,
             MeanOp, WhereOp, EqualOp, GreaterOp, GreaterOrEqualOp, LessOp,
             LessOrEqualOp, AndOp, OrOp, XorOp>(op);
}

namespace {

/// Names of dimensions that are the same, and the first name of each.
struct Merges {
  llvm::StringSet<> names;
  llvm::StringMap<std::string> first;

  /// Two dimensions that meet: different names become one.
  void meet(const Dim &a, const Dim &b) {
    std::string one = a.str(), other = b.str();
    if (one != other && names.contains(one) && names.contains(other) &&
        !first.count(one) && !first.count(other))
      first[other] = one;
  }
};

} // namespace

static void meetOperands(Operation *op, ShapeContext &ctx, Merges &merges) {
  auto concat = dyn_cast<ConcatOp>(op);
  if (!isElementwise(op) && !concat)
    return;
  std::optional<Dims> known;
  for (Value operand : op->getOperands()) {
    std::optional<Dims> dims = ctx.getDims(operand);
    if (!dims)
      continue;
    size_t shared = known ? std::min(known->size(), dims->size()) : 0;
    for (size_t i = 1; i <= shared; ++i) {
      int64_t axis = static_cast<int64_t>(dims->size() - i);
      bool joined = concat && (concat.getAxis() == axis ||
                               concat.getAxis() == -static_cast<int64_t>(i));
      if (!joined)
        merges.meet((*known)[known->size() - i], (*dims)[axis]);
    }
    if (!known || dims->size() > known->size())
      known = dims;
  }
}

bool preprocess::mergeDimensions(func::FuncOp function, ShapeContext &ctx) {
  Merges merges;
  for (BlockArgument argument : function.getArguments())
    if (std::optional<Dims> dims = ctx.getDims(argument))
      for (const Dim &dim : *dims)
        if (!dim.isConstant() && !dim.isAnonymous())
          merges.names.insert(dim.str());
  function->walk([&](Operation *op) { meetOperands(op, ctx, merges); });
  if (merges.first.empty())
    return false;
  for (BlockArgument argument : function.getArguments()) {
    std::optional<Dims> dims = ctx.getDims(argument);
    if (!dims)
      continue;
    for (Dim &dim : *dims)
      if (auto it = merges.first.find(dim.str()); it != merges.first.end())
        dim = Dim::parse(it->second);
    if (std::string params = formatDimParams(*dims); !params.empty())
      function.setArgAttr(argument.getArgNumber(), argDimParamsAttr,
                          StringAttr::get(function.getContext(), params));
  }
  forgetShapes(function);
  return true;
}
