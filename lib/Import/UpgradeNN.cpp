// Upgrade rules of neural network layers.
//
// Softmax and its kin once worked on a matrix that the axis split the tensor
// into; where that isn't what the axis alone says, the matrix is made with
// Flatten and undone with Reshape. Outputs that only training had, and that no
// later form has, are dropped: a graph that uses them names an unknown tensor.

#include "UpgradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static LogicalResult softmax11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axis",
                          rankOf(upgrader, node.operand(0)));
}

/// The tensor's dimensions as an operand, for a Reshape back to them.
static FailureOr<Value> emitShapeOf(Upgrader &upgrader, Value value) {
  return emitOne(upgrader, "Shape", {value}, {}, "shape");
}

/// Flatten, the operator on rows, and Reshape to what there was.
static LogicalResult emitOnRows(Node &node, Upgrader &upgrader, int64_t axis) {
  Builder &builder = upgrader.builder();
  IntegerType si64 = builder.getIntegerType(64, true);
  Value input = node.operand(0);
  if (!input || node.operands.size() != 1)
    return upgrader.error() << "expects one operand";
  NamedAttrList flattenAttrs, rowAttrs;
  flattenAttrs.set("axis", builder.getIntegerAttr(si64, axis));
  rowAttrs.set("axis", builder.getIntegerAttr(si64, 1));
  auto shape = emitShapeOf(upgrader, input);
  auto rows = emitOne(upgrader, "Flatten", {input}, flattenAttrs, "rows");
  if (failed(shape) || failed(rows))
    return failure();
  auto result = emitOne(upgrader, node.opType, {*rows}, rowAttrs, "on_rows");
  if (failed(result))
    return failure();
  auto reshaped = emitOne(upgrader, "Reshape", {*result, *shape}, {}, "");
  if (failed(reshaped))
    return failure();
  node.replacement.push_back(*reshaped);
  return success();
}

static LogicalResult softmax13(Node &node, Upgrader &upgrader) {
  auto given = takeInt(node, upgrader, "axis");
  if (failed(given))
    return failure();
  int64_t axis = given->value_or(1);
  std::optional<onnx::Dims> dims = dimsOf(upgrader, node.operand(0));
  int64_t rank = dims ? static_cast<int64_t>(dims->size()) : 0;
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (dims && (positive < 0 || positive >= rank) &&
      !(positive == rank && rank > 0)) {
    // Left to the verifier.
    setInt(node, upgrader, "axis", axis);
    return success();
  }
  bool isOneAxis = axis == -1;
  if (dims && positive < rank)
    isOneAxis =
        llvm::all_of(ArrayRef(*dims).drop_front(positive + 1),
                     [](const onnx::Dim &dim) { return dim.isConstant(1); });
  // An attribute that is left is none of the operator's; the importer says so.
  if (!isOneAxis && node.attributes.empty())
    return emitOnRows(node, upgrader, axis);
  setInt(node, upgrader, "axis", axis);
  return success();
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// Whether one of the results from `first` on is used by the graph.
static bool hasResultsFrom(const Node &node, size_t first) {
  return llvm::any_of(ArrayRef(node.resultNames)
                          .drop_front(std::min(first, node.resultNames.size())),
                      [](const std::string &name) { return !name.empty(); });
}

static void keepResults(Node &node, size_t count) {
  if (node.resultNames.size() > count)
    node.resultNames.resize(count);
}

static LogicalResult batchNormalization7(Node &node, Upgrader &upgrader) {
  auto isTest = takeInt(node, upgrader, "is_test");
  if (failed(isTest))
    return failure();
  if (isTest->value_or(0) != 0)
    keepResults(node, 1);
  return success();
}

/// A Reshape to one dimension.
static FailureOr<Value> emitFlat(Upgrader &upgrader, Value value,
                                 StringRef suffix) {
  Value shape = upgrader.constant({-1}, (suffix + "_shape").str());
  return emitOne(upgrader, "Reshape", {value, shape}, {}, suffix);
}

/// Statistics per element instead of per channel are statistics per channel of
/// the flattened tensor.
static LogicalResult batchNormalization9(Node &node, Upgrader &upgrader) {
  auto spatial = takeInt(node, upgrader, "spatial");
  if (failed(spatial))
    return failure();
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (spatial->value_or(1) != 0 || (rank && *rank <= 2))
    return success();
  if (hasResultsFrom(node, 1))
    return upgrader.error() << "expects attribute 'spatial' to be 1 when "
                               "training, but got 0";
  if (node.operands.size() != 5 || llvm::is_contained(node.operands, Value()))
    return upgrader.error()
           << "expects 5 operands, but got " << node.operands.size();
  NamedAttrList flattenAttrs;
  Builder &builder = upgrader.builder();
  flattenAttrs.set("axis",
                   builder.getIntegerAttr(builder.getIntegerType(64, true), 1));
  auto shape = emitShapeOf(upgrader, node.operand(0));
  auto rows =
      emitOne(upgrader, "Flatten", {node.operand(0)}, flattenAttrs, "rows");
  if (failed(shape) || failed(rows))
    return failure();
  llvm::SmallVector<Value> operands = {*rows};
  StringRef suffixes[] = {"scale", "bias", "mean", "var"};
  for (auto [operand, suffix] :
       llvm::zip_equal(ArrayRef(node.operands).drop_front(), suffixes)) {
    auto flat = emitFlat(upgrader, operand, suffix);
    if (failed(flat))
      return failure();
    operands.push_back(*flat);
  }
  auto results = upgrader.emit("BatchNormalization", operands, node.attributes,
                               "normalized", 1);
  if (failed(results) || results->empty())
    return failure();
  auto reshaped =
      emitOne(upgrader, "Reshape", {results->front(), *shape}, {}, "");
  if (failed(reshaped))
    return failure();
  node.replacement.assign(std::max<size_t>(node.resultNames.size(), 1),
                          Value());
  node.replacement.front() = *reshaped;
  return success();
}

/// Results beyond the first asked for training; now an attribute does.
static LogicalResult batchNormalization14(Node &node, Upgrader &upgrader) {
  if (hasResultsFrom(node, 1))
    setInt(node, upgrader, "training_mode", 1);
  keepResults(node, 3);
  return success();
}

/// Computes the shape [groups, channels per group] of an input whose channels
/// aren't known.
static FailureOr<Value> emitGroupShape(Upgrader &upgrader, Value input,
                                       int64_t numGroups) {
  Builder &builder = upgrader.builder();
  IntegerType si64 = builder.getIntegerType(64, true);
  NamedAttrList shapeAttrs, concatAttrs;
  shapeAttrs.set("start", builder.getIntegerAttr(si64, 1));
  shapeAttrs.set("end", builder.getIntegerAttr(si64, 2));
  concatAttrs.set("axis", builder.getIntegerAttr(si64, 0));
  auto channels = emitOne(upgrader, "Shape", {input}, shapeAttrs, "channels");
  if (failed(channels))
    return failure();
  Value number = upgrader.constant({numGroups}, "num_groups");
  auto size = emitOne(upgrader, "Div", {*channels, number}, {}, "group_size");
  if (failed(size))
    return failure();
  return emitOne(upgrader, "Concat", {number, *size}, concatAttrs, "groups");
}

/// A scale and a bias per group become ones per channel. Constants are made
/// where they are used first, as an import of the result has them.
static LogicalResult groupNormalization21(Node &node, Upgrader &upgrader) {
  auto groups =
      dyn_cast_or_null<IntegerAttr>(node.attributes.get("num_groups"));
  Value input = node.operand(0);
  if (!groups || !groups.getType().isInteger(64) || !input)
    return success();
  int64_t numGroups = groups.getValue().getSExtValue();
  std::optional<onnx::Dims> dims = dimsOf(upgrader, input);
  if (numGroups < 1 || (dims && dims->size() < 2))
    return success();
  std::optional<int64_t> channels;
  if (dims)
    channels = (*dims)[1].getConstant();
  if (channels == numGroups)
    return success();
  if (channels && *channels % numGroups != 0)
    return upgrader.error() << "expects channels that " << numGroups
                            << " groups divide, but got " << *channels;

  Value repeated;
  if (!channels) {
    auto shape = emitGroupShape(upgrader, input, numGroups);
    if (failed(shape))
      return failure();
    repeated = *shape;
  }
  std::pair<size_t, StringRef> parameters[] = {{1, "scale"}, {2, "bias"}};
  for (auto [index, suffix] : parameters) {
    if (!node.operand(index))
      continue;
    Value shape = upgrader.constant({-1, 1}, (suffix + "_column_shape").str());
    auto column = emitOne(upgrader, "Reshape", {node.operand(index), shape}, {},
                          (suffix + "_column").str());
    if (failed(column))
      return failure();
    if (!repeated)
      repeated =
          upgrader.constant({numGroups, *channels / numGroups}, "groups");
    auto expanded = emitOne(upgrader, "Expand", {*column, repeated}, {},
                            (suffix + "_groups").str());
    if (failed(expanded))
      return failure();
    auto flat = emitFlat(upgrader, *expanded, suffix);
    if (failed(flat))
      return failure();
    node.setOperand(index, *flat);
  }
  return success();
}

/// The experimental form before opset 9 normalized each image by itself.
static LogicalResult meanVarianceNormalization9(Node &node,
                                                Upgrader &upgrader) {
  auto across = takeInt(node, upgrader, "across_channels");
  auto variance = takeInt(node, upgrader, "normalize_variance");
  if (failed(across) || failed(variance))
    return failure();
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  Ints axes;
  for (int64_t i = across->value_or(0) ? 1 : 2; i < rank.value_or(4); ++i)
    axes.push_back(i);
  if (!node.operand(0) || node.operands.size() != 1)
    return upgrader.error() << "expects one operand";
  if (variance->value_or(1) != 0) {
    NamedAttrList attributes;
    attributes.set("axes", upgrader.builder().getI64ArrayAttr(axes));
    auto normalized = emitOne(upgrader, "MeanVarianceNormalization",
                              {node.operand(0)}, attributes, "");
    if (failed(normalized))
      return failure();
    node.replacement.push_back(*normalized);
    return success();
  }
  auto mean = emitOne(upgrader, "ReduceMean",
                      {node.operand(0), upgrader.constant(axes, "mean_axes")},
                      {}, "mean");
  if (failed(mean))
    return failure();
  auto centered = emitOne(upgrader, "Sub", {node.operand(0), *mean}, {}, "");
  if (failed(centered))
    return failure();
  node.replacement.push_back(*centered);
  return success();
}

//===----------------------------------------------------------------------===//
// Dropout, pools, RoiAlign
//===----------------------------------------------------------------------===//

static LogicalResult dropout12(Node &node, Upgrader &upgrader) {
  return floatToOperand(node, upgrader, "ratio", 1,
                        upgrader.builder().getF32Type(), "ratio");
}

/// Only a node that said it trains keeps training; from opset 7 on there was no
/// way to say so, and the operator copies its input.
static LogicalResult dropout7(Node &node, Upgrader &upgrader) {
  auto isTest = takeInt(node, upgrader, "is_test");
  if (failed(isTest))
    return failure();
  if (!*isTest || **isTest != 0)
    return success();
  if (failed(dropout12(node, upgrader)))
    return failure();
  node.setOperand(
      2, upgrader.scalar(1, upgrader.builder().getI1Type(), "training_mode"));
  return success();
}

/// The mask was numbers, then booleans.
static LogicalResult dropout10(Node &node, Upgrader &) {
  keepResults(node, 1);
  return success();
}

/// The norm's order was a float.
static LogicalResult lpPool2(Node &node, Upgrader &upgrader) {
  if (!isa_and_nonnull<FloatAttr>(node.attributes.get("p")))
    return success();
  auto p = takeFloat(node, upgrader, "p");
  if (failed(p))
    return failure();
  double order = **p;
  if (!(order >= 1 && order < 0x1p53) ||
      order != static_cast<double>(static_cast<int64_t>(order)))
    return upgrader.error()
           << "expects attribute 'p' to be a positive whole number, but got "
           << order;
  setInt(node, upgrader, "p", static_cast<int64_t>(order));
  return success();
}

static LogicalResult roiAlign16(Node &node, Upgrader &upgrader) {
  setString(node, upgrader, "coordinate_transformation_mode",
            "output_half_pixel");
  return success();
}

ArrayRef<UpgradeRule> import::getNNUpgrades() {
  static constexpr UpgradeRule rules[] = {
      {"BatchNormalization", 6, dropConsumedInputs},
      {"BatchNormalization", 7, batchNormalization7},
      {"BatchNormalization", 9, batchNormalization9},
      {"BatchNormalization", 14, batchNormalization14},
      {"Dropout", 6, dropConsumedInputs},
      {"Dropout", 7, dropout7},
      {"Dropout", 10, dropout10},
      {"Dropout", 12, dropout12},
      {"GlobalLpPool", 2, lpPool2},
      {"GroupNormalization", 21, groupNormalization21},
      {"Hardmax", 11, softmax11},
      {"Hardmax", 13, softmax13},
      {"InstanceNormalization", 6, dropConsumedInputs},
      {"LogSoftmax", 11, softmax11},
      {"LogSoftmax", 13, softmax13},
      {"LpPool", 2, lpPool2},
      {"MeanVarianceNormalization", 9, meanVarianceNormalization9},
      {"RoiAlign", 16, roiAlign16},
      {"Softmax", 11, softmax11},
      {"Softmax", 13, softmax13},
  };
  return rules;
}
