// Convolutions of 3x3 by Winograd's transform, in blocks of tiles: see
// Winograd.h.
//
// A block's input is transformed into memory on the stack that stays in the
// second level of cache, [16][tiles][channels]. Then, panel by panel, 16
// products of matrices leave [16][tiles][columns of a panel], which is
// transformed back at once and goes through the epilogue. Every place is
// computed from the same numbers in the same order, whatever the blocks.

#include "ContractLowering.h"
#include "Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Floats between the 16 parts of a block's memory beyond their sizes: so they
/// don't all meet in one set of the cache.
static constexpr int64_t skew = 16;
/// What a block costs beyond its tiles (its weights are read again), in tiles.
static constexpr int64_t blockCost = 4;
/// What the transform of a tile's input costs, in columns of products.
static constexpr int64_t inputCost = 12;
/// What a block takes of the second level of cache, in sixteenths: the fewer
/// blocks there are, the less often are weights read again.
static constexpr int64_t cacheShare = 13;

namespace {
/// The most tiles of a block, and parts of the panels that are blocks of their
/// own.
struct TileBlocks {
  int64_t tiles, parts;
};

class WinogradLowering : public ContractLowering {
public:
  WinogradLowering(onnxq::ContractOp op, const TargetInfo &target,
                   int64_t threads);
  void lowerBlocks();

private:
  void emitBlock(Value firstTile, Value part);
  SmallVector<Value> getTilePlace(Value tile);
  void transformInput(Value tile, Value number);
  void transformVectors(
      Value number,
      function_ref<RowSource(int64_t row, int64_t column)> getSource);
  void emitPanel(Value firstTile, Value panel, int64_t columns);
  void multiply(Value panel, int64_t columns);
  void finishTile(Value tile, Value number, Value panel, int64_t columns);

  /// Tiles of a column and of a row of an image, of all, and of a block.
  Value tilesDown, tilesAcross, tiles, tilesOfBlock;
  /// Tiles whose products are summed at a time.
  int64_t rowsOfTile;
  /// Lanes of a vector of channels that is transformed.
  int64_t inputLanes;
  TileBlocks blocks;
  /// Transformed input and products of a block, and the floats between their
  /// parts.
  Value transformed, products;
  int64_t inputStep, productStep;
};
} // namespace

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
                             int64_t channels, onnxq::PackingAttr packing,
                             int64_t scratch, int64_t threads) {
  int64_t bytes = winogradNumbers * channels * int64_t(sizeof(float));
  int64_t most = std::max(rows, scratch / bytes / rows * rows);
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
                                   const TargetInfo &target, int64_t threads)
    : ContractLowering(op, target), inputLanes(target.lanes()) {
  Value two = b.index(winogradOut);
  tilesDown = b.ceilDiv(output.sizes[1], two);
  tilesAcross = b.ceilDiv(output.sizes[2], two);
  tiles = b.mul(output.sizes[0], b.mul(tilesDown, tilesAcross));
  while (channels % inputLanes != 0)
    inputLanes /= 2;
  std::optional<int64_t> known = KernelBuilder::known(tiles);
  rowsOfTile = std::max<int64_t>(
      1, std::min(packing.getMr(), known.value_or(packing.getMr())));
  int64_t scratch =
      std::max(winogradScratch, target.cacheBytes / 16 * cacheShare);
  blocks = planBlocks(known, rowsOfTile, channels, packing, scratch, threads);
  inputStep = blocks.tiles * channels + skew;
  productStep = blocks.tiles * packing.getNr() + skew;
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
  auto allocate = [&](int64_t step) {
    return memref::AllocaOp::create(
        b, MemRefType::get(winogradNumbers * step, sumType),
        b.getI64IntegerAttr(64));
  };
  transformed = allocate(inputStep);
  products = allocate(productStep);
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
  return {image, b.mul(row, winogradOut), b.mul(column, winogradOut)};
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

void WinogradLowering::transformInput(Value tile, Value number) {
  SmallVector<Value> place = getTilePlace(tile);
  auto isBelow = [&](Value x, Value limit) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, limit);
  };
  // Where the 4x4 places begin: before the input, where it is padded.
  Value corner = b.mul(place[0], input.strides[0]), isInside;
  Value starts[2];
  for (int64_t axis : {0, 1}) {
    starts[axis] = b.sub(place[axis + 1], b.index(op.getPads()[axis]));
    corner = b.add(corner, b.mul(starts[axis], input.strides[axis + 1]));
    Value room = b.createOrFold<arith::MaxSIOp>(
        b.sub(input.sizes[axis + 1], b.index(winogradIn - 1)), b.index(0));
    Value fits = isBelow(starts[axis], room);
    isInside =
        isInside ? Value(arith::AndIOp::create(b, isInside, fits)) : fits;
  }
  auto getPlace = [&](int64_t row, int64_t column) {
    return b.add(corner, b.add(b.mul(input.strides[1], row),
                               b.mul(input.strides[2], column)));
  };
  auto branch = scf::IfOp::create(b, isInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  transformVectors(number, [&](int64_t row, int64_t column) {
    return RowSource{input.memory, getPlace(row, column)};
  });
  // At the edge each place is the input's, or a row of zeros.
  b.setInsertionPoint(branch.elseYield());
  auto open = MemRefType::get(
      ShapedType::kDynamic, input.element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
  Value inside = b.castBuffer(input.memory, open), outside = inside;
  if (zeros)
    outside = b.castBuffer(zeros, open);
  else
    outside = b.castBuffer(
        b.flatten(getZeros(b, op, channels, input.element)).memory, open);
  SmallVector<RowSource> sources;
  for (int64_t row = 0; row < winogradIn; ++row)
    for (int64_t column = 0; column < winogradIn; ++column) {
      Value fits = arith::AndIOp::create(
          b, isBelow(b.add(starts[0], row), input.sizes[1]),
          isBelow(b.add(starts[1], column), input.sizes[2]));
      sources.push_back({b.select(fits, inside, outside),
                         b.select(fits, getPlace(row, column), b.index(0))});
    }
  transformVectors(number, [&](int64_t row, int64_t column) {
    return sources[row * winogradIn + column];
  });
}

/// Transforms all channels of a tile: rows, then columns, of d0 - d2, d1 + d2,
/// d2 - d1 and d1 - d3.
void WinogradLowering::transformVectors(
    Value number,
    function_ref<RowSource(int64_t row, int64_t column)> getSource) {
  SmallVector<RowSource> sources;
  for (int64_t i = 0; i < winogradNumbers; ++i)
    sources.push_back(getSource(i / winogradIn, i % winogradIn));
  auto combine = [&](ArrayRef<Value> d, int64_t which) -> Value {
    switch (which) {
    case 0:
      return arith::SubFOp::create(b, d[0], d[2]);
    case 1:
      return arith::AddFOp::create(b, d[1], d[2]);
    case 2:
      return arith::SubFOp::create(b, d[2], d[1]);
    default:
      return arith::SubFOp::create(b, d[1], d[3]);
    }
  };
  Value target = b.mul(number, channels);
  b.loop(b.index(channels / inputLanes), {}, [&](Value i, ValueRange) {
    Value channel = b.mul(i, inputLanes);
    SmallVector<SmallVector<Value>> columns(winogradIn);
    for (int64_t column = 0; column < winogradIn; ++column)
      for (int64_t row = 0; row < winogradIn; ++row) {
        const RowSource &source = sources[row * winogradIn + column];
        columns[column].push_back(
            b.loadVector(source.memory, b.add(source.place, channel),
                         inputLanes, inputLanes, input.element));
      }
    for (int64_t row = 0; row < winogradIn; ++row) {
      SmallVector<Value> half;
      for (int64_t column = 0; column < winogradIn; ++column)
        half.push_back(combine(columns[column], row));
      for (int64_t column = 0; column < winogradIn; ++column) {
        int64_t g = row * winogradIn + column;
        b.storeVector(combine(half, column), transformed,
                      b.add(b.add(target, g * inputStep), channel), inputLanes);
      }
    }
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// Products and output
//===----------------------------------------------------------------------===//

void WinogradLowering::emitPanel(Value firstTile, Value panel,
                                 int64_t columns) {
  multiply(panel, columns);
  b.loop(tilesOfBlock, {}, [&](Value i, ValueRange) {
    finishTile(b.add(firstTile, i), i, panel, columns);
    return SmallVector<Value>();
  });
}

/// The 16 products of a block with a panel.
void WinogradLowering::multiply(Value panel, int64_t columns) {
  int64_t rows = rowsOfTile;
  Value tall = b.ceilDiv(tilesOfBlock, b.index(rows));
  // Fewer tiles than rows: what isn't there is computed, and not read.
  Value last = b.createOrFold<arith::MaxSIOp>(
      b.sub(tilesOfBlock, b.index(rows)), b.index(0));
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t floats = channels * packing.getNr();
  Value first = b.mul(panel, winogradNumbers * floats);
  b.loop(b.index(winogradNumbers), {}, [&](Value g, ValueRange) {
    Value weight = b.add(first, b.mul(g, floats));
    b.loop(tall, {}, [&](Value i, ValueRange) {
      fetchWeights(b.add(weight, floats), floats, i, tall,
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

/// Four places of the output from 16 products: m0 + m1 + m2 and m1 - m2 - m3 of
/// the rows, then of the columns.
void WinogradLowering::finishTile(Value tile, Value number, Value panel,
                                  int64_t columns) {
  SmallVector<Value> place = getTilePlace(tile);
  int64_t vectors = llvm::divideCeil(columns, lanes);
  auto combine = [&](ArrayRef<Value> m, int64_t which) -> Value {
    if (which == 0)
      return arith::AddFOp::create(b, arith::AddFOp::create(b, m[0], m[1]),
                                   m[2]);
    return arith::SubFOp::create(b, arith::SubFOp::create(b, m[1], m[2]), m[3]);
  };
  SmallVector<SmallVector<Value>> results(winogradOut * winogradOut);
  Value source = b.mul(number, packing.getNr());
  for (int64_t j = 0; j < vectors; ++j) {
    SmallVector<SmallVector<Value>> halves(winogradOut);
    for (int64_t column = 0; column < winogradIn; ++column) {
      SmallVector<Value> m;
      for (int64_t row = 0; row < winogradIn; ++row)
        m.push_back(b.loadVector(
            products,
            b.add(source,
                  (row * winogradIn + column) * productStep + j * lanes),
            lanes, lanes, sumType));
      for (int64_t row = 0; row < winogradOut; ++row)
        halves[row].push_back(combine(m, row));
    }
    for (int64_t i = 0; i < winogradOut * winogradOut; ++i)
      results[i].push_back(combine(halves[i / winogradOut], i % winogradOut));
  }
  TilePlace where = {{}, b.index(0), panel, {}, 1, columns};
  for (int64_t i = 0; i < winogradOut * winogradOut; ++i) {
    int64_t offsets[] = {i / winogradOut, i % winogradOut};
    SmallVector<Value> indices = {place[0]};
    Value exists;
    for (int64_t axis : {0, 1}) {
      indices.push_back(b.add(place[axis + 1], offsets[axis]));
      Value size = output.sizes[axis + 1];
      if (offsets[axis] == 0 ||
          KernelBuilder::known(b.rem(size, b.index(winogradOut))) == 0)
        continue;
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                         indices.back(), size);
      exists = exists ? Value(arith::AndIOp::create(b, exists, fits)) : fits;
    }
    OpBuilder::InsertionGuard guard(b);
    if (exists) {
      auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    storeRow(where, /*row=*/0, indices, results[i]);
  }
}

void kernels::lowerWinograd(onnxq::ContractOp op, const TargetInfo &target,
                            int64_t threads) {
  WinogradLowering(op, target, threads).lowerBlocks();
}
