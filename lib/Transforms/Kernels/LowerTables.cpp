// Entries of tables of bytes. Enters: `onnxq.entry` of bytes and of vectors.
// Leaves: shuffles of vectors that hold the table, or loads.
//
// The 16 rows of a table are shuffled one after the other where instructions
// shuffle 16 bytes. They give zero for an index with its highest bit set, so
// that the rows' entries are stored as what is to be changed of the row before,
// and indices are made smaller by 16 from row to row: those that are negative
// then change nothing any more.

#include "LowerKernels.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERTABLES
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::EntryOp;

static constexpr int64_t tableSize = 256, rowSize = 16;

namespace {
class TableLowering {
public:
  TableLowering(ModuleOp module, const TargetInfo &target)
      : module(module), target(target) {}
  Value lower(EntryOp op);

private:
  Value getTable(KernelBuilder &b, ArrayRef<int8_t> bytes);
  Value loadPart(KernelBuilder &b, Value table, int64_t offset, int64_t count) {
    return b.loadVector(table, b.index(offset), count, count, b.getI8Type());
  }
  Value byLoads(KernelBuilder &b, ArrayRef<int8_t> table, Value bytes);
  Value byPermuting(KernelBuilder &b, ArrayRef<int8_t> table, Value bytes);
  Value byLanes(KernelBuilder &b, ArrayRef<int8_t> table, Value bytes);
  Value byRows(KernelBuilder &b, ArrayRef<int8_t> table, Value bytes);
  /// The bytes that an instruction looks up, and how.
  int64_t getWidth(int64_t count);

  ModuleOp module;
  const TargetInfo &target;
  llvm::DenseMap<Attribute, std::string> names;
};

struct LowerTables : public onnxquant::impl::LowerTablesBase<LowerTables> {
  void runOnOperation() override {
    TargetInfo target = getTargetInfo(getOperation());
    TableLowering lowering(getOperation(), target);
    SmallVector<EntryOp> ops;
    getOperation().walk([&](EntryOp op) { ops.push_back(op); });
    for (EntryOp op : ops) {
      op.replaceAllUsesWith(lowering.lower(op));
      op.erase();
      ++numLowered;
    }
  }
};
} // namespace

/// A constant of the module; equal tables are one.
Value TableLowering::getTable(KernelBuilder &b, ArrayRef<int8_t> bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  auto data =
      DenseElementsAttr::get(RankedTensorType::get(size, b.getI8Type()), bytes);
  auto type = MemRefType::get(size, b.getI8Type());
  std::string &name = names[data];
  if (name.empty()) {
    name = "onnxq_table_" + std::to_string(names.size() - 1);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(b, name, b.getStringAttr("private"), type, data,
                             /*constant=*/true, b.getI64IntegerAttr(64));
  }
  return memref::GetGlobalOp::create(b, type, name);
}

/// A load per byte.
Value TableLowering::byLoads(KernelBuilder &b, ArrayRef<int8_t> table,
                             Value bytes) {
  Value memory = getTable(b, table);
  auto read = [&](Value byte) {
    return b.loadScalar(
        memory, arith::IndexCastUIOp::create(b, b.getIndexType(), byte));
  };
  auto type = dyn_cast<VectorType>(bytes.getType());
  if (!type)
    return read(bytes);
  Value result = b.zeros(type.getNumElements(), b.getI8Type());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    result = vector::InsertOp::create(
        b, read(vector::ExtractOp::create(b, bytes, i)), result, i);
  return result;
}

/// AVX-512 VBMI: 128 entries are two registers, from which an instruction
/// selects.
Value TableLowering::byPermuting(KernelBuilder &b, ArrayRef<int8_t> table,
                                 Value bytes) {
  auto type = cast<VectorType>(bytes.getType());
  int64_t width = type.getNumElements();
  Value memory = getTable(b, table);
  auto select = [&](int64_t offset) {
    return callIntrinsic(b, b.getLoc(), "llvm.x86.avx512.vpermi2var.qi.512",
                         type,
                         {loadPart(b, memory, offset, width), bytes,
                          loadPart(b, memory, offset + width, width)});
  };
  Value low = select(0), high = select(2 * width);
  Value isHigh = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bytes,
                                       b.zeros(width, b.getI8Type()));
  return arith::SelectOp::create(b, isHigh, high, low);
}

/// AArch64: 64 entries are four registers; an index beyond them gives zero.
Value TableLowering::byLanes(KernelBuilder &b, ArrayRef<int8_t> table,
                             Value bytes) {
  auto type = cast<VectorType>(bytes.getType());
  Value memory = getTable(b, table), result;
  Value step = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getI8IntegerAttr(64)));
  for (int64_t first = 0; first < tableSize; first += 4 * rowSize) {
    SmallVector<Value> operands;
    for (int64_t row = 0; row < 4; ++row)
      operands.push_back(loadPart(b, memory, first + row * rowSize, rowSize));
    operands.push_back(bytes);
    Value part = callIntrinsic(b, b.getLoc(), "llvm.aarch64.neon.tbl4.v16i8",
                               type, operands);
    result = result ? Value(arith::OrIOp::create(b, result, part)) : part;
    bytes = arith::SubIOp::create(b, bytes, step);
  }
  return result;
}

/// x86: 16 entries of every 16 bytes at a time.
Value TableLowering::byRows(KernelBuilder &b, ArrayRef<int8_t> table,
                            Value bytes) {
  auto type = cast<VectorType>(bytes.getType());
  int64_t width = type.getNumElements();
  constexpr int64_t half = tableSize / 2;
  SmallVector<int8_t> changes(table);
  for (int64_t i = tableSize; i-- > 0;)
    if (i % half >= rowSize)
      changes[i] = static_cast<int8_t>(changes[i] ^ changes[i - rowSize]);
  Value memory = getTable(b, changes);
  StringRef shuffle = width == 64   ? "llvm.x86.avx512.pshuf.b.512"
                      : width == 32 ? "llvm.x86.avx2.pshuf.b"
                                    : "llvm.x86.ssse3.pshuf.b.128";
  StringRef subtract = width == 64   ? "llvm.ssub.sat.v64i8"
                       : width == 32 ? "llvm.ssub.sat.v32i8"
                                     : "llvm.ssub.sat.v16i8";
  auto splat = [&](int8_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getI8IntegerAttr(value)));
  };
  Value result;
  for (int64_t first : {int64_t(0), half}) {
    // What isn't of this half has its highest bit set.
    Value indices = first == 0
                        ? bytes
                        : Value(arith::XOrIOp::create(b, bytes, splat(-128)));
    int64_t taken = first;
    for (int64_t offset = first; offset < first + half; offset += rowSize) {
      // A row that changes nothing needs no look, where others tell something.
      ArrayRef<int8_t> part = ArrayRef(changes).slice(offset, rowSize);
      if ((result || offset + rowSize < tableSize) &&
          llvm::all_of(part, [](int8_t change) { return change == 0; }))
        continue;
      if (offset > taken)
        indices = callIntrinsic(b, b.getLoc(), subtract, type,
                                {indices, splat(offset - taken)});
      taken = offset;
      Value row = loadPart(b, memory, offset, rowSize);
      SmallVector<int64_t> repeated;
      for (int64_t i = 0; i < width; ++i)
        repeated.push_back(i % rowSize);
      if (width > rowSize)
        row = vector::ShuffleOp::create(b, row, row, repeated);
      Value entry = callIntrinsic(b, b.getLoc(), shuffle, type, {row, indices});
      result = result ? Value(arith::XOrIOp::create(b, result, entry)) : entry;
    }
  }
  return result;
}

int64_t TableLowering::getWidth(int64_t count) {
  if (!target.hasByteTables())
    return 0;
  if (target.hasVBMI)
    return 64;
  int64_t width = std::min<int64_t>(target.vectorBytes, 64);
  // 32-byte integers are one step further than vectors of 32 bytes.
  if (target.arch == TargetInfo::Arch::X86 && !target.hasAVX2)
    width = rowSize;
  while (width > rowSize && width >= 2 * count)
    width /= 2;
  return width;
}

/// So many lanes of a vector from an offset on; those beyond its end are any.
static Value takeLanes(KernelBuilder &b, Value vector, int64_t first,
                       int64_t count) {
  int64_t all = cast<VectorType>(vector.getType()).getNumElements();
  if (first == 0 && count == all)
    return vector;
  SmallVector<int64_t> lanes;
  for (int64_t i = first; i < first + count; ++i)
    lanes.push_back(std::min(i, all - 1));
  return vector::ShuffleOp::create(b, vector, vector, lanes);
}

Value TableLowering::lower(EntryOp op) {
  KernelBuilder b(op.getLoc(), op);
  SmallVector<int8_t> table(op.getTable().getValues<int8_t>());
  auto type = dyn_cast<VectorType>(op.getByte().getType());
  int64_t count = type ? type.getNumElements() : 1;
  int64_t width = getWidth(count);
  if (count == 1 || width == 0)
    return byLoads(b, table, op.getByte());
  Value result;
  for (int64_t first = 0; first < count; first += width) {
    Value bytes = takeLanes(b, op.getByte(), first, width);
    Value part = target.hasVBMI    ? byPermuting(b, table, bytes)
                 : target.hasSSSE3 ? byRows(b, table, bytes)
                                   : byLanes(b, table, bytes);
    int64_t used = std::min(width, count - first);
    part = takeLanes(b, part, 0, used);
    if (used == count)
      return part;
    if (!result)
      result = b.zeros(count, b.getI8Type());
    result = vector::InsertStridedSliceOp::create(
        b, part, result, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The entry that an elementwise op on contiguous buffers is; null if it is
/// something else.
static EntryOp matchLookup(linalg::GenericOp op) {
  Block &body = *op.getBody();
  auto entry = dyn_cast<EntryOp>(body.front());
  auto isWhole = [](Value buffer) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    return type && type.getLayout().isIdentity() && type.getRank() > 0;
  };
  if (!entry || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || !isWhole(op.getDpsInputs()[0]) ||
      !isWhole(op.getDpsInits()[0]) ||
      llvm::any_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isIdentity(); }) ||
      entry.getByte() != body.getArgument(0) ||
      entry->getNextNode() != body.getTerminator() ||
      body.getTerminator()->getOperand(0) != entry.getResult())
    return {};
  return entry;
}

bool kernels::lowerLookupLoop(linalg::GenericOp op, const TargetInfo &target) {
  EntryOp entry = matchLookup(op);
  if (!entry || !target.hasByteTables())
    return false;
  KernelBuilder b(op.getLoc(), op);
  FlatBuffer from = b.flatten(op.getDpsInputs()[0]);
  FlatBuffer to = b.flatten(op.getDpsInits()[0]);
  Value total = b.index(1);
  for (Value size : from.sizes)
    total = b.mul(total, size);
  int64_t lanes = target.vectorBytes;
  auto look = [&](Value offset, int64_t width) {
    Value bytes = b.loadVector(from.memory, offset, width, width, from.element);
    Value found = EntryOp::create(b, bytes, entry.getTable());
    b.storeVector(found, to.memory, offset, width);
  };
  b.grid({b.ceilDiv(total, b.index(tuning::chunkElements))},
         [&](ArrayRef<Value> at) {
           Value first = b.mul(at[0], tuning::chunkElements);
           Value count =
               b.min(b.index(tuning::chunkElements), b.sub(total, first));
           Value vectors = b.div(count, b.index(lanes));
           Value rest = b.add(first, b.mul(vectors, lanes));
           b.repeat(vectors, [&](Value i) {
             look(b.add(first, b.mul(i, lanes)), lanes);
           });
           b.repeat(b.sub(b.add(first, count), rest),
                    [&](Value i) { look(b.add(rest, i), 1); });
         });
  return true;
}
