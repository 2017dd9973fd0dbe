// Copies between buffers that are not contiguous become loops: nothing but libc
// and libm is called by compiled models.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERCOPIES
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Copies element by element, the last dimension innermost; threads may share
/// the others.
static void lowerCopy(memref::CopyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value source = op.getSource(), target = op.getTarget();
  auto type = cast<MemRefType>(source.getType());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> sizes, indices;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(b.createOrFold<memref::DimOp>(source, axis));
  if (sizes.size() > 1) {
    size_t outer = sizes.size() - 1;
    SmallVector<Value> zeros(outer, zero), ones(outer, one);
    auto loops = scf::ParallelOp::create(
        b, zeros, ArrayRef(sizes).take_front(outer), ones);
    for (Value index : loops.getBody()->getArguments())
      indices.push_back(index);
    b.setInsertionPointToStart(loops.getBody());
  }
  if (!sizes.empty()) {
    auto loop = scf::ForOp::create(b, zero, sizes.back(), one);
    indices.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  Value element = memref::LoadOp::create(b, source, indices);
  memref::StoreOp::create(b, element, target, indices);
  op.erase();
}

namespace {
struct LowerCopies : public onnxquant::impl::LowerCopiesBase<LowerCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp op) {
      auto source = dyn_cast<MemRefType>(op.getSource().getType());
      auto target = dyn_cast<MemRefType>(op.getTarget().getType());
      if (source && target &&
          !(source.getLayout().isIdentity() && target.getLayout().isIdentity()))
        copies.push_back(op);
    });
    for (memref::CopyOp op : copies)
      lowerCopy(op);
  }
};
} // namespace
