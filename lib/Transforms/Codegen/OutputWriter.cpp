// The functions that give callers the outputs of wide graphs.

#include "OutputWriter.h"

using namespace mlir;
using namespace onnxquant;

static constexpr StringLiteral sizesFunction = "onnxq_sizes";
static constexpr StringLiteral placedFunction = "onnxq_copy_placed";
static constexpr StringLiteral placedTable = "onnxq_placed";
static constexpr StringLiteral copyName = "onnxq_copy";

/// What was put into a structure that a value is taken from.
static Value seeThrough(Value value) {
  while (auto taken = value.getDefiningOp<LLVM::ExtractValueOp>()) {
    Value container = taken.getContainer();
    auto put = container.getDefiningOp<LLVM::InsertValueOp>();
    while (put && put.getPosition() != taken.getPosition())
      put = put.getContainer().getDefiningOp<LLVM::InsertValueOp>();
    if (!put)
      return value;
    value = put.getValue();
  }
  return value;
}

/// The field of a descriptor.
static Value fieldOf(Value descriptor, int64_t number) {
  auto put = descriptor.getDefiningOp<LLVM::InsertValueOp>();
  while (put && put.getPosition() != ArrayRef(number))
    put = put.getContainer().getDefiningOp<LLVM::InsertValueOp>();
  return put ? seeThrough(put.getValue()) : Value();
}

std::optional<int64_t> onnxquant::findInWorkspace(Value descriptor,
                                                  Value workspace) {
  Value data = fieldOf(descriptor, 1), offset = fieldOf(descriptor, 2);
  APInt number;
  if (!data || !offset || !matchPattern(offset, m_ConstantInt(&number)) ||
      !number.isZero())
    return std::nullopt;
  auto place = data.getDefiningOp<LLVM::GEPOp>();
  if (!place || !place.getElemType().isInteger(8) ||
      seeThrough(place.getBase()) != workspace ||
      place.getDynamicIndices().size() != 1 ||
      place.getRawConstantIndices().size() != 1 ||
      !matchPattern(place.getDynamicIndices().front(), m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

Type OutputWriter::infoType() {
  return LLVM::LLVMStructType::getLiteral(context,
                                          {pointer, i32, i32, pointer});
}

LLVM::LLVMFuncOp OutputWriter::makeFunction(StringRef symbol,
                                            ArrayRef<Type> arguments) {
  auto function = declare(symbol, none(), arguments);
  function.setLinkage(LLVM::Linkage::Internal);
  function.setNoInline(true);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

Value OutputWriter::element(Value base, Value number, int64_t bytes) {
  return LLVM::GEPOp::create(b, pointer,
                             LLVM::LLVMArrayType::get(b.getI8Type(), bytes),
                             base, ArrayRef<LLVM::GEPArg>{number});
}

void OutputWriter::countTo(Value end, function_ref<void(Value)> body) {
  Block *before = b.getInsertionBlock();
  Region *region = before->getParent();
  Block *header =
      b.createBlock(region, region->end(), {index}, {module.getLoc()});
  Block *work = b.createBlock(region, region->end());
  Block *behind = b.createBlock(region, region->end());
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, ValueRange{number(0)}, header);
  b.setInsertionPointToStart(header);
  Value counter = header->getArgument(0);
  Value isLess =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, counter, end);
  LLVM::CondBrOp::create(b, isLess, work, behind);
  b.setInsertionPointToStart(work);
  body(counter);
  Value following = LLVM::AddOp::create(b, counter, number(1));
  LLVM::BrOp::create(b, ValueRange{following}, header);
  b.setInsertionPointToStart(behind);
}

void OutputWriter::writeStatedSizes(Value buffers, StringRef infos,
                                    int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  auto caller = b.saveInsertionPoint();
  LLVM::LLVMFuncOp function = makeFunction(sizesFunction, {pointer});
  Region &region = function.getBody();
  Value given = region.getArgument(0);
  Value first = LLVM::AddressOfOp::create(b, pointer, infos);
  countTo(number(count), [&](Value output) {
    Value wanted = loadPointer(
        fieldAt(element(given, output, 2 * pointerBytes), pointerBytes));
    auto field = [&](int32_t place) {
      return LLVM::GEPOp::create(b, pointer, infoType(), first,
                                 ArrayRef<LLVM::GEPArg>{output, place});
    };
    Value rank = LLVM::LoadOp::create(b, i32, field(2));
    if (index != i32)
      rank = LLVM::ZExtOp::create(b, index, rank);
    Value stated = loadPointer(field(3));
    Value none = number(0);
    rank = LLVM::SelectOp::create(b, equal(wanted, null()), none, rank);
    countTo(rank, [&](Value axis) {
      Value size = LLVM::LoadOp::create(b, i64, element(stated, axis, 8));
      LLVM::StoreOp::create(b, size, element(wanted, axis, 8));
    });
  });
  LLVM::ReturnOp::create(b, ValueRange{});
  b.restoreInsertionPoint(caller);
  LLVM::CallOp::create(b, function, ValueRange{buffers});
}

void OutputWriter::copyPlaced(Value workspace, Value buffers,
                              ArrayRef<PlacedOutput> outputs) {
  constexpr int64_t fields = 3;
  SmallVector<int64_t> table;
  for (const PlacedOutput &output : outputs)
    table.append({output.number, output.offset, output.bytes});
  int64_t count = table.size();
  OpBuilder::InsertionGuard guard(b);
  auto caller = b.saveInsertionPoint();
  b.setInsertionPointToEnd(module.getBody());
  LLVM::GlobalOp::create(
      b, LLVM::LLVMArrayType::get(i64, count), /*isConstant=*/true,
      LLVM::Linkage::Internal, placedTable,
      DenseElementsAttr::get(RankedTensorType::get({count}, i64),
                             ArrayRef<int64_t>(table)));
  LLVM::LLVMFuncOp function = makeFunction(placedFunction, {pointer, pointer});
  Region &region = function.getBody();
  Value from = region.getArgument(0), given = region.getArgument(1);
  Value rows = LLVM::AddressOfOp::create(b, pointer, placedTable);
  countTo(number(outputs.size()), [&](Value output) {
    Value row = element(rows, output, fields * 8);
    auto field = [&](int64_t place) -> Value {
      Value wide = LLVM::LoadOp::create(b, i64, fieldAt(row, 8 * place));
      return index == i64 ? wide : LLVM::TruncOp::create(b, index, wide);
    };
    Value into = loadPointer(element(given, field(0), 2 * pointerBytes));
    LLVM::MemcpyOp::create(b, into, element(from, field(1), 1), field(2),
                           /*isVolatile=*/false);
  });
  LLVM::ReturnOp::create(b, ValueRange{});
  b.restoreInsertionPoint(caller);
  LLVM::CallOp::create(b, function, ValueRange{workspace, buffers});
}

LLVM::LLVMFuncOp OutputWriter::copyFunction() {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(copyName))
    return known;
  OpBuilder::InsertionGuard guard(b);
  LLVM::LLVMFuncOp copy = makeFunction(copyName, {pointer, pointer, index});
  Region &region = copy.getBody();
  LLVM::MemcpyOp::create(b, loadPointer(region.getArgument(0)),
                         region.getArgument(1), region.getArgument(2),
                         /*isVolatile=*/false);
  LLVM::ReturnOp::create(b, ValueRange{});
  return copy;
}
