// Transposes blocks of 8 by 8 elements in registers. Enters: linalg.transpose
// on buffers. Leaves: loops over blocks, and loops over the elements that make
// no whole block. Element by element, either reads or writes would touch a
// cache line for each element.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERTRANSPOSES
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr int64_t blockSize = 8;

namespace {

/// Writes the loops of one transposition.
class TransposeWriter {
public:
  explicit TransposeWriter(linalg::TransposeOp op);
  void write();

private:
  /// Calls `body` for the positions in the output from `low` to `high`, `steps`
  /// apart.
  void loop(ValueRange low, ValueRange high, ValueRange steps,
            function_ref<void(ArrayRef<Value>)> body);
  SmallVector<Value> inputPosition(ArrayRef<Value> position);
  void copyBlock(ArrayRef<Value> position);
  void copyElement(ArrayRef<Value> position);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value after(Value index, int64_t distance) {
    return distance == 0 ? index
                         : arith::AddIOp::create(b, index, constant(distance))
                               .getResult();
  }

  ImplicitLocOpBuilder b;
  Value input, output;
  SmallVector<int64_t> permutation;
  /// The dimensions of the output along which elements lie side by side: in the
  /// input, in the output.
  unsigned across, along;
};

} // namespace

TransposeWriter::TransposeWriter(linalg::TransposeOp op)
    : b(op.getLoc(), op), input(op.getInput()), output(op.getInit()),
      permutation(op.getPermutation()) {
  along = permutation.size() - 1;
  across = llvm::find(permutation, static_cast<int64_t>(along)) -
           permutation.begin();
}

SmallVector<Value> TransposeWriter::inputPosition(ArrayRef<Value> position) {
  SmallVector<Value> result(position.size());
  for (auto [axis, source] : llvm::enumerate(permutation))
    result[source] = position[axis];
  return result;
}

void TransposeWriter::loop(ValueRange low, ValueRange high, ValueRange steps,
                           function_ref<void(ArrayRef<Value>)> body) {
  scf::ParallelOp::create(
      b, low, high, steps,
      [&](OpBuilder &nested, Location, ValueRange position) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        body(SmallVector<Value>(position));
      });
}

void TransposeWriter::copyElement(ArrayRef<Value> position) {
  Value element = memref::LoadOp::create(b, input, inputPosition(position));
  memref::StoreOp::create(b, element, output, position);
}

/// Swaps the off-diagonal quarters of ever smaller blocks.
void TransposeWriter::copyBlock(ArrayRef<Value> position) {
  Type element = cast<MemRefType>(input.getType()).getElementType();
  auto type = VectorType::get({blockSize}, element);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < blockSize; ++i) {
    SmallVector<Value> at(position);
    at[along] = after(at[along], i);
    rows.push_back(vector::LoadOp::create(b, type, input, inputPosition(at)));
  }
  for (int64_t half = blockSize / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < blockSize; ++i) {
      if (i & half)
        continue;
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < blockSize; ++lane) {
        bool isRight = lane & half;
        upper.push_back(isRight ? blockSize + lane - half : lane);
        lower.push_back(isRight ? blockSize + lane : lane + half);
      }
      Value first = rows[i], second = rows[i + half];
      rows[i] = vector::ShuffleOp::create(b, first, second, upper);
      rows[i + half] = vector::ShuffleOp::create(b, first, second, lower);
    }
  for (int64_t i = 0; i < blockSize; ++i) {
    SmallVector<Value> at(position);
    at[across] = after(at[across], i);
    vector::StoreOp::create(b, rows[i], output, at);
  }
}

void TransposeWriter::write() {
  SmallVector<Value> low, high, ones, steps;
  Value zero = constant(0), one = constant(1), size = constant(blockSize);
  for (unsigned axis = 0; axis < permutation.size(); ++axis) {
    low.push_back(zero);
    high.push_back(memref::DimOp::create(b, output, axis));
    ones.push_back(one);
    steps.push_back(axis == across || axis == along ? size : one);
  }
  auto wholeBlocks = [&](Value extent) -> Value {
    Value rest = arith::RemUIOp::create(b, extent, size);
    return arith::SubIOp::create(b, extent, rest);
  };
  SmallVector<Value> whole(high), belowAcross(low), besideAlong(low);
  whole[across] = wholeBlocks(high[across]);
  whole[along] = wholeBlocks(high[along]);
  loop(low, whole, steps, [&](ArrayRef<Value> at) { copyBlock(at); });
  // What is left: all along below the blocks, and beside them.
  belowAcross[across] = whole[across];
  loop(belowAcross, high, ones, [&](ArrayRef<Value> at) { copyElement(at); });
  besideAlong[along] = whole[along];
  SmallVector<Value> beside(high);
  beside[across] = whole[across];
  loop(besideAlong, beside, ones, [&](ArrayRef<Value> at) { copyElement(at); });
}

/// Whether elements lie side by side along the last dimension.
static bool isDense(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return type && type.getRank() > 1 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Whether the op has blocks: both ends swap their last dimensions, of 8
/// elements or more.
static bool hasBlocks(linalg::TransposeOp op) {
  if (!isDense(op.getInput()) || !isDense(op.getInit()))
    return false;
  auto type = cast<MemRefType>(op.getInit().getType());
  Type element = type.getElementType();
  int64_t last = type.getRank() - 1;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      element.getIntOrFloatBitWidth() > 32 ||
      op.getPermutation().back() == last)
    return false;
  auto inputType = cast<MemRefType>(op.getInput().getType());
  auto isLong = [](int64_t size) {
    return ShapedType::isDynamic(size) || size >= blockSize;
  };
  return isLong(type.getDimSize(last)) && isLong(inputType.getDimSize(last));
}

namespace {
struct LowerTransposes
    : public onnxquant::impl::LowerTransposesBase<LowerTransposes> {
  void runOnOperation() override {
    SmallVector<linalg::TransposeOp> ops;
    getOperation().walk([&](linalg::TransposeOp op) {
      if (hasBlocks(op))
        ops.push_back(op);
    });
    for (linalg::TransposeOp op : ops) {
      TransposeWriter(op).write();
      op.erase();
    }
    numLowered += ops.size();
  }
};
} // namespace
