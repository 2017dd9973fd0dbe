// Reads the graph around a softmax back to Q, K and V. Sees through
//
// - factors, and transposes that move heads or turn keys
// - reshapes of [B, N, S, H] to [B * N, S, H] and back, on the way to the
//   products and between them (bmm in PyTorch), if shapes prove them to be that
// - keys and values that are repeated for the query heads that share them
// - a dimension of windows in front, of one image (Swin)
// - products of V^T with the turned shares (YOLO11)

#include "AttentionMatch.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnx::Dim;
using onnx::Dims;

/// Where a mask says no, at least this is taken from a score: next to it no
/// score changes the sum.
static constexpr double hidden = -1e30;
/// Wider heads aren't worth keeping blocks of on the stack.
static constexpr int64_t widestHead = 256;
/// Ops between a softmax and the product before it.
static constexpr int farthestProduct = 8;

RankedTensorType HeadsValue::getType() const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 4)
    return type;
  ArrayRef<int64_t> sizes = type.getShape();
  Type element = type.getElementType();
  if (tokensFirst)
    return RankedTensorType::get({1, sizes[0], sizes[1], sizes[2]}, element);
  int64_t batches =
      ShapedType::isDynamic(sizes[0]) ? sizes[0] : sizes[0] / split;
  return RankedTensorType::get({batches, split, sizes[1], sizes[2]}, element);
}

namespace {
class Reader {
public:
  Reader(onnx::ShapeContext &shapes, AttentionMatch &match)
      : shapes(shapes), match(match) {}

  StringRef read(onnx::SoftmaxOp softmax);

private:
  bool splitsHeads(Operation *op);
  bool splitsWindows(Operation *op);
  Value beforeMerge(Value value);
  Value beforeRepetition(Value value);
  bool leadsToProduct(Value value, int steps = farthestProduct);
  onnx::MatMulOp readScores(Value value);
  bool readScoresOp(Operation *op, Value &value);
  void chooseHeads(onnx::MatMulOp scores, Value softmax);
  HeadsValue readHeads(Value value, double &scale);
  bool readKeys(Value turned);
  StringRef readOperands(onnx::MatMulOp scores);
  StringRef readProduct(Value shares);
  bool isZero(Value value);
  StringRef checkAddends();
  StringRef checkHeads();
  void readResult();

  onnx::ShapeContext &shapes;
  AttentionMatch &match;
  /// Whether K and V are seen before they are repeated.
  bool sharesHeads = true;
  /// The heads that a reshape between the products gives; 0 if there is none.
  int64_t headsOfScores = 0;
  /// The first dimension of scores of rank 3.
  std::optional<Dim> merged;
};
} // namespace

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

/// A constant of one element.
static std::optional<double> readScalar(Value value) {
  ElementsAttr elements = onnx::getConstant(value);
  if (!elements || elements.getNumElements() != 1 ||
      !elements.getElementType().isF32())
    return std::nullopt;
  auto numbers = onnx::readFloats(elements, 1);
  return numbers ? std::optional<double>(numbers->front()) : std::nullopt;
}

/// What a factor multiplies: {value, factor}.
static std::optional<std::pair<Value, double>> readScaling(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_if_present<onnx::MulOp>(op)) {
    if (auto factor = readScalar(mul.getB()))
      return std::pair(Value(mul.getA()), *factor);
    if (auto factor = readScalar(mul.getA()))
      return std::pair(Value(mul.getB()), *factor);
  }
  if (auto div = dyn_cast_if_present<onnx::DivOp>(op))
    if (auto factor = readScalar(div.getB()); factor && *factor != 0)
      return std::pair(Value(div.getA()), 1 / *factor);
  return std::nullopt;
}

static bool isTransposed(Value value, ArrayRef<int64_t> perm, Value &from) {
  auto op = value.getDefiningOp<onnx::TransposeOp>();
  if (!op || !op.getPerm())
    return false;
  SmallVector<int64_t> given;
  ArrayAttr axes = *op.getPerm();
  for (Attribute axis : axes)
    given.push_back(cast<IntegerAttr>(axis).getInt());
  if (ArrayRef<int64_t>(given) != perm)
    return false;
  from = op.getOperand();
  return true;
}

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

static int64_t sizeOf(Value value, int64_t axis) {
  return cast<RankedTensorType>(value.getType()).getDimSize(axis);
}

static bool isHeads(Value value) {
  int64_t rank = rankOf(value);
  return (rank == 3 || rank == 4) &&
         cast<RankedTensorType>(value.getType()).getElementType().isF32();
}

/// Whether heads and width of a value are known.
static bool isKnown(const HeadsValue &heads) {
  RankedTensorType type = heads.getType();
  return !type.isDynamicDim(heads.headAxis()) && !type.isDynamicDim(3);
}

//===----------------------------------------------------------------------===//
// Reshapes and repetitions
//===----------------------------------------------------------------------===//

/// Whether a reshape joins batches and heads, or splits them, and leaves the
/// matrices behind them.
bool Reader::splitsHeads(Operation *op) {
  auto reshape = dyn_cast_if_present<onnx::ReshapeOp>(op);
  if (!reshape || !isHeads(reshape.getData()) || !isHeads(reshape))
    return false;
  std::optional<Dims> from = shapes.getDims(reshape.getData());
  std::optional<Dims> to = shapes.getDims(reshape);
  if (!from || !to || from->size() == to->size())
    return false;
  if (from->size() == 3)
    std::swap(from, to);
  ArrayRef<Dim> four = *from, three = *to;
  return four[0] * four[1] == three[0] && four[2] == three[1] &&
         four[3] == three[2];
}

/// Whether a reshape adds a dimension of one in front of scores, or removes it.
bool Reader::splitsWindows(Operation *op) {
  auto reshape = dyn_cast_if_present<onnx::ReshapeOp>(op);
  std::optional<Dims> from, to;
  if (reshape) {
    from = shapes.getDims(reshape.getData());
    to = shapes.getDims(reshape);
  }
  if (!from || !to)
    return false;
  if (from->size() > to->size())
    std::swap(from, to);
  return from->size() == 4 && to->size() == 5 && to->front() == 1 &&
         ArrayRef(*to).drop_front() == ArrayRef(*from);
}

/// [B, N, S, H] that a value [B * N, S, H] was before; null if none.
Value Reader::beforeMerge(Value value) {
  auto reshape = value.getDefiningOp<onnx::ReshapeOp>();
  if (rankOf(value) != 3 || !splitsHeads(reshape) ||
      ShapedType::isDynamic(sizeOf(reshape.getData(), 1)))
    return {};
  return reshape.getData();
}

/// [B, G, T, H] of [B, G * n, T, H], whose heads are repeated one by one.
Value Reader::beforeRepetition(Value value) {
  auto reshape = value.getDefiningOp<onnx::ReshapeOp>();
  Operation *repeat = reshape ? reshape.getData().getDefiningOp() : nullptr;
  if (!isa_and_present<onnx::ExpandOp, onnx::TileOp>(repeat))
    return {};
  Operation *unsqueeze = repeat->getOperand(0).getDefiningOp();
  if (!isa_and_present<onnx::UnsqueezeOp, onnx::ReshapeOp>(unsqueeze))
    return {};
  Value source = unsqueeze->getOperand(0);
  // Sizes without a name are the same where these ops keep them.
  for (Operation *op : {unsqueeze, repeat, reshape.getOperation()})
    if (failed(shapes.infer(op)))
      return {};
  std::optional<Dims> all[] = {
      shapes.getDims(source), shapes.getDims(repeat->getOperand(0)),
      shapes.getDims(repeat->getResult(0)), shapes.getDims(value)};
  for (auto [rank, dims] : llvm::zip_equal(ArrayRef<size_t>{4, 5, 5, 4}, all))
    if (!dims || dims->size() != rank)
      return {};
  const Dims &from = *all[0], &wide = *all[2], &to = *all[3];
  Dims unsqueezed = {from[0], from[1], 1, from[2], from[3]};
  Dims repeated = {from[0], from[1], wide[2], from[2], from[3]};
  Dims joined = {from[0], from[1] * wide[2], from[2], from[3]};
  bool isRepetition = unsqueezed == *all[1] && repeated == wide && joined == to;
  return isRepetition ? source : Value();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Whether the scores come from this operand: a product lies behind it.
bool Reader::leadsToProduct(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0 || !value.hasOneUse())
    return false;
  if (isa<onnx::MatMulOp>(op))
    return true;
  if (isa<onnx::MulOp, onnx::AddOp>(op))
    return leadsToProduct(op->getOperand(0), steps - 1) ||
           leadsToProduct(op->getOperand(1), steps - 1);
  if (isa<onnx::DivOp, onnx::ReshapeOp>(op))
    return leadsToProduct(op->getOperand(0), steps - 1);
  if (isa<onnx::WhereOp>(op))
    return leadsToProduct(op->getOperand(1), steps - 1) ||
           leadsToProduct(op->getOperand(2), steps - 1);
  return false;
}

/// Zeros, as the addend of PyTorch's baddbmm that counts nothing.
bool Reader::isZero(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_if_present<onnx::MulOp>(op)) {
    auto isFinite = [](Value factor) {
      auto number = readScalar(factor);
      return number && std::isfinite(*number);
    };
    return (isZero(mul.getA()) && isFinite(mul.getB())) ||
           (isZero(mul.getB()) && isFinite(mul.getA()));
  }
  ElementsAttr elements = onnx::getConstant(value);
  if (auto fill = dyn_cast_if_present<onnx::ConstantOfShapeOp>(op)) {
    if (!fill.getValue())
      return isHeads(value);
    elements = dyn_cast<ElementsAttr>(*fill.getValue());
  }
  auto splat = dyn_cast_if_present<SplatElementsAttr>(elements);
  return splat && splat.getElementType().isF32() &&
         splat.getSplatValue<APFloat>().isZero();
}

/// Goes before one op between the products; false if it is another.
bool Reader::readScoresOp(Operation *op, Value &value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (splitsHeads(op)) {
    Value from = op->getOperand(0);
    Value four = rankOf(from) == 4 ? from : value;
    int64_t heads = sizeOf(four, 1);
    if (ShapedType::isDynamic(heads) ||
        (headsOfScores != 0 && headsOfScores != heads))
      return false;
    headsOfScores = heads;
    value = from;
    return true;
  }
  if (splitsWindows(op)) {
    value = op->getOperand(0);
    return true;
  }
  if (auto scaling = readScaling(value)) {
    // What was added comes after the factor. A factor of one is no factor.
    match.scale *= scaling->second;
    value = scaling->first;
    // Nothing may be added before it.
    return scaling->second == 1 || !leadsToProduct(value) ||
           !isa<onnx::AddOp, onnx::WhereOp>(value.getDefiningOp());
  }
  if (auto add = dyn_cast<onnx::AddOp>(op)) {
    bool isFirst = leadsToProduct(add.getA());
    Value addend = isFirst ? add.getB() : add.getA();
    if (!isZero(addend))
      match.addends.push_back({addend, type});
    value = isFirst ? add.getA() : add.getB();
    return true;
  }
  if (auto where = dyn_cast<onnx::WhereOp>(op)) {
    bool shown = leadsToProduct(where.getX());
    auto fill = readScalar(shown ? where.getY() : where.getX());
    if (!fill || *fill > hidden)
      return false;
    match.addends.push_back({where.getCondition(), type, true, shown, *fill});
    value = shown ? where.getX() : where.getY();
    return true;
  }
  return false;
}

/// Follows the scores from the softmax back to their product; null where
/// something else is between.
onnx::MatMulOp Reader::readScores(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse())
      return {};
    if (rankOf(value) == 3)
      if (std::optional<Dims> dims = shapes.getDims(value))
        merged = dims->front();
    if (auto product = dyn_cast<onnx::MatMulOp>(op))
      return product;
    Type type = value.getType();
    bool isReshape = isa<onnx::ReshapeOp>(op);
    if (!readScoresOp(op, value) || (!isReshape && value.getType() != type))
      return {};
  }
}

static bool mayServe(int64_t size, int64_t all) {
  return size == 1 || size == all || ShapedType::isDynamic(size) ||
         ShapedType::isDynamic(all);
}

StringRef Reader::checkAddends() {
  for (const AttentionMatch::Addend &addend : match.addends) {
    auto own = dyn_cast<RankedTensorType>(addend.value.getType());
    ArrayRef<int64_t> scores = addend.scores.getShape();
    if (!own || own.getRank() < 1 || own.getRank() > addend.scores.getRank() ||
        (!addend.isMask && !own.getElementType().isF32()))
      return "has an addend of another kind";
    for (auto [size, all] :
         llvm::zip(llvm::reverse(own.getShape()), llvm::reverse(scores)))
      if (!mayServe(size, all))
        return "has an addend of other sizes";
    // One for all batches and heads, or one for each.
    if (own.getRank() == 3 && scores.size() == 3 && own.getDimSize(0) != 1) {
      std::optional<Dims> dims = shapes.getDims(addend.value);
      if (!dims || !merged || dims->front() != *merged)
        return "has an addend of other sizes";
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Q, K and V
//===----------------------------------------------------------------------===//

/// The number of query heads: those of rank 4, wherever they are seen. Without
/// any, what is one dimension is heads where it is known, and batches where it
/// is open.
void Reader::chooseHeads(onnx::MatMulOp scores, Value softmax) {
  Value q = scores.getA();
  for (Value value : {Value(scores.getY()), softmax})
    if (rankOf(value) == 4) {
      // The size may be open here and known there.
      int64_t heads = sizeOf(value, 1);
      match.heads = ShapedType::isDynamic(heads) ? 0 : heads;
      if (match.heads == 0 && rankOf(q) == 4 && sizeOf(q, 1) > 0)
        match.heads = sizeOf(q, 1);
      return;
    }
  match.heads = headsOfScores;
  while (auto scaling = readScaling(q))
    q = scaling->first;
  if (match.heads == 0)
    if (Value before = beforeMerge(q))
      match.heads = sizeOf(before, 1);
  if (match.heads == 0)
    match.heads = std::max<int64_t>(merged->getConstant().value_or(1), 1);
}

/// Sees through factors, and what moves heads.
HeadsValue Reader::readHeads(Value value, double &scale) {
  HeadsValue heads = {value, false, match.heads};
  while (true) {
    Value from;
    auto scaling = readScaling(heads.value);
    // The scaled tensor has the size of the result.
    if (scaling && scaling->first.getType() == heads.value.getType()) {
      scale *= scaling->second;
      heads.value = scaling->first;
      continue;
    }
    if (heads.tokensFirst)
      return heads;
    if (rankOf(heads.value) == 3) {
      HeadsValue before = {nullptr, true, match.heads};
      if ((from = beforeMerge(heads.value)) && sizeOf(from, 1) == match.heads) {
        heads.value = from;
        continue;
      }
      if (!isTransposed(heads.value, {1, 0, 2}, from) ||
          sizeOf(from, 1) != match.heads)
        return heads;
      before.value = from;
      heads = before;
      continue;
    }
    if (sharesHeads && (from = beforeRepetition(heads.value)) &&
        !ShapedType::isDynamic(sizeOf(from, 1))) {
      heads.value = from;
      continue;
    }
    if (!isTransposed(heads.value, {0, 2, 1, 3}, from))
      return heads;
    HeadsValue before = {from, true, match.heads};
    if (!isHeads(from) || !isKnown(before))
      return heads;
    heads = before;
  }
}

/// K of a product with K^T.
bool Reader::readKeys(Value turned) {
  while (true) {
    if (auto scaling = readScaling(turned);
        scaling && scaling->first.getType() == turned.getType()) {
      match.scale *= scaling->second;
      turned = scaling->first;
    } else if (Value from = beforeMerge(turned);
               from && sizeOf(from, 1) == match.heads) {
      turned = from;
    } else {
      break;
    }
  }
  Value from;
  bool isFour = rankOf(turned) == 4;
  match.turnsKeys = false;
  if (isFour && isTransposed(turned, {0, 2, 3, 1}, from)) {
    match.k = {from, true, match.heads};
  } else if (!isFour && isTransposed(turned, {1, 2, 0}, from) &&
             sizeOf(from, 1) == match.heads) {
    match.k = {from, true, match.heads};
  } else if (isTransposed(turned,
                          isFour ? ArrayRef<int64_t>{0, 1, 3, 2}
                                 : ArrayRef<int64_t>{0, 2, 1},
                          from)) {
    match.k = readHeads(from, match.scale);
  } else {
    match.k = {turned, false, match.heads};
    match.turnsKeys = true;
  }
  return isHeads(match.k.value);
}

StringRef Reader::readOperands(onnx::MatMulOp scores) {
  double scale = match.scale;
  // First with heads that share keys, then, if only one of K and V is
  // repeated so that it can be seen, without.
  for (bool shares : {true, false}) {
    sharesHeads = false;
    match.scale = scale;
    match.q = readHeads(scores.getA(), match.scale);
    sharesHeads = shares;
    Value values = match.product->getOperand(!match.turnsValues);
    double none = 1;
    match.v = {values, false, match.heads};
    if (!match.turnsValues)
      match.v = readHeads(values, none);
    if (none != 1)
      match.v = {values, false, match.heads};
    if (!readKeys(scores.getB()))
      return "has keys of another form";
    StringRef reason = checkHeads();
    if (reason.empty() || !shares)
      return reason;
  }
  return "";
}

StringRef Reader::checkHeads() {
  // What keeps batches and heads in one dimension has those of the scores.
  for (const HeadsValue *heads : {&match.q, &match.k, &match.v}) {
    if (rankOf(heads->value) != 3 || heads->tokensFirst)
      continue;
    std::optional<Dims> dims = shapes.getDims(heads->value);
    if (match.heads != 1 && (!dims || !merged || dims->front() != *merged))
      return "has heads that can't be told from batches";
  }
  int64_t keyWidth = match.k.getType().getDimSize(match.turnsKeys ? 2 : 3);
  int64_t keyHeads = match.k.getType().getDimSize(match.k.headAxis());
  int64_t heads = match.q.getType().getDimSize(match.q.headAxis());
  int64_t width = match.q.getType().getDimSize(3);
  int64_t valueWidth = match.v.getType().getDimSize(match.turnsValues ? 2 : 3);
  for (int64_t size : {keyHeads, keyWidth, width, valueWidth})
    if (ShapedType::isDynamic(size))
      return "has open heads or widths";
  if (heads != match.heads || keyHeads < 1 || heads % keyHeads != 0 ||
      (keyHeads != heads && !sharesHeads) ||
      match.v.getType().getDimSize(match.v.headAxis()) != keyHeads ||
      keyWidth != width || width < 1 || width > widestHead ||
      valueWidth > widestHead || valueWidth < 1)
    return "has heads of other sizes";
  return "";
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// What the product becomes: heads in a dimension of their own, and back in
/// their place.
void Reader::readResult() {
  match.last = match.product;
  if (match.turnsValues)
    return;
  Value from;
  auto getReader = [&]() -> Operation * {
    Value result = match.last->getResult(0);
    return result.hasOneUse() ? *result.getUsers().begin() : nullptr;
  };
  Operation *reader = getReader();
  if (rankOf(match.product) == 3) {
    if (isa_and_present<onnx::TransposeOp>(reader) &&
        isTransposed(reader->getResult(0), {1, 0, 2}, from) &&
        sizeOf(from, 0) == match.heads) {
      match.last = reader;
      match.outputTokensFirst = true;
      return;
    }
    if (!splitsHeads(reader) || sizeOf(reader->getResult(0), 1) != match.heads)
      return;
    match.last = reader;
    reader = getReader();
  }
  if (isa_and_present<onnx::TransposeOp>(reader) &&
      isTransposed(reader->getResult(0), {0, 2, 1, 3}, from)) {
    match.last = reader;
    match.outputTokensFirst = true;
  }
}

/// The product of the shares with V, or of V^T with the turned shares.
StringRef Reader::readProduct(Value shares) {
  Operation *reader = *shares.getUsers().begin();
  int64_t rank = rankOf(shares);
  Value from;
  if (isa<onnx::TransposeOp>(reader) && reader->hasOneUse() &&
      isTransposed(reader->getResult(0),
                   rank == 4 ? ArrayRef<int64_t>{0, 1, 3, 2}
                             : ArrayRef<int64_t>{0, 2, 1},
                   from)) {
    match.turnsValues = true;
    shares = reader->getResult(0);
    reader = *shares.getUsers().begin();
  }
  match.product = dyn_cast<onnx::MatMulOp>(reader);
  if (!match.product || match.product.getA() == match.product.getB() ||
      match.product->getOperand(match.turnsValues) != shares ||
      !isHeads(match.product.getY()))
    return "isn't followed by a product";
  Value values = match.product->getOperand(!match.turnsValues);
  return isHeads(values) && rankOf(values) == rank
             ? ""
             : "is followed by a product of another rank";
}

StringRef Reader::read(onnx::SoftmaxOp softmax) {
  match.softmax = softmax;
  Value output = softmax.getOutput();
  int64_t rank = rankOf(output);
  if (!isHeads(output) ||
      (softmax.getAxis() != -1 && softmax.getAxis() != rank - 1) ||
      softmax.getInput().getType() != output.getType())
    return "isn't along the last of three or four dimensions of floats";
  while (output.hasOneUse() && splitsHeads(*output.getUsers().begin()))
    output = (*output.getUsers().begin())->getResult(0);
  if (!output.hasOneUse())
    return "has several readers";
  if (StringRef reason = readProduct(output); !reason.empty())
    return reason;
  if (rankOf(output) == 3)
    if (std::optional<Dims> dims = shapes.getDims(output))
      merged = dims->front();
  onnx::MatMulOp scores = readScores(softmax.getInput());
  if (!scores || !isHeads(scores.getA()) || !isHeads(scores.getB()) ||
      rankOf(scores.getA()) != rankOf(scores.getB()))
    return "isn't made of products, factors and addends";
  chooseHeads(scores, softmax.getInput());
  if (match.heads < 1)
    return "has open heads or widths";
  if (StringRef reason = checkAddends(); !reason.empty())
    return reason;
  if (StringRef reason = readOperands(scores); !reason.empty())
    return reason;
  readResult();
  return "";
}

StringRef kernels::readAttention(onnx::SoftmaxOp softmax,
                                 onnx::ShapeContext &shapes,
                                 AttentionMatch &match) {
  return Reader(shapes, match).read(softmax);
}
