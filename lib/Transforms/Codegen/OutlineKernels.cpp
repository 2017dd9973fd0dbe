// Moves the work of a graph into functions of its own.
//
// Enters: a bufferized graph, before its buffers have places. Leaves: a graph
// that calls private functions (`onnxq.kernel`), one for each distinct
// computation. What differs between two uses of one computation - weights,
// buffers, places in a buffer, open sizes - are arguments.
//
// A function takes pointers, not descriptors: a buffer of static shape is its
// argument; of any other, the function gets the allocation, the offset, and the
// sizes and strides that the type leaves open. So `llvm.noalias` can say on the
// pointers what is known here: buffers of different origin don't overlap.

#include "NodeName.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Transforms/KernelFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace onnxquant {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Work on fewer elements in a loop isn't worth a call in each iteration.
static constexpr int64_t fewestInLoop = 1024;

namespace {

/// A value that the work takes from around it.
struct Captured {
  Value value;
  bool isWritten = false;
  /// Only the op itself names it, so its type may be a more general one.
  bool isOperandOnly = true;
};

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
  if (isa<linalg::LinalgOp>(op))
    return true;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return !isContiguousCopy(copy);
  return isPlainLoop(op);
}

static void collectWork(Block &block, bool isInLoop,
                        SmallVectorImpl<Operation *> &work) {
  for (Operation &op : block) {
    std::optional<int64_t> points = countPoints(&op);
    bool isSmall = isInLoop && points && *points < fewestInLoop;
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

//===----------------------------------------------------------------------===//
// What it needs
//===----------------------------------------------------------------------===//

static bool isWrittenBy(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(user))
    return destination.isDpsInit(&use);
  if (auto copy = dyn_cast<memref::CopyOp>(user))
    return use.get() == copy.getTarget();
  return !isa<memref::LoadOp, memref::DimOp>(user);
}

/// Scalars that are part of the computation, not arguments of it.
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>() &&
         op->getNumOperands() == 0;
}

static SmallVector<Captured> collectCaptured(Operation *op) {
  llvm::SetVector<Value> values;
  values.insert(op->operand_begin(), op->operand_end());
  size_t numOperands = values.size();
  getUsedValuesDefinedAbove(op->getRegions(), values);
  SmallVector<Captured> captured;
  for (auto [index, value] : llvm::enumerate(values))
    captured.push_back({value, false, index < numOperands});
  auto note = [&](OpOperand &use, bool isInside) {
    for (Captured &entry : captured)
      if (entry.value == use.get()) {
        entry.isWritten |= isWrittenBy(use);
        entry.isOperandOnly &= !isInside;
      }
  };
  for (OpOperand &use : op->getOpOperands())
    note(use, /*isInside=*/!isa<linalg::LinalgOp, memref::CopyOp>(op));
  visitUsedValuesDefinedAbove(
      op->getRegions(), [&](OpOperand *use) { note(*use, /*isInside=*/true); });
  return captured;
}

//===----------------------------------------------------------------------===//
// What overlaps
//===----------------------------------------------------------------------===//

/// The value that owns a buffer's memory: an allocation, a constant or an
/// argument of the graph; none if it isn't known.
static Value ownerOf(Value value) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? value
                                                                   : Value();
    Operation *op = value.getDefiningOp();
    if (isa<memref::AllocOp, memref::GetGlobalOp>(op))
      return value;
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return {};
    value = view.getViewSource();
  }
}

/// Whether two buffers may share an element. Graphs are called with the same
/// tensor for two inputs; allocations and constants are on their own.
static bool mayOverlap(Value x, Value y) {
  Value first = ownerOf(x), second = ownerOf(y);
  if (!first || !second)
    return true;
  if (isa<BlockArgument>(first) && isa<BlockArgument>(second))
    return true;
  auto constant = first.getDefiningOp<memref::GetGlobalOp>();
  auto other = second.getDefiningOp<memref::GetGlobalOp>();
  if (constant && other)
    return constant.getName() == other.getName();
  return first == second;
}

/// Whether nothing else that the work uses changes what this buffer holds, or
/// sees this buffer change.
static bool isOnItsOwn(const Captured &buffer, ArrayRef<Captured> all) {
  return llvm::none_of(all, [&](const Captured &other) {
    return other.value != buffer.value &&
           isa<MemRefType>(other.value.getType()) &&
           (buffer.isWritten || other.isWritten) &&
           mayOverlap(buffer.value, other.value);
  });
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {

/// Builds a function and the arguments of its call side by side.
class FunctionMaker {
public:
  FunctionMaker(Operation *op, ImplicitLocOpBuilder &caller)
      : op(op), caller(caller), body(op->getLoc(), op->getContext()) {
    function = func::FuncOp::create(op->getLoc(), "kernel",
                                    body.getFunctionType({}, {}));
    function.addEntryBlock();
    body.setInsertionPointToStart(&function.getBody().front());
  }

  func::FuncOp make(ArrayRef<Captured> captured);
  SmallVector<Value> arguments;

private:
  Value addArgument(Value given, bool isAlone = false);
  Value takeBuffer(const Captured &buffer, bool isAlone);

  Operation *op;
  ImplicitLocOpBuilder &caller, body;
  func::FuncOp function;
};

} // namespace

Value FunctionMaker::addArgument(Value given, bool isAlone) {
  unsigned index = arguments.size();
  DictionaryAttr attributes;
  if (isAlone)
    attributes = body.getDictionaryAttr(body.getNamedAttr(
        LLVM::LLVMDialect::getNoAliasAttrName(), body.getUnitAttr()));
  (void)function.insertArgument(index, given.getType(), attributes,
                                given.getLoc());
  arguments.push_back(given);
  return function.getArgument(index);
}

/// The buffer in the function: itself where its type tells all of it, or put
/// together from its allocation and what is open in its type.
Value FunctionMaker::takeBuffer(const Captured &buffer, bool isAlone) {
  auto type = cast<MemRefType>(buffer.value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    llvm::report_fatal_error("a buffer's layout isn't strided");
  bool isOpen = ShapedType::isDynamic(offset) ||
                ShapedType::isDynamicShape(strides) || !type.hasStaticShape();
  bool isMoved = offset != 0 && buffer.isOperandOnly;
  if (!isOpen && !isMoved)
    return addArgument(buffer.value, isAlone);
  auto parts = memref::ExtractStridedMetadataOp::create(caller, buffer.value);
  Value base = addArgument(parts.getBaseBuffer(), isAlone);
  auto open = [&](int64_t known, Value given) -> OpFoldResult {
    if (!ShapedType::isDynamic(known))
      return body.getIndexAttr(known);
    return addArgument(given);
  };
  if (isMoved) {
    offset = ShapedType::kDynamic;
    type = MemRefType::get(
        type.getShape(), type.getElementType(),
        StridedLayoutAttr::get(type.getContext(), offset, strides),
        type.getMemorySpace());
  }
  OpFoldResult start = open(offset, parts.getOffset());
  SmallVector<OpFoldResult> sizes, steps;
  for (auto [size, given] : llvm::zip(type.getShape(), parts.getSizes()))
    sizes.push_back(open(size, given));
  for (auto [step, given] : llvm::zip(strides, parts.getStrides()))
    steps.push_back(open(step, given));
  return memref::ReinterpretCastOp::create(body, type, base, start, sizes,
                                           steps);
}

func::FuncOp FunctionMaker::make(ArrayRef<Captured> captured) {
  IRMapping mapping;
  for (const Captured &entry : captured) {
    Value inside;
    if (isConstant(entry.value))
      inside = body.clone(*entry.value.getDefiningOp())->getResult(0);
    else if (isa<MemRefType>(entry.value.getType()))
      inside = takeBuffer(entry, isOnItsOwn(entry, captured));
    else
      inside = addArgument(entry.value);
    mapping.map(entry.value, inside);
  }
  body.clone(*op, mapping);
  func::ReturnOp::create(body);
  function.setPrivate();
  function->setAttr(kernelAttr,
                    body.getStringAttr(op->getName().getStringRef()));
  function->setAttr("llvm.bareptr", body.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(body.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", body.getStrArrayAttr({"noinline"}));
  return function;
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
  FunctionMaker maker(op, caller);
  func::FuncOp function = maker.make(collectCaptured(op));
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
  auto call = func::CallOp::create(caller, function, maker.arguments);
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
