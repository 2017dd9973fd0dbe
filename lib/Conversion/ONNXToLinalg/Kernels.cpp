// Kernels go through the lowering of everything else: only the types of their
// tensors change to the stored ones. Their regions compute with stored elements
// from the start.

#include "Kernels.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

/// Whether an op is a kernel, or one that gives it a destination.
static bool isCarried(Operation *op) {
  bool isKernel = isa_and_present<onnxq::ONNXQDialect>(op->getDialect()) &&
                  isa<DestinationStyleOpInterface>(op);
  return isKernel || isa<tensor::EmptyOp, tensor::DimOp, tensor::ExtractOp,
                         tensor::ExtractSliceOp, tensor::InsertSliceOp>(op);
}

namespace {
struct ConvertTypes : ConversionPattern {
  ConvertTypes(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isCarried(op))
      return rewriter.notifyMatchFailure(op, "not a kernel or its destination");
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return rewriter.notifyMatchFailure(op, "a result has no stored form");
    OperationState state(op->getLoc(), op->getName(), operands, results,
                         op->getAttrs());
    for (Region &region : op->getRegions()) {
      Region *moved = state.addRegion();
      rewriter.inlineRegionBefore(region, *moved, moved->end());
    }
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};
} // namespace

void onnxquant::lowering::addKernelConversions(
    RewritePatternSet &patterns, const StorageTypeConverter &types,
    ConversionTarget &target) {
  patterns.add<ConvertTypes>(types, patterns.getContext());
  target.addDynamicallyLegalDialect<onnxq::ONNXQDialect>([&](Operation *op) {
    return isa<onnxq::RequantizeOp, onnxq::YieldOp>(op) ||
           (isCarried(op) && types.isLegal(op));
  });
  target
      .addDynamicallyLegalOp<tensor::EmptyOp, tensor::DimOp, tensor::ExtractOp,
                             tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          [&](Operation *op) { return types.isLegal(op); });
}
