// Shortens what lies between requantizations. Enters and leaves: tensors, the
// bodies of elementwise ops and epilogues of kernels. No result changes.
//
//   dequantize(requantize(x))       a requantization to f32
//   requantize(n * s / s)           requantize(n), n whole
//   requantize(requantize(x))       one requantization, bounds in common
//   requantize(max(x, c) / s)       a lower bound; min likewise an upper one
//   requantize(x / s)               two products (ReciprocalScale.h)

#include "EpilogueConstants.h"
#include "FloatBounds.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "ReciprocalScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

namespace onnxquant {
#define GEN_PASS_DEF_FOLDREQUANTIZE
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using onnxq::RequantizeOp;

/// Magnitudes of quantized values less a zero point.
static constexpr int64_t largestDifference = 65535;
/// Magnitudes below are converted to integers without overflow.
static constexpr double largestWhole = 2147483520.0;
/// Quotients by other scales may be denormal, or too large.
static constexpr float leastScale = 0x1p-100f, mostScale = 0x1p100f;

static std::optional<int64_t> readInteger(Value value) {
  IntegerAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getInt();
}

static std::optional<float> readFloat(Value value) {
  FloatAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) ||
      !constant.getType().isF32())
    return std::nullopt;
  return constant.getValue().convertToFloat();
}

static std::optional<float> readScale(Value value) {
  std::optional<float> scale = readFloat(value);
  if (!scale || !(*scale >= leastScale && *scale <= mostScale))
    return std::nullopt;
  return scale;
}

//===----------------------------------------------------------------------===//
// Dequantized values
//===----------------------------------------------------------------------===//

namespace {
/// A quantized value less its zero point, as an integer.
struct Difference {
  Value stored;
  bool isUnsigned;
  int64_t zero;
};
} // namespace

static std::optional<Difference> matchDifference(Value wide) {
  Difference difference = {{}, false, 0};
  if (auto sub = wide.getDefiningOp<arith::SubIOp>()) {
    std::optional<int64_t> zero = readInteger(sub.getRhs());
    if (!zero || std::abs(*zero) > largestDifference)
      return std::nullopt;
    difference.zero = *zero;
    wide = sub.getLhs();
  }
  if (auto extend = wide.getDefiningOp<arith::ExtUIOp>()) {
    difference.stored = extend.getIn();
    difference.isUnsigned = true;
  } else if (auto extend = wide.getDefiningOp<arith::ExtSIOp>()) {
    difference.stored = extend.getIn();
  }
  if (!difference.stored ||
      difference.stored.getType().getIntOrFloatBitWidth() > 16)
    return std::nullopt;
  return difference;
}

/// The requantization that `op` makes a float of, as one to `f32`.
static Value keepFloat(arith::SIToFPOp op) {
  std::optional<Difference> difference = matchDifference(op.getIn());
  auto inner = difference ? difference->stored.getDefiningOp<RequantizeOp>()
                          : RequantizeOp();
  if (!inner || !op.getType().isF32())
    return {};
  auto lower = static_cast<int64_t>(inner.getLower()),
       upper = static_cast<int64_t>(inner.getUpper());
  int64_t half = int64_t(1) << (inner.getType().getIntOrFloatBitWidth() - 1);
  if (difference->isUnsigned ? lower < 0 : upper >= half)
    return {};
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto zero = static_cast<int32_t>(difference->zero);
  Value point = b.createOrFold<arith::SubIOp>(
      inner.getZeroPoint(),
      arith::ConstantOp::create(b, b.getI32IntegerAttr(zero)));
  return RequantizeOp::create(b, op.getType(), inner.getValue(),
                              inner.getScale(), point, lower - zero,
                              upper - zero);
}

/// Whether a float is a quantized value less its zero point.
static bool isDifference(Value value) {
  if (auto convert = value.getDefiningOp<arith::SIToFPOp>())
    return convert.getType().isF32() && matchDifference(convert.getIn());
  return value.getDefiningOp<RequantizeOp>() != nullptr;
}

//===----------------------------------------------------------------------===//
// Requantized again
//===----------------------------------------------------------------------===//

/// n * s / s differs from n by less than a half, if n is no larger than
/// quantized values are.
static bool cancelScale(RequantizeOp op) {
  auto divide = op.getValue().getDefiningOp<arith::DivFOp>();
  auto multiply =
      divide ? divide.getLhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!multiply || !isDifference(multiply.getLhs()))
    return false;
  std::optional<float> from = readScale(multiply.getRhs()),
                       to = readScale(divide.getRhs());
  if (!from || from != to)
    return false;
  op.getValueMutable().assign(multiply.getLhs());
  return true;
}

/// A requantization of a requantization rounds nothing more.
static bool merge(RequantizeOp op) {
  auto inner = op.getValue().getDefiningOp<RequantizeOp>();
  if (!inner || op.getScale())
    return false;
  std::optional<int64_t> first = readInteger(inner.getZeroPoint()),
                         second = readInteger(op.getZeroPoint());
  if (!first || !second)
    return false;
  auto clamp = [&](uint64_t bound) {
    return std::clamp(static_cast<int64_t>(bound) + *second,
                      static_cast<int64_t>(op.getLower()),
                      static_cast<int64_t>(op.getUpper()));
  };
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value zero = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(*first + *second)));
  Value merged = RequantizeOp::create(
      b, op.getType(), inner.getValue(), inner.getScale(), zero,
      clamp(inner.getLower()), clamp(inner.getUpper()));
  op.replaceAllUsesWith(merged);
  op.erase();
  return true;
}

/// Requantizing keeps the order of values, so that a maximum or minimum with a
/// constant before it is a bound. NaN becomes the lower one: where a maximum
/// raises that, there must be none.
static bool takeBound(RequantizeOp op, kernels::FloatBounds &bounds) {
  auto divide = op.getValue().getDefiningOp<arith::DivFOp>();
  Operation *clamp = (divide ? divide.getLhs() : op.getValue()).getDefiningOp();
  if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp>(clamp) ||
      op.getScale())
    return false;
  std::optional<float> limit = readFloat(clamp->getOperand(1)), scale = 1.0f;
  if (divide)
    scale = readScale(divide.getRhs());
  std::optional<int64_t> zero = readInteger(op.getZeroPoint());
  if (!limit || std::isnan(*limit) || !scale || !zero)
    return false;
  auto lower = static_cast<int64_t>(op.getLower()),
       upper = static_cast<int64_t>(op.getUpper());
  double rounded = std::nearbyint(*limit / *scale) + static_cast<double>(*zero);
  auto bound = static_cast<int64_t>(std::clamp<double>(
      rounded, static_cast<double>(lower), static_cast<double>(upper)));
  Value x = clamp->getOperand(0);
  bool isMax = isa<arith::MaximumFOp>(clamp);
  if (isMax && bound != lower && !bounds.get(x))
    return false;
  if (divide) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    x = arith::DivFOp::create(b, x, divide.getRhs());
  }
  op.getValueMutable().assign(x);
  isMax ? op.setLower(bound) : op.setUpper(bound);
  return true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A maximum or minimum of a value with a constant by comparing, which is one
/// instruction on many processors. Zeros of either sign must stay what they
/// are.
static Value compareInstead(Operation *op) {
  FloatAttr bound;
  bool isMax = isa<arith::MaximumFOp>(op);
  if (!matchPattern(op->getOperand(1), m_Constant(&bound)) ||
      !bound.getValue().isFinite() ||
      (bound.getValue().isZero() && (!isMax || bound.getValue().isNegative())))
    return {};
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0), limit = op->getOperand(1);
  Value isInside = arith::CmpFOp::create(
      b, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x,
      limit);
  return arith::SelectOp::create(b, isInside, x, limit);
}

/// Maxima and minima of what is proved not to be NaN.
static void compareNumbers(Block &block) {
  kernels::FloatBounds bounds;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
        bounds.get(op.getOperand(0)))
      if (Value value = compareInstead(&op))
        op.replaceAllUsesWith(ValueRange(value));
}

/// Marks what is proved to fit 32 bits, while the constants are at hand.
static void markSmall(Block &block) {
  kernels::FloatBounds bounds;
  for (auto op : block.getOps<RequantizeOp>()) {
    std::optional<double> bound = bounds.getScaled(op);
    if (bound && *bound < largestWhole)
      op.setFitsI32(true);
  }
}

static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct FoldRequantize
    : public onnxquant::impl::FoldRequantizeBase<FoldRequantize> {
  void runOnOperation() override {
    hasFMA = getTargetInfo(getOperation()).hasFMA;
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<onnxq::KernelOpInterface>(op)) {
        numConstants += kernels::foldConstantExtras(kernel);
        fold(kernel.getEpilogue().front());
        markSmall(kernel.getEpilogue().front());
      } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (generic.getNumReductionLoops() != 0)
          return;
        numConstants += kernels::foldConstantInputs(generic);
        fold(*generic.getBody());
      }
    });
  }

private:
  void fold(Block &block);

  bool hasFMA = false;
};
} // namespace

void FoldRequantize::fold(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<arith::SIToFPOp>()))
    if (Value value = keepFloat(op)) {
      op.replaceAllUsesWith(value);
      ++numKept;
    }
  for (auto op : llvm::make_early_inc_range(block.getOps<RequantizeOp>())) {
    kernels::FloatBounds bounds;
    while (takeBound(op, bounds))
      ++numBounds;
    cancelScale(op);
    numMerged += merge(op);
  }
  compareNumbers(block);
  if (hasFMA)
    numMultiplied += kernels::multiplyByReciprocals(block);
  eraseUnused(block);
}
