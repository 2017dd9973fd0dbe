// Takes apart GroupQueryAttention of the com.microsoft domain.
//
// Each batch has its own number of tokens: `seqlens_k` is one less than it. New
// keys and values follow those of its past, so the cache that leaves is what
// entered and what is new, gathered from both, and zeros behind that. Heads
// that share keys are the rows of one product, or of one kernel. Quantized
// caches, sinks and other softmaxes stay as they are.

#include "DecomposeHeads.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

namespace {
/// What a node's operands and attributes say.
struct Grouped {
  Value query, key, value, pastKey, pastValue, lengths, total, bias;
  int64_t heads = 0, groups = 0, width = 0;
};

/// Numbers of tokens, all of i64.
struct Tokens {
  /// New ones, and those of the cache that leaves: scalars.
  Value fresh, all;
  /// Those of each batch before the new ones, [B, 1], and the places of the new
  /// ones, [B, S].
  Value past, places;
};
} // namespace

/// Inputs that only other forms have: caches of integers, sinks.
static bool hasOthers(const Node &node) {
  for (size_t index = 11; index < node.operands.size(); ++index)
    if (node.operand(index))
      return true;
  return false;
}

static std::optional<Grouped> readNode(const Node &node, Upgrader &upgrader) {
  Grouped grouped;
  grouped.query = node.operand(0);
  grouped.key = node.operand(1);
  grouped.value = node.operand(2);
  grouped.pastKey = node.operand(3);
  grouped.pastValue = node.operand(4);
  grouped.lengths = node.operand(5);
  grouped.total = node.operand(6);
  grouped.bias = node.operand(10);
  grouped.heads = intOr(node, "num_heads", 0);
  grouped.groups = intOr(node, "kv_num_heads", 0);
  std::optional<int64_t> width = sizeAt(upgrader, grouped.query, 2);
  bool isPacked = !grouped.key && !grouped.value;
  if (!width || rankOf(upgrader, grouped.query) != 3 || grouped.heads < 1 ||
      grouped.groups < 1 || grouped.heads % grouped.groups != 0 ||
      !grouped.lengths || !grouped.total || hasOthers(node) ||
      !grouped.pastKey != !grouped.pastValue ||
      (!isPacked && (!grouped.key || !grouped.value)))
    return std::nullopt;
  int64_t parts = isPacked ? grouped.heads + 2 * grouped.groups : grouped.heads;
  grouped.width = *width / parts;
  bool isPlain = intOr(node, "smooth_softmax", 0) == 0 &&
                 intOr(node, "qk_output", 0) == 0 &&
                 textOr(node, "k_quant_type", "NONE") == "NONE" &&
                 textOr(node, "v_quant_type", "NONE") == "NONE";
  bool turns = intOr(node, "do_rotary", 0) != 0;
  if (*width % parts != 0 || !isPlain || isNamed(node, 3) ||
      (turns && (!node.operand(7) || !node.operand(8))))
    return std::nullopt;
  return grouped;
}

/// Splits queries, keys and values that are one tensor.
static void unpack(Parts &parts, Grouped &grouped) {
  if (grouped.key)
    return;
  int64_t shared = grouped.groups * grouped.width;
  SmallVector<Value> each =
      parts.split(grouped.query, 2,
                  {grouped.heads * grouped.width, shared, shared}, "packed");
  grouped.query = each[0];
  grouped.key = each[1];
  grouped.value = each[2];
}

static Value rangeOf(Parts &parts, Upgrader &upgrader, Value end,
                     StringRef suffix) {
  Type i64 = upgrader.builder().getI64Type();
  return parts("Range",
               {parts.scalar(0, i64, (suffix + "_from").str()), end,
                parts.scalar(1, i64, (suffix + "_step").str())},
               suffix);
}

static Tokens countTokens(Parts &parts, Upgrader &upgrader,
                          const Grouped &grouped) {
  Type i64 = upgrader.builder().getI64Type();
  Tokens tokens;
  tokens.fresh = parts.sizeOf(grouped.query, 1, "fresh");
  Value lengths = parts.reshape(
      parts.cast(grouped.lengths, i64, "lengths_long"), {-1, 1}, "lengths");
  Value ends =
      parts.add(lengths, parts.scalar(1, i64, "one_more"), "lengths_all");
  Value before = parts("Sub", {ends, tokens.fresh}, "before");
  // A first prompt may be shorter than the longest of its batch.
  tokens.past =
      parts("Max", {before, parts.scalar(0, i64, "least_past")}, "past");
  tokens.places = parts.add(
      tokens.past, rangeOf(parts, upgrader, tokens.fresh, "steps"), "places");
  tokens.all = tokens.fresh;
  if (grouped.pastKey) {
    Value total = parts.cast(grouped.total, i64, "total_long");
    total = parts("Squeeze", {total}, "total");
    tokens.all = parts(
        "Max", {parts.sizeOf(grouped.pastKey, 2, "cached"), total}, "all");
  }
  return tokens;
}

/// The past of each batch with what is new behind it, [B, G, T, H].
static Value extend(Parts &parts, Upgrader &upgrader, const Tokens &tokens,
                    Value past, Value fresh, StringRef prefix) {
  if (!past)
    return fresh;
  auto name = [&](StringRef suffix) { return (prefix + suffix).str(); };
  Type i64 = upgrader.builder().getI64Type();
  // One row of zeros behind all: what follows a batch's last token is taken
  // from there.
  Value padded =
      parts("Pad", {fresh, parts.ints({0, 0, 0, 0, 0, 0, 1, 0}, name("sides"))},
            name("and_zeros"));
  Value both = parts("Concat", {past, padded}, name("both"),
                     parts.attribute("axis", int64_t(2)));
  Value cached = parts.sizeOf(past, 2, name("cached"));
  Value places = rangeOf(parts, upgrader, tokens.all, name("places"));
  Value isOld = parts("Less", {places, tokens.past}, name("is_old"));
  Value behind = parts.add(parts("Sub", {places, tokens.past}, name("new")),
                           cached, name("new_places"));
  Value from = parts("Where", {isOld, places, behind}, name("from"));
  Value last = parts("Sub",
                     {parts.sizeOf(both, 2, name("length")),
                      parts.scalar(1, i64, name("last_one"))},
                     name("last"));
  from = parts("Min", {from, last}, name("from_within"));
  Value rows = parts.transpose(both, {0, 2, 1, 3}, name("rows"));
  Value taken =
      parts("GatherND", {rows, parts.unsqueeze(from, {2}, name("indices"))},
            name("taken"), parts.attribute("batch_dims", int64_t(1)));
  return parts.transpose(taken, {0, 2, 1, 3}, name("all"));
}

/// True where a query sees a key, [B, 1, S, T].
static Value isSeen(Parts &parts, Upgrader &upgrader, const Tokens &tokens,
                    Value keys, int64_t window) {
  Type i64 = upgrader.builder().getI64Type();
  Value columns =
      rangeOf(parts, upgrader, parts.sizeOf(keys, 2, "columns"), "column");
  Value rows = parts.unsqueeze(tokens.places, {1, 3}, "row");
  Value seen = parts("LessOrEqual", {columns, rows}, "seen_keys");
  if (window <= 0)
    return seen;
  Value oldest = parts(
      "Sub", {rows, parts.scalar(static_cast<double>(window), i64, "window")},
      "oldest");
  return parts("And", {seen, parts("Greater", {columns, oldest}, "near_keys")},
               "near");
}

/// Keys or values for each query head, [B, N, T, H]: a form that becomes a
/// kernel which reads them where they are.
static Value repeat(Parts &parts, const Grouped &grouped, Value x,
                    StringRef prefix) {
  auto name = [&](StringRef suffix) { return (prefix + suffix).str(); };
  int64_t times = grouped.heads / grouped.groups;
  if (times == 1)
    return x;
  Value single = parts.unsqueeze(x, {2}, name("of_group"));
  Value shape = parts.ints({1, 1, times, 1, 1}, name("of_heads_shape"));
  Value all = parts("Expand", {single, shape}, name("of_heads"));
  return parts.reshape(all, {0, grouped.heads, -1, grouped.width},
                       name("repeated"));
}

/// softmax(scale * Q * K^T + bias) * V as [B, S, N * H].
static Value attend(Parts &parts, Upgrader &upgrader, const Node &node,
                    const Grouped &grouped, const Tokens &tokens, Value queries,
                    Value keys, Value values) {
  Type type = floatTypeOf(upgrader, grouped.query);
  double cap = floatOr(node, "softcap", 0);
  // Without a kernel for the whole, heads that share keys are rows of one
  // product.
  bool hasKernel = type.isF32() && cap <= 0;
  Value seen = isSeen(parts, upgrader, tokens, keys,
                      intOr(node, "local_window_size", -1));
  if (hasKernel) {
    keys = repeat(parts, grouped, keys, "keys_");
    values = repeat(parts, grouped, values, "values_");
  } else {
    queries = parts.reshape(queries, {0, grouped.groups, -1, grouped.width},
                            "grouped_queries");
  }
  Value turned = parts.transpose(keys, {0, 1, 3, 2}, "keys_turned");
  Value scores = parts("MatMul", {queries, turned}, "");
  if (!hasKernel)
    scores = parts.reshape(scores, {0, grouped.heads, -1, 0}, "scores_by_head");
  double scale = scaleOr(node, grouped.width);
  scores = parts.mul(scores, parts.scalar(scale, type, "scale"), "scores");
  if (cap > 0) {
    Value bound = parts.scalar(cap, type, "cap");
    Value tanh =
        parts("Tanh", {parts("Div", {scores, bound}, "by_cap")}, "bounded");
    scores = parts.mul(tanh, bound, "capped");
  }
  if (grouped.bias)
    scores = parts.add(scores, grouped.bias, "biased");
  double lowest = -static_cast<double>(std::numeric_limits<float>::max());
  if (type.isF16())
    lowest = -65504;
  scores = parts("Where", {seen, scores, parts.scalar(lowest, type, "lowest")},
                 "causal");
  Value weights = parts("Softmax", {scores}, "weights",
                        parts.attribute("axis", int64_t(-1)));
  if (!hasKernel)
    weights =
        parts.reshape(weights, {0, grouped.groups, -1, 0}, "grouped_weights");
  Value y = parts("MatMul", {weights, values}, "seen");
  if (!hasKernel)
    y = parts.reshape(y, {0, grouped.heads, -1, grouped.width}, "seen_by_head");
  Value together = parts.transpose(y, {0, 2, 1, 3}, "together");
  return parts.reshape(together, {0, 0, -1}, "joined");
}

LogicalResult import::groupQueryAttention(Node &node, Upgrader &upgrader) {
  std::optional<Grouped> read = readNode(node, upgrader);
  bool turns = intOr(node, "do_rotary", 0) != 0;
  std::optional<int64_t> pairs =
      turns ? sizeAt(upgrader, node.operand(7), 1) : std::nullopt;
  if (!read || (turns && (!pairs || *pairs < 1 || 2 * *pairs > read->width)))
    return success();

  Grouped grouped = *read;
  Parts parts(node, upgrader);
  unpack(parts, grouped);
  Tokens tokens = countTokens(parts, upgrader, grouped);
  Value queries = toHeads(parts, grouped.query, grouped.heads, "queries");
  Value keys = toHeads(parts, grouped.key, grouped.groups, "keys");
  Value values = toHeads(parts, grouped.value, grouped.groups, "values");
  if (turns) {
    Value places = node.operand(9) ? node.operand(9) : tokens.places;
    Rotation rotation;
    rotation.cos = anglesOf(parts, upgrader, node.operand(7), places,
                            /*isFlat=*/false, "cos");
    rotation.sin = anglesOf(parts, upgrader, node.operand(8), places,
                            /*isFlat=*/false, "sin");
    rotation.pairs = *pairs;
    rotation.width = grouped.width;
    rotation.isInterleaved = intOr(node, "rotary_interleaved", 0) != 0;
    queries = rotate(parts, rotation, queries, "query_");
    keys = rotate(parts, rotation, keys, "key_");
  }
  keys = extend(parts, upgrader, tokens, grouped.pastKey, keys, "keys_");
  values =
      extend(parts, upgrader, tokens, grouped.pastValue, values, "values_");
  SmallVector<Value> results(3);
  results[0] =
      attend(parts, upgrader, node, grouped, tokens, queries, keys, values);
  if (isNamed(node, 1))
    results[1] = keys;
  if (isNamed(node, 2))
    results[2] = values;
  return parts.finish(results);
}
