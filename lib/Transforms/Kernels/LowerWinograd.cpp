// Convolutions of 3x3 by Winograd's transform, in blocks of tiles: see
// Winograd.h.
//
// A block's input is transformed into memory on the stack that stays in the
// second level of cache, [numbers][tiles][channels]. Then, panel by panel,
// products of matrices leave [numbers][tiles][columns of a panel], which is
// transformed back at once and goes through the epilogue. Every place is
// computed from the same numbers in the same order, whatever the blocks.

#include "IntegerContract.h"
#include "WinogradLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Bytes between the parts of a block's memory beyond their sizes: so they
/// don't all meet in one set of the cache.
static constexpr int64_t skewBytes = 64;
/// What a block costs beyond its tiles (its weights are read again), in tiles.
static constexpr int64_t blockCost = 4;
/// What the transform of a tile's input costs, in columns of products.
static constexpr int64_t inputCost = 12;
/// What a block takes of the second level of cache, in sixteenths: the fewer
/// blocks there are, the less often are weights read again.
static constexpr int64_t cacheShare = 13;
/// Steps of integers that a turn of the innermost loop takes.
static constexpr int64_t stepsAtOnce = 2;

/// The columns of the largest of so many parts.
static int64_t getWidest(onnxq::PackingAttr packing, int64_t parts) {
  int64_t whole = packing.getColumns() / packing.getNr();
  int64_t panels = llvm::divideCeil(whole, parts);
  int64_t last = packing.getColumns() -
                 std::min(whole, panels * (parts - 1)) * packing.getNr();
  return std::max(std::min(whole, panels) * packing.getNr(), last);
}

/// Blocks of whole register tiles that fit the scratch memory, and parts of the
/// panels, by the time of the thread that has the most to do.
static TileBlocks planBlocks(std::optional<int64_t> tiles, int64_t rows,
                             int64_t tileBytes, onnxq::PackingAttr packing,
                             int64_t scratch, int64_t threads) {
  int64_t most = std::max(rows, scratch / tileBytes / rows * rows);
  TileBlocks best = {most, 1};
  if (!tiles)
    return best;
  int64_t whole = packing.getColumns() / packing.getNr(), least = 0;
  for (int64_t parts = 1; parts == 1 || parts <= std::min(whole, threads);
       parts *= 2)
    for (int64_t size = rows; size <= most; size += rows) {
      int64_t count = llvm::divideCeil(*tiles, size) * parts;
      int64_t widest = getWidest(packing, parts);
      int64_t cost = llvm::divideCeil(count, threads) *
                     (size * (widest + inputCost) + blockCost * widest);
      if (least > 0 && cost >= least)
        continue;
      least = cost;
      best = {std::min(size, *tiles), parts};
    }
  return best;
}

WinogradLowering::WinogradLowering(onnxq::ContractOp op,
                                   const TargetInfo &target, int64_t threads,
                                   std::unique_ptr<DotStep> dotStep)
    : ContractLowering(op, target), step(std::move(dotStep)),
      shape(getWinogradTile(op)),
      inputType(step ? step->getInputType() : sumType) {
  if (step) {
    lanes = step->getLanes();
    // Narrow results of a row are stored at once.
    bool isNarrow = output.element.getIntOrFloatBitWidth() == 8;
    storedLanes = isNarrow ? packing.getNr() : lanes;
    if (isNarrow)
      rounded = matchRounded(op.getEpilogue(), target);
    if (rounded)
      joinedLanes = getJoinedLanes(op.getEpilogue(), target);
  }
  int64_t inputBytes = inputType.getIntOrFloatBitWidth() / 8;
  inputLanes = target.lanes(inputBytes);
  Value side = b.index(shape.out);
  tilesDown = b.ceilDiv(output.sizes[1], side);
  tilesAcross = b.ceilDiv(output.sizes[2], side);
  tiles = b.mul(output.sizes[0], b.mul(tilesDown, tilesAcross));
  std::optional<int64_t> known = KernelBuilder::known(tiles);
  rowsOfTile = std::max<int64_t>(
      1, std::min(packing.getMr(), known.value_or(packing.getMr())));
  int64_t scratch =
      std::max(winogradScratch, target.cacheBytes / 16 * cacheShare);
  // Products of integers are as large as the input of few channels, and their
  // weights are to stay next to both.
  int64_t tileBytes = shape.numbers() * channels * inputBytes;
  if (step) {
    tileBytes += shape.numbers() * packing.getNr() * int64_t(sizeof(int32_t));
    scratch = scratch / 3 * 2;
  }
  blocks = planBlocks(known, rowsOfTile, tileBytes, packing, scratch, threads);
  inputStep = blocks.tiles * channels + skewBytes / inputBytes;
  productStep = blocks.tiles * packing.getNr() +
                skewBytes / (int64_t(sumType.getIntOrFloatBitWidth()) / 8);
}

void WinogradLowering::lowerBlocks() {
  if (KernelBuilder::known(tiles) == 0)
    return;
  Value most = b.index(blocks.tiles);
  // The last block begins earlier, and repeats some tiles.
  Value last = b.createOrFold<arith::MaxSIOp>(b.sub(tiles, most), b.index(0));
  tilesOfBlock = b.min(tiles, most);
  Value parts = b.index(blocks.parts);
  b.grid({b.mul(b.ceilDiv(tiles, most), parts)}, [&](ArrayRef<Value> at) {
    Value first = b.mul(b.div(at[0], parts), blocks.tiles);
    emitBlock(b.min(first, last), b.rem(at[0], parts));
  });
}

void WinogradLowering::emitBlock(Value firstTile, Value part) {
  // Memory of this block only, whichever thread computes it.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, pointer);
  auto allocate = [&](int64_t part, Type element) {
    return memref::AllocaOp::create(
        b, MemRefType::get(shape.numbers() * part, element),
        b.getI64IntegerAttr(64));
  };
  transformed = allocate(inputStep, inputType);
  products = allocate(productStep, sumType);
  border = makeBorder();
  if (isLooped())
    places = memref::AllocaOp::create(
        b, MemRefType::get(shape.out * shape.out * packing.getNr(), sumType),
        b.getI64IntegerAttr(64));
  b.loop(tilesOfBlock, {}, [&](Value i, ValueRange) {
    transformInput(b.add(firstTile, i), i);
    return SmallVector<Value>();
  });
  int64_t whole = packing.getColumns() / packing.getNr();
  int64_t rest = packing.getColumns() % packing.getNr();
  int64_t panelsOfPart = llvm::divideCeil(whole, blocks.parts);
  Value firstPanel = b.mul(part, panelsOfPart);
  Value left = b.createOrFold<arith::MaxSIOp>(b.sub(b.index(whole), firstPanel),
                                              b.index(0));
  Value panels = b.min(b.index(panelsOfPart), left);
  b.loop(panels, {}, [&](Value i, ValueRange) {
    emitPanel(firstTile, b.add(firstPanel, i), packing.getNr());
    return SmallVector<Value>();
  });
  if (rest > 0) {
    // The last part has the rest of the columns.
    auto isLast = scf::IfOp::create(
        b,
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, part,
                                      b.index(blocks.parts - 1)),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(isLast.thenYield());
    emitPanel(firstTile, b.index(whole), rest);
  }
  LLVM::StackRestoreOp::create(b, stack);
}

/// The image of a tile, and its first row and column in the output.
SmallVector<Value> WinogradLowering::getTilePlace(Value tile) {
  Value column = b.rem(tile, tilesAcross);
  Value rest = b.div(tile, tilesAcross);
  bool isSingle = KernelBuilder::known(output.sizes[0]) == 1;
  Value row = isSingle ? rest : b.rem(rest, tilesDown);
  Value image = isSingle ? b.index(0) : b.div(rest, tilesDown);
  return {image, b.mul(row, shape.out), b.mul(column, shape.out)};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WinogradLowering::emitPanel(Value firstTile, Value panel,
                                 int64_t columns) {
  multiply(panel, columns);
  b.loop(tilesOfBlock, {}, [&](Value i, ValueRange) {
    finishTile(b.add(firstTile, i), i, panel, columns);
    return SmallVector<Value>();
  });
}

/// The products of a block with a panel, one per number of a tile.
void WinogradLowering::multiply(Value panel, int64_t columns) {
  int64_t rows = rowsOfTile;
  Value tall = b.ceilDiv(tilesOfBlock, b.index(rows));
  // Fewer tiles than rows: what isn't there is computed, and not read.
  Value last = b.createOrFold<arith::MaxSIOp>(
      b.sub(tilesOfBlock, b.index(rows)), b.index(0));
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t count = channels * packing.getNr();
  Value first = b.mul(panel, shape.numbers() * count);
  b.loop(b.index(shape.numbers()), {}, [&](Value g, ValueRange) {
    Value weight = b.add(first, b.mul(g, count));
    b.loop(tall, {}, [&](Value i, ValueRange) {
      fetchWeights(b.add(weight, count), count, i, tall,
                   /*runs=*/1, channels);
      Value row = b.min(b.mul(i, rows), last);
      Value place = b.add(b.mul(g, inputStep), b.mul(row, channels));
      SmallVector<RowSource> sources;
      for (int64_t r = 0; r < rows; ++r)
        sources.push_back({transformed, b.add(place, r * channels)});
      SmallVector<Value> sums(rows * vectors, b.zeros(lanes, sumType));
      sums = sumRun(sources, weight, channels, sums, columns);
      Value target = b.add(b.mul(g, productStep), b.mul(row, packing.getNr()));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < vectors; ++j)
          b.storeVector(sums[r * vectors + j], products,
                        b.add(target, r * packing.getNr() + j * lanes), lanes);
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

int64_t WinogradLowering::getUnrolled(int64_t length) {
  if (!step)
    return ContractLowering::getUnrolled(length);
  return std::min(length, stepsAtOnce * step->getDepth());
}

/// Adds the products of `count` steps from step `k` on.
SmallVector<Value> WinogradLowering::addSteps(ArrayRef<RowSource> rows,
                                              Value weight, Value k,
                                              int64_t count, ValueRange sums,
                                              int64_t vectors) {
  Location loc = b.getLoc();
  int64_t depth = step->getDepth();
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < count; ++i) {
    Value number = b.add(k, i);
    Value line = b.add(weight, b.mul(number, packing.getNr() * depth));
    SmallVector<Value> columnsOf;
    for (int64_t j = 0; j < vectors; ++j)
      columnsOf.push_back(step->loadWeights(b, loc, weights.memory,
                                            b.add(line, j * lanes * depth)));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value x = step->loadInput(b, loc, row.memory,
                                b.add(row.place, b.mul(number, depth)));
      for (int64_t j = 0; j < vectors; ++j) {
        Value &sum = next[r * vectors + j];
        sum = step->add(b, loc, sum, x, columnsOf[j]);
      }
    }
  }
  return next;
}

SmallVector<Value> WinogradLowering::sumRun(ArrayRef<RowSource> rows,
                                            Value weight, int64_t length,
                                            ValueRange sums, int64_t columns) {
  if (!step)
    return ContractLowering::sumRun(rows, weight, length, sums, columns);
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t steps = length / step->getDepth();
  int64_t unroll = getUnrolled(length) / step->getDepth();
  SmallVector<Value> next =
      b.loop(b.index(steps / unroll), sums, [&](Value i, ValueRange carried) {
        fetchAhead(i);
        return addSteps(rows, weight, b.mul(i, unroll), unroll, carried,
                        vectors);
      });
  if (int64_t rest = steps % unroll)
    next = addSteps(rows, weight, b.index(steps - rest), rest, next, vectors);
  return next;
}

LogicalResult kernels::lowerWinograd(onnxq::ContractOp op,
                                     const TargetInfo &target,
                                     int64_t threads) {
  std::unique_ptr<DotStep> step;
  if (op.getInput().getType().getElementType().isInteger()) {
    step = getDotStep(op, target);
    if (!step)
      return op.emitOpError("expects a target with products of 16 bits");
  }
  WinogradLowering(op, target, threads, std::move(step)).lowerBlocks();
  return success();
}
