// Recognizes and emits requantizations at the end of epilogues.

#include "RoundedEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

std::optional<RoundedEpilogue> kernels::matchRounded(Region &epilogue,
                                                     const TargetInfo &target) {
  auto yield = cast<onnxq::YieldOp>(epilogue.front().getTerminator());
  return matchRounded(yield.getValue(), target);
}

std::optional<RoundedEpilogue> kernels::matchRounded(Value result,
                                                     const TargetInfo &target) {
  auto entry = result.getDefiningOp<onnxq::EntryOp>();
  auto op =
      (entry ? entry.getByte() : result).getDefiningOp<onnxq::RequantizeOp>();
  IntegerAttr zero;
  if (!op || !op.getType().isInteger(8) || !op.getValue().getType().isF32() ||
      op.getScale() || !matchPattern(op.getZeroPoint(), m_Constant(&zero)))
    return std::nullopt;
  return RoundedEpilogue{op.getValue(),
                         zero.getInt(),
                         static_cast<int64_t>(op.getLower()),
                         static_cast<int64_t>(op.getUpper()),
                         entry ? entry.getTable() : DenseIntElementsAttr(),
                         target.hasAVX2,
                         target.hasAVX512,
                         target.arch == TargetInfo::Arch::AArch64 ||
                             target.hasRVV,
                         op.getFitsI32()};
}

/// Part `index` of a vector, of `count` elements.
static Value takePart(KernelBuilder &b, Value vector, int64_t index,
                      int64_t count) {
  return vector::ExtractStridedSliceOp::create(
      b, vector, ArrayRef<int64_t>{index * count}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

/// Half of a vector.
static Value takeHalf(KernelBuilder &b, Value vector, bool isUpper) {
  int64_t half = cast<VectorType>(vector.getType()).getNumElements() / 2;
  return takePart(b, vector, isUpper, half);
}

static Value splat(KernelBuilder &b, VectorType type, Attribute value) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
}

/// The 8-bit integers of small floats, rounded by an addition: next to 1.5 *
/// 2^23 floats are whole numbers, and the low bits of such a float are those of
/// the integer.
static Value emitByAddition(KernelBuilder &b, const RoundedEpilogue &rounded,
                            Value values) {
  auto type = cast<VectorType>(values.getType());
  Value large = splat(b, type, b.getF32FloatAttr(12582912.0f));
  Value sums = arith::AddFOp::create(b, values, large);
  Value bits = arith::BitcastOp::create(b, type.clone(b.getI32Type()), sums);
  VectorType bytes = type.clone(b.getI8Type());
  Value x = arith::TruncIOp::create(b, bytes, bits);
  if (rounded.zero == 0)
    return x;
  // Wraps, to a byte that lies between the bounds.
  auto zero = static_cast<int8_t>(rounded.zero);
  return arith::AddIOp::create(b, x, splat(b, bytes, b.getI8IntegerAttr(zero)));
}

/// In plain ops: rounding next to the conversion, which is one instruction on
/// many processors.
static Value emitPlain(KernelBuilder &b, const RoundedEpilogue &rounded,
                       Value values) {
  auto type = cast<VectorType>(values.getType());
  auto bound = [&](Value x, int64_t limit, arith::CmpFPredicate predicate) {
    Value limitValue = splat(b, type, b.getF32FloatAttr(limit - rounded.zero));
    Value isInside = arith::CmpFOp::create(b, predicate, x, limitValue);
    return arith::SelectOp::create(b, isInside, x, limitValue).getResult();
  };
  Value x = bound(values, rounded.low, arith::CmpFPredicate::OGT);
  x = bound(x, rounded.high, arith::CmpFPredicate::OLT);
  if (rounded.byAddition)
    return emitByAddition(b, rounded, x);
  x = math::RoundEvenOp::create(b, x);
  VectorType whole = type.clone(b.getI32Type());
  x = arith::FPToSIOp::create(b, whole, x);
  if (rounded.zero != 0)
    x = arith::AddIOp::create(
        b, x, splat(b, whole, b.getI32IntegerAttr(rounded.zero)));
  return arith::TruncIOp::create(b, type.clone(b.getI8Type()), x);
}

/// Bytes that narrowing saturated, clamped to the bounds that are left.
static Value clampBytes(KernelBuilder &b, const RoundedEpilogue &rounded,
                        Value bytes) {
  bool hasSign = rounded.low < 0;
  auto bound = [&](int64_t limit) {
    return splat(b, cast<VectorType>(bytes.getType()),
                 b.getI8IntegerAttr(static_cast<int8_t>(limit)));
  };
  if (rounded.low != (hasSign ? -128 : 0))
    bytes = hasSign ? b.createOrFold<arith::MaxSIOp>(bytes, bound(rounded.low))
                    : b.createOrFold<arith::MaxUIOp>(bytes, bound(rounded.low));
  if (!rounded.isSmall || rounded.high == (hasSign ? 127 : 255))
    return bytes;
  return hasSign ? b.createOrFold<arith::MinSIOp>(bytes, bound(rounded.high))
                 : b.createOrFold<arith::MinUIOp>(bytes, bound(rounded.high));
}

/// Words with the zero point added.
static Value addZero(KernelBuilder &b, const RoundedEpilogue &rounded,
                     Value words) {
  if (rounded.zero == 0)
    return words;
  auto type = cast<VectorType>(words.getType());
  StringRef name = type.getNumElements() == 32   ? "llvm.sadd.sat.v32i16"
                   : type.getNumElements() == 16 ? "llvm.sadd.sat.v16i16"
                                                 : "llvm.sadd.sat.v8i16";
  return callIntrinsic(
      b, b.getLoc(), name, type,
      {words, splat(b, type, b.getI16IntegerAttr(rounded.zero))});
}

/// A vector of bytes with its groups of four in another order.
static Value orderFours(KernelBuilder &b, Value bytes,
                        ArrayRef<int64_t> order) {
  auto type = cast<VectorType>(bytes.getType());
  Value fours = vector::BitCastOp::create(
      b, VectorType::get(type.getNumElements() / 4, b.getI32Type()), bytes);
  fours = vector::ShuffleOp::create(b, fours, fours, order);
  return vector::BitCastOp::create(b, type, fours);
}

/// 8, 16 or 32 floats with 32-byte vectors. What is too small, or NaN,
/// becomes the least integer; narrowing and adding saturate, so that
/// only what is too large for an integer needs a bound before.
static Value emitAVX2(KernelBuilder &b, const RoundedEpilogue &rounded,
                      Value values, bool isInFours) {
  Location loc = b.getLoc();
  auto eight = VectorType::get(8, b.getF32Type());
  Value high = splat(b, eight, b.getF32FloatAttr(rounded.high - rounded.zero));
  auto convert = [&](int64_t part) {
    Value x = takePart(b, values, part, 8);
    // NaN becomes the second operand: it stays.
    if (!rounded.isSmall)
      x = callIntrinsic(b, loc, "llvm.x86.avx.min.ps.256", eight, {high, x});
    return callIntrinsic(b, loc, "llvm.x86.avx.cvt.ps2dq.256",
                         VectorType::get(8, b.getI32Type()), x);
  };
  StringRef narrow = rounded.low < 0 ? "llvm.x86.sse2.packsswb.128"
                                     : "llvm.x86.sse2.packuswb.128";
  auto sixteen = VectorType::get(16, b.getI8Type());
  int64_t count = cast<VectorType>(values.getType()).getNumElements();
  if (count == 8) {
    Value whole = convert(0);
    Value words =
        callIntrinsic(b, loc, "llvm.x86.sse2.packssdw.128",
                      VectorType::get(8, b.getI16Type()),
                      {takeHalf(b, whole, false), takeHalf(b, whole, true)});
    words = addZero(b, rounded, words);
    Value bytes = callIntrinsic(b, loc, narrow, sixteen, {words, words});
    return clampBytes(b, rounded, takeHalf(b, bytes, false));
  }
  // Every 16 bytes hold four of the first eight, then four of the second.
  auto pack = [&](int64_t part) {
    Value words = callIntrinsic(b, loc, "llvm.x86.avx2.packssdw",
                                VectorType::get(16, b.getI16Type()),
                                {convert(part), convert(part + 1)});
    return addZero(b, rounded, words);
  };
  Value packed = pack(0);
  if (count == 32) {
    Value bytes = callIntrinsic(
        b, loc,
        rounded.low < 0 ? "llvm.x86.avx2.packsswb" : "llvm.x86.avx2.packuswb",
        VectorType::get(32, b.getI8Type()), {packed, pack(2)});
    return clampBytes(b, rounded,
                      orderFours(b, bytes, {0, 4, 1, 5, 2, 6, 3, 7}));
  }
  Value bytes =
      callIntrinsic(b, loc, narrow, sixteen,
                    {takeHalf(b, packed, false), takeHalf(b, packed, true)});
  if (!isInFours)
    bytes = orderFours(b, bytes, {0, 2, 1, 3});
  return clampBytes(b, rounded, bytes);
}

/// 32 or 64 floats with 64-byte vectors, in the same way.
static Value emitAVX512(KernelBuilder &b, const RoundedEpilogue &rounded,
                        Value values) {
  Location loc = b.getLoc();
  int64_t count = cast<VectorType>(values.getType()).getNumElements();
  auto sixteen = VectorType::get(16, b.getF32Type());
  auto whole = VectorType::get(16, b.getI32Type());
  Value high =
      splat(b, sixteen, b.getF32FloatAttr(rounded.high - rounded.zero));
  Value rounding = arith::ConstantOp::create(b, b.getI32IntegerAttr(4));
  Value all = arith::ConstantOp::create(b, b.getI16IntegerAttr(-1));
  auto convert = [&](int64_t part) {
    Value x = takePart(b, values, part, 16);
    if (!rounded.isSmall)
      x = callIntrinsic(b, loc, "llvm.x86.avx512.min.ps.512", sixteen,
                        {high, x, rounding});
    return callIntrinsic(b, loc, "llvm.x86.avx512.mask.cvtps2dq.512", whole,
                         {x, b.zeros(16, b.getI32Type()), all, rounding});
  };
  auto pack = [&](int64_t part) {
    Value words = callIntrinsic(b, loc, "llvm.x86.avx512.packssdw.512",
                                VectorType::get(32, b.getI16Type()),
                                {convert(part), convert(part + 1)});
    return addZero(b, rounded, words);
  };
  // Groups of four are in the order of 16 bytes, then of parts.
  bool hasSign = rounded.low < 0;
  Value bytes;
  if (count == 32) {
    Value words = pack(0);
    bytes = callIntrinsic(
        b, loc, hasSign ? "llvm.x86.avx2.packsswb" : "llvm.x86.avx2.packuswb",
        VectorType::get(32, b.getI8Type()),
        {takeHalf(b, words, false), takeHalf(b, words, true)});
    bytes = orderFours(b, bytes, {0, 4, 2, 6, 1, 5, 3, 7});
  } else {
    Value first = pack(0), second = pack(2);
    bytes = callIntrinsic(b, loc,
                          hasSign ? "llvm.x86.avx512.packsswb.512"
                                  : "llvm.x86.avx512.packuswb.512",
                          VectorType::get(64, b.getI8Type()), {first, second});
    bytes = orderFours(b, bytes,
                       {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  }
  return clampBytes(b, rounded, bytes);
}

static Value emitBytes(KernelBuilder &b, const RoundedEpilogue &rounded,
                       Value values, bool isInFours) {
  int64_t lanes = cast<VectorType>(values.getType()).getNumElements();
  if (rounded.hasAVX512 && (lanes == 32 || lanes == 64))
    return emitAVX512(b, rounded, values);
  // More than a vector: one after the other.
  if (rounded.hasAVX2 && lanes == 64)
    return b.concat(
        {emitAVX2(b, rounded, takeHalf(b, values, false), /*isInFours=*/false),
         emitAVX2(b, rounded, takeHalf(b, values, true),
                  /*isInFours=*/false)});
  bool isAVX2 = rounded.hasAVX2 && (lanes == 8 || lanes == 16 || lanes == 32);
  return isAVX2 ? emitAVX2(b, rounded, values, isInFours)
                : emitPlain(b, rounded, values);
}

Value kernels::emitRounded(KernelBuilder &b, const RoundedEpilogue &rounded,
                           Value values, bool isInFours) {
  Value bytes = emitBytes(b, rounded, values, isInFours);
  if (!rounded.table)
    return bytes;
  return onnxq::EntryOp::create(b, bytes, rounded.table);
}
