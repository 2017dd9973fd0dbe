// Contractions of bytes by products of x86's tiles: 16 rows of up to 64 bytes
// times 16 columns by one instruction.
//
// Two tiles of rows and two of columns give four tiles of sums, which go to
// memory once all products are added; the epilogue reads them as rows of
// vectors. Rows of a tile are neighbours in one dimension of the input, so that
// a convolution reads its windows where they are. A block of rows and panels
// sets up the tiles once, by whichever thread computes it, and gives them back.

#include "DotSteps.h"
#include "IntegerContract.h"
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
/// Numbers of the tiles: sums by rows and columns, rows, columns.
static constexpr int64_t sumTile = 0, rowTile = 4, columnTile = 6;
/// Weights that stay in a cache near the processor by themselves.
static constexpr int64_t smallWeights = 128 * 1024;
/// Lines of a cache that a turn of the loop asks for at most.
static constexpr int64_t mostLines = 16;
/// The most that the slowest thread may do more than the others.
static constexpr double mostUneven = 1.15;

namespace {
/// A tile's rows: the output's indices of the first one.
using HalfTile = SmallVector<Value>;

class TileContractLowering : public IntegerContractLowering {
public:
  TileContractLowering(onnxq::ContractOp op, const TargetInfo &target,
                       int64_t threads);
  bool canRead();
  void lowerTiles();

private:
  bool isPlain();
  void cutRows();
  void chooseBlocks(Value panels);
  void emitColumns(Value panels, Value firstPanel, int64_t columns);
  void askAhead(const TilePlace &place, Value tile);
  void emitTiles(const TilePlace &place, Value pair);
  HalfTile getHalf(const TilePlace &place, Value number);
  void addRun(ArrayRef<RowSource> sources, Value tap, Value weight,
              int64_t columns);
  void storeHalf(const TilePlace &place, const HalfTile &half, int64_t from,
                 ArrayRef<Value> start);
  Value makeConfiguration();
  void call(StringRef name, ValueRange operands);
  /// Loads or stores a tile of `count` rows of so many elements each.
  void move(StringRef name, Value tile, Value memory, Value place, Value count,
            Value step, int64_t elements);
  Value tile(int64_t number);
  Value pointerTo(Value memory, Value place);
  Value stride(Value bytes);
  /// Where the sums of one of both tiles are.
  int64_t getScratch(int64_t half) { return half * tileRows * packing.getNr(); }
  std::optional<int64_t> knownRows() { return KernelBuilder::known(rows); }

  bool weightsUnsigned, inputUnsigned;
  /// Rows that follow each other, how many of them a tile has, the tiles that
  /// cover them, and all tiles.
  Value length, rows, tilesOfLength, halves;
  /// Pairs of tiles, blocks of them and of panels.
  Value tiles, rowBlocks, tilesOfBlock;
  int64_t panelBlocks = 1;
  /// The sums of four tiles.
  Value scratch;
  /// The part of the next panel's weights that a pair of tiles asks for, and
  /// how many lines of a cache at each turn of the loop.
  Value nextWeights;
  int64_t linesPerTurn = 0;
};
} // namespace

TileContractLowering::TileContractLowering(onnxq::ContractOp op,
                                           const TargetInfo &target,
                                           int64_t numThreads)
    : IntegerContractLowering(op, target, /*lanes=*/16),
      weightsUnsigned(op.getWeightsUnsigned()),
      inputUnsigned(op.getInputUnsigned()) {
  threads = numThreads;
  run = packing.getRun();
  loopDims = spatial > 0 && run != channels ? spatial - 1 : spatial;
  if (isPlain()) {
    spatial = loopDims = 0;
    mergeRows();
  }
}

/// A window of one tap that reads every place: a product of matrices.
bool TileContractLowering::isPlain() {
  if (spatial == 0)
    return false;
  for (int64_t d = 0; d < spatial; ++d) {
    std::optional<int64_t> from = KernelBuilder::known(input.sizes[d + 1]),
                           to = KernelBuilder::known(output.sizes[d + 1]);
    if (op.getKernel()[d] != 1 || op.getStrides()[d] != 1 || !from ||
        from != to)
      return false;
  }
  return true;
}

/// Whether runs are where the packing expects them.
bool TileContractLowering::canRead() {
  if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad > 0; }) ||
      KernelBuilder::known(input.strides.back()).value_or(1) != 1)
    return false;
  return loopDims == spatial ||
         KernelBuilder::known(input.strides[spatial]) == channels;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void TileContractLowering::call(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

Value TileContractLowering::tile(int64_t number) {
  return LLVM::ConstantOp::create(b, b.getI8Type(), b.getI8IntegerAttr(number));
}

Value TileContractLowering::pointerTo(Value memory, Value place) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memory);
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value address =
      b.add(start, b.mul(b.add(metadata.getOffset(), place), bytes));
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  number);
}

Value TileContractLowering::stride(Value bytes) {
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), bytes);
}

void TileContractLowering::move(StringRef name, Value tile, Value memory,
                                Value place, Value count, Value step,
                                int64_t elements) {
  if (b.checksPointers()) {
    Value lastRow = b.mul(b.sub(count, b.index(1)), step);
    b.checkSpan(memory, place, b.add(b.add(place, lastRow), elements - 1));
  }
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  call(name, {tile, pointerTo(memory, place), stride(b.mul(step, bytes))});
}

/// The tiles' sizes as the processor takes them: a byte 1, and from byte 16 on
/// the bytes of each tile's rows, from byte 48 on how many it has.
Value TileContractLowering::makeConfiguration() {
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
  auto module = op->getParentOfType<ModuleOp>();
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

/// Tiles of equal numbers of rows; the last one begins earlier.
void TileContractLowering::cutRows() {
  int64_t rank = output.rank();
  length = output.sizes[rank - 2];
  if (std::optional<int64_t> all = KernelBuilder::known(length)) {
    int64_t count = llvm::divideCeil(*all, tileRows);
    rows = b.index(llvm::divideCeil(*all, count));
  } else {
    Value least = b.createOrFold<arith::MaxSIOp>(length, b.index(1));
    rows = b.min(least, b.index(tileRows));
  }
  tilesOfLength = b.ceilDiv(length, rows);
  halves = tilesOfLength;
  for (int64_t i = batches; i + 2 < rank; ++i)
    halves = b.mul(halves, output.sizes[i]);
  tiles = b.ceilDiv(halves, b.index(2));
}

/// Blocks of rows whose input stays in the cache; as many as threads, or as
/// many of panels.
void TileContractLowering::chooseBlocks(Value panels) {
  // At least one, which may have no tiles.
  rowBlocks = b.createOrFold<arith::MaxSIOp>(
      b.ceilDiv(tiles, b.index(getTilesInCache(2 * tileRows))), b.index(1));
  panelBlocks = 1;
  int64_t columns = *KernelBuilder::known(panels);
  std::optional<int64_t> all = KernelBuilder::known(tiles);
  auto getShare = [&](int64_t count) {
    return static_cast<double>(llvm::divideCeil(count, threads)) * threads /
           count;
  };
  if (threads > 1) {
    bool sharesRows = true;
    if (all) {
      double byRows = getShare(*all), byColumns = getShare(columns);
      int64_t bytes = *all * 2 * tileRows * channels * packing.getGroups();
      sharesRows = bytes < packing.getSize()
                       ? byRows < byColumns - 0.1
                       : byRows <= mostUneven || byRows <= byColumns;
    }
    if (sharesRows)
      rowBlocks = b.mul(b.ceilDiv(rowBlocks, b.index(threads)), threads);
    else
      panelBlocks = std::min(columns, threads);
  }
  tilesOfBlock = b.ceilDiv(tiles, rowBlocks);
}

void TileContractLowering::lowerTiles() {
  std::optional<int64_t> known = KernelBuilder::known(numRows);
  if (known == 0)
    return;
  cutRows();
  int64_t whole = packing.getColumns() / packing.getNr();
  int64_t rest = packing.getColumns() % packing.getNr();
  if (whole > 0)
    emitColumns(b.index(whole), b.index(0), packing.getNr());
  if (rest > 0)
    emitColumns(b.index(1), b.index(whole), rest);
}

void TileContractLowering::emitColumns(Value panels, Value firstPanel,
                                       int64_t columns) {
  chooseBlocks(panels);
  SmallVector<Value> counts(output.sizes.begin(),
                            output.sizes.begin() + batches);
  counts.append(
      {b.index(packing.getGroups()), rowBlocks, b.index(panelBlocks)});
  Value panelsOfBlock = b.ceilDiv(panels, b.index(panelBlocks));
  b.grid(counts, [&](ArrayRef<Value> at) {
    TilePlace place = {SmallVector<Value>(at.take_front(batches)),
                       at[batches],
                       {},
                       {},
                       rowsAtOnce,
                       columns};
    Value tile = b.mul(at[batches + 1], tilesOfBlock);
    Value panel = b.mul(at[batches + 2], panelsOfBlock);
    // Memory of this block only.
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value stack = LLVM::StackSaveOp::create(b, pointer);
    auto type = MemRefType::get(getScratch(2), sumType);
    scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    call("llvm.x86.ldtilecfg", {makeConfiguration()});
    Value count = b.min(tilesOfBlock, b.sub(tiles, tile));
    auto repeat = [&](Value number, function_ref<void(Value)> body) {
      b.loop(number, {}, [&](Value i, ValueRange) {
        body(i);
        return SmallVector<Value>();
      });
    };
    repeat(b.min(panelsOfBlock, b.sub(panels, panel)), [&](Value i) {
      place.panel = b.add(firstPanel, b.add(panel, i));
      repeat(count, [&](Value j) {
        linesPerTurn = 0;
        if (KernelBuilder::known(panels) != 1)
          askAhead(place, j);
        emitTiles(place, b.add(tile, j));
      });
    });
    call("llvm.x86.tilerelease", {});
    LLVM::StackRestoreOp::create(b, stack);
  });
}

/// Lets a pair of tiles ask for its share of the next panel's weights.
void TileContractLowering::askAhead(const TilePlace &place, Value tile) {
  int64_t lines = llvm::divideCeil(packing.getPanelSize(), rowBytes);
  int64_t turns = packing.getDepth() / run * packing.getChunks();
  std::optional<int64_t> count = KernelBuilder::known(tilesOfBlock);
  if (packing.getSize() <= smallWeights || !count)
    return;
  linesPerTurn =
      std::min<int64_t>(llvm::divideCeil(lines, turns * *count), mostLines);
  Value share = b.mul(tile, turns * linesPerTurn * rowBytes);
  nextWeights = b.add(b.add(getWeights(place), packing.getPanelSize()), share);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

HalfTile TileContractLowering::getHalf(const TilePlace &place, Value number) {
  int64_t rank = output.rank();
  HalfTile indices(place.batch);
  indices.resize(rank - 1);
  Value outer = b.div(number, tilesOfLength);
  Value inner = b.sub(number, b.mul(outer, tilesOfLength));
  if (rank - batches == 2)
    inner = number;
  indices[rank - 2] = b.min(b.mul(inner, rows), b.sub(length, rows));
  for (int64_t i = rank - 2; i-- > batches;) {
    indices[i] = i == batches ? outer : b.rem(outer, output.sizes[i]);
    outer = b.div(outer, output.sizes[i]);
  }
  return indices;
}

/// Adds the products of a run: a chunk of bytes at a time.
void TileContractLowering::addRun(ArrayRef<RowSource> sources, Value tap,
                                  Value weight, int64_t columns) {
  int64_t chunk = packing.getChunk(), chunks = packing.getChunks();
  int64_t vectors = llvm::divideCeil(columns, lanes);
  StringRef name =
      inputUnsigned ? weightsUnsigned ? "llvm.x86.tdpbuud" : "llvm.x86.tdpbusd"
      : weightsUnsigned ? "llvm.x86.tdpbsud"
                        : "llvm.x86.tdpbssd";
  size_t axis = spatial > 0 ? spatial : input.rank() - 2;
  int64_t step = spatial > 0 ? op.getStrides()[spatial - 1] : 1;
  Value rowStep = b.mul(input.strides[axis], step);
  Value lineStep = b.index(packing.getNr() * packing.getStep());
  Value lines = b.index(chunk / packing.getStep());
  b.loop(b.index(chunks), {}, [&](Value i, ValueRange) {
    for (int64_t line = 0; line < linesPerTurn; ++line) {
      Value turn = b.add(b.mul(tap, chunks), i);
      Value place = b.add(b.mul(turn, linesPerTurn), line);
      b.prefetch(weights.memory, b.add(nextWeights, b.mul(place, rowBytes)));
    }
    Value k = b.mul(i, chunk);
    if (chunk * chunks != run)
      k = b.min(k, b.index(run - chunk));
    Value line = b.add(weight, b.mul(i, chunk * packing.getNr()));
    auto loadColumns = [&](int64_t j) {
      move("llvm.x86.tileloadd64", tile(columnTile + j), weights.memory,
           b.add(line, j * rowBytes), lines, lineStep, rowBytes);
    };
    auto loadRows = [&](size_t h) {
      move("llvm.x86.tileloadd64", tile(rowTile + h), sources[h].memory,
           b.add(sources[h].place, k), rows, rowStep, chunk);
    };
    auto multiply = [&](size_t h, int64_t j) {
      call(name, {tile(sumTile + 2 * h + j), tile(rowTile + h),
                  tile(columnTile + j)});
    };
    for (size_t h = 0; h < sources.size(); ++h) {
      loadRows(h);
      for (int64_t j = 0; j < vectors; ++j) {
        if (h == 0)
          loadColumns(j);
        multiply(h, j);
      }
    }
    return SmallVector<Value>();
  });
}

/// A pair of tiles by a panel.
void TileContractLowering::emitTiles(const TilePlace &place, Value pair) {
  int64_t vectors = llvm::divideCeil(place.columns, lanes);
  SmallVector<HalfTile> both = {getHalf(place, b.mul(pair, 2))};
  if (KernelBuilder::known(halves) != 1)
    both.push_back(getHalf(
        place, b.min(b.add(b.mul(pair, 2), 1), b.sub(halves, b.index(1)))));
  auto forSums = [&](function_ref<void(Value, int64_t)> body) {
    for (size_t h = 0; h < both.size(); ++h)
      for (int64_t j = 0; j < vectors; ++j)
        body(tile(sumTile + 2 * h + j), getScratch(h) + j * lanes);
  };
  forSums([&](Value sums, int64_t) { call("llvm.x86.tilezero", {sums}); });
  Value first = getWeights(place);
  int64_t runBytes = packing.getChunks() * packing.getChunk() * packing.getNr();
  forTaps(
      place, both, {}, [&](Value tap, ArrayRef<RowSource> sources, ValueRange) {
        addRun(sources, tap, b.add(first, b.mul(tap, runBytes)), place.columns);
        return SmallVector<Value>();
      });
  forSums([&](Value sums, int64_t at) {
    move("llvm.x86.tilestored64", sums, scratch, b.index(at), rows,
         b.index(packing.getNr()), rowBytes / sumBytes);
  });
  SmallVector<Value> start = startRow(place);
  for (auto [h, half] : llvm::enumerate(both))
    storeHalf(place, half, getScratch(h), start);
}

/// The epilogue of a tile's rows, some at a time; where there are fewer, the
/// last ones again.
void TileContractLowering::storeHalf(const TilePlace &place,
                                     const HalfTile &half, int64_t from,
                                     ArrayRef<Value> start) {
  std::optional<int64_t> known = knownRows();
  TilePlace part = place;
  part.rows = std::min<int64_t>(rowsAtOnce, known.value_or(rowsAtOnce));
  Value count = b.ceilDiv(rows, b.index(part.rows));
  b.loop(count, {}, [&](Value i, ValueRange) {
    Value first = b.mul(i, part.rows);
    if (known && *known % part.rows != 0)
      first = b.min(first, b.index(*known - part.rows));
    SmallVector<SmallVector<Value>> places;
    SmallVector<Value> sums;
    for (int64_t j = 0; j < part.rows; ++j) {
      Value row = b.add(first, j);
      if (!known)
        row = b.min(row, b.sub(rows, b.index(1)));
      SmallVector<Value> indices(half);
      indices.back() = b.add(indices.back(), row);
      places.push_back(indices);
      Value at = b.add(b.mul(row, packing.getNr()), from);
      for (auto [v, begin] : llvm::enumerate(start))
        sums.push_back(arith::AddIOp::create(
            b,
            b.loadVector(scratch, b.add(at, v * lanes), lanes, lanes, sumType),
            begin));
    }
    storeRows(part, places, sums);
    return SmallVector<Value>();
  });
}

LogicalResult kernels::lowerTileContract(onnxq::ContractOp op,
                                         const TargetInfo &target,
                                         int64_t threads) {
  if (!target.hasAMX)
    return op.emitOpError("expects a target with the dot step 'tiles'");
  TileContractLowering lowering(op, target, threads);
  if (!lowering.canRead())
    return op.emitOpError("expects runs of tiles next to each other");
  lowering.lowerTiles();
  return success();
}
