// Copies an op into a function of its own.
//
// The function takes pointers, not descriptors: a buffer of static shape is its
// argument; of any other, the function gets the allocation, the offset, and the
// sizes and strides that the type leaves open. So `llvm.noalias` can say on the
// pointers what is known here: buffers of different origin don't overlap.

#include "Outlining.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace onnxquant;

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

SmallVector<Captured> onnxquant::collectCaptured(Operation *op) {
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
    note(use,
         /*isInside=*/!isa<DestinationStyleOpInterface, memref::CopyOp>(op));
  visitUsedValuesDefinedAbove(
      op->getRegions(), [&](OpOperand *use) { note(*use, /*isInside=*/true); });
  return captured;
}

//===----------------------------------------------------------------------===//
// What overlaps
//===----------------------------------------------------------------------===//

/// The value that owns a buffer's memory: an allocation, a constant or an
/// argument of the function; none if it isn't known.
Value onnxquant::ownerOf(Value value) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? value
                                                                   : Value();
    Operation *op = value.getDefiningOp();
    if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op))
      return value;
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return {};
    value = view.getViewSource();
  }
}

static bool isDeclaredAlone(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttr(argument.getArgNumber(),
                             LLVM::LLVMDialect::getNoAliasAttrName()) !=
         nullptr;
}

/// Whether two buffers may share an element. Graphs are called with the same
/// tensor for two inputs; allocations and constants are on their own.
static bool mayOverlap(Value x, Value y) {
  Value first = ownerOf(x), second = ownerOf(y);
  if (!first || !second)
    return true;
  auto argument = dyn_cast<BlockArgument>(first);
  auto otherArgument = dyn_cast<BlockArgument>(second);
  if (argument && otherArgument)
    return first == second ||
           !(isDeclaredAlone(argument) || isDeclaredAlone(otherArgument));
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
    result.function = func::FuncOp::create(op->getLoc(), "kernel",
                                           body.getFunctionType({}, {}));
    result.function.addEntryBlock();
    body.setInsertionPointToStart(&result.function.getBody().front());
  }

  void make(ArrayRef<Captured> captured);
  Outlined result;

private:
  Value addArgument(Value given, bool isAlone = false);
  Value takeBuffer(const Captured &buffer, bool isAlone);

  Operation *op;
  ImplicitLocOpBuilder &caller, body;
};

} // namespace

Value FunctionMaker::addArgument(Value given, bool isAlone) {
  unsigned index = result.arguments.size();
  DictionaryAttr attributes;
  if (isAlone)
    attributes = body.getDictionaryAttr(body.getNamedAttr(
        LLVM::LLVMDialect::getNoAliasAttrName(), body.getUnitAttr()));
  (void)result.function.insertArgument(index, given.getType(), attributes,
                                       given.getLoc());
  result.arguments.push_back(given);
  return result.function.getArgument(index);
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

void FunctionMaker::make(ArrayRef<Captured> captured) {
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
  result.copy = body.clone(*op, mapping);
  func::ReturnOp::create(body);
  func::FuncOp function = result.function;
  function.setPrivate();
  function->setAttr(kernelAttr,
                    body.getStringAttr(op->getName().getStringRef()));
  function->setAttr("llvm.bareptr", body.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(body.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", body.getStrArrayAttr({"noinline"}));
}

Outlined onnxquant::copyToFunction(Operation *op,
                                   ImplicitLocOpBuilder &caller) {
  FunctionMaker maker(op, caller);
  maker.make(collectCaptured(op));
  return maker.result;
}
