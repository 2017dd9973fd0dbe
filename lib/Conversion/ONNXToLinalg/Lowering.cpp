// Type conversion and what all lowerings share.

#include "Lowering.h"

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
    if (value.getType() != type)
      value = tensor::CastOp::create(rewriter, op->getLoc(), type, value);
    replacements.push_back(value);
  }
  rewriter.replaceOp(op, replacements);
  return success();
}

Results onnxquant::lowering::refuse(Operation *op, const Twine &reason) {
  return op->emitOpError("cannot be run: ") << reason;
}
