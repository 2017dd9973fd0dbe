// Windows that keep channels apart (depthwise convolutions, pooling), on every
// target:
//
//   out[y, x, c] = reduce over i, j of in[sy * y + i, sx * x + j, c] (* w[i, j,
//   c])
//
// Tiles are several columns of a row, a vector of channels each; sums are fused
// multiply-adds, maxima the target's.
//
// Blocks of rows (of the last spatial dimension but one) and of channels are
// independent steps. Columns are cut into tiles: those at the edges leave out
// the taps that lie outside, by name where the width is known, by a range where
// it isn't. An input element is loaded once for all columns of a tile that its
// taps reach. The taps of a row that lie inside of the input are a range per
// dimension, so that edges take fewer iterations of the same loops.
//
// A tile goes down the rows of its block: what two rows read stays in the cache
// next to the processor, and what the next row needs is asked for in time.

#include "LowerWindow.h"
#include "../Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

static int64_t getElementBytes(const FlatBuffer &buffer) {
  return buffer.element.getIntOrFloatBitWidth() / 8;
}

WindowLowering::WindowLowering(onnxq::WindowOp op, const TargetInfo &target,
                               int64_t threads)
    : op(op), b(op.getLoc(), op), in(b.flatten(op.getInput())),
      out(b.flatten(op.getInit())), spatial(op.getKernel().size()),
      channels(cast<MemRefType>(op.getInput().getType()).getShape().back()),
      threads(threads) {
  if (op.getWeights())
    weights = b.flatten(op.getWeights());
  for (Value operand : op.getEpilogueOperands())
    epilogueOperands.push_back(b.flatten(operand));
  plan = planWindow(op, target);
  math = makeWindowMath(op, b, target, plan);
  lanes = plan.lanes;
  // Accumulators, the weights of a row of taps, and an element.
  int64_t kernel = lastOf(op.getKernel()), each = math->getVectors();
  int64_t free = target.numVectors - 2 - (op.getWeights() ? kernel : 0);
  columns =
      std::clamp<int64_t>(free / each, 2, tuning::mostWindowColumns / each);
  columns =
      std::clamp<int64_t>(tuning::mostWindowProducts / kernel, 1, columns);
  chooseRows();
  if (out.element.getIntOrFloatBitWidth() == 8)
    rounded = matchRounded(op.getEpilogue(), target);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void WindowLowering::chooseRows() {
  rowsOfBlock = tuning::mostWindowRows;
  if (spatial < 2)
    return;
  int64_t rows = KernelBuilder::known(out.sizes[spatial - 1]).value_or(1);
  if (out.element.isF32()) {
    // As many rows as still give each thread two blocks.
    int64_t share =
        threads > 1 ? rows / (2 * threads) : tuning::mostFloatWindowRows;
    rowsOfBlock = std::clamp(share, tuning::fewestWindowRows,
                             tuning::mostFloatWindowRows);
    return;
  }
  // Every thread has as many blocks.
  if (threads > 1 && rows >= tuning::fewestThreadWindowRows * threads)
    rowsOfBlock = llvm::divideCeil(
        rows,
        llvm::alignTo(llvm::divideCeil(rows, tuning::mostWindowRows), threads));
}

/// The taps of dimension `dim` that lie inside for output position `position`.
TapRange WindowLowering::getTaps(size_t dim, Value position) {
  int64_t kernel = op.getKernel()[dim], dilation = op.getDilations()[dim];
  Value size = in.sizes[dim + 1];
  TapRange range;
  range.start =
      b.sub(b.mul(position, op.getStrides()[dim]), b.index(op.getPads()[dim]));
  range.first = b.index(0);
  Value rounding = b.index(dilation - 1), step = b.index(dilation);
  auto max = [&](Value x) {
    return b.createOrFold<arith::MaxSIOp>(x, b.index(0));
  };
  if (op.getPads()[dim] > 0) {
    Value before = max(b.sub(b.index(0), range.start));
    range.first = b.div(b.add(before, rounding), step);
  }
  range.end = b.index(kernel);
  if (op.getPads()[spatial + dim] > 0) {
    Value after = max(b.sub(size, range.start));
    range.end = b.min(range.end, b.div(b.add(after, rounding), step));
    // Both may lie behind each other where a window lies outside altogether.
    range.first = b.min(range.first, range.end);
  }
  return range;
}

TapRow WindowLowering::getTapRow(size_t dim, TapRow row, Value tap) {
  Value at = b.add(rowTaps[dim].start, b.mul(tap, op.getDilations()[dim]));
  return {b.add(row.source, b.mul(at, in.strides[dim + 1])),
          b.add(b.mul(row.weight, op.getKernel()[dim]), tap)};
}

/// Runs `take` for `count` rows of taps, written out where all of them lie
/// inside.
SmallVector<Value> WindowLowering::forShortRows(
    size_t dim, Value count, ValueRange carried,
    function_ref<SmallVector<Value>(Value, ValueRange)> take) {
  int64_t size = op.getKernel()[dim];
  auto takeAll = [&] {
    SmallVector<Value> results(carried);
    for (int64_t i = 0; i < size; ++i)
      results = take(b.index(i), results);
    return results;
  };
  if (KernelBuilder::known(count) == size)
    return takeAll();
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, b.index(size));
  auto choice = scf::IfOp::create(b, carried.getTypes(), isWhole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, takeAll());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, b.loop(count, carried, take));
  return SmallVector<Value>(choice.getResults());
}

/// Runs `body` for every tap of the leading dimensions.
SmallVector<Value> WindowLowering::forTapRows(size_t dim, TapRow row,
                                              ValueRange carried, RowFn body) {
  int64_t length = lastOf(op.getKernel());
  auto finishRow = [&](TapRow last) {
    return TapRow{last.source, b.mul(last.weight, length)};
  };
  if (dim + 1 == spatial)
    return body(finishRow(row), carried);
  const TapRange &range = rowTaps[dim];
  Value count = b.sub(range.end, range.first);
  if (dim + 2 < spatial || !math->takesPairs()) {
    auto take = [&](Value i, ValueRange values) {
      TapRow next = getTapRow(dim, row, b.add(range.first, i));
      return forTapRows(dim + 1, next, values, body);
    };
    bool isShort =
        op.getKernel()[dim] * length * columns <= tuning::mostWindowProducts;
    if (dim + 2 == spatial && isShort)
      return forShortRows(dim, count, carried, take);
    return b.loop(count, carried, take);
  }
  Value two = b.index(2), pairs = b.div(count, two);
  SmallVector<Value> sums =
      b.loop(pairs, carried, [&](Value i, ValueRange values) {
        Value tap = b.add(range.first, b.mul(i, two));
        return body({finishRow(getTapRow(dim, row, tap)),
                     finishRow(getTapRow(dim, row, b.add(tap, 1)))},
                    values);
      });
  // One may be left.
  return b.loop(b.rem(count, two), sums, [&](Value, ValueRange values) {
    Value tap = b.sub(range.end, b.index(1));
    return body(finishRow(getTapRow(dim, row, tap)), values);
  });
}

/// The vectors of channels of a block: the input that a tile's row reads stays
/// in the cache.
int64_t WindowLowering::getBlockVectors() {
  int64_t vectors = llvm::divideCeil(channels, lanes);
  int64_t width = (columns - 1) * lastOf(op.getStrides()) +
                  (lastOf(op.getKernel()) - 1) * lastOf(op.getDilations()) + 1;
  int64_t rows = spatial > 1 ? op.getKernel()[spatial - 2] : 1;
  int64_t bytes = width * rows * lanes * getElementBytes(in);
  int64_t most =
      std::clamp<int64_t>(tuning::windowBlockBytes / bytes, 1, vectors);
  return llvm::divideCeil(vectors, llvm::divideCeil(vectors, most));
}

void WindowLowering::lower() {
  int64_t vectors = llvm::divideCeil(channels, lanes);
  blockVectors = getBlockVectors();
  // The batch and the leading dimensions, blocks of rows, blocks of channels.
  SmallVector<Value> counts(out.sizes.begin(), out.sizes.begin() + spatial);
  Value rows, step;
  if (spatial > 1) {
    rows = counts.back();
    Value blocks = b.ceilDiv(rows, b.index(rowsOfBlock));
    // No rows at all are no blocks.
    Value least = b.createOrFold<arith::MaxSIOp>(blocks, b.index(1));
    step = b.ceilDiv(rows, least);
    counts.back() = blocks;
  }
  counts.push_back(b.index(llvm::divideCeil(vectors, blockVectors)));
  b.grid(counts, [&](ArrayRef<Value> indices) {
    rowIndices.assign(indices.begin(), indices.end() - 1);
    firstVector = b.mul(indices.back(), blockVectors);
    if (rows) {
      firstRow = b.mul(rowIndices.back(), step);
      numRows = b.createOrFold<arith::MaxSIOp>(
          b.min(step, b.sub(rows, firstRow)), b.index(0));
    }
    emitColumns();
  });
}

void WindowLowering::takeRow() {
  rowSource = b.mul(rowIndices[0], in.strides[0]);
  rowTarget = b.index(0);
  for (auto [index, stride] : llvm::zip(rowIndices, out.strides))
    rowTarget = b.add(rowTarget, b.mul(index, stride));
  startRow();
}

/// Runs `body` for every row of the block.
void WindowLowering::forRows(function_ref<void()> body) {
  if (spatial < 2) {
    takeRow();
    return body();
  }
  b.repeat(numRows, [&](Value i) {
    rowIndices.back() = b.add(firstRow, i);
    takeRow();
    body();
  });
}

void WindowLowering::startRow() {
  rowTaps.clear();
  for (size_t dim = 0; dim + 1 < spatial; ++dim)
    rowTaps.push_back(getTaps(dim, rowIndices[dim + 1]));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The columns of a row whose taps all lie inside, of a width that is known.
static std::pair<int64_t, int64_t> getInterior(onnxq::WindowOp op, size_t dim,
                                               int64_t width, int64_t count) {
  int64_t stride = op.getStrides()[dim], pad = op.getPads()[dim];
  int64_t extent = (op.getKernel()[dim] - 1) * op.getDilations()[dim] + 1;
  int64_t first = std::min((pad + stride - 1) / stride, count);
  int64_t end = width + pad < extent ? 0 : (width + pad - extent) / stride + 1;
  return {first, std::clamp(end, first, count)};
}

/// The taps of a known column in a row of known width that lie inside.
static std::pair<int64_t, int64_t> getKnownTaps(onnxq::WindowOp op, size_t dim,
                                                int64_t column, int64_t width) {
  int64_t start = column * op.getStrides()[dim] - op.getPads()[dim];
  int64_t dilation = op.getDilations()[dim], kernel = op.getKernel()[dim];
  int64_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  int64_t end = start >= width ? 0 : (width - start + dilation - 1) / dilation;
  end = std::min(end, kernel);
  return {std::min(first, end), end};
}

void WindowLowering::emitColumns() {
  size_t dim = spatial - 1;
  auto width = KernelBuilder::known(in.sizes[dim + 1]);
  auto count = KernelBuilder::known(out.sizes[dim + 1]);
  if (op.getKernel()[dim] > tuning::mostWindowProducts)
    return emitRange(b.index(0), out.sizes[dim + 1]);
  if (!width || !count)
    return emitOpenColumns();
  auto [first, end] = getInterior(op, dim, *width, *count);
  if (first > tuning::mostEdgeTiles * columns ||
      *count - end > tuning::mostEdgeTiles * columns)
    return emitOpenColumns();
  emitKnownColumns(*width, *count);
}

/// Tiles at the left until all taps lie inside, whole tiles in a loop, and what
/// is left at the right.
void WindowLowering::emitKnownColumns(int64_t width, int64_t count) {
  size_t dim = spatial - 1;
  int64_t kernel = op.getKernel()[dim];
  auto [first, end] = getInterior(op, dim, width, count);
  int64_t left = (first + columns - 1) / columns * columns;
  int64_t inner = std::max<int64_t>(0, (end - left) / columns);
  int64_t right = left + inner * columns;
  auto emitKnown = [&](int64_t from, int64_t to) {
    while (from < to) {
      int64_t tile = std::min(columns, to - from);
      SmallVector<std::pair<int64_t, int64_t>> taps;
      for (int64_t i = 0; i < tile; ++i)
        taps.push_back(getKnownTaps(op, dim, from + i, width));
      emitTile(b.index(from), taps);
      from += tile;
    }
  };
  emitKnown(0, std::min(left, count));
  if (inner > 0)
    b.repeat(b.index(inner), [&](Value i) {
      emitTile(b.add(b.mul(i, columns), left),
               SmallVector<std::pair<int64_t, int64_t>>(columns, {0, kernel}));
    });
  emitKnown(std::min(right, count), count);
}

/// Columns of a row of any width.
void WindowLowering::emitOpenColumns() {
  size_t dim = spatial - 1;
  Value count = out.sizes[dim + 1], width = in.sizes[dim + 1];
  int64_t stride = op.getStrides()[dim], pad = op.getPads()[dim];
  int64_t kernel = op.getKernel()[dim];
  int64_t extent = (kernel - 1) * op.getDilations()[dim] + 1;
  Value first = b.min(b.index((pad + stride - 1) / stride), count);
  // (width + pad - extent) / stride + 1, not negative.
  Value room = b.createOrFold<arith::MaxSIOp>(
      b.sub(b.add(width, b.index(pad + stride)), b.index(extent)), b.index(0));
  Value end = b.min(b.div(room, b.index(stride)), count);
  end = b.createOrFold<arith::MaxSIOp>(end, first);
  emitRange(b.index(0), first);
  Value tiles = b.div(b.sub(end, first), b.index(columns));
  SmallVector<std::pair<int64_t, int64_t>> whole(columns, {0, kernel});
  auto emitWhole = [&](Value from, Value count, int64_t size) {
    b.repeat(count, [&](Value i) {
      emitTile(b.add(from, b.mul(i, size)), ArrayRef(whole).take_front(size));
    });
  };
  emitWhole(first, tiles, columns);
  Value done = b.add(first, b.mul(tiles, columns));
  if (columns > 1)
    emitWhole(done, b.sub(end, done), 1);
  emitRange(end, count);
}

/// Columns one by one, with ranges of taps.
void WindowLowering::emitRange(Value from, Value to) {
  if (KernelBuilder::known(b.sub(to, from)) == 0)
    return;
  b.repeat(b.sub(to, from), [&](Value i) {
    Value column = b.add(from, i);
    TapRange range = getTaps(spatial - 1, column);
    forRows([&] {
      forChannels([&](Value, Value channel, int64_t valid) {
        emitPlace(column, range, channel, valid);
      });
    });
  });
}

/// One column and vector of channels, with a range of taps.
void WindowLowering::emitPlace(Value column, const TapRange &range,
                               Value channel, int64_t valid) {
  auto addRow = [&](ArrayRef<TapRow> rows, ValueRange carried) {
    Value count = b.sub(range.end, range.first);
    return b.loop(count, carried, [&](Value i, ValueRange values) {
      Value tap = b.add(range.first, i);
      Value at = b.add(range.start, b.mul(tap, lastOf(op.getDilations())));
      Value offset = b.add(b.mul(at, in.strides[spatial]), channel);
      return math->step(SmallVector<Value>(values),
                        loadElement(rows, offset, valid),
                        loadWeights(rows, tap, channel, valid));
    });
  };
  SmallVector<Value> sums =
      forTapRows(0, {rowSource, b.index(0)}, math->start(), addRow);
  finish(column, channel, valid, math->join(sums));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Runs `body` for every vector of channels of the block, with its index in it
/// and how many of its lanes count. The last ones overlap those before them.
void WindowLowering::forChannels(
    function_ref<void(Value, Value, int64_t)> body) {
  if (channels < lanes)
    return body(b.index(0), b.index(0), channels);
  int64_t vectors = llvm::divideCeil(channels, lanes);
  bool isEven = channels % lanes == 0 && vectors % blockVectors == 0;
  b.repeat(b.index(blockVectors), [&](Value i) {
    Value channel = b.mul(b.add(firstVector, i), lanes);
    if (!isEven)
      channel = b.min(channel, b.index(channels - lanes));
    body(i, channel, lanes);
  });
}

/// Prefetches what a tile's next row reads and writes, a part of it per vector
/// of channels: `width` columns from `offset` on.
void WindowLowering::prefetchColumns(const FlatBuffer &buffer, Value offset,
                                     int64_t width, Value index, Value channel,
                                     bool isWrite) {
  int64_t line = tuning::lineBytes / getElementBytes(buffer);
  bool isWhole = blockVectors * lanes == channels &&
                 KernelBuilder::known(buffer.strides[spatial]) == channels;
  if (!isWhole) {
    // A line holds several vectors: each of them prefetches some columns'
    // lines.
    int64_t shared = std::clamp<int64_t>(line / lanes, 1, blockVectors);
    Value part = b.rem(index, b.index(shared));
    int64_t columnsOfPart = llvm::divideCeil(width, shared);
    Value first = b.mul(b.mul(part, columnsOfPart), buffer.strides[spatial]);
    Value start = b.add(b.add(offset, first), channel);
    for (int64_t i = 0; i < columnsOfPart; ++i)
      b.prefetch(buffer.memory, b.add(start, b.mul(buffer.strides[spatial], i)),
                 isWrite);
    return;
  }
  // All channels of the columns follow each other.
  Value first = b.add(offset, b.mul(index, width * lanes));
  for (int64_t at = 0; at < width * lanes; at += line)
    b.prefetch(buffer.memory, b.add(first, at), isWrite);
}

void WindowLowering::prefetchNextRow(Value column, int64_t tile, Value index,
                                     Value channel) {
  std::optional<int64_t> bytes = KernelBuilder::known(
      b.mul(b.mul(in.sizes[spatial - 1], in.strides[spatial - 1]),
            getElementBytes(in)));
  if (spatial < 2 || channels < lanes ||
      (bytes && *bytes < tuning::cachedWindowBytes))
    return;
  size_t dim = spatial - 2;
  int64_t stride = op.getStrides()[dim], across = lastOf(op.getStrides());
  int64_t reach = (op.getKernel()[dim] - 1) * op.getDilations()[dim];
  int64_t width = (tile - 1) * across +
                  (lastOf(op.getKernel()) - 1) * lastOf(op.getDilations()) + 1;
  Value corner =
      b.mul(b.sub(b.mul(column, across), b.index(op.getPads()[spatial - 1])),
            in.strides[spatial]);
  for (int64_t next = 1; next <= std::min(stride, reach + 1); ++next) {
    Value row = b.add(rowTaps[dim].start, reach + next);
    Value source = rowSource;
    for (size_t d = 0; d < dim; ++d)
      source = b.add(source, b.mul(rowTaps[d].start, in.strides[d + 1]));
    Value offset = b.add(source, b.mul(row, in.strides[dim + 1]));
    prefetchColumns(in, b.add(offset, corner), width, index, channel,
                    /*isWrite=*/false);
  }
  // Floats are written as fast without.
  if (out.element.isF32())
    return;
  Value target = b.add(b.add(rowTarget, out.strides[spatial - 1]),
                       b.mul(column, out.strides[spatial]));
  prefetchColumns(out, target, tile, index, channel, /*isWrite=*/true);
}

Value WindowLowering::load(const FlatBuffer &buffer, Value offset,
                           int64_t valid) {
  return b.loadVector(buffer.memory, offset, lanes, valid, buffer.element);
}

SmallVector<Value> WindowLowering::loadElement(ArrayRef<TapRow> rows,
                                               Value offset, int64_t valid) {
  SmallVector<Value> loaded;
  for (const TapRow &row : rows)
    loaded.push_back(load(in, b.add(row.source, offset), valid));
  if (rows.size() == 2)
    return math->widenPair(loaded[0], loaded[1]);
  return math->widen(loaded[0]);
}

SmallVector<Value> WindowLowering::loadWeights(ArrayRef<TapRow> rows, Value tap,
                                               Value channel, int64_t valid) {
  if (!weights)
    return {};
  SmallVector<Value> loaded;
  for (const TapRow &row : rows) {
    Value offset = b.mul(b.add(row.weight, tap), channels);
    loaded.push_back(load(*weights, b.add(offset, channel), valid));
  }
  if (rows.size() == 2)
    return math->widenWeightPair(loaded[0], loaded[1]);
  return math->widenWeight(loaded[0]);
}

/// What rows of taps add to a tile's accumulators: every input column is loaded
/// once, from the left, and goes to all output columns that it is a tap of.
SmallVector<Value> WindowLowering::addRows(
    ArrayRef<TapRow> rows, Value corner, Value channel, int64_t valid,
    ArrayRef<std::pair<int64_t, int64_t>> taps, SmallVector<Value> sums) {
  int64_t stride = lastOf(op.getStrides());
  int64_t dilation = lastOf(op.getDilations());
  int64_t tile = static_cast<int64_t>(taps.size());
  size_t each = sums.size() / taps.size();
  llvm::SmallDenseMap<int64_t, SmallVector<Value>> factors;
  int64_t end = (tile - 1) * stride + (lastOf(op.getKernel()) - 1) * dilation;
  for (int64_t x = 0; x <= end; ++x) {
    SmallVector<Value> element;
    for (int64_t i = 0; i < tile; ++i) {
      int64_t offset = x - i * stride, tap = offset / dilation;
      if (offset < 0 || offset % dilation != 0 || tap < taps[i].first ||
          tap >= taps[i].second)
        continue;
      if (element.empty()) {
        Value at = b.mul(b.add(corner, x), in.strides[spatial]);
        element = loadElement(rows, b.add(at, channel), valid);
      }
      if (!factors.contains(tap))
        factors[tap] = loadWeights(rows, b.index(tap), channel, valid);
      SmallVector<Value> sum = math->step(ArrayRef(sums).slice(i * each, each),
                                          element, factors[tap]);
      llvm::copy(sum, sums.begin() + i * each);
    }
  }
  return sums;
}

void WindowLowering::emitTile(Value column,
                              ArrayRef<std::pair<int64_t, int64_t>> taps) {
  forRows([&] { emitTileRow(column, taps); });
}

void WindowLowering::emitTileRow(Value column,
                                 ArrayRef<std::pair<int64_t, int64_t>> taps) {
  Value corner = b.sub(b.mul(column, lastOf(op.getStrides())),
                       b.index(op.getPads()[spatial - 1]));
  auto emitVector = [&](Value index, Value channel, int64_t valid) {
    SmallVector<Value> sums;
    for (size_t i = 0; i < taps.size(); ++i)
      sums.append(math->start());
    size_t each = sums.size() / taps.size();
    prefetchNextRow(column, taps.size(), index, channel);
    sums = forTapRows(0, {rowSource, b.index(0)}, sums,
                      [&](ArrayRef<TapRow> rows, ValueRange carried) {
                        return addRows(rows, corner, channel, valid, taps,
                                       SmallVector<Value>(carried));
                      });
    SmallVector<Value> joined;
    for (size_t i = 0; i < taps.size(); ++i)
      joined.push_back(math->join(ArrayRef(sums).slice(i * each, each)));
    finishTile(column, channel, valid, joined);
  };
  forChannels(emitVector);
}

/// An epilogue operand's elements for one vector of the output.
Value WindowLowering::loadOperand(size_t index, Value column, Value channel,
                                  int64_t valid) {
  AffineMap map = op.getMaps()[index];
  const FlatBuffer &operand = epilogueOperands[index];
  Value offset = b.index(0);
  bool hasChannels = false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    size_t position = dim.getPosition();
    bool isChannel = position == spatial + 1;
    hasChannels |= isChannel;
    Value at = isChannel             ? channel
               : position == spatial ? column
                                     : rowIndices[position];
    offset = b.add(offset, b.mul(at, operand.strides[i]));
  }
  if (hasChannels)
    return load(operand, offset, valid);
  return b.broadcast(b.loadScalar(operand.memory, offset), lanes);
}

/// With AVX2, as many columns as fill a vector with 8-bit results are narrowed
/// together.
void WindowLowering::finishTile(Value column, Value channel, int64_t valid,
                                ArrayRef<Value> sums) {
  size_t together =
      rounded && rounded->hasAVX2 && !rounded->hasAVX512 && lanes == 8 ? 4 : 1;
  for (size_t done = 0; done < sums.size(); done += together) {
    while (together > sums.size() - done)
      together /= 2;
    finish(b.add(column, done), channel, valid, sums.slice(done, together));
  }
}

/// Columns from `column` on.
void WindowLowering::finish(Value column, Value channel, int64_t valid,
                            ArrayRef<Value> sums) {
  int64_t count = sums.size();
  SmallVector<Value> arguments = {b.concat(sums)};
  for (size_t i = 0; i < epilogueOperands.size(); ++i) {
    SmallVector<Value> parts;
    for (int64_t j = 0; j < count; ++j)
      parts.push_back(loadOperand(i, b.add(column, j), channel, valid));
    arguments.push_back(b.concat(parts));
  }
  Value results = b.repeatOnVectors(op.getEpilogue(), arguments, count * lanes,
                                    rounded ? rounded->value : Value());
  if (rounded)
    results = emitRounded(b, *rounded, results);
  for (int64_t j = 0; j < count; ++j) {
    Value result = count == 1
                       ? results
                       : vector::ExtractStridedSliceOp::create(
                             b, results, ArrayRef<int64_t>{j * lanes},
                             ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    store(result, b.add(column, j), channel, valid);
  }
}

void WindowLowering::store(Value result, Value column, Value channel,
                           int64_t valid) {
  Value offset = b.add(rowTarget, b.mul(column, out.strides[spatial]));
  b.storeVector(result, out.memory, b.add(offset, channel), valid);
}

void kernels::lowerWindow(onnxq::WindowOp op, const TargetInfo &target,
                          int64_t threads) {
  if (canSlide(op, target))
    return lowerSlidingWindow(op, target, threads);
  WindowLowering(op, target, threads).lower();
}
