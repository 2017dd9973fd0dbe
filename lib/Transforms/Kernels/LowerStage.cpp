// Stages: rows of the output are the input's between borders.

#include "LowerKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
/// A stage on its way to loops.
class StageLowering {
public:
  StageLowering(onnxq::StageOp op, const TargetInfo &target)
      : op(op), b(op.getLoc(), op), from(b.flatten(op.getInput())),
        to(b.flatten(op.getInit())), spatial(from.rank() - 2) {
    Type stored = cast<MemRefType>(op.getInit().getType()).getElementType();
    lanes = std::max<int64_t>(1, target.vectorBytes /
                                     (stored.getIntOrFloatBitWidth() / 8));
    pad = op.getPad();
    if (!pad)
      pad = arith::ConstantOp::create(b, b.getZeroAttr(stored));
  }

  void lower();

private:
  void fill(Value offset, Value count);
  void copy(Value source, Value offset, Value count);
  void copyPixels(Value source, Value offset);

  onnxq::StageOp op;
  KernelBuilder b;
  FlatBuffer from, to;
  int64_t spatial;
  int64_t lanes;
  Value pad;
};
} // namespace

/// Runs `wide` for whole vectors and `narrow` for what is left.
static void forElements(KernelBuilder &b, Value count, int64_t lanes,
                        function_ref<void(Value)> wide,
                        function_ref<void(Value)> narrow) {
  Value vectors = b.div(count, b.index(lanes));
  if (KernelBuilder::known(vectors) != 0)
    b.repeat(vectors, [&](Value i) { wide(b.mul(i, lanes)); });
  Value done = b.mul(vectors, lanes), rest = b.sub(count, done);
  if (KernelBuilder::known(rest) == 0)
    return;
  b.repeat(rest, [&](Value i) { narrow(b.add(done, i)); });
}

void StageLowering::fill(Value offset, Value count) {
  if (KernelBuilder::known(count) == 0)
    return;
  Value value = b.broadcast(pad, lanes), single = b.broadcast(pad, 1);
  forElements(
      b, count, lanes,
      [&](Value i) {
        b.storeVector(value, to.memory, b.add(offset, i), lanes);
      },
      [&](Value i) { b.storeVector(single, to.memory, b.add(offset, i), 1); });
}

void StageLowering::copy(Value source, Value offset, Value count) {
  auto copyLanes = [&](Value i, int64_t width) {
    Value element =
        b.loadVector(from.memory, b.add(source, i), width, width, from.element);
    Value stored = b.repeatOnVectors(op.getConversion(), element, width);
    b.storeVector(stored, to.memory, b.add(offset, i), width);
  };
  forElements(
      b, count, lanes, [&](Value i) { copyLanes(i, lanes); },
      [&](Value i) { copyLanes(i, 1); });
}

/// Copies a row of the last spatial dimension.
void StageLowering::copyPixels(Value source, Value offset) {
  Value channels = from.sizes.back(), wide = to.sizes.back();
  if (spatial == 0) {
    copy(source, offset, channels);
    return fill(b.add(offset, channels), b.sub(wide, channels));
  }
  ArrayRef<int64_t> pads = op.getPads();
  Value before = b.index(pads[spatial - 1]),
        after = b.index(pads[2 * spatial - 1]);
  Value width = from.sizes[spatial];
  auto same = [](Value x, Value y) {
    auto a = KernelBuilder::known(x), c = KernelBuilder::known(y);
    return x == y || (a && a == c);
  };
  bool isWhole = same(channels, wide) &&
                 same(from.strides[spatial], channels) &&
                 same(to.strides[spatial], wide);
  Value left = b.mul(before, wide);
  if (isWhole) {
    fill(offset, left);
    Value inner = b.mul(width, channels);
    copy(source, b.add(offset, left), inner);
    return fill(b.add(b.add(offset, left), inner), b.mul(after, wide));
  }
  auto eachPixel = [&](Value first, Value count, auto body) {
    b.repeat(count, [&](Value i) {
      body(i, b.add(offset, b.mul(b.add(first, i), to.strides[spatial])));
    });
  };
  eachPixel(b.index(0), before, [&](Value, Value at) { fill(at, wide); });
  eachPixel(before, width, [&](Value i, Value at) {
    copy(b.add(source, b.mul(i, from.strides[spatial])), at, channels);
    fill(b.add(at, channels), b.sub(wide, channels));
  });
  eachPixel(b.add(before, width), after,
            [&](Value, Value at) { fill(at, wide); });
}

void StageLowering::lower() {
  // All dimensions but a row's pixels and channels.
  SmallVector<Value> counts(to.sizes.begin(),
                            to.sizes.end() - (spatial > 0 ? 2 : 1));
  b.grid(counts, [&](ArrayRef<Value> indices) {
    Value source = b.mul(indices[0], from.strides[0]);
    Value offset = b.mul(indices[0], to.strides[0]);
    Value inside;
    for (size_t i = 1; i < indices.size(); ++i) {
      Value at = b.sub(indices[i], b.index(op.getPads()[i - 1]));
      source = b.add(source, b.mul(at, from.strides[i]));
      offset = b.add(offset, b.mul(indices[i], to.strides[i]));
      if (op.getPads()[i - 1] == 0 && op.getPads()[spatial + i - 1] == 0)
        continue;
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                         from.sizes[i]);
      inside = inside ? Value(arith::AndIOp::create(b, inside, fits)) : fits;
    }
    if (!inside)
      return copyPixels(source, offset);
    auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    copyPixels(source, offset);
    b.setInsertionPoint(branch.elseYield());
    Value pixels = b.mul(to.sizes[spatial], to.sizes.back());
    // A row of the output is contiguous: it is a buffer of its own.
    fill(offset, pixels);
  });
}

void kernels::lowerStage(onnxq::StageOp op, const TargetInfo &target) {
  StageLowering(op, target).lower();
}
