// Contractions of integers, and the ops that requantize or scale their sums.

#include "IntegerProduct.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

bool kernels::hasIntegers(Value value, unsigned bits) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isInteger(bits);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

bool IntegerWeights::isNarrow() const {
  return llvm::all_of(values, [](int16_t v) { return v >= -128 && v <= 127; });
}

/// Adds up what `measure` makes of each weight, column by column.
template <typename Fn>
static std::vector<int64_t> addColumns(const IntegerWeights &weights,
                                       Fn measure) {
  std::vector<int64_t> sums(weights.groups * weights.n, 0);
  const int16_t *row = weights.values.data();
  for (int64_t g = 0; g < weights.groups; ++g)
    for (int64_t k = 0; k < weights.k; ++k, row += weights.n)
      for (int64_t n = 0; n < weights.n; ++n)
        sums[g * weights.n + n] += measure(row[n]);
  return sums;
}

std::vector<int64_t> IntegerWeights::sumColumns() const {
  return addColumns(*this, [](int64_t weight) { return weight; });
}

int64_t IntegerWeights::largestColumn() const {
  std::vector<int64_t> sums =
      addColumns(*this, [](int64_t weight) { return std::abs(weight); });
  return *llvm::max_element(sums);
}

/// What a contraction costs after `count` groups each are merged: columns come
/// in vectors, channels in steps where they can be filled up.
static int64_t costOfGroups(const IntegerWeights &weights, int64_t channels,
                            int64_t count) {
  int64_t groups = weights.groups / count;
  channels *= count;
  int64_t slower = groups == 1 || channels % 4 == 0 ? 1
                   : channels % 2 == 0              ? 2
                                                    : 4;
  return groups * channels * llvm::alignTo(weights.n * count, 4) * slower;
}

void IntegerWeights::mergeSmallGroups(int64_t taps) {
  int64_t channels = k / taps, count = 1;
  for (int64_t more = 2; more <= groups; ++more)
    if (groups % more == 0 && costOfGroups(*this, channels, more) <=
                                  costOfGroups(*this, channels, count))
      count = more;
  if (count == 1)
    return;
  IntegerWeights merged = {groups / count, k * count, n * count, {}};
  merged.values.resize(values.size() * count, 0);
  const int16_t *from = values.data();
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < channels; ++c, from += n) {
        int64_t inner = g % count;
        int64_t row =
            (g / count * taps + t) * channels * count + inner * channels + c;
        std::copy_n(from, n,
                    merged.values.begin() + row * merged.n + inner * n);
      }
  *this = std::move(merged);
}

/// An 8-bit constant as integers, less the zero point of each one's index
/// in a dimension that `stride` elements share.
static std::optional<std::vector<int16_t>> readLessZero(const RawElements &raw,
                                                        Value zero,
                                                        int64_t count,
                                                        int64_t stride) {
  bool isUnsigned = raw.type.getElementType().isUnsignedInteger();
  std::vector<int16_t> zeros(count, 0);
  if (!isAbsent(zero)) {
    ElementsAttr elements = onnx::getConstant(zero);
    if (!elements)
      return std::nullopt;
    auto known = onnx::readInts(elements, count);
    if (!known ||
        (known->size() != 1 && static_cast<int64_t>(known->size()) != count))
      return std::nullopt;
    for (int64_t i = 0; i < count; ++i)
      zeros[i] = known->size() == 1 ? known->front() : (*known)[i];
  }
  std::vector<int16_t> values(raw.bytes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    int value = isUnsigned ? static_cast<uint8_t>(raw.bytes[i])
                           : static_cast<int8_t>(raw.bytes[i]);
    values[i] = value - zeros[i / stride % count];
  }
  return values;
}

/// Numbers of dimensions `shape` in the order of dimensions `order`.
static std::vector<int16_t> permute(ArrayRef<int16_t> values,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> order) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  std::vector<int16_t> result;
  result.reserve(values.size());
  SmallVector<int64_t> at(shape.size(), 0);
  for (size_t done = 0; done < values.size(); ++done) {
    int64_t offset = 0;
    for (size_t i = 0; i < order.size(); ++i)
      offset += at[i] * strides[order[i]];
    result.push_back(values[offset]);
    for (size_t i = order.size(); i-- > 0;) {
      if (++at[i] < shape[order[i]])
        break;
      at[i] = 0;
    }
  }
  return result;
}

std::optional<IntegerWeights> kernels::readFilters(Value weights, Value zero,
                                                   int64_t group) {
  std::optional<RawElements> raw = readElements(weights);
  if (!raw || !raw->type.getElementType().isInteger(8) ||
      raw->type.getRank() < 3 || raw->bytes.empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = raw->type.getShape();
  int64_t perFilter = raw->type.getNumElements() / shape[0];
  auto values = readLessZero(*raw, zero, shape[0], perFilter);
  if (!values || shape[0] % group != 0)
    return std::nullopt;
  IntegerWeights result = {group, perFilter, shape[0] / group, {}};
  result.values = permute(
      *values, {group, result.n, shape[1], perFilter / shape[1]}, {0, 3, 2, 1});
  return result;
}

std::optional<IntegerWeights>
kernels::readTransposedFilters(Value weights, Value zero, int64_t group) {
  std::optional<RawElements> raw = readElements(weights);
  if (!raw || !raw->type.getElementType().isInteger(8) ||
      raw->type.getRank() < 3 || raw->bytes.empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = raw->type.getShape();
  int64_t taps = raw->type.getNumElements() / (shape[0] * shape[1]);
  auto values = readLessZero(*raw, zero, shape[1], taps);
  if (!values || shape[0] % group != 0)
    return std::nullopt;
  return IntegerWeights{group, shape[0] / group * taps, shape[1],
                        std::move(*values)};
}

std::optional<IntegerWeights> kernels::readMatrix(Value weights, Value zero,
                                                  bool isTransposed) {
  std::optional<RawElements> raw = readElements(weights);
  if (!raw || !raw->type.getElementType().isInteger(8) ||
      raw->type.getRank() != 2 || raw->bytes.empty())
    return std::nullopt;
  int64_t k = raw->type.getDimSize(isTransposed ? 1 : 0);
  int64_t n = raw->type.getDimSize(isTransposed ? 0 : 1);
  auto values = readLessZero(*raw, zero, n, isTransposed ? k : 1);
  if (!values)
    return std::nullopt;
  IntegerWeights result = {1, k, n, {}};
  result.values =
      isTransposed ? permute(*values, {n, k}, {1, 0}) : std::move(*values);
  return result;
}

static Value makeWeights(ImplicitLocOpBuilder &b,
                         const IntegerWeights &weights) {
  SmallVector<int64_t> shape = {weights.groups, weights.k, weights.n};
  if (!weights.isNarrow())
    return makeNumbers<int16_t>(b, shape, b.getI16Type(), weights.values,
                                "weights");
  std::vector<int8_t> narrow(weights.values.begin(), weights.values.end());
  return makeNumbers<int8_t>(b, shape, b.getI8Type(), narrow, "weights");
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Puts a border that is only known at run time around the input.
static void padInput(ImplicitLocOpBuilder &b, Operation *node,
                     IntegerProduct &product) {
  size_t rank = product.window.kernel.size();
  SmallVector<int64_t> &pads = product.window.pads;
  auto type = cast<RankedTensorType>(product.input.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<int64_t> all(2 * (rank + 2), 0);
  for (size_t i = 0; i < rank; ++i) {
    all[1 + i] = pads[i];
    all[rank + 3 + i] = pads[rank + i];
    if (!ShapedType::isDynamic(shape[1 + i]))
      shape[1 + i] += pads[i] + pads[rank + i];
  }
  Value amounts = makeNumbers<int64_t>(b, static_cast<int64_t>(all.size()),
                                       b.getI64Type(), all, "pads");
  auto none = onnx::NoValueOp::create(b);
  OperationState state(b.getLoc(), onnx::PadOp::getOperationName());
  state.addOperands({product.input, amounts, product.inputZero, none});
  state.addTypes(RankedTensorType::get(shape, type.getElementType()));
  if (Attribute name = node->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, name);
  product.input = b.create(state)->getResult(0);
  pads.assign(2 * rank, 0);
}

namespace {
/// What an epilogue adds to a sum: operands and how.
class Correction {
public:
  Correction(ImplicitLocOpBuilder &b, int64_t rank, Type sumType)
      : b(b), rank(rank), sumType(sumType) {}

  /// Numbers per column.
  void addConstants(ArrayRef<int64_t> values) {
    if (llvm::any_of(values, [](int64_t n) { return n != 0; }))
      addColumns(makeColumns(values));
  }
  void addColumns(Value value) { addends.push_back(addExtra(value)); }
  /// Less `zero * sums`.
  void subtractZero(Value zero, ArrayRef<int64_t> sums) {
    auto type = cast<RankedTensorType>(zero.getType());
    isUnsigned = type.getElementType().isUnsignedInteger();
    SmallVector<AffineExpr> exprs(type.getRank(), b.getAffineConstantExpr(0));
    epilogueOperands.push_back(
        {zero, AffineMap::get(rank, 0, exprs, b.getContext())});
    zeroNumber = epilogueOperands.size();
    sumsNumber = addExtra(makeColumns(sums));
  }

  ArrayRef<EpilogueOperand> getEpilogueOperands() const {
    return epilogueOperands;
  }

  Value emit(ImplicitLocOpBuilder &b, ValueRange arguments) const {
    Value sum = arguments[0];
    for (size_t argument : addends)
      sum =
          arith::AddIOp::create(b, sum, widened(b, arguments[argument], false));
    if (zeroNumber == 0)
      return sum;
    Value zero = widened(b, arguments[zeroNumber], isUnsigned);
    Value part = arith::MulIOp::create(b, zero, arguments[sumsNumber]);
    return arith::SubIOp::create(b, sum, part);
  }

private:
  /// Numbers as constants of the sums' type; they wrap, as the sums do.
  Value makeColumns(ArrayRef<int64_t> values) {
    int64_t count = values.size();
    if (sumType.isInteger(64))
      return makeNumbers<int64_t>(b, count, sumType, values, "correction");
    SmallVector<int32_t> narrow;
    for (int64_t value : values)
      narrow.push_back(static_cast<int32_t>(value));
    return makeNumbers<int32_t>(b, count, sumType, narrow, "correction");
  }
  size_t addExtra(Value value) {
    epilogueOperands.push_back(
        {value, AffineMap::get(rank, 0, b.getAffineDimExpr(rank - 1))});
    return epilogueOperands.size();
  }
  Value widened(ImplicitLocOpBuilder &b, Value x, bool isUnsigned) const {
    if (x.getType() == sumType)
      return x;
    if (isUnsigned)
      return arith::ExtUIOp::create(b, sumType, x);
    return arith::ExtSIOp::create(b, sumType, x);
  }

  ImplicitLocOpBuilder &b;
  int64_t rank;
  Type sumType;
  SmallVector<EpilogueOperand> epilogueOperands;
  /// Numbers of arguments: those to be added, the zero point and the sums.
  SmallVector<size_t> addends;
  size_t zeroNumber = 0, sumsNumber = 0;
  bool isUnsigned = false;
};
} // namespace

/// What the zero point and the bias add to the sums.
static Correction makeCorrection(ImplicitLocOpBuilder &b,
                                 const IntegerProduct &product, int64_t rank,
                                 Type sumType) {
  Correction correction(b, rank, sumType);
  std::vector<int64_t> known(product.weights.groups * product.weights.n);
  if (!isAbsent(product.inputZero)) {
    std::vector<int64_t> sums = product.weights.sumColumns();
    if (std::optional<int64_t> zero = readInteger(product.inputZero)) {
      for (auto [value, sum] : llvm::zip(known, sums))
        value = -*zero * sum;
    } else {
      correction.subtractZero(product.inputZero, sums);
    }
  }
  if (!isAbsent(product.bias)) {
    ElementsAttr elements = onnx::getConstant(product.bias);
    auto bias = elements ? onnx::readInts(elements, known.size())
                         : std::optional<SmallVector<int64_t>>();
    if (bias && bias->size() == known.size())
      for (auto [value, addend] : llvm::zip(known, *bias))
        value += addend;
    else
      correction.addColumns(product.bias);
  }
  correction.addConstants(known);
  return correction;
}

Type kernels::getSumType(Value input, const IntegerWeights &weights) {
  auto element = cast<RankedTensorType>(input.getType()).getElementType();
  Builder b(input.getContext());
  if (element.isInteger(8))
    return b.getI32Type();
  // A bias may be as large as 32 bits allow; the real sum is less by far.
  int64_t bound = weights.largestColumn() * 65535;
  return bound < (int64_t(1) << 31) ? b.getI32Type() : b.getI64Type();
}

/// The sizes of the output.
static SmallVector<OpFoldResult> getSumSizes(ImplicitLocOpBuilder &b,
                                             Operation *node,
                                             const IntegerProduct &product) {
  int64_t rank = cast<RankedTensorType>(product.input.getType()).getRank();
  SmallVector<OpFoldResult> sizes;
  if (product.window.kernel.empty()) {
    for (int64_t i = 0; i + 1 < rank; ++i)
      sizes.push_back(getSize(b, product.input, i));
  } else {
    sizes.push_back(getSize(b, product.input, 0));
    sizes.append(getOutputSizes(b, node, product.input, product.window));
  }
  sizes.push_back(b.getIndexAttr(product.weights.groups * product.weights.n));
  return sizes;
}

Value kernels::makeSums(ImplicitLocOpBuilder &b, Operation *node,
                        IntegerProduct product) {
  bool isPadded =
      llvm::any_of(product.window.pads, [](int64_t p) { return p > 0; });
  std::optional<int64_t> zero = 0;
  if (!isAbsent(product.inputZero))
    zero = readInteger(product.inputZero);
  if (isPadded && !zero)
    padInput(b, node, product);
  auto input = cast<RankedTensorType>(product.input.getType());
  int64_t taps = 1;
  for (int64_t size : product.window.kernel)
    taps *= size;
  product.weights.mergeSmallGroups(taps);
  Type sumType = product.sumType ? product.sumType
                                 : getSumType(product.input, product.weights);
  Correction correction = makeCorrection(b, product, input.getRank(), sumType);
  SmallVector<EpilogueOperand> epilogueOperands(
      correction.getEpilogueOperands());
  std::optional<RequantizeEpilogue> requantize;
  if (product.requantization)
    requantize.emplace(b, product.requantization(b), input.getRank(),
                       epilogueOperands);
  if (!product.init) {
    product.init =
        makeEmpty(b, getSumSizes(b, node, product),
                  requantize ? requantize->getElementType() : sumType);
    if (product.window.isPointwise())
      product.window = KernelWindow();
  }
  IntegerContract contract = {product.input, makeWeights(b, product.weights),
                              product.init, sumType, epilogueOperands};
  Type stored = onnxq::getRegionType(input.getElementType());
  if (isPadded && zero && *zero != 0)
    contract.pad = arith::ConstantOp::create(
        b, IntegerAttr::get(
               stored, APInt(64, *zero).trunc(stored.getIntOrFloatBitWidth())));
  contract.window = product.window;
  contract.epilogue = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Value sum = correction.emit(b, arguments);
    return requantize ? requantize->emit(b, sum, arguments) : sum;
  };
  return makeIntegerContract(b, contract);
}

Value kernels::makeIntegerContract(ImplicitLocOpBuilder &b,
                                   const IntegerContract &contract) {
  auto isUnsigned = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType())
        .getElementType()
        .isUnsignedInteger();
  };
  SmallVector<Value> epilogueOperands;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types = {contract.sumType};
  for (const EpilogueOperand &operand : contract.epilogueOperands) {
    epilogueOperands.push_back(operand.value);
    maps.push_back(operand.map);
    types.push_back(onnxq::getRegionType(
        cast<RankedTensorType>(operand.value.getType()).getElementType()));
  }
  const KernelWindow &window = contract.window;
  auto op = onnxq::ContractOp::create(
      b, TypeRange(contract.init.getType()), contract.input, contract.weights,
      contract.pad, epilogueOperands, contract.init, window.kernel,
      window.strides, window.dilations, window.pads,
      b.getAffineMapArrayAttr(maps), contract.isBatched,
      isUnsigned(contract.input), isUnsigned(contract.weights),
      onnxq::PackingAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getEpilogue(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  onnxq::YieldOp::create(b, contract.epilogue(b, block->getArguments()));
  return op.getResult(0);
}
