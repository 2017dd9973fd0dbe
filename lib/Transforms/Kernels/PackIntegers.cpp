// Chooses the dot step for a contraction of integers, packs its weights and
// stages its input.
//
// A processor with a dot product of bytes uses it, or products of tiles where
// they are modelled to take less time. x86 without one has three
// exact ways: widening to 16 bits, pairs of bytes where the weights prove that
// their products fit 16 bits, and windowed quads; the one with the least
// modelled cost is taken. Everything else multiplies in 16 bits.

#include "PackIntegers.h"
#include "DotSteps.h"
#include "OnnxQuant/Support/DotCost.h"
#include "OnnxQuant/Support/QuadWindows.h"
#include "PackedConstants.h"
#include "TileChoice.h"
#include "Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

namespace {
/// How a contraction is computed.
struct DotPlan {
  PackingKind kind;
  /// Products of a step, rows and columns of a tile.
  int64_t depth, mr, nr;
};

class IntegerPacker {
public:
  IntegerPacker(ContractOp op, const TargetInfo &target, bool winograd)
      : op(op), target(target), b(op.getLoc(), op), winograd(winograd) {}
  /// Whether the input is staged.
  FailureOr<bool> pack();

private:
  LogicalResult readWeights();
  void choose();
  void chooseAmongBytes();
  void chooseWay();
  /// A way to transform, how many tiles it has and what it costs.
  struct Transform {
    WinogradTile tile;
    int64_t tiles, cost;
  };
  std::optional<Transform> findTransform();
  int64_t getPlainCost();
  bool prefersMatrices();
  bool choosesTiles();
  void chooseRun(bool isStaged);
  void setPlan(PackingKind kind, int64_t depth, int64_t mr, int64_t vectors);
  bool stageInput();
  Value transformFilters(Value stored);
  void packWeights();
  void correctSums(int64_t offset);
  /// The weights that a vector of a step has.
  int64_t getVector() {
    int64_t bits = cast<KernelOpInterface>(op.getOperation())
                       .getAccumulatorType()
                       .getIntOrFloatBitWidth();
    return getDotLanes(plan.kind, target) * 32 / bits * plan.depth;
  }
  PackingAttr getPacking() {
    return PackingAttr::get(op.getContext(), groups, taps * channels, columns,
                            plan.mr, plan.nr,
                            plan.kind == PackingKind::Quads ? 1 : plan.depth,
                            plan.kind, isHalves, run);
  }
  WeightShape getShape() const {
    return {groups, taps / tapsOfRun, channels * tapsOfRun, columns};
  }
  /// Rows of zeros behind the channels of each tap.
  void padChannels();
  /// Makes neighbouring taps of few channels one run of single channels.
  bool joinTaps();
  bool joinsTaps(int64_t depth);
  void joinColumns();

  ContractOp op;
  const TargetInfo &target;
  ImplicitLocOpBuilder b;
  bool winograd;
  bool isWide = false;
  /// Whether weights are stored in four bits.
  bool isHalves = false;
  std::vector<int16_t> weights;
  /// The same, where they fit.
  std::vector<int8_t> narrow;
  int64_t groups = 1, taps = 1, channels = 0, columns = 0;
  /// Taps that are filled up to whole steps together.
  int64_t tapsOfRun = 1;
  DotPlan plan{};
  /// Products of tiles: elements that follow each other.
  int64_t run = 0;
  WinogradTile tile;
  std::vector<QuadPanel> quads;
};
} // namespace

LogicalResult IntegerPacker::readWeights() {
  isWide = op.getWeights().getType().getElementType().isInteger(16);
  if (isWide) {
    if (auto wide = readConstant<int16_t>(op.getWeights()))
      weights = std::move(*wide);
  } else if (auto bytes = readConstant<int8_t>(op.getWeights())) {
    weights.assign(bytes->begin(), bytes->end());
  }
  if (weights.empty())
    return op.emitOpError("cannot be packed: its weights aren't constant");
  groups = op.getGroups();
  columns = op.getColumns();
  channels = op.getChannels();
  taps = op.getDepth() / channels;
  return success();
}

void IntegerPacker::padChannels() {
  int64_t wide = llvm::alignTo(channels, plan.depth);
  if (plan.kind == PackingKind::Quads || wide == channels)
    return;
  std::vector<int16_t> padded(groups * taps * wide * columns, 0);
  for (int64_t tap = 0; tap < groups * taps; ++tap)
    std::copy_n(weights.begin() + tap * channels * columns, channels * columns,
                padded.begin() + tap * wide * columns);
  weights = std::move(padded);
  channels = wide;
}

/// Whether steps of `depth` go through neighbouring taps.
bool IntegerPacker::joinsTaps(int64_t depth) {
  return channels % depth != 0 && groups == 1 && !op.getKernel().empty() &&
         op.getKernel().back() > 1 && op.getDilations().back() == 1;
}

/// A window's row of taps is contiguous if channels are seen as columns: so
/// only its end is filled up to a whole step, not every tap.
bool IntegerPacker::joinTaps() {
  if (plan.kind == PackingKind::Quads || !joinsTaps(plan.depth))
    return false;
  int64_t spatial = op.getKernel().size();
  int64_t length = op.getKernel().back() * channels;
  int64_t wide = llvm::alignTo(length, plan.depth);
  int64_t rows = taps / op.getKernel().back();
  std::vector<int16_t> joined(rows * wide * columns, 0);
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(weights.begin() + row * length * columns, length * columns,
                joined.begin() + row * wide * columns);
  weights = std::move(joined);

  SmallVector<int64_t> kernel(op.getKernel()), strides(op.getStrides()),
      pads(op.getPads());
  kernel.back() = wide;
  strides.back() *= channels;
  pads[spatial - 1] *= channels;
  // What the last step reads behind the last tap.
  pads.back() = pads.back() * channels + wide - length;
  op.setKernel(kernel);
  op.setStrides(strides);
  op.setPads(pads);
  joinColumns();
  taps = rows * wide;
  tapsOfRun = wide;
  channels = 1;
  return true;
}

/// [.., W, C] as [.., W * C, 1].
void IntegerPacker::joinColumns() {
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), input);
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i + 1 < rank; ++i)
    parts.push_back({i});
  parts.back().push_back(rank - 1);
  Value joined = tensor::CollapseShapeOp::create(b, input, parts);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(joined.getType()).getShape());
  shape.push_back(1);
  if (auto width = getConstantIntValue(sizes[rank - 2]))
    sizes[rank - 2] = b.getIndexAttr(*width * channels);
  else
    sizes[rank - 2] =
        arith::MulIOp::create(b, cast<Value>(sizes[rank - 2]),
                              arith::ConstantIndexOp::create(b, channels))
            .getResult();
  sizes.back() = b.getIndexAttr(1);
  op.getInputMutable().set(tensor::ExpandShapeOp::create(b, type.clone(shape),
                                                         joined, parts, sizes));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The rows of a contraction's output; many if they aren't known.
static int64_t countRows(ContractOp op) {
  int64_t rows = 1;
  for (int64_t size : op.getInit().getType().getShape().drop_back())
    rows *= ShapedType::isDynamic(size) ? 1024 : size;
  return std::max<int64_t>(rows, 1);
}

/// The rows of a tile of AVX-512's dot products: fewer than eight where the
/// last tile would repeat many of them.
static int64_t chooseRows(int64_t rows) {
  constexpr int64_t most = 8, least = 6;
  // Half a cycle per row and vector, and what a step takes besides.
  auto getCost = [&](int64_t tall) {
    return llvm::divideCeil(rows, tall) * (2 * tall + 1);
  };
  int64_t best = most;
  for (int64_t tall = most - 1; tall >= least; --tall)
    // More rows read the weights less often.
    if (100 * getCost(tall) < 97 * getCost(best))
      best = tall;
  return best;
}

void IntegerPacker::setPlan(PackingKind kind, int64_t depth, int64_t mr,
                            int64_t vectors) {
  int64_t lanes = getDotLanes(kind, target);
  int64_t nr =
      std::min<int64_t>(vectors * lanes, llvm::alignTo(columns, lanes));
  // Narrow panels leave registers for more rows.
  if (nr < vectors * lanes)
    mr = std::min<int64_t>(2 * mr, 8);
  plan = {kind, depth, std::min(mr, countRows(op)), nr};
}

/// Whether there are many weights, and four bits are enough for each.
static bool fitHalves(ArrayRef<int8_t> weights) {
  constexpr size_t many = 4096;
  return weights.size() >= many && llvm::all_of(weights, [](int8_t weight) {
           return weight >= -8 && weight <= 7;
         });
}

/// x86 without a dot product: the cheapest exact way.
void IntegerPacker::chooseAmongBytes() {
  setPlan(PackingKind::Madd, 2, 4, 2);
  int64_t padded = llvm::alignTo(channels, 4);
  if (groups > 1 && padded != channels)
    return;
  // Weights of neighbouring taps are pairs where taps are joined.
  WeightShape shape = getShape(), joined = shape;
  if (joinsTaps(4)) {
    int64_t length = op.getKernel().back();
    joined = {groups, taps / length, channels * length, columns};
  }
  if (pairsStayInBound(narrow, joined))
    setPlan(PackingKind::Pairs, 4, 4, 2);
  if (isHalves || channels < quadRows || columns < quadColumns ||
      countRows(op) < 4)
    return;
  int64_t others =
      costOfBundles(shape, plan.kind == PackingKind::Pairs ? DotKind::Pairs
                                                           : DotKind::Widened);
  // What quads cost at least.
  if (shape.rows() / 8 * dotcost::doubleQuad + dotcost::quadTile >= others)
    return;
  quads = packQuadPanels(narrow, shape,
                         [&](int64_t count, function_ref<void(int64_t)> body) {
                           parallelFor(op.getContext(), 0, count,
                                       [&](size_t panel) { body(panel); });
                         });
  int64_t cost = 0;
  for (const QuadPanel &panel : quads)
    cost += costOfQuads(panel);
  if (cost < others * static_cast<int64_t>(quads.size()))
    plan = {PackingKind::Quads, quadRows, 4, quadColumns};
}

/// The modelled cost of the plan on x86 without a dot product.
int64_t IntegerPacker::getPlainCost() {
  WeightShape shape = getShape();
  int64_t panels = panelCount(shape, {quadColumns, 1});
  int64_t tiles = llvm::divideCeil(countRows(op), 4);
  if (plan.kind != PackingKind::Quads)
    return tiles * panels *
           costOfBundles(shape, plan.kind == PackingKind::Pairs
                                    ? DotKind::Pairs
                                    : DotKind::Widened);
  int64_t cost = 0;
  for (const QuadPanel &panel : quads)
    cost += costOfQuads(panel);
  return tiles * cost;
}

/// The tiles whose products are summed at a time: more than four, for which
/// registers are scarce, where the last ones would repeat many.
static int64_t chooseTransformRows(int64_t tiles) {
  constexpr int64_t least = 4, most = 6;
  auto getCost = [&](int64_t rows) {
    return llvm::divideCeil(tiles, rows) * (16 * rows + rows - least);
  };
  int64_t best = least;
  for (int64_t rows = least + 1; rows <= most; ++rows)
    if (getCost(rows) < getCost(best))
      best = rows;
  return std::clamp<int64_t>(tiles, 1, best);
}

/// Bytes of weights for tiles of 4x4 places, which are eight times as large as
/// they would be untransformed.
static constexpr int64_t mostLargeWeights = 1280 * 1024;

/// The cheapest tile to transform 3x3 windows with, on x86 without a dot
/// product; none if there is none.
std::optional<IntegerPacker::Transform> IntegerPacker::findTransform() {
  if (!winograd || isHalves || target.hasAVX512 ||
      getDotLanes(PackingKind::Madd, target) == 0 ||
      getDotLanes(PackingKind::Vnni, target) != 0)
    return std::nullopt;
  std::optional<Transform> best;
  for (WinogradTile tile : {WinogradTile{2}, WinogradTile{4}}) {
    int64_t bytes = tile.numbers() * channels * columns * 2;
    if (!canTransform(op, weights, tile) ||
        (tile.out > 2 && bytes > mostLargeWeights))
      continue;
    int64_t tiles = countWinogradTiles(op, tile);
    if (tiles < 0)
      tiles = llvm::divideCeil(countRows(op), tile.out * tile.out);
    int64_t cost = costOfWinograd(getShape(), tile.out, tiles);
    if (!best || cost < best->cost)
      best = {tile, tiles, cost};
  }
  return best;
}

/// Chooses between plain sums and the transform.
void IntegerPacker::chooseWay() {
  std::optional<Transform> transform = findTransform();
  if (!transform)
    return choose();
  // No other way costs less than quads of all weights.
  WeightShape shape = getShape();
  int64_t least = llvm::divideCeil(countRows(op), 4) *
                  panelCount(shape, {quadColumns, 1}) *
                  (shape.rows() / 8 * dotcost::doubleQuad + dotcost::quadTile);
  if (transform->cost >= least) {
    choose();
    if (transform->cost >= getPlainCost())
      return;
  }
  setPlan(PackingKind::Winograd, 2, 4, 2);
  plan.mr = chooseTransformRows(transform->tiles);
  tile = transform->tile;
}

/// AArch64: whether products of small matrices take fewer instructions than dot
/// products.
bool IntegerPacker::prefersMatrices() {
  if (isHalves || getDotLanes(PackingKind::Usmmla, target) == 0 ||
      (groups > 1 && channels % 8 != 0))
    return false;
  // Steps fill up channels, or rows of taps.
  auto count = [&](int64_t depth) {
    int64_t length = joinsTaps(depth) ? op.getKernel().back() : 1;
    return taps / length * llvm::alignTo(channels * length, depth);
  };
  int64_t rows = std::min<int64_t>(4, countRows(op));
  int64_t width = std::min<int64_t>(16, llvm::alignTo(columns, 4));
  return countMatrices(rows, width, count(8)) <
         countDots(rows, width, count(4));
}

/// x86: whether products of tiles take less time than dot products.
bool IntegerPacker::choosesTiles() {
  if (isHalves)
    return false;
  int64_t wide = llvm::alignTo(channels, 4), row = 1;
  bool isJoined = joinsTaps(4);
  bool isStaged = wide != channels ||
                  llvm::any_of(op.getPads(), [](int64_t p) { return p > 0; });
  if (isJoined || (isStaged && groups == 1 && !op.getKernel().empty() &&
                   op.getDilations().back() == 1))
    row = op.getKernel().back();
  int64_t length = isJoined ? llvm::alignTo(row * channels, 4) : row * wide;
  return prefersTiles(op, target, taps / row * length, length);
}

void IntegerPacker::choose() {
  Type element = op.getInput().getType().getElementType();
  bool isBytes = element.isInteger(8) && !isWide;
  bool isLong = cast<KernelOpInterface>(op.getOperation())
                    .getAccumulatorType()
                    .isInteger(64);
  // Groups whose channels no step divides.
  bool isEven = groups == 1 || channels % 2 == 0;
  bool isFours = groups == 1 || channels % 4 == 0;
  if (isBytes && isFours) {
    if (choosesTiles())
      return setPlan(PackingKind::Tiles, 4, 32, 2);
    if (getDotLanes(PackingKind::Vnni, target) == 16)
      return setPlan(PackingKind::Vnni, 4, chooseRows(countRows(op)), 2);
    if (getDotLanes(PackingKind::Vnni, target) == 8)
      return setPlan(PackingKind::Vnni, 4, 6, 2);
    if (prefersMatrices())
      return setPlan(op.getInputUnsigned() ? PackingKind::Usmmla
                                           : PackingKind::Smmla,
                     8, 4, 4);
    // One row fills no pipeline with two vectors of sums.
    int64_t vectors = countRows(op) == 1 ? 8 : 2;
    if (getDotLanes(PackingKind::Usdot, target) && op.getInputUnsigned())
      return setPlan(PackingKind::Usdot, 4, 8, vectors);
    if (getDotLanes(PackingKind::Sdot, target))
      return setPlan(PackingKind::Sdot, 4, 8, vectors);
  }
  if (isBytes && isEven && getDotLanes(PackingKind::Pairs, target))
    return chooseAmongBytes();
  if (isEven && !isLong && getDotLanes(PackingKind::Madd, target))
    return setPlan(PackingKind::Madd, 2, 4, 2);
  if (target.hasRVV)
    setPlan(PackingKind::Outer, 1, 6, countRows(op) == 1 ? 4 : 1);
  else
    setPlan(PackingKind::Outer, 1, 4, countRows(op) == 1 ? 4 : 2);
  // Sums of 64 bits fill vectors twice as fast.
  if (isLong)
    plan.nr = std::max<int64_t>(plan.nr / 2, 1);
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Whether a kind multiplies bytes without sign; others have one.
static bool needsUnsigned(PackingKind kind) {
  return kind == PackingKind::Pairs || kind == PackingKind::Quads ||
         kind == PackingKind::Vnni || kind == PackingKind::Usdot ||
         kind == PackingKind::Usmmla;
}
static bool needsWide(PackingKind kind) {
  return kind == PackingKind::Madd || kind == PackingKind::Outer;
}

/// Adds what flipping the sign took from the input to the sums: `offset` times
/// the sum of each column.
void IntegerPacker::correctSums(int64_t offset) {
  std::vector<int64_t> sums(groups * columns, 0);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t k = 0; k < taps * channels; ++k)
      for (int64_t n = 0; n < columns; ++n)
        sums[g * columns + n] +=
            offset * weights[(g * taps * channels + k) * columns + n];
  Block &block = op.getEpilogue().front();
  Value acc = block.getArgument(0);
  // Wraps, as the sums do.
  unsigned bits = acc.getType().getIntOrFloatBitWidth();
  SmallVector<APInt> numbers;
  for (int64_t sum : sums)
    numbers.push_back(APInt(64, sum, /*isSigned=*/true).trunc(bits));
  auto type =
      RankedTensorType::get(static_cast<int64_t>(sums.size()), acc.getType());
  Value extra =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
  int64_t rank = op.getInit().getType().getRank();
  SmallVector<Attribute> maps(op.getExtraMaps().getValue());
  maps.push_back(AffineMapAttr::get(
      AffineMap::get(rank, 0, b.getAffineDimExpr(rank - 1))));
  op.getExtrasMutable().append(extra);
  op.setExtraMapsAttr(b.getArrayAttr(maps));
  Value argument = block.addArgument(acc.getType(), op.getLoc());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  auto sum = arith::AddIOp::create(b, acc, argument);
  acc.replaceAllUsesExcept(sum, sum);
}

bool IntegerPacker::stageInput() {
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  Type element = type.getElementType();
  int64_t rank = type.getRank(), spatial = op.getKernel().size();
  bool isUnsigned = op.getInputUnsigned();
  bool isWidened = needsWide(plan.kind) && !element.isInteger(16);
  bool isFlipped = isUnsigned ? !isWidened && !needsUnsigned(plan.kind)
                              : needsUnsigned(plan.kind);
  // Tiles are multiplied with whichever sign.
  isFlipped &= plan.kind != PackingKind::Tiles;
  bool isPadded = llvm::any_of(op.getPads(), [](int64_t p) { return p > 0; });
  if (!isFlipped && !isWidened && !isPadded &&
      channels * groups == type.getDimSize(rank - 1))
    return false;

  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), input);
  SmallVector<int64_t> pads(2 * (rank - 2), 0);
  for (int64_t i = 0; i < spatial; ++i) {
    pads[i] = op.getPads()[i];
    pads[spatial + i] = op.getPads()[spatial + i];
    int64_t both = pads[i] + pads[spatial + i];
    OpFoldResult &size = sizes[i + 1];
    if (auto known = getConstantIntValue(size))
      size = b.getIndexAttr(*known + both);
    else
      size = arith::AddIOp::create(b, cast<Value>(size),
                                   arith::ConstantIndexOp::create(b, both))
                 .getResult();
  }
  sizes.back() = b.getIndexAttr(channels * groups);

  // What becomes of an element, also of one of the border.
  Type stored = isWidened ? Type(b.getI16Type()) : element;
  auto convert = [&](Value x) -> Value {
    if (isWidened)
      return isUnsigned ? arith::ExtUIOp::create(b, stored, x).getResult()
                        : arith::ExtSIOp::create(b, stored, x).getResult();
    if (!isFlipped)
      return x;
    int64_t top = int64_t(1) << (stored.getIntOrFloatBitWidth() - 1);
    Value mask = arith::ConstantOp::create(b, b.getIntegerAttr(stored, -top));
    return arith::XOrIOp::create(b, x, mask);
  };
  Value pad = op.getPad();
  if (!pad && isFlipped)
    pad = arith::ConstantOp::create(b, b.getZeroAttr(element));
  if (pad)
    pad = convert(pad);
  Value empty = tensor::EmptyOp::create(b, sizes, stored);
  auto stage = StageOp::create(b, empty.getType(), input, pad, empty, pads);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(&stage.getConversion(), {}, element, op.getLoc());
    YieldOp::create(b, convert(block->getArgument(0)));
  }
  op.getInputMutable().set(stage.getResult(0));
  op.setPads(SmallVector<int64_t>(2 * spatial, 0));
  op.getPadMutable().clear();
  if (isFlipped) {
    // What was x is x + 128 now, or x - 128; 32768 for 16 bits.
    int64_t offset = int64_t(1) << (element.getIntOrFloatBitWidth() - 1);
    correctSums(isUnsigned ? offset : -offset);
    op.setInputUnsigned(!isUnsigned);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// What the kernel multiplies, computed from the weights that are stored into
/// memory that nothing else gets.
Value IntegerPacker::transformFilters(Value stored) {
  int64_t count = cast<RankedTensorType>(stored.getType()).getNumElements();
  auto type = RankedTensorType::get(count / 9 * tile.numbers(), b.getI16Type());
  Value memory = bufferization::AllocTensorOp::create(b, type, ValueRange{});
  return ExpandOp::create(b, TypeRange(type), stored, memory,
                          getPacking().getPanels())
      .getResult(0);
}

/// What follows each other in the input: a row of the window's taps if the
/// input is staged, otherwise the channels of one.
void IntegerPacker::chooseRun(bool isStaged) {
  bool joinsRow = isStaged && groups == 1 && !op.getKernel().empty() &&
                  op.getDilations().back() == 1;
  run = tapsOfRun > 1 ? tapsOfRun * channels
        : joinsRow    ? op.getKernel().back() * channels
                      : channels;
}

void IntegerPacker::packWeights() {
  WeightShape shape = getShape();
  PanelShape panel = {plan.nr, plan.depth};
  Value payload;
  if (plan.kind == PackingKind::Quads) {
    payload = makePayload(b, b.getI8Type(), asBytes(writeQuads(quads, shape)));
  } else if (isWide || (plan.kind == PackingKind::Outer && !isHalves)) {
    std::vector<int16_t> packed(packedSize(shape, panel));
    packPanels<int16_t, int16_t>(weights, shape, panel, packed);
    payload = makePayload(b, b.getI16Type(), asBytes(packed));
  } else {
    if (plan.kind == PackingKind::Tiles) {
      PackingAttr packing = getPacking();
      weights = cutRuns(weights, packing);
      shape = {groups, 1, packing.getPaddedDepth(), columns};
    }
    std::vector<int8_t> packed(packedSize(shape, panel));
    packPanels<int16_t, int8_t>(weights, shape, panel, packed);
    if (isHalves)
      packed = packHalves(packed, getVector());
    payload = makePayload(b, b.getI8Type(), asBytes(packed));
  }
  if (plan.kind == PackingKind::Winograd)
    payload = transformFilters(payload);
  Operation *old = op.getWeights().getDefiningOp();
  op.getWeightsMutable().set(payload);
  op.setPackingAttr(getPacking());
  if (old->use_empty())
    old->erase();
}

FailureOr<bool> IntegerPacker::pack() {
  if (failed(readWeights()))
    return failure();
  if (!isWide)
    narrow.assign(weights.begin(), weights.end());
  isHalves = fitHalves(narrow);
  chooseWay();
  // The transform reads its input as it is, and what is around it.
  if (plan.kind == PackingKind::Winograd) {
    packWeights();
    return false;
  }
  if (!joinTaps())
    padChannels();
  bool isStaged = stageInput();
  if (plan.kind == PackingKind::Tiles)
    chooseRun(isStaged);
  packWeights();
  return isStaged;
}

FailureOr<bool> kernels::packIntegers(ContractOp op, const TargetInfo &target,
                                      bool winograd) {
  return IntegerPacker(op, target, winograd).pack();
}
