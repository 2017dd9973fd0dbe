// Computes what depends on constants only, by compiling and running it.
// Enters: graphs with inferred shapes. Leaves: constants, under the names of
// the tensors that they replace. Small integer tensors that shape inference
// knows the contents of need no compiling, nor does what only moves data or
// fills tensors. Everything else is compiled at once; if that fails, its
// independent parts one by one, and what still fails stays.
//
// What is compiled is bounded, so that folding takes no longer than it saves,
// whatever the graph: beyond that, nodes are left to the model's own code.

#include "ConstantGraph.h"
#include "HostFolding.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace onnxquant {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

/// A node takes some 10 to 40 ms to compile; real models need a few dozens.
static constexpr size_t maxCompiledNodes = 256;

namespace {

struct FoldConstants
    : public onnxquant::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  explicit FoldConstants(ExecutorFactory factory) : factory(factory) {}
  FoldConstants(ExecutorFactory factory, FoldConstantsOptions options)
      : FoldConstantsBase(std::move(options)), factory(factory) {}

  LogicalResult initialize(MLIRContext *) override {
    budget = maxCompiledNodes;
    return success();
  }
  void runOnOperation() override;

private:
  LogicalResult foldContents(func::FuncOp function);
  void foldOnHost(func::FuncOp function);
  void foldGraph(func::FuncOp function, Executor &executor);
  void foldParts(ArrayRef<ConstantGraph> parts, Executor &executor);
  void leave(const ConstantGraph &part, const Twine &reason);
  void replace(const ConstantGraph &graph, ArrayRef<HostTensor> tensors);

  ExecutorFactory factory;
  int64_t known = 0, computed = 0, left = 0;
  /// Nodes that may still be compiled; the pass may be repeated.
  size_t budget = maxCompiledNodes;
  llvm::DenseSet<Location> reported;
};

} // namespace

std::unique_ptr<Pass> onnxquant::createFoldConstants(ExecutorFactory factory) {
  return std::make_unique<FoldConstants>(std::move(factory));
}

std::unique_ptr<Pass>
onnxquant::createFoldConstants(ExecutorFactory factory,
                               FoldConstantsOptions options) {
  return std::make_unique<FoldConstants>(std::move(factory),
                                         std::move(options));
}

/// Replaces a result by a constant, and leaves its op to be erased when dead.
static Operation *replaceByConstant(OpResult result, ElementsAttr elements) {
  OpBuilder builder(result.getOwner());
  Value constant = makeConstant(builder, result.getOwner()->getLoc(), elements,
                                getTensorName(result));
  result.replaceAllUsesWith(constant);
  return constant.getDefiningOp();
}

/// Erases nodes, the last first, that nobody reads any more; says how many.
static int64_t eraseDead(ArrayRef<Operation *> nodes) {
  int64_t count = 0;
  for (Operation *op : llvm::reverse(nodes))
    if (op->use_empty()) {
      op->erase();
      ++count;
    }
  return count;
}

/// Integers as elements of a static integer type.
static ElementsAttr makeIntegers(RankedTensorType type,
                                 ArrayRef<int64_t> values) {
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  SmallVector<APInt> elements;
  for (int64_t value : values)
    elements.emplace_back(width, static_cast<uint64_t>(value),
                          /*isSigned=*/true, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, elements);
}

LogicalResult FoldConstants::foldContents(func::FuncOp function) {
  ShapeContext ctx;
  if (failed(ctx.infer(function.getBody())))
    return failure();
  SmallVector<Operation *> nodes;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<NodeOpInterface>(op) || isa<ConstantOp>(op) || !isPure(op) ||
        op->getNumRegions() > 0 || op->getNumResults() != 1)
      return;
    OpResult result = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || isOutput(result) ||
        !isa<IntegerType>(type.getElementType()))
      return;
    auto values = ctx.getConstants(result);
    if (!values ||
        static_cast<int64_t>(values->size()) != type.getNumElements())
      return;
    replaceByConstant(result, makeIntegers(type, *values));
    nodes.push_back(op);
  });
  known += eraseDead(nodes);
  return success();
}

void FoldConstants::replace(const ConstantGraph &graph,
                            ArrayRef<HostTensor> tensors) {
  for (auto [result, tensor] : llvm::zip(graph.results, tensors)) {
    Type element = getElementType(result);
    if (tensor.type != onnxFromElementType(element))
      continue;
    auto type = RankedTensorType::get(tensor.dims, element);
    replaceByConstant(result,
                      makeElements(type, tensor.data, getTensorName(result)));
  }
  computed += eraseDead(graph.nodes);
}

void FoldConstants::foldOnHost(func::FuncOp function) {
  SmallVector<Operation *> nodes, made;
  for (Operation *op : findConstantGraph(function, maxBytes).nodes) {
    if (op->getNumResults() != 1 || isOutput(op->getResult(0)))
      continue;
    ElementsAttr elements = computeOnHost(op);
    if (!elements)
      continue;
    made.push_back(replaceByConstant(op->getResult(0), elements));
    nodes.push_back(op);
  }
  computed += eraseDead(nodes);
  eraseDead(made);
}

/// Says why nodes stay; once, although the pass may be repeated.
void FoldConstants::leave(const ConstantGraph &part, const Twine &reason) {
  Operation *op = part.results.front().getOwner();
  if (!reported.insert(op->getLoc()).second)
    return;
  left += part.nodes.size();
  op->emitRemark("stays, because ") << reason;
}

void FoldConstants::foldParts(ArrayRef<ConstantGraph> parts,
                              Executor &executor) {
  for (const ConstantGraph &part : parts) {
    auto tensors = runGraph(part, executor);
    if (tensors)
      replace(part, *tensors);
    else
      leave(part,
            "it can't be computed now: " + llvm::toString(tensors.takeError()));
  }
}

void FoldConstants::foldGraph(func::FuncOp function, Executor &executor) {
  ConstantGraph graph = findConstantGraph(function, maxBytes), chosen;
  if (graph.results.empty())
    return;
  SmallVector<ConstantGraph> parts;
  for (ConstantGraph &part : splitGraph(graph)) {
    if (part.results.empty())
      continue;
    if (part.nodes.size() > budget) {
      leave(part, "more than " + Twine(maxCompiledNodes) +
                      " nodes would have to be compiled to compute it now");
      continue;
    }
    budget -= part.nodes.size();
    llvm::append_range(chosen.nodes, part.nodes);
    llvm::append_range(chosen.results, part.results);
    parts.push_back(std::move(part));
  }
  if (parts.empty())
    return;
  auto tensors = runGraph(chosen, executor);
  if (tensors)
    return replace(chosen, *tensors);
  llvm::consumeError(tensors.takeError());
  foldParts(parts, executor);
}

void FoldConstants::runOnOperation() {
  known = computed = left = 0;
  std::unique_ptr<Executor> executor = factory ? factory() : nullptr;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (failed(foldContents(function)))
      return signalPassFailure();
    foldOnHost(function);
    if (executor)
      foldGraph(function, *executor);
  }
  numKnown += known;
  numComputed += computed;
  numLeft += left;
  addToReport(getOperation(), getArgument(), "shape nodes folded", known);
  addToReport(getOperation(), getArgument(), "nodes computed", computed);
  addToReport(getOperation(), getArgument(), "nodes that can't be computed",
              left);
}
