// Layouts of observers: what is counted doesn't depend on the order, but for
// the channels, whose axis moves. And of tables, which work element by element.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

namespace {

/// A record in parts (samples) needs the first dimension where it is. What a
/// graph is given has its order already, mostly with few channels, which are
/// looked at faster as planes.
struct ObserveModel : public Base<ObserveModel, onnxq::ObserveOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    if (place.isResult || place.number != 0 || perm.empty() || perm[0] != 0 ||
        isa<BlockArgument>(op->getOperand(0)))
      return failure();
    OpLayout layout = makeLayout(op);
    layout.operands[0].assign(perm.begin(), perm.end());
    return layout;
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    int64_t axis = cast<onnxq::ObserveOp>(op).getChannelAxis();
    if (axis >= 0)
      made->setAttr("channel_axis", builder.getI64IntegerAttr(
                                        invert(layout.operands[0])[axis]));
    return {};
  }
};

struct LookupModel : public Base<LookupModel, onnxq::LookupOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    return SmallVector<Value>(
        rebuild(builder, op, layout, operands)->getResults());
  }
};

} // namespace

void onnxquant::onnxq::registerLayoutModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ONNXQDialect *) {
    ObserveOp::attachInterface<ObserveModel>(*context);
    LookupOp::attachInterface<LookupModel>(*context);
  });
}
