// What windows do with vectors of elements: floats, maxima of bytes, and sums
// of integers, one row of taps at a time or two.

#include "LowerWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::WindowKind;

static VectorType getVector(int64_t lanes, Type element) {
  return VectorType::get(lanes, element);
}

namespace {

//===----------------------------------------------------------------------===//
// Floats and maxima
//===----------------------------------------------------------------------===//

class FloatMath : public WindowMath {
public:
  FloatMath(onnxq::WindowOp op, KernelBuilder &b, const TargetInfo &target,
            int64_t lanes)
      : b(b), kind(op.getKind()), lanes(lanes), hasFMA(target.hasFMA) {}

  SmallVector<Value> start() override {
    if (kind != WindowKind::Max)
      return {b.zeros(lanes, b.getF32Type())};
    APFloat lowest = APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true);
    Value scalar =
        arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), lowest));
    return {b.broadcast(scalar, lanes)};
  }
  SmallVector<Value> step(ArrayRef<Value> sums, ArrayRef<Value> element,
                          ArrayRef<Value> weight) override {
    if (kind == WindowKind::Max)
      return {arith::MaximumFOp::create(b, sums[0], element[0])};
    if (kind == WindowKind::Sum)
      return {arith::AddFOp::create(b, sums[0], element[0])};
    if (hasFMA)
      return {vector::FMAOp::create(b, element[0], weight[0], sums[0])};
    Value product = arith::MulFOp::create(b, element[0], weight[0]);
    return {arith::AddFOp::create(b, sums[0], product)};
  }
  SmallVector<Value> begin(ArrayRef<Value> element,
                           ArrayRef<Value> weight) override {
    if (kind != WindowKind::MulAdd)
      return step(start(), element, weight);
    return {arith::MulFOp::create(b, element[0], weight[0])};
  }

private:
  KernelBuilder &b;
  WindowKind kind;
  int64_t lanes;
  bool hasFMA;
};

class ByteMaxMath : public WindowMath {
public:
  ByteMaxMath(onnxq::WindowOp op, KernelBuilder &b, int64_t lanes)
      : b(b), isUnsigned(op.getInputUnsigned()), lanes(lanes) {}

  SmallVector<Value> start() override {
    Value least =
        arith::ConstantIntOp::create(b, isUnsigned ? 0 : -128, /*width=*/8);
    return {b.broadcast(least, lanes)};
  }
  SmallVector<Value> step(ArrayRef<Value> sums, ArrayRef<Value> element,
                          ArrayRef<Value>) override {
    if (isUnsigned)
      return {arith::MaxUIOp::create(b, sums[0], element[0])};
    return {arith::MaxSIOp::create(b, sums[0], element[0])};
  }

private:
  KernelBuilder &b;
  bool isUnsigned;
  int64_t lanes;
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Elements are widened to 16 bits and freed of their zero point.
class IntegerMath : public WindowMath {
public:
  IntegerMath(onnxq::WindowOp op, KernelBuilder &b, int64_t lanes)
      : b(b), lanes(lanes), isUnsigned(op.getInputUnsigned()) {
    Value pad = op.getPad();
    if (!pad || KernelBuilder::known(pad) == 0)
      return;
    Value wide = isUnsigned
                     ? Value(arith::ExtUIOp::create(b, b.getI16Type(), pad))
                     : Value(arith::ExtSIOp::create(b, b.getI16Type(), pad));
    zero = wide;
  }

  int64_t getVectors() const override { return 2; }
  SmallVector<Value> start() override {
    return {b.zeros(lanes, b.getI32Type())};
  }
  SmallVector<Value> widen(Value element) override {
    return {minusZero(toShorts(element))};
  }
  SmallVector<Value> step(ArrayRef<Value> sums, ArrayRef<Value> element,
                          ArrayRef<Value> weight) override {
    auto type = getVector(lanes, b.getI32Type());
    Value value = arith::ExtSIOp::create(b, type, element[0]);
    if (!weight.empty())
      value = arith::MulIOp::create(b, value,
                                    arith::ExtSIOp::create(b, type, weight[0]));
    return {arith::AddIOp::create(b, sums[0], value)};
  }

protected:
  Value toShorts(Value bytes) {
    auto type = getVector(cast<VectorType>(bytes.getType()).getNumElements(),
                          b.getI16Type());
    if (isUnsigned)
      return arith::ExtUIOp::create(b, type, bytes);
    return arith::ExtSIOp::create(b, type, bytes);
  }
  Value minusZero(Value shorts) {
    if (!zero)
      return shorts;
    int64_t count = cast<VectorType>(shorts.getType()).getNumElements();
    return arith::SubIOp::create(b, shorts, b.broadcast(zero, count));
  }

  KernelBuilder &b;
  int64_t lanes;

private:
  bool isUnsigned;
  Value zero;
};

/// RISC-V's widening multiply-add by name: LLVM finds it only where no factor
/// is used otherwise.
class WideningMath : public IntegerMath {
public:
  using IntegerMath::IntegerMath;

  SmallVector<Value> step(ArrayRef<Value> sums, ArrayRef<Value> element,
                          ArrayRef<Value> weight) override {
    if (weight.empty())
      return IntegerMath::step(sums, element, weight);
    // Policy: whatever in lanes behind the last one.
    Value policy = arith::ConstantIntOp::create(b, 1, /*width=*/64);
    Value count = arith::ConstantIntOp::create(b, lanes, /*width=*/64);
    Value sum = toScalable(sums[0]);
    Value added = LLVM::CallIntrinsicOp::create(
                      b, sum.getType(), b.getStringAttr("llvm.riscv.vwmacc"),
                      ValueRange{sum, toScalable(element[0]),
                                 toScalable(weight[0]), count, policy})
                      .getResult(0);
    return {vector::ScalableExtractOp::create(
        b, getVector(lanes, b.getI32Type()), added, 0)};
  }

private:
  /// In a register of 16-bit elements, or a group of two of 32-bit ones.
  Value toScalable(Value vector) {
    Type element = cast<VectorType>(vector.getType()).getElementType();
    auto type = VectorType::get({4}, element, {true});
    Value any = LLVM::PoisonOp::create(b, type);
    return vector::ScalableInsertOp::create(b, vector, any, 0);
  }
};

/// Two rows of taps at a time: their elements alternate, and one instruction
/// adds the products of both. A row that is left alternates with zeros.
class PairedMath : public IntegerMath {
public:
  static constexpr int64_t half = 8;
  using IntegerMath::IntegerMath;

  bool takesPairs() const override { return true; }
  SmallVector<Value> start() override {
    Value zeros = b.zeros(half, b.getI32Type());
    return {zeros, zeros};
  }
  SmallVector<Value> widen(Value element) override {
    return withZeros(minusZero(toShorts(element)));
  }
  SmallVector<Value> widenWeight(Value weight) override {
    return withZeros(weight);
  }
  SmallVector<Value> widenPair(Value first, Value second) override {
    SmallVector<Value> halves;
    for (int64_t i = 0; i < 2; ++i)
      halves.push_back(minusZero(toShorts(alternate(first, second, i))));
    return halves;
  }
  SmallVector<Value> widenWeightPair(Value first, Value second) override {
    return {alternate(first, second, 0), alternate(first, second, 1)};
  }
  SmallVector<Value> step(ArrayRef<Value> sums, ArrayRef<Value> element,
                          ArrayRef<Value> weight) override {
    SmallVector<Value> results;
    auto type = getVector(half, b.getI32Type());
    for (auto [sum, x, w] : llvm::zip(sums, element, weight)) {
      Value products = LLVM::CallIntrinsicOp::create(
                           b, type, b.getStringAttr("llvm.x86.avx2.pmadd.wd"),
                           ValueRange{x, w})
                           .getResult(0);
      results.push_back(arith::AddIOp::create(b, sum, products));
    }
    return results;
  }
  Value join(ArrayRef<Value> sums) override {
    return vector::ShuffleOp::create(
        b, sums[0], sums[1], llvm::to_vector(llvm::seq<int64_t>(0, 2 * half)));
  }

private:
  /// Half of the lanes of two vectors, in turn.
  Value alternate(Value first, Value second, int64_t which) {
    SmallVector<int64_t> order;
    for (int64_t i = which * half; i < (which + 1) * half; ++i)
      order.append({i, i + 2 * half});
    return vector::ShuffleOp::create(b, first, second, order);
  }
  SmallVector<Value> withZeros(Value shorts) {
    SmallVector<Value> halves;
    for (int64_t i = 0; i < 2; ++i) {
      Value part = vector::ExtractStridedSliceOp::create(
          b, shorts, ArrayRef<int64_t>{i * half}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
      Value wide =
          arith::ExtUIOp::create(b, getVector(half, b.getI32Type()), part);
      halves.push_back(vector::BitCastOp::create(
          b, getVector(2 * half, b.getI16Type()), wide));
    }
    return halves;
  }
};

} // namespace

WindowPlan kernels::planWindow(onnxq::WindowOp op, const TargetInfo &target) {
  Type element = cast<ShapedType>(op.getInput().getType()).getElementType();
  int64_t channels =
      cast<ShapedType>(op.getInput().getType()).getShape().back();
  auto fit = [&](int64_t lanes) {
    return std::min<int64_t>(lanes, llvm::PowerOf2Ceil(channels));
  };
  WindowPlan plan;
  plan.isPaired = element.isInteger(8) && op.getKind() == WindowKind::MulAdd &&
                  target.hasAVX2 && channels >= 2 * PairedMath::half;
  if (plan.isPaired)
    plan.lanes = 2 * PairedMath::half;
  else if (element.isF32())
    plan.lanes = fit(target.lanes(4));
  else if (op.getKind() == WindowKind::Max)
    plan.lanes = fit(target.lanes(1));
  else
    plan.lanes = fit(target.lanes(2));
  return plan;
}

std::unique_ptr<WindowMath> kernels::makeWindowMath(onnxq::WindowOp op,
                                                    KernelBuilder &b,
                                                    const TargetInfo &target,
                                                    const WindowPlan &plan) {
  Type element = cast<ShapedType>(op.getInput().getType()).getElementType();
  if (element.isF32())
    return std::make_unique<FloatMath>(op, b, target, plan.lanes);
  if (op.getKind() == WindowKind::Max)
    return std::make_unique<ByteMaxMath>(op, b, plan.lanes);
  if (plan.isPaired)
    return std::make_unique<PairedMath>(op, b, plan.lanes);
  if (target.hasRVV)
    return std::make_unique<WideningMath>(op, b, plan.lanes);
  return std::make_unique<IntegerMath>(op, b, plan.lanes);
}
