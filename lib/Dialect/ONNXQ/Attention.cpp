// What attention's operands have to be.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

static bool mayBeEqual(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

static bool mayServe(int64_t size, int64_t all) {
  return size == 1 || mayBeEqual(size, all);
}

LogicalResult AttentionOp::verify() {
  ShapedType q = getQuery().getType(), k = getKey().getType(),
             v = getValue().getType(), y = getInit().getType();
  SmallVector<ShapedType> types = {q, k, v, y};
  if (getBias())
    types.push_back(cast<ShapedType>(getBias().getType()));
  for (ShapedType type : types)
    if (type.getRank() != 4 || !type.getElementType().isF32())
      return emitOpError("expects elements of f32 in four dimensions, but got ")
             << type << " [C1]";
  if (getTokensFirst().size() != 4)
    return emitOpError("expects four entries of tokens_first, but got ")
           << getTokensFirst().size() << " [C5]";
  auto heads = [&](Tensor which) {
    return types[which].getDimSize(getHeadAxis(which));
  };
  auto tokens = [&](Tensor which) {
    return types[which].getDimSize(getTokenAxis(which));
  };
  int64_t all = heads(Query), shared = heads(Key);
  for (Tensor which : {Query, Key, Value, Output})
    if (ShapedType::isDynamic(heads(which)) || types[which].isDynamicDim(3) ||
        types[which].getDimSize(3) < 1)
      return emitOpError("expects heads and widths that are known, but got ")
             << types[which] << " [C2]";
  if (shared < 1 || all < 1 || all % shared != 0 || heads(Value) != shared)
    return emitOpError("expects heads that are a multiple of those of keys and "
                       "values, but got ")
           << all << ", " << shared << " and " << heads(Value) << " [C2]";
  if (q.getDimSize(3) != k.getDimSize(3) ||
      v.getDimSize(3) != y.getDimSize(3) || heads(Output) != all ||
      !mayBeEqual(tokens(Query), tokens(Output)) ||
      !mayBeEqual(tokens(Key), tokens(Value)))
    return emitOpError("expects tensors that go together, but got ")
           << q << ", " << k << ", " << v << " and " << y << " [C3]";
  if (getBias()) {
    ShapedType bias = types.back();
    int64_t sizes[] = {y.getDimSize(0), all, tokens(Output), tokens(Key)};
    for (auto [size, full] : llvm::zip(bias.getShape(), sizes))
      if (!mayServe(size, full))
        return emitOpError("expects a bias of the scores' sizes, but got ")
               << bias << " [C4]";
  }
  return success();
}
