// The functions that a run's context is handed to.

#include "RunContext.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"

using namespace mlir;
using namespace onnxquant;

/// A block is its data, which begin at a multiple of this, and behind them a
/// record: the next record, whether the block is carried on, the bytes that
/// were asked for, and where the data begin. So the data can be freed by
/// whoever gets them.
static constexpr int64_t blockAlignment = 64;
static constexpr int64_t nextField = 0, keptField = 8, bytesField = 16,
                         startField = 24;
/// More than any machine has; sizes above it are products that ran over.
static constexpr int64_t mostBytes = int64_t(1) << 60;
static constexpr StringLiteral noMemoryMessage = "onnxq_no_memory";
/// Just below 32 MiB, the largest block that glibc learns from.
static constexpr int64_t learntBytes = (32 << 20) - (64 << 10);

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

LLVMWriter::LLVMWriter(ModuleOp module, unsigned indexBits)
    : module(module), b(module.getLoc(), module), context(module.getContext()),
      pointer(LLVM::LLVMPointerType::get(module.getContext())),
      pointerBytes(indexBits / 8) {
  i64 = b.getI64Type();
  i32 = b.getI32Type();
  index = b.getIntegerType(indexBits);
  b.setInsertionPointToEnd(module.getBody());
}

Value LLVMWriter::number(int64_t value) {
  return LLVM::ConstantOp::create(b, index, b.getIntegerAttr(index, value));
}

Value LLVMWriter::fieldAt(Value base, int64_t bytes) {
  return LLVM::GEPOp::create(
      b, pointer, b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value LLVMWriter::loadPointer(Value address) {
  return LLVM::LoadOp::create(b, pointer, address);
}

Value LLVMWriter::null() { return LLVM::ZeroOp::create(b, pointer); }

Value LLVMWriter::equal(Value x, Value y) {
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, x, y);
}

LLVM::LLVMFuncOp LLVMWriter::declare(StringRef symbol, Type result,
                                     ArrayRef<Type> args,
                                     ArrayRef<StringRef> attributes) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      b, symbol, LLVM::LLVMFunctionType::get(result, args));
  if (!attributes.empty())
    function.setPassthroughAttr(b.getStrArrayAttr(attributes));
  return function;
}

StringRef LLVMWriter::stringGlobal(const Twine &symbol, StringRef text) {
  std::string bytes = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, symbol.str(),
                                       b.getStringAttr(bytes));
  return global.getSymName();
}

LLVM::LLVMFuncOp RunContextWriter::memoryFailure() {
  if (!module.lookupSymbol(noMemoryMessage))
    stringGlobal(noMemoryMessage, "not enough memory for the run's tensors");
  return declare(failFunction, none(), {pointer, pointer});
}

void RunContextWriter::failMemory(Value runContext) {
  auto fail = memoryFailure();
  Value message = LLVM::AddressOfOp::create(b, pointer, noMemoryMessage);
  LLVM::CallOp::create(b, fail, ValueRange{runContext, message});
  LLVM::UnreachableOp::create(b);
}

LLVM::LLVMFuncOp RunContextWriter::findUsed(StringRef symbol) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function)
    return {};
  bool used = false;
  module.walk([&](LLVM::CallOp call) { used |= call.getCallee() == symbol; });
  if (used) {
    function.setLinkage(LLVM::Linkage::Internal);
    return function;
  }
  function.erase();
  return {};
}

/// Where the data of a block begin.
Value RunContextWriter::dataOf(Value block) {
  return LLVM::LoadOp::create(b, i64, fieldAt(block, startField));
}

void RunContextWriter::freeBlock(Value block) {
  LLVM::CallOp::create(b, declare("free", none(), {pointer}),
                       ValueRange{loadPointer(fieldAt(block, startField))});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Leaves the run with a message.
void RunContextWriter::writeFail() {
  auto fail = module.lookupSymbol<LLVM::LLVMFuncOp>(failFunction);
  if (!fail)
    return;
  fails = true;
  fail.setLinkage(LLVM::Linkage::Internal);
  fail.setPassthroughAttr(b.getStrArrayAttr({"noreturn", "cold", "noinline"}));
  auto jump = declare("longjmp", none(), {pointer, i32}, {"noreturn"});
  OpBuilder::InsertionGuard guard(b);
  Block *block = fail.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  LLVM::StoreOp::create(b, block->getArgument(1),
                        fieldAt(block->getArgument(0), messageField));
  Value one = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(1));
  LLVM::CallOp::create(
      b, jump, ValueRange{fieldAt(block->getArgument(0), jumpField), one});
  LLVM::UnreachableOp::create(b);
}

int64_t RunContextWriter::maxBytes() const {
  auto most = module->getAttrOfType<IntegerAttr>(maxBytesAttr);
  return most ? most.getInt() : 0;
}

/// Allocates a block that the run frees, as a memref of bytes.
void RunContextWriter::writeAlloc(LLVM::LLVMFuncOp alloc) {
  auto allocate = declare("aligned_alloc", pointer, {i64, i64});
  OpBuilder::InsertionGuard guard(b);
  Block *entry = alloc.addEntryBlock(b);
  Block *possible = b.createBlock(&alloc.getBody());
  Block *full = b.createBlock(&alloc.getBody());
  Block *fine = b.createBlock(&alloc.getBody());
  b.setInsertionPointToStart(entry);
  Value runContext = entry->getArgument(0), bytes = entry->getArgument(1);
  Value tooMany = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt, bytes,
                                       number(mostBytes));
  Value all;
  if (maxBytes() > 0) {
    Value used = LLVM::LoadOp::create(b, i64, fieldAt(runContext, usedField));
    all = LLVM::AddOp::create(b, used, bytes);
    tooMany =
        LLVM::OrOp::create(b, tooMany,
                           LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt,
                                                all, number(maxBytes())));
  }
  LLVM::CondBrOp::create(b, tooMany, full, possible);
  b.setInsertionPointToStart(possible);
  Value raised = LLVM::AddOp::create(b, bytes, number(blockAlignment - 1));
  Value room = LLVM::AndOp::create(b, raised, number(-blockAlignment));
  Value whole = LLVM::AddOp::create(b, room, number(blockAlignment));
  Value data = LLVM::CallOp::create(b, allocate,
                                    ValueRange{number(blockAlignment), whole})
                   .getResult();
  LLVM::CondBrOp::create(b, equal(data, null()), full, fine);
  b.setInsertionPointToStart(full);
  LLVM::CallOp::create(b, declare(failFunction, none(), {pointer, pointer}),
                       ValueRange{runContext, entry->getArgument(2)});
  LLVM::UnreachableOp::create(b);
  b.setInsertionPointToStart(fine);
  Value block = LLVM::GEPOp::create(b, pointer, b.getI8Type(), data,
                                    ArrayRef<LLVM::GEPArg>{room});
  if (all)
    LLVM::StoreOp::create(b, all, fieldAt(runContext, usedField));
  LLVM::StoreOp::create(b, bytes, fieldAt(block, bytesField));
  LLVM::StoreOp::create(b, data, fieldAt(block, startField));
  Value list = fieldAt(runContext, blocksField);
  LLVM::StoreOp::create(b, loadPointer(list), fieldAt(block, nextField));
  LLVM::StoreOp::create(b, number(0), fieldAt(block, keptField));
  LLVM::StoreOp::create(b, block, list);
  auto type =
      cast<LLVM::LLVMStructType>(alloc.getFunctionType().getReturnType());
  Value descriptor = LLVM::UndefOp::create(b, type);
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    descriptor = LLVM::InsertValueOp::create(b, descriptor, value, place);
  };
  set(data, {0});
  set(data, {1});
  set(number(0), {2});
  set(bytes, {3, 0});
  set(number(1), {4, 0});
  LLVM::ReturnOp::create(b, descriptor);
}

/// Frees all blocks of a run.
void RunContextWriter::writeRelease() {
  auto release = declare(releaseFunction, none(), {pointer});
  release.setLinkage(LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(b);
  Block *entry = release.addEntryBlock(b);
  Block *loop =
      b.createBlock(&release.getBody(), {}, {pointer}, {module.getLoc()});
  Block *next = b.createBlock(&release.getBody());
  Block *done = b.createBlock(&release.getBody());
  b.setInsertionPointToStart(entry);
  Value first = loadPointer(fieldAt(entry->getArgument(0), blocksField));
  LLVM::BrOp::create(b, ValueRange{first}, loop);
  b.setInsertionPointToStart(loop);
  Value block = loop->getArgument(0);
  LLVM::CondBrOp::create(b, equal(block, null()), done, next);
  b.setInsertionPointToStart(next);
  Value following = loadPointer(fieldAt(block, nextField));
  freeBlock(block);
  LLVM::BrOp::create(b, ValueRange{following}, loop);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// The newest block, as a number.
void RunContextWriter::writeMark(LLVM::LLVMFuncOp mark) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = mark.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value newest = loadPointer(fieldAt(entry->getArgument(0), blocksField));
  LLVM::ReturnOp::create(b, LLVM::PtrToIntOp::create(b, i64, newest));
}

/// keep(context, mark, data): the block with these data, if it is newer than
/// the mark, is carried on.
void RunContextWriter::writeKeep(LLVM::LLVMFuncOp keep) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = keep.addEntryBlock(b);
  Block *loop =
      b.createBlock(&keep.getBody(), {}, {pointer}, {module.getLoc()});
  Block *compare = b.createBlock(&keep.getBody());
  Block *found = b.createBlock(&keep.getBody());
  Block *next = b.createBlock(&keep.getBody());
  Block *done = b.createBlock(&keep.getBody());
  b.setInsertionPointToStart(entry);
  Value mark = LLVM::IntToPtrOp::create(b, pointer, entry->getArgument(1));
  Value first = loadPointer(fieldAt(entry->getArgument(0), blocksField));
  LLVM::BrOp::create(b, ValueRange{first}, loop);
  b.setInsertionPointToStart(loop);
  Value block = loop->getArgument(0);
  LLVM::CondBrOp::create(b, equal(block, mark), done, compare);
  b.setInsertionPointToStart(compare);
  LLVM::CondBrOp::create(b, equal(dataOf(block), entry->getArgument(2)), found,
                         next);
  b.setInsertionPointToStart(found);
  LLVM::StoreOp::create(b, number(1), fieldAt(block, keptField));
  LLVM::BrOp::create(b, ValueRange{}, done);
  b.setInsertionPointToStart(next);
  Value following = loadPointer(fieldAt(block, nextField));
  LLVM::BrOp::create(b, ValueRange{following}, loop);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

void RunContextWriter::removeBlock(Value runContext, Value place, Value block) {
  if (maxBytes() > 0) {
    Value field = fieldAt(runContext, usedField);
    Value used = LLVM::LoadOp::create(b, i64, field);
    Value bytes = LLVM::LoadOp::create(b, i64, fieldAt(block, bytesField));
    LLVM::StoreOp::create(b, LLVM::SubOp::create(b, used, bytes), field);
  }
  LLVM::StoreOp::create(b, loadPointer(fieldAt(block, nextField)), place);
  freeBlock(block);
}

/// take(context, data, bytes): the block with these data is the caller's if it
/// has so many bytes; whether there is one.
void RunContextWriter::writeTake() {
  auto take = declare(takeFunction, b.getI1Type(), {pointer, pointer, i64});
  take.setLinkage(LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(b);
  Block *entry = take.addEntryBlock(b);
  // Where the pointer to the next block stands.
  Block *loop =
      b.createBlock(&take.getBody(), {}, {pointer}, {module.getLoc()});
  Block *compare = b.createBlock(&take.getBody());
  Block *next = b.createBlock(&take.getBody());
  Block *found = b.createBlock(&take.getBody());
  Block *none = b.createBlock(&take.getBody());
  auto answer = [&](bool value) {
    Value isThere =
        LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(value));
    LLVM::ReturnOp::create(b, isThere);
  };
  b.setInsertionPointToStart(entry);
  Value data = LLVM::PtrToIntOp::create(b, i64, entry->getArgument(1));
  Value list = fieldAt(entry->getArgument(0), blocksField);
  LLVM::BrOp::create(b, ValueRange{list}, loop);
  b.setInsertionPointToStart(loop);
  Value place = loop->getArgument(0);
  Value block = loadPointer(place);
  LLVM::CondBrOp::create(b, equal(block, null()), none, compare);
  b.setInsertionPointToStart(compare);
  Value bytes = LLVM::LoadOp::create(b, i64, fieldAt(block, bytesField));
  Value isIt = LLVM::AndOp::create(b, equal(dataOf(block), data),
                                   equal(bytes, entry->getArgument(2)));
  LLVM::CondBrOp::create(b, isIt, found, next);
  b.setInsertionPointToStart(next);
  LLVM::BrOp::create(b, ValueRange{fieldAt(block, nextField)}, loop);
  b.setInsertionPointToStart(found);
  LLVM::StoreOp::create(b, loadPointer(fieldAt(block, nextField)), place);
  answer(true);
  b.setInsertionPointToStart(none);
  answer(false);
}

void RunContextWriter::writeDrop(LLVM::LLVMFuncOp drop) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = drop.addEntryBlock(b);
  // Where the pointer to the next block stands.
  Block *loop =
      b.createBlock(&drop.getBody(), {}, {pointer}, {module.getLoc()});
  Block *compare = b.createBlock(&drop.getBody());
  Block *next = b.createBlock(&drop.getBody());
  Block *found = b.createBlock(&drop.getBody());
  Block *done = b.createBlock(&drop.getBody());
  b.setInsertionPointToStart(entry);
  Value list = fieldAt(entry->getArgument(0), blocksField);
  LLVM::BrOp::create(b, ValueRange{list}, loop);
  b.setInsertionPointToStart(loop);
  Value place = loop->getArgument(0);
  Value block = loadPointer(place);
  LLVM::CondBrOp::create(b, equal(block, null()), done, compare);
  b.setInsertionPointToStart(compare);
  LLVM::CondBrOp::create(b, equal(dataOf(block), entry->getArgument(1)), found,
                         next);
  b.setInsertionPointToStart(next);
  LLVM::BrOp::create(b, ValueRange{fieldAt(block, nextField)}, loop);
  b.setInsertionPointToStart(found);
  removeBlock(entry->getArgument(0), place, block);
  LLVM::BrOp::create(b, ValueRange{}, done);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// trim(context, mark): frees the blocks newer than the mark that aren't
/// carried on.
void RunContextWriter::writeTrim(LLVM::LLVMFuncOp trim) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = trim.addEntryBlock(b);
  // Where the pointer to the next block stands.
  Block *loop =
      b.createBlock(&trim.getBody(), {}, {pointer}, {module.getLoc()});
  Block *look = b.createBlock(&trim.getBody());
  Block *kept = b.createBlock(&trim.getBody());
  Block *drop = b.createBlock(&trim.getBody());
  Block *done = b.createBlock(&trim.getBody());
  b.setInsertionPointToStart(entry);
  Value mark = LLVM::IntToPtrOp::create(b, pointer, entry->getArgument(1));
  Value list = fieldAt(entry->getArgument(0), blocksField);
  LLVM::BrOp::create(b, ValueRange{list}, loop);
  b.setInsertionPointToStart(loop);
  Value place = loop->getArgument(0);
  Value block = loadPointer(place);
  LLVM::CondBrOp::create(b, equal(block, mark), done, look);
  b.setInsertionPointToStart(look);
  Value flag = LLVM::LoadOp::create(b, i64, fieldAt(block, keptField));
  LLVM::CondBrOp::create(b, equal(flag, number(0)), drop, kept);
  b.setInsertionPointToStart(kept);
  LLVM::StoreOp::create(b, number(0), fieldAt(block, keptField));
  LLVM::BrOp::create(b, ValueRange{fieldAt(block, nextField)}, loop);
  b.setInsertionPointToStart(drop);
  removeBlock(entry->getArgument(0), place, block);
  LLVM::BrOp::create(b, ValueRange{place}, loop);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

void RunContextWriter::writeRetain() {
  constexpr StringLiteral answer = "onnxq_retains_memory";
  auto malloc = declare("malloc", pointer, {i64});
  auto freeFunction = declare("free", none(), {pointer});
  auto retain = declare(retainFunction, none(), {});
  retain.setLinkage(LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(b, i64, /*isConstant=*/false, LLVM::Linkage::Internal,
                         answer, b.getI64IntegerAttr(0));
  Block *entry = retain.addEntryBlock(b);
  Block *first = b.createBlock(&retain.getBody());
  Block *done = b.createBlock(&retain.getBody());
  b.setInsertionPointToStart(entry);
  Value place = LLVM::AddressOfOp::create(b, pointer, answer);
  // Whichever run comes first; a second one does no harm.
  Value known = LLVM::LoadOp::create(b, i64, place, /*alignment=*/8,
                                     /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false,
                                     LLVM::AtomicOrdering::monotonic);
  LLVM::CondBrOp::create(b, equal(known, number(0)), first, done);
  b.setInsertionPointToStart(first);
  Value block = LLVM::CallOp::create(b, malloc, ValueRange{number(learntBytes)})
                    .getResult();
  // That its address is kept keeps LLVM from leaving out both calls.
  Value address = LLVM::PtrToIntOp::create(b, i64, block);
  LLVM::StoreOp::create(b, LLVM::OrOp::create(b, address, number(1)), place,
                        /*alignment=*/8, /*isVolatile=*/false,
                        /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::monotonic);
  LLVM::CallOp::create(b, freeFunction, ValueRange{block});
  LLVM::BrOp::create(b, ValueRange{}, done);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

void RunContextWriter::write(bool outputs) {
  if (auto alloc = findUsed(allocFunction)) {
    hasBlocks = true;
    writeAlloc(alloc);
    writeRelease();
    if (outputs)
      writeTake();
  }
  if (auto mark = findUsed(markFunction))
    writeMark(mark);
  if (auto keep = findUsed(keepFunction))
    writeKeep(keep);
  if (auto trim = findUsed(trimFunction))
    writeTrim(trim);
  if (auto drop = findUsed(dropFunction))
    writeDrop(drop);
  if (outputs)
    memoryFailure();
  retains = outputs || hasBlocks;
  if (retains)
    writeRetain();
  writeFail();
}
