// Shortens what lies between quantized bytes. Enters and leaves: tensors, the
// bodies of elementwise ops and epilogues of kernels.

#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "RoundedEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace onnxquant {
#define GEN_PASS_DEF_FOLDBYTES
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using kernels::ClampedByte;

//===----------------------------------------------------------------------===//
// Functions of a byte
//===----------------------------------------------------------------------===//

namespace {
/// A byte, what it depends on, and the ops between, in order.
struct ByteFunction {
  Value source, result;
  SmallVector<Operation *> ops;
};

/// The bytes of a block that depend on one other byte each.
class ByteFunctions {
public:
  explicit ByteFunctions(Block &block);
  std::vector<ByteFunction> found;

private:
  /// What a value depends on: one byte, or constants only.
  struct Origin {
    bool isKnown = false;
    Value source;
  };
  Origin originOf(Operation &op);
  static bool isByte(Value value) { return value.getType().isInteger(8); }

  llvm::DenseMap<Value, Origin> origins;
};
} // namespace

ByteFunctions::Origin ByteFunctions::originOf(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>())
    return {true, {}};
  if (op.getNumRegions() != 0 || op.getNumResults() != 1 || !isPure(&op))
    return {};
  Origin origin = {true, {}};
  for (Value operand : op.getOperands()) {
    Origin other;
    if (matchPattern(operand, m_Constant()))
      other = {true, {}};
    else if (isByte(operand))
      other = {true, operand};
    else
      other = origins.lookup(operand);
    if (!other.isKnown ||
        (origin.source && other.source && origin.source != other.source))
      return {};
    if (other.source)
      origin.source = other.source;
  }
  return origin;
}

ByteFunctions::ByteFunctions(Block &block) {
  for (Operation &op : block.without_terminator()) {
    Origin origin = originOf(op);
    for (Value result : op.getResults())
      origins[result] = origin;
    if (!origin.source || !isByte(op.getResult(0)))
      continue;
    ByteFunction function = {origin.source, op.getResult(0), {}};
    // What leads to the result, between.
    llvm::SmallPtrSet<Operation *, 32> needed = {&op};
    for (Operation *next = &op; next; next = next->getPrevNode()) {
      if (!needed.contains(next) || next->getResult(0) == origin.source)
        continue;
      function.ops.push_back(next);
      for (Value operand : next->getOperands())
        if (Operation *defining = operand.getDefiningOp();
            defining && defining->getBlock() == &block &&
            operand != origin.source)
          needed.insert(defining);
    }
    std::reverse(function.ops.begin(), function.ops.end());
    found.push_back(std::move(function));
  }
}

/// The result for a byte; none if an op has no value that is known.
static std::optional<uint8_t> evaluate(const ByteFunction &function,
                                       uint8_t byte) {
  llvm::DenseMap<Value, Attribute> values;
  values[function.source] =
      IntegerAttr::get(function.source.getType(), APInt(8, byte));
  for (Operation *op : function.ops) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      Attribute value = values.lookup(operand);
      if (!value && !matchPattern(operand, m_Constant(&value)))
        return std::nullopt;
      operands.push_back(value);
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    Attribute value = dyn_cast<Attribute>(results[0]);
    if (!value)
      value = values.lookup(cast<Value>(results[0]));
    if (!value && !matchPattern(cast<Value>(results[0]), m_Constant(&value)))
      return std::nullopt;
    values[op->getResult(0)] = value;
  }
  auto result =
      dyn_cast_if_present<IntegerAttr>(values.lookup(function.result));
  if (!result)
    return std::nullopt;
  return static_cast<uint8_t>(result.getValue().getZExtValue());
}

namespace {
/// A function that clamps what it gets.
struct Clamp {
  int64_t low, high;
};
} // namespace

/// Whether a function of the bytes from `low` to `high` clamps them: is the
/// same below some byte, above another one, and gives back what lies between.
static std::optional<Clamp> findClamp(const ByteFunction &function, int64_t low,
                                      int64_t high) {
  auto at = [&](int64_t number) -> std::optional<int64_t> {
    auto byte = evaluate(function, static_cast<uint8_t>(number));
    if (!byte)
      return std::nullopt;
    return low < 0 ? static_cast<int8_t>(*byte) : *byte;
  };
  auto least = at(low), most = at(high);
  if (!least || !most || *least > *most)
    return std::nullopt;
  for (int64_t number = low; number <= high; ++number)
    if (at(number) != std::clamp(number, *least, *most))
      return std::nullopt;
  return Clamp{*least, *most};
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// What replaces the result of a function; null if it is no clamp.
static Value shorten(const ByteFunction &function) {
  Operation *last = function.result.getDefiningOp();
  // A clamp already.
  if (isa<arith::MaxUIOp, arith::MinUIOp, arith::MaxSIOp, arith::MinSIOp>(last))
    return {};
  ImplicitLocOpBuilder b(last->getLoc(), last);
  if (auto byte = kernels::matchClamped(function.source)) {
    auto clamp = findClamp(function, byte->low, byte->high);
    if (!clamp)
      return {};
    if (clamp->low == byte->low && clamp->high == byte->high)
      return function.source;
    return kernels::emitClamped(b, byte->number, clamp->low, clamp->high);
  }
  for (bool hasSign : {false, true}) {
    int64_t low = hasSign ? -128 : 0, high = low + 255;
    auto clamp = findClamp(function, low, high);
    if (!clamp)
      continue;
    auto bound = [&](int64_t number) -> Value {
      return arith::ConstantOp::create(
          b, b.getI8IntegerAttr(static_cast<int8_t>(number)));
    };
    Value x = function.source;
    if (clamp->low != low)
      x = hasSign ? arith::MaxSIOp::create(b, x, bound(clamp->low)).getResult()
                  : arith::MaxUIOp::create(b, x, bound(clamp->low)).getResult();
    if (clamp->high != high)
      x = hasSign
              ? arith::MinSIOp::create(b, x, bound(clamp->high)).getResult()
              : arith::MinUIOp::create(b, x, bound(clamp->high)).getResult();
    return x;
  }
  return {};
}

/// The float that a byte was before, if `op` makes it one again; less a zero
/// point where that is taken between.
static Value findFloat(arith::SIToFPOp op) {
  Value wide = op.getIn();
  IntegerAttr zero;
  if (auto sub = wide.getDefiningOp<arith::SubIOp>()) {
    if (!matchPattern(sub.getRhs(), m_Constant(&zero)))
      return {};
    wide = sub.getLhs();
  }
  Value narrow;
  bool isUnsigned = false;
  if (auto extended = wide.getDefiningOp<arith::ExtUIOp>()) {
    narrow = extended.getIn();
    isUnsigned = true;
  } else if (auto extended = wide.getDefiningOp<arith::ExtSIOp>()) {
    narrow = extended.getIn();
  }
  if (!narrow || !narrow.getType().isInteger(8) || !op.getType().isF32() ||
      (zero && std::abs(zero.getInt()) > 255))
    return {};
  auto byte = kernels::matchClamped(narrow);
  if (!byte || (isUnsigned ? byte->low < 0 : byte->high > 127))
    return {};
  if (!zero || zero.getInt() == 0)
    return byte->clamped;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value number = arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(zero.getInt())));
  return arith::SubFOp::create(b, byte->clamped, number);
}

static void eraseUnused(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

namespace {
struct FoldBytes : public onnxquant::impl::FoldBytesBase<FoldBytes> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<onnxq::KernelOpInterface>(op))
        fold(kernel.getEpilogue().front());
      else if (auto generic = dyn_cast<linalg::GenericOp>(op))
        if (generic.getNumReductionLoops() == 0)
          fold(*generic.getBody());
    });
  }

private:
  void fold(Block &block);
};
} // namespace

void FoldBytes::fold(Block &block) {
  // A byte that is replaced may make others depend on an earlier one.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    ByteFunctions functions(block);
    for (const ByteFunction &function : functions.found) {
      Value byte = shorten(function);
      if (!byte)
        continue;
      Value result = function.result;
      result.replaceAllUsesWith(byte);
      ++numFolded;
      isChanged = true;
      break;
    }
    eraseUnused(block);
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (auto convert = dyn_cast<arith::SIToFPOp>(op))
      if (Value number = findFloat(convert)) {
        convert.replaceAllUsesWith(number);
        ++numKept;
      }
  eraseUnused(block);
}
