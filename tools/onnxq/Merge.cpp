// onnxq merge: tables of shards into one, as if calibrated at once.

#include "Arguments.h"
#include "OnnxQuant/Calibration/Table.h"

using namespace onnxquant;
using namespace onnxquant::cli;

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::vector<std::string> inputs;
  std::string output, method;
  bool ranges = false, quiet = false;
  MethodOptions options;
  if (std::optional<int> code =
          Arguments(mergeVerb)
              .rest("TABLE", inputs)
              .option("o", output)
              .option("method", method)
              .option("quantized-bins", options.quantizedBins)
              .option("percentile", options.percentile)
              .flag("symmetric", options.symmetric)
              .flag("ranges", ranges)
              .flag("quiet", quiet)
              .parse(arguments))
    return *code;
  if (output.empty()) {
    llvm::errs() << "error: onnxq merge expects -o TABLE\n";
    return BadUsage;
  }
  auto format = tableFormat(output);
  if (!format)
    return complain(format.takeError(), BadUsage);
  if (ranges && *format == TableFormat::Statistics)
    format = TableFormat::Ranges;
  StatisticsTable merged;
  for (const std::string &path : inputs) {
    auto table = readStatistics(path);
    if (!table)
      return complain(table.takeError(), BadInput);
    if (llvm::Error error = merged.merge(*table))
      return complain(llvm::createStringError(
                          llvm::inconvertibleErrorCode(),
                          path + ": " + llvm::toString(std::move(error))),
                      BadInput);
  }
  if (!method.empty())
    merged.method = method;
  auto parsed = parseMethod(merged.method);
  if (!parsed)
    return complain(parsed.takeError(), BadUsage);
  options.method = *parsed;
  if (llvm::Error error = checkOptions(options))
    return complain(std::move(error), BadUsage);
  if (llvm::Error error = writeTable(merged, output, *format, options))
    return complain(std::move(error), BadInput);
  if (!quiet)
    llvm::outs() << merged.samples << " samples of " << inputs.size()
                 << " tables, " << merged.tensors.size()
                 << " tensors: " << output << "\n";
  return Done;
}

const Verb onnxquant::cli::mergeVerb = {
    "merge", "put calibration tables of several shards together",
    R"(usage: onnxq merge TABLE... -o TABLE [options]

Merges tables of statistics (.json) that 'onnxq calibrate --shard' wrote. The
result is what one run over all samples writes, bit for bit. With another
extension, or --ranges, it converts: .cache, .flatbuffers, {name: [min, max]}.

  --method M            compute ranges by another method than that of the tables
  --quantized-bins N, --percentile P, --symmetric
  --ranges              write .json as {name: [min, max]}
  --quiet

example: onnxq merge shard0.json shard1.json -o table.json
)",
    run};
