// Measures how long each kernel of a graph takes.
//
// Enters: a graph that calls kernels. Leaves: the same, with the clock read
// around each call and around each copy of a buffer, and the symbol
// `onnxq_profile`, which tells the sums; see onnxquant-c/model.h.

#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "RunContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxquant {
#define GEN_PASS_DEF_PROFILEKERNELS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr StringLiteral clockFunction = "onnxq_clock";
static constexpr StringLiteral recordFunction = "onnxq_record";
static constexpr StringLiteral profileSymbol = "onnxq_profile";
static constexpr StringLiteral timesSymbol = "onnxq_profile_times";
static constexpr StringLiteral callsSymbol = "onnxq_profile_calls";
static constexpr StringLiteral textsSymbol = "onnxq_profile_texts";
/// CLOCK_MONOTONIC of Linux.
static constexpr int64_t monotonicClock = 1;

namespace {

/// Writes the functions and the data of a profile.
class ProfileWriter : public LLVMWriter {
public:
  ProfileWriter(ModuleOp module, ArrayRef<std::string> texts)
      : LLVMWriter(module), texts(texts),
        counters(LLVM::LLVMArrayType::get(i64, texts.size())) {}

  void write();

private:
  void writeClock();
  void writeRecord();
  void writeCounters(StringRef symbol);
  void writeDescription();
  void addTo(StringRef symbol, Value index, Value amount);

  ArrayRef<std::string> texts;
  Type counters;
};

struct ProfileKernels
    : public onnxquant::impl::ProfileKernelsBase<ProfileKernels> {
  void runOnOperation() override;
};

} // namespace

/// Nanoseconds of a clock that only goes forward.
void ProfileWriter::writeClock() {
  auto read = declare("clock_gettime", i32, {i32, pointer});
  auto clock = LLVM::LLVMFuncOp::create(b, clockFunction,
                                        LLVM::LLVMFunctionType::get(i64, {}));
  clock.setLinkage(LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(clock.addEntryBlock(b));
  Value time = LLVM::AllocaOp::create(
      b, pointer, LLVM::LLVMArrayType::get(i64, 2), number(1));
  Value kind =
      LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(monotonicClock));
  LLVM::CallOp::create(b, read, ValueRange{kind, time});
  Value seconds = LLVM::LoadOp::create(b, i64, time);
  Value rest = LLVM::LoadOp::create(b, i64, fieldAt(time, 8));
  Value whole = LLVM::MulOp::create(b, seconds, number(1000000000));
  LLVM::ReturnOp::create(b, LLVM::AddOp::create(b, whole, rest));
}

void ProfileWriter::addTo(StringRef symbol, Value index, Value amount) {
  Value base = LLVM::AddressOfOp::create(b, pointer, symbol);
  Value place =
      LLVM::GEPOp::create(b, pointer, i64, base, ArrayRef<LLVM::GEPArg>{index});
  Value sum =
      LLVM::AddOp::create(b, LLVM::LoadOp::create(b, i64, place), amount);
  LLVM::StoreOp::create(b, sum, place);
}

/// record(entry, start): an entry took from `start` to now.
void ProfileWriter::writeRecord() {
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {i64, i64});
  auto record = LLVM::LLVMFuncOp::create(b, recordFunction, type);
  record.setLinkage(LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(b);
  Block *entry = record.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value now =
      LLVM::CallOp::create(b, TypeRange{i64}, clockFunction, ValueRange{})
          .getResult();
  Value took = LLVM::SubOp::create(b, now, entry->getArgument(1));
  addTo(timesSymbol, entry->getArgument(0), took);
  addTo(callsSymbol, entry->getArgument(0), number(1));
  LLVM::ReturnOp::create(b, ValueRange{});
}

void ProfileWriter::writeCounters(StringRef symbol) {
  auto zeros = DenseElementsAttr::get(RankedTensorType::get(texts.size(), i64),
                                      b.getI64IntegerAttr(0));
  LLVM::GlobalOp::create(b, counters, /*isConstant=*/false,
                         LLVM::Linkage::Internal, symbol, zeros);
}

/// Count, texts, nanoseconds, calls.
void ProfileWriter::writeDescription() {
  auto textsType = LLVM::LLVMArrayType::get(pointer, texts.size());
  SmallVector<std::string> symbols;
  for (auto [index, text] : llvm::enumerate(texts))
    symbols.push_back(
        stringGlobal("onnxq_profile_text_" + Twine(index), text).str());
  auto list =
      LLVM::GlobalOp::create(b, textsType, /*isConstant=*/true,
                             LLVM::Linkage::Internal, textsSymbol, Attribute());
  auto type = LLVM::LLVMStructType::getLiteral(
      context, {i64, pointer, pointer, pointer});
  auto profile = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                        LLVM::Linkage::External, profileSymbol,
                                        Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&list.getInitializerRegion());
  Value values = LLVM::UndefOp::create(b, textsType);
  for (auto [index, symbol] : llvm::enumerate(symbols))
    values = LLVM::InsertValueOp::create(
        b, values, LLVM::AddressOfOp::create(b, pointer, symbol),
        ArrayRef<int64_t>{static_cast<int64_t>(index)});
  LLVM::ReturnOp::create(b, values);
  b.createBlock(&profile.getInitializerRegion());
  Value fields = LLVM::UndefOp::create(b, type);
  fields = LLVM::InsertValueOp::create(
      b, fields, number(static_cast<int64_t>(texts.size())),
      ArrayRef<int64_t>{0});
  int64_t field = 1;
  for (StringRef symbol : {textsSymbol, timesSymbol, callsSymbol})
    fields = LLVM::InsertValueOp::create(
        b, fields, LLVM::AddressOfOp::create(b, pointer, symbol),
        ArrayRef<int64_t>{field++});
  LLVM::ReturnOp::create(b, fields);
}

void ProfileWriter::write() {
  writeClock();
  writeCounters(timesSymbol);
  writeCounters(callsSymbol);
  writeRecord();
  writeDescription();
}

/// What an op does: the node's name and the kernel's kind.
static std::string describe(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return nodeOf(op) + "\tmemref.copy";
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return (call->getAttrOfType<StringAttr>(nodeAttr).getValue() + "\t" +
          callee->getAttrOfType<StringAttr>(kernelAttr).getValue())
      .str();
}

void ProfileKernels::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<Operation *> measured;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(kernelAttr) && !function->hasAttr(loadBytesAttr))
      function.walk([&](Operation *op) {
        if (isa<memref::CopyOp>(op) ||
            (isa<func::CallOp>(op) && op->hasAttr(nodeAttr)))
          measured.push_back(op);
      });
  std::vector<std::string> texts;
  Type i64 = IntegerType::get(&getContext(), 64);
  for (Operation *op : measured) {
    OpBuilder b(op);
    Value index = LLVM::ConstantOp::create(
        b, op->getLoc(), i64,
        b.getI64IntegerAttr(static_cast<int64_t>(texts.size())));
    Value start = LLVM::CallOp::create(b, op->getLoc(), TypeRange{i64},
                                       clockFunction, ValueRange{})
                      .getResult();
    b.setInsertionPointAfter(op);
    LLVM::CallOp::create(b, op->getLoc(), TypeRange{}, recordFunction,
                         ValueRange{index, start});
    texts.push_back(describe(op));
  }
  if (texts.empty())
    texts.push_back("\t");
  numMeasured += measured.size();
  ProfileWriter(module, texts).write();
}
