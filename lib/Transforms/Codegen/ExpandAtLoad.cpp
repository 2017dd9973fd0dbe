// Computes what depends on constants only when the code is loaded.
//
// Enters: a bufferized graph with onnxq.expand of constants. Leaves: memory of
// the module, zeros in the file, that a function without arguments fills; the
// graph reads it. That function runs once, before any run: see
// onnxq-emit-entry-point.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace onnxquant {
#define GEN_PASS_DEF_EXPANDATLOAD
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// The memory begins at a page, each part of it at a line of cache.
static constexpr int64_t pageBytes = 4096, partAlignment = 64;
/// Linux's advice to use large pages, on all processors.
static constexpr int64_t adviceOfLargePages = 14;

namespace {

/// What is computed, and where it lies in the memory.
struct Part {
  onnxq::ExpandOp op;
  int64_t offset;
};

struct ExpandAtLoad : public onnxquant::impl::ExpandAtLoadBase<ExpandAtLoad> {
  void runOnOperation() override;

private:
  void readParts(ArrayRef<onnxq::ExpandOp> ops, StringRef memory);
  MemRefType memoryType() {
    return MemRefType::get(bytes, IntegerType::get(&getContext(), 8));
  }

  /// Those that differ.
  std::vector<Part> parts;
  int64_t bytes = 0;
};

} // namespace

static memref::GetGlobalOp getSource(onnxq::ExpandOp op) {
  return op.getWeights().getDefiningOp<memref::GetGlobalOp>();
}

/// Whether nothing else is ever in a result's memory.
static bool hasMemoryOfItsOwn(onnxq::ExpandOp op) {
  return op.getInit().getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(op.getInit().getUses(), [&](OpOperand &use) {
           auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
           return user && user.isDpsInit(&use) == (use.getOwner() == op);
         });
}

/// Whether a result depends on a constant only.
static bool isKnownAtLoad(onnxq::ExpandOp op) {
  auto source = getSource(op);
  if (!source || !hasMemoryOfItsOwn(op))
    return false;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      source, source.getNameAttr());
  return global && global.getConstant();
}

/// Asks the system for large pages, where there is such a call: what it takes
/// to get a small one is more than to compute what is on it.
static void adviseLargePages(ImplicitLocOpBuilder &b, ModuleOp module,
                             Value memory, int64_t bytes) {
  auto target = module->getAttrOfType<DictionaryAttr>(targetAttr);
  auto triple = target ? target.getAs<StringAttr>("triple") : StringAttr();
  if (bytes < tuning::leastLargePageBytes || !triple ||
      !llvm::Triple(triple.getValue()).isOSLinux())
    return;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  LLVM::LLVMFuncOp advise;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    advise = LLVM::LLVMFuncOp::create(
        b, "madvise", LLVM::LLVMFunctionType::get(i32, {pointer, i64, i32}));
    advise.setLinkage(LLVM::Linkage::ExternWeak);
  }
  Value exists = LLVM::ICmpOp::create(
      b, LLVM::ICmpPredicate::ne,
      LLVM::AddressOfOp::create(b, pointer, advise.getSymName()),
      LLVM::ZeroOp::create(b, pointer));
  auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  Value address = arith::IndexCastOp::create(
      b, i64, memref::ExtractAlignedPointerAsIndexOp::create(b, memory));
  auto constant = [&](Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  };
  LLVM::CallOp::create(b, advise,
                       ValueRange{LLVM::IntToPtrOp::create(b, pointer, address),
                                  constant(i64, bytes / pageBytes * pageBytes),
                                  constant(i32, adviceOfLargePages)});
}

static Value viewPart(ImplicitLocOpBuilder &b, Value memory, Type type,
                      int64_t offset) {
  return memref::ViewOp::create(b, cast<MemRefType>(type), memory,
                                arith::ConstantIndexOp::create(b, offset),
                                ValueRange{});
}

/// Lets the graph read the results from the memory, equal ones from one
/// address.
void ExpandAtLoad::readParts(ArrayRef<onnxq::ExpandOp> ops, StringRef memory) {
  llvm::MapVector<std::tuple<StringAttr, Type, int64_t>, int64_t> offsets;
  for (onnxq::ExpandOp op : ops) {
    auto type = cast<MemRefType>(op.getInit().getType());
    auto [it, isNew] = offsets.try_emplace(
        {getSource(op).getNameAttr().getAttr(), type, op.getPanels()}, bytes);
    if (!isNew)
      continue;
    parts.push_back({op, bytes});
    int64_t size = type.getNumElements() * int64_t(sizeof(int16_t));
    bytes += llvm::alignTo(size, partAlignment);
  }
  for (onnxq::ExpandOp op : ops) {
    Operation *alloc = op.getInit().getDefiningOp();
    ImplicitLocOpBuilder b(alloc->getLoc(), alloc);
    Type type = op.getInit().getType();
    int64_t offset = offsets.lookup(
        {getSource(op).getNameAttr().getAttr(), type, op.getPanels()});
    Value all = memref::GetGlobalOp::create(b, memoryType(), memory);
    alloc->replaceAllUsesWith(ValueRange{viewPart(b, all, type, offset)});
    alloc->erase();
  }
}

void ExpandAtLoad::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<onnxq::ExpandOp> ops;
  module.walk([&](onnxq::ExpandOp op) {
    if (isKnownAtLoad(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  constexpr StringLiteral memory = "onnxq_expanded";
  parts.clear();
  bytes = 0;
  readParts(ops, memory);
  ImplicitLocOpBuilder b(module.getLoc(), &getContext());
  b.setInsertionPointToStart(module.getBody());
  auto zeros =
      DenseElementsAttr::get(RankedTensorType::get(bytes, b.getI8Type()),
                             b.getIntegerAttr(b.getI8Type(), 0));
  memref::GlobalOp::create(b, memory, b.getStringAttr("private"), memoryType(),
                           zeros, /*constant=*/false,
                           b.getI64IntegerAttr(pageBytes));
  b.setInsertionPointToEnd(module.getBody());
  auto load = func::FuncOp::create(b, loadFunction, b.getFunctionType({}, {}));
  load.setPrivate();
  load->setAttr(loadBytesAttr, b.getI64IntegerAttr(bytes));
  b.setInsertionPointToStart(load.addEntryBlock());
  Value all = memref::GetGlobalOp::create(b, memoryType(), memory);
  adviseLargePages(b, module, all, bytes);
  for (auto [op, offset] : parts) {
    b.setLoc(op.getLoc());
    IRMapping mapping;
    b.clone(*getSource(op), mapping);
    mapping.map(op.getInit(), viewPart(b, all, op.getInit().getType(), offset));
    b.clone(*op, mapping);
    ++numExpanded;
  }
  func::ReturnOp::create(b);
  for (onnxq::ExpandOp op : ops)
    op.erase();
}
