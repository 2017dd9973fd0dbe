// Attention by blocks: scores of a block of rows and a block of keys exist at a
// time, on the stack. For each block of rows of a head
//
//   for each block of keys:
//     S = Q * K^T                      tiles of registers, K packed by columns
//     m' = max(m, rows of S), c = e^(m - m'), P = e^(S - m')
//     l = l * c + sums of rows of P
//     O = O * c + P * V                tiles of registers, V packed by columns
//   y = O / l
//
// Few rows (one token that is decoded) aren't worth packing: K is multiplied
// along its rows, V is read where it is. All sums are taken in a
// fixed number of lanes, so that results are the same on every target.

#include "LowerKernels.h"
#include "RegisterTile.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::AttentionOp;

/// Lanes that scores are compared and added up in.
static constexpr int64_t chunk = 16;
/// Elements of a side of what is transposed in registers.
static constexpr int64_t square = 8;

namespace {
/// One of Q, K, V and y: where its batches, heads and tokens are.
struct HeadsOf {
  FlatBuffer buffer;
  Value batches, tokens, batchStride, headStride, tokenStride;
  int64_t heads, width;
};

/// What one block of rows needs on the stack.
struct Scratch {
  Value keys, values, scores, sums, most, totals, factors;
};

/// The rows of a block: their number, of which head of K and V they are, and
/// how many are computed together.
struct RowBlock {
  Value batch, head, first, count;
  int64_t mr;
  /// Whether K and V are packed.
  bool packs;
};

/// A block of keys: the first one and their number.
struct KeyBlock {
  Value first, count;
};

class AttentionLowering {
public:
  AttentionLowering(AttentionOp op, const TargetInfo &target);
  void lower();

private:
  HeadsOf read(Value tensor, AttentionOp::Tensor which);
  Value strideOf(Value size, Value stride);
  std::pair<Value, Value> headAndToken(const RowBlock &rows, Value row);

  void emitRows(const RowBlock &rows);
  void emitKeys(const RowBlock &rows, const KeyBlock &keys);
  void packKeys(const RowBlock &rows, const KeyBlock &keys);
  void packValues(const RowBlock &rows, const KeyBlock &keys);
  void multiplyKeys(const RowBlock &rows, const KeyBlock &keys);
  void multiplyKeysByRows(const RowBlock &rows, const KeyBlock &keys);
  void weighScores(const RowBlock &rows, const KeyBlock &keys);
  void addValues(const RowBlock &rows, const KeyBlock &keys);
  void finish(const RowBlock &rows);

  Value keyOffset(const HeadsOf &from, const RowBlock &rows, Value token);
  Value loadBias(Value rowOffset, Value at, const KeyBlock &keys, Value within);
  Value getBiasRow(const RowBlock &rows, Value row);
  Value powerOf(Value difference);
  Value combine(Value vector, function_ref<Value(Value, Value)> body);
  Value larger(Value x, Value y);
  Value constant(double value, int64_t lanes = 0);

  AttentionOp op;
  KernelBuilder b;
  const TargetInfo &target;
  HeadsOf q, k, v, y;
  FlatBuffer bias;
  SmallVector<Value> biasStrides;
  int64_t share, lanes, nr, mr, keysOfBlock, rowsOfBlock, paddedWidth;
  Value rows, tokens;
  Scratch scratch;
};
} // namespace

//===----------------------------------------------------------------------===//
// Where operands are
//===----------------------------------------------------------------------===//

/// A size of one serves all.
Value AttentionLowering::strideOf(Value size, Value stride) {
  if (std::optional<int64_t> known = KernelBuilder::known(size))
    return *known == 1 ? b.index(0) : stride;
  Value isOne =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, b.index(1));
  return b.select(isOne, b.index(0), stride);
}

HeadsOf AttentionLowering::read(Value tensor, AttentionOp::Tensor which) {
  HeadsOf result;
  int64_t head = op.getHeadAxis(which), token = op.getTokenAxis(which);
  FlatBuffer buffer = b.flatten(tensor);
  result.batches = buffer.sizes[0];
  result.tokens = buffer.sizes[token];
  result.batchStride = strideOf(buffer.sizes[0], buffer.strides[0]);
  result.headStride = buffer.strides[head];
  result.tokenStride = buffer.strides[token];
  result.heads = *KernelBuilder::known(buffer.sizes[head]);
  result.width = *KernelBuilder::known(buffer.sizes[3]);
  result.buffer = buffer;
  return result;
}

AttentionLowering::AttentionLowering(AttentionOp op, const TargetInfo &target)
    : op(op), b(op.getLoc(), op), target(target),
      q(read(op.getQuery(), AttentionOp::Query)),
      k(read(op.getKey(), AttentionOp::Key)),
      v(read(op.getValue(), AttentionOp::Value)),
      y(read(op.getInit(), AttentionOp::Output)), share(q.heads / k.heads),
      lanes(getTileLanes(target)), nr(2 * lanes), tokens(k.tokens) {
  rows = b.mul(q.tokens, share);
  RegisterTile tile = chooseTile(target, std::nullopt, nr);
  mr = std::max<int64_t>(1, tile.columns < nr ? tile.rows / 2 : tile.rows);
  int64_t widest = std::max(q.width, v.width);
  keysOfBlock =
      std::max(nr, widest <= tuning::wideHead ? tuning::keysOfBlock
                                              : tuning::keysOfBlock / 2);
  rowsOfBlock = std::max<int64_t>(1, tuning::rowsOfAttention / mr) * mr;
  paddedWidth = llvm::alignTo(v.width, nr);
  if (op.getBias()) {
    bias = b.flatten(op.getBias());
    for (auto [size, stride] : llvm::zip(bias.sizes, bias.strides))
      biasStrides.push_back(strideOf(size, stride));
  }
}

/// A row's query head and token: the tokens of all heads that share keys are
/// rows.
std::pair<Value, Value> AttentionLowering::headAndToken(const RowBlock &block,
                                                        Value row) {
  if (share == 1)
    return {block.head, row};
  Value head = b.add(b.mul(block.head, share), b.div(row, q.tokens));
  return {head, b.rem(row, q.tokens)};
}

Value AttentionLowering::keyOffset(const HeadsOf &from, const RowBlock &block,
                                   Value token) {
  return b.add(b.add(b.mul(block.batch, from.batchStride),
                     b.mul(block.head, from.headStride)),
               b.mul(token, from.tokenStride));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value AttentionLowering::constant(double value, int64_t count) {
  Type f32 = b.getF32Type();
  TypedAttr attr = b.getF32FloatAttr(static_cast<float>(value));
  if (count > 0)
    attr = DenseElementsAttr::get(VectorType::get(count, f32), Attribute(attr));
  return arith::ConstantOp::create(b, attr);
}

/// The larger of two values; NaN comes through the exponentials.
Value AttentionLowering::larger(Value x, Value y) {
  Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, isLarger, x, y);
}

/// Lanes combined by halves.
Value AttentionLowering::combine(Value vector,
                                 function_ref<Value(Value, Value)> body) {
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = count / 2; half >= 1; half /= 2) {
    auto part = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, vector, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
    };
    vector = body(part(0), part(half));
  }
  return vector::ExtractOp::create(b, vector, 0);
}

/// e to the power of a value that is not positive.
Value AttentionLowering::powerOf(Value difference) {
  Value below = arith::NegFOp::create(b, math::AbsFOp::create(b, difference));
  return math::ExpOp::create(b, below, arith::FastMathFlags::afn);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// K^T: [keys / nr][width][nr]. Keys beyond the last one repeat it.
void AttentionLowering::packKeys(const RowBlock &block, const KeyBlock &keys) {
  Value squares = b.ceilDiv(keys.count, b.index(square));
  Value last = b.sub(keys.count, b.index(1));
  b.repeat(squares, [&](Value index) {
    Value first = b.mul(index, square);
    SmallVector<Value> offsets;
    for (int64_t i = 0; i < square; ++i) {
      Value key = b.min(b.add(first, i), last);
      offsets.push_back(keyOffset(k, block, b.add(keys.first, key)));
    }
    Value panel = b.mul(b.div(first, b.index(nr)), nr * q.width);
    Value column = b.add(panel, b.rem(first, b.index(nr)));
    auto pack = [&](Value from, int64_t valid) {
      SmallVector<Value> lines;
      for (Value offset : offsets)
        lines.push_back(b.loadVector(k.buffer.memory, b.add(offset, from),
                                     square, valid, k.buffer.element));
      // Swaps the off-diagonal quarters of ever smaller blocks.
      for (int64_t half = square / 2; half >= 1; half /= 2)
        for (int64_t i = 0; i < square; ++i) {
          if (i & half)
            continue;
          SmallVector<int64_t> upper, lower;
          for (int64_t lane = 0; lane < square; ++lane) {
            bool isRight = lane & half;
            upper.push_back(isRight ? square + lane - half : lane);
            lower.push_back(isRight ? square + lane : lane + half);
          }
          Value x = lines[i], z = lines[i + half];
          lines[i] = vector::ShuffleOp::create(b, x, z, upper);
          lines[i + half] = vector::ShuffleOp::create(b, x, z, lower);
        }
      for (int64_t i = 0; i < valid; ++i)
        b.storeVector(lines[i], scratch.keys,
                      b.add(column, b.mul(b.add(from, i), nr)), square);
    };
    if (int64_t whole = q.width / square)
      b.repeat(b.index(whole),
               [&](Value i) { pack(b.mul(i, square), square); });
    if (int64_t rest = q.width % square)
      pack(b.index(q.width - rest), rest);
  });
}

/// V: [width / nr][keys][nr].
void AttentionLowering::packValues(const RowBlock &block,
                                   const KeyBlock &keys) {
  b.repeat(keys.count, [&](Value key) {
    Value from = keyOffset(v, block, b.add(keys.first, key));
    for (int64_t n = 0; n < v.width; n += lanes) {
      Value vector =
          b.loadVector(v.buffer.memory, b.add(from, n), lanes,
                       std::min(lanes, v.width - n), v.buffer.element);
      Value to = b.add(b.mul(key, nr), n / nr * nr * keysOfBlock + n % nr);
      b.storeVector(vector, scratch.values, to, lanes);
    }
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// S = Q * K^T by tiles.
void AttentionLowering::multiplyKeys(const RowBlock &block,
                                     const KeyBlock &keys) {
  Value tiles = b.ceilDiv(block.count, b.index(block.mr));
  Value panels = b.ceilDiv(keys.count, b.index(nr));
  Value last = b.sub(block.count, b.index(1));
  b.repeat(tiles, [&](Value tile) {
    Value first = b.mul(tile, block.mr);
    SmallVector<Value> offsets;
    for (int64_t i = 0; i < block.mr; ++i) {
      Value row = b.add(block.first, b.min(b.add(first, i), last));
      auto [head, token] = headAndToken(block, row);
      offsets.push_back(b.add(
          b.add(b.mul(block.batch, q.batchStride), b.mul(head, q.headStride)),
          b.mul(token, q.tokenStride)));
    }
    b.repeat(panels, [&](Value panel) {
      Value from = b.mul(panel, nr * q.width);
      auto step = [&](Value at, MutableArrayRef<Value> sums) {
        Value offset = b.add(from, b.mul(at, nr));
        Value low =
            b.loadVector(scratch.keys, offset, lanes, lanes, b.getF32Type());
        Value high = b.loadVector(scratch.keys, b.add(offset, lanes), lanes,
                                  lanes, b.getF32Type());
        for (auto [i, row] : llvm::enumerate(offsets)) {
          Value x =
              b.broadcast(b.loadScalar(q.buffer.memory, b.add(row, at)), lanes);
          sums[2 * i] = b.multiplyAdd(x, low, sums[2 * i], target.hasFMA);
          sums[2 * i + 1] =
              b.multiplyAdd(x, high, sums[2 * i + 1], target.hasFMA);
        }
      };
      SmallVector<Value> sums(2 * block.mr, b.zeros(lanes, b.getF32Type()));
      int64_t iterations = q.width / tuning::unrolledProducts;
      if (iterations > 0)
        sums = b.loop(
            b.index(iterations), sums, [&](Value iteration, ValueRange before) {
              SmallVector<Value> next(before);
              for (int64_t i = 0; i < tuning::unrolledProducts; ++i)
                step(b.add(b.mul(iteration, tuning::unrolledProducts), i),
                     next);
              return next;
            });
      for (int64_t i = iterations * tuning::unrolledProducts; i < q.width; ++i)
        step(b.index(i), sums);
      for (int64_t i = 0; i < block.mr; ++i) {
        Value to = b.add(b.mul(b.add(first, i), keysOfBlock), b.mul(panel, nr));
        b.storeVector(sums[2 * i], scratch.scores, to, lanes);
        b.storeVector(sums[2 * i + 1], scratch.scores, b.add(to, lanes), lanes);
      }
    });
  });
}

/// The sums of vectors' lanes, as many vectors as they have lanes: a tree of
/// neighbours.
static Value addLanes(KernelBuilder &b, ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors[0];
  Value x = addLanes(b, vectors.take_front(vectors.size() / 2));
  Value y = addLanes(b, vectors.drop_front(vectors.size() / 2));
  int64_t count = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < 2 * count; i += 2) {
    even.push_back(i);
    odd.push_back(i + 1);
  }
  return arith::AddFOp::create(b, vector::ShuffleOp::create(b, x, y, even),
                               vector::ShuffleOp::create(b, x, y, odd));
}

/// The same for few rows, without packing: products along K's rows.
void AttentionLowering::multiplyKeysByRows(const RowBlock &block,
                                           const KeyBlock &keys) {
  Value chunks = b.ceilDiv(keys.count, b.index(chunk));
  Value last = b.sub(keys.count, b.index(1));
  Type f32 = b.getF32Type();
  b.repeat(chunks, [&](Value index) {
    Value first = b.mul(index, chunk);
    SmallVector<Value> offsets;
    for (int64_t i = 0; i < chunk; ++i)
      offsets.push_back(
          keyOffset(k, block, b.add(keys.first, b.min(b.add(first, i), last))));
    b.repeat(block.count, [&](Value row) {
      auto [head, token] = headAndToken(block, b.add(block.first, row));
      Value from = b.add(
          b.add(b.mul(block.batch, q.batchStride), b.mul(head, q.headStride)),
          b.mul(token, q.tokenStride));
      SmallVector<Value> sums(chunk, b.zeros(chunk, f32));
      for (int64_t h = 0; h < q.width; h += chunk) {
        Value x =
            b.loadVector(q.buffer.memory, b.add(from, h), chunk, chunk, f32);
        for (int64_t i = 0; i < chunk; ++i) {
          Value z = b.loadVector(k.buffer.memory, b.add(offsets[i], h), chunk,
                                 chunk, f32);
          sums[i] = h == 0 ? arith::MulFOp::create(b, x, z).getResult()
                           : b.multiplyAdd(x, z, sums[i], target.hasFMA);
        }
      }
      b.storeVector(addLanes(b, sums), scratch.scores,
                    b.add(b.mul(row, keysOfBlock), first), chunk);
    });
  });
}

/// Where the bias of a row begins.
Value AttentionLowering::getBiasRow(const RowBlock &block, Value row) {
  auto [head, token] = headAndToken(block, b.add(block.first, row));
  return b.add(
      b.add(b.mul(block.batch, biasStrides[0]), b.mul(head, biasStrides[1])),
      b.mul(token, biasStrides[2]));
}

/// The bias of `chunk` keys from `at` of a block on; `within` tells which of
/// them there are, or is null if all are.
Value AttentionLowering::loadBias(Value rowOffset, Value at,
                                  const KeyBlock &keys, Value within) {
  Type f32 = b.getF32Type();
  auto type = VectorType::get(chunk, f32);
  std::optional<int64_t> columns = KernelBuilder::known(bias.sizes[3]);
  if (columns == 1)
    return b.broadcast(b.loadScalar(bias.memory, rowOffset), chunk);
  // A stride of zero if there is one column.
  Value stride = biasStrides[3];
  Value offset = b.add(rowOffset, b.mul(b.add(keys.first, at), stride));
  if (!within && columns)
    return b.loadVector(bias.memory, offset, chunk, chunk, f32);
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        b.add(at, chunk), keys.count);
  if (!columns) {
    Value isRow =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stride, b.index(0));
    isWhole = arith::AndIOp::create(b, isWhole, isRow);
  }
  auto branch = scf::IfOp::create(b, type, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, b.loadVector(bias.memory, offset, chunk, chunk, f32));
  b.setInsertionPointToStart(branch.elseBlock());
  Value rest = b.min(b.sub(keys.count, at), b.index(chunk));
  SmallVector<Value> carried = {b.zeros(chunk, f32)};
  Value part = b.loop(rest, carried, [&](Value i, ValueRange before) {
    Value element = b.loadScalar(bias.memory, b.add(offset, b.mul(i, stride)));
    return SmallVector<Value>{
        vector::InsertOp::create(b, element, before[0], OpFoldResult(i))};
  })[0];
  scf::YieldOp::create(b, part);
  return branch.getResult(0);
}

/// Scores with scale and bias become exponentials; what has been summed up is
/// to be multiplied with `factors`.
void AttentionLowering::weighScores(const RowBlock &block,
                                    const KeyBlock &keys) {
  Type f32 = b.getF32Type();
  double infinity = std::numeric_limits<double>::infinity();
  std::optional<int64_t> known = KernelBuilder::known(keys.count);
  bool isWhole = known && *known % chunk == 0;
  Value chunks = b.ceilDiv(keys.count, b.index(chunk));
  Value scale = constant(op.getScale().convertToDouble(), chunk);
  Value least = constant(-infinity, chunk);
  Value steps;
  if (!isWhole) {
    SmallVector<int32_t> lanesOfChunk =
        llvm::to_vector(llvm::seq<int32_t>(chunk));
    steps = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get(chunk, b.getI32Type()),
                                  ArrayRef<int32_t>(lanesOfChunk)));
  }
  b.repeat(block.count, [&](Value row) {
    Value biasRow = op.getBias() ? getBiasRow(block, row) : Value();
    Value first = b.mul(row, keysOfBlock);
    SmallVector<Value> carried = {least};
    Value most = b.loop(chunks, carried, [&](Value i, ValueRange before) {
      Value at = b.mul(i, chunk), offset = b.add(first, at);
      Value x = b.loadVector(scratch.scores, offset, chunk, chunk, f32);
      x = arith::MulFOp::create(b, x, scale);
      Value within;
      if (!isWhole) {
        Value rest = arith::IndexCastOp::create(b, b.getI32Type(),
                                                b.sub(keys.count, at));
        within = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, steps,
                                       b.broadcast(rest, chunk));
      }
      if (biasRow)
        x = arith::AddFOp::create(b, x, loadBias(biasRow, at, keys, within));
      if (within)
        x = arith::SelectOp::create(b, within, x, least);
      b.storeVector(x, scratch.scores, offset, chunk);
      return SmallVector<Value>{larger(x, before[0])};
    })[0];
    most = combine(most, [&](Value x, Value z) { return larger(x, z); });
    Value old = b.loadScalar(scratch.most, row);
    Value next = larger(most, old);
    // Where all is hidden so far, differences would be none.
    Value isHidden = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, next,
                                           constant(-infinity));
    Value top = arith::SelectOp::create(b, isHidden, constant(0), next);
    Value factor = powerOf(arith::SubFOp::create(b, old, top));
    memref::StoreOp::create(b, next, scratch.most, row);
    memref::StoreOp::create(b, factor, scratch.factors, row);
    Value tops = b.broadcast(top, chunk);
    SmallVector<Value> none = {b.zeros(chunk, f32)};
    Value total = b.loop(chunks, none, [&](Value i, ValueRange before) {
      Value offset = b.add(first, b.mul(i, chunk));
      Value x = b.loadVector(scratch.scores, offset, chunk, chunk, f32);
      Value power = powerOf(arith::SubFOp::create(b, x, tops));
      b.storeVector(power, scratch.scores, offset, chunk);
      return SmallVector<Value>{
          arith::AddFOp::create(b, before[0], power).getResult()};
    })[0];
    total = combine(total, [&](Value x, Value z) -> Value {
      return arith::AddFOp::create(b, x, z);
    });
    Value before = b.loadScalar(scratch.totals, row);
    total = arith::AddFOp::create(b, arith::MulFOp::create(b, before, factor),
                                  total);
    memref::StoreOp::create(b, total, scratch.totals, row);
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// O = O * c + P * V.
void AttentionLowering::addValues(const RowBlock &block, const KeyBlock &keys) {
  Type f32 = b.getF32Type();
  Value tiles = b.ceilDiv(block.count, b.index(block.mr));
  // V's rows, and how its panels follow.
  Value memory = block.packs ? scratch.values : v.buffer.memory;
  Value start = block.packs ? b.index(0) : keyOffset(v, block, keys.first);
  Value stride = block.packs ? b.index(nr) : v.tokenStride;
  // A row by itself sums up more columns, whose sums don't wait for each other.
  int64_t width = block.packs ? nr : tuning::vectorsOfFewRows * lanes;
  auto emitPanel = [&](Value first, Value panel, int64_t columns) {
    int64_t vectors = llvm::divideCeil(columns, lanes);
    Value from =
        b.add(start, b.mul(panel, block.packs ? nr * keysOfBlock : width));
    auto sumOf = [&](int64_t row) {
      return b.add(b.mul(b.add(first, row), paddedWidth), b.mul(panel, width));
    };
    SmallVector<Value> sums;
    for (int64_t i = 0; i < block.mr; ++i) {
      Value factor =
          b.broadcast(b.loadScalar(scratch.factors, b.add(first, i)), lanes);
      for (int64_t j = 0; j < vectors; ++j) {
        Value sum = b.loadVector(scratch.sums, b.add(sumOf(i), j * lanes),
                                 lanes, lanes, f32);
        sums.push_back(arith::MulFOp::create(b, sum, factor));
      }
    }
    auto step = [&](Value key, MutableArrayRef<Value> next) {
      Value offset = b.add(from, b.mul(key, stride));
      SmallVector<Value> w;
      for (int64_t j = 0; j < vectors; ++j) {
        int64_t valid =
            block.packs ? lanes : std::min(lanes, columns - j * lanes);
        w.push_back(
            b.loadVector(memory, b.add(offset, j * lanes), lanes, valid, f32));
      }
      for (int64_t i = 0; i < block.mr; ++i) {
        Value weight = b.loadScalar(
            scratch.scores, b.add(b.mul(b.add(first, i), keysOfBlock), key));
        Value x = b.broadcast(weight, lanes);
        for (int64_t j = 0; j < vectors; ++j)
          next[i * vectors + j] =
              b.multiplyAdd(x, w[j], next[i * vectors + j], target.hasFMA);
      }
    };
    Value iterations = b.div(keys.count, b.index(tuning::unrolledProducts));
    sums = b.loop(iterations, sums, [&](Value iteration, ValueRange before) {
      SmallVector<Value> next(before);
      for (int64_t i = 0; i < tuning::unrolledProducts; ++i)
        step(b.add(b.mul(iteration, tuning::unrolledProducts), i), next);
      return next;
    });
    Value done = b.mul(iterations, tuning::unrolledProducts);
    Value rest = b.sub(keys.count, done);
    if (KernelBuilder::known(rest) != 0)
      sums = b.loop(rest, sums, [&](Value i, ValueRange before) {
        SmallVector<Value> next(before);
        step(b.add(done, i), next);
        return next;
      });
    for (int64_t i = 0; i < block.mr; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        b.storeVector(sums[i * vectors + j], scratch.sums,
                      b.add(sumOf(i), j * lanes), lanes);
  };
  b.repeat(tiles, [&](Value tile) {
    Value first = b.mul(tile, block.mr);
    if (int64_t whole = v.width / width)
      b.repeat(b.index(whole),
               [&](Value panel) { emitPanel(first, panel, width); });
    if (int64_t rest = v.width % width)
      emitPanel(first, b.index(v.width / width), rest);
  });
}

/// y = O / l.
void AttentionLowering::finish(const RowBlock &block) {
  b.repeat(block.count, [&](Value row) {
    auto [head, token] = headAndToken(block, b.add(block.first, row));
    Value to = b.add(
        b.add(b.mul(block.batch, y.batchStride), b.mul(head, y.headStride)),
        b.mul(token, y.tokenStride));
    Value total = b.broadcast(b.loadScalar(scratch.totals, row), lanes);
    Value from = b.mul(row, paddedWidth);
    for (int64_t n = 0; n < v.width; n += lanes) {
      Value sum = b.loadVector(scratch.sums, b.add(from, n), lanes, lanes,
                               b.getF32Type());
      b.storeVector(arith::DivFOp::create(b, sum, total), y.buffer.memory,
                    b.add(to, n), std::min(lanes, v.width - n));
    }
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void AttentionLowering::emitKeys(const RowBlock &block, const KeyBlock &keys) {
  bool goesByRows = !block.packs && q.width % chunk == 0;
  if (goesByRows) {
    multiplyKeysByRows(block, keys);
  } else {
    packKeys(block, keys);
    multiplyKeys(block, keys);
  }
  weighScores(block, keys);
  if (block.packs)
    packValues(block, keys);
  addValues(block, keys);
}

void AttentionLowering::emitRows(const RowBlock &block) {
  Type f32 = b.getF32Type();
  double infinity = std::numeric_limits<double>::infinity();
  b.repeat(b.index(rowsOfBlock), [&](Value row) {
    memref::StoreOp::create(b, constant(-infinity), scratch.most, row);
    memref::StoreOp::create(b, constant(0), scratch.totals, row);
    memref::StoreOp::create(b, constant(0), scratch.factors, row);
  });
  Value vectors = b.ceilDiv(b.mul(block.count, paddedWidth), b.index(lanes));
  // Rows that fill up a tile are computed with it.
  if (block.mr > 1)
    vectors = b.index(rowsOfBlock * paddedWidth / lanes);
  b.repeat(vectors, [&](Value i) {
    b.storeVector(b.zeros(lanes, f32), scratch.sums, b.mul(i, lanes), lanes);
  });
  Value blocks = b.ceilDiv(tokens, b.index(keysOfBlock));
  b.repeat(blocks, [&](Value index) {
    Value first = b.mul(index, keysOfBlock);
    Value count = b.min(b.index(keysOfBlock), b.sub(tokens, first));
    emitKeys(block, {first, count});
  });
  finish(block);
}

void AttentionLowering::lower() {
  Value most = b.index(rowsOfBlock);
  Value blocks = b.ceilDiv(rows, most);
  // Blocks as equal as tiles allow.
  Value rowsOfEach = rows;
  if (std::optional<int64_t> known = KernelBuilder::known(rows)) {
    if (*known == 0)
      return;
    int64_t each =
        llvm::divideCeil(*known, llvm::divideCeil(*known, rowsOfBlock));
    rowsOfEach = b.index(std::min<int64_t>(llvm::alignTo(each, mr), *known));
  } else {
    Value some = arith::MaxSIOp::create(b, blocks, b.index(1));
    rowsOfEach = b.mul(b.ceilDiv(b.ceilDiv(rows, some), b.index(mr)), mr);
  }
  b.grid({y.batches, b.index(k.heads), blocks}, [&](ArrayRef<Value> at) {
    // Memory of this block only, whichever thread computes it.
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value stack = LLVM::StackSaveOp::create(b, pointer);
    auto take = [&](int64_t floats) -> Value {
      auto type = MemRefType::get(floats, b.getF32Type());
      return memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    };
    scratch.keys = take(keysOfBlock * q.width);
    scratch.values = take(keysOfBlock * paddedWidth);
    scratch.scores = take(rowsOfBlock * keysOfBlock);
    scratch.sums = take(rowsOfBlock * paddedWidth);
    scratch.most = take(rowsOfBlock);
    scratch.totals = take(rowsOfBlock);
    scratch.factors = take(rowsOfBlock);
    Value first = b.mul(at[2], rowsOfEach);
    RowBlock block = {
        at[0], at[1], first, b.min(rowsOfEach, b.sub(rows, first)), mr, true};
    RowBlock few = block;
    few.mr = 1;
    few.packs = false;
    std::optional<int64_t> known = KernelBuilder::known(rows);
    if (known) {
      emitRows(*known < mr ? few : block);
    } else {
      Value isTall = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rows,
                                           b.index(mr));
      auto branch = scf::IfOp::create(b, isTall, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenYield());
      emitRows(block);
      b.setInsertionPoint(branch.elseYield());
      emitRows(few);
    }
    LLVM::StackRestoreOp::create(b, stack);
  });
}

void kernels::lowerAttention(AttentionOp op, const TargetInfo &target) {
  AttentionLowering(op, target).lower();
}
