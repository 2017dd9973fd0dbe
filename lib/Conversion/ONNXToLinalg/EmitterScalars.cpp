// Elements: how every ONNX type is stored, loaded, computed with and cast.

#include "Emitter.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace onnxquant::lowering;

bool onnxquant::lowering::isBool(Type type) { return type.isInteger(1); }

bool onnxquant::lowering::isUnsigned(Type type) {
  return type.isUnsignedInteger() || isBool(type);
}

bool onnxquant::lowering::isFloat(Type type) { return isa<FloatType>(type); }

/// Floats that are stored as their bits.
static bool isSmallFloat(Type type) {
  return isa<FloatType>(type) && !type.isF32() && !type.isF64();
}

Type onnxquant::lowering::storageType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isF32() || type.isF64())
    return type;
  if (isa<FloatType>(type))
    return IntegerType::get(context,
                            std::max(8u, type.getIntOrFloatBitWidth()));
  if (isa<IntegerType>(type))
    return IntegerType::get(context,
                            std::max(8u, type.getIntOrFloatBitWidth()));
  return {};
}

Type onnxquant::lowering::computeType(Type type) {
  if (isBool(type))
    return type;
  if (isSmallFloat(type))
    return Float32Type::get(type.getContext());
  return storageType(type);
}

Scalar Emitter::number(double value, Type elementType) {
  Type type = computeType(elementType);
  if (isa<FloatType>(type))
    return {arith::ConstantOp::create(*this, getFloatAttr(type, value)),
            elementType};
  return integer(static_cast<int64_t>(value), elementType);
}

Scalar Emitter::integer(int64_t value, Type elementType) {
  Type type = computeType(elementType);
  if (isa<FloatType>(type))
    return number(static_cast<double>(value), elementType);
  return {arith::ConstantOp::create(
              *this, IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(),
                                                  static_cast<uint64_t>(value),
                                                  true, true))),
          elementType};
}

Scalar Emitter::lowest(Type elementType) {
  Type type = computeType(elementType);
  if (isa<FloatType>(type))
    return number(-std::numeric_limits<double>::infinity(), elementType);
  if (isUnsigned(elementType))
    return integer(0, elementType);
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return integer(APInt::getSignedMinValue(bits).getSExtValue(), elementType);
}

Scalar Emitter::highest(Type elementType) {
  Type type = computeType(elementType);
  if (isa<FloatType>(type))
    return number(std::numeric_limits<double>::infinity(), elementType);
  unsigned bits = elementType.getIntOrFloatBitWidth();
  APInt value = isUnsigned(elementType) ? APInt::getMaxValue(bits)
                                        : APInt::getSignedMaxValue(bits);
  return {arith::ConstantOp::create(
              *this, IntegerAttr::get(type, value.zextOrTrunc(
                                                type.getIntOrFloatBitWidth()))),
          elementType};
}

//===----------------------------------------------------------------------===//
// Small floats as bits
//===----------------------------------------------------------------------===//

namespace {
/// 32-bit integer arithmetic in few words.
struct Bits {
  Emitter &e;
  Value get(uint32_t value) const {
    return arith::ConstantOp::create(
        e, e.getIntegerAttr(e.getI32Type(), static_cast<int32_t>(value)));
  }
  Value band(Value a, uint32_t b) const {
    return arith::AndIOp::create(e, a, get(b));
  }
  Value bor(Value a, Value b) const { return arith::OrIOp::create(e, a, b); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(e, a, b); }
  Value sub(Value a, Value b) const { return arith::SubIOp::create(e, a, b); }
  Value shl(Value a, unsigned n) const {
    return arith::ShLIOp::create(e, a, get(n));
  }
  Value shr(Value a, unsigned n) const {
    return arith::ShRUIOp::create(e, a, get(n));
  }
  Value ult(Value a, Value b) const {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, a, b);
  }
  Value eq(Value a, uint32_t b) const {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, a, get(b));
  }
  Value select(Value c, Value a, Value b) const {
    return arith::SelectOp::create(e, c, a, b);
  }
  Value toFloat(Value a) const {
    return arith::BitcastOp::create(e, e.getF32Type(), a);
  }
  Value fromFloat(Value a) const {
    return arith::BitcastOp::create(e, e.getI32Type(), a);
  }
};
} // namespace

static Value halfToFloat(Emitter &e, Value stored) {
  Bits b{e};
  Value wide = arith::ExtUIOp::create(e, e.getI32Type(), stored);
  Value magnitude = b.shl(b.band(wide, 0x7fff), 13);
  // Scaling by 2^112 moves the exponent, subnormals included.
  Value scale = b.toFloat(b.get(0x77800000));
  Value scaled =
      b.fromFloat(arith::MulFOp::create(e, b.toFloat(magnitude), scale));
  Value special = b.eq(b.band(wide, 0x7c00), 0x7c00);
  Value bits = b.select(special, b.bor(magnitude, b.get(0x7f800000)), scaled);
  return b.toFloat(b.bor(bits, b.shl(b.band(wide, 0x8000), 16)));
}

static Value floatToHalf(Emitter &e, Value value) {
  Bits b{e};
  Value bits = b.fromFloat(value);
  Value magnitude = b.band(bits, 0x7fffffff);
  Value sign = b.band(b.shr(bits, 16), 0x8000);
  // Normal: rebias the exponent and round half to even.
  Value odd = b.band(b.shr(magnitude, 13), 1);
  Value normal = b.shr(b.add(b.add(magnitude, b.get(0xc8000fffu)), odd), 13);
  // Subnormal: adding 0.5 lets the addition round.
  Value half = b.get(0x3f000000);
  Value shifted = b.fromFloat(
      arith::AddFOp::create(e, b.toFloat(magnitude), b.toFloat(half)));
  Value subnormal = b.sub(shifted, half);
  Value result =
      b.select(b.ult(magnitude, b.get(0x38800000)), subnormal, normal);
  result = b.select(b.ult(magnitude, b.get(0x477ff000)), result, b.get(0x7c00));
  result = b.select(b.ult(b.get(0x7f800000), magnitude), b.get(0x7e00), result);
  return arith::TruncIOp::create(e, e.getI16Type(), b.bor(result, sign));
}

static Value brainToFloat(Emitter &e, Value stored) {
  Bits b{e};
  return b.toFloat(
      b.shl(arith::ExtUIOp::create(e, e.getI32Type(), stored), 16));
}

static Value floatToBrain(Emitter &e, Value value) {
  Bits b{e};
  Value bits = b.fromFloat(value);
  Value odd = b.band(b.shr(bits, 16), 1);
  Value rounded = b.shr(b.add(b.add(bits, b.get(0x7fff)), odd), 16);
  Value isNan = b.ult(b.get(0x7f800000), b.band(bits, 0x7fffffff));
  Value nan = b.bor(b.band(b.shr(bits, 16), 0x8000), b.get(0x7fc0));
  return arith::TruncIOp::create(e, e.getI16Type(),
                                 b.select(isNan, nan, rounded));
}

/// A power of two by its exponent alone; the largest code is NaN.
static Value scaleToFloat(Emitter &e, Value stored) {
  Bits b{e};
  Value code = arith::ExtUIOp::create(e, e.getI32Type(), stored);
  // The least power is a subnormal float.
  Value bits = b.select(b.eq(code, 0), b.get(0x00400000), b.shl(code, 23));
  return b.toFloat(b.select(b.eq(code, 255), b.get(0x7fc00000), bits));
}

/// Rounds up to a power of two; the sign is dropped. What is larger than the
/// largest power becomes that, or NaN.
static Value floatToScale(Emitter &e, Value value, bool saturate) {
  Bits b{e};
  Value magnitude = b.band(b.fromFloat(value), 0x7fffffff);
  Value up = b.shr(b.add(magnitude, b.get(0x007fffff)), 23);
  // Subnormal floats: up to 2^-127 there is nothing but the least power.
  up = b.select(b.ult(magnitude, b.get(0x00400001)), b.get(0), up);
  Value isLarge = b.ult(b.get(254), up);
  up = b.select(isLarge, b.get(saturate ? 254 : 255), up);
  Value isSpecial = b.ult(b.get(0x7f7fffff), magnitude);
  up = b.select(isSpecial, b.get(255), up);
  return arith::TruncIOp::create(e, e.getI8Type(), up);
}

/// Floats of 8 bits and less are read from a table of all their values.
static Value tinyToFloat(Emitter &e, Value stored, FloatType type) {
  if (isa<Float8E8M0FNUType>(type))
    return scaleToFloat(e, stored);
  unsigned width = type.getWidth();
  SmallVector<float> table;
  for (unsigned bits = 0; bits < (1u << width); ++bits) {
    APFloat value(type.getFloatSemantics(), APInt(width, bits));
    bool lost;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    table.push_back(value.convertToFloat());
  }
  auto tableType = RankedTensorType::get({static_cast<int64_t>(table.size())},
                                         e.getF32Type());
  Value values = arith::ConstantOp::create(
      e, DenseElementsAttr::get(tableType, ArrayRef<float>(table)));
  Value masked = arith::AndIOp::create(
      e, stored,
      arith::ConstantOp::create(
          e, e.getIntegerAttr(stored.getType(), (1 << width) - 1)));
  return tensor::ExtractOp::create(e, values,
                                   ValueRange{e.toIndex(masked, true)});
}

/// Rounds to a float of 8 bits or less: the position among the table of its
/// positive values is found by rounding at the right binary digit.
static Value floatToTiny(Emitter &e, Value value, FloatType type,
                         bool saturate) {
  if (isa<Float8E8M0FNUType>(type))
    return floatToScale(e, value, saturate);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Bits b{e};
  unsigned width = type.getWidth();
  unsigned mantissa = type.getFPMantissaWidth() - 1;
  unsigned magnitudeBits = width - 1;
  APFloat largest = APFloat::getLargest(semantics);
  APFloat smallest = APFloat::getSmallestNormalized(semantics);
  bool lost;
  largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  int minExponent = ilogb(smallest);
  int bias = 1 - minExponent;
  uint32_t maxBits = APFloat::getLargest(semantics)
                         .bitcastToAPInt()
                         .trunc(width)
                         .getZExtValue() &
                     ((1u << magnitudeBits) - 1);

  Value bits = b.fromFloat(value);
  Value magnitude = b.band(bits, 0x7fffffff);
  Value absolute = b.toFloat(magnitude);
  // Normal: keep `mantissa` digits, half to even; carries reach the exponent.
  unsigned drop = 23 - mantissa;
  Value odd = b.band(b.shr(magnitude, drop), 1);
  Value rounded =
      b.shr(b.add(b.add(magnitude, b.get((1u << (drop - 1)) - 1)), odd), drop);
  Value normal =
      b.sub(rounded, b.get(static_cast<uint32_t>(127 - bias) << mantissa));
  // Subnormal: count units of the last place.
  Value unit = arith::ConstantOp::create(
      e, e.getF32FloatAttr(
             std::ldexp(1.0f, static_cast<int>(mantissa) - minExponent)));
  Value count = math::RoundEvenOp::create(
      e, arith::MulFOp::create(
             e,
             arith::MinimumFOp::create(
                 e, absolute,
                 arith::ConstantOp::create(
                     e, e.getF32FloatAttr(std::ldexp(1.0f, minExponent)))),
             unit));
  Value subnormal = arith::FPToUIOp::create(e, e.getI32Type(), count);
  Value isSmall =
      b.ult(magnitude, b.get(static_cast<uint32_t>(127 + minExponent) << 23));
  Value result = b.select(isSmall, subnormal, normal);
  // Beyond the largest value: clamp, or what the format has for it.
  APFloat infinity = APFloat::getInf(APFloat::IEEEsingle());
  bool formatHasInf = isa<Float8E5M2Type>(type);
  APFloat nanValue = isa<Float4E2M1FNType>(type)
                         ? APFloat::getLargest(semantics)
                         : APFloat::getNaN(semantics);
  uint32_t nan = nanValue.bitcastToAPInt().getZExtValue();
  uint32_t overflow =
      saturate || isa<Float4E2M1FNType>(type) ? maxBits
      : formatHasInf
          ? APFloat::getInf(semantics).bitcastToAPInt().getZExtValue()
          : nan;
  Value isLarge = b.ult(b.get(maxBits), result);
  // The sum that finds `normal` is meaningful for finite values only.
  Value isInf = b.eq(magnitude, 0x7f800000);
  result = b.select(arith::OrIOp::create(e, isLarge, isInf), b.get(overflow),
                    result);
  Value sign = b.shl(b.shr(bits, 31), width - 1);
  Value withSign = b.bor(result, sign);
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type)) {
    withSign = b.select(b.eq(result, 0), b.get(0), withSign);
    withSign = b.select(b.eq(result, nan), b.get(nan), withSign);
  }
  result = withSign;
  Value isNan = b.ult(b.get(0x7f800000), magnitude);
  result = b.select(isNan, b.get(nan), result);
  return arith::TruncIOp::create(e, e.getI8Type(), result);
}

//===----------------------------------------------------------------------===//
// Load and store
//===----------------------------------------------------------------------===//

Scalar Emitter::load(Value stored, Type elementType) {
  if (isBool(elementType)) {
    Value zero =
        arith::ConstantOp::create(*this, getIntegerAttr(stored.getType(), 0));
    return {
        arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, stored, zero),
        elementType};
  }
  if (elementType.isF16())
    return {halfToFloat(*this, stored), elementType};
  if (elementType.isBF16())
    return {brainToFloat(*this, stored), elementType};
  if (isSmallFloat(elementType))
    return {tinyToFloat(*this, stored, llvm::cast<FloatType>(elementType)),
            elementType};
  return {stored, elementType};
}

Value Emitter::store(Scalar scalar) {
  Type type = scalar.elementType;
  if (isBool(type))
    return arith::ExtUIOp::create(*this, getI8Type(), scalar.value);
  if (type.isF16())
    return floatToHalf(*this, scalar.value);
  if (type.isBF16())
    return floatToBrain(*this, scalar.value);
  if (isSmallFloat(type))
    return floatToTiny(*this, scalar.value, llvm::cast<FloatType>(type),
                       /*saturate=*/!isa<Float8E5M2Type>(type));
  return scalar.value;
}

Scalar Emitter::read(Tensor tensor, ArrayRef<Value> indices) {
  checkRead(tensor, indices);
  return load(tensor::ExtractOp::create(*this, tensor.value, indices),
              tensor.elementType);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Truncates, saturates to 64 bits, and takes NaN for 0.
static Value floatToInteger(Emitter &e, Value value, bool toUnsigned64) {
  Type type = value.getType();
  auto constant = [&](double number) {
    return arith::ConstantOp::create(e, e.getFloatAttr(type, number));
  };
  // The largest float below 2^63 or 2^64.
  double top = toUnsigned64 ? 18446744073709551616.0 : 9223372036854775808.0;
  double below = type.isF32() ? std::nextafterf(static_cast<float>(top), 0.0f)
                              : std::nextafter(top, 0.0);
  Value isNan =
      arith::CmpFOp::create(e, arith::CmpFPredicate::UNO, value, value);
  Value clean = arith::SelectOp::create(e, isNan, constant(0), value);
  Value lower =
      constant(toUnsigned64 ? -9223372036854775808.0 : -9223372036854775808.0);
  clean = arith::MaximumFOp::create(e, clean, lower);
  clean = arith::MinimumFOp::create(e, clean, constant(below));
  if (!toUnsigned64)
    return arith::FPToSIOp::create(e, e.getI64Type(), clean);
  // Negative values wrap as they do through signed integers.
  Value negative =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OLT, clean, constant(0));
  Value asSigned = arith::FPToSIOp::create(
      e, e.getI64Type(),
      arith::SelectOp::create(e, negative, clean, constant(0)));
  Value asUnsigned = arith::FPToUIOp::create(
      e, e.getI64Type(),
      arith::SelectOp::create(e, negative, constant(0), clean));
  return arith::SelectOp::create(e, negative, asSigned, asUnsigned);
}

/// Values of 4-bit integers are kept extended to their storage.
static Value wrapNarrow(Emitter &e, Value value, Type elementType) {
  if (elementType.getIntOrFloatBitWidth() != 4)
    return value;
  Type i4 = e.getIntegerType(4);
  Value narrow = arith::TruncIOp::create(e, i4, value);
  if (isUnsigned(elementType))
    return arith::ExtUIOp::create(e, value.getType(), narrow);
  return arith::ExtSIOp::create(e, value.getType(), narrow);
}

Scalar Emitter::cast(Scalar scalar, Type elementType, bool saturate) {
  Type from = scalar.elementType;
  if (from == elementType)
    return scalar;
  Value value = scalar.value;
  Type target = computeType(elementType);
  if (isBool(elementType)) {
    Value zero = number(0, from).value;
    if (isFloat(from))
      return {
          arith::CmpFOp::create(*this, arith::CmpFPredicate::UNE, value, zero),
          elementType};
    return {arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, value, zero),
            elementType};
  }
  if (isFloat(elementType)) {
    if (!isFloat(from)) {
      value = isUnsigned(from)
                  ? Value(arith::UIToFPOp::create(*this, target, value))
                  : arith::SIToFPOp::create(*this, target, value);
    } else if (value.getType() != target) {
      value = value.getType().isF32()
                  ? Value(arith::ExtFOp::create(*this, target, value))
                  : arith::TruncFOp::create(*this, target, value);
    }
    // Rounding to a 16-bit float happens when it is stored; smaller ones are
    // made here, where it is known whether they saturate.
    if (isSmallFloat(elementType) && elementType.getIntOrFloatBitWidth() <= 8)
      value =
          tinyToFloat(*this,
                      floatToTiny(*this, value,
                                  llvm::cast<FloatType>(elementType), saturate),
                      llvm::cast<FloatType>(elementType));
    return {value, elementType};
  }
  unsigned bits = target.getIntOrFloatBitWidth();
  if (isFloat(from)) {
    value = floatToInteger(*this, value, elementType.isUnsignedInteger(64));
    if (bits < 64)
      value = arith::TruncIOp::create(*this, target, value);
    return {wrapNarrow(*this, value, elementType), elementType};
  }
  unsigned fromBits = value.getType().getIntOrFloatBitWidth();
  if (fromBits < bits)
    value = isUnsigned(from)
                ? Value(arith::ExtUIOp::create(*this, target, value))
                : arith::ExtSIOp::create(*this, target, value);
  else if (fromBits > bits)
    value = arith::TruncIOp::create(*this, target, value);
  return {wrapNarrow(*this, value, elementType), elementType};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Scalar binary(Emitter &e, Scalar a, Scalar b) {
  if (isFloat(a.elementType))
    return {FloatOp::create(e, a.value, b.value).getResult(), a.elementType};
  return {IntOp::create(e, a.value, b.value).getResult(), a.elementType};
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Scalar binarySigned(Emitter &e, Scalar a, Scalar b) {
  if (!isFloat(a.elementType) && isUnsigned(a.elementType))
    return {UnsignedOp::create(e, a.value, b.value).getResult(), a.elementType};
  return binary<FloatOp, SignedOp>(e, a, b);
}

Scalar Emitter::add(Scalar a, Scalar b) {
  return binary<arith::AddFOp, arith::AddIOp>(*this, a, b);
}
Scalar Emitter::sub(Scalar a, Scalar b) {
  return binary<arith::SubFOp, arith::SubIOp>(*this, a, b);
}
Scalar Emitter::mul(Scalar a, Scalar b) {
  return binary<arith::MulFOp, arith::MulIOp>(*this, a, b);
}
Scalar Emitter::div(Scalar a, Scalar b) {
  return binarySigned<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(*this, a,
                                                                     b);
}
Scalar Emitter::rem(Scalar a, Scalar b) {
  return binarySigned<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(*this, a,
                                                                     b);
}
Scalar Emitter::min(Scalar a, Scalar b) {
  return binarySigned<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(*this,
                                                                         a, b);
}
Scalar Emitter::max(Scalar a, Scalar b) {
  return binarySigned<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(*this,
                                                                         a, b);
}

Scalar Emitter::neg(Scalar a) {
  if (isFloat(a.elementType))
    return {arith::NegFOp::create(*this, a.value), a.elementType};
  return sub(integer(0, a.elementType), a);
}

Scalar Emitter::abs(Scalar a) {
  if (isFloat(a.elementType))
    return {math::AbsFOp::create(*this, a.value), a.elementType};
  if (isUnsigned(a.elementType))
    return a;
  return {math::AbsIOp::create(*this, a.value), a.elementType};
}

Scalar Emitter::select(Value condition, Scalar a, Scalar b) {
  return {arith::SelectOp::create(*this, condition, a.value, b.value),
          a.elementType};
}

Value Emitter::compare(Compare predicate, Scalar a, Scalar b) {
  if (isFloat(a.elementType)) {
    static constexpr arith::CmpFPredicate floats[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
        arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(*this, floats[predicate], a.value, b.value);
  }
  static constexpr arith::CmpIPredicate signeds[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate unsigneds[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
      arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  return arith::CmpIOp::create(
      *this, (isUnsigned(a.elementType) ? unsigneds : signeds)[predicate],
      a.value, b.value);
}
