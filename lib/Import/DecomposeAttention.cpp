// Takes apart attention and rotary embeddings of the com.microsoft domain.
//
// Queries, keys and values are brought to heads, [B, N, S, H]; scores, masks
// and softmax are plain nodes. Forms with packed operands, shared buffers or
// caches stay as they are.

#include "DecomposeHeads.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

namespace {
/// Attention after its projections.
struct Heads {
  /// [B, N, S, H], keys and values with those of the past.
  Value queries, keys, values;
  Value mask, bias;
  double scale, filter;
  bool isCausal;
};
} // namespace

bool import::isNamed(const Node &node, size_t result) {
  return result < node.resultNames.size() && !node.resultNames[result].empty();
}

Value import::toHeads(Parts &parts, Value x, int64_t heads, StringRef suffix) {
  Value cut = parts.reshape(x, {0, 0, heads, -1}, (suffix + "_cut").str());
  return parts.transpose(cut, {0, 2, 1, 3}, suffix);
}

/// Where keys lie before each batch's end, and from its start on if the mask
/// has these behind the ends: [B, 1, 1, T].
static Value isWithin(Parts &parts, Upgrader &upgrader, const Heads &heads) {
  Type i32 = upgrader.builder().getI32Type();
  Type i64 = upgrader.builder().getI64Type();
  Value batch = parts.unsqueeze(parts.sizeOf(heads.queries, 0, "batch"), {0},
                                "batch_size");
  Value nothing =
      parts("Expand", {parts.scalar(0, i32, "nothing"), batch}, "no_starts");
  Value all = parts("Concat", {heads.mask, nothing}, "bounds",
                    parts.attribute("axis", int64_t(0)));
  Value first = parts.ints({0}, "first_batch"), axis = parts.ints({0}, "axis");
  Value twice = parts.add(batch, batch, "batches");
  Value ends = parts("Slice", {all, first, batch, axis}, "ends");
  Value starts = parts("Slice", {all, batch, twice, axis}, "starts");
  Value places = parts("Range",
                       {parts.scalar(0, i64, "first_key"),
                        parts.sizeOf(heads.keys, 2, "keys_count"),
                        parts.scalar(1, i64, "next_key")},
                       "places");
  places = parts.cast(places, i32, "key_places");
  Value before = parts(
      "Less", {places, parts.unsqueeze(ends, {1, 2, 3}, "end")}, "before_end");
  Value behind = parts("GreaterOrEqual",
                       {places, parts.unsqueeze(starts, {1, 2, 3}, "start")},
                       "behind_start");
  return parts("And", {before, behind}, "visible");
}

/// What is added to the scores for a mask of ones and zeros, or of ends.
static Value maskToBias(Parts &parts, Upgrader &upgrader, const Heads &heads,
                        Type type) {
  Type i32 = upgrader.builder().getI32Type();
  std::optional<int64_t> rank = rankOf(upgrader, heads.mask);
  bool isMatrix = rank == 2;
  if (rank == 1)
    return parts("Where",
                 {isWithin(parts, upgrader, heads),
                  parts.scalar(0, type, "shown"),
                  parts.scalar(heads.filter, type, "filter")},
                 "mask_bias");
  Value mask = isMatrix ? parts.unsqueeze(heads.mask, {1, 2}, "mask")
                        : parts.unsqueeze(heads.mask, {1}, "mask");
  Value visible =
      parts("Greater", {mask, parts.scalar(0, i32, "hidden")}, "visible");
  return parts("Where",
               {visible, parts.scalar(0, type, "shown"),
                parts.scalar(heads.filter, type, "filter")},
               "mask_bias");
}

/// True where a key comes after its query, [S, T].
static Value isLater(Parts &parts, Upgrader &upgrader, const Heads &heads) {
  Type i64 = upgrader.builder().getI64Type();
  Value rows = parts.sizeOf(heads.queries, 2, "rows");
  Value columns = parts.sizeOf(heads.keys, 2, "columns");
  Value past = parts("Sub", {columns, rows}, "past");
  Value one = parts.scalar(1, i64, "one"), zero = parts.scalar(0, i64, "zero");
  Value row = parts("Range", {past, columns, one}, "row");
  Value column = parts("Range", {zero, columns, one}, "column");
  return parts("Greater", {column, parts.unsqueeze(row, {1}, "row_column")},
               "later");
}

/// softmax(scale * Q * K^T + bias + mask) * V as [B, S, N * H].
static Value attend(Parts &parts, Upgrader &upgrader, const Heads &heads) {
  Type type = floatTypeOf(upgrader, heads.queries);
  Value turned = parts.transpose(heads.keys, {0, 1, 3, 2}, "keys_turned");
  Value scores = parts("MatMul", {heads.queries, turned}, "products");
  scores =
      parts.mul(scores, parts.scalar(heads.scale, type, "scale"), "scores");
  if (heads.mask)
    scores =
        parts.add(scores, maskToBias(parts, upgrader, heads, type), "masked");
  if (heads.bias)
    scores = parts.add(scores, heads.bias, "biased");
  if (heads.isCausal) {
    double lowest = -static_cast<double>(std::numeric_limits<float>::max());
    scores = parts("Where",
                   {isLater(parts, upgrader, heads),
                    parts.scalar(lowest, type, "lowest"), scores},
                   "causal");
  }
  Value weights = parts("Softmax", {scores}, "weights",
                        parts.attribute("axis", int64_t(-1)));
  Value seen = parts("MatMul", {weights, heads.values}, "seen");
  Value together = parts.transpose(seen, {0, 2, 1, 3}, "together");
  return parts.reshape(together, {0, 0, -1}, "joined");
}

/// Masks that `maskToBias` knows: [B], [2 * B], [B, T] and [B, S, T].
static bool isPlainMask(Upgrader &upgrader, Value mask) {
  std::optional<int64_t> rank = rankOf(upgrader, mask);
  return !mask || (rank && *rank >= 1 && *rank <= 3);
}

double import::scaleOr(const Node &node, int64_t headSize) {
  double scale = floatOr(node, "scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(headSize));
}

/// Keys or values of `past` [2, B, N, P, H] before fresh ones.
static Value withPast(Parts &parts, Upgrader &upgrader, Value past,
                      int64_t which, Value fresh, StringRef suffix) {
  if (!past)
    return fresh;
  Type i64 = upgrader.builder().getI64Type();
  Value index =
      parts.scalar(static_cast<double>(which), i64, ("which_" + suffix).str());
  Value before = parts("Gather", {past, index}, ("past_" + suffix).str(),
                       parts.attribute("axis", int64_t(0)));
  return parts("Concat", {before, fresh}, ("all_" + suffix).str(),
               parts.attribute("axis", int64_t(2)));
}

/// Self attention with its projection.
static LogicalResult attention(Node &node, Upgrader &upgrader) {
  Value x = node.operand(0), weights = node.operand(1), past = node.operand(4);
  int64_t count = intOr(node, "num_heads", 0);
  std::optional<int64_t> columns = sizeAt(upgrader, weights, 1);
  SmallVector<int64_t> widths = intsOf(node, "qkv_hidden_sizes");
  if (widths.empty() && columns)
    widths.assign(3, *columns / 3);
  bool fits = x && columns && count > 0 && rankOf(upgrader, x) == 3 &&
              widths.size() == 3 &&
              widths[0] + widths[1] + widths[2] == *columns &&
              llvm::all_of(widths, [&](int64_t width) {
                return width > 0 && width % count == 0;
              });
  if (!fits || !isPlainMask(upgrader, node.operand(3)) || node.operand(6) ||
      intOr(node, "do_rotary", 0) != 0 ||
      intOr(node, "past_present_share_buffer", 0) != 0)
    return success();

  Parts parts(node, upgrader);
  Value projected = parts("MatMul", {x, weights}, "");
  if (Value bias = node.operand(2))
    projected = parts.add(projected, bias, "projection_bias");
  SmallVector<Value> each = parts.split(projected, 2, widths, "projections");
  Heads heads = {};
  heads.queries = toHeads(parts, each[0], count, "queries");
  heads.keys = withPast(parts, upgrader, past, 0,
                        toHeads(parts, each[1], count, "keys"), "keys");
  heads.values = withPast(parts, upgrader, past, 1,
                          toHeads(parts, each[2], count, "values"), "values");
  heads.mask = node.operand(3);
  heads.bias = node.operand(5);
  heads.scale = scaleOr(node, widths[0] / count);
  heads.filter = floatOr(node, "mask_filter_value", -10000);
  heads.isCausal = intOr(node, "unidirectional", 0) != 0;
  SmallVector<Value> results(2);
  results[0] = attend(parts, upgrader, heads);
  if (isNamed(node, 1))
    results[1] = parts("Concat",
                       {parts.unsqueeze(heads.keys, {0}, "present_keys"),
                        parts.unsqueeze(heads.values, {0}, "present_values")},
                       "present", parts.attribute("axis", int64_t(0)));
  return parts.finish(results);
}

/// Attention of queries, keys and values that are projected already.
static LogicalResult multiHeadAttention(Node &node, Upgrader &upgrader) {
  Value query = node.operand(0), key = node.operand(1), value = node.operand(2);
  int64_t count = intOr(node, "num_heads", 0);
  std::optional<int64_t> width = sizeAt(upgrader, query, 2);
  std::optional<int64_t> keyRank = rankOf(upgrader, key);
  bool isSplit = keyRank == 4 && rankOf(upgrader, value) == 4;
  bool isFlat = keyRank == 3 && rankOf(upgrader, value) == 3;
  Value bias = node.operand(3);
  std::optional<int64_t> valueWidth =
      isFlat ? sizeAt(upgrader, value, 2) : std::nullopt;
  if (!width || count < 1 || *width % count != 0 ||
      rankOf(upgrader, query) != 3 || (!isSplit && !isFlat) ||
      (bias && isFlat && !valueWidth) ||
      !isPlainMask(upgrader, node.operand(4)) || node.operand(8) ||
      node.operand(9) || isNamed(node, 3) ||
      !node.operand(6) != !node.operand(7))
    return success();

  Parts parts(node, upgrader);
  if (bias && isFlat) {
    SmallVector<Value> each =
        parts.split(bias, 0, {*width, *width, *valueWidth}, "biases");
    query = parts.add(query, each[0], "query_bias");
    key = parts.add(key, each[1], "key_bias");
    value = parts.add(value, each[2], "value_bias");
  } else if (bias) {
    // Keys and values in heads have theirs already.
    std::optional<int64_t> size = sizeAt(upgrader, bias, 0);
    if (!size || *size < *width)
      return upgrader.error()
             << "expects a bias of at least " << *width << " elements";
    if (*size > *width)
      bias = parts.split(bias, 0, {*width, *size - *width}, "biases")[0];
    query = parts.add(query, bias, "query_bias");
  }
  Heads heads = {};
  heads.queries = toHeads(parts, query, count, "queries");
  heads.keys = isFlat ? toHeads(parts, key, count, "keys") : key;
  heads.values = isFlat ? toHeads(parts, value, count, "values") : value;
  if (node.operand(6)) {
    NamedAttribute sequence = parts.attribute("axis", int64_t(2));
    heads.keys =
        parts("Concat", {node.operand(6), heads.keys}, "all_keys", sequence);
    heads.values = parts("Concat", {node.operand(7), heads.values},
                         "all_values", sequence);
  }
  heads.mask = node.operand(4);
  heads.bias = node.operand(5);
  heads.scale = scaleOr(node, *width / count);
  heads.filter = floatOr(node, "mask_filter_value", -10000);
  heads.isCausal = intOr(node, "unidirectional", 0) != 0;
  SmallVector<Value> results(3);
  results[0] = attend(parts, upgrader, heads);
  if (isNamed(node, 1))
    results[1] = heads.keys;
  if (isNamed(node, 2))
    results[2] = heads.values;
  return parts.finish(results);
}

/// The rows of a cache at the node's positions, shaped so that they broadcast
/// with [B, N, S, pairs], or with [B, S, N, pairs] if `isFlat`.
Value import::anglesOf(Parts &parts, Upgrader &upgrader, Value cache,
                       Value positions, bool isFlat, StringRef suffix) {
  bool isMatrix = rankOf(upgrader, positions) == 2;
  Value rows = parts("Gather", {cache, positions}, (suffix + "_rows").str(),
                     parts.attribute("axis", int64_t(0)));
  // [B, S, pairs] or [S, pairs].
  if (isMatrix)
    return parts.unsqueeze(rows, {isFlat ? 2 : 1}, suffix);
  return isFlat ? parts.unsqueeze(rows, {1}, suffix) : rows;
}

/// The positions of all tokens: as they are given, or counted from the first.
static Value positionsOf(Parts &parts, Upgrader &upgrader, Value given, Value x,
                         int64_t sequenceAxis) {
  if (rankOf(upgrader, given) == 2)
    return given;
  Type i64 = upgrader.builder().getI64Type();
  Value length = parts.sizeOf(x, sequenceAxis, "length");
  Value count = parts(
      "Range",
      {parts.scalar(0, i64, "first"), length, parts.scalar(1, i64, "step")},
      "count");
  return parts.add(count, given, "positions");
}

/// Pairs (a, b) of features turned by their angles.
Value import::rotate(Parts &parts, const Rotation &rotation, Value heads,
                     StringRef prefix) {
  auto name = [&](StringRef suffix) { return (prefix + suffix).str(); };
  int64_t pairs = rotation.pairs, width = rotation.width;
  Value rest, turned = heads;
  if (width > 2 * pairs) {
    SmallVector<Value> ends =
        parts.split(heads, 3, {2 * pairs, width - 2 * pairs}, name("features"));
    turned = ends[0];
    rest = ends[1];
  }
  SmallVector<Value> halves;
  if (rotation.isInterleaved) {
    Value cut = parts.reshape(turned, {0, 0, 0, pairs, 2}, name("pairs"));
    halves = parts.split(cut, 4, {1, 1}, name("halves"));
    Value last = parts.ints({4}, name("pair_axis"));
    for (auto [index, half] : llvm::enumerate(halves))
      half = parts("Squeeze", {half, last}, name(index == 0 ? "even" : "odd"));
  } else {
    halves = parts.split(turned, 3, {pairs, pairs}, name("halves"));
  }
  Value first = parts("Sub",
                      {parts.mul(halves[0], rotation.cos, name("a_cos")),
                       parts.mul(halves[1], rotation.sin, name("b_sin"))},
                      name("first"));
  Value second = parts.add(parts.mul(halves[0], rotation.sin, name("a_sin")),
                           parts.mul(halves[1], rotation.cos, name("b_cos")),
                           name("second"));
  Value y;
  if (rotation.isInterleaved) {
    Value joined =
        parts("Concat",
              {parts.unsqueeze(first, {4}, name("first_of_pair")),
               parts.unsqueeze(second, {4}, name("second_of_pair"))},
              name("turned_pairs"), parts.attribute("axis", int64_t(4)));
    y = parts.reshape(joined, {0, 0, 0, 2 * pairs}, name("turned"));
  } else {
    y = parts("Concat", {first, second}, name("turned"),
              parts.attribute("axis", int64_t(3)));
  }
  if (rest)
    y = parts("Concat", {y, rest}, name("with_rest"),
              parts.attribute("axis", int64_t(3)));
  return y;
}

static LogicalResult rotaryEmbedding(Node &node, Upgrader &upgrader) {
  Value x = node.operand(0), positions = node.operand(1);
  std::optional<int64_t> rank = rankOf(upgrader, x);
  std::optional<int64_t> pairs = sizeAt(upgrader, node.operand(2), 1);
  int64_t rotated = intOr(node, "rotary_embedding_dim", 0);
  int64_t count = intOr(node, "num_heads", 0);
  bool isFlat = rank == 3;
  std::optional<int64_t> width =
      rank == 4 ? sizeAt(upgrader, x, 3) : std::nullopt;
  if (isFlat && count > 0 && sizeAt(upgrader, x, 2))
    width = *sizeAt(upgrader, x, 2) / count;
  else if (isFlat && pairs && rotated == 0)
    width = 2 * *pairs;
  std::optional<int64_t> positionRank = rankOf(upgrader, positions);
  if (!rank || (*rank != 3 && *rank != 4) || !pairs || *pairs < 1 || !width ||
      *width < 2 * *pairs || (positionRank != 1 && positionRank != 2) ||
      floatOr(node, "scale", 1) != 1 ||
      intOr(node, "is_packed_batching", 0) != 0)
    return success();

  Parts parts(node, upgrader);
  Value all = positionsOf(parts, upgrader, positions, x, isFlat ? 1 : 2);
  Rotation rotation;
  rotation.cos = anglesOf(parts, upgrader, node.operand(2), all, isFlat, "cos");
  rotation.sin = anglesOf(parts, upgrader, node.operand(3), all, isFlat, "sin");
  rotation.pairs = *pairs;
  rotation.width = *width;
  rotation.isInterleaved = intOr(node, "interleaved", 0) != 0;
  Value heads = isFlat ? parts.reshape(x, {0, 0, -1, *width}, "heads") : x;
  Value y = rotate(parts, rotation, heads, "");
  if (isFlat)
    y = parts.reshape(y, {0, 0, -1}, "joined");
  return parts.finish(y);
}

ArrayRef<DecomposeRule> import::getAttentionDecompositions() {
  static const DecomposeRule rules[] = {
      {"com.microsoft", "Attention", attention},
      {"com.microsoft", "GroupQueryAttention", groupQueryAttention},
      {"com.microsoft", "MultiHeadAttention", multiHeadAttention},
      {"com.microsoft", "RotaryEmbedding", rotaryEmbedding},
  };
  return rules;
}
