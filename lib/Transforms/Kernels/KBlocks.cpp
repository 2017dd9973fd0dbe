// Contractions of floats whose B is larger than the caches near the processor.
//
// k is cut into blocks. A block's part of a panel stays in the first level of
// cache while all tiles of rows pass by, and that of the next panel is
// prefetched meanwhile; the block's part of A stays in the second level while
// its panels pass by. Accumulators that aren't complete wait on the stack: as
// they are, so that results have the bits that they would have without blocks.

#include "KBlocks.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The largest divisor of `count` that is `most` or less.
static int64_t getDivisor(int64_t count, int64_t most) {
  int64_t divisor = std::min(count, most);
  while (count % divisor != 0)
    --divisor;
  return divisor;
}

std::optional<KBlocks> kernels::planKBlocks(int64_t runs, int64_t length) {
  KBlocks blocks;
  blocks.length = getDivisor(length, tuning::mostKOfBlock);
  blocks.runs =
      blocks.length < length
          ? 1
          : getDivisor(runs,
                       std::max<int64_t>(1, tuning::mostKOfBlock / length));
  blocks.count = runs * length / (blocks.runs * blocks.length);
  if (blocks.count < 2 || blocks.runs * blocks.length < tuning::leastKOfBlock)
    return std::nullopt;
  return blocks;
}

KBlockedGrid::KBlockedGrid(ImplicitGemm &gemm, const MicroKernel &kernel,
                           Epilogue &epilogue, PanelPrefetch &prefetch,
                           TileGrid &grid)
    : gemm(gemm), b(gemm.b), kernel(kernel), epilogue(epilogue),
      prefetch(prefetch), grid(grid) {
  int64_t runs = 1;
  for (int64_t d = 0; d < gemm.loopDims; ++d)
    runs *= gemm.op.getKernel()[d];
  blocks = planKBlocks(runs, gemm.run);
}

bool KBlockedGrid::isWorthIt(int64_t panels, int64_t rows) {
  std::optional<int64_t> known = KernelBuilder::known(gemm.m);
  bool isShort = rows == 1 || (known && *known <= 2 * rows);
  if (!blocks || panels < 2 || isShort)
    return false;
  if (gemm.packing.getPanelSize() * int64_t(sizeof(float)) >
      tuning::cachedPanelBytes)
    return true;
  // Few tiles use a panel before it is replaced.
  int64_t rowsInCache = getTilesInCache(gemm, rows) * rows;
  return rowsInCache < tuning::mostRowsOfBlock &&
         (!known || *known > rowsInCache);
}

void KBlockedGrid::emit(int64_t rows, Value panels, Value firstPanel,
                        int64_t columns) {
  int64_t count = *KernelBuilder::known(panels);
  RowTiles tiles = grid.coverRows(rows);
  Value rowBlocks =
      b.ceilDiv(tiles.count, b.index(tuning::mostRowsOfBlock / tiles.rows));
  tilesOfBlock = b.ceilDiv(tiles.count, rowBlocks);
  int64_t parts =
      gemm.packing.getGroups() * KernelBuilder::known(rowBlocks).value_or(1);
  panelsOfBlock = std::clamp<int64_t>(
      count * parts / tuning::enoughParts, 1,
      std::clamp<int64_t>(tuning::mostColumnsOfBlock / gemm.packing.getNr(), 1,
                          count));
  Value panelBlocks = b.index(llvm::divideCeil(count, panelsOfBlock));
  b.grid({b.index(gemm.packing.getGroups()), rowBlocks, panelBlocks},
         [&](ArrayRef<Value> at) {
           Value first = b.mul(at[2], panelsOfBlock);
           Value count = b.min(b.index(panelsOfBlock), b.sub(panels, first));
           emitBlock(at[0], tiles, b.mul(at[1], tilesOfBlock),
                     b.add(firstPanel, first), count, columns);
         });
}

/// A block of rows and panels, by blocks of k.
void KBlockedGrid::emitBlock(Value group, const RowTiles &tiles,
                             Value firstTile, Value firstPanel, Value panels,
                             int64_t columns) {
  // Memory of this block only, whichever thread computes it.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, pointer);
  int64_t most = KernelBuilder::known(tilesOfBlock)
                     .value_or(tuning::mostRowsOfBlock / tiles.rows);
  // The last block may have fewer tiles.
  Value numTiles = b.min(tilesOfBlock, b.sub(tiles.count, firstTile));
  tileFloats = tiles.rows * columns;
  auto type =
      MemRefType::get(panelsOfBlock * most * tileFloats, gemm.accumulatorType);
  scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  b.repeat(b.index(blocks->count), [&](Value block) {
    b.repeat(panels, [&](Value panel) {
      b.repeat(numTiles, [&](Value i) {
        Tile tile = {{}, group, b.add(firstPanel, panel), {}, 0, columns};
        Value kept = b.add(b.mul(panel, most), i);
        prefetchNext(tile, block, b.add(panel, 1), panels, i);
        grid.emitRows(tiles, b.add(firstTile, i), [&](Value m, int64_t count) {
          tile.m = m;
          tile.rows = count;
          emitPart(tile, block, b.mul(kept, tileFloats));
        });
      });
    });
  });
  LLVM::StackRestoreOp::create(b, stack);
}

/// Prefetches a share of what comes after a block and panel of B:
/// the next panel's, or the first panel's of the next block.
void KBlockedGrid::prefetchNext(const Tile &tile, Value block, Value nextPanel,
                                Value panels, Value index) {
  int64_t floats = blocks->runs * blocks->length * gemm.packing.getNr();
  Value here = b.add(gemm.getPanel(tile), b.mul(block, floats));
  Value isLast = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                               nextPanel, panels);
  Value back = b.sub(b.index(floats), b.mul(b.sub(panels, b.index(1)),
                                            gemm.packing.getPanelSize()));
  Value step = b.select(isLast, back, b.index(gemm.packing.getPanelSize()));
  prefetch.plan(b.add(here, step), floats, index, tilesOfBlock, blocks->runs,
                kernel.countIterations(blocks->length));
}

/// What a block of k adds to a tile; the last one completes it.
void KBlockedGrid::emitPart(const Tile &tile, Value block, Value kept) {
  int64_t lanes = kernel.getLanes();
  int64_t vectors = llvm::divideCeil(tile.columns, lanes);
  int64_t count = tile.rows * vectors;
  auto isAt = [&](int64_t index) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, block,
                                         b.index(index));
  };
  auto getOffset = [&](int64_t i) { return b.add(kept, i * lanes); };
  SmallVector<RowIndices> rows = gemm.getRowIndices(tile);
  SmallVector<Type> types(count, VectorType::get(lanes, gemm.accumulatorType));
  auto start = scf::IfOp::create(b, types, isAt(0), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(start.thenBlock());
  SmallVector<Value> sums(count, b.zeros(lanes, gemm.accumulatorType));
  scf::YieldOp::create(b, sums);
  b.setInsertionPointToStart(start.elseBlock());
  for (int64_t i = 0; i < count; ++i)
    sums[i] =
        b.loadVector(scratch, getOffset(i), lanes, lanes, gemm.accumulatorType);
  scf::YieldOp::create(b, sums);
  b.setInsertionPointAfter(start);

  auto last = scf::IfOp::create(b, isAt(blocks->count - 1),
                                /*withElseRegion=*/false);
  b.setInsertionPointToStart(last.thenBlock());
  epilogue.prefetch(tile, rows);
  b.setInsertionPointAfter(last);
  sums = addBlock(tile, rows, block, start.getResults());
  auto end = scf::IfOp::create(b, isAt(blocks->count - 1),
                               /*withElseRegion=*/true);
  b.setInsertionPointToStart(end.thenBlock());
  epilogue.store(tile, rows, sums);
  b.setInsertionPointToStart(end.elseBlock());
  for (int64_t i = 0; i < count; ++i)
    b.storeVector(sums[i], scratch, getOffset(i), lanes);
  b.setInsertionPointAfter(end);
}

/// The runs of a block, or the part of a run.
SmallVector<Value> KBlockedGrid::addBlock(const Tile &tile,
                                          ArrayRef<RowIndices> rows,
                                          Value block,
                                          ValueRange accumulators) {
  int64_t parts = gemm.run / blocks->length;
  Value firstRun = b.div(b.mul(block, blocks->runs), b.index(parts));
  Value start = b.mul(b.rem(block, b.index(parts)), blocks->length);
  int64_t nr = gemm.packing.getNr();
  int64_t floats = blocks->runs * blocks->length * nr;
  Value first = b.add(gemm.getPanel(tile), b.mul(block, floats));
  return b.loop(
      b.index(blocks->runs), accumulators, [&](Value i, ValueRange carried) {
        Value rest = b.add(firstRun, i);
        SmallVector<Value> taps(gemm.loopDims);
        for (int64_t d = gemm.loopDims; d-- > 0;) {
          Value size = b.index(gemm.op.getKernel()[d]);
          taps[d] = d == 0 ? rest : b.rem(rest, size);
          rest = b.div(rest, size);
        }
        SmallVector<RowPointer> pointers =
            gemm.getRowPointers(tile, rows, taps);
        for (RowPointer &pointer : pointers)
          pointer.offset = b.add(pointer.offset, start);
        Value offset = b.add(first, b.mul(i, gemm.run * nr));
        prefetch.startRun(i);
        return kernel.addRun(gemm, {tile, pointers, offset, blocks->length},
                             carried, prefetch);
      });
}
