// int8 on x86 with AMX:
//
//   tdpbusd (and its signs)   C[16 x 16] += A[16 x 64] * B[64 x 16]
//
// on AMX tiles, registers of 16 rows of 64 bytes. Two tiles of A and two of B
// give four of accumulators, a block of 32x32 outputs, which go to the stack
// once k is exhausted; the epilogue reads them as rows of vectors. Rows of a
// tile are neighbours in one dimension of the input, so that a convolution
// reads its windows where they are. Accumulators are no values of the IR, so
// this kernel has loops of its own: a block of rows and panels loads the tile
// configuration, in whichever thread computes it, and releases it.

#include "Epilogue.h"
#include "LowerKernels.h"
#include "TileGrid.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The most rows of a tile, the bytes of a row, and of a sum.
static constexpr int64_t tileRows = 16, rowBytes = 64, sumBytes = 4;
/// Rows that an epilogue takes at a time.
static constexpr int64_t rowsAtOnce = 4;
/// Columns of a vector of accumulators.
static constexpr int64_t lanes = 16;
/// Numbers of the tiles: sums by rows and columns, rows, columns.
static constexpr int64_t sumTile = 0, rowTile = 4, columnTile = 6;

namespace {
/// An AMX tile's rows: the output's indices of the first one.
using AmxTile = RowIndices;

class AmxLowering {
public:
  AmxLowering(onnxq::ContractOp op, const TargetInfo &target, int64_t threads);
  bool canRead();
  void lowerTiles();

private:
  bool isPlain();
  void cutRows();
  void chooseBlocks(Value panels);
  void emitColumns(Value panels, Value firstPanel, int64_t columns);
  void planPrefetch(const Tile &tile, Value index);
  void emitPair(const Tile &tile, Value pair);
  AmxTile getAmxTile(const Tile &tile, Value index);
  void addRun(ArrayRef<RowPointer> sources, Value tap, Value weight,
              int64_t columns);
  void storeAmxTile(const Tile &tile, const AmxTile &half, int64_t from,
                    ArrayRef<Value> start);
  Value makeConfiguration();
  void call(StringRef name, ValueRange operands);
  /// Loads or stores a tile of `count` rows of so many elements each.
  void move(StringRef name, Value tile, Value memory, Value offset, Value count,
            Value step, int64_t elements);
  Value tmm(int64_t reg);
  Value pointerTo(Value memory, Value offset);
  Value stride(Value bytes);
  /// Where the sums of one of both tiles are.
  int64_t getScratch(int64_t half) { return half * tileRows * packing.getNr(); }
  std::optional<int64_t> knownRows() { return KernelBuilder::known(rows); }

  ImplicitGemm gemm;
  KernelBuilder &b;
  onnxq::PackingAttr packing;
  Epilogue epilogue;
  int64_t threads;
  /// Rows that follow each other, how many of them a tile has, the tiles that
  /// cover them, and all tiles.
  Value length, rows, tilesOfLength, amxTiles;
  /// Pairs of tiles, blocks of them and of panels.
  Value pairs, rowBlocks, pairsOfBlock;
  int64_t panelBlocks = 1;
  /// The sums of four tiles.
  Value scratch;
  /// The part of the next panel's weights that a pair of tiles prefetches, and
  /// how many lines of a cache at each iteration of the loop.
  Value nextWeights;
  int64_t linesPerIteration = 0;
};
} // namespace

AmxLowering::AmxLowering(onnxq::ContractOp op, const TargetInfo &target,
                         int64_t threads)
    : gemm(op), b(gemm.b), packing(gemm.packing),
      epilogue(gemm, target, lanes, /*startsAtBias=*/true), threads(threads) {
  gemm.run = packing.getRun();
  gemm.loopDims = gemm.spatial > 0 && gemm.run != gemm.channels
                      ? gemm.spatial - 1
                      : gemm.spatial;
  if (isPlain()) {
    gemm.spatial = gemm.loopDims = 0;
    gemm.mergeRows();
  }
}

/// A window of one tap that reads every element: a product of matrices.
bool AmxLowering::isPlain() {
  if (gemm.spatial == 0)
    return false;
  for (int64_t d = 0; d < gemm.spatial; ++d) {
    std::optional<int64_t> from = KernelBuilder::known(gemm.input.sizes[d + 1]),
                           to = KernelBuilder::known(gemm.output.sizes[d + 1]);
    if (gemm.op.getKernel()[d] != 1 || gemm.op.getStrides()[d] != 1 || !from ||
        from != to)
      return false;
  }
  return true;
}

/// Whether runs are where the packing expects them.
bool AmxLowering::canRead() {
  if (llvm::any_of(gemm.op.getPads(), [](int64_t pad) { return pad > 0; }) ||
      KernelBuilder::known(gemm.input.strides.back()).value_or(1) != 1)
    return false;
  return gemm.loopDims == gemm.spatial ||
         KernelBuilder::known(gemm.input.strides[gemm.spatial]) ==
             gemm.channels;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void AmxLowering::call(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

Value AmxLowering::tmm(int64_t reg) {
  return LLVM::ConstantOp::create(b, b.getI8Type(), b.getI8IntegerAttr(reg));
}

Value AmxLowering::pointerTo(Value memory, Value offset) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memory);
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value address =
      b.add(start, b.mul(b.add(metadata.getOffset(), offset), bytes));
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  integer);
}

Value AmxLowering::stride(Value bytes) {
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), bytes);
}

void AmxLowering::move(StringRef name, Value tile, Value memory, Value offset,
                       Value count, Value step, int64_t elements) {
  if (b.checksPointers()) {
    Value lastRow = b.mul(b.sub(count, b.index(1)), step);
    b.checkSpan(memory, offset, b.add(b.add(offset, lastRow), elements - 1));
  }
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  call(name, {tile, pointerTo(memory, offset), stride(b.mul(step, bytes))});
}

/// The tiles' sizes as the processor takes them: a byte 1, and from byte 16 on
/// the bytes of each tile's rows, from byte 48 on how many it has.
Value AmxLowering::makeConfiguration() {
  int64_t chunk = packing.getChunk(), known = knownRows().value_or(0);
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t i = 0; i < 8; ++i) {
    bool isRows = i >= rowTile && i < columnTile;
    bytes[16 + 2 * i] = static_cast<int8_t>(isRows ? chunk : rowBytes);
    bytes[48 + i] = static_cast<int8_t>(
        i >= columnTile ? chunk / packing.getStep() : known);
  }
  if (!knownRows()) {
    auto type = MemRefType::get(64, b.getI8Type());
    Value memory = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    Value all = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get(64, b.getI8Type()),
                                  ArrayRef<int8_t>(bytes)));
    b.storeVector(all, memory, b.index(0), 64);
    Value count = arith::IndexCastOp::create(b, b.getI8Type(), rows);
    for (int64_t i = 0; i < columnTile; ++i)
      memref::StoreOp::create(b, count, memory, b.index(48 + i));
    return pointerTo(memory, b.index(0));
  }
  auto module = gemm.op->getParentOfType<ModuleOp>();
  std::string name = ("onnxq_tiles_" + Twine(known) + "x" + Twine(chunk)).str();
  auto type = MemRefType::get(64, b.getI8Type());
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto data = DenseElementsAttr::get(RankedTensorType::get(64, b.getI8Type()),
                                       ArrayRef<int8_t>(bytes));
    memref::GlobalOp::create(b, name, b.getStringAttr("private"), type, data,
                             /*constant=*/true, b.getI64IntegerAttr(64));
  }
  return pointerTo(memref::GetGlobalOp::create(b, type, name), b.index(0));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Tiles with equally many rows; the last one begins earlier.
void AmxLowering::cutRows() {
  int64_t rank = gemm.output.rank();
  length = gemm.output.sizes[rank - 2];
  if (std::optional<int64_t> all = KernelBuilder::known(length)) {
    int64_t count = llvm::divideCeil(*all, tileRows);
    rows = b.index(llvm::divideCeil(*all, count));
  } else {
    Value least = b.createOrFold<arith::MaxSIOp>(length, b.index(1));
    rows = b.min(least, b.index(tileRows));
  }
  tilesOfLength = b.ceilDiv(length, rows);
  amxTiles = tilesOfLength;
  for (int64_t i = gemm.batches; i + 2 < rank; ++i)
    amxTiles = b.mul(amxTiles, gemm.output.sizes[i]);
  pairs = b.ceilDiv(amxTiles, b.index(2));
}

/// Blocks of rows whose part of A stays in the cache; as many as threads, or as
/// many of panels.
void AmxLowering::chooseBlocks(Value panels) {
  // At least one, which may have no tiles.
  rowBlocks = b.createOrFold<arith::MaxSIOp>(
      b.ceilDiv(pairs, b.index(getTilesInCache(gemm, 2 * tileRows))),
      b.index(1));
  panelBlocks = 1;
  int64_t columns = *KernelBuilder::known(panels);
  std::optional<int64_t> all = KernelBuilder::known(pairs);
  auto getShare = [&](int64_t count) {
    return static_cast<double>(llvm::divideCeil(count, threads)) * threads /
           count;
  };
  if (threads > 1) {
    bool sharesRows = true;
    if (all) {
      double byRows = getShare(*all), byColumns = getShare(columns);
      int64_t bytes = *all * 2 * tileRows * gemm.channels * packing.getGroups();
      sharesRows =
          bytes < packing.getSize()
              ? byRows < byColumns - 0.1
              : byRows <= tuning::mostUnevenShare || byRows <= byColumns;
    }
    if (sharesRows)
      rowBlocks = b.mul(b.ceilDiv(rowBlocks, b.index(threads)), threads);
    else
      panelBlocks = std::min(columns, threads);
  }
  pairsOfBlock = b.ceilDiv(pairs, rowBlocks);
}

void AmxLowering::lowerTiles() {
  std::optional<int64_t> known = KernelBuilder::known(gemm.m);
  if (known == 0)
    return;
  cutRows();
  int64_t whole = packing.getN() / packing.getNr();
  int64_t rest = packing.getN() % packing.getNr();
  if (whole > 0)
    emitColumns(b.index(whole), b.index(0), packing.getNr());
  if (rest > 0)
    emitColumns(b.index(1), b.index(whole), rest);
}

void AmxLowering::emitColumns(Value panels, Value firstPanel, int64_t columns) {
  chooseBlocks(panels);
  SmallVector<Value> counts(gemm.output.sizes.begin(),
                            gemm.output.sizes.begin() + gemm.batches);
  counts.append(
      {b.index(packing.getGroups()), rowBlocks, b.index(panelBlocks)});
  Value panelsOfBlock = b.ceilDiv(panels, b.index(panelBlocks));
  b.grid(counts, [&](ArrayRef<Value> at) {
    Tile tile = {SmallVector<Value>(at.take_front(gemm.batches)),
                 at[gemm.batches],
                 {},
                 {},
                 rowsAtOnce,
                 columns};
    Value firstPair = b.mul(at[gemm.batches + 1], pairsOfBlock);
    Value panel = b.mul(at[gemm.batches + 2], panelsOfBlock);
    // Memory of this block only.
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value stack = LLVM::StackSaveOp::create(b, pointer);
    auto type = MemRefType::get(getScratch(2), gemm.accumulatorType);
    scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    call("llvm.x86.ldtilecfg", {makeConfiguration()});
    Value count = b.min(pairsOfBlock, b.sub(pairs, firstPair));
    b.repeat(b.min(panelsOfBlock, b.sub(panels, panel)), [&](Value i) {
      tile.panel = b.add(firstPanel, b.add(panel, i));
      b.repeat(count, [&](Value j) {
        linesPerIteration = 0;
        if (KernelBuilder::known(panels) != 1)
          planPrefetch(tile, j);
        emitPair(tile, b.add(firstPair, j));
      });
    });
    call("llvm.x86.tilerelease", {});
    LLVM::StackRestoreOp::create(b, stack);
  });
}

/// Has a pair of tiles prefetch its share of the next panel.
void AmxLowering::planPrefetch(const Tile &tile, Value index) {
  int64_t lines = llvm::divideCeil(packing.getPanelSize(), rowBytes);
  int64_t iterations = packing.getK() / gemm.run * packing.getChunks();
  std::optional<int64_t> count = KernelBuilder::known(pairsOfBlock);
  if (packing.getSize() <= tuning::cachedBBytes || !count)
    return;
  linesPerIteration = std::min<int64_t>(
      llvm::divideCeil(lines, iterations * *count), tuning::amxPrefetchedLines);
  Value share = b.mul(index, iterations * linesPerIteration * rowBytes);
  nextWeights =
      b.add(b.add(gemm.getPanel(tile), packing.getPanelSize()), share);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

AmxTile AmxLowering::getAmxTile(const Tile &tile, Value index) {
  int64_t rank = gemm.output.rank();
  AmxTile indices(tile.batch);
  indices.resize(rank - 1);
  Value outer = b.div(index, tilesOfLength);
  Value inner = b.sub(index, b.mul(outer, tilesOfLength));
  if (rank - gemm.batches == 2)
    inner = index;
  indices[rank - 2] = b.min(b.mul(inner, rows), b.sub(length, rows));
  for (int64_t i = rank - 2; i-- > gemm.batches;) {
    indices[i] = i == gemm.batches ? outer : b.rem(outer, gemm.output.sizes[i]);
    outer = b.div(outer, gemm.output.sizes[i]);
  }
  return indices;
}

/// Adds the products of a run: a chunk of bytes at a time.
void AmxLowering::addRun(ArrayRef<RowPointer> sources, Value tap, Value weight,
                         int64_t columns) {
  int64_t chunk = packing.getChunk(), chunks = packing.getChunks();
  int64_t vectors = llvm::divideCeil(columns, lanes);
  StringRef name = gemm.op.getInputUnsigned()     ? gemm.op.getWeightsUnsigned()
                                                        ? "llvm.x86.tdpbuud"
                                                        : "llvm.x86.tdpbusd"
                   : gemm.op.getWeightsUnsigned() ? "llvm.x86.tdpbsud"
                                                  : "llvm.x86.tdpbssd";
  size_t axis = gemm.spatial > 0 ? gemm.spatial : gemm.input.rank() - 2;
  int64_t step = gemm.spatial > 0 ? gemm.op.getStrides()[gemm.spatial - 1] : 1;
  Value rowStep = b.mul(gemm.input.strides[axis], step);
  Value lineStep = b.index(packing.getNr() * packing.getStep());
  Value lines = b.index(chunk / packing.getStep());
  b.repeat(b.index(chunks), [&](Value i) {
    for (int64_t line = 0; line < linesPerIteration; ++line) {
      Value iteration = b.add(b.mul(tap, chunks), i);
      Value index = b.add(b.mul(iteration, linesPerIteration), line);
      b.prefetch(gemm.weights.memory,
                 b.add(nextWeights, b.mul(index, rowBytes)));
    }
    Value k = b.mul(i, chunk);
    if (chunk * chunks != gemm.run)
      k = b.min(k, b.index(gemm.run - chunk));
    Value line = b.add(weight, b.mul(i, chunk * packing.getNr()));
    auto loadColumns = [&](int64_t j) {
      move("llvm.x86.tileloadd64", tmm(columnTile + j), gemm.weights.memory,
           b.add(line, j * rowBytes), lines, lineStep, rowBytes);
    };
    auto loadRows = [&](size_t h) {
      move("llvm.x86.tileloadd64", tmm(rowTile + h), sources[h].memory,
           b.add(sources[h].offset, k), rows, rowStep, chunk);
    };
    auto multiply = [&](size_t h, int64_t j) {
      call(name,
           {tmm(sumTile + 2 * h + j), tmm(rowTile + h), tmm(columnTile + j)});
    };
    for (size_t h = 0; h < sources.size(); ++h) {
      loadRows(h);
      for (int64_t j = 0; j < vectors; ++j) {
        if (h == 0)
          loadColumns(j);
        multiply(h, j);
      }
    }
  });
}

/// A pair of tiles by a panel.
void AmxLowering::emitPair(const Tile &tile, Value pair) {
  int64_t vectors = llvm::divideCeil(tile.columns, lanes);
  SmallVector<AmxTile> both = {getAmxTile(tile, b.mul(pair, 2))};
  if (KernelBuilder::known(amxTiles) != 1)
    both.push_back(getAmxTile(
        tile, b.min(b.add(b.mul(pair, 2), 1), b.sub(amxTiles, b.index(1)))));
  auto forSums = [&](function_ref<void(Value, int64_t)> body) {
    for (size_t h = 0; h < both.size(); ++h)
      for (int64_t j = 0; j < vectors; ++j)
        body(tmm(sumTile + 2 * h + j), getScratch(h) + j * lanes);
  };
  forSums([&](Value sums, int64_t) { call("llvm.x86.tilezero", {sums}); });
  Value first = gemm.getPanel(tile);
  int64_t runBytes = packing.getChunks() * packing.getChunk() * packing.getNr();
  gemm.forRuns(
      tile, both, {}, [&](Value tap, ArrayRef<RowPointer> sources, ValueRange) {
        addRun(sources, tap, b.add(first, b.mul(tap, runBytes)), tile.columns);
        return SmallVector<Value>();
      });
  forSums([&](Value sums, int64_t at) {
    move("llvm.x86.tilestored64", sums, scratch, b.index(at), rows,
         b.index(packing.getNr()), rowBytes / sumBytes);
  });
  SmallVector<Value> start = epilogue.start(tile);
  for (auto [h, half] : llvm::enumerate(both))
    storeAmxTile(tile, half, getScratch(h), start);
}

/// The epilogue of a tile's rows, some at a time; where there are fewer, the
/// last ones again.
void AmxLowering::storeAmxTile(const Tile &tile, const AmxTile &half,
                               int64_t from, ArrayRef<Value> start) {
  std::optional<int64_t> known = knownRows();
  Tile part = tile;
  part.rows = std::min<int64_t>(rowsAtOnce, known.value_or(rowsAtOnce));
  Value count = b.ceilDiv(rows, b.index(part.rows));
  b.repeat(count, [&](Value i) {
    Value first = b.mul(i, part.rows);
    if (known && *known % part.rows != 0)
      first = b.min(first, b.index(*known - part.rows));
    SmallVector<RowIndices> indicesOf;
    SmallVector<Value> sums;
    for (int64_t j = 0; j < part.rows; ++j) {
      Value row = b.add(first, j);
      if (!known)
        row = b.min(row, b.sub(rows, b.index(1)));
      SmallVector<Value> indices(half);
      indices.back() = b.add(indices.back(), row);
      indicesOf.push_back(indices);
      Value at = b.add(b.mul(row, packing.getNr()), from);
      for (auto [v, begin] : llvm::enumerate(start))
        sums.push_back(arith::AddIOp::create(
            b,
            b.loadVector(scratch, b.add(at, v * lanes), lanes, lanes,
                         gemm.accumulatorType),
            begin));
    }
    epilogue.store(part, indicesOf, sums);
  });
}

LogicalResult kernels::lowerAmxContract(onnxq::ContractOp op,
                                        const TargetInfo &target,
                                        int64_t threads) {
  if (!target.hasAMX)
    return op.emitOpError("expects a target with the micro-kernel '")
           << stringifyEnum(op.getPackingAttr().getKind()) << "'";
  AmxLowering lowering(op, target, threads);
  if (!lowering.canRead())
    return op.emitOpError("expects runs of AMX tiles next to each other");
  lowering.lowerTiles();
  return success();
}
