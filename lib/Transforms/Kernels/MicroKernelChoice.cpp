// The table of micro-kernels of integers.
//
//   target               8-bit input                         16-bit input
//   AMX                  amx where it is modelled faster     vpmaddwd
//   AVX-512/AVX VNNI     vpdpbusd                            vpmaddwd
//   AVX2                 cheapest exact one of Winograd,     vpmaddwd
//                        quads, vpmaddubsw, vpmaddwd
//   SSE2                 vpmaddwd                            vpmaddwd
//   AArch64 + i8mm       usmmla/smmla or usdot/sdot,         generic
//                        whichever takes fewer instructions
//   AArch64 + dotprod    sdot                                generic
//   any other            generic (RISC-V: vwmacc.vx)         generic
//
// Groups whose channels a step doesn't divide take the next row that does, and
// 64-bit accumulators the generic one.

#include "MicroKernelChoice.h"
#include "OnnxQuant/Support/DotCost.h"
#include "OnnxQuant/Support/QuadWindows.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::PackingKind;

int64_t kernels::getVectorLanes(PackingKind kind, const TargetInfo &target) {
  bool isX86 = target.arch == TargetInfo::Arch::X86;
  bool isArm = target.arch == TargetInfo::Arch::AArch64;
  switch (kind) {
  case PackingKind::Fma:
  case PackingKind::Rows:
  case PackingKind::Codes:
  case PackingKind::Bytes:
    return 0;
  case PackingKind::Outer:
    // With RISC-V's vectors, a group of four registers for accumulators.
    return target.lanes() * (target.hasRVV ? 4 : 1);
  case PackingKind::Winograd:
  case PackingKind::Madd:
    return !isX86 ? 0 : target.hasAVX512 ? 16 : target.hasAVX2 ? 8 : 4;
  case PackingKind::Pairs:
  case PackingKind::Quads:
    return isX86 && target.hasAVX2 ? 8 : 0;
  case PackingKind::Vnni:
    if (target.hasAVX512VNNI && target.vectorBytes >= 64)
      return 16;
    return target.hasAVXVNNI || target.hasAVX512VNNI ? 8 : 0;
  case PackingKind::Amx:
    return target.hasAMX ? 16 : 0;
  case PackingKind::Sdot:
    return isArm && target.hasDotprod ? 4 : 0;
  case PackingKind::Usdot:
  case PackingKind::Smmla:
  case PackingKind::Usmmla:
    return isArm && target.hasI8mm ? 4 : 0;
  }
  llvm_unreachable("all kinds are told");
}

/// Rows as AMX reads them. A window of one tap sees all rows as one dimension.
static AmxRows getAmxRows(onnxq::ContractOp op) {
  ArrayRef<int64_t> shape = op.getInit().getType().getShape().drop_back();
  AmxRows rows;
  if (shape.empty())
    rows.repeats = 0;
  auto isOne = [](int64_t size) { return size == 1; };
  bool isPlain = llvm::all_of(op.getKernel(), isOne) &&
                 llvm::all_of(op.getStrides(), isOne);
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t known = ShapedType::isDynamic(size) ? tuning::dynamicAmxSize : size;
    if (i + 1 == shape.size() || (isPlain && !op.getBatched()))
      rows.length *= known;
    else if (op.getBatched())
      rows.batches *= known;
    else
      rows.repeats *= known;
  }
  return rows;
}

KernelRequest kernels::getKernelRequest(onnxq::ContractOp op) {
  auto kernel = cast<onnxq::KernelOpInterface>(op.getOperation());
  KernelRequest request;
  request.shape = getContractShape(op);
  request.inputBits =
      op.getInput().getType().getElementType().getIntOrFloatBitWidth();
  request.accumulatorBits = kernel.getAccumulatorType().getIntOrFloatBitWidth();
  request.isInputUnsigned = op.getInputUnsigned();
  request.isPadded =
      llvm::any_of(op.getPads(), [](int64_t pad) { return pad > 0; });
  request.hasLongEpilogue = hasManyOperations(op.getEpilogue());
  request.amxRows = getAmxRows(op);
  return request;
}

/// A tile of `mr` rows by `vectors` vectors, no larger than the output.
static KernelChoice makeChoice(const ContractShape &shape,
                               const TargetInfo &target, PackingKind kind,
                               int64_t step, int64_t mr, int64_t vectors,
                               StringRef reason) {
  int64_t lanes = getVectorLanes(kind, target);
  int64_t nr =
      std::min<int64_t>(vectors * lanes, llvm::alignTo(shape.n, lanes));
  // Narrow panels leave registers for more rows.
  if (nr < vectors * lanes)
    mr = std::min<int64_t>(2 * mr, 8);
  return {kind, step, std::min(mr, shape.getRows()), nr, 0, reason};
}

//===----------------------------------------------------------------------===//
// AMX
//===----------------------------------------------------------------------===//

/// The cycles of a pair of AMX tiles of rows, or one, by so many of columns,
/// from timings of such kernels on a Sapphire Rapids.
static int64_t getAmxCycles(int64_t tiles, int64_t rows, int64_t columns,
                            int64_t iterations, bool hasLongEpilogue) {
  int64_t products = tiles * rows * columns;
  return tuning::amxPairCycles +
         products * (hasLongEpilogue ? 1 + tuning::amxLongCycles : 1) +
         iterations * (products + tuning::amxLoadCycles * columns);
}

bool kernels::prefersAmx(const KernelRequest &request, int64_t k, int64_t run,
                         const TargetInfo &target) {
  constexpr int64_t side = 16, rowBytes = 64;
  const AmxRows &rows = request.amxRows;
  if (!target.hasAMX || rows.length * rows.repeats * rows.batches == 0)
    return false;
  int64_t iterations = k / run * llvm::divideCeil(run, rowBytes);
  int64_t vectors = llvm::divideCeil(request.shape.n, side);
  int64_t count = llvm::divideCeil(rows.length, side);
  int64_t tall = llvm::divideCeil(rows.length, count);
  int64_t all = count * rows.repeats, tiles = std::min<int64_t>(all, 2);
  auto getCycles = [&](int64_t columns) {
    return getAmxCycles(tiles, tall, columns, iterations,
                        request.hasLongEpilogue);
  };
  int64_t byAmx = tuning::amxSetUpCycles +
                  llvm::divideCeil(all, 2) *
                      (vectors / 2 * getCycles(2) + vectors % 2 * getCycles(1));
  int64_t m = rows.length * rows.repeats;
  int64_t byVectors =
      vectors * (m * k * side / tuning::vnniProducts +
                 llvm::divideCeil(m, 8) * tuning::vnniTileCycles);
  if (getVectorLanes(PackingKind::Vnni, target) == 0)
    byVectors *= tuning::withoutVnni;
  return byAmx < byVectors - byVectors / tuning::amxLeastSaved;
}

/// Whether AMX takes less time than dot products, for what its kernel reads:
/// channels, or a row of taps where the input is staged anyway.
static bool prefersAmx(const KernelRequest &request, const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  if (request.fitsInt4)
    return false;
  int64_t wide = llvm::alignTo(shape.channels, 4);
  bool isJoined = shape.joinsTaps(4);
  bool isStaged = wide != shape.channels || request.isPadded;
  int64_t row = isJoined || isStaged ? shape.rowTaps : 1;
  int64_t run = isJoined ? llvm::alignTo(row * shape.channels, 4) : row * wide;
  return prefersAmx(request, shape.getTaps() / row * run, run, target);
}

//===----------------------------------------------------------------------===//
// x86 without a dot product
//===----------------------------------------------------------------------===//

static WeightShape getWeightShape(const ContractShape &shape) {
  return {shape.groups, shape.getTaps(), shape.channels, shape.n};
}

static int64_t countPanels(const ContractShape &shape) {
  return shape.groups * panelCount(getWeightShape(shape), {quadColumns, 1});
}

/// The cost of a tile of all panels by vpmaddwd.
static int64_t getWidenedCost(const ContractShape &shape) {
  return countPanels(shape) *
         costOfBundles(getWeightShape(shape), DotKind::Widened);
}

/// The least that quads of a panel can cost: all products in fours.
static int64_t getLeastQuadCost(const ContractShape &shape) {
  return getWeightShape(shape).rows() / 8 * dotcost::doubleQuad +
         dotcost::quadTile;
}

namespace {
/// A choice, and what a tile of all its panels costs.
struct CostedChoice {
  KernelChoice choice;
  int64_t cost;
};
} // namespace

/// The cheapest exact one of vpmaddwd, vpmaddubsw and quads.
static CostedChoice chooseAvx2(const KernelRequest &request,
                               const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  WeightShape weights = getWeightShape(shape);
  int64_t panels = countPanels(shape);
  CostedChoice best = {makeChoice(shape, target, PackingKind::Madd, 2, 4, 2,
                                  "pairs of weights overflow 16 bits"),
                       getWidenedCost(shape)};
  if (shape.groups > 1 && shape.channels % 4 != 0)
    return best;
  if (request.pairsFit)
    best = {makeChoice(shape, target, PackingKind::Pairs, 4, 4, 2,
                       "all pairs of weights fit 16 bits"),
            panels * costOfBundles(weights, DotKind::Pairs)};
  if (request.fitsInt4 || shape.channels < quadRows || shape.n < quadColumns ||
      shape.getRows() < 4 || !request.getQuadCost ||
      panels * getLeastQuadCost(shape) >= best.cost)
    return best;
  int64_t cost = request.getQuadCost();
  if (cost < best.cost)
    best = {{PackingKind::Quads, quadRows, 4, quadColumns, 0,
             "most fours of weights fit 16 bits"},
            cost};
  return best;
}

/// The tiles whose products are summed at a time: more than four, for which
/// registers are scarce, where the last ones would repeat many.
static int64_t chooseWinogradRows(int64_t tiles) {
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

/// Winograd's transform on x86 without a dot product, and what all of it costs.
static std::optional<CostedChoice> chooseWinograd(const KernelRequest &request,
                                                  const TargetInfo &target) {
  if (request.fitsInt4 || target.hasAVX512 ||
      getVectorLanes(PackingKind::Winograd, target) == 0 ||
      getVectorLanes(PackingKind::Vnni, target) != 0)
    return std::nullopt;
  std::optional<CostedChoice> best;
  for (const WinogradOption &option : request.transforms) {
    int64_t cost = costOfWinograd(getWeightShape(request.shape), option.side,
                                  option.tiles);
    if (best && cost >= best->cost)
      continue;
    best = {makeChoice(request.shape, target, PackingKind::Winograd, 2, 4, 2,
                       "3x3 with stride 1: fewer products"),
            cost};
    best->choice.mr = chooseWinogradRows(option.tiles);
    best->choice.winogradSide = option.side;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The rows of a tile of AVX-512's dot products: fewer than eight where the
/// last tile would repeat many of them.
static int64_t chooseVnniRows(int64_t rows) {
  constexpr int64_t most = 8, least = 6;
  // Half a cycle per row and vector, and what a step takes besides.
  auto getCost = [&](int64_t tall) {
    return llvm::divideCeil(rows, tall) * (2 * tall + 1);
  };
  int64_t best = most;
  for (int64_t tall = most - 1; tall >= least; --tall)
    // More rows read B less often.
    if (100 * getCost(tall) < 97 * getCost(best))
      best = tall;
  return best;
}

/// AArch64: whether products of small matrices take fewer instructions than
/// dot products.
static bool prefersI8mm(const KernelRequest &request,
                        const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  if (request.fitsInt4 || getVectorLanes(PackingKind::Usmmla, target) == 0 ||
      (shape.groups > 1 && shape.channels % 8 != 0))
    return false;
  int64_t rows = std::min<int64_t>(4, shape.getRows());
  int64_t width = std::min<int64_t>(16, llvm::alignTo(shape.n, 4));
  return countMatrices(rows, width, shape.getSteppedK(8)) <
         countDots(rows, width, shape.getSteppedK(4));
}

/// The micro-kernel for plain sums, and what a tile of all its panels costs
/// where Winograd's transform competes.
static CostedChoice choosePlain(const KernelRequest &request,
                                const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  auto has = [&](PackingKind kind) { return getVectorLanes(kind, target) > 0; };
  auto choose = [&](PackingKind kind, int64_t step, int64_t mr, int64_t vectors,
                    StringRef reason) -> CostedChoice {
    return {makeChoice(shape, target, kind, step, mr, vectors, reason),
            getWidenedCost(shape)};
  };
  auto isDivided = [&](int64_t step) {
    return shape.groups == 1 || shape.channels % step == 0;
  };
  bool isInt8 = request.inputBits == 8 && request.weightBits == 8;
  bool isLong = request.accumulatorBits == 64;
  // A single row fills no pipeline with few vectors of accumulators.
  bool isRow = shape.getRows() == 1;
  if (isInt8 && isDivided(4)) {
    if (prefersAmx(request, target))
      return choose(PackingKind::Amx, 4, 32, 2, "fewer cycles by AMX");
    if (getVectorLanes(PackingKind::Vnni, target) == 16)
      return choose(PackingKind::Vnni, 4, chooseVnniRows(shape.getRows()), 2,
                    "AVX-512 VNNI");
    if (has(PackingKind::Vnni))
      return choose(PackingKind::Vnni, 4, 6, 2, "AVX-VNNI");
    if (prefersI8mm(request, target))
      return choose(request.isInputUnsigned ? PackingKind::Usmmla
                                            : PackingKind::Smmla,
                    8, 4, 4, "i8mm takes fewer instructions than dots");
    if (has(PackingKind::Usdot) && request.isInputUnsigned)
      return choose(PackingKind::Usdot, 4, 8, isRow ? 8 : 2, "i8mm's usdot");
    if (has(PackingKind::Sdot))
      return choose(PackingKind::Sdot, 4, 8, isRow ? 8 : 2, "dotprod");
  }
  if (isInt8 && !isLong && isDivided(2) && has(PackingKind::Pairs))
    return chooseAvx2(request, target);
  if (!isLong && isDivided(2) && has(PackingKind::Madd))
    return choose(PackingKind::Madd, 2, 4, 2, "x86 without AVX2, or 16 bits");
  CostedChoice generic =
      target.hasRVV
          ? choose(PackingKind::Outer, 1, 6, isRow ? 4 : 1, "RISC-V vectors")
          : choose(PackingKind::Outer, 1, 4, isRow ? 4 : 2, "any processor");
  // Vectors have half as many accumulators of 64 bits.
  if (isLong)
    generic.choice.nr = std::max<int64_t>(generic.choice.nr / 2, 1);
  return generic;
}

KernelChoice kernels::chooseMicroKernel(const KernelRequest &request,
                                        const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  std::optional<CostedChoice> winograd = chooseWinograd(request, target);
  if (!winograd)
    return choosePlain(request, target).choice;
  int64_t tiles = llvm::divideCeil(shape.getRows(), 4);
  // No plain sums cost less than quads of all weights.
  if (winograd->cost < tiles * countPanels(shape) * getLeastQuadCost(shape))
    return winograd->choice;
  CostedChoice plain = choosePlain(request, target);
  return winograd->cost < tiles * plain.cost ? winograd->choice : plain.choice;
}

KernelChoice kernels::chooseForActivations(const KernelRequest &request,
                                           const TargetInfo &target) {
  const ContractShape &shape = request.shape;
  auto has = [&](PackingKind kind) { return getVectorLanes(kind, target) > 0; };
  auto choose = [&](PackingKind kind, int64_t step, int64_t mr,
                    StringRef reason) -> KernelChoice {
    int64_t lanes = getVectorLanes(kind, target);
    // RISC-V's vectors are groups of registers already.
    int64_t vectors = kind == PackingKind::Outer && target.hasRVV ? 1 : 2;
    int64_t nr =
        std::min<int64_t>(vectors * lanes, llvm::alignTo(shape.n, lanes));
    return {kind, step, std::clamp<int64_t>(shape.m.value_or(mr), 1, mr),
            nr,   0,    reason};
  };
  // AMX in chunks that cut k evenly: nothing is cut at run time.
  if (shape.k % 4 == 0 && prefersAmx(request, shape.k, shape.k, target) &&
      shape.k % (4 * llvm::divideCeil(shape.k, 64)) == 0)
    return choose(PackingKind::Amx, 4, 32, "fewer cycles by AMX");
  if (has(PackingKind::Vnni))
    return choose(PackingKind::Vnni, 4,
                  getVectorLanes(PackingKind::Vnni, target) == 16 ? 8 : 6,
                  "VNNI");
  if (has(PackingKind::Usdot) && request.isInputUnsigned)
    return choose(PackingKind::Usdot, 4, 8, "i8mm's usdot");
  if (has(PackingKind::Sdot))
    return choose(PackingKind::Sdot, 4, 8, "dotprod");
  if (has(PackingKind::Madd))
    return choose(PackingKind::Madd, 2, 4, "nothing is proved of B");
  return choose(PackingKind::Outer, 1, target.hasRVV ? 6 : 4, "any processor");
}
