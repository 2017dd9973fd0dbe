// What lowerings of contractions share: the grid of tiles, rows and where they
// are read, and epilogues. Classes that derive from it sum the products.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTLOWERING_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTLOWERING_H

#include "LowerKernels.h"
#include "RoundedEpilogue.h"

namespace onnxquant::kernels {

/// A tile's place: its batch, group, panel and first row, and how much of the
/// panel counts.
struct TilePlace {
  llvm::SmallVector<mlir::Value> batch;
  mlir::Value group, panel, row;
  int64_t rows, columns;
};

/// How tiles cover all rows: the first `tall` of `count` have `rows` rows, the
/// others one less. Without `tall` all have as many, and the last one begins
/// earlier.
struct RowTiles {
  int64_t rows;
  mlir::Value count;
  std::optional<int64_t> tall;
};

/// Where a row's elements are read: a buffer and a place in it.
struct RowSource {
  mlir::Value memory, place;
};

class ContractLowering {
public:
  ContractLowering(onnxq::ContractOp op, const TargetInfo &target);
  virtual ~ContractLowering() = default;
  /// Emits the loops; so many threads share them.
  void lower(int64_t threads = 1);

protected:
  void mergeRows();
  void emitGrid(int64_t rows);
  /// The rows of a tile of the last panel, which has `columns` columns only,
  /// where those of others have `rows`.
  virtual int64_t getLastRows(int64_t rows, int64_t columns) { return rows; }
  virtual void emitPanels(int64_t rows, mlir::Value panels,
                          mlir::Value firstPanel, int64_t columns);
  /// Whether a tile of a row less takes less time.
  virtual bool hasShortTiles() { return false; }
  /// Tiles of up to `rows` rows.
  RowTiles coverRows(int64_t rows);
  /// Emits the tile with number `tile`: `body` gets its first row and how many
  /// it has.
  void emitRows(const RowTiles &tiles, mlir::Value tile,
                llvm::function_ref<void(mlir::Value, int64_t)> body);
  /// Tiles whose input stays in the cache while all panels pass by.
  int64_t getTilesInCache(int64_t rows);
  /// The blocks of tiles that are computed one after the other, or by one
  /// thread each.
  mlir::Value countBlocks(mlir::Value tiles, int64_t rows);
  void emitTile(const TilePlace &place);
  /// What a tile's sums begin with: a vector per `lanes` columns.
  virtual llvm::SmallVector<mlir::Value> startRow(const TilePlace &place);
  virtual void storeRows(const TilePlace &place,
                         llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
                         llvm::ArrayRef<mlir::Value> sums);
  void fetchEnds(const TilePlace &place,
                 llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows);

  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  getRowIndices(const TilePlace &place);
  /// Loops over the window's taps; `body` gets the number of a run, where the
  /// rows' elements of it are, and what the loops carry.
  using RunBody = std::function<llvm::SmallVector<mlir::Value>(
      mlir::Value, llvm::ArrayRef<RowSource>, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value>
  forTaps(const TilePlace &place,
          llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
          mlir::ValueRange carried, const RunBody &body);
  mlir::Value getWeights(const TilePlace &place);
  /// Whether tiles ask for the weights of the next panel, and for how many
  /// lines of a cache each at most.
  virtual bool asksAhead();
  virtual int64_t getMostLines();
  /// The bytes of a stored weight.
  int64_t getWeightBytes();
  /// Asks for a tile's share of the `count` weights from `next` on: tile
  /// `number` of `tiles` that use other weights meanwhile, each in `runs` runs
  /// of `length` products. Where that is known, the sums ask for a part at each
  /// of their turns.
  void fetchWeights(mlir::Value next, int64_t count, mlir::Value number,
                    mlir::Value tiles, int64_t runs, int64_t length);
  /// Products of a turn of the innermost loop.
  virtual int64_t getUnrolled(int64_t length);
  /// Asks for a turn's part of what fetchWeights has left to the sums.
  void fetchAhead(mlir::Value turn);
  /// Has the sums of run `number` ask for their part.
  void startRun(mlir::Value number);
  /// The weights of a product: a vector per `lanes` columns.
  llvm::SmallVector<mlir::Value> loadLine(mlir::Value line, int64_t columns);
  /// A product's elements of all rows, each in every lane.
  llvm::SmallVector<mlir::Value> spreadElements(llvm::ArrayRef<RowSource> rows,
                                                mlir::Value k);
  void addProducts(llvm::MutableArrayRef<mlir::Value> sums,
                   llvm::ArrayRef<mlir::Value> elements,
                   llvm::ArrayRef<mlir::Value> weightsOf);
  /// Adds a product to every sum: of a line of weights and the rows' elements,
  /// as they are in memory.
  using AddStep = llvm::function_ref<void(llvm::MutableArrayRef<mlir::Value>,
                                          llvm::ArrayRef<mlir::Value>,
                                          llvm::ArrayRef<mlir::Value>)>;
  /// Adds `length` products per sum, `unroll` per turn, each with what is
  /// loaded before the products in front of it: for processors that don't
  /// reorder. A row's sums take packed weights of type `line` each.
  llvm::SmallVector<mlir::Value> sumAhead(llvm::ArrayRef<RowSource> rows,
                                          mlir::Value weight, int64_t length,
                                          int64_t unroll, mlir::ValueRange sums,
                                          mlir::VectorType line, AddStep add);
  /// The sums of all taps: loops over the window's dimensions, a run innermost.
  virtual llvm::SmallVector<mlir::Value>
  sumTaps(const TilePlace &place,
          llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
          llvm::SmallVector<mlir::Value> sums);
  /// Adds `length` products per sum: of elements that follow each other.
  virtual llvm::SmallVector<mlir::Value>
  sumRun(llvm::ArrayRef<RowSource> rows, mlir::Value weight, int64_t length,
         mlir::ValueRange sums, int64_t columns);
  llvm::SmallVector<RowSource>
  getSources(const TilePlace &place,
             llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
             llvm::ArrayRef<mlir::Value> taps);
  void storeRow(const TilePlace &place, int64_t row,
                llvm::ArrayRef<mlir::Value> indices,
                llvm::ArrayRef<mlir::Value> sums);
  /// The epilogue of several rows at once, which is rounded.
  void storeJoined(const TilePlace &place,
                   llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
                   llvm::ArrayRef<mlir::Value> sums);
  mlir::Value loadExtra(size_t number, llvm::ArrayRef<mlir::Value> indices,
                        mlir::Value column, int64_t width, int64_t valid);
  mlir::Value getFirstColumn(const TilePlace &place);
  mlir::Value getRowPlace(const FlatBuffer &buffer, mlir::AffineMap map,
                          llvm::ArrayRef<mlir::Value> indices);

  onnxq::ContractOp op;
  onnxq::PackingAttr packing;
  KernelBuilder b;
  bool hasFMA;
  bool isPacked;
  /// Whether the weights of the next product have registers of their own.
  bool loadsAhead;
  int64_t lanes;
  /// Elements of a row that are loaded at once: where an instruction multiplies
  /// by a lane, that saves one that broadcasts.
  int64_t elementsAtOnce;
  int64_t spatial;
  int64_t channels;
  FlatBuffer input, weights, output;
  llvm::SmallVector<FlatBuffer> extras;
  llvm::SmallVector<mlir::AffineMap> maps;
  /// Dimensions of the window that are loops; the last ones may be part of a
  /// run of contiguous elements.
  int64_t loopDims;
  int64_t run;
  /// Leading dimensions that have weights of their own.
  int64_t batches;
  /// Where the columns of the next product are.
  mlir::Value weightStep;
  mlir::Value numRows;
  int64_t threads = 1;
  mlir::Value zeros;
  /// Weights that the sums ask for while they are computed: where the tile's
  /// and the run's begin, and how many weights further each turn and run is.
  struct Ahead {
    mlir::Value first, place;
    int64_t turnStep = 0, runStep = 0;
  };
  Ahead ahead;
  /// The elements of sums, and how many of them an epilogue computes at once.
  mlir::Type sumType;
  int64_t storedLanes;
  /// Set if the epilogue ends in a byte that has a shorter form.
  std::optional<RoundedEpilogue> rounded;
  /// Bytes that are narrowed at once; 0 if each row is by itself.
  int64_t joinedLanes = 0;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTLOWERING_H
