// Magnitudes, from integers and constants on. Every operation rounds, which may
// add half a unit of the last place.

#include "FloatBounds.h"
#include "PackedConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Beyond this a sum or product may be infinite.
static constexpr double largest = 3e38;
/// More than rounding adds to a magnitude.
static constexpr double roundingShare = 1 + 1e-6;

/// The bound of a kernel's epilogue operand, if that is a constant.
static std::optional<double> getOperandBound(BlockArgument argument) {
  auto kernel =
      dyn_cast<onnxq::KernelOpInterface>(argument.getOwner()->getParentOp());
  if (!kernel || argument.getArgNumber() == 0)
    return std::nullopt;
  auto values = readConstant<float>(
      kernel.getEpilogueOperands()[argument.getArgNumber() - 1]);
  if (!values)
    return std::nullopt;
  double bound = 0;
  for (float value : *values) {
    if (!std::isfinite(value))
      return std::nullopt;
    bound = std::max<double>(bound, std::abs(value));
  }
  return bound;
}

std::optional<double> FloatBounds::get(Value value) {
  if (!value.getType().isF32())
    return std::nullopt;
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  std::optional<double> bound = compute(value);
  if (bound && !(*bound * roundingShare < largest))
    bound = std::nullopt;
  if (bound)
    bound = *bound * roundingShare;
  known[value] = bound;
  return bound;
}

/// The largest magnitude of an integer with a sign.
static double getIntegerBound(Type type) {
  return std::ldexp(1.0, static_cast<int>(type.getIntOrFloatBitWidth()) - 1);
}

std::optional<double> FloatBounds::getScaled(onnxq::RequantizeOp op) {
  Value value = op.getValue();
  std::optional<double> bound = value.getType().isInteger()
                                    ? getIntegerBound(value.getType())
                                    : get(value);
  if (!bound || !op.getScale())
    return bound;
  std::optional<double> scale = get(op.getScale());
  if (!scale)
    return std::nullopt;
  return *bound * *scale * roundingShare * roundingShare;
}

std::optional<double> FloatBounds::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getOperandBound(argument);
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (!constant.getValue().isFinite())
      return std::nullopt;
    return std::abs(constant.getValueAsDouble());
  }
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast<arith::SIToFPOp>(op))
    return getIntegerBound(convert.getIn().getType());
  if (auto requantize = dyn_cast<onnxq::RequantizeOp>(op))
    return std::max(std::abs(static_cast<double>(
                        static_cast<int64_t>(requantize.getLower()))),
                    std::abs(static_cast<double>(
                        static_cast<int64_t>(requantize.getUpper()))));
  SmallVector<double, 3> of;
  for (Value operand : op->getOperands()) {
    if (isa<arith::SelectOp>(op) && operand.getType().isInteger(1))
      continue;
    std::optional<double> bound = get(operand);
    if (!bound)
      return std::nullopt;
    of.push_back(*bound);
  }
  using Bound = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Bound>(op)
      .Case<arith::AddFOp, arith::SubFOp>(
          [&](auto) -> Bound { return of[0] + of[1]; })
      .Case<arith::MulFOp>([&](auto) -> Bound { return of[0] * of[1]; })
      .Case<math::FmaOp>([&](auto) -> Bound { return of[0] * of[1] + of[2]; })
      .Case<arith::NegFOp, math::AbsFOp>([&](auto) -> Bound { return of[0]; })
      .Case<math::RoundEvenOp>([&](auto) -> Bound { return of[0] + 1; })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::SelectOp>(
          [&](auto) -> Bound { return std::max(of[0], of[1]); })
      .Default([](auto) -> Bound { return std::nullopt; });
}
