// Makes the batch, the first dimension of every input, a named one.
// Enters: a model for a fixed batch. Leaves: the same for any. Reshapes to
// constant dimensions that hold the old batch copy or infer it instead, where
// that is proved; where it isn't, where an output lacks the batch, or where two
// samples at once don't fit the graph, the model is refused.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "Shapes.h"

namespace onnxquant {
#define GEN_PASS_DEF_DYNAMICBATCH
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;
using namespace onnxquant::rewriting;

namespace {

struct DynamicBatch : public onnxquant::impl::DynamicBatchBase<DynamicBatch> {
  using DynamicBatchBase::DynamicBatchBase;
  void runOnOperation() override;

private:
  LogicalResult openInputs(func::FuncOp function);
  LogicalResult openReshape(ReshapeOp op, ShapeContext &ctx);
  LogicalResult replaceTarget(ReshapeOp op, ArrayRef<int64_t> target);
  LogicalResult checkOutputs(func::FuncOp function, ShapeContext &ctx);
  LogicalResult tryTwo(func::FuncOp function);
  bool hasBatch(const Dim &dim) const;

  /// The size that the batch had; none where it was open.
  std::optional<int64_t> old;
  int64_t reshapes = 0;
};

} // namespace

bool DynamicBatch::hasBatch(const Dim &dim) const {
  // The name as a word of the expression.
  StringRef text = name;
  std::string expression = dim.str();
  for (size_t at = expression.find(text.str()); at != std::string::npos;
       at = expression.find(text.str(), at + 1)) {
    auto isPart = [&](size_t index) {
      return index < expression.size() &&
             (llvm::isAlnum(expression[index]) || expression[index] == '_' ||
              expression[index] == '.');
    };
    if ((at == 0 || !isPart(at - 1)) && !isPart(at + text.size()))
      return true;
  }
  return false;
}

/// Sets the first dimension of every input to a size or, if that is dynamic, to
/// a name.
static void setBatch(func::FuncOp function, int64_t size, StringRef name) {
  SmallVector<Type> types;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.getRank() > 0) {
      ShapeContext ctx;
      Dims dims = *ctx.getDims(argument);
      dims.front() =
          ShapedType::isDynamic(size) ? Dim::symbol(name) : Dim(size);
      SmallVector<int64_t> shape(type.getShape());
      shape.front() = size;
      argument.setType(RankedTensorType::get(shape, type.getElementType()));
      std::string params = formatDimParams(dims);
      if (params.empty())
        function.removeArgAttr(argument.getArgNumber(), argDimParamsAttr);
      else
        function.setArgAttr(argument.getArgNumber(), argDimParamsAttr,
                            StringAttr::get(function.getContext(), params));
    }
    types.push_back(argument.getType());
  }
  function.setType(FunctionType::get(function.getContext(), types,
                                     function.getResultTypes()));
}

LogicalResult DynamicBatch::openInputs(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return function.emitError("expects input '")
             << getTensorName(argument)
             << "' to have a known rank for a dynamic batch";
    if (type.getRank() == 0 || type.isDynamicDim(0))
      continue;
    if (old && *old != type.getDimSize(0))
      return function.emitError("expects one batch for all inputs, but input '")
             << getTensorName(argument) << "' has " << type.getDimSize(0)
             << " where others have " << *old;
    old = type.getDimSize(0);
  }
  setBatch(function, ShapedType::kDynamic, name);
  forgetShapes(function);
  return success();
}

static std::string describe(ArrayRef<Dim> dims) {
  std::string text;
  for (const Dim &dim : dims)
    text += (text.empty() ? "" : "x") + dim.str();
  return text;
}

LogicalResult DynamicBatch::replaceTarget(ReshapeOp op,
                                          ArrayRef<int64_t> target) {
  OpBuilder builder(op);
  op->setOperand(1, makeConstant(builder, op.getLoc(),
                                 makeInts(target, &getContext()),
                                 nameForNew(op.getShape(), op, "shape")));
  ++reshapes;
  return success();
}

LogicalResult DynamicBatch::openReshape(ReshapeOp op, ShapeContext &ctx) {
  std::optional<Dims> dims = ctx.getDims(op.getData());
  auto target = readSmallInts(op.getShape());
  if (!dims || !target || !old ||
      llvm::none_of(*dims, [&](const Dim &dim) { return hasBatch(dim); }))
    return success();
  Dim batch = Dim::symbol(name);
  bool infers = llvm::is_contained(*target, -1);
  // The dimensions as the target says them now: if they are enough, it stays.
  Dim elements = shape::product(*dims), stated = 1;
  for (auto [index, size] : llvm::enumerate(*target)) {
    bool copies = size == 0 && op.getAllowzero() == 0;
    if (copies && index < dims->size())
      stated = stated * (*dims)[index];
    else if (size != -1)
      stated = stated * Dim(size);
  }
  // An inferred first dimension takes the batch.
  if (infers && (target->front() == -1 || !llvm::is_contained(*target, *old)))
    return success();
  if (!infers && stated == elements)
    return success();
  // A dimension that is the batch on both sides is copied, even where another
  // one is inferred.
  for (auto [index, size] : llvm::enumerate(*target))
    if (size == *old && index < dims->size() && (*dims)[index] == batch &&
        op.getAllowzero() == 0) {
      size = 0;
      if (!infers && stated * batch != elements * Dim(*old))
        break;
      return replaceTarget(op, *target);
    }
  auto *place = llvm::find(*target, *old);
  if (!infers && place != target->end() &&
      stated * batch == elements * Dim(*old)) {
    *place = -1;
    return replaceTarget(op, *target);
  }
  return op.emitOpError("fixes the batch to ")
         << *old << ", so it can't be made dynamic: its input has dimensions "
         << describe(*dims);
}

LogicalResult DynamicBatch::checkOutputs(func::FuncOp function,
                                         ShapeContext &ctx) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    std::optional<Dims> dims = ctx.getDims(value);
    if (dims &&
        llvm::any_of(*dims, [&](const Dim &dim) { return hasBatch(dim); }))
      continue;
    auto output = function.getResultAttrOfType<StringAttr>(index, argNameAttr);
    return function.emitError("expects every output to have the batch, but "
                              "output '")
           << (output ? output.getValue() : "") << "' doesn't";
  }
  return success();
}

/// Two samples at once show what a name hides, such as a constant of another
/// batch that is added.
LogicalResult DynamicBatch::tryTwo(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  setBatch(*copy, (old ? *old : 1) + 1, "");
  forgetShapes(*copy);
  ShapeContext ctx;
  return ctx.infer(copy->getBody());
}

void DynamicBatch::runOnOperation() {
  reshapes = 0;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    old.reset();
    if (failed(openInputs(function)))
      return signalPassFailure();
    ShapeContext ctx;
    for (Operation &op : function.getBody().front()) {
      auto reshape = dyn_cast<ReshapeOp>(op);
      if ((reshape && failed(openReshape(reshape, ctx))) ||
          failed(ctx.infer(&op)))
        return signalPassFailure();
    }
    updateResults(function, ctx);
    if (failed(tryTwo(function)) || failed(checkOutputs(function, ctx)))
      return signalPassFailure();
  }
  numReshapes += reshapes;
  addToReport(getOperation(), getArgument(), "reshapes follow the batch",
              reshapes);
}
