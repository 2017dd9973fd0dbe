// Packs constant weights of integers for the micro-kernel that
// MicroKernelChoice.cpp picks, and stages the input for it: widened, of another
// sign, padded, or with channels filled up to whole steps.

#include "PackIntegers.h"
#include "MicroKernelChoice.h"
#include "OnnxQuant/Support/DotCost.h"
#include "OnnxQuant/Support/QuadWindows.h"
#include "PackedConstants.h"
#include "StagedInput.h"
#include "Winograd/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "onnxq-pack-weights"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

namespace {
class IntegerPacker {
public:
  IntegerPacker(ContractOp op, const TargetInfo &target, bool winograd)
      : op(op), target(target), b(op.getLoc(), op), winograd(winograd) {}
  /// Whether the input is staged.
  FailureOr<bool> pack();

private:
  LogicalResult readWeights();
  int64_t packQuads();
  SmallVector<WinogradOption> findTransforms();
  void choose();
  void chooseRun(bool isStaged);
  bool stageInput();
  Value transformFilters(Value stored);
  void packWeights();
  void correctSums(int64_t offset);
  /// The weights that a vector of a step has.
  int64_t getVector() {
    int64_t bits = cast<KernelOpInterface>(op.getOperation())
                       .getAccumulatorType()
                       .getIntOrFloatBitWidth();
    return getVectorLanes(plan.kind, target) * 32 / bits * plan.step;
  }
  PackingAttr getPacking() {
    return PackingAttr::get(op.getContext(), groups, taps * channels, columns,
                            plan.mr, plan.nr,
                            plan.kind == PackingKind::Quads ? 1 : plan.step,
                            plan.kind, isInt4, run);
  }
  WeightShape getShape() const {
    return {groups, taps / tapsOfRun, channels * tapsOfRun, columns};
  }
  /// Rows of zeros behind the channels of each tap.
  void padChannels();
  /// Makes neighbouring taps of few channels one run of single channels.
  bool joinTaps();
  void joinColumns();

  ContractOp op;
  const TargetInfo &target;
  ImplicitLocOpBuilder b;
  bool winograd;
  bool isWide = false;
  /// Whether weights are stored in four bits.
  bool isInt4 = false;
  std::vector<int16_t> weights;
  /// The same, where they fit.
  std::vector<int8_t> narrow;
  int64_t groups = 1, taps = 1, channels = 0, columns = 0;
  /// Taps that are filled up to whole steps together.
  int64_t tapsOfRun = 1;
  KernelChoice plan{};
  /// AMX: elements that follow each other.
  int64_t run = 0;
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
  columns = op.getN();
  channels = op.getChannels();
  taps = op.getK() / channels;
  return success();
}

void IntegerPacker::padChannels() {
  int64_t wide = llvm::alignTo(channels, plan.step);
  if (plan.kind == PackingKind::Quads || wide == channels)
    return;
  std::vector<int16_t> padded(groups * taps * wide * columns, 0);
  for (int64_t tap = 0; tap < groups * taps; ++tap)
    std::copy_n(weights.begin() + tap * channels * columns, channels * columns,
                padded.begin() + tap * wide * columns);
  weights = std::move(padded);
  channels = wide;
}

/// A window's row of taps is contiguous if channels are seen as columns: so
/// only its end is filled up to a whole step, not every tap.
bool IntegerPacker::joinTaps() {
  if (plan.kind == PackingKind::Quads ||
      !getContractShape(op).joinsTaps(plan.step))
    return false;
  int64_t spatial = op.getKernel().size();
  int64_t length = op.getKernel().back() * channels;
  int64_t wide = llvm::alignTo(length, plan.step);
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

/// Whether there are many weights, and four bits are enough for each.
static bool fitInt4(ArrayRef<int8_t> weights) {
  return static_cast<int64_t>(weights.size()) >= tuning::manyInt4Weights &&
         llvm::all_of(weights, [](int8_t weight) {
           return weight >= -8 && weight <= 7;
         });
}

/// Windowed quads of all panels, and what a tile of them costs.
int64_t IntegerPacker::packQuads() {
  if (quads.empty())
    quads =
        packQuadPanels(narrow, getShape(),
                       [&](int64_t count, function_ref<void(int64_t)> body) {
                         parallelFor(op.getContext(), 0, count,
                                     [&](size_t panel) { body(panel); });
                       });
  int64_t cost = 0;
  for (const QuadPanel &panel : quads)
    cost += costOfQuads(panel);
  return cost;
}

/// Transforms that are exact, and worth the memory.
SmallVector<WinogradOption> IntegerPacker::findTransforms() {
  SmallVector<WinogradOption> options;
  for (WinogradTile tile : {WinogradTile{2}, WinogradTile{4}}) {
    int64_t bytes = tile.points() * channels * columns * 2;
    if (!winograd || !canTransform(op, weights, tile) ||
        (tile.out > 2 && bytes > tuning::mostLargeWinogradBytes))
      continue;
    int64_t outputs = tile.out * tile.out;
    options.push_back(
        {tile.out, countWinogradTiles(op, tile).value_or(llvm::divideCeil(
                       getContractShape(op).getRows(), outputs))});
  }
  return options;
}

void IntegerPacker::choose() {
  KernelRequest request = getKernelRequest(op);
  request.weightBits = isWide ? 16 : 8;
  request.fitsInt4 = isInt4;
  // Weights of neighbouring taps are pairs where taps are joined.
  WeightShape pairs = getShape();
  if (request.shape.joinsTaps(4)) {
    int64_t length = request.shape.rowTaps;
    pairs = {groups, taps / length, channels * length, columns};
  }
  request.pairsFit = !isWide && pairsStayInBound(narrow, pairs);
  auto getQuadCost = [&] { return packQuads(); };
  if (!isWide)
    request.getQuadCost = getQuadCost;
  SmallVector<WinogradOption> transforms = findTransforms();
  request.transforms = transforms;
  plan = chooseMicroKernel(request, target);
  LLVM_DEBUG(llvm::dbgs() << op.getLoc() << ": m = " << request.shape.m
                          << ", n = " << columns << ", k = " << taps * channels
                          << ", groups = " << groups << ": "
                          << stringifyEnum(plan.kind) << ", tile " << plan.mr
                          << "x" << plan.nr << ": " << plan.reason << "\n");
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Whether a kind multiplies u8; others s8.
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
  SmallVector<APInt> values;
  for (int64_t sum : sums)
    values.push_back(APInt(64, sum, /*isSigned=*/true).trunc(bits));
  auto type =
      RankedTensorType::get(static_cast<int64_t>(sums.size()), acc.getType());
  Value operand =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  int64_t rank = op.getInit().getType().getRank();
  SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
  maps.push_back(AffineMapAttr::get(
      AffineMap::get(rank, 0, b.getAffineDimExpr(rank - 1))));
  op.getEpilogueOperandsMutable().append(operand);
  op.setEpilogueMapsAttr(b.getArrayAttr(maps));
  Value argument = block.addArgument(acc.getType(), op.getLoc());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  auto sum = arith::AddIOp::create(b, acc, argument);
  acc.replaceAllUsesExcept(sum, sum);
}

/// Whether the input is staged.
bool IntegerPacker::stageInput() {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  Type element = type.getElementType();
  ElementForm form;
  form.isUnsigned = op.getInputUnsigned();
  form.isWidened = needsWide(plan.kind) && !element.isInteger(16);
  // AMX multiplies with whichever sign.
  if (plan.kind != PackingKind::Amx)
    form.isFlipped = form.isUnsigned
                         ? !form.isWidened && !needsUnsigned(plan.kind)
                         : needsUnsigned(plan.kind);
  bool isPadded = llvm::any_of(op.getPads(), [](int64_t p) { return p > 0; });
  if (!form.isFlipped && !form.isWidened && !isPadded &&
      channels * groups == type.getShape().back())
    return false;
  kernels::stageInput(op, channels * groups, form);
  if (form.isFlipped) {
    // What was x is x + 128 now, or x - 128; 32768 for 16 bits.
    int64_t offset = int64_t(1) << (element.getIntOrFloatBitWidth() - 1);
    correctSums(form.isUnsigned ? offset : -offset);
    op.setInputUnsigned(!form.isUnsigned);
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
  int64_t points = WinogradTile{plan.winogradSide}.points();
  auto type = RankedTensorType::get(count / 9 * points, b.getI16Type());
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

/// Rows of weights in the chunks of runs that AMX multiplies: where a chunk
/// begins earlier, those that the one before has are zero.
static std::vector<int16_t> cutRuns(ArrayRef<int16_t> weights,
                                    PackingAttr packing) {
  int64_t run = packing.getRun(), chunk = packing.getChunk(),
          chunks = packing.getChunks(), columns = packing.getN();
  int64_t runs = packing.getGroups() * packing.getK() / run;
  std::vector<int16_t> cut(runs * chunks * chunk * columns, 0);
  for (int64_t i = 0; i < runs; ++i)
    for (int64_t k = 0; k < run; ++k) {
      int64_t index = std::min(k / chunk, chunks - 1);
      int64_t first = std::min(index * chunk, run - chunk);
      std::copy_n(weights.begin() + (i * run + k) * columns, columns,
                  cut.begin() +
                      ((i * chunks + index) * chunk + k - first) * columns);
    }
  return cut;
}

void IntegerPacker::packWeights() {
  WeightShape shape = getShape();
  PanelShape panel = {plan.nr, plan.step};
  Value payload;
  if (plan.kind == PackingKind::Quads) {
    payload = makePayload(b, b.getI8Type(), asBytes(writeQuads(quads, shape)));
  } else if (isWide || (plan.kind == PackingKind::Outer && !isInt4)) {
    std::vector<int16_t> packed(packedSize(shape, panel));
    packPanels<int16_t, int16_t>(weights, shape, panel, packed);
    payload = makePayload(b, b.getI16Type(), asBytes(packed));
  } else {
    if (plan.kind == PackingKind::Amx) {
      PackingAttr packing = getPacking();
      weights = cutRuns(weights, packing);
      shape = {groups, 1, packing.getPaddedK(), columns};
    }
    std::vector<int8_t> packed(packedSize(shape, panel));
    packPanels<int16_t, int8_t>(weights, shape, panel, packed);
    if (isInt4)
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
  isInt4 = fitInt4(narrow);
  choose();
  // The transform reads its input as it is, and what is around it.
  if (plan.kind == PackingKind::Winograd) {
    packWeights();
    return false;
  }
  if (!joinTaps())
    padChannels();
  bool isStaged = stageInput();
  if (plan.kind == PackingKind::Amx)
    chooseRun(isStaged);
  packWeights();
  return isStaged;
}

FailureOr<bool> kernels::packIntegers(ContractOp op, const TargetInfo &target,
                                      bool winograd) {
  return IntegerPacker(op, target, winograd).pack();
}
