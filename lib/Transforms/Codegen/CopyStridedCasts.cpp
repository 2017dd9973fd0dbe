// Copies buffers whose layout a cast only claims to be contiguous.
// Enters: one-shot bufferized code. Leaves: no cast from a strided layout to a
// contiguous one unless the types prove it.
//
// Bufferization compares strides as it finds them in the types: the open
// strides of a slice and those of a contiguous buffer of dynamic sizes look the
// same, and it casts where it would have to copy.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_COPYSTRIDEDCASTS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Whether a buffer of this type is known to be contiguous from its start.
static bool isContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return false;
  int64_t expected = 1;
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    // A stride along a dimension of one element is never used.
    if (type.getDimSize(axis) == 1)
      continue;
    if (ShapedType::isDynamic(expected) || strides[axis] != expected)
      return false;
    expected = ShapedType::isDynamic(type.getDimSize(axis))
                   ? ShapedType::kDynamic
                   : expected * type.getDimSize(axis);
  }
  return true;
}

static bool isUnproven(memref::CastOp op) {
  auto source = dyn_cast<MemRefType>(op.getSource().getType());
  auto target = dyn_cast<MemRefType>(op.getType());
  return source && target && !source.getLayout().isIdentity() &&
         target.getLayout().isIdentity() && !isContiguous(source);
}

static void copyInstead(memref::CastOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto source = cast<MemRefType>(op.getSource().getType());
  auto type =
      MemRefType::get(source.getShape(), source.getElementType(),
                      MemRefLayoutAttrInterface(), source.getMemorySpace());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < source.getRank(); ++axis)
    if (source.isDynamicDim(axis))
      sizes.push_back(memref::DimOp::create(b, op.getSource(), axis));
  Value copy = memref::AllocOp::create(b, type, sizes);
  memref::CopyOp::create(b, op.getSource(), copy);
  if (copy.getType() != op.getType())
    copy = memref::CastOp::create(b, op.getType(), copy);
  op.replaceAllUsesWith(copy);
  op.erase();
}

namespace {
struct CopyStridedCasts
    : public onnxquant::impl::CopyStridedCastsBase<CopyStridedCasts> {
  void runOnOperation() override {
    SmallVector<memref::CastOp> casts;
    getOperation().walk([&](memref::CastOp op) {
      if (isUnproven(op))
        casts.push_back(op);
    });
    for (memref::CastOp op : casts)
      copyInstead(op);
    numCopied += casts.size();
  }
};
} // namespace
