// Infers the types of a model's graphs, after specializing inputs on request.
// Enters: graphs with any types. Leaves: the same graphs with inferred types;
// the rules live with the ops, only inputs and outputs are handled here.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxquant {
#define GEN_PASS_DEF_SHAPEINFERENCE
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

namespace {

/// What the options ask of a model's inputs.
struct Specialization {
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<SmallVector<std::string>> shapes;
  std::string batch;
};

struct ShapeInference
    : public onnxquant::impl::ShapeInferenceBase<ShapeInference> {
  using ShapeInferenceBase::ShapeInferenceBase;
  void runOnOperation() override;

private:
  FailureOr<Specialization> readOptions();
  LogicalResult specialize(func::FuncOp function, const Specialization &spec,
                           llvm::StringMap<bool> &used);
  LogicalResult inferFunction(func::FuncOp function);
  void count(func::FuncOp function);
};

} // namespace

FailureOr<Specialization> ShapeInference::readOptions() {
  Specialization spec;
  spec.batch = dynamicBatch;
  for (StringRef text : dims) {
    auto [name, value] = text.rsplit('=');
    int64_t size;
    if (name.empty() || value.getAsInteger(10, size) || size < 0)
      return getOperation().emitError("expects dim=NAME=VALUE with a value of "
                                      "0 or more, but got '")
             << text << "'";
    spec.dims[name] = size;
  }
  for (StringRef text : inputShapes) {
    auto [name, value] = text.rsplit('=');
    if (name.empty())
      return getOperation().emitError(
                 "expects input-shape=NAME=1x3x224x224, but got '")
             << text << "'";
    SmallVector<StringRef> parts;
    if (!value.empty())
      value.split(parts, value.contains(',') ? ',' : 'x');
    auto &shape = spec.shapes[name];
    for (StringRef part : parts)
      shape.push_back(part.str());
  }
  return spec;
}

/// The name that the model gives an input.
static StringRef inputName(func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, argNameAttr))
    return name;
  return "";
}

/// Gives one dimension of an input its asked size or name.
static LogicalResult applyDim(func::FuncOp function, unsigned index,
                              StringRef text, Dim &dim) {
  if (text == "?")
    return success();
  int64_t size;
  if (text.getAsInteger(10, size)) {
    dim = Dim::parse(text);
    return success();
  }
  if (size < 0)
    return function.emitError("expects sizes of 0 or more for input '")
           << inputName(function, index) << "', but got " << size;
  if (std::optional<int64_t> old = dim.getConstant(); old && *old != size)
    return function.emitError("expects input '")
           << inputName(function, index) << "' to keep its static size " << *old
           << ", but got " << size;
  dim = Dim(size);
  return success();
}

LogicalResult ShapeInference::specialize(func::FuncOp function,
                                         const Specialization &spec,
                                         llvm::StringMap<bool> &used) {
  SmallVector<Type> types;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    StringRef name = inputName(function, index);
    auto tensor = dyn_cast<TensorType>(argument.getType());
    ShapeContext ctx;
    std::optional<Dims> known = ctx.getDims(argument);
    if (auto it = spec.shapes.find(name); it != spec.shapes.end() && tensor) {
      used[name] = true;
      if (!known)
        known = ctx.unknowns(it->second.size());
      if (known->size() != it->second.size())
        return function.emitError("expects a shape of rank ")
               << known->size() << " for input '" << name << "', but got rank "
               << it->second.size();
      for (auto [dim, text] : llvm::zip(*known, it->second))
        if (failed(applyDim(function, index, text, dim)))
          return failure();
    }
    if (!known) {
      types.push_back(argument.getType());
      continue;
    }
    if (!spec.batch.empty() && !known->empty())
      known->front() = Dim::parse(spec.batch);
    SmallVector<int64_t> shape;
    for (Dim &dim : *known) {
      if (auto it = spec.dims.find(dim.str()); it != spec.dims.end()) {
        used[it->first()] = true;
        dim = Dim(it->second);
      }
      shape.push_back(dim.getConstant().value_or(ShapedType::kDynamic));
    }
    argument.setType(RankedTensorType::get(shape, tensor.getElementType()));
    std::string params = formatDimParams(*known);
    if (params.empty())
      function.removeArgAttr(index, argDimParamsAttr);
    else
      function.setArgAttr(index, argDimParamsAttr,
                          StringAttr::get(&getContext(), params));
    types.push_back(argument.getType());
  }
  function.setType(
      FunctionType::get(&getContext(), types, function.getResultTypes()));
  return success();
}

/// The names of inputs and of their dimensions, for an error about one.
static void collectNames(func::FuncOp function,
                         std::vector<std::string> &dimNames,
                         std::vector<std::string> &inputNames) {
  auto add = [](std::vector<std::string> &names, std::string name) {
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  };
  for (BlockArgument argument : function.getArguments()) {
    add(inputNames, inputName(function, argument.getArgNumber()).str());
    ShapeContext ctx;
    if (std::optional<Dims> dims = ctx.getDims(argument))
      for (const Dim &dim : *dims)
        if (dim.isValid() && !dim.isConstant() && !dim.isAnonymous())
          add(dimNames, dim.str());
  }
}

void ShapeInference::count(func::FuncOp function) {
  function.walk([&](ShapeInferenceOpInterface op) {
    for (OpResult result : op->getResults()) {
      auto ranked = dyn_cast<RankedTensorType>(result.getType());
      if (ranked && ranked.hasStaticShape()) {
        ++numStatic;
        continue;
      }
      auto params = op->getAttrOfType<ArrayAttr>(dimParamsAttr);
      bool named = ranked && params &&
                   result.getResultNumber() < params.size() &&
                   cast<StringAttr>(params[result.getResultNumber()])
                           .getValue()
                           .count(':') ==
                       static_cast<size_t>(ranked.getNumDynamicDims());
      ++(named ? numSymbolic : numOpen);
    }
  });
}

LogicalResult ShapeInference::inferFunction(func::FuncOp function) {
  while (true) {
    ShapeContext ctx;
    if (failed(ctx.infer(function.getBody())))
      return failure();
    updateResults(function, ctx);
    bool guessed = guessRanks && guessOutputRanks(function);
    bool merged = autoMerge && mergeDimensions(function, ctx);
    if (!guessed && !merged)
      return success();
  }
}

void ShapeInference::runOnOperation() {
  FailureOr<Specialization> spec = readOptions();
  if (failed(spec))
    return signalPassFailure();
  bool specializes =
      !spec->dims.empty() || !spec->shapes.empty() || !spec->batch.empty();
  llvm::StringMap<bool> used;
  std::vector<std::string> dimNames, inputNames;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (specializes) {
      collectNames(function, dimNames, inputNames);
      if (failed(specialize(function, *spec, used)))
        return signalPassFailure();
      forgetShapes(function);
    }
    if (forget) {
      forgetShapes(function);
      continue;
    }
    if (failed(inferFunction(function)))
      return signalPassFailure();
    if (!symbolic)
      dropExpressions(function);
    count(function);
  }
  auto check = [&](StringRef kind, StringRef name,
                   ArrayRef<std::string> known) {
    if (!used.count(name)) {
      getOperation().emitError("the model has no ")
          << kind << " '" << name << "'; it has "
          << (known.empty() ? "none" : listNames(known));
      signalPassFailure();
    }
  };
  for (const auto &entry : spec->dims)
    check("dimension named", entry.first(), dimNames);
  for (const auto &entry : spec->shapes)
    check("input named", entry.first(), inputNames);
}
