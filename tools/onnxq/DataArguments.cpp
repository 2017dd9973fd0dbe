// The options of verbs that read samples.

#include "DataArguments.h"
#include "llvm/Support/raw_ostream.h"

using namespace onnxquant;
using namespace onnxquant::cli;

llvm::ArrayRef<llvm::StringRef> DataArguments::names() {
  static const llvm::StringRef names[] = {"limit",
                                          "start",
                                          "stride",
                                          "batch",
                                          "shard",
                                          "skip-bad",
                                          "size",
                                          "crop",
                                          "filter",
                                          "layout",
                                          "channels",
                                          "mean",
                                          "scale",
                                          "letterbox",
                                          "multiple-of",
                                          "pad-color",
                                          "pad-at",
                                          "preprocess",
                                          "preprocess-plugin"};
  return names;
}

void DataArguments::declare(Arguments &arguments) {
  declared = &arguments;
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
      .option("scale", scale)
      .flag("letterbox", image.letterbox)
      .option("multiple-of", image.multipleOf)
      .option("pad-at", image.padAt)
      .option("pad-color", padColor);
}

llvm::Error DataArguments::finish(bool quiet) {
  auto fail = [](const char *message) {
    return llvm::createStringError(message);
  };
  SampleOptions &image = options.preprocess;
  for (auto [name, text, target] :
       {std::tuple("mean", &mean, &image.mean),
        std::tuple("scale", &scale, &image.scale),
        std::tuple("pad-color", &padColor, &image.padColor)}) {
    auto numbers = parseNumbers(name, *text);
    if (!numbers)
      return numbers.takeError();
    *target = *numbers;
  }
  // Zero stands for what nobody has given.
  if (declared && declared->isGiven("limit") && options.limit == 0)
    return fail("limit expects a number from 1 on, but got 0; without it, all "
                "samples are used");
  if (declared && declared->isGiven("multiple-of") && image.multipleOf == 0)
    return fail("multiple-of expects a number from 1 on, but got 0");
  if (!shard.empty())
    if (llvm::Error error = parseShard(shard, options))
      return error;
  if (!plugin.empty()) {
    if (llvm::Error error = loadPreprocessPlugin(plugin))
      return error;
    if (image.name.empty())
      return fail("preprocess-plugin expects --preprocess NAME, one that the "
                  "library has");
  }
  if (!quiet)
    options.note = [](const std::string &message) {
      llvm::errs() << "note: " << message << "\n";
    };
  return checkDataOptions(options);
}
