// What a calibration or a quantization ends with, as JSON.

#include "QuantizeSummary.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::cli;

/// JSON has no infinities and no NaN.
static llvm::json::Value numberOrNull(double value) {
  if (!std::isfinite(value))
    return nullptr;
  return value;
}

llvm::json::Object onnxquant::cli::seenToJson(const SeenRuns &seen,
                                              int64_t samples,
                                              int64_t skipped) {
  llvm::json::Array inputs;
  for (const SeenInput &input : seen.inputs)
    inputs.push_back(llvm::json::Object{{"name", input.name},
                                        {"min", numberOrNull(input.min)},
                                        {"max", numberOrNull(input.max)}});
  return llvm::json::Object{{"samples", samples},
                            {"skipped", skipped},
                            {"inputs", std::move(inputs)}};
}

void QuantizeSummary::addTo(llvm::json::Object &root) const {
  llvm::json::Object likeness;
  for (const OutputLikeness &output : outputs)
    likeness[output.name] = numberOrNull(output.decibels);
  root["output"] = path;
  root["bytes"] = bytes;
  root["bytes_before"] = bytesBefore;
  root["seconds"] = seconds;
  root["sqnr_db"] = std::move(likeness);
  root["compared_samples"] = comparedSamples;
  root["macs"] = share.macs;
  root["integer_macs"] = share.integerMacs;
  root["report"] = report.toJson();
  root["next"] = llvm::json::Array(next);
}
