// onnxq merge: tables of shards into one, as if calibrated at once.

#include "Arguments.h"
#include "OnnxQuant/Statistics/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace onnxquant;
using namespace onnxquant::cli;

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::vector<std::string> inputs;
  std::string output, method;
  bool ranges = false, quiet = false, json = false;
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
              .flag("json", json)
              .parse(arguments))
    return *code;
  if (output.empty()) {
    llvm::errs() << "error: onnxq merge expects -o TABLE\n";
    return BadUsage;
  }
  auto files = tableFiles(output, ranges);
  if (!files)
    return complain(files.takeError(), BadUsage);
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
  if (llvm::Error error = writeTables(merged, *files, options))
    return complain(std::move(error), BadInput);
  auto paths = llvm::make_first_range(*files);
  std::string written = llvm::join(paths, ", ");
  llvm::json::Array outputs(paths);
  if (json)
    llvm::outs() << llvm::formatv(
        "{0:2}\n", llvm::json::Value(llvm::json::Object{
                       {"outputs", std::move(outputs)},
                       {"tables", static_cast<int64_t>(inputs.size())},
                       {"samples", merged.samples},
                       {"tensors", static_cast<int64_t>(merged.tensors.size())},
                       {"method", merged.method}}));
  else if (!quiet)
    llvm::outs() << merged.samples
                 << (merged.samples == 1 ? " sample of " : " samples of ")
                 << inputs.size()
                 << (inputs.size() == 1 ? " table, " : " tables, ")
                 << merged.tensors.size()
                 << (merged.tensors.size() == 1 ? " tensor: " : " tensors: ")
                 << written << "\n";
  return Done;
}

const Verb onnxquant::cli::mergeVerb = {
    "merge", "put calibration tables of several shards together",
    R"(usage: onnxq merge TABLE... -o TABLE [options]

Merges tables of statistics (.json) that 'onnxq calibrate --shard' wrote. The
result is what one run over all samples writes, bit for bit. With another
extension, or --ranges, it converts: .cache, .flatbuffers, {name: [min, max]};
without an extension it writes one of each.

  --method M            compute ranges by another method than that of the tables
  --quantized-bins N, --percentile P, --symmetric
  --ranges              write .json as {name: [min, max]}
  --json, --quiet

example: onnxq merge shard0.json shard1.json -o table.json
)",
    run};
