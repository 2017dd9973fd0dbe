// The options of verbs that read samples.

#include "DataArguments.h"

using namespace onnxquant;
using namespace onnxquant::cli;

void DataArguments::declare(Arguments &arguments) {
  SampleOptions &image = options.preprocess;
  arguments.list("data", options.paths)
      .option("limit", options.limit)
      .option("start", options.start)
      .option("stride", options.stride)
      .option("batch", options.batch)
      .option("shard", shard)
      .flag("skip-bad", options.skipBad)
      .option("preprocess", image.name)
      .option("preprocess-plugin", plugin)
      .option("size", image.size)
      .option("crop", image.crop)
      .option("filter", image.filter)
      .option("layout", image.layout)
      .option("channels", image.channels)
      .option("mean", mean)
      .option("scale", scale);
}

llvm::Error DataArguments::finish() {
  for (auto [name, text, target] :
       {std::tuple("mean", &mean, &options.preprocess.mean),
        std::tuple("scale", &scale, &options.preprocess.scale)}) {
    auto numbers = parseNumbers(name, *text);
    if (!numbers)
      return numbers.takeError();
    *target = *numbers;
  }
  if (!shard.empty())
    if (llvm::Error error = parseShard(shard, options))
      return error;
  return plugin.empty() ? llvm::Error::success() : loadPreprocessPlugin(plugin);
}
