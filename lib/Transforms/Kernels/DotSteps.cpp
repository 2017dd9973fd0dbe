// The steps themselves: x86's products of 16-bit pairs and of bytes, its dot
// products, AArch64's, and plain products for every other processor.

#include "DotSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::PackingKind;

Value onnxquant::kernels::callIntrinsic(OpBuilder &b, Location loc,
                                        StringRef name, Type result,
                                        ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      .getResults();
}

/// A vector seen as one of other elements.
static Value seenAs(OpBuilder &b, Location loc, Value vector, int64_t count,
                    Type element) {
  return vector::BitCastOp::create(b, loc, VectorType::get(count, element),
                                   vector);
}

VectorType DotStep::getSumType() const {
  return VectorType::get(lanes,
                         IntegerType::get(inputType.getContext(), sumBits));
}

Value DotStep::loadInput(OpBuilder &b, Location loc, Value input,
                         Value index) const {
  // The bytes of a step fill a lane, so that one broadcast does it.
  auto part = VectorType::get(depth, inputType);
  Value x = vector::LoadOp::create(b, loc, part, input, ValueRange{index});
  int64_t bits = depth * inputType.getIntOrFloatBitWidth();
  Type lane = b.getIntegerType(bits);
  Value scalar = vector::ExtractOp::create(b, loc, seenAs(b, loc, x, 1, lane),
                                           ArrayRef<int64_t>{0});
  Value spread =
      vector::BroadcastOp::create(b, loc, VectorType::get(lanes, lane), scalar);
  return seenAs(b, loc, spread, lanes * depth, inputType);
}

/// Weights of -8 to 7 from bytes of two: the first half of a vector has the low
/// bits.
static Value unpackHalves(OpBuilder &b, Location loc, Value bytes) {
  auto half = cast<VectorType>(bytes.getType());
  int64_t count = 2 * half.getNumElements();
  auto whole = VectorType::get(count, b.getI8Type());
  auto constant = [&](VectorType type, int8_t number) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI8IntegerAttr(number)));
  };
  Value low = arith::AndIOp::create(b, loc, bytes, constant(half, 15));
  Value high = arith::ShRUIOp::create(b, loc, bytes, constant(half, 4));
  SmallVector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Value codes = vector::ShuffleOp::create(b, loc, low, high, order);
  return arith::SubIOp::create(b, loc, codes, constant(whole, 8));
}

VectorType DotStep::getLoadedType() const {
  if (hasHalves)
    return VectorType::get(lanes * depth / 2,
                           IntegerType::get(weightType.getContext(), 8));
  return VectorType::get(lanes * depth, weightType);
}

Value DotStep::unpackWeights(OpBuilder &b, Location loc, Value loaded) const {
  return hasHalves ? unpackHalves(b, loc, loaded) : loaded;
}

Value DotStep::loadWeights(OpBuilder &b, Location loc, Value weights,
                           Value index) const {
  return unpackWeights(b, loc,
                       vector::LoadOp::create(b, loc, getLoadedType(), weights,
                                              ValueRange{index}));
}

//===----------------------------------------------------------------------===//
// x86
//===----------------------------------------------------------------------===//

/// One of an instruction's names by the width of its vectors.
static StringRef byWidth(int64_t lanes, StringRef narrow, StringRef middle,
                         StringRef wide) {
  return lanes == 4 ? narrow : lanes == 8 ? middle : wide;
}

static Value multiplyPairs(OpBuilder &b, Location loc, Value x, Value w,
                           VectorType sums) {
  StringRef name =
      byWidth(sums.getDimSize(0), "llvm.x86.sse2.pmadd.wd",
              "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.pmaddw.d.512");
  return callIntrinsic(b, loc, name, sums, {x, w});
}

namespace {
/// 16-bit activations, weights widened to 16 bits as they are loaded: pairs are
/// multiplied and added in 32 bits.
class MaddStep : public DotStep {
public:
  MaddStep(MLIRContext *context, int64_t lanes, bool wide)
      : DotStep(2, lanes, IntegerType::get(context, 16),
                IntegerType::get(context, wide ? 16 : 8)) {}

  Value loadWeights(OpBuilder &b, Location loc, Value weights,
                    Value index) const override {
    Value w = DotStep::loadWeights(b, loc, weights, index);
    if (weightType == inputType)
      return w;
    return arith::ExtSIOp::create(b, loc,
                                  VectorType::get(lanes * depth, inputType), w);
  }
  Value add(OpBuilder &b, Location loc, Value sums, Value input,
            Value weights) const override {
    Value products = multiplyPairs(b, loc, input, weights, getSumType());
    return arith::AddIOp::create(b, loc, products, sums);
  }
};

/// Bytes: pairs are multiplied and added in 16 bits, where weights are known to
/// leave enough room, then widened.
class PairsStep : public DotStep {
public:
  PairsStep(MLIRContext *context, int64_t lanes)
      : DotStep(4, lanes, IntegerType::get(context, 8),
                IntegerType::get(context, 8)) {}

  Value add(OpBuilder &b, Location loc, Value sums, Value input,
            Value weights) const override {
    auto narrow = VectorType::get(2 * lanes, b.getI16Type());
    StringRef name =
        byWidth(lanes, "llvm.x86.ssse3.pmadd.ub.sw.128",
                "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx512.pmaddubs.w.512");
    Value pairs = callIntrinsic(b, loc, name, narrow, {input, weights});
    Value ones = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(narrow, b.getI16IntegerAttr(1)));
    Value products = multiplyPairs(b, loc, pairs, ones, getSumType());
    return arith::AddIOp::create(b, loc, products, sums);
  }
};

/// An instruction that multiplies four bytes per lane and adds them: x86's and
/// AArch64's.
class DotProductStep : public DotStep {
public:
  DotProductStep(MLIRContext *context, int64_t lanes, StringRef name)
      : DotStep(4, lanes, IntegerType::get(context, 8),
                IntegerType::get(context, 8)),
        name(name) {}

  Value add(OpBuilder &b, Location loc, Value sums, Value input,
            Value weights) const override {
    return callIntrinsic(b, loc, name, getSumType(), {sums, input, weights});
  }

private:
  StringRef name;
};

/// AArch64's, which take the activations from a lane of a vector: four steps'
/// are loaded at once.
class LaneStep : public DotProductStep {
public:
  LaneStep(MLIRContext *context, int64_t lanes, StringRef name, bool isSigned)
      : DotProductStep(context, lanes, name), isSigned(isSigned) {}
  int64_t getUnroll() const override { return 4; }

  /// Of operands with equal signs, the second one may be a lane.
  Value add(OpBuilder &b, Location loc, Value sums, Value input,
            Value weights) const override {
    if (isSigned)
      std::swap(input, weights);
    return DotProductStep::add(b, loc, sums, input, weights);
  }

  SmallVector<Value> loadInputs(OpBuilder &b, Location loc, Value input,
                                Value index, int64_t count) const override {
    if (count == 1)
      return {loadInput(b, loc, input, index)};
    auto part = VectorType::get(count * depth, inputType);
    Value x = vector::LoadOp::create(b, loc, part, input, ValueRange{index});
    Value words = seenAs(b, loc, x, count, b.getI32Type());
    SmallVector<Value> spread;
    for (int64_t step = 0; step < count; ++step) {
      SmallVector<int64_t> lane(lanes, step);
      Value word = vector::ShuffleOp::create(b, loc, words, words, lane);
      spread.push_back(seenAs(b, loc, word, lanes * depth, inputType));
    }
    return spread;
  }

private:
  bool isSigned;
};

/// 16-bit activations and weights: one product per lane, which LLVM makes the
/// widening multiply-add of the processor.
class OuterStep : public DotStep {
public:
  OuterStep(MLIRContext *context, int64_t lanes, int64_t bits)
      : DotStep(1, lanes * 32 / bits, IntegerType::get(context, 16),
                IntegerType::get(context, 16)) {
    sumBits = bits;
  }

  Value loadInput(OpBuilder &b, Location loc, Value input,
                  Value index) const override {
    // A scalar by itself, which processors multiply vectors by.
    Value scalar = memref::LoadOp::create(b, loc, input, ValueRange{index});
    Value spread = vector::BroadcastOp::create(
        b, loc, VectorType::get(lanes, inputType), scalar);
    return arith::ExtSIOp::create(b, loc, getSumType(), spread);
  }
  Value loadWeights(OpBuilder &b, Location loc, Value weights,
                    Value index) const override {
    return arith::ExtSIOp::create(b, loc, getSumType(),
                                  DotStep::loadWeights(b, loc, weights, index));
  }
  Value add(OpBuilder &b, Location loc, Value sums, Value input,
            Value weights) const override {
    Value products = arith::MulIOp::create(b, loc, input, weights);
    return arith::AddIOp::create(b, loc, sums, products);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

int64_t onnxquant::kernels::getDotLanes(PackingKind kind,
                                        const TargetInfo &target) {
  bool isX86 = target.arch == TargetInfo::Arch::X86;
  bool isArm = target.arch == TargetInfo::Arch::AArch64;
  switch (kind) {
  case PackingKind::Fma:
  case PackingKind::Rows:
  case PackingKind::Codes:
    return 0;
  case PackingKind::Winograd:
    return getDotLanes(PackingKind::Madd, target);
  case PackingKind::Outer:
    // With RISC-V's vectors, a group of four registers for sums.
    return target.lanes() * (target.hasRVV ? 4 : 1);
  case PackingKind::Madd:
    return !isX86 ? 0 : target.hasAVX512 ? 16 : target.hasAVX2 ? 8 : 4;
  case PackingKind::Pairs:
  case PackingKind::Quads:
    return isX86 && target.hasAVX2 ? 8 : 0;
  case PackingKind::Vnni:
    if (target.hasAVX512VNNI && target.vectorBytes >= 64)
      return 16;
    return target.hasAVXVNNI || target.hasAVX512VNNI ? 8 : 0;
  case PackingKind::Tiles:
    return target.hasAMX ? 16 : 0;
  case PackingKind::Sdot:
    return isArm && target.hasDotprod ? 4 : 0;
  case PackingKind::Usdot:
  case PackingKind::Smmla:
  case PackingKind::Usmmla:
    return isArm && target.hasI8mm ? 4 : 0;
  }
  llvm_unreachable("all kinds are told");
}

static std::unique_ptr<DotStep> makeDotStep(onnxq::ContractOp op,
                                            const TargetInfo &target) {
  MLIRContext *context = op.getContext();
  PackingKind kind = op.getPackingAttr().getKind();
  bool isWide = op.getWeights().getType().getElementType().isInteger(16);
  Type sum =
      cast<onnxq::KernelOpInterface>(op.getOperation()).getAccumulatorType();
  int64_t lanes = getDotLanes(kind, target);
  if (lanes == 0 || (kind != PackingKind::Outer && !sum.isInteger(32)))
    return nullptr;
  switch (kind) {
  case PackingKind::Outer:
    return std::make_unique<OuterStep>(context, lanes,
                                       sum.getIntOrFloatBitWidth());
  case PackingKind::Madd:
    return std::make_unique<MaddStep>(context, lanes, isWide);
  case PackingKind::Winograd:
    return std::make_unique<MaddStep>(context, lanes, /*wide=*/true);
  case PackingKind::Pairs:
    return std::make_unique<PairsStep>(context, lanes);
  case PackingKind::Vnni:
    return std::make_unique<DotProductStep>(
        context, lanes,
        lanes == 16 ? "llvm.x86.avx512.vpdpbusd.512"
                    : "llvm.x86.avx512.vpdpbusd.256");
  case PackingKind::Sdot:
    return std::make_unique<LaneStep>(context, lanes,
                                      "llvm.aarch64.neon.sdot.v4i32.v16i8",
                                      /*isSigned=*/true);
  case PackingKind::Usdot:
    return std::make_unique<LaneStep>(context, lanes,
                                      "llvm.aarch64.neon.usdot.v4i32.v16i8",
                                      /*isSigned=*/false);
  case PackingKind::Fma:
  case PackingKind::Rows:
  case PackingKind::Codes:
  case PackingKind::Quads:
  case PackingKind::Smmla:
  case PackingKind::Usmmla:
  case PackingKind::Tiles:
    return nullptr;
  }
  llvm_unreachable("all kinds are told");
}

std::unique_ptr<DotStep>
onnxquant::kernels::getDotStep(onnxq::ContractOp op, const TargetInfo &target) {
  std::unique_ptr<DotStep> step = makeDotStep(op, target);
  if (step && op.getPackingAttr().getHalves())
    step->setHalves();
  return step;
}
