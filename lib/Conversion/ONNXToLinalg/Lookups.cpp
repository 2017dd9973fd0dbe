// Tables of bytes become reads of their entries, element by element.

#include "Lookups.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {

struct LowerLookup : OpConversionPattern<onnxq::LookupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(onnxq::LookupOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Type element = onnx::getElementType(op.getResult());
    Tensor input = {adaptor.getInput(), onnx::getElementType(op.getInput())};
    Tensor result = e.map({input}, element, [&](ArrayRef<Scalar> in) {
      Value place =
          arith::IndexCastUIOp::create(e, e.getIndexType(), in[0].value);
      Value entry = tensor::ExtractOp::create(e, adaptor.getTable(), place);
      return Scalar{entry, element};
    });
    return replaceWithStored(op, result.value, *getTypeConverter(), rewriter);
  }
};

} // namespace

void onnxquant::lowering::addLookupLowerings(RewritePatternSet &patterns,
                                             const StorageTypeConverter &types,
                                             ConversionTarget &target) {
  patterns.add<LowerLookup>(types, patterns.getContext());
  target.addIllegalOp<onnxq::LookupOp>();
}
