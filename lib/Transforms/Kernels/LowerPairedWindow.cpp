// Depthwise convolutions of bytes on x86: two rows of taps at a time.
//
// The elements of two rows alternate, in 16 bits, and one instruction adds the
// products of both; a row that is left alternates with whatever, times zero.
// Elements are multiplied as they are: what the zero point adds is part of what
// the sums begin with, and taps outside read the zero point, those above and
// below from a row of it.

#include "DotSteps.h"
#include "LowerWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Columns of a tile with AVX-512, and products of a row of taps.
static constexpr int64_t mostColumns = 8, mostProducts = 128;

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
  /// 16 channels: two vectors with AVX2, one with AVX-512.
  using Parts = SmallVector<Value, 2>;

  /// A row of the input that taps read, and the step between its columns.
  struct SourceRow {
    Value memory, place, step;
    /// Null if it always is.
    Value isInside;
  };
  void makeBorder();
  SourceRow getSourceRow(int64_t tap);
  Value loadRow(int64_t tap, Value column, Value channel);
  Parts loadElement(int64_t pair, Value column, Value channel);
  Parts getOutside();
  Parts loadPayload(Value place);
  Parts addProducts(Parts sums, Parts element, Parts weight);
  /// 16 sums.
  Parts loadSums(Value place);
  using Taps = std::pair<int64_t, int64_t>;
  void addPair(int64_t pair, Value corner, Value place, Value channel,
               ArrayRef<Taps> taps, MutableArrayRef<Parts> sums);
  void addPairInside(int64_t pair, Value corner, Value place, Value channel,
                     ArrayRef<Taps> taps, MutableArrayRef<Parts> sums);
  void emitBlock(Value column, Value corner, Value block, Value channel,
                 ArrayRef<Taps> taps);

  void finishColumns(Value column, Value channel, ArrayRef<Value> sums);

  /// Channels of a vector of sums.
  int64_t width;
  bool hasVNNI;
  /// Columns that are narrowed together. With AVX2 two of them keep so many
  /// vectors of sums waiting that it costs more than it saves.
  int64_t joinedColumns;
  Value zero;
  /// A row of the zero point, if rows of taps lie outside.
  Value border;
  SmallVector<SourceRow> rows;
};
} // namespace

PairedWindowLowering::PairedWindowLowering(onnxq::WindowOp op,
                                           const TargetInfo &target,
                                           int64_t threads)
    : WindowLowering(op, target, threads),
      width(target.hasAVX512 ? packed : packed / 2),
      hasVNNI(target.hasAVX512VNNI),
      joinedColumns(rounded && target.hasAVX512 ? target.vectorBytes / packed
                                                : 1) {
  // Sums of one vector leave room for more columns.
  if (width == packed)
    columns = std::clamp<int64_t>(mostProducts / lastOf(op.getKernel()), 1,
                                  mostColumns);
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
  b.loop(b.index(bytes / 32), {}, [&](Value i, ValueRange) {
    b.storeVector(zeros, border, b.mul(i, 32), 32);
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Where the elements of tap `tap` of the first dimension are.
PairedWindowLowering::SourceRow
PairedWindowLowering::getSourceRow(int64_t tap) {
  Value position = b.add(b.mul(rowPlaces[1], op.getStrides()[0]),
                         tap * op.getDilations()[0]);
  position = b.sub(position, b.index(op.getPads()[0]));
  Value place = b.add(rowSource, b.mul(position, in.strides[1]));
  Value step = in.strides[2];
  if (!border)
    return {in.memory, place, step, {}};
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                         in.sizes[1]);
  auto open = MemRefType::get(
      ShapedType::kDynamic, in.element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
  Value memory = b.select(isInside, b.castBuffer(in.memory, open),
                          b.castBuffer(border, open));
  if (KernelBuilder::known(step) != channels)
    step = b.select(isInside, step, b.index(channels));
  return {memory, b.select(isInside, place, b.index(0)), step, isInside};
}

void PairedWindowLowering::startRow() {
  rows.clear();
  for (int64_t tap = 0; tap < op.getKernel()[0]; ++tap)
    rows.push_back(getSourceRow(tap));
}

Value PairedWindowLowering::loadRow(int64_t tap, Value column, Value channel) {
  const SourceRow &row = rows[tap];
  Value place = b.add(b.add(row.place, channel), b.mul(column, row.step));
  return b.loadVector(row.memory, place, packed, packed, in.element);
}

/// The elements of two rows in turn, or of the last one.
PairedWindowLowering::Parts
PairedWindowLowering::loadElement(int64_t pair, Value column, Value channel) {
  auto widen = [&](Value bytes, Type element) -> Value {
    auto type = cast<VectorType>(bytes.getType()).clone(element);
    if (op.getInputUnsigned())
      return arith::ExtUIOp::create(b, type, bytes);
    return arith::ExtSIOp::create(b, type, bytes);
  };
  Parts parts;
  Value first = loadRow(2 * pair, column, channel);
  if (2 * pair + 1 < op.getKernel()[0]) {
    Value second = loadRow(2 * pair + 1, column, channel);
    for (int64_t at = 0; at < packed; at += width) {
      SmallVector<int64_t> order;
      for (int64_t i = at; i < at + width; ++i)
        order.append({i, i + packed});
      Value bytes = vector::ShuffleOp::create(b, first, second, order);
      parts.push_back(widen(bytes, b.getI16Type()));
    }
    return parts;
  }
  for (int64_t at = 0; at < packed; at += width) {
    Value bytes = first;
    if (width < packed)
      bytes = vector::ExtractStridedSliceOp::create(
          b, first, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{width},
          ArrayRef<int64_t>{1});
    parts.push_back(
        vector::BitCastOp::create(b, VectorType::get(2 * width, b.getI16Type()),
                                  widen(bytes, b.getI32Type())));
  }
  return parts;
}

/// An element beside the input.
PairedWindowLowering::Parts PairedWindowLowering::getOutside() {
  Value wide = op.getInputUnsigned()
                   ? Value(arith::ExtUIOp::create(b, b.getI16Type(), zero))
                   : Value(arith::ExtSIOp::create(b, b.getI16Type(), zero));
  return Parts(packed / width, b.broadcast(wide, 2 * width));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// 32 numbers of the packed weights.
PairedWindowLowering::Parts PairedWindowLowering::loadPayload(Value place) {
  Parts parts;
  for (int64_t at = 0; at < packed; at += width)
    parts.push_back(b.loadVector(weights->memory, b.add(place, 2 * at),
                                 2 * width, 2 * width, weights->element));
  return parts;
}

PairedWindowLowering::Parts PairedWindowLowering::loadSums(Value place) {
  Parts parts = loadPayload(place);
  for (Value &part : parts)
    part = vector::BitCastOp::create(b, VectorType::get(width, b.getI32Type()),
                                     part);
  return parts;
}

PairedWindowLowering::Parts
PairedWindowLowering::addProducts(Parts sums, Parts element, Parts weight) {
  for (auto [sum, x, w] : llvm::zip(sums, element, weight)) {
    Type type = sum.getType();
    if (hasVNNI) {
      sum = callIntrinsic(b, b.getLoc(), "llvm.x86.avx512.vpdpwssd.512", type,
                          {sum, x, w});
      continue;
    }
    StringRef name = width == packed ? "llvm.x86.avx512.pmaddw.d.512"
                                     : "llvm.x86.avx2.pmadd.wd";
    Value products = callIntrinsic(b, b.getLoc(), name, type, {x, w});
    sum = arith::AddIOp::create(b, sum, products);
  }
  return sums;
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
    b.loop(b.index(blockVectors), {}, [&](Value i, ValueRange) {
      Value block = b.add(firstVector, i);
      if (blocks % blockVectors != 0)
        block = b.min(block, b.index(blocks - 1));
      Value channel = b.mul(block, packed);
      if (channels % packed != 0)
        channel = b.min(channel, b.index(channels - packed));
      emitBlock(column, corner, b.mul(block, op.getPackedBlock()), channel,
                taps);
      return SmallVector<Value>();
    });
  });
}

/// What two rows of taps add to a tile's sums: every input column is loaded
/// once, from the left, and goes to all output columns that it is a tap of.
void PairedWindowLowering::addPair(int64_t pair, Value corner, Value place,
                                   Value channel, ArrayRef<Taps> taps,
                                   MutableArrayRef<Parts> sums) {
  int64_t stride = lastOf(op.getStrides());
  int64_t dilation = lastOf(op.getDilations());
  int64_t length = lastOf(op.getKernel());
  int64_t tile = static_cast<int64_t>(taps.size());
  bool hasZero = KernelBuilder::known(zero) != 0;
  int64_t end = (tile - 1) * stride + (length - 1) * dilation;
  for (int64_t x = 0; x <= end; ++x) {
    std::optional<Parts> element;
    for (int64_t i = 0; i < tile; ++i) {
      int64_t offset = x - i * stride, tap = offset / dilation;
      if (offset < 0 || offset % dilation != 0 || tap >= length)
        continue;
      bool isInside = tap >= taps[i].first && tap < taps[i].second;
      if (!isInside && !hasZero)
        continue;
      if (!element)
        element = isInside ? loadElement(pair, b.add(corner, x), channel)
                           : getOutside();
      Parts weight = loadPayload(b.add(place, 2 * packed * tap));
      sums[i] = addProducts(sums[i], *element, weight);
    }
  }
}

/// The same if one of the rows is inside; else what the zero point takes away
/// for them is given back.
void PairedWindowLowering::addPairInside(int64_t pair, Value corner,
                                         Value place, Value channel,
                                         ArrayRef<Taps> taps,
                                         MutableArrayRef<Parts> sums) {
  Value isInside = rows[2 * pair].isInside;
  if (2 * pair + 1 < op.getKernel()[0])
    isInside = arith::OrIOp::create(b, isInside, rows[2 * pair + 1].isInside);
  size_t each = sums[0].size();
  SmallVector<Type> types(each * sums.size(), sums[0][0].getType());
  auto branch = scf::IfOp::create(b, types, isInside, /*withElseRegion=*/true);
  auto yield = [&](ArrayRef<Parts> values) {
    SmallVector<Value> all;
    for (const Parts &parts : values)
      all.append(parts.begin(), parts.end());
    scf::YieldOp::create(b, all);
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Parts> added(sums.begin(), sums.end());
  addPair(pair, corner, place, channel, taps, added);
  yield(added);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Parts> kept(sums.begin(), sums.end());
  if (KernelBuilder::known(zero) != 0) {
    Parts back = loadSums(b.add(place, 2 * packed * lastOf(op.getKernel())));
    for (Parts &parts : kept)
      for (auto [part, more] : llvm::zip(parts, back))
        part = arith::AddIOp::create(b, part, more);
  }
  yield(kept);
  for (auto [i, parts] : llvm::enumerate(sums))
    for (auto [j, part] : llvm::enumerate(parts))
      part = branch.getResult(each * i + j);
}

/// 16 channels of a tile.
void PairedWindowLowering::emitBlock(Value column, Value corner, Value block,
                                     Value channel, ArrayRef<Taps> taps) {
  SmallVector<Parts> sums(taps.size(), loadSums(block));
  for (int64_t pair = 0; pair < op.getPackedPairs(); ++pair) {
    Value place = b.add(block, 2 * packed + pair * op.getPackedPair());
    if (op.leavesOutRows())
      addPairInside(pair, corner, place, channel, taps, sums);
    else
      addPair(pair, corner, place, channel, taps, sums);
  }
  SmallVector<Value> whole;
  for (const Parts &parts : sums)
    whole.push_back(b.concat(parts));
  finishColumns(column, channel, whole);
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
      finish(first, channel, packed, joined.front());
      continue;
    }
    SmallVector<Value> arguments = {b.concat(joined)};
    for (size_t extra = 0; extra < extras.size(); ++extra) {
      SmallVector<Value> parts;
      for (int64_t i = 0; i < together; ++i)
        parts.push_back(loadExtra(extra, b.add(first, i), channel, packed));
      arguments.push_back(b.concat(parts));
    }
    Value bytes =
        emitRounded(b, *rounded,
                    b.repeatOnVectors(op.getEpilogue(), arguments,
                                      together * packed, rounded->number));
    for (int64_t i = 0; i < together; ++i) {
      Value part = vector::ExtractStridedSliceOp::create(
          b, bytes, ArrayRef<int64_t>{i * packed}, ArrayRef<int64_t>{packed},
          ArrayRef<int64_t>{1});
      Value place =
          b.add(b.mul(b.add(first, i), out.strides[spatial]), channel);
      b.storeVector(part, out.memory, b.add(rowTarget, place), packed);
    }
  }
}

void kernels::lowerPairedWindow(onnxq::WindowOp op, const TargetInfo &target,
                                int64_t threads) {
  PairedWindowLowering(op, target, threads).lower();
}
