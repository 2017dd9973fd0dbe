// Finds out which branches a sample takes, and puts them in the place of their
// ops.
//
// Enters: a graph with inferred shapes. Leaves: the same graph for samples that
// take the same branches; the conditions stay in it.

#include "Branches.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "QuantView.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

/// Branches within branches, at most.
static constexpr unsigned mostRounds = 64;

static SmallVector<ir::IfOp> branchesOf(func::FuncOp graph) {
  return llvm::to_vector(graph.getBody().front().getOps<ir::IfOp>());
}

/// Whether a value of the top block follows from what an If gives.
static bool dependsOnBranch(Value value, DenseMap<Operation *, bool> &known) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<ir::IfOp>(op))
    return true;
  auto [place, isNew] = known.try_emplace(op, false);
  if (!isNew)
    return place->second;
  bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
    return dependsOnBranch(operand, known);
  });
  return known[op] = depends;
}

static LogicalResult inferShapes(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference());
  return pm.run(module);
}

/// A copy of the module that gives nothing but some conditions.
static OwningOpRef<ModuleOp> copyOfConditions(ModuleOp module,
                                              ArrayRef<ir::IfOp> branches) {
  Builder b(module.getContext());
  for (auto [index, op] : llvm::enumerate(branches))
    op->setAttr(branchAttr, b.getI64IntegerAttr(static_cast<int64_t>(index)));
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  for (ir::IfOp op : branches)
    op->removeAttr(branchAttr);
  func::FuncOp graph = *findGraph(*copy);
  SmallVector<Value> conditions(branches.size());
  for (ir::IfOp op : branchesOf(graph))
    if (auto place = op->getAttrOfType<IntegerAttr>(branchAttr))
      conditions[place.getInt()] = op.getCond();
  llvm::BitVector all(graph.getNumResults(), true);
  (void)graph.eraseResults(all);
  Operation *end = graph.getBody().front().getTerminator();
  end->setOperands(conditions);
  for (auto [index, condition] : llvm::enumerate(conditions)) {
    auto name = b.getStringAttr("onnxq.condition." + std::to_string(index));
    (void)graph.insertResult(
        index, condition.getType(),
        b.getDictionaryAttr(b.getNamedAttr(ir::argNameAttr, name)));
  }
  // What the conditions don't need isn't compiled.
  Block &body = graph.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
      op.erase();
  return copy;
}

/// Puts a branch in the place of its op.
static void inlineBranch(ir::IfOp op, bool isThen) {
  Block &block = (isThen ? op.getThenBranch() : op.getElseBranch()).front();
  Operation *yield = block.getTerminator();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations(), block.begin(),
                                         yield->getIterator());
  // A result is known by the If's name of it: that is what others read. What
  // the branch calls it is kept where the tensor is an outer one.
  auto names = op->getAttrOfType<ArrayAttr>(ir::resultNamesAttr);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Value value = yield->getOperand(index);
    Operation *maker = value.getDefiningOp();
    if (names && maker && maker->getNumResults() == 1 &&
        maker->getBlock() == op->getBlock() &&
        !maker->hasAttr(ir::resultNamesAttr))
      maker->setAttr(ir::resultNamesAttr,
                     ArrayAttr::get(op.getContext(), {names[index]}));
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

FailureOr<std::vector<TakenBranch>>
debugging::takeBranches(ModuleOp module, const Tensors &sample,
                        Executor &executor) {
  std::vector<TakenBranch> taken;
  if (failed(inferShapes(module)))
    return failure();
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  for (unsigned round = 0; round < mostRounds; ++round) {
    DenseMap<Operation *, bool> known;
    SmallVector<ir::IfOp> ready;
    for (ir::IfOp op : branchesOf(*graph))
      if (!dependsOnBranch(op.getCond(), known))
        ready.push_back(op);
    if (ready.empty())
      return taken;
    OwningOpRef<ModuleOp> copy = copyOfConditions(module, ready);
    auto program = executor.compile(*copy);
    if (failed(program))
      return failure();
    auto values = (*program)->run(sample);
    if (!values)
      return module.emitError() << llvm::toString(values.takeError());
    for (auto [op, value] : llvm::zip(ready, *values)) {
      bool isThen = value.numElements() > 0 && value.at(0) != 0;
      if (!ir::getConstant(op.getCond()))
        taken.push_back({nameOfNode(op), op.getCond(), isThen});
      inlineBranch(op, isThen);
    }
    // Outputs may have got types that only this branch gives.
    Operation *end = graph->getBody().front().getTerminator();
    graph->setFunctionType(FunctionType::get(module.getContext(),
                                             graph->getArgumentTypes(),
                                             end->getOperandTypes()));
    if (failed(inferShapes(module)))
      return failure();
  }
  return taken;
}

LogicalResult debugging::fitModule(ModuleOp module, const Tensors &sample,
                                   bool uniform, bool keepFirst,
                                   Executor &executor) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  if (uniform)
    specializeInputs(*graph, sample, keepFirst);
  if (graph->getBody().front().getOps<ir::IfOp>().empty())
    return success();
  return success(succeeded(takeBranches(module, sample, executor)));
}

std::vector<std::string> debugging::branchesLeft(func::FuncOp graph) {
  std::vector<std::string> names;
  for (Operation *op : nodesOf(graph))
    if (isa<ir::IfOp>(op))
      names.push_back(nameOfNode(op));
  return names;
}
