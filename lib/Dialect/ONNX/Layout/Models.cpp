// Registration of the models of LayoutOpInterface, and what they share.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

#include "OnnxQuant/Dialect/ONNX/LayoutOpInterface.cpp.inc"

/// Axes are lists no longer than this.
static constexpr int64_t maxAxes = 64;

void onnxquant::onnx::registerLayoutModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ONNXDialect *) {
    attachElementwise(*context);
    attachAlongAxes(*context);
    attachDataMovement(*context);
    attachReshaping(*context);
    attachQuantized(*context);
  });
}

Value onnxquant::onnx::layout::createAbsent(OpBuilder &builder, Location loc) {
  return NoValueOp::create(builder, loc, builder.getNoneType(),
                           builder.getUnitAttr());
}

std::optional<int64_t> onnxquant::onnx::layout::rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

Attribute onnxquant::onnx::layout::makeSigned(Operation *op, int64_t value) {
  return IntegerAttr::get(
      IntegerType::get(op->getContext(), 64, IntegerType::Signed), value);
}

std::optional<SmallVector<int64_t>>
onnxquant::onnx::layout::readAxes(Value axes, int64_t rank) {
  if (isLeftOut(axes))
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto numbers = readInts(getConstant(axes), maxAxes);
  if (!numbers)
    return std::nullopt;
  for (int64_t &axis : *numbers)
    axis = fromFront(axis, rank);
  return SmallVector<int64_t>(*numbers);
}

SmallVector<int64_t> onnxquant::onnx::layout::mapAxes(ArrayRef<int64_t> axes,
                                                      PermutationRef perm) {
  Permutation inverse = invert(perm);
  SmallVector<int64_t> mapped;
  for (int64_t axis : axes)
    mapped.push_back(inverse[axis]);
  return mapped;
}

OpLayout onnxquant::onnx::layout::makeLayout(Operation *op) {
  OpLayout layout;
  layout.operands.resize(op->getNumOperands());
  layout.results.resize(op->getNumResults());
  return layout;
}

FailureOr<OpLayout>
onnxquant::onnx::layout::makeUniform(Operation *op, TensorPlace place,
                                     PermutationRef perm,
                                     ArrayRef<unsigned> operands) {
  if (!place.isResult && !llvm::is_contained(operands, place.number))
    return failure();
  OpLayout layout = makeLayout(op);
  auto add = [&](Value value, Permutation &entry) {
    if (rankOf(value) != static_cast<int64_t>(perm.size()))
      return failure();
    entry.assign(perm.begin(), perm.end());
    return success();
  };
  for (unsigned number : operands)
    if (failed(add(op->getOperand(number), layout.operands[number])))
      return failure();
  for (OpResult result : op->getResults())
    if (failed(add(result, layout.results[result.getResultNumber()])))
      return failure();
  return layout;
}

Permutation onnxquant::onnx::layout::dropDims(PermutationRef perm,
                                              ArrayRef<int64_t> dropped) {
  Permutation left;
  for (int64_t dim : perm) {
    if (llvm::is_contained(dropped, dim))
      continue;
    left.push_back(dim - llvm::count_if(dropped, [&](int64_t gone) {
                     return gone < dim;
                   }));
  }
  return left;
}

Permutation onnxquant::onnx::layout::addDims(PermutationRef perm,
                                             ArrayRef<int64_t> added,
                                             int64_t rank) {
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(added, dim))
      kept.push_back(dim);
  // Those before the first one stay in front.
  int64_t lead = kept.empty() ? rank : kept.front();
  Permutation whole = getIdentity(lead);
  for (int64_t dim : perm) {
    int64_t first = kept[dim];
    while (first > lead && llvm::is_contained(added, first - 1))
      --first;
    for (; first <= kept[dim]; ++first)
      whole.push_back(first);
  }
  // Those behind the last one stay behind.
  for (int64_t dim = kept.empty() ? rank : kept.back() + 1; dim < rank; ++dim)
    whole.push_back(dim);
  return whole;
}

/// What a node in another layout keeps of the original: all but what speaks of
/// its results' dimensions.
static void dropResultNotes(Operation *op) {
  for (StringRef name : {StringRef(resultNamesAttr), StringRef(dimParamsAttr),
                         StringRef("onnx_result_doc_strings"),
                         StringRef("onnx_result_metadata")})
    op->removeAttr(name);
}

/// The expressions of a result's dimensions in their new order.
static void permuteDimParams(Operation *from, Operation *to,
                             const OpLayout &layout) {
  auto params = from->getAttrOfType<ArrayAttr>(dimParamsAttr);
  if (!params || to->getNumResults() != from->getNumResults())
    return;
  ShapeContext ctx;
  SmallVector<Attribute> texts;
  for (OpResult result : from->getResults()) {
    std::string text;
    const Permutation &perm = layout.results[result.getResultNumber()];
    std::optional<Dims> dims = ctx.getDims(result);
    if (dims && dims->size() == perm.size()) {
      Dims permuted;
      for (int64_t dim : perm)
        permuted.push_back((*dims)[dim]);
      text = formatDimParams(permuted);
    }
    texts.push_back(StringAttr::get(from->getContext(), text));
  }
  to->setAttr(dimParamsAttr, ArrayAttr::get(from->getContext(), texts));
}

static SmallVector<Type> getResultTypes(Operation *op, const OpLayout &layout) {
  SmallVector<Type> types;
  for (auto [type, perm] : llvm::zip(op->getResultTypes(), layout.results))
    types.push_back(
        perm.empty() ? type : permuteType(cast<RankedTensorType>(type), perm));
  return types;
}

Operation *onnxquant::onnx::layout::rebuild(OpBuilder &builder, Operation *op,
                                            const OpLayout &layout,
                                            ValueRange operands) {
  OperationState state(op->getLoc(), op->getName(), operands,
                       getResultTypes(op, layout), op->getAttrs());
  Operation *made = builder.create(state);
  dropResultNotes(made);
  permuteDimParams(op, made, layout);
  return made;
}

Operation *onnxquant::onnx::layout::rebuildAs(OpBuilder &builder,
                                              StringRef name, Operation *op,
                                              const OpLayout &layout,
                                              ValueRange operands) {
  OperationState state(op->getLoc(), name);
  state.addOperands(operands);
  state.addTypes(getResultTypes(op, layout).front());
  if (Attribute node = op->getAttr(nodeNameAttr))
    state.addAttribute(nodeNameAttr, node);
  Operation *made = builder.create(state);
  permuteDimParams(op, made, layout);
  return made;
}
