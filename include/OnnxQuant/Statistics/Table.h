// Calibration tables in files.
//
// | extension | holds |
// |---|---|
// | .json | statistics; or ranges as {name: [min, max]} |
// | .cache | a line `name value` each, value = max(|min|, |max|) |
// | .flatbuffers | the same pairs in ONNX Runtime's schema |

#ifndef ONNXQUANT_STATISTICS_TABLE_H
#define ONNXQUANT_STATISTICS_TABLE_H

#include "OnnxQuant/Statistics/Methods.h"
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace onnxquant {

using RangeTable = std::map<std::string, Range>;
/// What a file holds.
using CalibrationTable = std::variant<StatisticsTable, RangeTable>;

enum class TableFormat { Statistics, Ranges, Cache, FlatBuffers };

/// The format of a path by its extension; `.json` is statistics.
llvm::Expected<TableFormat> tableFormat(llvm::StringRef path);

/// The files that are written for a path: itself, or where it has no extension,
/// one of each format: `path.json`, `path.flatbuffers`, `path.cache`. `ranges`
/// makes `.json` hold ranges. The error lists the extensions.
llvm::Expected<std::vector<std::pair<std::string, TableFormat>>>
tableFiles(llvm::StringRef path, bool ranges);

/// Reads a table of any format. Errors name the file.
llvm::Expected<CalibrationTable> readTable(llvm::StringRef path);
/// Reads a table of statistics.
llvm::Expected<StatisticsTable> readStatistics(llvm::StringRef path);

/// Statistics as text, the same for the same statistics.
std::string toJson(const StatisticsTable &table);
llvm::Expected<StatisticsTable> statisticsFromJson(llvm::StringRef text);

/// Writes a file that appears whole or not at all. Ranges are computed for
/// formats that hold no statistics; tensors without values are left out.
llvm::Error writeTable(const StatisticsTable &table, llvm::StringRef path,
                       TableFormat format, const MethodOptions &options);
/// The same for several files, which are one output.
llvm::Error
writeTables(const StatisticsTable &table,
            llvm::ArrayRef<std::pair<std::string, TableFormat>> files,
            const MethodOptions &options);
llvm::Error writeRanges(const RangeTable &ranges, llvm::StringRef path,
                        TableFormat format);

/// The ranges of all tensors that have values; errors name the tensor.
llvm::Expected<RangeTable> computeRanges(const StatisticsTable &table,
                                         const MethodOptions &options);

/// The shortest decimal that reads back as the same double.
std::string shortestDecimal(double value);

} // namespace onnxquant

#endif // ONNXQUANT_STATISTICS_TABLE_H
