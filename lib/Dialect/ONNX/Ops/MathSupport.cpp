// Following the contents of small integer tensors through elementwise ops.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;

bool onnxquant::onnx::mayBeScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getRank() == 0 ||
         (type.getRank() == 1 &&
          (type.isDynamicDim(0) || type.getDimSize(0) == 1));
}

Dim onnxquant::onnx::getScalar(ShapeContext &ctx, Value value) {
  std::optional<Dims> contents = ctx.getContents(value);
  return contents && contents->size() == 1 ? contents->front() : ctx.unknown();
}

bool onnxquant::onnx::isNeverNegative(const Dim &dim) {
  if (std::optional<int64_t> constant = dim.getConstant())
    return *constant >= 0;
  return dim.isValid() && dim.str().find('-') == std::string::npos;
}

std::optional<SmallVector<double>> onnxquant::onnx::getFloats(Value value) {
  ElementsAttr elements = getConstant(value);
  if (!elements || elements.getShapedType().getRank() > 1)
    return std::nullopt;
  return readFloats(elements, ShapeContext::maxContents);
}

bool onnxquant::onnx::isFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

bool onnxquant::onnx::isNumber(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return isFloat(type) || (integer && integer.getWidth() >= 8);
}

LogicalResult onnxquant::onnx::verifyDataType(Operation *op, int64_t dataType,
                                              const DataTypeRule &rule) {
  Type type = elementTypeFromOnnx(dataType, op->getContext());
  if (!type || !rule.allows(type))
    return op->emitOpError("expects ")
           << rule.attribute << " to stand for " << rule.expected
           << ", but got " << dataType << " (" << rule.label << ")";
  Type output = getElementType(op->getResult(0));
  if (output != type && !isa<UnknownType>(output))
    return op->emitOpError("expects an output with elements of type ")
           << type << ", but got " << output << " (" << rule.outputLabel << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// One position
//===----------------------------------------------------------------------===//

namespace onnxquant::onnx::follow {

/// Two numbers, if both elements are.
static std::optional<std::pair<int64_t, int64_t>>
numbers(ArrayRef<Dim> elements) {
  std::optional<int64_t> a = elements[0].getConstant(),
                         b = elements[1].getConstant();
  if (!a || !b)
    return std::nullopt;
  return std::pair(*a, *b);
}

static std::optional<Dim> truth(std::optional<bool> value) {
  if (!value)
    return std::nullopt;
  return Dim(*value);
}

/// Folds a function of two over any number of elements.
static Dim fold(ArrayRef<Dim> elements,
                Dim (*function)(const Dim &, const Dim &)) {
  Dim result = elements.front();
  for (const Dim &element : elements.drop_front())
    result = function(result, element);
  return result;
}

std::optional<Dim> identity(ArrayRef<Dim> elements, Type) {
  return elements[0];
}

std::optional<Dim> absolute(ArrayRef<Dim> elements, Type) {
  if (isNeverNegative(elements[0]))
    return elements[0];
  if (!elements[0].isConstant())
    return std::nullopt;
  return Dim(0) - elements[0];
}

std::optional<Dim> negate(ArrayRef<Dim> elements, Type) {
  return Dim(0) - elements[0];
}

std::optional<Dim> add(ArrayRef<Dim> elements, Type) {
  return fold(elements, [](const Dim &a, const Dim &b) { return a + b; });
}

std::optional<Dim> sub(ArrayRef<Dim> elements, Type) {
  return elements[0] - elements[1];
}

std::optional<Dim> mul(ArrayRef<Dim> elements, Type) {
  return elements[0] * elements[1];
}

std::optional<Dim> maximum(ArrayRef<Dim> elements, Type) {
  return fold(elements, Dim::max);
}

std::optional<Dim> minimum(ArrayRef<Dim> elements, Type) {
  return fold(elements, Dim::min);
}

std::optional<Dim> div(ArrayRef<Dim> elements, Type type) {
  const Dim &a = elements[0], &b = elements[1];
  if (b.isConstant(0) || !a.isValid() || !b.isValid())
    return std::nullopt;
  Dim down = a.floorDiv(b);
  if (down * b == a)
    return down;
  if (!down.isValid() || !isa<IntegerType>(type))
    return std::nullopt;
  if (auto both = numbers(elements))
    return Dim(both->first / both->second);
  // Sizes: rounding down is cutting off.
  std::optional<int64_t> divisor = b.getConstant();
  return divisor && *divisor < 0 ? std::nullopt : std::optional<Dim>(down);
}

std::optional<Dim> modulo(ArrayRef<Dim> elements, Type) {
  std::optional<int64_t> divisor = elements[1].getConstant();
  if (divisor && *divisor == 0)
    return std::nullopt;
  return elements[0].mod(elements[1]);
}

std::optional<Dim> remainder(ArrayRef<Dim> elements, Type type) {
  if (isNeverNegative(elements[0]) && isNeverNegative(elements[1]))
    return modulo(elements, type);
  auto both = numbers(elements);
  if (!both || both->second == 0)
    return std::nullopt;
  return both->second == -1 ? Dim(0) : Dim(both->first % both->second);
}

std::optional<Dim> power(ArrayRef<Dim> elements, Type) {
  constexpr int64_t maxExponent = 64;
  std::optional<int64_t> exponent = elements[1].getConstant();
  if (!exponent || *exponent < 0 || *exponent > maxExponent)
    return std::nullopt;
  Dim result(1);
  for (int64_t i = 0; i < *exponent && result.isValid(); ++i)
    result = result * elements[0];
  return result;
}

/// The sign of `a - b` where it is known. Named sizes are not negative.
static std::optional<int> compare(ArrayRef<Dim> elements) {
  const Dim &a = elements[0], &b = elements[1];
  if (std::optional<int64_t> gap = (a - b).getConstant())
    return *gap < 0 ? -1 : *gap > 0;
  auto isNegative = [](const Dim &dim) {
    return dim.getConstant().value_or(0) < 0;
  };
  auto isSize = [](const Dim &dim) {
    return !dim.isAnonymous() && isNeverNegative(dim);
  };
  if (isNegative(b) && isSize(a))
    return 1;
  if (isNegative(a) && isSize(b))
    return -1;
  return std::nullopt;
}

std::optional<Dim> equal(ArrayRef<Dim> elements, Type) {
  std::optional<int> sign = compare(elements);
  return sign ? truth(*sign == 0) : std::nullopt;
}

std::optional<Dim> less(ArrayRef<Dim> elements, Type) {
  std::optional<int> sign = compare(elements);
  return sign ? truth(*sign < 0) : std::nullopt;
}

std::optional<Dim> lessOrEqual(ArrayRef<Dim> elements, Type) {
  std::optional<int> sign = compare(elements);
  return sign ? truth(*sign <= 0) : std::nullopt;
}

std::optional<Dim> greater(ArrayRef<Dim> elements, Type) {
  std::optional<int> sign = compare(elements);
  return sign ? truth(*sign > 0) : std::nullopt;
}

std::optional<Dim> greaterOrEqual(ArrayRef<Dim> elements, Type) {
  std::optional<int> sign = compare(elements);
  return sign ? truth(*sign >= 0) : std::nullopt;
}

std::optional<Dim> logicalNot(ArrayRef<Dim> elements, Type) {
  return Dim(1) - elements[0];
}

std::optional<Dim> logicalAnd(ArrayRef<Dim> elements, Type) {
  if (elements[0].isConstant(0) || elements[1].isConstant(0))
    return Dim(0);
  auto both = numbers(elements);
  return both ? truth(both->first && both->second) : std::nullopt;
}

std::optional<Dim> logicalOr(ArrayRef<Dim> elements, Type) {
  auto isTrue = [](const Dim &dim) { return dim.getConstant().value_or(0); };
  if (isTrue(elements[0]) || isTrue(elements[1]))
    return Dim(1);
  auto both = numbers(elements);
  return both ? truth(both->first || both->second) : std::nullopt;
}

std::optional<Dim> logicalXor(ArrayRef<Dim> elements, Type) {
  auto both = numbers(elements);
  return both ? truth(!both->first != !both->second) : std::nullopt;
}

std::optional<Dim> select(ArrayRef<Dim> elements, Type) {
  if (elements[1] == elements[2])
    return elements[1];
  std::optional<int64_t> condition = elements[0].getConstant();
  if (!condition)
    return std::nullopt;
  return *condition ? elements[1] : elements[2];
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Type commonElementType(ValueRange values) {
  Type type;
  for (Value value : values) {
    Type other = getElementType(value);
    if (other && (!type || isa<UnknownType>(type)))
      type = other;
  }
  return type;
}

/// Whether an element type holds `dim` exactly. Sizes are taken to fit the
/// types that exporters compute them in.
static bool holds(Type type, const Dim &dim) {
  if (!dim.isValid())
    return false;
  std::optional<int64_t> value = dim.getConstant();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (!value)
      return !integer.isUnsigned() && integer.getWidth() >= 32;
    if (integer.isUnsigned() || integer.getWidth() == 1)
      return *value >= 0 && (integer.getWidth() == 64 ||
                             llvm::isUIntN(integer.getWidth(), *value));
    return llvm::isIntN(integer.getWidth(), *value);
  }
  if (!isFloat(type))
    return false;
  unsigned precision = cast<FloatType>(type).getFPMantissaWidth();
  if (!value)
    return precision >= 24;
  return llvm::AbsoluteValue(*value) <= uint64_t(1) << precision;
}

void setExact(ShapeContext &ctx, OpResult result,
              ArrayRef<std::optional<Dim>> contents) {
  std::optional<int64_t> rank = ctx.getRank(result);
  if (!rank || *rank > 1 || (*rank == 0 && contents.size() != 1) ||
      contents.size() > size_t(ShapeContext::maxContents))
    return;
  Type type = getElementType(result);
  Dims exact;
  for (const std::optional<Dim> &element : contents)
    exact.push_back(element && holds(type, *element) ? *element
                                                     : ctx.unknown());
  ctx.setContents(result, exact);
}

/// The contents that the context knows, or a constant of whole floats.
static std::optional<Dims> getWholeContents(ShapeContext &ctx, Value value) {
  if (std::optional<Dims> contents = ctx.getContents(value))
    return contents;
  std::optional<SmallVector<double>> floats = getFloats(value);
  if (!floats)
    return std::nullopt;
  Dims contents;
  for (double element : *floats) {
    constexpr double limit = 9007199254740992.0; // 2^53
    if (!(std::abs(element) <= limit) || element != std::floor(element))
      return std::nullopt;
    contents.push_back(Dim(int64_t(element)));
  }
  return contents;
}

/// The length of a result that operands of rank 0 or 1 broadcast to.
static std::optional<size_t> broadcastLength(ArrayRef<Dims> operands) {
  size_t length = 1;
  for (const Dims &contents : operands) {
    if (contents.size() == 1)
      continue;
    if (length != 1 && length != contents.size())
      return std::nullopt;
    length = contents.size();
  }
  return length;
}

static const Dim &at(const Dims &contents, size_t position) {
  return contents[contents.size() == 1 ? 0 : position];
}

LogicalResult elementwise(ShapeContext &ctx, Operation *op, Function function,
                          Type elementType) {
  if (!elementType)
    elementType = commonElementType(op->getOperands());
  if (failed(shape::broadcast(ctx, op, elementType)))
    return failure();
  SmallVector<Dims> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Dims> contents = getWholeContents(ctx, operand);
    if (!contents)
      return success();
    operands.push_back(std::move(*contents));
  }
  std::optional<size_t> length = broadcastLength(operands);
  if (!length)
    return success();
  SmallVector<std::optional<Dim>> results;
  for (size_t i = 0; i < *length; ++i) {
    Dims elements;
    for (const Dims &contents : operands)
      elements.push_back(at(contents, i));
    results.push_back(function(elements, elementType));
  }
  setExact(ctx, op->getResult(0), results);
  return success();
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// `numerator / denominator`, the denominator a power of two.
struct Fraction {
  int64_t numerator, denominator;
};

static std::optional<Fraction> getFraction(double value) {
  constexpr int64_t maxDenominator = int64_t(1) << 20;
  constexpr double maxNumerator = double(int64_t(1) << 40);
  for (int64_t d = 1; d <= maxDenominator; d *= 2) {
    double scaled = value * double(d);
    if (!(std::abs(scaled) <= maxNumerator))
      return std::nullopt;
    if (scaled == std::floor(scaled))
      return Fraction{int64_t(scaled), d};
  }
  return std::nullopt;
}

/// A quotient rounded; none where sizes might be negative and it matters.
static std::optional<Dim> divide(const Dim &a, const Dim &b,
                                 Rounding rounding) {
  if (!a.isValid() || !b.isValid() || b.isConstant(0))
    return std::nullopt;
  Dim down = a.floorDiv(b);
  if (down * b == a)
    return down;
  switch (rounding) {
  case Rounding::Down:
    return down;
  case Rounding::Up:
    if (b.isConstant() && isNeverNegative(b))
      return a.ceilDiv(b);
    return std::nullopt;
  case Rounding::TowardZero:
    if (isNeverNegative(a) && isNeverNegative(b))
      return down;
    return std::nullopt;
  }
  llvm_unreachable("all ways of rounding are covered");
}

/// Looks through a product with fractions.
static std::optional<Dims> roundedProduct(ShapeContext &ctx, Value sizes,
                                          Value factors, Rounding rounding) {
  std::optional<Dims> contents = getWholeContents(ctx, sizes);
  std::optional<SmallVector<double>> floats = getFloats(factors);
  if (!contents || !floats)
    return std::nullopt;
  std::optional<size_t> length =
      broadcastLength({*contents, Dims(floats->size(), Dim(0))});
  if (!length)
    return std::nullopt;
  Dims results;
  for (size_t i = 0; i < *length; ++i) {
    std::optional<Fraction> scale =
        getFraction((*floats)[floats->size() == 1 ? 0 : i]);
    std::optional<Dim> element;
    if (scale)
      element = divide(at(*contents, i) * Dim(scale->numerator),
                       Dim(scale->denominator), rounding);
    results.push_back(element ? *element : ctx.unknown());
  }
  return results;
}

std::optional<Dims> roundedContents(ShapeContext &ctx, Value value,
                                    Rounding rounding) {
  // The product itself may be known by its length only.
  if (auto mul = value.getDefiningOp<MulOp>()) {
    if (auto product = roundedProduct(ctx, mul.getA(), mul.getB(), rounding))
      return product;
    if (auto product = roundedProduct(ctx, mul.getB(), mul.getA(), rounding))
      return product;
  }
  if (auto div = value.getDefiningOp<DivOp>()) {
    std::optional<Dims> a = getWholeContents(ctx, div.getA()),
                        b = getWholeContents(ctx, div.getB());
    std::optional<size_t> length;
    if (a && b)
      length = broadcastLength({*a, *b});
    if (length) {
      Dims results;
      for (size_t i = 0; i < *length; ++i) {
        std::optional<Dim> element = divide(at(*a, i), at(*b, i), rounding);
        results.push_back(element ? *element : ctx.unknown());
      }
      return results;
    }
  }
  return getWholeContents(ctx, value);
}

LogicalResult rounding(ShapeContext &ctx, Operation *op, Rounding rounding) {
  if (failed(shape::sameAs(ctx, op)))
    return failure();
  std::optional<Dims> contents =
      roundedContents(ctx, op->getOperand(0), rounding);
  if (contents)
    setExact(
        ctx, op->getResult(0),
        SmallVector<std::optional<Dim>>(contents->begin(), contents->end()));
  return success();
}

} // namespace onnxquant::onnx::follow
