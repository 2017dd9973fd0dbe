// Shortens what lies between quantized bytes. Enters and leaves: tensors, the
// bodies of elementwise ops and epilogues of kernels. What is replaced is
// proved by computing all values of a function, 256 of one byte or 65536 of
// two.

#include "ByteFunctions.h"
#include "ConstantExtras.h"
#include "NumberBounds.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "RoundedDivisions.h"
#include "RoundedEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

namespace onnxquant {
#define GEN_PASS_DEF_FOLDBYTES
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using kernels::ByteFunction;

//===----------------------------------------------------------------------===//
// Clamps
//===----------------------------------------------------------------------===//

namespace {
/// A function that clamps what it gets.
struct Clamp {
  int64_t low, high;
};
} // namespace

/// Whether a function's values for the bytes from `low` on clamp them: are the
/// same below some byte, above another one, and what they get between.
static std::optional<Clamp> findClamp(ArrayRef<uint8_t> table, int64_t low,
                                      bool hasSign) {
  auto at = [&](size_t i) -> int64_t {
    return hasSign ? static_cast<int8_t>(table[i]) : table[i];
  };
  int64_t least = at(0), most = at(table.size() - 1);
  if (least > most)
    return std::nullopt;
  for (size_t i = 0; i < table.size(); ++i)
    if (at(i) != std::clamp<int64_t>(low + i, least, most))
      return std::nullopt;
  return Clamp{least, most};
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
  if (function.sources.size() != 1)
    return {};
  auto table = kernels::tabulate(function);
  if (!table)
    return {};
  Value source = function.sources[0];
  if (auto byte = kernels::matchClamped(source)) {
    auto clamp = findClamp(*table, byte->low, byte->low < 0);
    if (!clamp)
      return {};
    if (clamp->low == byte->low && clamp->high == byte->high)
      return source;
    return kernels::emitClamped(b, byte->number, clamp->low, clamp->high);
  }
  for (bool hasSign : {false, true}) {
    // Bytes with a sign begin in the middle.
    if (hasSign)
      std::rotate(table->begin(), table->begin() + 128, table->end());
    int64_t low = hasSign ? -128 : 0, high = low + 255;
    auto clamp = findClamp(*table, low, hasSign);
    if (!clamp)
      continue;
    auto bound = [&](int64_t number) -> Value {
      return arith::ConstantOp::create(
          b, b.getI8IntegerAttr(static_cast<int8_t>(number)));
    };
    Value x = source;
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

/// Whether nothing but the function's result sees its ops from `number` on.
static bool isHidden(const ByteFunction &function, size_t number) {
  return llvm::all_of(ArrayRef(function.ops).drop_front(number).drop_back(),
                      [&](Operation *op) {
                        return llvm::all_of(
                            op->getUsers(), [&](Operation *user) {
                              return llvm::is_contained(function.ops, user);
                            });
                      });
}

/// Puts `quotient` into the place of a division, the op of a function with that
/// number; undoes it if a byte differs for it.
static bool replaceDivision(ByteFunction &function, size_t number,
                            ArrayRef<Operation *> quotient,
                            ArrayRef<uint8_t> table) {
  Operation *divide = function.ops[number];
  ByteFunction changed = function;
  changed.ops.erase(changed.ops.begin() + number);
  changed.ops.insert(changed.ops.begin() + number, quotient.begin(),
                     quotient.end());
  divide->replaceAllUsesWith(quotient.back());
  auto values = kernels::tabulate(changed);
  if (values && ArrayRef<uint8_t>(*values) == table) {
    function = std::move(changed);
    return true;
  }
  quotient.back()->replaceAllUsesWith(divide);
  for (Operation *op : llvm::reverse(quotient))
    op->erase();
  return false;
}

/// Multiplies by a reciprocal instead of dividing if no byte differs for it;
/// where the target can multiply and add at once, also with what is left of the
/// first quotient.
static bool multiplyInstead(ByteFunction &function, size_t number,
                            ArrayRef<uint8_t> table, bool hasFMA) {
  auto divide = cast<arith::DivFOp>(function.ops[number]);
  FloatAttr divisor;
  if (!divide.getType().isF32() || !isHidden(function, number) ||
      !matchPattern(divide.getRhs(), m_Constant(&divisor)))
    return false;
  float scale = divisor.getValue().convertToFloat(), inverse = 1.0f / scale;
  if (!std::isnormal(scale) || !std::isnormal(inverse))
    return false;
  ImplicitLocOpBuilder b(divide.getLoc(), divide);
  Value x = divide.getLhs();
  auto constant = [&](float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  for (float factor : {inverse, std::nextafter(inverse, 0.0f),
                       std::nextafter(inverse, inverse * 2)})
    if (replaceDivision(function, number,
                        {arith::MulFOp::create(b, x, constant(factor))}, table))
      return true;
  if (!hasFMA)
    return false;
  auto first = arith::MulFOp::create(b, x, constant(inverse));
  auto rest = math::FmaOp::create(b, first, constant(-scale), x);
  auto second = math::FmaOp::create(b, rest, constant(inverse), first);
  return replaceDivision(function, number, {first, rest, second}, table);
}

/// A maximum or minimum of a number with a constant by comparing, which is one
/// instruction on many processors. Zeros of either sign must stay what they
/// are.
static Value compareInstead(Operation *op) {
  FloatAttr bound;
  bool isMax = isa<arith::MaximumFOp>(op);
  if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op) ||
      !matchPattern(op->getOperand(1), m_Constant(&bound)) ||
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

/// Whether it may matter which sign the zeros of a block have: what it yields
/// is no integer, or something divides by them or looks at the sign.
static bool mayShowZeros(Block &block) {
  if (!block.getTerminator()->getOperand(0).getType().isInteger())
    return true;
  return llvm::any_of(block.without_terminator(), [](Operation &op) {
    if (auto divide = dyn_cast<arith::DivFOp>(op))
      return !matchPattern(divide.getRhs(), m_Constant());
    return !op.hasTrait<OpTrait::ConstantLike>() &&
           !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
                arith::CmpFOp, arith::SelectOp, arith::MaximumFOp,
                arith::MinimumFOp, arith::FPToSIOp, arith::SIToFPOp,
                arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::AddIOp,
                arith::SubIOp, math::FmaOp, math::RoundEvenOp>(op);
  });
}

/// The float that a byte was before, if `op` makes it one again; less a zero
/// point where that is taken between.
static Value findFloat(arith::SIToFPOp op, bool keepsZeros) {
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
  ImplicitLocOpBuilder b(op.getLoc(), op);
  return kernels::emitDifference(b, *byte, zero ? zero.getInt() : 0,
                                 keepsZeros);
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
    hasFMA = getTargetInfo(getOperation()).hasFMA;
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<onnxq::KernelOpInterface>(op)) {
        numConstants += kernels::foldConstantExtras(kernel);
        fold(kernel.getEpilogue().front());
        kernels::markSmallNumbers(kernel.getEpilogue().front());
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
  void simplify(ByteFunction function);
  void compareNumbers(Block &block);

  bool hasFMA = false;
};
} // namespace

void FoldBytes::simplify(ByteFunction function) {
  auto table = kernels::tabulate(function);
  if (!table)
    return;
  for (size_t i = 0; i < function.ops.size(); ++i) {
    if (isa<arith::DivFOp>(function.ops[i])) {
      numMultiplied += multiplyInstead(function, i, *table, hasFMA);
    } else if (Value value = compareInstead(function.ops[i])) {
      Operation *old = function.ops[i];
      old->replaceAllUsesWith(ValueRange(value));
      function.ops[i] = value.getDefiningOp();
      function.ops.insert(function.ops.begin() + i,
                          function.ops[i]->getOperand(0).getDefiningOp());
      ++i;
    }
  }
}

void FoldBytes::fold(Block &block) {
  // A byte that is replaced may make others depend on an earlier one.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (const ByteFunction &function : kernels::findByteFunctions(block)) {
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
  // Functions may share ops, which change with each of them.
  size_t count = kernels::findByteFunctions(block).size();
  for (size_t i = 0; i < count; ++i)
    simplify(kernels::findByteFunctions(block)[i]);
  eraseUnused(block);
  bool keepsZeros = mayShowZeros(block);
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (auto convert = dyn_cast<arith::SIToFPOp>(op))
      if (Value number = findFloat(convert, keepsZeros)) {
        convert.replaceAllUsesWith(number);
        ++numKept;
      }
  compareNumbers(block);
  if (hasFMA)
    numMultiplied += kernels::multiplyRounded(block);
  eraseUnused(block);
}

/// Maxima and minima of what is proved to be a number.
void FoldBytes::compareNumbers(Block &block) {
  kernels::NumberBounds bounds;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
        bounds.get(op.getOperand(0)))
      if (Value value = compareInstead(&op))
        op.replaceAllUsesWith(ValueRange(value));
}
