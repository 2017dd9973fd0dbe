// The options of verbs that read samples.

#include "DataArguments.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/raw_ostream.h"

using namespace onnxquant;
using namespace onnxquant::cli;

static constexpr llvm::StringLiteral dataGroups[] = {"data", "images"};

bool DataArguments::isOfData(const OptionInfo &option) {
  return option.name != "data" &&
         llvm::is_contained(dataGroups, option.group->name);
}

void DataArguments::declare(Arguments &arguments,
                            llvm::ArrayRef<llvm::StringRef> groups) {
  declared = &arguments;
  std::vector<llvm::StringRef> all(std::begin(dataGroups),
                                   std::end(dataGroups));
  llvm::append_range(all, groups);
  arguments.list("data", options.paths)
      .options(calibrateOptionTable(), given, all);
}

/// What is left after the options have been read.
llvm::Error DataArguments::complete(bool quiet) {
  // Zero stands for what nobody has given.
  if (declared->isGiven("limit") && options.limit == 0)
    return llvm::createStringError(
        "limit expects a number from 1 on, but got 0; without it, all "
        "samples are used");
  if (declared->isGiven("multiple-of") && options.preprocess.multipleOf == 0)
    return llvm::createStringError(
        "multiple-of expects a number from 1 on, but got 0");
  if (!quiet)
    options.note = [](const std::string &message) {
      llvm::errs() << "note: " << message << "\n";
    };
  return llvm::Error::success();
}

llvm::Error DataArguments::finish(bool quiet) {
  if (llvm::Error error = readDataOptions(given, options))
    return error;
  return complete(quiet);
}

llvm::Error DataArguments::checkMethod(const CollectOptions &collect) const {
  // Without samples, a table says which method it was made with.
  if (options.paths.empty())
    return llvm::Error::success();
  using Method = CalibrationMethod;
  Method method = collect.method.method;
  struct {
    llvm::StringRef name, with;
    bool counts;
  } const each[] = {
      {"percentile", "--method percentile", method == Method::Percentile},
      {"quantized-bins", "--method entropy", method == Method::Entropy},
      {"constant", "--method moving-average", method == Method::MovingAverage},
      {"bins", "methods that count histograms, or --histogram",
       collect.spec.bins > 0},
  };
  for (const auto &option : each)
    if (!option.counts && declared->isGiven(option.name))
      return llvm::createStringError(option.name + " is for " + option.with);
  return llvm::Error::success();
}

llvm::Error DataArguments::finish(CollectOptions &collect) {
  if (llvm::Error error = readCollectOptions(given, collect))
    return error;
  if (llvm::Error error = checkMethod(collect))
    return error;
  options = collect.data;
  if (llvm::Error error = complete(collect.quiet))
    return error;
  collect.data = options;
  return llvm::Error::success();
}
