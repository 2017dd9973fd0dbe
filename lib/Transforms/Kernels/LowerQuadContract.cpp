// Contractions of bytes whose weights are ordered in windows of 16 rows, so
// that four products can be added in 16 bits: see QuadWindows.h.
//
// A tile first reorders its rows of activations, window by window, into memory
// of its own, by one shuffle per window; then it runs through the windows of
// each class, and through the extra bundles.

#include "DotSteps.h"
#include "IntegerContract.h"
#include "OnnxQuant/Support/QuadWindows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class QuadContractLowering : public IntegerContractLowering {
public:
  QuadContractLowering(onnxq::ContractOp op, const TargetInfo &target);

protected:
  SmallVector<Value> sumTaps(const TilePlace &place,
                             ArrayRef<SmallVector<Value>> rows,
                             SmallVector<Value> sums) override;

private:
  /// Bytes between the reordered rows; not a multiple of a page's part, so that
  /// the stores don't meet the loads of the next row.
  int64_t getRowBytes() const { return blob.windows * quadRows + 64; }
  void reorder(ArrayRef<RowSource> rows, Value from, Value to, int64_t bytes);
  void reorderRun(ArrayRef<RowSource> rows, Value to);
  Value read32(Value place);
  Value readIndex(Value place);
  SmallVector<Value> sumWindows(Value panel, Value begin, Value end, int kind,
                                ValueRange sums);
  SmallVector<Value> sumExtras(Value begin, Value end, ValueRange sums);
  void addBundle(SmallVector<Value> &sums, Value from, Value weight);
  void addDouble(SmallVector<Value> &sums, Value from, Value weight);
  Value loadBytes(Value memory, Value place, int64_t count);
  Value spread(Value place);
  Value multiplyBytes(Value x, Value w);
  void widen(Value &sum, Value pairs);

  QuadBlob blob;
  /// Where reordered rows are, and the panel's shuffles.
  Value scratch, shuffles;
};
} // namespace

static WeightShape getShape(onnxq::PackingAttr packing, int64_t taps) {
  return {packing.getGroups(), taps, packing.getDepth() / taps,
          packing.getColumns()};
}

QuadContractLowering::QuadContractLowering(onnxq::ContractOp op,
                                           const TargetInfo &target)
    : IntegerContractLowering(op, target,
                              getDotLanes(onnxq::PackingKind::Quads, target)),
      blob() {
  blob = quadBlob(getShape(packing, packing.getDepth() / channels));
  // The windows of a tap that isn't a multiple of 16 long end with it.
  if (channels % quadRows != 0) {
    loopDims = spatial;
    run = channels;
  }
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

Value QuadContractLowering::loadBytes(Value memory, Value place,
                                      int64_t count) {
  return vector::LoadOp::create(b, VectorType::get(count, b.getI8Type()),
                                memory, place);
}

Value QuadContractLowering::read32(Value place) {
  Value word = vector::BitCastOp::create(b, VectorType::get(1, b.getI32Type()),
                                         loadBytes(weights.memory, place, 4));
  return vector::ExtractOp::create(b, word, ArrayRef<int64_t>{0});
}

Value QuadContractLowering::readIndex(Value place) {
  return arith::IndexCastOp::create(b, b.getIndexType(), read32(place));
}

/// Four bytes of a reordered row, for every column.
Value QuadContractLowering::spread(Value place) {
  Value word = vector::BitCastOp::create(b, VectorType::get(1, b.getI32Type()),
                                         loadBytes(scratch, place, 4));
  Value scalar = vector::ExtractOp::create(b, word, ArrayRef<int64_t>{0});
  return vector::BitCastOp::create(b, VectorType::get(4 * lanes, b.getI8Type()),
                                   b.broadcast(scalar, lanes));
}

Value QuadContractLowering::multiplyBytes(Value x, Value w) {
  return callIntrinsic(b, b.getLoc(), "llvm.x86.avx2.pmadd.ub.sw",
                       VectorType::get(2 * lanes, b.getI16Type()), {x, w});
}

void QuadContractLowering::widen(Value &sum, Value pairs) {
  auto type = cast<VectorType>(pairs.getType());
  Value ones = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getI16IntegerAttr(1)));
  Value products = callIntrinsic(b, b.getLoc(), "llvm.x86.avx2.pmadd.wd",
                                 sum.getType(), {pairs, ones});
  sum = arith::AddIOp::create(b, products, sum);
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

/// Shuffles 16 or 32 bytes of every row.
void QuadContractLowering::reorder(ArrayRef<RowSource> rows, Value from,
                                   Value to, int64_t bytes) {
  Value order = loadBytes(weights.memory, b.add(shuffles, to), bytes);
  for (auto [r, row] : llvm::enumerate(rows)) {
    Value x = loadBytes(row.memory, b.add(row.place, from), bytes);
    StringRef name =
        bytes == 32 ? "llvm.x86.avx2.pshuf.b" : "llvm.x86.ssse3.pshuf.b.128";
    Value y = callIntrinsic(b, b.getLoc(), name, x.getType(), {x, order});
    b.storeVector(y, scratch, b.add(to, r * getRowBytes()), bytes);
  }
}

/// Reorders a run of every row.
void QuadContractLowering::reorderRun(ArrayRef<RowSource> rows, Value to) {
  int64_t width = run % 32 == 0 ? 32 : quadRows;
  b.loop(b.index(run / width), {}, [&](Value i, ValueRange) {
    Value at = b.mul(i, width);
    reorder(rows, at, b.add(to, at), width);
    return SmallVector<Value>();
  });
  if (run % width != 0)
    reorder(rows, b.index(run - width), b.add(to, run / width * width), width);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Four rows in pairs.
void QuadContractLowering::addBundle(SmallVector<Value> &sums, Value from,
                                     Value weight) {
  int64_t vectors = packing.getNr() / lanes;
  SmallVector<Value> columnsOf;
  for (int64_t j = 0; j < vectors; ++j)
    columnsOf.push_back(
        loadBytes(weights.memory, b.add(weight, 4 * lanes * j), 4 * lanes));
  for (size_t r = 0; r < sums.size() / vectors; ++r) {
    Value x = spread(b.add(from, r * getRowBytes()));
    for (int64_t j = 0; j < vectors; ++j)
      widen(sums[r * vectors + j], multiplyBytes(x, columnsOf[j]));
  }
}

/// Eight rows in quads.
void QuadContractLowering::addDouble(SmallVector<Value> &sums, Value from,
                                     Value weight) {
  int64_t vectors = packing.getNr() / lanes;
  SmallVector<Value> columnsOf;
  for (int64_t j = 0; j < 2 * vectors; ++j)
    columnsOf.push_back(
        loadBytes(weights.memory, b.add(weight, 4 * lanes * j), 4 * lanes));
  for (size_t r = 0; r < sums.size() / vectors; ++r) {
    Value place = b.add(from, r * getRowBytes());
    Value x = spread(place), y = spread(b.add(place, 4));
    for (int64_t j = 0; j < vectors; ++j) {
      Value pairs =
          arith::AddIOp::create(b, multiplyBytes(x, columnsOf[j]),
                                multiplyBytes(y, columnsOf[vectors + j]));
      widen(sums[r * vectors + j], pairs);
    }
  }
}

/// The windows of a class: 0 has two doubles, 1 has one, 2 has none.
SmallVector<Value> QuadContractLowering::sumWindows(Value panel, Value begin,
                                                    Value end, int kind,
                                                    ValueRange sums) {
  Value firstWindow = b.add(b.mul(panel, blob.windows), begin);
  return b.loop(b.sub(end, begin), sums, [&](Value i, ValueRange carried) {
    SmallVector<Value> next(carried);
    Value window = b.add(firstWindow, i);
    Value from = readIndex(b.add(b.mul(window, 4), b.index(blob.offsets())));
    Value weight =
        b.add(b.mul(window, quadWindowBytes), b.index(blob.weights()));
    for (int64_t row = 0; row < quadRows;) {
      Value place = b.add(from, row), part = b.add(weight, row * quadColumns);
      if (row < 8 * (2 - kind)) {
        addDouble(next, place, part);
        row += 8;
      } else {
        addBundle(next, place, part);
        row += 4;
      }
    }
    return next;
  });
}

SmallVector<Value> QuadContractLowering::sumExtras(Value begin, Value end,
                                                   ValueRange sums) {
  int64_t vectors = packing.getNr() / lanes;
  return b.loop(b.sub(end, begin), sums, [&](Value i, ValueRange carried) {
    SmallVector<Value> next(carried);
    Value at =
        b.add(b.mul(b.add(begin, i), quadExtraBytes), b.index(blob.extras()));
    Value from = readIndex(at);
    Value order =
        vector::BitCastOp::create(b, VectorType::get(4 * lanes, b.getI8Type()),
                                  b.broadcast(read32(b.add(at, 4)), lanes));
    SmallVector<Value> columnsOf;
    for (int64_t j = 0; j < vectors; ++j)
      columnsOf.push_back(
          loadBytes(weights.memory, b.add(at, 8 + 4 * lanes * j), 4 * lanes));
    for (size_t r = 0; r < next.size() / vectors; ++r) {
      Value half = loadBytes(scratch, b.add(from, r * getRowBytes()), quadRows);
      Value x = callIntrinsic(b, b.getLoc(), "llvm.x86.avx2.pshuf.b",
                              order.getType(), {b.concat({half, half}), order});
      for (int64_t j = 0; j < vectors; ++j)
        widen(next[r * vectors + j], multiplyBytes(x, columnsOf[j]));
    }
    return next;
  });
}

SmallVector<Value>
QuadContractLowering::sumTaps(const TilePlace &place,
                              ArrayRef<SmallVector<Value>> rows,
                              SmallVector<Value> sums) {
  // All columns of a panel are there; those beyond the last aren't stored.
  int64_t vectors = packing.getNr() / lanes;
  int64_t used = llvm::divideCeil(place.columns, lanes);
  for (int64_t row = place.rows; row-- > 0;)
    sums.insert(sums.begin() + (row + 1) * used, vectors - used,
                b.zeros(lanes, sumType));
  Value panel = b.add(b.mul(place.group, packing.getPanels()), place.panel);
  // Memory of this tile only, whichever thread computes it.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, pointer);
  auto type = MemRefType::get(place.rows * getRowBytes(), b.getI8Type());
  scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  shuffles = b.mul(panel, blob.windows * quadRows);
  int64_t runBytes = llvm::alignTo(run, quadRows);
  forTaps(place, rows, {},
          [&](Value tap, ArrayRef<RowSource> sources, ValueRange) {
            reorderRun(sources, b.mul(tap, runBytes));
            return SmallVector<Value>();
          });
  Value counts = b.add(b.mul(panel, 4 * 8), b.index(blob.counts()));
  Value begin = b.index(0);
  for (int kind = 0; kind < 3; ++kind) {
    Value end = readIndex(b.add(counts, 4 * kind));
    sums = sumWindows(panel, begin, end, kind, sums);
    begin = end;
  }
  sums = sumExtras(readIndex(b.add(counts, 12)), readIndex(b.add(counts, 16)),
                   sums);
  LLVM::StackRestoreOp::create(b, stack);
  // Rows of fewer vectors, where the panel is the last.
  SmallVector<Value> kept;
  for (int64_t i = 0; i < place.rows * vectors; ++i)
    if (i % vectors < used)
      kept.push_back(sums[i]);
  return kept;
}

void kernels::lowerQuadContract(onnxq::ContractOp op, const TargetInfo &target,
                                int64_t threads) {
  QuadContractLowering(op, target).lower(threads);
}
