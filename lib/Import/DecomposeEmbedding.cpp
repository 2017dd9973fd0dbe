// Takes apart operators of com.microsoft that take rows of tables:
// EmbedLayerNormalization, its quantized form, and GatherBlockQuantized.
//
// Rows are taken as integers and dequantized then, so that no run turns a whole
// table into floats.

#include "DecomposeHeads.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

namespace {
/// Rows of a table, or a vector; quantized if there is a scale.
struct Table {
  Value numbers, scale, zero;
};

/// What an embedding with normalization reads.
struct Embedding {
  Value ids, segmentIds, positionIds, mask;
  Table word, position, segment, gamma, beta;
};
} // namespace

/// Numbers of a table as floats.
static Value dequantized(Parts &parts, const Table &table, Value numbers,
                         StringRef suffix) {
  if (!table.scale || !numbers)
    return numbers;
  return parts("DequantizeLinear", {numbers, table.scale, table.zero},
               (suffix + "_real").str());
}

static Value rowsOf(Parts &parts, const Table &table, Value ids,
                    StringRef suffix) {
  Value rows = parts("Gather", {table.numbers, ids}, suffix,
                     parts.attribute("axis", int64_t(0)));
  return dequantized(parts, table, rows, suffix);
}

/// Rows of up to three tables, added and normalized.
static LogicalResult embed(Node &node, Upgrader &upgrader,
                           const Embedding &from) {
  if (!from.ids || !from.word.numbers || !from.position.numbers ||
      !from.gamma.numbers)
    return success();
  Parts parts(node, upgrader);
  Value word = rowsOf(parts, from.word, from.ids, "word");
  Value position;
  if (from.positionIds) {
    position = rowsOf(parts, from.position, from.positionIds, "position");
  } else {
    Value length =
        parts.unsqueeze(parts.sizeOf(from.ids, 1, "length"), {0}, "end");
    position = parts("Slice",
                     {from.position.numbers, parts.ints({0}, "begin"), length,
                      parts.ints({0}, "row_axis")},
                     "position");
    position = dequantized(parts, from.position, position, "position");
  }
  Value sum = parts.add(word, position, "sum");
  if (from.segmentIds && from.segment.numbers)
    sum =
        parts.add(sum, rowsOf(parts, from.segment, from.segmentIds, "segment"),
                  "embedding");
  SmallVector<Value> results(3);
  results[0] =
      parts("LayerNormalization",
            {sum, dequantized(parts, from.gamma, from.gamma.numbers, "gamma"),
             dequantized(parts, from.beta, from.beta.numbers, "beta")},
            "",
            {parts.attribute("axis", int64_t(-1)),
             parts.attribute("epsilon", floatOr(node, "epsilon", 1e-12))});
  Type i32 = upgrader.builder().getI32Type();
  if (isNamed(node, 1)) {
    Value ones =
        from.mask
            ? parts("Equal", {from.mask, parts.scalar(1, i32, "one")}, "is_one")
            : Value();
    Value counted =
        from.mask
            ? parts.cast(ones, i32, "ones")
            : parts.mul(from.ids, parts.scalar(0, i32, "nothing"), "zeros");
    results[1] = parts("ReduceSum", {counted, parts.ints({1}, "mask_axis")},
                       "mask_index", parts.attribute("keepdims", int64_t(0)));
  }
  if (isNamed(node, 2))
    results[2] = sum;
  return parts.finish(results);
}

static LogicalResult embedLayerNorm(Node &node, Upgrader &upgrader) {
  Embedding from;
  from.ids = node.operand(0);
  from.segmentIds = node.operand(1);
  from.word.numbers = node.operand(2);
  from.position.numbers = node.operand(3);
  from.segment.numbers = node.operand(4);
  from.gamma.numbers = node.operand(5);
  from.beta.numbers = node.operand(6);
  from.mask = node.operand(7);
  from.positionIds = node.operand(8);
  return embed(node, upgrader, from);
}

/// The same with 8-bit tables: scales follow the mask, then zero points.
static LogicalResult qEmbedLayerNorm(Node &node, Upgrader &upgrader) {
  constexpr unsigned firstTable = 2, firstScale = 8, firstZero = 13;
  Embedding from;
  from.ids = node.operand(0);
  from.segmentIds = node.operand(1);
  from.mask = node.operand(7);
  Table *tables[] = {&from.word, &from.position, &from.segment, &from.gamma,
                     &from.beta};
  for (auto [i, table] : llvm::enumerate(tables)) {
    *table = {node.operand(firstTable + i), node.operand(firstScale + i),
              node.operand(firstZero + i)};
    if (table->numbers && (!table->scale || !table->zero))
      return success();
  }
  return embed(node, upgrader, from);
}

SmallVector<Type> import::typesOfEmbedding(StringRef domain, const Node &node,
                                           Upgrader &upgrader) {
  if (domain != "com.microsoft" || node.opType != "EmbedLayerNormalization" ||
      node.operands.size() < 3 || !node.operands[0] || !node.operands[2])
    return {};
  auto table = dyn_cast<RankedTensorType>(node.operands[2].getType());
  std::optional<int64_t> rank = rankOf(upgrader, node.operands[0]);
  if (!table || table.getRank() != 2 || rank != 2)
    return {};
  auto sizeOf = [&](int64_t axis) {
    return sizeAt(upgrader, node.operands[0], axis)
        .value_or(ShapedType::kDynamic);
  };
  Type sum = RankedTensorType::get({sizeOf(0), sizeOf(1), table.getDimSize(1)},
                                   table.getElementType());
  Type index =
      RankedTensorType::get({sizeOf(0)}, upgrader.builder().getI32Type());
  return {sum, index, sum};
}

//===----------------------------------------------------------------------===//
// GatherBlockQuantized
//===----------------------------------------------------------------------===//

/// Integers of 4 bits as bytes, which Gather takes; null if they can't be read.
static Value asBytes(Parts &parts, Upgrader &upgrader, const Node &node,
                     Value value, StringRef suffix) {
  auto element = cast<TensorType>(value.getType()).getElementType();
  auto width = dyn_cast<IntegerType>(element);
  if (!width || width.getWidth() != 4)
    return value;
  Type byte = IntegerType::get(element.getContext(), 8, width.getSignedness());
  ElementsAttr elements = onnx::getConstant(value);
  if (!elements)
    return parts.cast(value, byte, suffix);
  auto numbers = onnx::readInts(elements, std::numeric_limits<int64_t>::max());
  if (!numbers)
    return {};
  std::vector<char> bytes(numbers->begin(), numbers->end());
  auto type = RankedTensorType::get(elements.getShapedType().getShape(), byte);
  value.getDefiningOp()->setAttr(supersededAttr,
                                 upgrader.builder().getUnitAttr());
  // Small constants are no resources, as everywhere.
  if (bytes.size() < 1024)
    return upgrader.constant(DenseElementsAttr::getFromRawBuffer(type, bytes),
                             suffix);
  return upgrader.constant(
      DenseResourceElementsAttr::get(
          type, node.name + "_" + suffix.str(),
          HeapAsmResourceBlob::allocateAndCopyWithAlign(ArrayRef(bytes), 64)),
      suffix);
}

/// Gathered codes, dequantized by the gathered scales of their blocks. Codes
/// that are packed in bytes stay as they are.
static LogicalResult gatherBlocks(Node &node, Upgrader &upgrader) {
  Value data = node.operand(0), indices = node.operand(1),
        scales = node.operand(2), zeros = node.operand(3);
  std::optional<int64_t> rank = rankOf(upgrader, data),
                         more = rankOf(upgrader, indices);
  if (!data || !indices || !scales || !rank || !more)
    return success();
  int64_t axis = intOr(node, "gather_axis", 0),
          along = intOr(node, "quantize_axis", 1);
  axis += axis < 0 ? *rank : 0;
  along += along < 0 ? *rank : 0;
  auto element =
      dyn_cast<IntegerType>(cast<TensorType>(data.getType()).getElementType());
  if (!element || element.getWidth() != 4 || axis < 0 || axis >= *rank ||
      along < 0 || along >= *rank || axis == along)
    return success();
  Parts parts(node, upgrader);
  Value codes = asBytes(parts, upgrader, node, data, "codes");
  Value zeroCodes =
      zeros ? asBytes(parts, upgrader, node, zeros, "zero_codes") : Value();
  if (!codes || (zeros && !zeroCodes))
    return success();
  NamedAttribute rows = parts.attribute("axis", axis);
  Value taken = parts("Gather", {codes, indices}, "rows", rows);
  Value scale = parts("Gather", {scales, indices}, "row_scales", rows);
  Value zero = zeros ? parts("Gather", {zeroCodes, indices}, "row_zeros", rows)
                     : Value();
  Value y =
      parts("DequantizeLinear", {taken, scale, zero}, "",
            {parts.attribute("axis", along > axis ? along + *more - 1 : along),
             parts.attribute("block_size", intOr(node, "block_size", 128))});
  return parts.finish(y);
}

ArrayRef<DecomposeRule> import::getEmbeddingDecompositions() {
  static const DecomposeRule rules[] = {
      {"com.microsoft", "EmbedLayerNormalization", embedLayerNorm},
      {"com.microsoft", "QEmbedLayerNormalization", qEmbedLayerNorm},
      {"com.microsoft", "GatherBlockQuantized", gatherBlocks},
  };
  return rules;
}
