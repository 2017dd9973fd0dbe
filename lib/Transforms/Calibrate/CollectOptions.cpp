// The options of onnx-calibrate as the collector and data sets take them.

#include "OnnxQuant/Support/Numbers.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"

using namespace llvm;
using namespace onnxquant;

Error onnxquant::readDataOptions(const CalibrateOptions &given,
                                 DataOptions &data) {
  data.paths.assign(given.data.begin(), given.data.end());
  data.start = given.start;
  data.stride = given.stride;
  data.limit = given.limit;
  data.batch = given.batch;
  data.skipBad = given.skipBad;
  if (!given.shard.empty())
    if (Error error = parseShard(given.shard, data))
      return error;
  SampleOptions &image = data.preprocess;
  image.name = given.preprocess;
  image.size = given.size;
  image.crop = given.crop;
  image.filter = given.filter;
  image.layout = given.layout;
  image.channels = given.channels;
  image.letterbox = given.letterbox;
  image.multipleOf = given.multipleOf;
  image.padAt = given.padAt;
  for (auto [name, text, target] :
       {std::tuple("mean", &given.mean, &image.mean),
        std::tuple("scale", &given.scale, &image.scale),
        std::tuple("pad-color", &given.padColor, &image.padColor)}) {
    auto numbers = parseNumbers(name, *text);
    if (!numbers)
      return numbers.takeError();
    *target = *numbers;
  }
  if (!given.preprocessPlugin.empty()) {
    if (Error error = loadPreprocessPlugin(given.preprocessPlugin))
      return error;
    if (image.name.empty())
      return createStringError("preprocess-plugin expects preprocess, the name "
                               "of one that the library has");
  }
  return checkDataOptions(data);
}

template <typename Options>
static Error readMethod(const Options &given, StringRef name,
                        MethodOptions &options) {
  auto method = parseMethod(name);
  if (!method)
    return method.takeError();
  options.method = *method;
  options.quantizedBins = given.quantizedBins;
  options.percentile = given.percentile;
  options.symmetric = given.symmetric;
  return checkOptions(options);
}

Error onnxquant::readMethodOptions(const CalibrateOptions &given,
                                   MethodOptions &options) {
  return readMethod(given, given.method, options);
}

Error onnxquant::readMethodOptions(const LoadCalibrationOptions &given,
                                   StringRef otherwise,
                                   MethodOptions &options) {
  return readMethod(given, given.method.empty() ? otherwise : given.method,
                    options);
}

Error onnxquant::readCollectOptions(const CalibrateOptions &given,
                                    CollectOptions &collect) {
  if (Error error = readMethodOptions(given, collect.method))
    return error;
  constexpr int64_t mostThreads = 1024;
  if (given.threads < 0 || given.threads > mostThreads)
    return createStringError("threads expects 1 to " + Twine(mostThreads) +
                             ", or 0 for all processors, but got " +
                             Twine(given.threads));
  collect.threads = given.threads;
  if (!(given.constant > 0 && given.constant <= 1))
    return createStringError("constant expects a number above 0 and up to 1, "
                             "but got " +
                             shortestDecimal(given.constant));
  collect.constant = given.constant;
  collect.checkpoint = given.checkpoint;
  if (Error error = readDataOptions(given, collect.data))
    return error;
  InstrumentSpec &spec = collect.spec;
  spec.all = given.all;
  spec.opTypes.assign(given.opTypes.begin(), given.opTypes.end());
  spec.nodes.assign(given.nodes.begin(), given.nodes.end());
  bool needsBins = given.histogram || needsHistogram(collect.method.method);
  spec.bins = needsBins ? given.bins : 0;
  spec.batch = given.batch;
  return Error::success();
}
