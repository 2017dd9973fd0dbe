// Statistics as JSON: exact, and the same text for the same statistics.

#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Support/Json.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;

static constexpr StringLiteral formatName = "onnxquant-calibration";
static constexpr int64_t formatVersion = 1;
/// No table has a list longer than this.
static constexpr size_t maxList = 1 << 26;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A list on one line: what is long is numbers.
template <typename List, typename Text>
static void writeList(json::OStream &os, StringRef key, const List &list,
                      Text text) {
  os.attributeBegin(key);
  os.rawValue([&](raw_ostream &raw) {
    raw << '[';
    for (size_t i = 0; i < list.size(); ++i)
      raw << (i ? "," : "") << text(list[i]);
    raw << ']';
  });
  os.attributeEnd();
}

static void writeNumber(json::OStream &os, StringRef key, double value) {
  os.attributeBegin(key);
  os.rawValue(shortestDecimal(value));
  os.attributeEnd();
}

static void writeTensor(json::OStream &os, const TensorStatistics &s) {
  auto decimal = [](float value) { return shortestDecimal(value); };
  auto integer = [](int64_t value) { return std::to_string(value); };
  auto hex = [](const auto &sum) { return '"' + sum.toHex() + '"'; };
  writeNumber(os, "min", s.min);
  writeNumber(os, "max", s.max);
  writeNumber(os, "mean", s.mean());
  os.attribute("count", s.count);
  os.attribute("samples", s.samples);
  os.attribute("executions", s.executions);
  os.attribute("nans", s.nans);
  os.attribute("infinities", s.infinities);
  os.attribute("sentinels", s.sentinels);
  os.attribute("min_sum", s.minSum.toHex());
  os.attribute("max_sum", s.maxSum.toHex());
  os.attribute("channel_axis", s.channelAxis);
  writeList(os, "channel_mins", s.channelMins, decimal);
  writeList(os, "channel_maxs", s.channelMaxs, decimal);
  writeList(os, "channel_counts", s.channelCounts, integer);
  writeList(os, "channel_sums", s.channelSums, hex);
  if (s.moving)
    os.attributeObject("moving_average", [&]() {
      writeNumber(os, "constant", s.moving->constant);
      writeNumber(os, "min", s.moving->min);
      writeNumber(os, "max", s.moving->max);
    });
  if (s.histogram.empty())
    return;
  os.attributeObject("histogram", [&]() {
    // Zeros at the ends are left out.
    ArrayRef<int64_t> counts = s.histogram.counts;
    size_t first = 0, last = counts.size();
    while (first < last && counts[first] == 0)
      ++first;
    while (last > first && counts[last - 1] == 0)
      --last;
    os.attribute("exponent", s.histogram.exponent);
    os.attribute("bins", s.histogram.bins());
    os.attribute("first", static_cast<int64_t>(first));
    writeList(os, "counts", counts.slice(first, last - first), integer);
  });
}

std::string onnxquant::toJson(const StatisticsTable &table) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream os(stream, /*IndentSize=*/1);
  os.object([&]() {
    os.attribute("format", formatName);
    os.attribute("version", formatVersion);
    os.attribute("method", table.method);
    os.attribute("samples", table.samples);
    os.attribute("skipped", table.skipped);
    if (table.next > 0)
      os.attribute("next", table.next);
    os.attributeObject("tensors", [&]() {
      for (const auto &entry : table.tensors)
        os.attributeObject(entry.first,
                           [&]() { writeTensor(os, entry.second); });
    });
  });
  stream << '\n';
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads the fields of one object; the first that is wrong is remembered.
class Reader {
public:
  explicit Reader(const json::Object &object) : object(object) {}

  void number(StringRef key, float &target) {
    std::optional<double> value = object.getNumber(key);
    if (!value)
      return miss(key);
    target = static_cast<float>(*value);
  }
  void number(StringRef key, double &target) {
    std::optional<double> value = object.getNumber(key);
    if (!value)
      return miss(key);
    target = *value;
  }
  void integer(StringRef key, int64_t &target, int64_t least = 0) {
    std::optional<int64_t> value = object.getInteger(key);
    if (!value || *value < least)
      return miss(key);
    target = *value;
  }
  void sum(StringRef key, ExactSum &target) {
    std::optional<StringRef> text = object.getString(key);
    if (!text || !target.fromHex(*text))
      miss(key);
  }
  /// `read` gets an element and where it goes, and tells whether it fits.
  template <typename T, typename Read>
  void list(StringRef key, std::vector<T> &target, Read read) {
    const json::Array *array = object.getArray(key);
    if (!array || array->size() > maxList)
      return miss(key);
    target.resize(array->size());
    for (size_t i = 0; i < array->size(); ++i)
      if (!read((*array)[i], target[i]))
        return miss(key);
  }
  void miss(StringRef key) {
    if (wrong.empty())
      wrong = key.str();
  }

  const json::Object &object;
  std::string wrong;
};

} // namespace

static bool readFloat(const json::Value &value, float &target) {
  std::optional<double> number = value.getAsNumber();
  if (number)
    target = static_cast<float>(*number);
  return number.has_value();
}

static bool readCount(const json::Value &value, int64_t &target) {
  std::optional<int64_t> number = value.getAsInteger();
  if (number && *number >= 0)
    target = *number;
  return number && *number >= 0;
}

static void readHistogram(Reader &reader, Histogram &histogram) {
  const json::Object *object = reader.object.getObject("histogram");
  if (!object)
    return;
  Reader inner(*object);
  int64_t bins = 0, first = 0;
  inner.integer("exponent", histogram.exponent, ObserverRecord::minExponent);
  inner.integer("bins", bins, 2);
  inner.integer("first", first);
  std::vector<int64_t> counts;
  inner.list("counts", counts, readCount);
  bool fits = inner.wrong.empty() && bins <= 65536 && isPowerOf2_64(bins) &&
              histogram.exponent <= 128 && first <= bins &&
              static_cast<int64_t>(counts.size()) <= bins - first;
  if (!fits)
    return reader.miss("histogram");
  histogram.counts.assign(bins, 0);
  std::copy(counts.begin(), counts.end(), histogram.counts.begin() + first);
}

/// The name of the first field that is missing or wrong; empty if none is.
/// Other fields, as older tables have them, are left alone.
static std::string readTensor(const json::Object &object, TensorStatistics &s) {
  Reader reader(object);
  reader.number("min", s.min);
  reader.number("max", s.max);
  reader.integer("count", s.count);
  reader.integer("samples", s.samples);
  reader.integer("executions", s.executions);
  reader.integer("nans", s.nans);
  reader.integer("infinities", s.infinities);
  reader.integer("sentinels", s.sentinels);
  reader.sum("min_sum", s.minSum);
  reader.sum("max_sum", s.maxSum);
  reader.integer("channel_axis", s.channelAxis, -1);
  reader.list("channel_mins", s.channelMins, readFloat);
  reader.list("channel_maxs", s.channelMaxs, readFloat);
  reader.list("channel_counts", s.channelCounts, readCount);
  reader.list("channel_sums", s.channelSums,
              [](const json::Value &value, ExactSum &sum) {
                std::optional<StringRef> text = value.getAsString();
                return text && sum.fromHex(*text);
              });
  if (s.channelMins.size() != s.channelSums.size() ||
      s.channelMaxs.size() != s.channelSums.size() ||
      s.channelCounts.size() != s.channelSums.size() || s.channelSums.empty())
    reader.miss("channel_sums");
  if (const json::Object *moving = object.getObject("moving_average")) {
    s.moving.emplace();
    Reader inner(*moving);
    inner.number("constant", s.moving->constant);
    inner.number("min", s.moving->min);
    inner.number("max", s.moving->max);
    if (!inner.wrong.empty())
      reader.miss("moving_average");
  }
  readHistogram(reader, s.histogram);
  if (s.min > s.max)
    reader.miss("min");
  return reader.wrong;
}

Expected<StatisticsTable> onnxquant::statisticsFromJson(StringRef text) {
  auto fail = [](const Twine &message) {
    return createStringError(inconvertibleErrorCode(), message);
  };
  Expected<json::Value> root = parseJson(text);
  if (!root)
    return root.takeError();
  const json::Object *object = root->getAsObject();
  if (!object || object->getString("format") != StringRef(formatName))
    return fail("is no table of statistics");
  if (object->getInteger("version") != formatVersion)
    return fail("expects version " + Twine(formatVersion) +
                " of the format, but got another");
  StatisticsTable table;
  Reader reader(*object);
  reader.integer("samples", table.samples);
  reader.integer("skipped", table.skipped);
  if (object->get("next"))
    reader.integer("next", table.next);
  if (std::optional<StringRef> method = object->getString("method"))
    table.method = method->str();
  else
    reader.miss("method");
  const json::Object *tensors = object->getObject("tensors");
  if (!tensors)
    reader.miss("tensors");
  if (!reader.wrong.empty())
    return fail("has no valid '" + reader.wrong + "'");
  for (const auto &[name, value] : *tensors) {
    const json::Object *entry = value.getAsObject();
    if (!entry)
      return fail("tensor '" + name.str() + "' is no object");
    std::string wrong =
        readTensor(*entry, table.tensors[std::string(name.str())]);
    if (!wrong.empty())
      return fail("tensor '" + name.str() + "' has no valid '" + wrong + "'");
  }
  return table;
}
