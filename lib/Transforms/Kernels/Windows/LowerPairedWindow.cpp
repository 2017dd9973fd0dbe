// Depthwise int8 convolutions on x86, two rows of taps at a time:
//
//   vpmaddwd   acc[c] += in[y, c] * w[0, c] + in[y + 1, c] * w[1, c]
//
// Tiles are columns of one row by 16 channels (32 with AVX-512).
//
// The elements of two rows alternate, in 16 bits, and one instruction adds the
// products of both. A row that is left takes two columns at a time, with which
// a window may begin or end, times zero then. Elements are multiplied as they
// are: what the zero point adds is part of what the sums begin with, and taps
// outside read the zero point, those above and below from a row of it.
//
// With AVX2 8 of 16 channels are summed at a time, in the order in which
// unpacking leaves words that were widened as they were loaded: moving anything
// between halves of a register takes longer than all that. Packing bytes at the
// end undoes this order.

#include "../Tuning.h"
#include "LowerWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class PairedWindowLowering : public WindowLowering {
public:
  PairedWindowLowering(onnxq::WindowOp op, const TargetInfo &target,
                       int64_t threads);

protected:
  void startRow() override;
  int64_t getBlockVectors() override;
  void emitColumns() override;
  void emitTile(Value column,
                ArrayRef<std::pair<int64_t, int64_t>> taps) override;

private:
  static constexpr int64_t packed = onnxq::WindowOp::packedChannels;
  /// A row of the input that taps read, and the step between its columns.
  struct SourceRow {
    Value memory, offset, step;
    /// Null if it always is.
    Value isInside;
  };
  void makeBorder();
  SourceRow getSourceRow(int64_t tap);
  using Taps = std::pair<int64_t, int64_t>;
  /// The tile at hand, and which vector of its 16 channels.
  struct Tile {
    Value corner, channel;
    ArrayRef<Taps> taps;
    int64_t part;
  };
  Value widen(Value bytes);
  Value loadRow(int64_t tap, int64_t column, const Tile &tile);
  Value getOutside();
  Value alternate(Value first, Value second, int64_t part);
  Value loadPayload(Value offset, int64_t part);
  Value loadSums(Value offset, int64_t part);
  Value addProducts(Value sums, Value element, Value weight);
  enum class Where { Unused, Outside, Inside };
  Where find(int64_t column, ArrayRef<Taps> taps);
  void addRows(int64_t pair, Value offset, const Tile &tile,
               MutableArrayRef<Value> sums);
  void addColumns(Value offset, const Tile &tile, MutableArrayRef<Value> sums);
  void addPair(int64_t pair, Value offset, const Tile &tile,
               MutableArrayRef<Value> sums);
  void addPairInside(int64_t pair, Value offset, const Tile &tile,
                     MutableArrayRef<Value> sums);
  void emitBlock(Value column, Value block, Tile tile);

  Value inOrder(Value vector);
  void finishColumn(Value column, Value channel, Value sums);
  void finishColumns(Value column, Value channel, ArrayRef<Value> sums);

  /// Channels of a vector of sums.
  int64_t width;
  bool hasVNNI;
  /// The channels of a block as they are summed.
  SmallVector<int64_t> order;
  /// Columns that are narrowed together. With AVX2 two of them keep so many
  /// vectors of sums waiting that it costs more than it saves.
  int64_t joinedColumns;
  Value zero;
  /// A row of the zero point, if rows of taps lie outside.
  Value border;
  SmallVector<SourceRow> rows;
};
} // namespace

SmallVector<int64_t> kernels::getPackedOrder(const TargetInfo &target) {
  constexpr int64_t count = onnxq::WindowOp::packedChannels;
  SmallVector<int64_t> order(count);
  // With AVX2 fours of both halves of 16 words in turn.
  for (auto [i, channel] : llvm::enumerate(order))
    channel = target.hasAVX512 ? i : i / 4 % 2 * 8 + i / 8 * 4 + i % 4;
  return order;
}

PairedWindowLowering::PairedWindowLowering(onnxq::WindowOp op,
                                           const TargetInfo &target,
                                           int64_t threads)
    : WindowLowering(op, target, threads),
      width(target.hasAVX512 ? packed : packed / 2),
      hasVNNI(target.hasAVX512VNNI), order(getPackedOrder(target)),
      joinedColumns(rounded && target.hasAVX512 ? target.vectorBytes / packed
                                                : 1) {
  // Sums of one vector leave room for more columns.
  if (width == packed)
    columns =
        std::clamp<int64_t>(tuning::mostWindowProducts / lastOf(op.getKernel()),
                            1, tuning::mostWindowColumns);
  zero = op.getPad();
  if (!zero)
    zero = arith::ConstantIntOp::create(b, 0, /*width=*/8);
  makeBorder();
}

/// All channels of a row are one block, but threads that have no rows of their
/// own take channels.
int64_t PairedWindowLowering::getBlockVectors() {
  int64_t vectors = llvm::divideCeil(channels, packed);
  std::optional<int64_t> rows = KernelBuilder::known(out.sizes[1]);
  return !rows || *rows > rowsOfBlock ? vectors
                                      : llvm::divideCeil(vectors, threads);
}

void PairedWindowLowering::makeBorder() {
  if (op.getPads()[0] == 0 && op.getPads()[2] == 0)
    return;
  int64_t width = *KernelBuilder::known(in.sizes[2]);
  int64_t bytes = llvm::alignTo(width * channels, 32);
  auto type = MemRefType::get(bytes, b.getI8Type());
  border = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  Value zeros = b.broadcast(zero, 32);
  b.repeat(b.index(bytes / 32),
           [&](Value i) { b.storeVector(zeros, border, b.mul(i, 32), 32); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Where the elements of tap `tap` of the first dimension are.
PairedWindowLowering::SourceRow
PairedWindowLowering::getSourceRow(int64_t tap) {
  Value position = b.add(b.mul(rowIndices[1], op.getStrides()[0]),
                         tap * op.getDilations()[0]);
  position = b.sub(position, b.index(op.getPads()[0]));
  Value offset = b.add(rowSource, b.mul(position, in.strides[1]));
  Value step = in.strides[2];
  if (!border)
    return {in.memory, offset, step, {}};
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                         in.sizes[1]);
  auto open = MemRefType::get(
      ShapedType::kDynamic, in.element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
  Value memory = b.select(isInside, b.castBuffer(in.memory, open),
                          b.castBuffer(border, open));
  if (KernelBuilder::known(step) != channels)
    step = b.select(isInside, step, b.index(channels));
  return {memory, b.select(isInside, offset, b.index(0)), step, isInside};
}

void PairedWindowLowering::startRow() {
  rows.clear();
  for (int64_t tap = 0; tap < op.getKernel()[0]; ++tap)
    rows.push_back(getSourceRow(tap));
}

Value PairedWindowLowering::widen(Value bytes) {
  Type type = b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(bytes.getType()))
    type = vector.clone(type);
  if (op.getInputUnsigned())
    return arith::ExtUIOp::create(b, type, bytes);
  return arith::ExtSIOp::create(b, type, bytes);
}

/// Elements of a row: bytes, or words with AVX2.
Value PairedWindowLowering::loadRow(int64_t tap, int64_t column,
                                    const Tile &tile) {
  const SourceRow &row = rows[tap];
  Value offset = b.add(b.add(row.offset, tile.channel),
                       b.mul(b.add(tile.corner, column), row.step));
  Value bytes = b.loadVector(row.memory, offset, packed, packed, in.element);
  return width == packed ? bytes : widen(bytes);
}

/// Elements beside the input.
Value PairedWindowLowering::getOutside() {
  return b.broadcast(width == packed ? zero : widen(zero), packed);
}

/// Two elements of each channel of a part in turn.
Value PairedWindowLowering::alternate(Value first, Value second, int64_t part) {
  SmallVector<int64_t> pairs;
  for (int64_t channel : ArrayRef(order).slice(part * width, width))
    pairs.append({channel, channel + packed});
  Value both = vector::ShuffleOp::create(b, first, second, pairs);
  return width == packed ? widen(both) : both;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Numbers of the packed weights, two per channel of a part.
Value PairedWindowLowering::loadPayload(Value offset, int64_t part) {
  return b.loadVector(weights->memory, b.add(offset, 2 * part * width),
                      2 * width, 2 * width, weights->element);
}

Value PairedWindowLowering::loadSums(Value offset, int64_t part) {
  auto type = VectorType::get(width, b.getI32Type());
  return vector::BitCastOp::create(b, type, loadPayload(offset, part));
}

Value PairedWindowLowering::addProducts(Value sums, Value element,
                                        Value weight) {
  Type type = sums.getType();
  if (hasVNNI)
    return callIntrinsic(b, b.getLoc(), "llvm.x86.avx512.vpdpwssd.512", type,
                         {sums, element, weight});
  StringRef name = width == packed ? "llvm.x86.avx512.pmaddw.d.512"
                                   : "llvm.x86.avx2.pmadd.wd";
  Value products = callIntrinsic(b, b.getLoc(), name, type, {element, weight});
  return arith::AddIOp::create(b, sums, products);
}

void PairedWindowLowering::emitColumns() {
  emitKnownColumns(*KernelBuilder::known(in.sizes[2]),
                   *KernelBuilder::known(out.sizes[2]));
}

void PairedWindowLowering::emitTile(
    Value column, ArrayRef<std::pair<int64_t, int64_t>> taps) {
  Value corner =
      b.sub(b.mul(column, lastOf(op.getStrides())), b.index(op.getPads()[1]));
  int64_t blocks = llvm::divideCeil(channels, packed);
  forRows([&] {
    b.repeat(b.index(blockVectors), [&](Value i) {
      Value block = b.add(firstVector, i);
      if (blocks % blockVectors != 0)
        block = b.min(block, b.index(blocks - 1));
      Value channel = b.mul(block, packed);
      if (channels % packed != 0)
        channel = b.min(channel, b.index(channels - packed));
      emitBlock(column, b.mul(block, op.getPackedBlock()),
                {corner, channel, taps, 0});
    });
  });
}

/// What two rows of taps add to a tile's sums: every input column is loaded
/// once, from the left, and goes to all output columns that it is a tap of.
void PairedWindowLowering::addRows(int64_t pair, Value offset, const Tile &tile,
                                   MutableArrayRef<Value> sums) {
  int64_t stride = lastOf(op.getStrides());
  int64_t dilation = lastOf(op.getDilations());
  int64_t length = lastOf(op.getKernel());
  int64_t count = static_cast<int64_t>(sums.size());
  bool hasZero = KernelBuilder::known(zero) != 0;
  bool isLeft = 2 * pair + 1 == op.getKernel()[0];
  int64_t end = (count - 1) * stride + (length - 1) * dilation;
  for (int64_t x = 0; x <= end; ++x) {
    Value element;
    for (int64_t i = 0; i < count; ++i) {
      int64_t distance = x - i * stride, tap = distance / dilation;
      if (distance < 0 || distance % dilation != 0 || tap >= length)
        continue;
      bool isInside = tap >= tile.taps[i].first && tap < tile.taps[i].second;
      if (!isInside && !hasZero)
        continue;
      if (!element) {
        Value first = isInside ? loadRow(2 * pair, x, tile) : getOutside();
        // A row that is left alternates with itself, times zero.
        Value second =
            isInside && !isLeft ? loadRow(2 * pair + 1, x, tile) : first;
        element = alternate(first, second, tile.part);
      }
      Value weight = loadPayload(b.add(offset, 2 * packed * tap), tile.part);
      sums[i] = addProducts(sums[i], element, weight);
    }
  }
}

/// Whether some tap reads a column of a tile, and whether that lies inside.
PairedWindowLowering::Where PairedWindowLowering::find(int64_t column,
                                                       ArrayRef<Taps> taps) {
  for (auto [i, range] : llvm::enumerate(taps)) {
    int64_t tap = column - static_cast<int64_t>(i) * lastOf(op.getStrides());
    if (tap >= 0 && tap < lastOf(op.getKernel()))
      return tap >= range.first && tap < range.second ? Where::Inside
                                                      : Where::Outside;
  }
  return Where::Unused;
}

/// What the last row of taps adds, two columns of it at a time: those of even
/// numbers with the ones behind them.
void PairedWindowLowering::addColumns(Value offset, const Tile &tile,
                                      MutableArrayRef<Value> sums) {
  int64_t stride = lastOf(op.getStrides());
  int64_t row = op.getKernel()[0] - 1;
  int64_t count = static_cast<int64_t>(sums.size());
  bool hasZero = KernelBuilder::known(zero) != 0;
  int64_t end = (count - 1) * stride + lastOf(op.getKernel());
  for (int64_t x = 0; x < end; x += 2) {
    std::array<Where, 2> where = {find(x, tile.taps), find(x + 1, tile.taps)};
    if (!llvm::is_contained(where, Where::Inside) && !hasZero)
      continue;
    std::array<Value, 2> sources;
    for (auto [i, source] : llvm::enumerate(sources))
      if (where[i] != Where::Unused)
        source = where[i] == Where::Inside ? loadRow(row, x + i, tile)
                                           : getOutside();
    // One that no tap reads is multiplied by zero, whatever it is.
    if (!sources[0] && !sources[1])
      continue;
    Value element = alternate(sources[0] ? sources[0] : sources[1],
                              sources[1] ? sources[1] : sources[0], tile.part);
    for (int64_t i = 0; i < count; ++i) {
      int64_t before = i * stride % 2, step = (x - i * stride + before) / 2;
      if (x < i * stride - before || step >= op.getColumnSteps(before))
        continue;
      int64_t index = step + (before ? op.getColumnSteps(0) : 0);
      Value weight = loadPayload(b.add(offset, 2 * packed * index), tile.part);
      sums[i] = addProducts(sums[i], element, weight);
    }
  }
}

void PairedWindowLowering::addPair(int64_t pair, Value offset, const Tile &tile,
                                   MutableArrayRef<Value> sums) {
  if (2 * pair + 1 == op.getKernel()[0] && op.pairsColumns())
    addColumns(offset, tile, sums);
  else
    addRows(pair, offset, tile, sums);
}

/// The same if one of the rows is inside; else what the zero point takes away
/// for them is given back.
void PairedWindowLowering::addPairInside(int64_t pair, Value offset,
                                         const Tile &tile,
                                         MutableArrayRef<Value> sums) {
  Value isInside = rows[2 * pair].isInside;
  if (2 * pair + 1 < op.getKernel()[0])
    isInside = arith::OrIOp::create(b, isInside, rows[2 * pair + 1].isInside);
  SmallVector<Type> types(sums.size(), sums[0].getType());
  auto branch = scf::IfOp::create(b, types, isInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> added(sums);
  addPair(pair, offset, tile, added);
  scf::YieldOp::create(b, added);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> kept(sums);
  if (KernelBuilder::known(zero) != 0) {
    int64_t steps = op.getPackedSteps(pair) - 1;
    Value back = loadSums(b.add(offset, 2 * packed * steps), tile.part);
    for (Value &sum : kept)
      sum = arith::AddIOp::create(b, sum, back);
  }
  scf::YieldOp::create(b, kept);
  llvm::copy(branch.getResults(), sums.begin());
}

/// 16 channels of a tile.
void PairedWindowLowering::emitBlock(Value column, Value block, Tile tile) {
  SmallVector<SmallVector<Value>> parts;
  for (tile.part = 0; tile.part < packed / width; ++tile.part) {
    SmallVector<Value> sums(tile.taps.size(), loadSums(block, tile.part));
    for (int64_t pair = 0; pair < op.getPackedPairs(); ++pair) {
      Value offset = b.add(block, 2 * packed + pair * op.getPackedPair());
      if (op.leavesOutRows())
        addPairInside(pair, offset, tile, sums);
      else
        addPair(pair, offset, tile, sums);
    }
    parts.push_back(sums);
  }
  SmallVector<Value> whole;
  for (size_t i = 0; i < tile.taps.size(); ++i) {
    SmallVector<Value> vectors;
    for (const SmallVector<Value> &sums : parts)
      vectors.push_back(sums[i]);
    whole.push_back(b.concat(vectors));
  }
  finishColumns(column, tile.channel, whole);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// 16 channels in the order in which they are summed.
Value PairedWindowLowering::inOrder(Value vector) {
  if (width == packed)
    return vector;
  return vector::ShuffleOp::create(b, vector, vector, order);
}

void PairedWindowLowering::finishColumn(Value column, Value channel,
                                        Value sums) {
  SmallVector<Value> arguments = {sums};
  for (size_t i = 0; i < epilogueOperands.size(); ++i)
    arguments.push_back(inOrder(loadOperand(i, column, channel, packed)));
  Value result = b.repeatOnVectors(op.getEpilogue(), arguments, packed,
                                   rounded ? rounded->value : Value());
  // The order is its own inverse.
  result = rounded
               ? emitRounded(b, *rounded, result, /*isInFours=*/width < packed)
               : inOrder(result);
  Value offset =
      b.add(b.add(rowTarget, b.mul(column, out.strides[spatial])), channel);
  b.storeVector(result, out.memory, offset, packed);
}

/// Columns whose bytes fill a vector are narrowed together.
void PairedWindowLowering::finishColumns(Value column, Value channel,
                                         ArrayRef<Value> sums) {
  int64_t together = joinedColumns, done = 0;
  while (!sums.empty()) {
    while (together > static_cast<int64_t>(sums.size()))
      together /= 2;
    Value first = b.add(column, done);
    done += together;
    ArrayRef<Value> joined = sums.take_front(together);
    sums = sums.drop_front(together);
    if (together == 1) {
      finishColumn(first, channel, joined.front());
      continue;
    }
    SmallVector<Value> arguments = {b.concat(joined)};
    for (size_t operand = 0; operand < epilogueOperands.size(); ++operand) {
      SmallVector<Value> parts;
      for (int64_t i = 0; i < together; ++i)
        parts.push_back(loadOperand(operand, b.add(first, i), channel, packed));
      arguments.push_back(b.concat(parts));
    }
    Value bytes =
        emitRounded(b, *rounded,
                    b.repeatOnVectors(op.getEpilogue(), arguments,
                                      together * packed, rounded->value));
    for (int64_t i = 0; i < together; ++i) {
      Value part = vector::ExtractStridedSliceOp::create(
          b, bytes, ArrayRef<int64_t>{i * packed}, ArrayRef<int64_t>{packed},
          ArrayRef<int64_t>{1});
      Value offset =
          b.add(b.mul(b.add(first, i), out.strides[spatial]), channel);
      b.storeVector(part, out.memory, b.add(rowTarget, offset), packed);
    }
  }
}

void kernels::lowerPairedWindow(onnxq::WindowOp op, const TargetInfo &target,
                                int64_t threads) {
  PairedWindowLowering(op, target, threads).lower();
}
