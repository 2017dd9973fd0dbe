// Contractions with more weights than the caches near the processor hold.
//
// Sums are cut into blocks of their depth. A block's weights of one panel stay
// in the first level of cache while all tiles of rows pass by, and those of the
// next panel are asked for meanwhile; the input of a block stays in the second
// level while its panels pass by. Sums that aren't complete wait on the stack:
// as they are, so that they have the bits that they would have without blocks.

#include "BlockedContract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The products of a sum in a block: their weights are half of a cache.
static constexpr int64_t mostDepth = 384, leastDepth = 96;
/// The most rows and columns of a block: with its input and its sums half of
/// the second level of cache stays free, as pages fall on others' places.
static constexpr int64_t mostRows = 96, mostColumns = 128;
/// Parts of a contraction that threads may share.
static constexpr int64_t enoughParts = 16;
/// Weights of a panel that stay in the second level of cache.
static constexpr int64_t panelBytes = 160 * 1024;

/// The largest divisor of `count` that is `most` or less.
static int64_t getDivisor(int64_t count, int64_t most) {
  int64_t divisor = std::min(count, most);
  while (count % divisor != 0)
    --divisor;
  return divisor;
}

std::optional<DepthBlocks> kernels::planDepth(int64_t runs, int64_t length) {
  DepthBlocks blocks;
  blocks.length = getDivisor(length, mostDepth);
  blocks.runs =
      blocks.length < length
          ? 1
          : getDivisor(runs, std::max<int64_t>(1, mostDepth / length));
  blocks.count = runs * length / (blocks.runs * blocks.length);
  if (blocks.count < 2 || blocks.runs * blocks.length < leastDepth)
    return std::nullopt;
  return blocks;
}

BlockedContractLowering::BlockedContractLowering(onnxq::ContractOp op,
                                                 const TargetInfo &target)
    : ContractLowering(op, target) {
  int64_t runs = 1;
  for (int64_t d = 0; d < loopDims; ++d)
    runs *= op.getKernel()[d];
  depth = planDepth(runs, run);
}

bool BlockedContractLowering::isWorthIt(int64_t panels, int64_t rows) {
  std::optional<int64_t> known = KernelBuilder::known(numRows);
  bool isShort = rows == 1 || (known && *known <= 2 * rows);
  if (!depth || packing.getKind() != onnxq::PackingKind::Fma || panels < 2 ||
      isShort)
    return false;
  if (packing.getPanelSize() * int64_t(sizeof(float)) > panelBytes)
    return true;
  // Few tiles use a panel before it is replaced.
  int64_t rowsInCache = getTilesInCache(rows) * rows;
  return rowsInCache < mostRows && (!known || *known > rowsInCache);
}

void BlockedContractLowering::emitPanels(int64_t rows, Value panels,
                                         Value firstPanel, int64_t columns) {
  int64_t count = *KernelBuilder::known(panels);
  if (!isWorthIt(count, rows))
    return ContractLowering::emitPanels(rows, panels, firstPanel, columns);
  RowTiles tiles = coverRows(rows);
  Value rowBlocks = b.ceilDiv(tiles.count, b.index(mostRows / tiles.rows));
  tilesOfBlock = b.ceilDiv(tiles.count, rowBlocks);
  int64_t parts =
      packing.getGroups() * KernelBuilder::known(rowBlocks).value_or(1);
  panelsOfBlock = std::clamp<int64_t>(
      count * parts / enoughParts, 1,
      std::clamp<int64_t>(mostColumns / packing.getNr(), 1, count));
  Value panelBlocks = b.index(llvm::divideCeil(count, panelsOfBlock));
  b.grid({b.index(packing.getGroups()), rowBlocks, panelBlocks},
         [&](ArrayRef<Value> at) {
           Value first = b.mul(at[2], panelsOfBlock);
           Value number = b.min(b.index(panelsOfBlock), b.sub(panels, first));
           emitBlock(at[0], tiles, b.mul(at[1], tilesOfBlock),
                     b.add(firstPanel, first), number, columns);
         });
}

/// A block of rows and panels, by blocks of depth.
void BlockedContractLowering::emitBlock(Value group, const RowTiles &tiles,
                                        Value firstTile, Value firstPanel,
                                        Value panels, int64_t columns) {
  // Memory of this block only, whichever thread computes it.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, pointer);
  int64_t most =
      KernelBuilder::known(tilesOfBlock).value_or(mostRows / tiles.rows);
  // The last block may have fewer tiles.
  Value number = b.min(tilesOfBlock, b.sub(tiles.count, firstTile));
  tileFloats = tiles.rows * columns;
  auto type = MemRefType::get(panelsOfBlock * most * tileFloats, sumType);
  scratch = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  auto repeat = [&](Value count, function_ref<void(Value)> body) {
    b.loop(count, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  };
  repeat(b.index(depth->count), [&](Value block) {
    repeat(panels, [&](Value panel) {
      repeat(number, [&](Value tile) {
        TilePlace place = {{}, group, b.add(firstPanel, panel), {}, 0, columns};
        Value kept = b.add(b.mul(panel, most), tile);
        fetchNext(place, block, b.add(panel, 1), panels, tile);
        emitRows(tiles, b.add(firstTile, tile), [&](Value row, int64_t count) {
          place.row = row;
          place.rows = count;
          emitPart(place, block, b.mul(kept, tileFloats));
        });
      });
    });
  });
  LLVM::StackRestoreOp::create(b, stack);
}

/// Asks for a share of the weights that come after those of a block and panel:
/// the next panel's, or the first panel's of the next block.
void BlockedContractLowering::fetchNext(const TilePlace &place, Value block,
                                        Value nextPanel, Value panels,
                                        Value tile) {
  int64_t floats = depth->runs * depth->length * packing.getNr();
  Value here = b.add(getWeights(place), b.mul(block, floats));
  Value isLast = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                               nextPanel, panels);
  Value back = b.sub(b.index(floats),
                     b.mul(b.sub(panels, b.index(1)), packing.getPanelSize()));
  Value step = b.select(isLast, back, b.index(packing.getPanelSize()));
  fetchWeights(b.add(here, step), floats, tile, tilesOfBlock, depth->runs,
               depth->length);
}

/// What a block of depth adds to a tile; the last one completes it.
void BlockedContractLowering::emitPart(const TilePlace &place, Value block,
                                       Value kept) {
  int64_t vectors = llvm::divideCeil(place.columns, lanes);
  int64_t count = place.rows * vectors;
  auto isAt = [&](int64_t number) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, block,
                                         b.index(number));
  };
  auto getPlace = [&](int64_t i) { return b.add(kept, i * lanes); };
  SmallVector<SmallVector<Value>> rows = getRowIndices(place);
  SmallVector<Type> types(count, VectorType::get(lanes, sumType));
  auto start = scf::IfOp::create(b, types, isAt(0), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(start.thenBlock());
  SmallVector<Value> sums(count, b.zeros(lanes, sumType));
  scf::YieldOp::create(b, sums);
  b.setInsertionPointToStart(start.elseBlock());
  for (int64_t i = 0; i < count; ++i)
    sums[i] = b.loadVector(scratch, getPlace(i), lanes, lanes, sumType);
  scf::YieldOp::create(b, sums);
  b.setInsertionPointAfter(start);

  auto ahead = scf::IfOp::create(b, isAt(depth->count - 1),
                                 /*withElseRegion=*/false);
  b.setInsertionPointToStart(ahead.thenBlock());
  fetchEnds(place, rows);
  b.setInsertionPointAfter(ahead);
  sums = sumBlock(place, rows, block, start.getResults());
  auto end = scf::IfOp::create(b, isAt(depth->count - 1),
                               /*withElseRegion=*/true);
  b.setInsertionPointToStart(end.thenBlock());
  storeRows(place, rows, sums);
  b.setInsertionPointToStart(end.elseBlock());
  for (int64_t i = 0; i < count; ++i)
    b.storeVector(sums[i], scratch, getPlace(i), lanes);
  b.setInsertionPointAfter(end);
}

/// The runs of a block, or the part of a run.
SmallVector<Value>
BlockedContractLowering::sumBlock(const TilePlace &place,
                                  ArrayRef<SmallVector<Value>> rows,
                                  Value block, ValueRange sums) {
  int64_t parts = run / depth->length;
  Value firstRun = b.div(b.mul(block, depth->runs), b.index(parts));
  Value start = b.mul(b.rem(block, b.index(parts)), depth->length);
  int64_t floats = depth->runs * depth->length * packing.getNr();
  Value weight = b.add(getWeights(place), b.mul(block, floats));
  return b.loop(b.index(depth->runs), sums, [&](Value i, ValueRange carried) {
    Value rest = b.add(firstRun, i);
    SmallVector<Value> taps(loopDims);
    for (int64_t d = loopDims; d-- > 0;) {
      taps[d] = d == 0 ? rest : b.rem(rest, b.index(op.getKernel()[d]));
      rest = b.div(rest, b.index(op.getKernel()[d]));
    }
    SmallVector<RowSource> sources = getSources(place, rows, taps);
    for (RowSource &source : sources)
      source.place = b.add(source.place, start);
    Value line = b.add(weight, b.mul(i, run * packing.getNr()));
    startRun(i);
    return sumRun(sources, line, depth->length, carried, place.columns);
  });
}
