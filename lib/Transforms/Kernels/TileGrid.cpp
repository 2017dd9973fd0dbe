// The loops over tiles, and what they prefetch.

#include "TileGrid.h"
#include "KBlocks.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

TileGrid::TileGrid(ImplicitGemm &gemm, const MicroKernel &kernel,
                   Epilogue &epilogue, int64_t threads)
    : gemm(gemm), b(gemm.b), kernel(kernel), epilogue(epilogue),
      prefetch(gemm, kernel.getHints().prefetchedLines), threads(threads) {}

void TileGrid::emit() {
  int64_t mr = gemm.packing.getMr();
  std::optional<int64_t> known = KernelBuilder::known(gemm.m);
  if (known) {
    if (*known > 0)
      emitColumns(std::min(mr, *known));
    return;
  }
  // Fewer rows than a tile's are computed one by one.
  Value isTall =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, gemm.m, b.index(mr));
  auto branch = scf::IfOp::create(b, isTall, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  emitColumns(mr);
  b.setInsertionPoint(branch.elseYield());
  emitColumns(1);
}

/// As many tiles as tall ones would be, some of them a row shorter: no row is
/// computed twice. That is a second form of the kernel, which few rows aren't
/// worth.
RowTiles TileGrid::coverRows(int64_t rows) {
  RowTiles tiles = {rows, b.ceilDiv(gemm.m, b.index(rows)), std::nullopt};
  std::optional<int64_t> all = KernelBuilder::known(gemm.m);
  if (!all || !kernel.getHints().hasShortTiles)
    return tiles;
  int64_t count = llvm::divideCeil(*all, rows);
  if ((count * rows - *all) * tuning::worthRows < *all)
    return tiles;
  tiles.rows = llvm::divideCeil(*all, count);
  if (int64_t shorter = count * tiles.rows - *all)
    tiles.tall = count - shorter;
  return tiles;
}

void TileGrid::emitRows(const RowTiles &tiles, Value tile,
                        function_ref<void(Value, int64_t)> body) {
  Value row = b.mul(tile, tiles.rows);
  if (!tiles.tall)
    return body(b.min(row, b.sub(gemm.m, b.index(tiles.rows))), tiles.rows);
  Value tall = b.index(*tiles.tall);
  Value isTall =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile, tall);
  auto branch = scf::IfOp::create(b, isTall, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  body(row, tiles.rows);
  b.setInsertionPoint(branch.elseYield());
  body(b.add(b.mul(tile, tiles.rows - 1), tall), tiles.rows - 1);
}

/// The rows of a tile of the last panel, which has so many columns, where those
/// of others have `rows`.
int64_t TileGrid::getLastRows(int64_t rows, int64_t columns) {
  std::optional<int64_t> all = KernelBuilder::known(gemm.m);
  int64_t lanes = kernel.getLanes();
  bool isNarrow = 2 * llvm::divideCeil(columns, lanes) * lanes <=
                  static_cast<uint64_t>(gemm.packing.getNr());
  return kernel.getHints().growsNarrowTiles && isNarrow && rows > 1 && all &&
                 *all >= 2 * rows
             ? 2 * rows
             : rows;
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// Whole panels, and the rest of the columns.
void TileGrid::emitColumns(int64_t rows) {
  int64_t nr = gemm.packing.getNr();
  int64_t whole = gemm.packing.getN() / nr;
  int64_t rest = gemm.packing.getN() % nr;
  if (whole > 0)
    emitPanels(rows, b.index(whole), b.index(0), nr);
  if (rest > 0)
    emitPanels(getLastRows(rows, rest), b.index(1), b.index(whole), rest);
}

int64_t kernels::getTilesInCache(const ImplicitGemm &gemm, int64_t rows) {
  int64_t rowBytes =
      gemm.channels * gemm.packing.getGroups() * gemm.getBytesOfA();
  onnxq::ContractOp op = gemm.op;
  for (int64_t stride : op.getStrides())
    rowBytes *= stride;
  return std::max<int64_t>(1, tuning::blockOfABytes / (rowBytes * rows));
}

/// The blocks of tiles that are computed one after the other, or by one thread
/// each.
Value TileGrid::countBlocks(Value tiles, int64_t rows) {
  Value blocks = b.ceilDiv(tiles, b.index(getTilesInCache(gemm, rows)));
  std::optional<int64_t> count = KernelBuilder::known(blocks),
                         all = KernelBuilder::known(tiles);
  if (threads == 1 || !count || *all < tuning::tilesOfThread * threads)
    return blocks;
  // Threads that take rows of their own read and write what the ops before and
  // behind have next to the same processor; those that take columns of their
  // own share a large B.
  int64_t inputBytes = *all * rows * gemm.channels * gemm.packing.getGroups() *
                       gemm.getBytesOfA();
  if (inputBytes < gemm.packing.getSize() * gemm.getBytesOfB())
    return blocks;
  return b.index(llvm::alignTo(*count, threads));
}

void TileGrid::emitPanels(int64_t rows, Value panels, Value firstPanel,
                          int64_t columns) {
  if (kernel.getHints().blocksK) {
    KBlockedGrid blocked(gemm, kernel, epilogue, prefetch, *this);
    if (blocked.isWorthIt(*KernelBuilder::known(panels), rows))
      return blocked.emit(rows, panels, firstPanel, columns);
  }
  RowTiles tiles = coverRows(rows);
  // Blocks of tiles whose part of A stays in the cache, as equal as possible.
  bool isSingle = KernelBuilder::known(panels) == 1;
  Value blocks = isSingle ? b.index(1) : countBlocks(tiles.count, tiles.rows);
  Value tilesOfBlock = isSingle ? tiles.count : b.ceilDiv(tiles.count, blocks);
  Value groups = b.index(gemm.packing.getGroups());
  bool prefetches =
      !isSingle && kernel.getHints().prefetchedLines > 0 &&
      gemm.packing.getSize() * gemm.getBytesOfB() > tuning::cachedBBytes;
  SmallVector<Value> counts(gemm.output.sizes.begin(),
                            gemm.output.sizes.begin() + gemm.batches);
  counts.append({groups, blocks, panels, tilesOfBlock});
  b.grid(counts, [&](ArrayRef<Value> at) {
    SmallVector<Value> batch(at.take_front(gemm.batches));
    at = at.drop_front(gemm.batches);
    Value tileIndex = b.add(b.mul(at[1], tilesOfBlock), at[3]);
    // The last block may have fewer tiles.
    OpBuilder::InsertionGuard guard(b);
    if (!isSingle && KernelBuilder::known(b.sub(b.mul(blocks, tilesOfBlock),
                                                tiles.count)) != 0) {
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                            tileIndex, tiles.count);
      auto branch = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    Tile tile = {batch, at[0], b.add(firstPanel, at[2]), {}, 0, columns};
    prefetch.clear();
    if (prefetches)
      prefetch.plan(b.add(gemm.getPanel(tile), gemm.packing.getPanelSize()),
                    gemm.packing.getPanelSize(), at[3], tilesOfBlock,
                    gemm.packing.getK() / gemm.run,
                    kernel.countIterations(gemm.run));
    emitRows(tiles, tileIndex, [&](Value m, int64_t count) {
      tile.m = m;
      tile.rows = count;
      emitTile(tile);
    });
  });
}

void TileGrid::emitTile(const Tile &tile) {
  SmallVector<RowIndices> rows = gemm.getRowIndices(tile);
  SmallVector<Value> accumulators =
      kernel.init(b, epilogue.start(tile), tile.rows);
  epilogue.prefetch(tile, rows);
  accumulators = kernel.addTile(gemm, tile, rows, accumulators, prefetch);
  epilogue.store(tile, rows, kernel.finish(b, accumulators, tile.rows));
}
