// Compares the modelled cycles of tiles and of vectors, from timings of such
// kernels on a Sapphire Rapids.

#include "TileChoice.h"
#include "DotSteps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// Sizes that aren't known are taken for so many.
static constexpr int64_t openSize = 64;
/// Rows and columns of a tile.
static constexpr int64_t tileRows = 16, tileColumns = 16;
/// Cycles of a contraction that sets up tiles, of a pair of tiles that begins
/// and ends, and of the loads of a tile of columns.
static constexpr int64_t setUpCycles = 400, pairCycles = 70, loadCycles = 16;
/// Operations of a long epilogue, and cycles that each of its vectors takes
/// more behind tiles: nothing else is left to do meanwhile.
static constexpr int64_t manyOperations = 16, longCycles = 10;
/// Products of vectors in a cycle, and cycles that a tile of 8 rows by a vector
/// begins and ends in.
static constexpr int64_t vectorProducts = 128, vectorTileCycles = 4;
/// What has no dot products takes so many times as long.
static constexpr int64_t withoutDots = 2;
/// Tiles are to save one cycle in so many.
static constexpr int64_t leastSaved = 16;

namespace {
/// Rows that follow each other in the input, and how often there are as many.
struct Rows {
  int64_t length = 1, repeats = 1, batches = 1;
};
} // namespace

static Rows countRows(ContractOp op) {
  ArrayRef<int64_t> shape = op.getInit().getType().getShape().drop_back();
  auto isOne = [](int64_t size) { return size == 1; };
  bool isPlain = llvm::all_of(op.getKernel(), isOne) &&
                 llvm::all_of(op.getStrides(), isOne);
  Rows rows;
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t known = ShapedType::isDynamic(size) ? openSize : size;
    if (i + 1 == shape.size() || (isPlain && !op.getBatched()))
      rows.length *= known;
    else if (op.getBatched())
      rows.batches *= known;
    else
      rows.repeats *= known;
  }
  return rows;
}

static bool hasLongEpilogue(ContractOp op) {
  return llvm::count_if(op.getEpilogue().front().without_terminator(),
                        [](Operation &inner) {
                          return !inner.hasTrait<OpTrait::ConstantLike>();
                        }) > manyOperations;
}

/// The cycles of a pair of tiles, or one, by so many tiles of columns.
static int64_t getTileCycles(int64_t tiles, int64_t rows, int64_t columns,
                             int64_t turns, bool isLong) {
  int64_t products = tiles * rows * columns;
  return pairCycles + products * (isLong ? 1 + longCycles : 1) +
         turns * (products + loadCycles * columns);
}

bool kernels::prefersTiles(ContractOp op, const TargetInfo &target,
                           int64_t depth, int64_t run) {
  if (getDotLanes(PackingKind::Tiles, target) == 0 ||
      op.getInit().getType().getRank() < 2)
    return false;
  Rows rows = countRows(op);
  if (rows.length * rows.repeats * rows.batches == 0)
    return false;
  auto packing = PackingAttr::get(op.getContext(), 1, depth, op.getColumns(), 1,
                                  2 * tileColumns, 4, PackingKind::Tiles,
                                  /*halves=*/false, run);
  int64_t turns = depth / run * packing.getChunks();
  int64_t vectors = llvm::divideCeil(op.getColumns(), tileColumns);
  int64_t count = llvm::divideCeil(rows.length, tileRows);
  int64_t tall = llvm::divideCeil(rows.length, count);
  int64_t halves = count * rows.repeats, tiles = std::min<int64_t>(halves, 2);
  int64_t pairs = llvm::divideCeil(halves, 2);
  bool isLong = hasLongEpilogue(op);
  int64_t byTiles =
      setUpCycles +
      pairs * (vectors / 2 * getTileCycles(tiles, tall, 2, turns, isLong) +
               vectors % 2 * getTileCycles(tiles, tall, 1, turns, isLong));
  int64_t all = rows.length * rows.repeats;
  int64_t byVectors = vectors * (all * depth * tileColumns / vectorProducts +
                                 llvm::divideCeil(all, 8) * vectorTileCycles);
  if (getDotLanes(PackingKind::Vnni, target) == 0)
    byVectors *= withoutDots;
  return byTiles < byVectors - byVectors / leastSaved;
}

std::vector<int16_t> kernels::cutRuns(ArrayRef<int16_t> weights,
                                      PackingAttr packing) {
  int64_t run = packing.getRun(), chunk = packing.getChunk(),
          chunks = packing.getChunks(), columns = packing.getColumns();
  int64_t runs = packing.getGroups() * packing.getDepth() / run;
  std::vector<int16_t> cut(runs * chunks * chunk * columns, 0);
  for (int64_t i = 0; i < runs; ++i)
    for (int64_t k = 0; k < run; ++k) {
      int64_t number = std::min(k / chunk, chunks - 1);
      int64_t first = std::min(number * chunk, run - chunk);
      std::copy_n(weights.begin() + (i * run + k) * columns, columns,
                  cut.begin() +
                      ((i * chunks + number) * chunk + k - first) * columns);
    }
  return cut;
}
