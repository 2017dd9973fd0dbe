// Checks every access to a buffer at run time; for tests of the lowerings.

#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static void assertThat(ImplicitLocOpBuilder &b, Operation *op, Value holds,
                       StringRef text) {
  cf::AssertOp::create(b, holds,
                       b.getStringAttr("node '" + nodeOf(op) + "': " + text));
}

static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate,
                     Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}

static void checkAccess(Operation *op, Value memref, ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value size = memref::DimOp::create(b, memref, axis);
    // Negative indices are large when taken as unsigned.
    Value inside = compare(b, arith::CmpIPredicate::ult, index, size);
    assertThat(b, op, inside, "access out of a buffer's bounds");
  }
}

/// The first and the last element that a vector reads or writes.
template <typename OpTy> static void checkVector(OpTy op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> indices(op.getIndices());
  checkAccess(op, op.getBase(), indices);
  Value more = arith::ConstantIndexOp::create(
      b, op.getVectorType().getNumElements() - 1);
  indices.back() = arith::AddIOp::create(b, indices.back(), more);
  checkAccess(op, op.getBase(), indices);
}

/// The first and the last element of a view are in the buffer.
static void checkView(memref::SubViewOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto get = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(), size);
  };
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis) {
    Value offset = get(op.getMixedOffsets()[axis]);
    Value size = get(op.getMixedSizes()[axis]);
    Value stride = get(op.getMixedStrides()[axis]);
    Value whole = memref::DimOp::create(b, op.getSource(), axis);
    Value steps =
        arith::MulIOp::create(b, arith::SubIOp::create(b, size, one), stride);
    Value last = arith::AddIOp::create(b, offset, steps);
    Value inside = arith::AndIOp::create(
        b, compare(b, arith::CmpIPredicate::ult, offset, whole),
        compare(b, arith::CmpIPredicate::ult, last, whole));
    Value isEmpty = compare(b, arith::CmpIPredicate::eq, size, zero);
    Value positive = compare(b, arith::CmpIPredicate::sgt, size, zero);
    Value fits = arith::OrIOp::create(
        b, isEmpty, arith::AndIOp::create(b, positive, inside));
    assertThat(b, op, fits, "view out of a buffer's bounds");
  }
}

static void checkCopy(memref::CopyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
    Value from = memref::DimOp::create(b, op.getSource(), axis);
    Value to = memref::DimOp::create(b, op.getTarget(), axis);
    assertThat(b, op, compare(b, arith::CmpIPredicate::eq, from, to),
               "copy between buffers of different sizes");
  }
}

namespace {
struct CheckBounds : public onnxquant::impl::CheckBoundsBase<CheckBounds> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      // When code is loaded, nobody hears of a failure.
      auto kernel = op->getAttrOfType<StringAttr>(kernelAttr);
      if (op->hasAttr(loadBytesAttr) ||
          (kernel && kernel == onnxq::ExpandOp::getOperationName()))
        return WalkResult::skip();
      if (isa<memref::LoadOp, memref::StoreOp, memref::SubViewOp,
              memref::CopyOp, vector::LoadOp, vector::StoreOp>(op))
        accesses.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : accesses) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        checkAccess(op, load.getMemRef(), load.getIndices());
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        checkAccess(op, store.getMemRef(), store.getIndices());
      else if (auto view = dyn_cast<memref::SubViewOp>(op))
        checkView(view);
      else if (auto vector = dyn_cast<vector::LoadOp>(op))
        checkVector(vector);
      else if (auto vector = dyn_cast<vector::StoreOp>(op))
        checkVector(vector);
      else
        checkCopy(cast<memref::CopyOp>(op));
    }
    numChecked += accesses.size();
  }
};
} // namespace
