// Tables in files, by their extension.

#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "TableFlatBuffers.h"
#include "TableForeign.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

std::string onnxquant::shortestDecimal(double value) {
  char text[40];
  // No fewer digits than the shortest that reads as the number.
  char *end = std::to_chars(text, text + sizeof(text), value,
                            std::chars_format::scientific)
                  .ptr;
  int shortest = llvm::count_if(
      llvm::StringRef(text, end - text).split('e').first, llvm::isDigit);
  for (int digits = std::max(shortest, 1); digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

Expected<TableFormat> onnxquant::tableFormat(StringRef path) {
  StringRef extension = sys::path::extension(path);
  if (extension == ".json")
    return TableFormat::Statistics;
  if (extension == ".cache")
    return TableFormat::Cache;
  if (extension == ".flatbuffers")
    return TableFormat::FlatBuffers;
  return fail(path +
              ": expects a table's extension (.json, .cache, "
              ".flatbuffers), but got '" +
              extension + "'");
}

Expected<std::vector<std::pair<std::string, TableFormat>>>
onnxquant::tableFiles(StringRef path, bool ranges) {
  std::vector<std::pair<std::string, TableFormat>> files;
  bool isBare =
      !sys::path::filename(path).empty() && !sys::path::has_extension(path);
  auto add = [&](const Twine &name) -> Error {
    Expected<TableFormat> format = tableFormat(name.str());
    if (!format)
      return format.takeError();
    if (ranges && !isBare && *format != TableFormat::Statistics)
      return createStringError("option '--ranges' is for tables in .json, but "
                               "got '" +
                               name + "'");
    files.emplace_back(name.str(), ranges && *format == TableFormat::Statistics
                                       ? TableFormat::Ranges
                                       : *format);
    return Error::success();
  };
  if (!isBare) {
    if (Error error = add(path))
      return error;
    return files;
  }
  for (StringRef extension : {".json", ".flatbuffers", ".cache"})
    if (Error error = add(path + extension))
      return error;
  return files;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool isRange(const Range &range) {
  return std::isfinite(range.min) && std::isfinite(range.max) &&
         range.min <= range.max;
}

/// {name: [min, max]}
static Expected<RangeTable> rangesFromJson(const json::Object &object) {
  RangeTable ranges;
  for (const auto &[name, value] : object) {
    const json::Array *pair = value.getAsArray();
    auto number = [&](size_t index) {
      std::optional<double> entry = pair && pair->size() == 2
                                        ? (*pair)[index].getAsNumber()
                                        : std::nullopt;
      return entry.value_or(std::nan(""));
    };
    Range range = {number(0), number(1)};
    if (!isRange(range))
      return fail("tensor '" + name.str() +
                  "' expects [min, max] of finite numbers in order");
    ranges[std::string(name.str())] = range;
  }
  return ranges;
}

/// A threshold as a symmetric range.
static Expected<Range> rangeOfThreshold(StringRef name, StringRef text) {
  double value;
  if (text.trim().getAsDouble(value) || !std::isfinite(value) || value < 0)
    return fail("tensor '" + name + "' expects a threshold, but got '" + text +
                "'");
  return Range{-value, value};
}

static Expected<RangeTable> rangesFromCache(StringRef text) {
  if (isTensorRTCache(text))
    return rangesFromTensorRT(text);
  RangeTable ranges;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    // A name may hold spaces, a value can't.
    auto [name, value] = line.rtrim().rsplit(' ');
    if (value.empty() || name.empty())
      return fail("expects 'name value', but got '" + line + "'");
    Expected<Range> range = rangeOfThreshold(name, value);
    if (!range)
      return range.takeError();
    ranges[name.str()] = *range;
  }
  return ranges;
}

static Expected<RangeTable> rangesFromFlatBuffers(StringRef bytes) {
  auto pairs = readTrtTable(bytes);
  if (!pairs)
    return pairs.takeError();
  RangeTable ranges;
  for (const auto &[name, value] : *pairs) {
    Expected<Range> range = rangeOfThreshold(name, value);
    if (!range)
      return range.takeError();
    ranges[name] = *range;
  }
  return ranges;
}

static Expected<CalibrationTable> parseTable(StringRef text,
                                             TableFormat format) {
  auto wrap = [](Expected<RangeTable> ranges) -> Expected<CalibrationTable> {
    if (!ranges)
      return ranges.takeError();
    return CalibrationTable(std::move(*ranges));
  };
  if (format == TableFormat::Cache)
    return wrap(rangesFromCache(text));
  if (format == TableFormat::FlatBuffers)
    return wrap(rangesFromFlatBuffers(text));
  Expected<json::Value> root = parseJson(text);
  if (!root)
    return root.takeError();
  const json::Object *object = root->getAsObject();
  if (!object)
    return fail("is no calibration table");
  if (const json::Object *tensors = tensorsOfOnnxRuntime(*object))
    return wrap(rangesFromOnnxRuntime(*tensors));
  if (!object->getString("format"))
    return wrap(rangesFromJson(*object));
  Expected<StatisticsTable> table = statisticsFromJson(text);
  if (!table)
    return table.takeError();
  return CalibrationTable(std::move(*table));
}

Expected<CalibrationTable> onnxquant::readTable(StringRef path) {
  Expected<TableFormat> format = tableFormat(path);
  if (!format)
    return format.takeError();
  auto file = openInput(path, FileLimits::table);
  if (!file)
    return fail(path + ": " + toString(file.takeError()));
  Expected<CalibrationTable> table = parseTable((*file)->getBuffer(), *format);
  if (!table)
    return fail(path + ": " + toString(table.takeError()));
  return table;
}

Expected<StatisticsTable> onnxquant::readStatistics(StringRef path) {
  Expected<CalibrationTable> table = readTable(path);
  if (!table)
    return table.takeError();
  if (auto *statistics = std::get_if<StatisticsTable>(&*table))
    return std::move(*statistics);
  return fail(path + ": holds ranges, not statistics");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string thresholdOf(const Range &range) {
  return shortestDecimal(std::max(std::fabs(range.min), std::fabs(range.max)));
}

static std::string toText(const RangeTable &ranges, TableFormat format) {
  std::string text;
  raw_string_ostream os(text);
  if (format == TableFormat::Cache) {
    for (const auto &[name, range] : ranges)
      os << name << ' ' << thresholdOf(range) << '\n';
    return text;
  }
  if (format == TableFormat::FlatBuffers) {
    std::map<std::string, std::string> pairs;
    for (const auto &[name, range] : ranges)
      pairs[name] = thresholdOf(range);
    return writeTrtTable(pairs);
  }
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&]() {
    for (const auto &[name, range] : ranges) {
      json.attributeBegin(name);
      json.rawValue("[" + shortestDecimal(range.min) + ", " +
                    shortestDecimal(range.max) + "]");
      json.attributeEnd();
    }
  });
  os << '\n';
  return text;
}

Error onnxquant::writeRanges(const RangeTable &ranges, StringRef path,
                             TableFormat format) {
  return writeTogether({{path.str(), toText(ranges, format)}});
}

Expected<RangeTable> onnxquant::computeRanges(const StatisticsTable &table,
                                              const MethodOptions &options) {
  // Entropy takes milliseconds a tensor: they are shared between processors.
  struct Job {
    StringRef name;
    const TensorStatistics *statistics;
    Range range = {};
    std::string problem = {};
  };
  std::vector<Job> jobs;
  for (const auto &[name, statistics] : table.tensors)
    if (statistics.count > 0)
      jobs.push_back({name, &statistics});
  auto compute = [&](Job &job) {
    Expected<Range> range = computeRange(*job.statistics, options);
    if (range)
      job.range = *range;
    else
      job.problem = toString(range.takeError());
  };
  if (needsHistogram(options.method)) {
    // Threads of its own: those that a process shares are missing in what is
    // forked off from it.
    DefaultThreadPool pool;
    for (Job &job : jobs)
      pool.async([&compute, &job] { compute(job); });
    pool.wait();
  } else {
    for_each(jobs, compute);
  }
  RangeTable ranges;
  for (const Job &job : jobs) {
    if (!job.problem.empty())
      return fail("tensor '" + job.name + "' " + job.problem);
    ranges[job.name.str()] = job.range;
  }
  return ranges;
}

Error onnxquant::writeTables(
    const StatisticsTable &table,
    ArrayRef<std::pair<std::string, TableFormat>> files,
    const MethodOptions &options) {
  std::optional<RangeTable> ranges;
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto &[path, format] : files) {
    if (format == TableFormat::Statistics) {
      texts.emplace_back(path, toJson(table));
      continue;
    }
    if (!ranges) {
      Expected<RangeTable> computed = computeRanges(table, options);
      if (!computed)
        return computed.takeError();
      ranges = std::move(*computed);
    }
    texts.emplace_back(path, toText(*ranges, format));
  }
  return writeTogether(texts);
}

Error onnxquant::writeTable(const StatisticsTable &table, StringRef path,
                            TableFormat format, const MethodOptions &options) {
  return writeTables(table, {{path.str(), format}}, options);
}
