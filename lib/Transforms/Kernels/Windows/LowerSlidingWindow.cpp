// Depthwise convolutions with stride 1 on AArch64 and RISC-V, which have 32
// vector registers: the weights of all taps stay there while a tile goes down
// the rows.
//
//   fmla, mla, smlal, vfmacc, vwmacc   acc[y - i][c] += in[y, c] * w[i, c]
//
// A row of the input is read once. Its elements are the last row of taps for
// one row of the output, the one before for the next, and so on: that many rows
// of sums are under way, each of which takes its taps in their order. As many
// rows as the window is high are written out in an iteration, after which every
// sum is in the register that it started in.
//
// Processors with RISC-V's vectors compute in the order of their instructions.
// Sums of floats are groups of two registers there, of one column: the weights
// leave no room for more. An element is loaded before the products in front of
// it. All elements and results of an iteration have pointers, which move on
// together at its end: an instruction of no vectors waits for all multiply-adds
// before it.
//
// Rows whose window reaches beyond the input go the way of all windows.

#include "../Tuning.h"
#include "LowerWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class SlidingWindowLowering : public WindowLowering {
public:
  SlidingWindowLowering(onnxq::WindowOp op, const TargetInfo &target,
                        int64_t threads);

protected:
  int64_t getBlockVectors() override;
  void emitTile(Value column,
                ArrayRef<std::pair<int64_t, int64_t>> taps) override;
  Value loadOperand(size_t index, Value column, Value channel,
                    int64_t valid) override;
  void store(Value result, Value column, Value channel, int64_t valid) override;

private:
  using Taps = ArrayRef<std::pair<int64_t, int64_t>>;
  /// Sums of a row of the output, and the row of taps that comes next. Those
  /// that have no products yet are none.
  struct OpenRow {
    SmallVector<Value> sums;
    int64_t tap;
  };
  OpenRow openRow(size_t columns);
  bool isPerChannel(AffineMap map);
  std::optional<unsigned> findBias();
  void keepChannel(Value channel);
  void addRow(Value row, Value corner, Value channel, Taps taps,
              MutableArrayRef<OpenRow> open);
  SmallVector<Value> finishRow(Value row, Value column, Value channel,
                               Taps taps, ValueRange carried);
  SmallVector<Value> getPlaces(Value column, Value channel, Value first);
  SmallVector<Value> emitAhead(Value column, Value channel, Value first,
                               Value iterations, ValueRange sums);
  void emitInside(Value column, Value channel, Taps taps, Value first,
                  Value count);

  int64_t height, length;
  /// Whether sums are groups of registers of one column, and whether iterations
  /// of their whole tiles have pointers: with an epilogue that takes registers
  /// LLVM spills, and turns have one row.
  bool isGrouped, isAhead;
  /// Where the result at hand goes, if it has a pointer.
  Value target;
  /// The channels at hand: weights per tap, and epilogue operands that only
  /// depend on channels.
  SmallVector<SmallVector<Value>> factors;
  SmallVector<Value> kept;
  /// The epilogue operand that the epilogue adds to sums of floats first. Such
  /// sums begin with a product: without the zero in front of it only zeros may
  /// have another sign, which this epilogue operand takes from them.
  std::optional<unsigned> bias;
};
} // namespace

bool kernels::canSlide(onnxq::WindowOp op, const TargetInfo &target) {
  auto areOnes = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t value) { return value == 1; });
  };
  bool isWide = target.arch == TargetInfo::Arch::AArch64 || target.hasRVV;
  ArrayRef<int64_t> kernel = op.getKernel();
  int64_t channels =
      cast<ShapedType>(op.getInput().getType()).getShape().back();
  return isWide && op.getKind() == onnxq::WindowKind::MulAdd &&
         kernel.size() == 2 && kernel[0] > 1 &&
         kernel[0] * kernel[1] <= tuning::mostSlidingWeights &&
         areOnes(op.getStrides()) && areOnes(op.getDilations()) &&
         channels >= planWindow(op, target).lanes;
}

SlidingWindowLowering::SlidingWindowLowering(onnxq::WindowOp op,
                                             const TargetInfo &target,
                                             int64_t threads)
    : WindowLowering(op, target, threads), height(op.getKernel()[0]),
      length(op.getKernel()[1]) {
  int64_t free = target.numVectors - height * length - tuning::otherRegisters;
  columns = std::max<int64_t>(1, free / (height * math->getVectors()));
  // Epilogues of integers take groups of registers.
  if (target.hasRVV && math->getVectors() > 1)
    columns = 1;
  isGrouped = target.hasRVV && in.element.isF32() && channels >= 2 * lanes;
  isAhead = isGrouped &&
            llvm::all_of(op.getEpilogue().front().without_terminator(),
                         [](Operation &each) {
                           return isa<arith::AddFOp, arith::SubFOp,
                                      arith::MulFOp, arith::ConstantOp>(each);
                         });
  if (isGrouped) {
    columns = 1;
    plan.lanes = lanes = 2 * lanes;
    math = makeWindowMath(op, b, target, plan);
  }
  rowsOfBlock = std::min(rowsOfBlock, tuning::mostSlidingRows);
  kept.resize(epilogueOperands.size());
  bias = findBias();
}

int64_t SlidingWindowLowering::getBlockVectors() {
  int64_t vectors = llvm::divideCeil(channels, lanes);
  int64_t bytes = lanes * in.element.getIntOrFloatBitWidth() / 8;
  int64_t most =
      tuning::windowBlockBytes / (bytes * (columns + length - 1) * rowsOfBlock);
  most = std::max<int64_t>(most, llvm::divideCeil(tuning::lineBytes, bytes));
  most = std::clamp<int64_t>(most, 1, vectors);
  return llvm::divideCeil(vectors, llvm::divideCeil(vectors, most));
}

//===----------------------------------------------------------------------===//
// What stays in registers
//===----------------------------------------------------------------------===//

/// Whether an epilogue operand is the same for all outputs of a channel.
bool SlidingWindowLowering::isPerChannel(AffineMap map) {
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return !dim || dim.getPosition() == spatial + 1;
  });
}

std::optional<unsigned> SlidingWindowLowering::findBias() {
  Block &block = op.getEpilogue().front();
  Value sum = block.getArgument(0);
  auto add = sum.hasOneUse() ? dyn_cast<arith::AddFOp>(*sum.user_begin())
                             : arith::AddFOp();
  if (!add)
    return std::nullopt;
  auto operand = dyn_cast<BlockArgument>(add.getLhs() == sum ? add.getRhs()
                                                             : add.getLhs());
  if (!operand || operand == sum || operand.getOwner() != &block ||
      !operand.hasOneUse())
    return std::nullopt;
  unsigned index = operand.getArgNumber() - 1;
  return isPerChannel(op.getMaps()[index]) ? std::optional(index)
                                           : std::nullopt;
}

void SlidingWindowLowering::keepChannel(Value channel) {
  factors.clear();
  for (int64_t tap = 0; tap < height * length; ++tap)
    factors.push_back(loadWeights(TapRow{b.index(0), b.index(0)}, b.index(tap),
                                  channel, lanes));
  for (auto [index, map] : llvm::enumerate(op.getMaps())) {
    if (!isPerChannel(map))
      continue;
    Value operand =
        WindowLowering::loadOperand(index, b.index(0), channel, lanes);
    // Never a negative zero, which added to one would be one.
    if (index == bias)
      operand = arith::AddFOp::create(
          b, operand, b.zeros(lanes, epilogueOperands[index].element));
    kept[index] = operand;
  }
}

Value SlidingWindowLowering::loadOperand(size_t index, Value column,
                                         Value channel, int64_t valid) {
  if (kept[index])
    return kept[index];
  return WindowLowering::loadOperand(index, column, channel, valid);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SlidingWindowLowering::OpenRow SlidingWindowLowering::openRow(size_t columns) {
  OpenRow row = {{}, 0};
  for (size_t i = 0; i < columns; ++i)
    row.sums.append(bias ? SmallVector<Value>(1) : math->start());
  return row;
}

/// What row `row` of the input adds to the open rows of the output.
void SlidingWindowLowering::addRow(Value row, Value corner, Value channel,
                                   Taps taps, MutableArrayRef<OpenRow> open) {
  TapRow source = {
      b.add(b.mul(rowIndices[0], in.strides[0]), b.mul(row, in.strides[1])),
      b.index(0)};
  int64_t tile = static_cast<int64_t>(taps.size());
  for (int64_t x = 0; x < tile + length - 1; ++x) {
    SmallVector<Value> element;
    for (OpenRow &each : open) {
      size_t vectors = each.sums.size() / tile;
      for (int64_t i = 0; i < tile; ++i) {
        int64_t tap = x - i;
        if (tap < taps[i].first || tap >= taps[i].second)
          continue;
        if (element.empty()) {
          Value at = b.mul(b.add(corner, x), in.strides[spatial]);
          element = loadElement(source, b.add(at, channel), lanes);
        }
        ArrayRef<Value> factor = factors[each.tap * length + tap];
        ArrayRef<Value> sum = ArrayRef(each.sums).slice(i * vectors, vectors);
        SmallVector<Value> next = sum[0] ? math->step(sum, element, factor)
                                         : math->begin(element, factor);
        llvm::copy(next, each.sums.begin() + i * vectors);
      }
    }
  }
  for (OpenRow &each : open) {
    ++each.tap;
    // Columns without taps.
    for (Value &sum : each.sums)
      if (!sum)
        sum = math->start()[0];
  }
}

/// Takes the input's row that ends the sums of row `row` of the output. Carried
/// are the sums of this row and of those after it.
SmallVector<Value> SlidingWindowLowering::finishRow(Value row, Value column,
                                                    Value channel, Taps taps,
                                                    ValueRange carried) {
  Value corner = b.sub(column, b.index(op.getPads()[1]));
  size_t each = carried.size() / (height - 1);
  SmallVector<OpenRow> open;
  for (int64_t i = 0; i + 1 < height; ++i)
    open.push_back(
        {SmallVector<Value>(carried.slice(i * each, each)), height - 1 - i});
  open.push_back(openRow(taps.size()));
  Value source = b.add(row, height - 1 - op.getPads()[0]);
  addRow(source, corner, channel, taps, open);

  rowIndices.back() = row;
  rowTarget = b.index(0);
  for (auto [offset, stride] : llvm::zip(rowIndices, out.strides))
    rowTarget = b.add(rowTarget, b.mul(offset, stride));
  size_t vectors = each / taps.size();
  SmallVector<Value> sums;
  for (size_t i = 0; i < taps.size(); ++i)
    sums.push_back(
        math->join(ArrayRef(open[0].sums).slice(i * vectors, vectors)));
  finishTile(column, channel, lanes, sums);
  SmallVector<Value> next;
  for (const OpenRow &after : ArrayRef(open).drop_front())
    next.append(after.sums);
  return next;
}

void SlidingWindowLowering::store(Value result, Value column, Value channel,
                                  int64_t valid) {
  if (!target)
    return WindowLowering::store(result, column, channel, valid);
  b.storeAt(result, target);
}

/// Offsets that the first iteration reads, tap by tap, and writes. The first
/// one is an iteration ahead.
SmallVector<Value> SlidingWindowLowering::getPlaces(Value column, Value channel,
                                                    Value first) {
  int64_t rows = height + 1;
  Value corner = b.sub(column, b.index(op.getPads()[1]));
  Value begin = b.add(first, height - 1 - op.getPads()[0]);
  SmallVector<Value> offsets;
  for (int64_t i = 0; i < rows * length; ++i) {
    Value row = b.add(begin, i == 0 ? rows : i / length);
    Value offset =
        b.add(b.mul(rowIndices[0], in.strides[0]), b.mul(row, in.strides[1]));
    Value at = b.mul(b.add(corner, i % length), in.strides[spatial]);
    offsets.push_back(b.add(b.add(offset, at), channel));
  }
  for (int64_t k = 0; k < rows; ++k) {
    Value offset = b.add(b.mul(rowIndices[0], out.strides[0]),
                         b.mul(b.add(first, k), out.strides[1]));
    Value at = b.mul(column, out.strides[spatial]);
    offsets.push_back(b.add(b.add(offset, at), channel));
  }
  return offsets;
}

/// Turns of a row more than sums are open, after which every sum and the next
/// element are in the registers that they started in. Carried are the open
/// sums, an element and the pointers.
SmallVector<Value> SlidingWindowLowering::emitAhead(Value column, Value channel,
                                                    Value first,
                                                    Value iterations,
                                                    ValueRange sums) {
  int64_t rows = height + 1, products = rows * length;
  auto type = VectorType::get(lanes, in.element);
  auto getStep = [&](const FlatBuffer &buffer) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(),
                                      b.mul(buffer.strides[1], rows));
  };
  Value inStep = getStep(in), outStep = getStep(out);
  TapRow source = {
      b.add(b.mul(rowIndices[0], in.strides[0]),
            b.mul(b.add(first, height - 1 - op.getPads()[0]), in.strides[1])),
      b.index(0)};
  Value corner = b.sub(column, b.index(op.getPads()[1]));
  Value at = b.add(b.mul(corner, in.strides[spatial]), channel);
  auto freeze = [&](Value element) -> Value {
    return LLVM::FreezeOp::create(b, element);
  };

  SmallVector<Value> carried(sums);
  carried.push_back(freeze(loadElement(source, at, lanes).front()));
  SmallVector<Value> offsets = getPlaces(column, channel, first);
  auto bufferOf = [&](int64_t i) -> const FlatBuffer & {
    return i < products ? in : out;
  };
  for (auto [i, offset] : llvm::enumerate(offsets))
    carried.push_back(b.hiddenPointer(bufferOf(i).memory, offset));
  carried =
      b.loop(iterations, carried, [&](Value iteration, ValueRange values) {
        for (int64_t i = 0, e = b.checksPointers() ? offsets.size() : 0; i < e;
             ++i) {
          const FlatBuffer &buffer = bufferOf(i);
          Value moved = b.mul(b.mul(iteration, rows), buffer.strides[1]);
          Value offset = b.add(offsets[i], moved);
          b.checkSpan(buffer.memory, offset, b.add(offset, lanes - 1));
        }
        SmallVector<Value> open(values.take_front(height - 1));
        Value element = values[height - 1];
        SmallVector<Value> pointers(values.drop_front(height));
        for (int64_t i = 0; i < products; ++i) {
          Value next =
              b.loadBehind(pointers[(i + 1) % products], in.element, 0, type);
          if (i % length == 0)
            open.append(openRow(1).sums);
          for (int64_t k = 0; k < height; ++k) {
            ArrayRef<Value> factor =
                factors[(height - 1 - k) * length + i % length];
            open[k] = (open[k] ? math->step(open[k], element, factor)
                               : math->begin(element, factor))
                          .front();
          }
          element = next;
          if ((i + 1) % length != 0)
            continue;
          rowIndices.back() =
              b.add(b.add(first, b.mul(iteration, rows)), i / length);
          target = pointers[products + i / length];
          finishTile(column, channel, lanes, math->join(open.front()));
          target = Value();
          open.erase(open.begin());
        }
        open.push_back(freeze(element));
        for (Value pointer : ArrayRef(pointers).take_front(products))
          open.push_back(b.hiddenPointer(pointer, in.element, inStep));
        for (Value pointer : ArrayRef(pointers).drop_front(products))
          open.push_back(b.hiddenPointer(pointer, out.element, outStep));
        return open;
      });
  carried.truncate(height - 1);
  return carried;
}

/// Rows whose windows lie inside of the input: `count` of them, one or more.
void SlidingWindowLowering::emitInside(Value column, Value channel, Taps taps,
                                       Value first, Value count) {
  keepChannel(channel);
  // Rows of the input that begin sums before the first is complete.
  Value corner = b.sub(column, b.index(op.getPads()[1]));
  SmallVector<OpenRow> open;
  for (int64_t i = 0; i + 1 < height; ++i) {
    open.push_back(openRow(taps.size()));
    addRow(b.add(first, i - op.getPads()[0]), corner, channel, taps, open);
  }
  SmallVector<Value> carried;
  for (const OpenRow &row : open)
    carried.append(row.sums);

  // The last iteration has an element to load that is there, too.
  bool isWhole = llvm::all_of(taps, [&](std::pair<int64_t, int64_t> range) {
    return range.first == 0 && range.second == length;
  });
  Value done = b.index(0);
  if (isAhead && isWhole) {
    Value iterations = b.div(b.sub(count, b.index(1)), b.index(height + 1));
    done = b.mul(iterations, height + 1);
    carried = emitAhead(column, channel, first, iterations, carried);
  } else if (!isGrouped || !isWhole) {
    Value iterations = b.div(count, b.index(height));
    done = b.mul(iterations, height);
    carried = b.loop(iterations, carried, [&](Value i, ValueRange values) {
      SmallVector<Value> next(values);
      for (int64_t k = 0; k < height; ++k)
        next = finishRow(b.add(first, b.add(b.mul(i, height), k)), column,
                         channel, taps, next);
      return next;
    });
  }
  b.loop(b.sub(count, done), carried, [&](Value i, ValueRange values) {
    return finishRow(b.add(first, b.add(done, i)), column, channel, taps,
                     SmallVector<Value>(values));
  });
  kept.assign(epilogueOperands.size(), Value());
}

void SlidingWindowLowering::emitTile(
    Value column, ArrayRef<std::pair<int64_t, int64_t>> taps) {
  auto max = [&](Value x, Value y) {
    return b.createOrFold<arith::MaxSIOp>(x, y);
  };
  int64_t pad = op.getPads()[0];
  Value end = b.add(firstRow, numRows);
  Value first = b.min(max(firstRow, b.index(pad)), end);
  Value last = max(
      first, b.min(end, b.sub(b.add(in.sizes[1], pad), b.index(height - 1))));
  Value count = b.sub(last, first);
  Value isAny =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, b.index(0));
  auto branch = scf::IfOp::create(b, isAny, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    SmallVector<Value> indices(rowIndices);
    forChannels([&](Value, Value channel, int64_t) {
      emitInside(column, channel, taps, first, count);
    });
    rowIndices = indices;
  }
  // Those before and behind.
  Value before = b.sub(first, firstRow);
  b.repeat(b.sub(numRows, count), [&](Value i) {
    Value isBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, before);
    Value skipped = b.select(isBefore, b.index(0), count);
    rowIndices.back() = b.add(b.add(firstRow, i), skipped);
    takeRow();
    emitTileRow(column, taps);
  });
}

void kernels::lowerSlidingWindow(onnxq::WindowOp op, const TargetInfo &target,
                                 int64_t threads) {
  SlidingWindowLowering(op, target, threads).lower();
}
