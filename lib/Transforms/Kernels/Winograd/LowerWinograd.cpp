// Convolutions of 3x3 by Winograd's transform, in blocks of tiles of 2x2 or 4x4
// outputs (Winograd.h):
//
//   Y = At * (sum over channels of (G * w * Gt) .* (Bt * d * B)) * A
//
// by vfmadd231ps and its like for floats, vpmaddwd for int8, in register tiles
// as those of plain products.
//
// A block's input is transformed into memory on the stack that stays in the
// second level of cache, [points][tiles][channels]. Then, panel by panel,
// products of matrices leave [points][tiles][columns of a panel], which is
// transformed back at once and goes through the epilogue. Every output
// is computed from the same points in the same order, whatever the blocks.

#include "../LowerKernels.h"
#include "../MicroKernelChoice.h"
#include "../Tuning.h"
#include "WinogradLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The columns of the largest of so many parts.
static int64_t getWidest(onnxq::PackingAttr packing, int64_t parts) {
  int64_t whole = packing.getN() / packing.getNr();
  int64_t panels = llvm::divideCeil(whole, parts);
  int64_t last =
      packing.getN() - std::min(whole, panels * (parts - 1)) * packing.getNr();
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
  int64_t whole = packing.getN() / packing.getNr(), least = 0;
  for (int64_t parts = 1; parts == 1 || parts <= std::min(whole, threads);
       parts *= 2)
    for (int64_t size = rows; size <= most; size += rows) {
      int64_t count = llvm::divideCeil(*tiles, size) * parts;
      int64_t widest = getWidest(packing, parts);
      int64_t cost = llvm::divideCeil(count, threads) *
                     (size * (widest + tuning::winogradInputCost) +
                      tuning::winogradBlockCost * widest);
      if (least > 0 && cost >= least)
        continue;
      least = cost;
      best = {std::min(size, *tiles), parts};
    }
  return best;
}

/// Products of transformed integers, two steps per iteration.
static std::unique_ptr<MicroKernel>
makeIntegerProduct(onnxq::ContractOp op, const TargetInfo &target) {
  KernelSpec spec = {onnxq::PackingKind::Madd,
                     getVectorLanes(onnxq::PackingKind::Madd, target),
                     /*weightBits=*/16, /*accumulatorBits=*/32,
                     /*isInt4=*/false};
  return makeVpmaddwd(op.getContext(), spec, tuning::winogradSteps);
}

WinogradLowering::WinogradLowering(onnxq::ContractOp op,
                                   const TargetInfo &target, int64_t threads)
    : gemm(op), b(gemm.b), packing(gemm.packing),
      isInteger(gemm.input.element.isInteger()),
      kernel(isInteger ? makeIntegerProduct(op, target)
                       : makeFloatFma(gemm, target)),
      lanes(kernel->getLanes()),
      epilogue(gemm, target, lanes, /*startsAtBias=*/false),
      prefetch(gemm, tuning::prefetchedLines), channels(gemm.channels),
      accumulatorType(gemm.accumulatorType), shape(getWinogradTile(op)),
      inputType(kernel->getInputType()) {
  int64_t inputBytes = inputType.getIntOrFloatBitWidth() / 8;
  inputLanes = target.lanes(inputBytes);
  Value side = b.index(shape.out);
  tilesDown = b.ceilDiv(gemm.output.sizes[1], side);
  tilesAcross = b.ceilDiv(gemm.output.sizes[2], side);
  tiles = b.mul(gemm.output.sizes[0], b.mul(tilesDown, tilesAcross));
  std::optional<int64_t> known = KernelBuilder::known(tiles);
  rowsOfTile = std::max<int64_t>(
      1, std::min(packing.getMr(), known.value_or(packing.getMr())));
  int64_t scratch = tuning::getWinogradScratch(target);
  // Products of integers are as large as the input of few channels, and their
  // weights are to stay next to both.
  int64_t tileBytes = shape.points() * channels * inputBytes;
  if (isInteger) {
    tileBytes += shape.points() * packing.getNr() * int64_t(sizeof(int32_t));
    scratch = scratch / 3 * 2;
  }
  blocks = planBlocks(known, rowsOfTile, tileBytes, packing, scratch, threads);
  inputStep = blocks.tiles * channels + tuning::skewBytes / inputBytes;
  productStep = blocks.tiles * packing.getNr() +
                tuning::skewBytes /
                    (int64_t(accumulatorType.getIntOrFloatBitWidth()) / 8);
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
        b, MemRefType::get(shape.points() * part, element),
        b.getI64IntegerAttr(64));
  };
  transformed = allocate(inputStep, inputType);
  products = allocate(productStep, accumulatorType);
  border = makeBorder();
  if (isLooped())
    outputs = memref::AllocaOp::create(
        b,
        MemRefType::get(shape.out * shape.out * packing.getNr(),
                        accumulatorType),
        b.getI64IntegerAttr(64));
  b.repeat(tilesOfBlock,
           [&](Value i) { transformInput(b.add(firstTile, i), i); });
  int64_t whole = packing.getN() / packing.getNr();
  int64_t rest = packing.getN() % packing.getNr();
  int64_t panelsOfPart = llvm::divideCeil(whole, blocks.parts);
  Value firstPanel = b.mul(part, panelsOfPart);
  Value left = b.createOrFold<arith::MaxSIOp>(b.sub(b.index(whole), firstPanel),
                                              b.index(0));
  Value panels = b.min(b.index(panelsOfPart), left);
  b.repeat(panels, [&](Value i) {
    emitPanel(firstTile, b.add(firstPanel, i), packing.getNr());
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
SmallVector<Value> WinogradLowering::getTileIndices(Value tile) {
  Value column = b.rem(tile, tilesAcross);
  Value rest = b.div(tile, tilesAcross);
  bool isSingle = KernelBuilder::known(gemm.output.sizes[0]) == 1;
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
  b.repeat(tilesOfBlock, [&](Value i) {
    finishTile(b.add(firstTile, i), i, panel, columns);
  });
}

/// The products of a block with a panel, one per point of a tile.
void WinogradLowering::multiply(Value panel, int64_t columns) {
  int64_t rows = rowsOfTile;
  Value tall = b.ceilDiv(tilesOfBlock, b.index(rows));
  // Fewer tiles than rows: what isn't there is computed, and not read.
  Value last = b.createOrFold<arith::MaxSIOp>(
      b.sub(tilesOfBlock, b.index(rows)), b.index(0));
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t count = channels * packing.getNr();
  Value first = b.mul(panel, shape.points() * count);
  b.repeat(b.index(shape.points()), [&](Value g) {
    Value weight = b.add(first, b.mul(g, count));
    b.repeat(tall, [&](Value i) {
      prefetch.plan(b.add(weight, count), count, i, tall,
                    /*runs=*/1, kernel->countIterations(channels));
      Value row = b.min(b.mul(i, rows), last);
      Value offset = b.add(b.mul(g, inputStep), b.mul(row, channels));
      SmallVector<RowPointer> sources;
      for (int64_t r = 0; r < rows; ++r)
        sources.push_back({transformed, b.add(offset, r * channels)});
      SmallVector<Value> sums(rows * vectors, b.zeros(lanes, accumulatorType));
      Tile tile = {{}, b.index(0), panel, {}, rows, columns};
      sums = kernel->addRun(gemm, {tile, sources, weight, channels}, sums,
                            prefetch);
      Value target = b.add(b.mul(g, productStep), b.mul(row, packing.getNr()));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < vectors; ++j)
          b.storeVector(sums[r * vectors + j], products,
                        b.add(target, r * packing.getNr() + j * lanes), lanes);
    });
  });
}

LogicalResult kernels::lowerWinograd(onnxq::ContractOp op,
                                     const TargetInfo &target,
                                     int64_t threads) {
  if (op.getInput().getType().getElementType().isInteger() &&
      getVectorLanes(onnxq::PackingKind::Madd, target) == 0)
    return op.emitOpError("expects a target with products of 16 bits");
  WinogradLowering(op, target, threads).lowerBlocks();
  return success();
}
