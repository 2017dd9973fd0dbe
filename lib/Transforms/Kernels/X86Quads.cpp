// int8 on AVX2, four products in 16 bits:
//
//   vpmaddubsw    pair[i] = A[k] * B[k, j] + A[k + 1] * B[k + 1, j]
//   vpaddw        two such pairs
//   vpmaddwd      acc[j] += fours[2 j] + fours[2 j + 1]
//
// of u8 times s8, exactly: weights are ordered in windows of 16 elements of k,
// so that four products fit 16 bits where possible, and two elsewhere
// (QuadWindows.h tells the format). A tile first reorders its rows of A, window
// by window, into memory of its own, by one shuffle each; then it takes the
// windows of each class, and the extra bundles. Tiles are 4x16.

#include "MicroKernels.h"
#include "OnnxQuant/Support/QuadWindows.h"
#include "X86Avx2.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
/// A window of 16 elements of k: how many of its halves are fours.
enum class WindowClass { BothFours, OneFours, Pairs };

class Quads : public Vpmaddubsw {
public:
  Quads(ImplicitGemm &gemm, const KernelSpec &spec);

  SmallVector<Value> addTile(ImplicitGemm &gemm, const Tile &tile,
                             ArrayRef<RowIndices> rows, ValueRange accumulators,
                             PanelPrefetch &prefetch) const override;

private:
  /// Bytes between the reordered rows; not a multiple of a page's part, so that
  /// the stores don't meet the loads of the next row.
  int64_t getRowBytes() const { return blob.windows * quadRows + 64; }
  void reorder(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value shuffles,
               Value scratch, Value from, Value to, int64_t bytes) const;
  void reorderRun(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value shuffles,
                  Value scratch, Value to) const;
  SmallVector<Value> addWindows(ImplicitGemm &gemm, ArrayRef<RowPointer> rows,
                                Value panel, Value begin, Value end,
                                WindowClass kind,
                                ValueRange accumulators) const;
  SmallVector<Value> addExtras(ImplicitGemm &gemm, ArrayRef<RowPointer> rows,
                               Value begin, Value end,
                               ValueRange accumulators) const;
  void addBundle(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value k,
                 Value offset, MutableArrayRef<Value> accumulators) const;
  void addFours(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value k,
                Value offset, MutableArrayRef<Value> accumulators) const;

  QuadBlob blob;
};
} // namespace

Quads::Quads(ImplicitGemm &gemm, const KernelSpec &spec)
    : Vpmaddubsw(gemm.op.getContext(), spec), blob() {
  hints = {};
  int64_t depth = gemm.packing.getK();
  blob = quadBlob({gemm.packing.getGroups(), depth / gemm.channels,
                   gemm.channels, gemm.packing.getN()});
  // The windows of a tap that isn't a multiple of 16 long end with it.
  if (gemm.channels % quadRows != 0) {
    gemm.loopDims = gemm.spatial;
    gemm.run = gemm.channels;
  }
}

static Value loadBytes(KernelBuilder &b, Value memory, Value offset,
                       int64_t count) {
  return vector::LoadOp::create(b, VectorType::get(count, b.getI8Type()),
                                memory, offset);
}

static Value read32(ImplicitGemm &gemm, Value offset) {
  KernelBuilder &b = gemm.b;
  Value word = bitCast(b, loadBytes(b, gemm.weights.memory, offset, 4), 1,
                       b.getI32Type());
  return vector::ExtractOp::create(b, word, ArrayRef<int64_t>{0});
}

static Value readIndex(ImplicitGemm &gemm, Value offset) {
  return arith::IndexCastOp::create(gemm.b, gemm.b.getIndexType(),
                                    read32(gemm, offset));
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

/// Shuffles 16 or 32 bytes of every row.
void Quads::reorder(ImplicitGemm &gemm, ArrayRef<RowPointer> rows,
                    Value shuffles, Value scratch, Value from, Value to,
                    int64_t bytes) const {
  KernelBuilder &b = gemm.b;
  Value order = loadBytes(b, gemm.weights.memory, b.add(shuffles, to), bytes);
  StringRef name =
      bytes == 32 ? "llvm.x86.avx2.pshuf.b" : "llvm.x86.ssse3.pshuf.b.128";
  for (auto [r, row] : llvm::enumerate(rows)) {
    Value x = loadBytes(b, row.memory, b.add(row.offset, from), bytes);
    Value y = callIntrinsic(b, b.getLoc(), name, x.getType(), {x, order});
    b.storeVector(y, scratch, b.add(to, r * getRowBytes()), bytes);
  }
}

/// Reorders a run of every row.
void Quads::reorderRun(ImplicitGemm &gemm, ArrayRef<RowPointer> rows,
                       Value shuffles, Value scratch, Value to) const {
  KernelBuilder &b = gemm.b;
  int64_t run = gemm.run, width = run % 32 == 0 ? 32 : quadRows;
  b.repeat(b.index(run / width), [&](Value i) {
    Value at = b.mul(i, width);
    reorder(gemm, rows, shuffles, scratch, at, b.add(to, at), width);
  });
  if (run % width != 0)
    reorder(gemm, rows, shuffles, scratch, b.index(run - width),
            b.add(to, run / width * width), width);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Four elements of k in pairs.
void Quads::addBundle(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value k,
                      Value offset, MutableArrayRef<Value> accumulators) const {
  KernelBuilder &b = gemm.b;
  SmallVector<Value> w =
      loadB(b, gemm.weights.memory, offset, gemm.packing.getNr());
  for (size_t r = 0; r < rows.size(); ++r)
    product(b, accumulators.slice(r * w.size(), w.size()),
            loadA(b, rows[r], k, 1), w);
}

/// Eight elements of k in fours.
void Quads::addFours(ImplicitGemm &gemm, ArrayRef<RowPointer> rows, Value k,
                     Value offset, MutableArrayRef<Value> accumulators) const {
  KernelBuilder &b = gemm.b;
  int64_t nr = gemm.packing.getNr(), vectors = nr / lanes;
  SmallVector<Value> w = loadB(b, gemm.weights.memory, offset, 2 * nr);
  for (size_t r = 0; r < rows.size(); ++r) {
    Value x = loadA(b, rows[r], k, 1)[0];
    Value y = loadA(b, rows[r], b.add(k, step), 1)[0];
    for (int64_t j = 0; j < vectors; ++j) {
      Value fours = arith::AddIOp::create(b, multiplyPairs(b, x, w[j]),
                                          multiplyPairs(b, y, w[vectors + j]));
      Value &accumulator = accumulators[r * vectors + j];
      accumulator = widen(b, accumulator, fours);
    }
  }
}

SmallVector<Value> Quads::addWindows(ImplicitGemm &gemm,
                                     ArrayRef<RowPointer> rows, Value panel,
                                     Value begin, Value end, WindowClass kind,
                                     ValueRange accumulators) const {
  KernelBuilder &b = gemm.b;
  int64_t inFours = 8 * (2 - static_cast<int64_t>(kind));
  Value firstWindow = b.add(b.mul(panel, blob.windows), begin);
  return b.loop(
      b.sub(end, begin), accumulators, [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        Value window = b.add(firstWindow, i);
        Value from =
            readIndex(gemm, b.add(b.mul(window, 4), b.index(blob.offsets())));
        Value weights =
            b.add(b.mul(window, quadWindowBytes), b.index(blob.weights()));
        for (int64_t k = 0; k < quadRows;) {
          Value at = b.add(from, k), offset = b.add(weights, k * quadColumns);
          if (k < inFours) {
            addFours(gemm, rows, at, offset, next);
            k += 2 * step;
          } else {
            addBundle(gemm, rows, at, offset, next);
            k += step;
          }
        }
        return next;
      });
}

/// Bundles of four elements of k, picked by a shuffle of their own.
SmallVector<Value> Quads::addExtras(ImplicitGemm &gemm,
                                    ArrayRef<RowPointer> rows, Value begin,
                                    Value end, ValueRange accumulators) const {
  KernelBuilder &b = gemm.b;
  return b.loop(
      b.sub(end, begin), accumulators, [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        Value at = b.add(b.mul(b.add(begin, i), quadExtraBytes),
                         b.index(blob.extras()));
        Value from = readIndex(gemm, at);
        Value order = bitCast(b, b.broadcast(read32(gemm, b.add(at, 4)), lanes),
                              step * lanes, b.getI8Type());
        SmallVector<Value> w =
            loadB(b, gemm.weights.memory, b.add(at, 8), quadColumns);
        for (auto [r, row] : llvm::enumerate(rows)) {
          Value half =
              loadBytes(b, row.memory, b.add(row.offset, from), quadRows);
          Value x =
              callIntrinsic(b, b.getLoc(), "llvm.x86.avx2.pshuf.b",
                            order.getType(), {b.concat({half, half}), order});
          product(b, MutableArrayRef(next).slice(r * w.size(), w.size()), x, w);
        }
        return next;
      });
}

SmallVector<Value> Quads::addTile(ImplicitGemm &gemm, const Tile &tile,
                                  ArrayRef<RowIndices> rows,
                                  ValueRange accumulators,
                                  PanelPrefetch &) const {
  KernelBuilder &b = gemm.b;
  // All columns of a panel are there; those beyond the last aren't stored.
  int64_t vectors = gemm.packing.getNr() / lanes;
  int64_t used = llvm::divideCeil(tile.columns, lanes);
  SmallVector<Value> sums(accumulators);
  for (int64_t row = tile.rows; row-- > 0;)
    sums.insert(sums.begin() + (row + 1) * used, vectors - used,
                b.zeros(lanes, gemm.accumulatorType));
  Value panel = b.add(b.mul(tile.group, gemm.packing.getPanels()), tile.panel);
  // Memory of this tile only, whichever thread computes it.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, pointer);
  auto type = MemRefType::get(tile.rows * getRowBytes(), b.getI8Type());
  Value scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  Value shuffles = b.mul(panel, blob.windows * quadRows);
  int64_t runBytes = llvm::alignTo(gemm.run, quadRows);
  gemm.forRuns(tile, rows, {},
               [&](Value index, ArrayRef<RowPointer> pointers, ValueRange) {
                 reorderRun(gemm, pointers, shuffles, scratch,
                            b.mul(index, runBytes));
                 return SmallVector<Value>();
               });
  SmallVector<RowPointer> reordered;
  for (int64_t row = 0; row < tile.rows; ++row)
    reordered.push_back({scratch, b.index(row * getRowBytes())});
  Value counts = b.add(b.mul(panel, 4 * 8), b.index(blob.counts()));
  Value begin = b.index(0);
  for (WindowClass kind :
       {WindowClass::BothFours, WindowClass::OneFours, WindowClass::Pairs}) {
    Value end = readIndex(gemm, b.add(counts, 4 * static_cast<int64_t>(kind)));
    sums = addWindows(gemm, reordered, panel, begin, end, kind, sums);
    begin = end;
  }
  sums = addExtras(gemm, reordered, readIndex(gemm, b.add(counts, 12)),
                   readIndex(gemm, b.add(counts, 16)), sums);
  LLVM::StackRestoreOp::create(b, stack);
  // Rows of fewer vectors, where the panel is the last.
  SmallVector<Value> kept;
  for (int64_t i = 0; i < tile.rows * vectors; ++i)
    if (i % vectors < used)
      kept.push_back(sums[i]);
  return kept;
}

std::unique_ptr<MicroKernel> kernels::makeQuads(ImplicitGemm &gemm,
                                                const KernelSpec &spec) {
  return std::make_unique<Quads>(gemm, spec);
}
