// Moves the work of a graph into functions of its own.
//
// Enters: a bufferized graph, before its buffers have offsets. Leaves: a graph
// that calls private functions (`onnxq.kernel`), one for each distinct
// computation. What differs between two uses of one computation - weights,
// buffers, offsets in a buffer, dynamic dimensions - are arguments.

#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "Outlining.h"
#include "Tuning.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {

struct OutlineKernels
    : public onnxquant::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override;

private:
  void outline(Operation *op, SymbolTable &symbols);

  /// The functions by their text.
  llvm::StringMap<func::FuncOp> known;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

/// The elements that a structured op visits; none if sizes are open.
static std::optional<int64_t> countPoints(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return std::nullopt;
  int64_t points = 1;
  for (int64_t size : structured.getStaticLoopRanges())
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(points, size, points))
      return std::nullopt;
  return points;
}

static bool isContiguousCopy(memref::CopyOp copy) {
  auto plain = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return !type || type.getLayout().isIdentity();
  };
  return plain(copy.getSource()) && plain(copy.getTarget());
}

/// Whether a loop nest only reads and writes buffers that exist already.
static bool isPlainLoop(Operation *op) {
  if (!isa<scf::ForOp, scf::ParallelOp>(op) || op->getNumResults() != 0)
    return false;
  return !op->walk([](Operation *inner) {
              if (isa<memref::AllocOp, memref::DeallocOp, scf::WhileOp>(
                      inner) ||
                  isa<CallOpInterface>(inner) ||
                  inner->getDialect()->getNamespace() == "onnxq" ||
                  llvm::any_of(inner->getResultTypes(), [](Type type) {
                    return isa<UnrankedMemRefType>(type);
                  }))
                return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

/// Whether an op is work of its own.
static bool isWork(Operation *op) {
  if (op->getNumResults() != 0)
    return false;
  bool usesBuffersOnly = llvm::none_of(op->getOperandTypes(), [](Type type) {
    return isa<TensorType, UnrankedMemRefType>(type);
  });
  if (!usesBuffersOnly)
    return false;
  if (isa<DestinationStyleOpInterface>(op))
    return true;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return !isContiguousCopy(copy);
  return isPlainLoop(op);
}

static void collectWork(Block &block, bool isInLoop,
                        SmallVectorImpl<Operation *> &work) {
  for (Operation &op : block) {
    std::optional<int64_t> points = countPoints(&op);
    bool isSmall =
        isInLoop && points && *points < tuning::fewestOutlinedElements;
    if (isWork(&op)) {
      if (!isSmall && !(isInLoop && isPlainLoop(&op)))
        work.push_back(&op);
      continue;
    }
    if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      continue;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        collectWork(inner, isInLoop || !isa<scf::IfOp>(op), work);
  }
}

/// The function without what differs between equal computations.
static std::string textOf(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().useLocalScope());
  return text;
}

void OutlineKernels::outline(Operation *op, SymbolTable &symbols) {
  ImplicitLocOpBuilder caller(op->getLoc(), op);
  Outlined outlined = copyToFunction(op, caller);
  func::FuncOp function = outlined.function;
  auto [it, isNew] = known.try_emplace(textOf(function), function);
  if (isNew) {
    StringRef kind = op->getName().stripDialect();
    function.setName(("kernel_" + kind + "_" + Twine(known.size() - 1)).str());
    symbols.insert(function);
    ++numFunctions;
  } else {
    function.erase();
    function = it->second;
  }
  auto call = func::CallOp::create(caller, function, outlined.arguments);
  call->setAttr(nodeAttr, caller.getStringAttr(nodeOf(op)));
  op->erase();
  ++numOutlined;
}

void OutlineKernels::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  SmallVector<Operation *> work;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function->hasAttr(kernelAttr))
      collectWork(function.getBody().front(), /*isInLoop=*/false, work);
  for (Operation *op : work)
    outline(op, symbols);
}
