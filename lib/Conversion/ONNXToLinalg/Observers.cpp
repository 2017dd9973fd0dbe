// Observers of tensors become observers of buffers.
//
// The state is a buffer from the start, which observers in any region can write
// to. An observed tensor is read through `bufferization.to_buffer` where the
// observer stands, before anything after it may overwrite the tensor in place.

#include "Observers.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {

struct LowerState : OpConversionPattern<onnxq::StateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(onnxq::StateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    auto type = cast<MemRefType>(op.getState().getType());
    Value state = memref::AllocOp::create(e, type);
    Value zero = arith::ConstantIntOp::create(e, 0, 64);
    auto loop = scf::ForOp::create(e, e.index(0),
                                   e.index(type.getNumElements()), e.index(1));
    {
      OpBuilder::InsertionGuard guard(e);
      e.setInsertionPointToStart(loop.getBody());
      memref::StoreOp::create(e, zero, state, loop.getInductionVar());
    }
    Value samples =
        tensor::ExtractOp::create(e, adaptor.getSamples(), e.index(0));
    memref::StoreOp::create(e, samples, state, e.index(0));
    rewriter.replaceOp(op, state);
    return success();
  }
};

struct LowerObserve : OpConversionPattern<onnxq::ObserveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(onnxq::ObserveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "the tensor's rank is unknown");
    Type element = onnx::getElementType(op.getInput());
    Tensor tensor = {adaptor.getInput(), element};
    if (!element.isF32())
      tensor = e.map({tensor}, e.getF32Type(), [&](ArrayRef<Scalar> in) {
        return e.cast(in[0], e.getF32Type());
      });
    auto buffer = MemRefType::get(tensor.shape(), e.getF32Type());
    Value input = bufferization::ToBufferOp::create(e, buffer, tensor.value,
                                                    /*read_only=*/true);
    auto lowered = onnxq::ObserveOp::create(
        e, op.getNameAttr(), input, adaptor.getState(), op.getOffsetAttr(),
        op.getChannelAxisAttr(), op.getChannelsAttr(), op.getBinsAttr(),
        op.getPartsAttr());
    (void)lowered;
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerStatistics : OpConversionPattern<onnxq::StatisticsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(onnxq::StatisticsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
        op, op.getWords().getType(), adaptor.getState(), /*restrict=*/true);
    return success();
  }
};

} // namespace

void onnxquant::lowering::addObserverLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types,
    ConversionTarget &target) {
  patterns.add<LowerState, LowerObserve, LowerStatistics>(
      types, patterns.getContext());
  target.addLegalDialect<bufferization::BufferizationDialect,
                         memref::MemRefDialect>();
  target.addIllegalOp<onnxq::StateOp, onnxq::StatisticsOp>();
  target.addDynamicallyLegalOp<onnxq::ObserveOp>([](onnxq::ObserveOp op) {
    return isa<MemRefType>(op.getInput().getType());
  });
}
