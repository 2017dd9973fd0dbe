// Contractions of floats: tiles of rows by columns in registers.
//
// A row is a place of the output: all its dimensions but the last, in order.
// Tiles start at a row and a panel of columns; rows carry offsets into the
// input, so that a convolution needs no copy of its windows. A tile's sums take
// the window's taps in order, channels in order. Where the window reaches
// beyond the input, a row of zeros is read instead.

#include "BlockedContract.h"
#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The part of an input that stays in the cache while all panels of columns
/// pass by.
static constexpr int64_t cachedBytes = 256 * 1024;

/// Whether an epilogue has a function that many operations compute.
static bool hasLongEpilogue(onnxq::ContractOp op) {
  return op.getEpilogue()
      .walk([](Operation *inner) {
        return isa<math::ExpOp, math::TanhOp, math::ErfOp, math::ErfcOp,
                   math::LogOp, math::PowFOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tiles of a thread that takes rows of its own: another may have one less.
static constexpr int64_t leastTiles = 16;
/// One row in so many that isn't computed twice is worth a second form of the
/// kernel.
static constexpr int64_t worthRows = 64;
/// Weights that stay in a cache near the processor by themselves.
static constexpr int64_t smallWeights = 128 * 1024;
/// Bytes that a cache takes at once, and how many of these a tile asks for
/// where it can't ask for a few at a time.
static constexpr int64_t lineBytes = 64, mostLines = 256;

/// Taps of a row of the window that are written out.
static constexpr int64_t writtenTaps = 3;
/// Products that a turn of the innermost loop adds to a sum, and those that are
/// written out without a loop.
static constexpr int64_t unrolledLines = 2, writtenLines = 12;
/// Those of a turn that loads weights before they are needed.
static constexpr int64_t linesAhead = 4;

static bool isShort(int64_t run) { return run <= 3 * writtenLines; }

int64_t ContractLowering::getUnrolled(int64_t length) {
  if (elementsAtOnce > 1)
    return elementsAtOnce;
  if (loadsAhead && length >= 2 * linesAhead)
    return linesAhead;
  // Short runs in few turns; but LLVM takes one row after the other where much
  // is written out.
  return length <= writtenLines ? length
         : isShort(length)      ? 2 * writtenLines / 3
                                : unrolledLines;
}

ContractLowering::ContractLowering(onnxq::ContractOp op,
                                   const TargetInfo &target)
    : op(op), packing(op.getPackingAttr()), b(op.getLoc(), op),
      hasFMA(target.hasFMA), lanes(getTileLanes(target)),
      spatial(op.getKernel().size()), channels(op.getChannels()),
      input(b.flatten(op.getInput())), weights(b.flatten(op.getWeights())),
      output(b.flatten(op.getInit())),
      maps(cast<onnxq::KernelOpInterface>(op.getOperation()).getMaps()) {
  for (Value extra : op.getExtras())
    extras.push_back(b.flatten(extra));
  lanes = std::min(lanes, packing.getNr());
  // What takes long from one operation to the next is computed for several
  // vectors at a time.
  storedLanes = hasLongEpilogue(op) ? packing.getNr() : lanes;
  // Bytes are narrowed in fewer instructions, of a whole row at best.
  if (target.hasAVX2 && output.element.getIntOrFloatBitWidth() == 8) {
    rounded = matchRounded(op.getEpilogue(), target);
    if (rounded)
      storedLanes = packing.getNr();
  }
  sumType =
      cast<onnxq::KernelOpInterface>(op.getOperation()).getAccumulatorType();
  elementsAtOnce = target.arch == TargetInfo::Arch::AArch64 ? lanes : 1;
  batches = op.getBatched() ? output.rank() - 2 : 0;
  isPacked = packing.getKind() != onnxq::PackingKind::Rows;
  loadsAhead = isPacked &&
               hasRoomForNext(target, packing.getMr(), packing.getNr() / lanes);
  weightStep =
      isPacked ? b.index(packing.getNr()) : weights.strides[weights.rank() - 2];
  numRows = b.index(1);
  for (size_t i = batches; i + 1 < output.rank(); ++i)
    numRows = b.mul(numRows, output.sizes[i]);
  if (spatial == 0 && batches == 0 && output.rank() > 2)
    mergeRows();
  bool isPadded = llvm::any_of(op.getPads(), [](int64_t p) { return p > 0; });
  if (isPadded)
    zeros = b.flatten(getZeros(b, op, channels, input.element)).memory;
  loopDims = spatial;
  run = channels;
  // A row of the window is contiguous if its taps are neighbours.
  if (!isPadded && spatial > 0 && packing.getGroups() == 1 &&
      op.getDilations()[spatial - 1] == 1 &&
      KernelBuilder::known(input.strides[spatial]) == channels) {
    --loopDims;
    run = op.getKernel()[spatial - 1] * channels;
  }
}

/// Without a window all leading dimensions are one, where the buffers allow it:
/// so no row's place needs a division.
void ContractLowering::mergeRows() {
  unsigned last = output.rank() - 1;
  auto isPerColumn = [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || dim.getPosition() == last;
    });
  };
  if (!input.hasEqualRows() || !output.hasEqualRows())
    return;
  for (auto [extra, map] : llvm::zip(extras, maps))
    if (!isPerColumn(map) && !(map.isIdentity() && extra.hasEqualRows()))
      return;
  input = input.asRows(numRows);
  output = output.asRows(numRows);
  for (auto [extra, map] : llvm::zip(extras, maps)) {
    if (map.isIdentity()) {
      extra = extra.asRows(numRows);
      map = b.getMultiDimIdentityMap(2);
      continue;
    }
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults())
      exprs.push_back(isa<AffineDimExpr>(expr) ? b.getAffineDimExpr(1) : expr);
    map = AffineMap::get(2, 0, exprs, b.getContext());
  }
}

void ContractLowering::lower(int64_t numThreads) {
  threads = numThreads;
  std::optional<int64_t> known = KernelBuilder::known(numRows);
  if (known) {
    if (*known > 0)
      emitGrid(std::min(packing.getMr(), *known));
    return;
  }
  // Fewer rows than a tile's are computed one by one.
  Value isTall = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, numRows,
                                       b.index(packing.getMr()));
  auto branch = scf::IfOp::create(b, isTall, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  emitGrid(packing.getMr());
  b.setInsertionPoint(branch.elseYield());
  emitGrid(1);
}

/// Whole panels, and the rest of the columns.
void ContractLowering::emitGrid(int64_t rows) {
  int64_t whole = packing.getColumns() / packing.getNr();
  int64_t rest = packing.getColumns() % packing.getNr();
  if (whole > 0)
    emitPanels(rows, b.index(whole), b.index(0), packing.getNr());
  if (rest > 0)
    emitPanels(getLastRows(rows, rest), b.index(1), b.index(whole), rest);
}

int64_t ContractLowering::getTilesInCache(int64_t rows) {
  int64_t rowBytes = channels * packing.getGroups() *
                     (input.element.getIntOrFloatBitWidth() / 8);
  for (int64_t stride : op.getStrides())
    rowBytes *= stride;
  return std::max<int64_t>(1, cachedBytes / (rowBytes * rows));
}

Value ContractLowering::countBlocks(Value tiles, int64_t rows) {
  Value blocks = b.ceilDiv(tiles, b.index(getTilesInCache(rows)));
  std::optional<int64_t> number = KernelBuilder::known(blocks),
                         all = KernelBuilder::known(tiles);
  if (threads == 1 || !number || *all < leastTiles * threads)
    return blocks;
  // Threads that take rows of their own read and write what the ops before and
  // behind have next to the same processor; those that take columns of their
  // own share large weights.
  int64_t inputBytes = *all * rows * channels * packing.getGroups() *
                       (input.element.getIntOrFloatBitWidth() / 8);
  if (inputBytes < packing.getSize() * getWeightBytes())
    return blocks;
  return b.index(llvm::alignTo(*number, threads));
}

void ContractLowering::emitPanels(int64_t rows, Value panels, Value firstPanel,
                                  int64_t columns) {
  RowTiles tiles = coverRows(rows);
  // Blocks of tiles whose input stays in the cache, as equal as possible.
  bool isSingle = KernelBuilder::known(panels) == 1;
  Value blocks = isSingle ? b.index(1) : countBlocks(tiles.count, tiles.rows);
  Value tilesOfBlock = isSingle ? tiles.count : b.ceilDiv(tiles.count, blocks);
  Value groups = b.index(packing.getGroups());
  SmallVector<Value> counts(output.sizes.begin(),
                            output.sizes.begin() + batches);
  counts.append({groups, blocks, panels, tilesOfBlock});
  b.grid(counts, [&](ArrayRef<Value> at) {
    SmallVector<Value> batch(at.take_front(batches));
    at = at.drop_front(batches);
    Value tile = b.add(b.mul(at[1], tilesOfBlock), at[3]);
    // The last block may have fewer tiles.
    OpBuilder::InsertionGuard guard(b);
    if (!isSingle && KernelBuilder::known(b.sub(b.mul(blocks, tilesOfBlock),
                                                tiles.count)) != 0) {
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile,
                                            tiles.count);
      auto branch = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    TilePlace place = {batch, at[0], b.add(firstPanel, at[2]), {}, 0, columns};
    ahead = {};
    if (!isSingle && asksAhead() &&
        packing.getSize() * getWeightBytes() > smallWeights)
      fetchWeights(b.add(getWeights(place), packing.getPanelSize()),
                   packing.getPanelSize(), at[3], tilesOfBlock,
                   packing.getDepth() / run, run);
    emitRows(tiles, tile, [&](Value row, int64_t count) {
      place.row = row;
      place.rows = count;
      emitTile(place);
    });
  });
}

/// As many tiles as tall ones would be, some of them a row shorter: no row is
/// computed twice. That is a second form of the kernel, which few rows aren't
/// worth.
RowTiles ContractLowering::coverRows(int64_t rows) {
  RowTiles tiles = {rows, b.ceilDiv(numRows, b.index(rows)), std::nullopt};
  std::optional<int64_t> all = KernelBuilder::known(numRows);
  if (!all || !hasShortTiles())
    return tiles;
  int64_t count = llvm::divideCeil(*all, rows);
  if ((count * rows - *all) * worthRows < *all)
    return tiles;
  tiles.rows = llvm::divideCeil(*all, count);
  if (int64_t shorter = count * tiles.rows - *all)
    tiles.tall = count - shorter;
  return tiles;
}

void ContractLowering::emitRows(const RowTiles &tiles, Value tile,
                                function_ref<void(Value, int64_t)> body) {
  Value row = b.mul(tile, tiles.rows);
  if (!tiles.tall)
    return body(b.min(row, b.sub(numRows, b.index(tiles.rows))), tiles.rows);
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

bool ContractLowering::asksAhead() {
  return packing.getKind() == onnxq::PackingKind::Fma;
}

int64_t ContractLowering::getMostLines() { return mostLines; }

int64_t ContractLowering::getWeightBytes() {
  return weights.element.getIntOrFloatBitWidth() / 8;
}

void ContractLowering::fetchWeights(Value next, int64_t count, Value number,
                                    Value tiles, int64_t runs, int64_t length) {
  ahead = {};
  int64_t line = lineBytes / getWeightBytes();
  Value share = b.ceilDiv(b.index(llvm::divideCeil(count, line)), tiles);
  // So few tiles use weights faster than they come.
  if (KernelBuilder::known(share).value_or(mostLines) > getMostLines())
    return;
  Value first = b.add(next, b.mul(b.mul(number, share), line));
  int64_t turns = length / getUnrolled(length);
  if (std::optional<int64_t> lines = KernelBuilder::known(share);
      lines && turns * runs >= *lines) {
    // Asking for many lines at once keeps others waiting.
    int64_t step = llvm::divideCeil(*lines * line, turns * runs);
    ahead = {first, first, step, step * turns};
    return;
  }
  b.loop(share, {}, [&](Value i, ValueRange) {
    b.prefetch(weights.memory, b.add(first, b.mul(i, line)));
    return SmallVector<Value>();
  });
}

void ContractLowering::fetchAhead(Value turn) {
  if (ahead.first)
    b.prefetch(weights.memory, b.add(ahead.place, b.mul(turn, ahead.turnStep)));
}

void ContractLowering::startRun(Value number) {
  if (ahead.first)
    ahead.place = b.add(ahead.first, b.mul(number, ahead.runStep));
}

/// The output's indices of a tile's rows, without the last one.
SmallVector<SmallVector<Value>>
ContractLowering::getRowIndices(const TilePlace &place) {
  size_t rank = output.rank() - 1;
  SmallVector<SmallVector<Value>> rows;
  if (rank == 0)
    return SmallVector<SmallVector<Value>>(place.rows);
  SmallVector<Value> first(place.batch);
  first.resize(rank);
  size_t outermost = batches;
  Value rest = place.row;
  for (size_t i = rank; i-- > outermost + 1;) {
    first[i] = b.rem(rest, output.sizes[i]);
    rest = b.div(rest, output.sizes[i]);
  }
  first[outermost] = rest;
  rows.push_back(first);
  for (int64_t row = 1; row < place.rows; ++row) {
    // The next place: a dimension at its end starts again.
    SmallVector<Value> next = rows.back();
    Value carry;
    for (size_t i = rank; i-- > outermost;) {
      Value size = output.sizes[i];
      if (KernelBuilder::known(size) == 1 && i > outermost)
        continue;
      Value after = b.add(next[i], b.index(1));
      if (carry)
        after = b.select(carry, after, next[i]);
      if (i == outermost) {
        next[i] = after;
        break;
      }
      Value wraps =
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, after, size);
      next[i] = b.select(wraps, b.index(0), after);
      carry = wraps;
    }
    rows.push_back(next);
  }
  return rows;
}

/// Asks for what the epilogue reads and writes row by row, so that it is there
/// when the sums are: rows lie far apart, which processors don't foresee.
void ContractLowering::fetchEnds(const TilePlace &place,
                                 ArrayRef<SmallVector<Value>> rows) {
  Value column = getFirstColumn(place);
  AffineMap identity = b.getMultiDimIdentityMap(output.rank());
  for (const SmallVector<Value> &indices : rows) {
    for (auto [extra, map] : llvm::zip(extras, maps))
      if (map.isIdentity())
        b.prefetch(extra.memory,
                   b.add(getRowPlace(extra, map, indices), column));
    b.prefetch(output.memory,
               b.add(getRowPlace(output, identity, indices), column),
               /*isWrite=*/true);
  }
}

SmallVector<Value> ContractLowering::startRow(const TilePlace &place) {
  int64_t vectors = llvm::divideCeil(place.columns, lanes);
  return SmallVector<Value>(vectors, b.zeros(lanes, sumType));
}

void ContractLowering::emitTile(const TilePlace &place) {
  SmallVector<SmallVector<Value>> rows = getRowIndices(place);
  SmallVector<Value> start = startRow(place), sums;
  for (int64_t row = 0; row < place.rows; ++row)
    sums.append(start);
  fetchEnds(place, rows);
  storeRows(place, rows, sumTaps(place, rows, sums));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Where each row reads the window's tap `taps` (of the dimensions that are
/// loops).
SmallVector<RowSource>
ContractLowering::getSources(const TilePlace &place,
                             ArrayRef<SmallVector<Value>> rows,
                             ArrayRef<Value> taps) {
  Value group = b.mul(place.group, channels);
  SmallVector<RowSource> sources;
  for (const SmallVector<Value> &indices : rows) {
    Value at = group, inside;
    for (size_t i = 0; i < indices.size(); ++i) {
      bool isWindow = spatial > 0 && i > 0;
      if (!isWindow) {
        at = b.add(at, b.mul(indices[i], input.strides[i]));
        continue;
      }
      int64_t d = i - 1;
      int64_t pad = op.getPads()[d], padEnd = op.getPads()[spatial + d];
      Value position = b.mul(indices[i], op.getStrides()[d]);
      if (d < loopDims)
        position = b.add(position, b.mul(taps[d], op.getDilations()[d]));
      if (pad > 0)
        position = b.sub(position, b.index(pad));
      if (pad > 0 || padEnd > 0) {
        Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           position, input.sizes[i]);
        inside = inside ? Value(arith::AndIOp::create(b, inside, fits)) : fits;
      }
      at = b.add(at, b.mul(position, input.strides[i]));
    }
    Value memory = input.memory;
    if (inside) {
      auto open = MemRefType::get(
          ShapedType::kDynamic, input.element,
          StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
      memory = b.select(inside, b.castBuffer(memory, open),
                        b.castBuffer(zeros, open));
      at = b.select(inside, at, b.index(0));
    }
    sources.push_back({memory, at});
  }
  return sources;
}

/// Where a tile's weights begin.
Value ContractLowering::getWeights(const TilePlace &place) {
  Value at = b.index(0);
  for (auto [i, position] : llvm::enumerate(place.batch))
    at = b.add(at, b.mul(position, weights.strides[i]));
  if (isPacked) {
    Value panel = b.add(b.mul(place.group, packing.getPanels()), place.panel);
    return b.add(at, b.mul(panel, packing.getPanelSize()));
  }
  if (batches == 0 && !op.getBatched())
    at = b.mul(place.group, weights.strides[0]);
  return b.add(at, b.mul(place.panel, packing.getNr()));
}

SmallVector<Value> ContractLowering::forTaps(const TilePlace &place,
                                             ArrayRef<SmallVector<Value>> rows,
                                             ValueRange carried,
                                             const RunBody &body) {
  SmallVector<Value> taps;
  std::function<SmallVector<Value>(Value, ValueRange)> nest =
      [&](Value tap, ValueRange values) -> SmallVector<Value> {
    int64_t d = taps.size();
    if (d == loopDims)
      return body(tap, getSources(place, rows, taps), values);
    int64_t size = op.getKernel()[d];
    auto step = [&](Value i, ValueRange inner) {
      taps.push_back(i);
      SmallVector<Value> results = nest(b.add(b.mul(tap, size), i), inner);
      taps.pop_back();
      return results;
    };
    bool isWritten = d + 1 == loopDims && size <= writtenTaps && !isShort(run);
    if (!isWritten)
      return b.loop(b.index(size), values, step);
    // Written out, what the taps have in common is computed once.
    SmallVector<Value> results(values);
    for (int64_t i = 0; i < size; ++i)
      results = step(b.index(i), results);
    return results;
  };
  return nest(b.index(0), carried);
}

SmallVector<Value> ContractLowering::sumTaps(const TilePlace &place,
                                             ArrayRef<SmallVector<Value>> rows,
                                             SmallVector<Value> sums) {
  Value first = getWeights(place);
  return forTaps(
      place, rows, sums,
      [&](Value tap, ArrayRef<RowSource> sources, ValueRange values) {
        Value weight = b.add(first, b.mul(tap, b.mul(weightStep, run)));
        startRun(tap);
        return sumRun(sources, weight, run, values, place.columns);
      });
}

SmallVector<Value> ContractLowering::loadLine(Value line, int64_t columns) {
  SmallVector<Value> weightsOf;
  for (int64_t j = 0; j < columns; j += lanes) {
    // Panels are filled up with zeros; rows end where they end.
    int64_t valid = isPacked ? lanes : std::min(lanes, columns - j);
    weightsOf.push_back(b.loadVector(weights.memory, b.add(line, j), lanes,
                                     valid, b.getF32Type()));
  }
  return weightsOf;
}

SmallVector<Value> ContractLowering::spreadElements(ArrayRef<RowSource> rows,
                                                    Value k) {
  SmallVector<Value> elements;
  for (const RowSource &row : rows)
    elements.push_back(
        b.broadcast(b.loadScalar(row.memory, b.add(row.place, k)), lanes));
  return elements;
}

/// Adds a product per sum: `elements` are the rows', one vector each.
void ContractLowering::addProducts(MutableArrayRef<Value> sums,
                                   ArrayRef<Value> elements,
                                   ArrayRef<Value> weightsOf) {
  for (auto [r, element] : llvm::enumerate(elements))
    for (auto [j, weight] : llvm::enumerate(weightsOf)) {
      Value &sum = sums[r * weightsOf.size() + j];
      if (hasFMA)
        sum = vector::FMAOp::create(b, element, weight, sum);
      else
        sum = arith::AddFOp::create(b, sum,
                                    arith::MulFOp::create(b, element, weight));
    }
}

/// Adds `length` products per sum: of elements that follow each other.
SmallVector<Value> ContractLowering::sumRun(ArrayRef<RowSource> rows,
                                            Value weight, int64_t length,
                                            ValueRange sums, int64_t columns) {
  SmallVector<Value> next(sums);
  auto addOne = [&](Value k) {
    addProducts(next, spreadElements(rows, k),
                loadLine(b.add(weight, b.mul(k, weightStep)), columns));
  };
  if (elementsAtOnce == 1) {
    int64_t unroll = getUnrolled(length);
    int64_t turns = length / unroll;
    if (loadsAhead && unroll == linesAhead && turns > 1)
      return sumAhead(rows, weight, length, unroll, sums,
                      VectorType::get(lanes, b.getF32Type()),
                      [&](MutableArrayRef<Value> of, ArrayRef<Value> line,
                          ArrayRef<Value> scalars) {
                        SmallVector<Value> elements;
                        for (Value scalar : scalars)
                          elements.push_back(b.broadcast(scalar, lanes));
                        addProducts(of, elements, line);
                      });
    if (turns > 0)
      next = b.loop(b.index(turns), sums, [&](Value i, ValueRange carried) {
        next.assign(carried.begin(), carried.end());
        fetchAhead(i);
        for (int64_t k = 0; k < unroll; ++k)
          addOne(b.add(b.mul(i, unroll), k));
        return next;
      });
    for (int64_t k = turns * unroll; k < length; ++k)
      addOne(b.index(k));
    return next;
  }
  // Elements are loaded a vector at a time, and multiplied by lane.
  int64_t blocks = length / elementsAtOnce;
  if (blocks > 0)
    next = b.loop(b.index(blocks), sums, [&](Value i, ValueRange carried) {
      SmallVector<Value> inner(carried), loaded;
      fetchAhead(i);
      Value first = b.mul(i, elementsAtOnce);
      for (const RowSource &row : rows)
        loaded.push_back(b.loadVector(row.memory, b.add(row.place, first),
                                      elementsAtOnce, elementsAtOnce,
                                      b.getF32Type()));
      for (int64_t lane = 0; lane < elementsAtOnce; ++lane) {
        SmallVector<Value> elements;
        for (Value vector : loaded)
          elements.push_back(b.broadcast(
              vector::ExtractOp::create(b, vector, lane).getResult(), lanes));
        Value k = b.add(first, lane);
        addProducts(inner, elements,
                    loadLine(b.add(weight, b.mul(k, weightStep)), columns));
      }
      return inner;
    });
  for (int64_t k = blocks * elementsAtOnce; k < length; ++k)
    addOne(b.index(k));
  return next;
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// The place in a buffer that a map gives for a row; the last dimension of the
/// output counts as 0.
Value ContractLowering::getRowPlace(const FlatBuffer &buffer, AffineMap map,
                                    ArrayRef<Value> indices) {
  Value at = b.index(0);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || dim.getPosition() + 1 == output.rank())
      continue;
    at = b.add(at, b.mul(indices[dim.getPosition()], buffer.strides[i]));
  }
  return at;
}

/// A tile's first column among those of all groups.
Value ContractLowering::getFirstColumn(const TilePlace &place) {
  return b.add(b.mul(place.group, packing.getColumns()),
               b.mul(place.panel, packing.getNr()));
}

/// An extra's elements for a vector of columns.
Value ContractLowering::loadExtra(size_t number, ArrayRef<Value> indices,
                                  Value column, int64_t width, int64_t valid) {
  const FlatBuffer &extra = extras[number];
  AffineMap map = maps[number];
  Value at = getRowPlace(extra, map, indices);
  unsigned last = output.rank() - 1;
  std::optional<unsigned> found =
      map.getResultPosition(b.getAffineDimExpr(last));
  if (!found)
    return b.broadcast(b.loadScalar(extra.memory, at), width);
  if (KernelBuilder::known(extra.strides[*found]) == 1)
    return b.loadVector(extra.memory, b.add(at, column), width, valid,
                        extra.element);
  Value vector = b.zeros(width, extra.element);
  for (int64_t i = 0; i < valid; ++i) {
    Value place = b.add(at, b.mul(b.add(column, i), extra.strides[*found]));
    vector = vector::InsertOp::create(b, b.loadScalar(extra.memory, place),
                                      vector, i);
  }
  return vector;
}

void ContractLowering::storeRow(const TilePlace &place, int64_t row,
                                ArrayRef<Value> indices, ArrayRef<Value> sums) {
  Value first = getFirstColumn(place);
  AffineMap identity = b.getMultiDimIdentityMap(output.rank());
  Value at = getRowPlace(output, identity, indices);
  int64_t together = storedLanes / lanes;
  for (size_t j = 0; j < sums.size(); j += together) {
    ArrayRef<Value> parts = sums.slice(j).take_front(together);
    int64_t width = parts.size() * lanes;
    int64_t valid = std::min<int64_t>(width, place.columns - j * lanes);
    Value column = b.add(first, j * lanes);
    SmallVector<Value> arguments = {b.concat(parts)};
    for (size_t i = 0; i < extras.size(); ++i)
      arguments.push_back(loadExtra(i, indices, column, width, valid));
    Value value = b.repeatOnVectors(op.getEpilogue(), arguments, width,
                                    rounded ? rounded->number : Value());
    if (rounded)
      value = emitRounded(b, *rounded, value);
    b.storeVector(value, output.memory, b.add(at, column), valid);
  }
}

void ContractLowering::storeRows(const TilePlace &place,
                                 ArrayRef<SmallVector<Value>> rows,
                                 ArrayRef<Value> sums) {
  size_t vectors = sums.size() / rows.size();
  for (int64_t row = 0; row < place.rows; ++row)
    storeRow(place, row, rows[row], sums.slice(row * vectors, vectors));
}

void kernels::lowerFmaContract(onnxq::ContractOp op, const TargetInfo &target,
                               int64_t threads) {
  BlockedContractLowering(op, target).lower(threads);
}
