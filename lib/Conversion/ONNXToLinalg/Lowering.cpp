// Type conversion and what all lowerings share.

#include "Lowering.h"
#include "SizeCast.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

StorageTypeConverter::StorageTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](TensorType type) -> std::optional<Type> {
    auto ranked = dyn_cast<RankedTensorType>(type);
    Type storage = storageType(type.getElementType());
    if (!ranked || !storage)
      return std::nullopt;
    return RankedTensorType::get(ranked.getShape(), storage);
  });
  auto materialize = [](OpBuilder &builder, Type type, ValueRange inputs,
                        Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
        .getResult(0);
  };
  addSourceMaterialization(materialize);
  addTargetMaterialization(materialize);
}

Value onnxquant::lowering::castSizes(Emitter &e, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  auto from = cast<RankedTensorType>(tensor.getType());
  auto to = cast<RankedTensorType>(type);
  for (int64_t axis = 0; axis < to.getRank(); ++axis) {
    if (to.isDynamicDim(axis) || !from.isDynamicDim(axis))
      continue;
    Value size = tensor::DimOp::create(e, tensor, axis);
    e.check(e.cmpIndex(arith::CmpIPredicate::eq, size,
                       e.index(to.getDimSize(axis))),
            "expects size " + Twine(to.getDimSize(axis)) + " in dimension " +
                Twine(axis) + " of a value, but got another");
  }
  return tensor::CastOp::create(e, type, tensor);
}

LogicalResult
onnxquant::lowering::replaceWithStored(Operation *op, ArrayRef<Value> results,
                                       const TypeConverter &converter,
                                       ConversionPatternRewriter &rewriter) {
  SmallVector<Value> replacements;
  for (OpResult result : op->getResults()) {
    if (isa<NoneType>(result.getType())) {
      replacements.push_back(onnxquant::onnx::NoValueOp::create(
          rewriter, op->getLoc(), result.getType(), rewriter.getUnitAttr()));
      continue;
    }
    Value value = result.getResultNumber() < results.size()
                      ? results[result.getResultNumber()]
                      : Value();
    Type type = converter.convertType(result.getType());
    if (!value || !type)
      return rewriter.notifyMatchFailure(op, "a result was not computed");
    auto from = dyn_cast<RankedTensorType>(value.getType());
    auto to = dyn_cast<RankedTensorType>(type);
    if (!from || !to || from.getRank() != to.getRank())
      return op->emitOpError("cannot be run: its result has type ")
             << type << ", but it computes " << value.getType();
    Emitter e(rewriter, op);
    replacements.push_back(castSizes(e, value, type));
  }
  rewriter.replaceOp(op, replacements);
  return success();
}

Results onnxquant::lowering::refuse(Operation *op, const Twine &reason) {
  return op->emitOpError("cannot be run: ") << reason;
}
