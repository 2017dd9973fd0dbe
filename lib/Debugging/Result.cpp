// What was found, as JSON.

#include "OnnxQuant/Debugging/Debugging.h"
#include "ReportData.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::debugging;

std::optional<double> DebugTensor::qdqError() const {
  if (own.count == 0)
    return std::nullopt;
  return own.decibels();
}

std::optional<double> DebugTensor::crossError() const {
  if (errors.count == 0)
    return std::nullopt;
  return errors.decibels();
}

std::optional<double> DebugTensor::localError() const {
  if (!local || local->count == 0)
    return std::nullopt;
  return local->decibels();
}

double DebugTensor::added() const {
  double ratio = 0;
  if (localError())
    ratio += local->noiseToSignal();
  // Where only integers can be seen, the node's error holds it already.
  if (own.count > 0 && (ownMeasured || !localError()))
    ratio += own.noiseToSignal();
  return ratio;
}

double DebugTensor::saturatedShare() const {
  return own.count == 0
             ? 0
             : static_cast<double>(saturated) / static_cast<double>(own.count);
}

std::vector<size_t> DebugResult::ranking() const {
  std::vector<size_t> order(tensors.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  stable_sort(order, [&](size_t a, size_t b) {
    return tensors[a].added() > tensors[b].added();
  });
  return order;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

json::Value debugging::jsonNumber(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return nullptr;
  return *value;
}

std::optional<double> debugging::addedError(const DebugTensor &tensor) {
  double ratio = tensor.added();
  if (ratio <= 0)
    return std::nullopt;
  return -10 * std::log10(ratio);
}

static void addStorage(json::Object &object, const StoredAs &stored) {
  object["type"] = stored.type.empty() ? "float" : stored.type;
  object["dynamic"] = stored.dynamic;
  if (stored.range)
    object["range"] = json::Array{jsonNumber(stored.range->first),
                                  jsonNumber(stored.range->second)};
  json::Array scales, zeros;
  for (double scale : stored.scales)
    scales.push_back(jsonNumber(scale));
  for (int64_t zero : stored.zeroPoints)
    zeros.push_back(zero);
  object["scales"] = std::move(scales);
  object["zero_points"] = std::move(zeros);
}

static void addErrors(json::Object &object, const ErrorSums &errors) {
  object["cosine"] = jsonNumber(errors.cosine());
  object["max_error"] = errors.maxError;
  object["min"] = errors.min;
  object["max"] = errors.max;
  object["sentinels"] = errors.sentinels;
  object["non_finite"] = errors.nonFinite;
  object["channels"] = static_cast<int64_t>(errors.channels.size());
  object["dead_channels"] = errors.deadChannels();
  if (auto worst = errors.worstChannel())
    object["worst_channel"] =
        json::Object{{"index", worst->first}, {"err", worst->second}};
}

/// Decibels as the share of the signal that the noise is; null for none.
static json::Value shareOf(std::optional<double> decibels) {
  return jsonNumber(decibels ? std::optional(std::pow(10.0, -*decibels / 20))
                             : std::nullopt);
}

json::Object debugging::describeTensor(const DebugTensor &tensor,
                                       const DebugResult &result) {
  json::Object object{{"name", tensor.name},
                      {"node", tensor.node},
                      {"op", tensor.opType},
                      {"order", tensor.order},
                      {"output", tensor.isOutput},
                      {"qdq_err", jsonNumber(tensor.qdqError())},
                      {"xmodel_err", jsonNumber(tensor.crossError())},
                      {"local_err", jsonNumber(tensor.localError())},
                      {"added_err", jsonNumber(addedError(tensor))},
                      {"qdq_noise", shareOf(tensor.qdqError())},
                      {"xmodel_noise", shareOf(tensor.crossError())},
                      {"added_noise", shareOf(addedError(tensor))},
                      {"saturated", tensor.saturatedShare()}};
  addStorage(object, tensor.stored);
  addErrors(object, tensor.errors);
  if (tensor.isOutput)
    object["output_name"] = tensor.outputName;
  json::Array advice;
  for (const Advice &each : tensor.advice)
    advice.push_back(each.text);
  object["advice"] = std::move(advice);
  auto addOf = [&](StringRef key, const std::map<std::string, double> &figures,
                   auto convert) {
    if (auto found = figures.find(tensor.node); found != figures.end())
      object[key] = convert(found->second);
  };
  addOf("ms", result.milliseconds, [](double time) { return time; });
  addOf("alone_err", result.alone, jsonNumber);
  addOf("alone_noise", result.alone, shareOf);
  return object;
}

json::Object debugging::describeWeight(const DebugWeight &weight) {
  json::Object object{
      {"name", weight.name},           {"node", weight.node},
      {"kind", weight.kind},           {"shape", json::Array(weight.shape)},
      {"saturated", weight.saturated}, {"fitted", weight.fitted},
      {"corrected", weight.corrected}};
  // A corrected bias differs on purpose: that is no error.
  std::optional<double> error;
  if (!weight.corrected)
    error = weight.errors.decibels();
  object["qdq_err"] = jsonNumber(error);
  object["noise"] = shareOf(error);
  addStorage(object, weight.stored);
  addErrors(object, weight.errors);
  return object;
}

static StringRef nameOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::InputMismatch:
    return "input-mismatch";
  case Verdict::Layers:
    return "layers";
  case Verdict::Spread:
    return "spread";
  case Verdict::Good:
    return "good";
  }
  llvm_unreachable("no other verdicts");
}

static json::Array listOf(ArrayRef<std::string> texts) {
  json::Array list;
  for (const std::string &text : texts)
    list.push_back(json::fixUTF8(text));
  return list;
}

static json::Array describeMismatches(const DebugResult &result) {
  json::Array list;
  for (const DebugTensor &tensor : result.tensors)
    if (tensor.isMismatch())
      list.push_back(json::Object{
          {"input", tensor.name},
          {"calibrated", json::Array{jsonNumber(tensor.stored.range->first),
                                     jsonNumber(tensor.stored.range->second)}},
          {"data", json::Array{tensor.errors.min, tensor.errors.max}},
          {"saturated", tensor.saturatedShare()}});
  return list;
}

static json::Array describeSamples(const DebugResult &result) {
  json::Array list;
  for (const DebugSample &sample : result.perSample) {
    json::Object object{{"index", sample.index},
                        {"file", json::fixUTF8(sample.file)},
                        {"noise", jsonNumber(sample.noiseShare())},
                        {"saturated", sample.cutShare}};
    if (!sample.cutTensor.empty())
      object["saturated_tensor"] = json::fixUTF8(sample.cutTensor);
    list.push_back(std::move(object));
  }
  return list;
}

json::Object debugging::describeResult(const DebugResult &result) {
  json::Array ranking;
  for (size_t index : result.ranking())
    ranking.push_back(result.tensors[index].name);
  json::Object root{{"float", json::fixUTF8(result.realModel)},
                    {"quantized", json::fixUTF8(result.quantModel)},
                    {"samples", result.samples},
                    {"skipped", result.skipped},
                    {"prepared", result.prepared},
                    {"verdict", nameOf(result.verdict())},
                    {"input_mismatch", describeMismatches(result)},
                    {"ranking", std::move(ranking)},
                    {"unmatched", listOf(result.unmatched)},
                    {"notes", listOf(result.notes)},
                    {"per_sample", describeSamples(result)}};
  if (result.proposal)
    root["proposal"] =
        json::Object{{"command", json::fixUTF8(result.proposal->command)},
                     {"changes", listOf(result.proposal->changes)},
                     {"same_samples", result.proposal->sameSamples},
                     {"before_err", jsonNumber(result.proposal->before)},
                     {"after_err", jsonNumber(result.proposal->after)},
                     {"int8_before", jsonNumber(result.proposal->int8Before)},
                     {"int8_after", jsonNumber(result.proposal->int8After)}};
  if (!result.run.command.empty())
    root["run"] = json::Object{{"command", json::fixUTF8(result.run.command)},
                               {"version", result.run.version},
                               {"date", result.run.date},
                               {"machine", result.run.machine},
                               {"data", listOf(result.run.data)}};
  if (result.totalMilliseconds > 0)
    root["total_ms"] = result.totalMilliseconds;
  return root;
}

json::Value DebugResult::toJson() const {
  json::Object root = describeResult(*this);
  json::Array all, constants;
  for (const DebugTensor &tensor : tensors)
    all.push_back(describeTensor(tensor, *this));
  for (const DebugWeight &weight : weights)
    constants.push_back(describeWeight(weight));
  root["tensors"] = std::move(all);
  root["weights"] = std::move(constants);
  return root;
}
