// Verifiers of the Tensor family: what the definitions alone can't say. They
// judge types and attributes only; what constants hold is judged by the shape
// rules. Each message ends in the label of the constraint in the definition.

#include "TensorHelpers.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

/// `value` has rank `rank`, if it has one.
static LogicalResult expectRank(Operation *op, StringRef name, Value value,
                                int64_t rank, StringRef label) {
  std::optional<int64_t> known = rankOf(value);
  if (!known || *known == rank)
    return success();
  return op->emitOpError("expects ")
         << name << " of rank " << rank << ", but got rank " << *known << " ("
         << label << ")";
}

static LogicalResult expectRankAtLeast(Operation *op, StringRef name,
                                       Value value, int64_t rank,
                                       StringRef label) {
  std::optional<int64_t> known = rankOf(value);
  if (!known || *known >= rank)
    return success();
  return op->emitOpError("expects ")
         << name << " of rank " << rank << " or more, but got rank " << *known
         << " (" << label << ")";
}

/// `value` has rank 1 and `size` elements; none for any number.
static LogicalResult expectVector(Operation *op, StringRef name, Value value,
                                  std::optional<int64_t> size,
                                  StringRef label) {
  if (failed(expectRank(op, name, value, 1, label)))
    return failure();
  std::optional<int64_t> known = sizeOf(value, 0);
  if (!size || !known || *known == *size)
    return success();
  return op->emitOpError("expects ")
         << name << " of " << *size << " elements, but got " << *known << " ("
         << label << ")";
}

/// `value` has one element: a scalar, or a vector as some exporters write it.
static LogicalResult expectSingle(Operation *op, StringRef name, Value value,
                                  StringRef label) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || llvm::all_of(type.getShape(), [](int64_t size) {
        return size == 1 || ShapedType::isDynamic(size);
      }))
    return success();
  return op->emitOpError("expects ")
         << name << " of one element, but got " << type << " (" << label << ")";
}

static LogicalResult expectIn(Operation *op, StringRef name, int64_t number,
                              int64_t low, int64_t high, StringRef label) {
  if (number >= low && number <= high)
    return success();
  return op->emitOpError("expects ")
         << name << " in [" << low << ", " << high << "], but got " << number
         << " (" << label << ")";
}

/// An axis of `value`, which has at least one dimension.
static LogicalResult expectAxis(Operation *op, StringRef valueName, Value value,
                                int64_t axis, StringRef label) {
  std::optional<int64_t> rank = rankOf(value);
  if (!rank)
    return success();
  if (failed(expectRankAtLeast(op, valueName, value, 1, label)))
    return failure();
  return expectIn(op, "axis", axis, -*rank, *rank - 1, label);
}

static LogicalResult expectOneOf(Operation *op, StringRef name, StringRef text,
                                 ArrayRef<StringRef> choices, StringRef label) {
  if (llvm::is_contained(choices, text))
    return success();
  InFlightDiagnostic error = op->emitOpError("expects ") << name << " of ";
  llvm::interleaveComma(choices, error);
  return error << ", but got '" << text << "' (" << label << ")";
}

static constexpr StringRef reductions[] = {"none", "add", "mul", "max", "min"};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (failed(expectVector(*this, "shape", getShape(), std::nullopt, "C1")))
    return failure();
  return expectIn(*this, "allowzero", getAllowzero(), 0, 1, "C2");
}

LogicalResult FlattenOp::verify() {
  std::optional<int64_t> rank = rankOf(getInput());
  if (!rank)
    return success();
  return expectIn(*this, "axis", getAxis(), -*rank, *rank, "C1");
}

/// A list of axes, or a single one without brackets.
static LogicalResult expectAxesTensor(Operation *op, Value axes,
                                      StringRef label) {
  std::optional<int64_t> rank = rankOf(axes);
  if (!rank || *rank <= 1)
    return success();
  return op->emitOpError("expects axes of rank at most 1, but got rank ")
         << *rank << " (" << label << ")";
}

LogicalResult SqueezeOp::verify() {
  return expectAxesTensor(*this, getAxes(), "C1");
}

LogicalResult UnsqueezeOp::verify() {
  return expectAxesTensor(*this, getAxes(), "C1");
}

LogicalResult TransposeOp::verify() {
  if (!getPerm())
    return success();
  SmallVector<int64_t> perm = shape::getInts(getPerm());
  int64_t size = perm.size();
  SmallVector<bool> seen(size, false);
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= size || seen[axis])
      return emitOpError("expects perm to be a permutation of 0 to ")
             << size - 1 << ", but got " << *getPerm() << " (C1)";
    seen[axis] = true;
  }
  std::optional<int64_t> rank = rankOf(getData());
  if (rank && *rank != size)
    return emitOpError("expects perm of ")
           << *rank << " entries, but got " << size << " (C2)";
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one operand, but got none (C1)");
  std::optional<int64_t> common;
  for (Value input : getInputs()) {
    std::optional<int64_t> rank = rankOf(input);
    if (!rank)
      continue;
    if (*rank == 0 || (common && *common != *rank))
      return emitOpError("expects operands of ")
             << (common ? "rank " + std::to_string(*common)
                        : std::string("rank 1 or more"))
             << ", but got rank " << *rank << " (C2)";
    common = rank;
  }
  if (!common)
    return success();
  return expectIn(*this, "axis", getAxis(), -*common, *common - 1, "C3");
}

LogicalResult SplitOp::verify() {
  int64_t numResults = (*this)->getNumResults();
  if (numResults == 0)
    return emitOpError("expects at least one result, but got none (C1)");
  if (failed(expectAxis(*this, "input", getInput(), getAxis(), "C2")))
    return failure();
  bool hasSplit = !isLeftOut(getSplit());
  if (hasSplit &&
      failed(expectVector(*this, "split", getSplit(), numResults, "C3")))
    return failure();
  std::optional<int64_t> numOutputs = getNumOutputs();
  if (numOutputs && *numOutputs != numResults)
    return emitOpError("expects num_outputs of ")
           << numResults << ", but got " << *numOutputs << " (C4)";
  if (numOutputs && hasSplit)
    return emitOpError(
        "expects one of split and num_outputs, but got both (C5)");
  return success();
}

LogicalResult ExpandOp::verify() {
  return expectVector(*this, "shape", getShape(), std::nullopt, "C1");
}

LogicalResult TileOp::verify() {
  return expectVector(*this, "repeats", getRepeats(), rankOf(getInput()), "C1");
}

static LogicalResult expectBlocksize(Operation *op, int64_t blocksize) {
  if (blocksize > 0)
    return success();
  return op->emitOpError("expects a positive blocksize, but got ")
         << blocksize << " (C1)";
}

/// Whether `size` splits into `parts` squared pieces; false if that overflows.
static bool isMultipleOfSquare(int64_t size, int64_t parts) {
  return size % parts == 0 && (size / parts) % parts == 0;
}

LogicalResult DepthToSpaceOp::verify() {
  if (failed(expectBlocksize(*this, getBlocksize())) ||
      failed(expectOneOf(*this, "mode", getMode(), {"DCR", "CRD"}, "C2")) ||
      failed(expectRank(*this, "input", getInput(), 4, "C3")))
    return failure();
  std::optional<int64_t> channels = sizeOf(getInput(), 1);
  if (channels && !isMultipleOfSquare(*channels, getBlocksize()))
    return emitOpError("expects channels in multiples of the squared "
                       "blocksize, but got ")
           << *channels << " for blocksize " << getBlocksize() << " (C4)";
  return success();
}

LogicalResult SpaceToDepthOp::verify() {
  if (failed(expectBlocksize(*this, getBlocksize())) ||
      failed(expectRank(*this, "input", getInput(), 4, "C2")))
    return failure();
  for (int64_t index : {2, 3}) {
    std::optional<int64_t> size = sizeOf(getInput(), index);
    if (size && *size % getBlocksize() != 0)
      return emitOpError("expects height and width in multiples of ")
             << getBlocksize() << ", but got " << *size << " (C3)";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  std::pair<StringRef, Value> lists[] = {{"starts", getStarts()},
                                         {"ends", getEnds()},
                                         {"axes", getAxes()},
                                         {"steps", getSteps()}};
  std::optional<int64_t> common;
  for (auto [name, list] : lists) {
    if (isLeftOut(list))
      continue;
    if (failed(expectRank(*this, name, list, 1, "C1")))
      return failure();
    std::optional<int64_t> size = sizeOf(list, 0);
    if (size && common && *size != *common)
      return emitOpError("expects ")
             << name << " of " << *common << " elements, but got " << *size
             << " (C2)";
    if (size)
      common = size;
  }
  std::optional<int64_t> rank = rankOf(getData());
  if (common && rank && *common > *rank)
    return emitOpError("expects starts of at most ")
           << *rank << " elements, but got " << *common << " (C3)";
  return success();
}

LogicalResult GatherOp::verify() {
  return expectAxis(*this, "data", getData(), getAxis(), "C1");
}

/// Two operands of the same rank, if both have one.
static LogicalResult expectSameRank(Operation *op, StringRef name, Value value,
                                    Value other, StringRef label) {
  std::optional<int64_t> rank = rankOf(other);
  return rank ? expectRank(op, name, value, *rank, label) : success();
}

LogicalResult GatherElementsOp::verify() {
  if (failed(expectAxis(*this, "data", getData(), getAxis(), "C1")))
    return failure();
  return expectSameRank(*this, "indices", getIndices(), getData(), "C2");
}

LogicalResult GatherNDOp::verify() {
  if (failed(expectRankAtLeast(*this, "data", getData(), 1, "C1")) ||
      failed(expectRankAtLeast(*this, "indices", getIndices(), 1, "C1")))
    return failure();
  std::optional<int64_t> rank = rankOf(getData());
  std::optional<int64_t> indexRank = rankOf(getIndices());
  int64_t smaller =
      std::min(rank.value_or(INT64_MAX), indexRank.value_or(INT64_MAX));
  if (failed(
          expectIn(*this, "batch_dims", getBatchDims(), 0, smaller - 1, "C2")))
    return failure();
  std::optional<int64_t> tuple =
      indexRank ? sizeOf(getIndices(), *indexRank - 1) : std::nullopt;
  if (!tuple || !rank)
    return success();
  return expectIn(*this, "the last dimension of indices", *tuple, 1,
                  *rank - getBatchDims(), "C3");
}

LogicalResult ScatterElementsOp::verify() {
  if (failed(expectAxis(*this, "data", getData(), getAxis(), "C1")) ||
      failed(expectSameRank(*this, "indices", getIndices(), getData(), "C2")) ||
      failed(expectSameRank(*this, "updates", getUpdates(), getData(), "C2")))
    return failure();
  if (failed(verifyCompatibleShape(getIndices().getType(),
                                   getUpdates().getType())))
    return emitOpError("expects indices and updates of the same dimensions, "
                       "but got ")
           << getIndices().getType() << " and " << getUpdates().getType()
           << " (C3)";
  return expectOneOf(*this, "reduction", getReduction(), reductions, "C4");
}

LogicalResult ScatterNDOp::verify() {
  if (failed(expectRankAtLeast(*this, "data", getData(), 1, "C1")) ||
      failed(expectRankAtLeast(*this, "indices", getIndices(), 1, "C1")))
    return failure();
  std::optional<int64_t> rank = rankOf(getData());
  std::optional<int64_t> indexRank = rankOf(getIndices());
  std::optional<int64_t> tuple =
      indexRank ? sizeOf(getIndices(), *indexRank - 1) : std::nullopt;
  if (tuple && rank) {
    if (failed(expectIn(*this, "the last dimension of indices", *tuple, 0,
                        *rank, "C2")) ||
        failed(expectRank(*this, "updates", getUpdates(),
                          *indexRank - 1 + *rank - *tuple, "C3")))
      return failure();
  }
  return expectOneOf(*this, "reduction", getReduction(), reductions, "C4");
}

LogicalResult CompressOp::verify() {
  if (getAxis() &&
      failed(expectAxis(*this, "input", getInput(), *getAxis(), "C1")))
    return failure();
  return expectRank(*this, "condition", getCondition(), 1, "C2");
}

LogicalResult OneHotOp::verify() {
  if (std::optional<int64_t> rank = rankOf(getIndices()))
    if (failed(expectIn(*this, "axis", getAxis(), -*rank - 1, *rank, "C1")))
      return failure();
  if (failed(expectSingle(*this, "depth", getDepth(), "C2")))
    return failure();
  return expectVector(*this, "values", getValues(), 2, "C3");
}

LogicalResult ReverseSequenceOp::verify() {
  int64_t batch = getBatchAxis(), time = getTimeAxis();
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0))
    return emitOpError("expects batch_axis and time_axis to be 0 and 1, but "
                       "got ")
           << batch << " and " << time << " (C1)";
  if (failed(expectRankAtLeast(*this, "input", getInput(), 2, "C2")))
    return failure();
  return expectVector(*this, "sequence_lens", getSequenceLens(),
                      sizeOf(getInput(), batch), "C3");
}

LogicalResult TriluOp::verify() {
  if (failed(expectRankAtLeast(*this, "input", getInput(), 2, "C1")))
    return failure();
  return expectSingle(*this, "k", getK(), "C2");
}

//===----------------------------------------------------------------------===//
// Image
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  if (failed(expectOneOf(*this, "mode", getMode(),
                         {"constant", "edge", "reflect", "wrap"}, "C1")))
    return failure();
  std::optional<int64_t> rank = rankOf(getData());
  std::optional<int64_t> padded = rank;
  if (!isLeftOut(getAxes()))
    padded = sizeOf(getAxes(), 0);
  std::optional<int64_t> length;
  if (padded && *padded <= INT64_MAX / 2)
    length = 2 * *padded;
  if (failed(expectVector(*this, "pads", getPads(), length, "C2")) ||
      failed(expectSingle(*this, "constant_value", getConstantValue(), "C3")))
    return failure();
  if (isLeftOut(getAxes()))
    return success();
  if (failed(expectRank(*this, "axes", getAxes(), 1, "C4")))
    return failure();
  if (rank && padded && *padded > *rank)
    return emitOpError("expects axes of at most ")
           << *rank << " elements, but got " << *padded << " (C4)";
  return success();
}

LogicalResult CenterCropPadOp::verify() {
  std::optional<int64_t> rank = rankOf(getInputData());
  std::optional<int64_t> count = rank;
  if (getAxes()) {
    SmallVector<int64_t> axes = shape::getInts(getAxes());
    count = axes.size();
    if (rank && failed(normalizeAxes(*this, axes, *rank, "C1")))
      return failure();
  }
  return expectVector(*this, "shape", getShape(), count, "C2");
}

/// An operand of no elements counts as left out.
static bool isCertainlyGiven(Value value) {
  return !isLeftOut(value) && rankOf(value) && sizeOf(value, 0).value_or(0) > 0;
}
static bool isPossiblyGiven(Value value) {
  return !isLeftOut(value) && sizeOf(value, 0) != 0;
}

static LogicalResult verifyResizeModes(ResizeOp op) {
  if (failed(expectOneOf(op, "coordinate_transformation_mode",
                         op.getCoordinateTransformationMode(),
                         {"half_pixel", "half_pixel_symmetric",
                          "pytorch_half_pixel", "align_corners", "asymmetric",
                          "tf_half_pixel_for_nn", "tf_crop_and_resize"},
                         "C2")) ||
      failed(expectOneOf(op, "mode", op.getMode(),
                         {"nearest", "linear", "cubic"}, "C3")) ||
      failed(expectOneOf(
          op, "nearest_mode", op.getNearestMode(),
          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, "C4")))
    return failure();
  return expectOneOf(op, "keep_aspect_ratio_policy",
                     op.getKeepAspectRatioPolicy(),
                     {"stretch", "not_larger", "not_smaller"}, "C5");
}

LogicalResult ResizeOp::verify() {
  bool both = isCertainlyGiven(getScales()) && isCertainlyGiven(getSizes());
  if (both || (!isPossiblyGiven(getScales()) && !isPossiblyGiven(getSizes())))
    return emitOpError("expects one of scales and sizes, but got ")
           << (both ? "both" : "none") << " (C1)";
  if (failed(verifyResizeModes(*this)))
    return failure();
  std::optional<int64_t> rank = rankOf(getX());
  std::optional<int64_t> count = rank;
  if (getAxes()) {
    SmallVector<int64_t> axes = shape::getInts(getAxes());
    count = axes.size();
    if (rank && failed(normalizeAxes(*this, axes, *rank, "C6")))
      return failure();
  }
  if (isPossiblyGiven(getScales()) &&
      failed(expectVector(*this, "scales", getScales(), count, "C7")))
    return failure();
  if (isPossiblyGiven(getSizes()) &&
      failed(expectVector(*this, "sizes", getSizes(), count, "C7")))
    return failure();
  if (isPossiblyGiven(getRoi()))
    return expectVector(
        *this, "roi", getRoi(),
        count ? std::optional<int64_t>(2 * *count) : std::nullopt, "C8");
  if (getCoordinateTransformationMode() == "tf_crop_and_resize")
    return emitOpError("expects roi for tf_crop_and_resize, but got none (C8)");
  return success();
}

LogicalResult GridSampleOp::verify() {
  if (failed(expectOneOf(*this, "mode", getMode(),
                         {"linear", "nearest", "cubic"}, "C1")) ||
      failed(expectOneOf(*this, "padding_mode", getPaddingMode(),
                         {"zeros", "border", "reflection"}, "C2")) ||
      failed(expectRankAtLeast(*this, "X", getX(), 3, "C3")) ||
      failed(expectRankAtLeast(*this, "grid", getGrid(), 3, "C3")) ||
      failed(expectSameRank(*this, "grid", getGrid(), getX(), "C3")))
    return failure();
  std::optional<int64_t> rank = rankOf(getGrid());
  std::optional<int64_t> last =
      rank ? sizeOf(getGrid(), *rank - 1) : std::nullopt;
  if (last && *last != *rank - 2)
    return emitOpError("expects grid with a last dimension of ")
           << *rank - 2 << ", but got " << *last << " (C4)";
  return success();
}

LogicalResult AffineGridOp::verify() {
  if (failed(expectRank(*this, "theta", getTheta(), 3, "C1")))
    return failure();
  std::optional<int64_t> rows = sizeOf(getTheta(), 1);
  std::optional<int64_t> columns = sizeOf(getTheta(), 2);
  bool fits = (!rows || *rows == 2 || *rows == 3) &&
              (!columns || *columns == 3 || *columns == 4) &&
              (!rows || !columns || *columns == *rows + 1);
  if (!fits)
    return emitOpError("expects theta of 2x3 or 3x4 matrices, but got ")
           << getTheta().getType() << " (C1)";
  std::optional<int64_t> count;
  if (rows)
    count = *rows + 2;
  else if (columns)
    count = *columns + 1;
  if (failed(expectVector(*this, "size", getSize(), count, "C2")))
    return failure();
  std::optional<int64_t> size = sizeOf(getSize(), 0);
  return size ? expectIn(*this, "the number of elements of size", *size, 4, 5,
                         "C2")
              : success();
}

LogicalResult ImageDecoderOp::verify() {
  if (failed(expectRank(*this, "encoded_stream", getEncodedStream(), 1, "C1")))
    return failure();
  return expectOneOf(*this, "pixel_format", getPixelFormat(),
                     {"RGB", "BGR", "Grayscale"}, "C2");
}

/// C5: where the n-grams of each length begin in the pool.
static LogicalResult verifyNgramCounts(TfIdfVectorizerOp op) {
  SmallVector<int64_t> counts = shape::getInts(op.getNgramCounts());
  int64_t pool = op.getPoolInt64s()->size();
  if (static_cast<int64_t>(counts.size()) < op.getMaxGramLength())
    return op.emitOpError("expects ngram_counts of at least ")
           << op.getMaxGramLength() << " entries, but got " << counts.size()
           << " (C5)";
  int64_t previous = 0;
  for (int64_t count : counts) {
    if (count < previous || count > pool)
      return op.emitOpError("expects ngram_counts to ascend from 0 to ")
             << pool << ", but got " << op.getNgramCounts() << " (C5)";
    previous = count;
  }
  return success();
}

LogicalResult TfIdfVectorizerOp::verify() {
  std::optional<int64_t> rank = rankOf(getX());
  if (rank && failed(expectIn(*this, "the rank of X", *rank, 1, 2, "C1")))
    return failure();
  if (failed(
          expectOneOf(*this, "mode", getMode(), {"TF", "IDF", "TFIDF"}, "C2")))
    return failure();
  if (getMinGramLength() < 1 || getMaxGramLength() < getMinGramLength() ||
      getMaxSkipCount() < 0)
    return emitOpError("expects 1 <= min_gram_length <= max_gram_length and a "
                       "max_skip_count of 0 or more, but got ")
           << getMinGramLength() << ", " << getMaxGramLength() << " and "
           << getMaxSkipCount() << " (C3)";
  if (!getPoolInt64s() || getPoolStrings())
    return emitOpError("expects a pool of integers, but got ")
           << (getPoolStrings() ? "one of strings" : "none") << " (C4)";
  if (failed(verifyNgramCounts(*this)))
    return failure();
  SmallVector<int64_t> indexes = shape::getInts(getNgramIndexes());
  if (indexes.empty() || llvm::any_of(indexes, [](int64_t i) { return i < 0; }))
    return emitOpError("expects ngram_indexes of 0 or more, but got ")
           << getNgramIndexes() << " (C6)";
  if (getWeights() && getWeights()->size() != indexes.size())
    return emitOpError("expects ") << indexes.size() << " weights, but got "
                                   << getWeights()->size() << " (C7)";
  return success();
}
