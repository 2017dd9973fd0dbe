// Finds functions of bytes, and computes their values: all ops are exact or
// rounded as IEEE 754 wants it, so that they give the same everywhere.

#include "ByteFunctions.h"
#include "RoundedEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using kernels::ByteFunction;

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
/// What a value depends on besides constants; not known for most.
struct Origin {
  bool isKnown = false;
  SmallVector<Value, 2> sources;
};

class FunctionFinder {
public:
  std::vector<ByteFunction> find(Block &block);

private:
  Origin originOf(Operation &op);
  static bool isByte(Value value) { return value.getType().isInteger(8); }

  llvm::DenseMap<Value, Origin> origins;
};
} // namespace

Origin FunctionFinder::originOf(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>())
    return {true, {}};
  if (op.getNumRegions() != 0 || op.getNumResults() != 1 || !isPure(&op))
    return {};
  Origin origin = {true, {}};
  for (Value operand : op.getOperands()) {
    if (matchPattern(operand, m_Constant()))
      continue;
    Origin other =
        isByte(operand) ? Origin{true, {operand}} : origins.lookup(operand);
    if (!other.isKnown)
      return {};
    for (Value source : other.sources)
      if (!llvm::is_contained(origin.sources, source))
        origin.sources.push_back(source);
    if (origin.sources.size() > 2)
      return {};
  }
  return origin;
}

std::vector<ByteFunction> FunctionFinder::find(Block &block) {
  std::vector<ByteFunction> found;
  for (Operation &op : block.without_terminator()) {
    Origin origin = originOf(op);
    for (Value result : op.getResults())
      origins[result] = origin;
    if (origin.sources.empty() || !isByte(op.getResult(0)))
      continue;
    ByteFunction function = {origin.sources, op.getResult(0), {}};
    // What leads to the result, between.
    llvm::SmallPtrSet<Operation *, 32> needed = {&op};
    for (Operation *next = &op; next; next = next->getPrevNode()) {
      if (!needed.contains(next))
        continue;
      function.ops.push_back(next);
      for (Value operand : next->getOperands())
        if (Operation *defining = operand.getDefiningOp();
            defining && defining->getBlock() == &block &&
            !llvm::is_contained(origin.sources, operand))
          needed.insert(defining);
    }
    std::reverse(function.ops.begin(), function.ops.end());
    found.push_back(std::move(function));
  }
  return found;
}

std::vector<ByteFunction> kernels::findByteFunctions(Block &block) {
  return FunctionFinder().find(block);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// An integer with its sign or an `f32`.
struct Number {
  int64_t whole = 0;
  float real = 0;
};

/// The ops of a function as steps between numbered values.
class ByteProgram {
public:
  /// Fails at an op that isn't known.
  LogicalResult build(const ByteFunction &function);
  uint8_t run(ArrayRef<uint8_t> bytes);
  /// Whether all results were numbers so far.
  bool hasNumbers = true;

private:
  struct Step {
    Number (*compute)(const Number &, const Number &, const Number &);
    std::array<unsigned, 3> operands;
    unsigned result;
  };
  std::optional<unsigned> slotOf(Value value);
  unsigned addSlot(Value value) {
    slots[value] = numbers.size();
    numbers.emplace_back();
    return slots[value];
  }

  llvm::DenseMap<Value, unsigned> slots;
  std::vector<Number> numbers;
  std::vector<Step> steps;
  unsigned result = 0;
};
} // namespace

using StepFn = Number (*)(const Number &, const Number &, const Number &);

static Number ofReal(float real) { return {0, real}; }
static Number ofWhole(int64_t whole) { return {whole, 0}; }

/// The larger one; not a number if one isn't, and plus zero is larger than
/// minus zero.
static float largest(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return std::max(a, b);
}

static StepFn getFloatStep(Operation *op) {
#define STEP(EXPRESSION)                                                       \
  [](const Number &a, const Number &b, const Number &c) -> Number {            \
    (void)a, (void)b, (void)c;                                                 \
    return EXPRESSION;                                                         \
  }
  return llvm::TypeSwitch<Operation *, StepFn>(op)
      .Case<arith::AddFOp>([](auto) { return STEP(ofReal(a.real + b.real)); })
      .Case<arith::SubFOp>([](auto) { return STEP(ofReal(a.real - b.real)); })
      .Case<arith::MulFOp>([](auto) { return STEP(ofReal(a.real * b.real)); })
      .Case<arith::DivFOp>([](auto) { return STEP(ofReal(a.real / b.real)); })
      .Case<arith::NegFOp>([](auto) { return STEP(ofReal(-a.real)); })
      .Case<arith::MaximumFOp>(
          [](auto) { return STEP(ofReal(largest(a.real, b.real))); })
      .Case<arith::MinimumFOp>(
          [](auto) { return STEP(ofReal(-largest(-a.real, -b.real))); })
      .Case<math::FmaOp>(
          [](auto) { return STEP(ofReal(std::fma(a.real, b.real, c.real))); })
      .Case<math::RoundEvenOp>(
          [](auto) { return STEP(ofReal(std::nearbyint(a.real))); })
      .Default([](auto) { return nullptr; });
}

static StepFn getCompareStep(arith::CmpFOp op) {
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OGT:
    return STEP(ofWhole(a.real > b.real));
  case arith::CmpFPredicate::OLT:
    return STEP(ofWhole(a.real < b.real));
  case arith::CmpFPredicate::OGE:
    return STEP(ofWhole(a.real >= b.real));
  case arith::CmpFPredicate::OLE:
    return STEP(ofWhole(a.real <= b.real));
  default:
    return nullptr;
  }
}

static StepFn getStep(Operation *op) {
  auto isFrom = [&](unsigned bits) {
    return op->getOperand(0).getType().isInteger(bits);
  };
  Type type = op->getResult(0).getType();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compare.getLhs().getType().isF32() ? getCompareStep(compare)
                                              : nullptr;
  if (isa<arith::SelectOp>(op) && (type.isF32() || type.isInteger(8)))
    return STEP(a.whole ? b : c);
  if (type.isF32()) {
    if (isa<arith::SIToFPOp>(op) && isFrom(32))
      return STEP(ofReal(static_cast<float>(a.whole)));
    return getFloatStep(op);
  }
  if (type.isInteger(8)) {
    if (isa<arith::TruncIOp>(op) && isFrom(32))
      return STEP(ofWhole(static_cast<int8_t>(a.whole)));
    return nullptr;
  }
  if (!type.isInteger(32))
    return nullptr;
  if (isa<arith::ExtUIOp>(op) && isFrom(8))
    return STEP(ofWhole(static_cast<uint8_t>(a.whole)));
  if (isa<arith::ExtSIOp>(op) && isFrom(8))
    return STEP(a);
  if (isa<arith::SubIOp>(op))
    return STEP(ofWhole(static_cast<int32_t>(a.whole - b.whole)));
  if (isa<arith::AddIOp>(op))
    return STEP(ofWhole(static_cast<int32_t>(a.whole + b.whole)));
  // In range wherever a byte is made of it.
  if (isa<arith::FPToSIOp>(op) && op->getOperand(0).getType().isF32())
    return STEP(ofWhole(std::abs(a.real) < 1e9f
                            ? static_cast<int64_t>(a.real)
                            : std::numeric_limits<int32_t>::min()));
  return nullptr;
}
#undef STEP

std::optional<unsigned> ByteProgram::slotOf(Value value) {
  auto known = slots.find(value);
  if (known != slots.end())
    return known->second;
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  Number number;
  if (auto real = dyn_cast<FloatAttr>(constant);
      real && value.getType().isF32())
    number.real = real.getValue().convertToFloat();
  else if (auto whole = dyn_cast<IntegerAttr>(constant);
           whole && whole.getValue().getBitWidth() <= 32)
    number.whole = whole.getValue().getSExtValue();
  else
    return std::nullopt;
  unsigned slot = addSlot(value);
  numbers[slot] = number;
  return slot;
}

LogicalResult ByteProgram::build(const ByteFunction &function) {
  for (Value source : function.sources)
    addSlot(source);
  for (Operation *op : function.ops) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    Step step = {op->getNumResults() == 1 && op->getNumOperands() <= 3
                     ? getStep(op)
                     : nullptr,
                 {},
                 0};
    if (!step.compute)
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      std::optional<unsigned> slot = slotOf(operand);
      if (!slot)
        return failure();
      step.operands[i] = *slot;
    }
    step.result = addSlot(op->getResult(0));
    steps.push_back(step);
  }
  result = slots.lookup(function.result);
  return success();
}

uint8_t ByteProgram::run(ArrayRef<uint8_t> bytes) {
  for (auto [slot, byte] : llvm::enumerate(bytes))
    numbers[slot].whole = static_cast<int8_t>(byte);
  for (const Step &step : steps) {
    numbers[step.result] =
        step.compute(numbers[step.operands[0]], numbers[step.operands[1]],
                     numbers[step.operands[2]]);
    hasNumbers &= !std::isnan(numbers[step.result].real);
  }
  return static_cast<uint8_t>(numbers[result].whole);
}

std::pair<int64_t, int64_t> kernels::getByteRange(Value byte) {
  if (auto clamped = matchClamped(byte))
    return {clamped->low, clamped->high};
  return {0, 255};
}

std::optional<std::vector<uint8_t>>
kernels::tabulate(const ByteFunction &function) {
  ByteProgram program;
  if (failed(program.build(function)))
    return std::nullopt;
  std::vector<uint8_t> table;
  auto [low, high] = getByteRange(function.sources[0]);
  for (int64_t first = low; first <= high; ++first) {
    auto byte = static_cast<uint8_t>(first);
    if (function.sources.size() == 1) {
      table.push_back(program.run(byte));
      continue;
    }
    auto [from, to] = getByteRange(function.sources[1]);
    for (int64_t second = from; second <= to; ++second)
      table.push_back(program.run({byte, static_cast<uint8_t>(second)}));
  }
  if (!program.hasNumbers)
    return std::nullopt;
  return table;
}
