// Options by name, out of Passes.td.

#include "OnnxQuant/Transforms/Quantize/Passes.h"

#define GEN_OPTIONS_TABLE
#include "OnnxQuant/Transforms/Quantize/Options.h.inc"

using namespace onnxquant;

std::optional<llvm::StringRef>
onnxquant::findBudgetOption(const QuantizeOptions &options) {
  for (const auto &option : quantizeOptionTable())
    if (option.group->name == "budget" && option.isSet(options))
      return option.name;
  return std::nullopt;
}

QuantizeOptions onnxquant::withoutBudget(QuantizeOptions options) {
  for (std::string *each :
       {&options.minSqnr, &options.minAgreement, &options.maxDrop,
        &options.maxLatency, &options.labels, &options.metric, &options.boxes,
        &options.target, &options.checkpoint})
    each->clear();
  options.onlyWhereFaster = false;
  return options;
}
