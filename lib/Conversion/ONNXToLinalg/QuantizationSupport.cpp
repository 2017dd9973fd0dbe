// Arithmetic and layouts that lowerings of quantized ops share.

#include "QuantizationSupport.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Type onnxquant::lowering::realType(Type scaleType) {
  if (scaleType.isF64())
    return scaleType;
  return Float32Type::get(scaleType.getContext());
}

Scalar onnxquant::lowering::difference(Emitter &e, Scalar q, Scalar zero,
                                       Type type) {
  Scalar wide = e.cast(q, type);
  return zero.value ? e.sub(wide, e.cast(zero, type)) : wide;
}

/// The type in which two elements of a quantized type can be subtracted.
static Type differenceType(Emitter &e, Type type) {
  if (isFloat(type))
    return e.getF32Type();
  return type.getIntOrFloatBitWidth() < 32 ? e.getI32Type() : e.getI64Type();
}

Scalar onnxquant::lowering::dequantize(Emitter &e, Scalar q, Scalar scale,
                                       Scalar zero) {
  Type real = realType(scale.elementType);
  Scalar exact = difference(e, q, zero, differenceType(e, q.elementType));
  return e.mul(e.cast(exact, real), e.cast(scale, real));
}

/// Clamps so that not-a-number gives `low`.
static Scalar clampNumber(Emitter &e, Scalar value, Scalar low, Scalar high) {
  value = e.select(e.compare(Emitter::GT, value, low), value, low);
  return e.select(e.compare(Emitter::LT, value, high), value, high);
}

Scalar onnxquant::lowering::roundAndClamp(Emitter &e, Scalar quotient,
                                          Scalar zero, Type type,
                                          bool saturate) {
  // Small floats have a zero point of zero.
  if (isFloat(type))
    return e.cast(quotient, type, saturate);
  unsigned bits = type.getIntOrFloatBitWidth();
  bool hasSign = !isUnsigned(type);
  int64_t lower = hasSign ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t upper = (int64_t(1) << (hasSign ? bits - 1 : bits)) - 1;
  Type i32 = e.getI32Type();
  Scalar point = zero.value ? e.cast(zero, i32) : e.integer(0, i32);
  return {onnxq::RequantizeOp::create(e, computeType(type), quotient.value,
                                      Value(), point.value, lower, upper),
          type};
}

Scalar onnxquant::lowering::quantize(Emitter &e, Scalar real, Scalar scale,
                                     Scalar zero, Type type, bool saturate) {
  Type computed = realType(scale.elementType);
  Scalar quotient = e.div(e.cast(real, computed), e.cast(scale, computed));
  return roundAndClamp(e, quotient, zero, type, saturate);
}

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

bool onnxquant::lowering::hasOneElement(Tensor tensor) {
  return llvm::all_of(tensor.shape(), [](int64_t dim) { return dim == 1; });
}

Scalar onnxquant::lowering::onlyElement(Emitter &e, Tensor tensor) {
  if (!tensor)
    return {};
  Indices indices;
  for (int64_t i = 0; i < tensor.rank(); ++i) {
    checkEqual(e, e.size(tensor, i), e.getIndexAttr(1),
               "a scale or zero point has more than one element");
    indices.push_back(e.index(0));
  }
  return e.read(tensor, indices);
}

Scalar onnxquant::lowering::onlyReal(Emitter &e, Tensor tensor) {
  Scalar scalar = onlyElement(e, tensor);
  return e.cast(scalar, realType(scalar.elementType));
}

Quantizer onnxquant::lowering::onlyQuantizer(Emitter &e, Tensor scale,
                                             Tensor zero) {
  return {onlyReal(e, scale), onlyElement(e, zero)};
}

Tensor onnxquant::lowering::scaleProduct(Emitter &e, Tensor a, Tensor b) {
  Type real = realType(a.elementType);
  return e.map({a, b}, real, [&](ArrayRef<Scalar> s) {
    return e.mul(e.cast(s[0], real), e.cast(s[1], real));
  });
}

/// Leaves out dimension `axis`, which has size 1.
static Tensor dropAxis(Emitter &e, Tensor tensor, int64_t axis) {
  Sizes sizes = e.sizes(tensor);
  sizes.erase(sizes.begin() + axis);
  return e.reshape(tensor, sizes);
}

Tensor onnxquant::lowering::alongRows(Emitter &e, Tensor parameter,
                                      int64_t aRank, int64_t bRank) {
  if (!parameter || hasOneElement(parameter))
    return parameter;
  if (parameter.rank() > 1)
    return bRank == 1 ? dropAxis(e, parameter, parameter.rank() - 1)
                      : parameter;
  if (aRank == 1 || bRank == 1)
    return parameter;
  return e.reshape(parameter, {e.size(parameter, 0), e.getIndexAttr(1)});
}

Tensor onnxquant::lowering::alongColumns(Emitter &e, Tensor parameter,
                                         int64_t aRank, int64_t bRank) {
  if (!parameter || hasOneElement(parameter) || parameter.rank() == 1)
    return parameter;
  return aRank == 1 ? dropAxis(e, parameter, parameter.rank() - 2) : parameter;
}

Tensor onnxquant::lowering::alongAxis(Emitter &e, Tensor parameter,
                                      int64_t axis, int64_t rank) {
  if (!parameter || parameter.rank() != 1 || hasOneElement(parameter))
    return parameter;
  Sizes sizes(rank - axis, e.getIndexAttr(1));
  sizes[0] = e.size(parameter, 0);
  return e.reshape(parameter, sizes);
}

/// Checks that a dimension of a parameter is 1 or that of the operand.
static void checkParameter(Emitter &e, OpFoldResult size,
                           OpFoldResult expected) {
  std::optional<int64_t> known = e.constant(size);
  if (known == 1 || (known && known == e.constant(expected)))
    return;
  Value value = e.asValue(size);
  Value isOne = e.cmpIndex(arith::CmpIPredicate::eq, value, e.index(1));
  Value fits = e.cmpIndex(arith::CmpIPredicate::eq, value, e.asValue(expected));
  e.check(e.createOrFold<arith::OrIOp>(isOne, fits),
          "a scale or zero point has another size than its operand");
}

/// The index into a dimension of `size` that may be 1.
static Value parameterIndex(Emitter &e, OpFoldResult size, Value index) {
  if (std::optional<int64_t> known = e.constant(size))
    return *known == 1 ? e.index(0) : index;
  Value isOne =
      e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(size), e.index(1));
  return e.createOrFold<arith::SelectOp>(isOne, e.index(0), index);
}

Loader onnxquant::lowering::minusZero(Emitter &e, Tensor operand, Tensor zero,
                                      int64_t axis, Type type) {
  if (!zero)
    return {};
  if (hasOneElement(zero)) {
    Scalar scalar = e.cast(onlyElement(e, zero), type);
    return [=](Emitter &e, Scalar q, ArrayRef<Value>) {
      return difference(e, q, scalar, type);
    };
  }
  Sizes sizes = e.sizes(zero);
  for (int64_t i = 0; i < zero.rank(); ++i)
    checkParameter(e, sizes[i], e.size(operand, zero.rank() == 1 ? axis : i));
  return [=](Emitter &e, Scalar q, ArrayRef<Value> indices) {
    Indices at;
    for (size_t i = 0; i < sizes.size(); ++i)
      at.push_back(
          parameterIndex(e, sizes[i], indices[sizes.size() == 1 ? axis : i]));
    return difference(e, q, e.read(zero, at), type);
  };
}

//===----------------------------------------------------------------------===//
// Ranges of data
//===----------------------------------------------------------------------===//

Quantizer onnxquant::lowering::dynamicQuantizer(Emitter &e, Tensor x) {
  Type f32 = e.getF32Type();
  Type ui8 = e.getIntegerType(8, /*isSigned=*/false);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  // Starting with zero makes it part of the range.
  Scalar nothing = e.number(0, f32);
  auto bound = [&](bool isUpper) {
    Tensor result = e.reduce(x, axes, /*keepDims=*/false, nothing,
                             [&](Scalar v, Scalar acc) {
                               return isUpper ? e.max(v, acc) : e.min(v, acc);
                             });
    return e.read(result, {});
  };
  Scalar low = bound(false), high = bound(true);
  Scalar width = e.div(e.sub(high, low), e.number(255, f32));
  Scalar scale =
      e.select(e.compare(Emitter::EQ, high, low), e.number(1, f32), width);
  Scalar zero = clampNumber(e, e.neg(e.div(low, scale)), e.number(0, f32),
                            e.number(255, f32));
  return {scale, roundAndClamp(e, zero, {}, ui8)};
}

Loader onnxquant::lowering::quantized(Quantizer quantizer) {
  return [=](Emitter &e, Scalar real, ArrayRef<Value>) {
    Scalar q = quantize(e, real, quantizer.scale, quantizer.zero,
                        quantizer.zero.elementType);
    return difference(e, q, quantizer.zero, e.getI32Type());
  };
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Tensor onnxquant::lowering::channelsSecond(Emitter &e, Tensor tensor) {
  SmallVector<int64_t> order = {0, tensor.rank() - 1};
  for (int64_t i = 1; i < tensor.rank() - 1; ++i)
    order.push_back(i);
  return e.transpose(tensor, order);
}

Tensor onnxquant::lowering::channelsLast(Emitter &e, Tensor tensor) {
  SmallVector<int64_t> order = {0};
  for (int64_t i = 2; i < tensor.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  return e.transpose(tensor, order);
}

Tensor onnxquant::lowering::partOf(Emitter &e, Tensor tensor,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes,
                                   size_t dropped) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes.drop_front(dropped))
    shape.push_back(e.constant(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, storageType(tensor.elementType));
  SmallVector<OpFoldResult> strides(sizes.size(), e.getIndexAttr(1));
  return {tensor::ExtractSliceOp::create(e, type, tensor.value, offsets, sizes,
                                         strides),
          tensor.elementType};
}

Tensor onnxquant::lowering::putPart(Emitter &e, Tensor part, Tensor into,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size(), e.getIndexAttr(1));
  // The part's type has to know exactly as much as the sizes do.
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes.take_back(part.rank()))
    shape.push_back(e.constant(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, storageType(part.elementType));
  Value value = part.value;
  if (value.getType() != type)
    value = tensor::CastOp::create(e, type, value);
  return {tensor::InsertSliceOp::create(e, value, into.value, offsets, sizes,
                                        strides),
          into.elementType};
}

void onnxquant::lowering::addQuantizationLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  addLinearQuantizers(patterns, types);
  addQuantizedProducts(patterns, types);
  addMicrosoftElementwise(patterns, types);
  addMicrosoftPools(patterns, types);
  addMicrosoftProducts(patterns, types);
  addMicrosoftFused(patterns, types);
  addMicrosoftAttention(patterns, types);
  addQuantizedRecurrent(patterns, types);
}
