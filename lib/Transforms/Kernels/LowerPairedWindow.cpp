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

namespace {
class PairedWindowLowering : public WindowLowering {
public:
  PairedWindowLowering(onnxq::WindowOp op, const TargetInfo &target);

protected:
  void startRow() override;
  /// All channels of a row are one block.
  int64_t getBlockVectors() override {
    return llvm::divideCeil(channels, lanes);
  }
  void emitColumns() override;
  void emitTile(Value column,
                ArrayRef<std::pair<int64_t, int64_t>> taps) override;

private:
  static constexpr int64_t half = onnxq::WindowOp::packedChannels / 2;
  using Halves = std::array<Value, 2>;

  /// A row of the input that taps read, and the step between its columns.
  struct SourceRow {
    Value memory, place, step;
    /// Null if it always is.
    Value isInside;
  };
  void makeBorder();
  SourceRow getSourceRow(int64_t tap);
  Value loadRow(int64_t tap, Value column, Value channel);
  Halves loadElement(int64_t pair, Value column, Value channel);
  Halves getOutside();
  Halves loadPayload(Value place);
  Halves addProducts(Halves sums, Halves element, Halves weight);
  /// 16 sums.
  Halves loadSums(Value place);
  using Taps = std::pair<int64_t, int64_t>;
  void addPair(int64_t pair, Value corner, Value place, Value channel,
               ArrayRef<Taps> taps, MutableArrayRef<Halves> sums);
  void addPairInside(int64_t pair, Value corner, Value place, Value channel,
                     ArrayRef<Taps> taps, MutableArrayRef<Halves> sums);
  void emitBlock(Value column, Value corner, Value block, Value channel,
                 ArrayRef<Taps> taps);

  Value zero;
  /// A row of the zero point, if rows of taps lie outside.
  Value border;
  SmallVector<SourceRow> rows;
};
} // namespace

PairedWindowLowering::PairedWindowLowering(onnxq::WindowOp op,
                                           const TargetInfo &target)
    : WindowLowering(op, target) {
  zero = op.getPad();
  if (!zero)
    zero = arith::ConstantIntOp::create(b, 0, /*width=*/8);
  makeBorder();
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
  return b.loadVector(row.memory, place, 2 * half, 2 * half, in.element);
}

/// The elements of two rows in turn, or of the last one.
PairedWindowLowering::Halves
PairedWindowLowering::loadElement(int64_t pair, Value column, Value channel) {
  auto widen = [&](Value bytes, Type element) -> Value {
    auto type = cast<VectorType>(bytes.getType()).clone(element);
    if (op.getInputUnsigned())
      return arith::ExtUIOp::create(b, type, bytes);
    return arith::ExtSIOp::create(b, type, bytes);
  };
  Halves halves;
  Value first = loadRow(2 * pair, column, channel);
  if (2 * pair + 1 < op.getKernel()[0]) {
    Value second = loadRow(2 * pair + 1, column, channel);
    for (int64_t h = 0; h < 2; ++h) {
      SmallVector<int64_t> order;
      for (int64_t i = h * half; i < (h + 1) * half; ++i)
        order.append({i, i + 2 * half});
      Value bytes = vector::ShuffleOp::create(b, first, second, order);
      halves[h] = widen(bytes, b.getI16Type());
    }
    return halves;
  }
  for (int64_t h = 0; h < 2; ++h) {
    Value bytes = vector::ExtractStridedSliceOp::create(
        b, first, ArrayRef<int64_t>{h * half}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    halves[h] =
        vector::BitCastOp::create(b, VectorType::get(2 * half, b.getI16Type()),
                                  widen(bytes, b.getI32Type()));
  }
  return halves;
}

/// An element beside the input.
PairedWindowLowering::Halves PairedWindowLowering::getOutside() {
  Value wide = op.getInputUnsigned()
                   ? Value(arith::ExtUIOp::create(b, b.getI16Type(), zero))
                   : Value(arith::ExtSIOp::create(b, b.getI16Type(), zero));
  Value all = b.broadcast(wide, 2 * half);
  return {all, all};
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// 32 numbers of the packed weights.
PairedWindowLowering::Halves PairedWindowLowering::loadPayload(Value place) {
  Halves halves;
  for (int64_t h = 0; h < 2; ++h)
    halves[h] = b.loadVector(weights->memory, b.add(place, h * 2 * half),
                             2 * half, 2 * half, weights->element);
  return halves;
}

PairedWindowLowering::Halves PairedWindowLowering::loadSums(Value place) {
  Halves halves = loadPayload(place);
  for (Value &half32 : halves)
    half32 = vector::BitCastOp::create(b, VectorType::get(half, b.getI32Type()),
                                       half32);
  return halves;
}

PairedWindowLowering::Halves
PairedWindowLowering::addProducts(Halves sums, Halves element, Halves weight) {
  for (int64_t h = 0; h < 2; ++h) {
    Value products = callIntrinsic(b, b.getLoc(), "llvm.x86.avx2.pmadd.wd",
                                   sums[h].getType(), {element[h], weight[h]});
    sums[h] = arith::AddIOp::create(b, sums[h], products);
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
  int64_t blocks = llvm::divideCeil(channels, 2 * half);
  forRows([&] {
    b.loop(b.index(blocks), {}, [&](Value i, ValueRange) {
      Value channel = b.mul(i, 2 * half);
      if (channels % (2 * half) != 0)
        channel = b.min(channel, b.index(channels - 2 * half));
      emitBlock(column, corner, b.mul(i, op.getPackedBlock()), channel, taps);
      return SmallVector<Value>();
    });
  });
}

/// What two rows of taps add to a tile's sums: every input column is loaded
/// once, from the left, and goes to all output columns that it is a tap of.
void PairedWindowLowering::addPair(int64_t pair, Value corner, Value place,
                                   Value channel, ArrayRef<Taps> taps,
                                   MutableArrayRef<Halves> sums) {
  int64_t stride = lastOf(op.getStrides());
  int64_t dilation = lastOf(op.getDilations());
  int64_t length = lastOf(op.getKernel());
  int64_t tile = static_cast<int64_t>(taps.size());
  bool hasZero = KernelBuilder::known(zero) != 0;
  int64_t end = (tile - 1) * stride + (length - 1) * dilation;
  for (int64_t x = 0; x <= end; ++x) {
    std::optional<Halves> element;
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
      Halves weight = loadPayload(b.add(place, 4 * half * tap));
      sums[i] = addProducts(sums[i], *element, weight);
    }
  }
}

/// The same if one of the rows is inside; else what the zero point takes away
/// for them is given back.
void PairedWindowLowering::addPairInside(int64_t pair, Value corner,
                                         Value place, Value channel,
                                         ArrayRef<Taps> taps,
                                         MutableArrayRef<Halves> sums) {
  Value isInside = rows[2 * pair].isInside;
  if (2 * pair + 1 < op.getKernel()[0])
    isInside = arith::OrIOp::create(b, isInside, rows[2 * pair + 1].isInside);
  SmallVector<Type> types(2 * sums.size(), sums[0][0].getType());
  auto branch = scf::IfOp::create(b, types, isInside, /*withElseRegion=*/true);
  auto yield = [&](ArrayRef<Halves> values) {
    SmallVector<Value> all;
    for (const Halves &halves : values)
      all.append(halves.begin(), halves.end());
    scf::YieldOp::create(b, all);
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Halves> added(sums.begin(), sums.end());
  addPair(pair, corner, place, channel, taps, added);
  yield(added);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Halves> kept(sums.begin(), sums.end());
  if (KernelBuilder::known(zero) != 0) {
    Halves back = loadSums(b.add(place, 4 * half * lastOf(op.getKernel())));
    for (Halves &halves : kept)
      for (int64_t h = 0; h < 2; ++h)
        halves[h] = arith::AddIOp::create(b, halves[h], back[h]);
  }
  yield(kept);
  for (auto [i, halves] : llvm::enumerate(sums))
    halves = {branch.getResult(2 * i), branch.getResult(2 * i + 1)};
}

/// 16 channels of a tile.
void PairedWindowLowering::emitBlock(Value column, Value corner, Value block,
                                     Value channel, ArrayRef<Taps> taps) {
  SmallVector<Halves> sums(taps.size(), loadSums(block));
  for (int64_t pair = 0; pair < op.getPackedPairs(); ++pair) {
    Value place = b.add(block, 4 * half + pair * op.getPackedPair());
    if (op.leavesOutRows())
      addPairInside(pair, corner, place, channel, taps, sums);
    else
      addPair(pair, corner, place, channel, taps, sums);
  }
  for (auto [i, halves] : llvm::enumerate(sums))
    finish(b.add(column, i), channel, 2 * half, b.concat(halves));
}

void kernels::lowerPairedWindow(onnxq::WindowOp op, const TargetInfo &target) {
  PairedWindowLowering(op, target).lower();
}
