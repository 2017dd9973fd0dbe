// Tables of bytes become reads of their entries, element by element.

#include "Lookups.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {

/// A table that is constant, as bytes without a sign; null if it isn't.
DenseIntElementsAttr getKnown(Value table) {
  ElementsAttr constant;
  auto numbers = matchPattern(table, m_Constant(&constant))
                     ? onnx::readInts(constant, 256)
                     : std::nullopt;
  if (!numbers)
    return {};
  SmallVector<int8_t> bytes(numbers->begin(), numbers->end());
  auto type = RankedTensorType::get(static_cast<int64_t>(bytes.size()),
                                    IntegerType::get(table.getContext(), 8));
  return DenseIntElementsAttr::get(type, ArrayRef<int8_t>(bytes));
}

struct LowerLookup : OpConversionPattern<onnxq::LookupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(onnxq::LookupOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    Type element = onnx::getElementType(op.getResult());
    Tensor input = {adaptor.getInput(), onnx::getElementType(op.getInput())};
    DenseIntElementsAttr known = getKnown(adaptor.getTable());
    Tensor result = e.map({input}, element, [&](ArrayRef<Scalar> in) {
      if (known) {
        Value entry = onnxq::EntryOp::create(e, in[0].value, known);
        return Scalar{entry, element};
      }
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
  target.addLegalOp<onnxq::EntryOp>();
}
