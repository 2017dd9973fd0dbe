// What was found, as a table and as JSON.

#include "OnnxQuant/Debugging/Debugging.h"
#include "ReportData.h"
#include "llvm/Support/Format.h"
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

json::Object debugging::describeTensor(const DebugTensor &tensor) {
  json::Object object{{"name", tensor.name},
                      {"node", tensor.node},
                      {"op", tensor.opType},
                      {"order", tensor.order},
                      {"output", tensor.isOutput},
                      {"qdq_err", jsonNumber(tensor.qdqError())},
                      {"xmodel_err", jsonNumber(tensor.crossError())},
                      {"local_err", jsonNumber(tensor.localError())},
                      {"added_err", jsonNumber(addedError(tensor))},
                      {"saturated", tensor.saturatedShare()}};
  addStorage(object, tensor.stored);
  addErrors(object, tensor.errors);
  json::Array advice;
  for (const std::string &line : tensor.advice)
    advice.push_back(line);
  object["advice"] = std::move(advice);
  return object;
}

json::Object debugging::describeWeight(const DebugWeight &weight) {
  json::Object object{{"name", weight.name},
                      {"node", weight.node},
                      {"kind", weight.kind},
                      {"shape", json::Array(weight.shape)},
                      {"qdq_err", jsonNumber(weight.errors.decibels())},
                      {"saturated", weight.saturated},
                      {"fitted", weight.fitted}};
  addStorage(object, weight.stored);
  addErrors(object, weight.errors);
  return object;
}

json::Object debugging::describeResult(const DebugResult &result) {
  json::Array ranking, unmatched;
  for (size_t index : result.ranking())
    ranking.push_back(result.tensors[index].name);
  for (const std::string &name : result.unmatched)
    unmatched.push_back(name);
  return json::Object{
      {"float", result.realModel},        {"quantized", result.quantModel},
      {"samples", result.samples},        {"skipped", result.skipped},
      {"prepared", result.prepared},      {"ranking", std::move(ranking)},
      {"unmatched", std::move(unmatched)}};
}

json::Value DebugResult::toJson() const {
  json::Object root = describeResult(*this);
  json::Array all, constants;
  for (const DebugTensor &tensor : tensors)
    all.push_back(describeTensor(tensor));
  for (const DebugWeight &weight : weights)
    constants.push_back(describeWeight(weight));
  root["tensors"] = std::move(all);
  root["weights"] = std::move(constants);
  return root;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static std::string decibels(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return "-";
  std::string text;
  raw_string_ostream(text) << format("%.1f", *value);
  return text;
}

/// The end of a long name tells more than its start.
static std::string shortened(StringRef text, size_t width) {
  if (text.size() <= width)
    return text.str();
  return ("~" + text.take_back(width - 1)).str();
}

static void printTensor(raw_ostream &os, const DebugTensor &tensor) {
  auto worst = tensor.errors.worstChannel();
  std::string channel = worst ? std::to_string(worst->first) + " (" +
                                    decibels(worst->second) + ")"
                              : "-";
  std::string type = tensor.stored.type.empty() ? "float" : tensor.stored.type;
  if (tensor.stored.dynamic)
    type += "*";
  std::string node = tensor.node.empty() ? tensor.opType : tensor.node;
  os << left_justify(shortened(node, 20), 21)
     << left_justify(shortened(tensor.name, 22), 23) << left_justify(type, 6)
     << right_justify(decibels(addedError(tensor)), 7)
     << right_justify(decibels(tensor.qdqError()), 7)
     << right_justify(decibels(tensor.crossError()), 8)
     << format("%8.4f %9.3g %6.2f%%", tensor.errors.cosine(),
               tensor.errors.maxError, 100 * tensor.saturatedShare())
     << right_justify(std::to_string(tensor.errors.deadChannels()), 5) << "  "
     << channel << "\n";
}

static void printWeights(raw_ostream &os,
                         const std::vector<DebugWeight> &weights,
                         int64_t limit) {
  std::vector<const DebugWeight *> order;
  for (const DebugWeight &weight : weights)
    order.push_back(&weight);
  stable_sort(order, [](const DebugWeight *a, const DebugWeight *b) {
    // What is cut off first; then weights, since biases may be corrected.
    auto key = [](const DebugWeight *weight) {
      return std::tuple(weight->saturated <= 0, weight->kind == "bias",
                        weight->errors.decibels());
    };
    return key(a) < key(b);
  });
  os << "\n"
     << left_justify("weight or bias", 30) << left_justify("node", 21)
     << left_justify("type", 6) << "    err  cosine  max err  cut off  worst\n";
  for (auto [index, weight] : enumerate(order)) {
    if (limit > 0 && static_cast<int64_t>(index) >= limit) {
      os << "... " << order.size() - index << " more\n";
      break;
    }
    auto worst = weight->errors.worstChannel();
    os << left_justify(shortened(weight->name, 29), 30)
       << left_justify(shortened(weight->node, 20), 21)
       << left_justify(weight->stored.type, 6)
       << right_justify(decibels(weight->errors.decibels()), 7)
       << format("%8.4f %8.3g %7.2f%%  ", weight->errors.cosine(),
                 weight->errors.maxError, 100 * weight->saturated)
       << (worst ? std::to_string(worst->first) + " (" +
                       decibels(worst->second) + ")"
                 : "-")
       << "\n";
  }
}

void DebugResult::print(raw_ostream &os, int64_t limit) const {
  os << samples << " samples";
  if (skipped > 0)
    os << " (" << skipped << " skipped)";
  os << ", " << tensors.size() << " tensors and " << weights.size()
     << " weights compared";
  if (!unmatched.empty())
    os << ", " << unmatched.size() << " without a counterpart";
  os << "\n";
  for (const DebugTensor &tensor : tensors)
    if (tensor.isOutput)
      os << "output '" << tensor.name << "': " << decibels(tensor.crossError())
         << " dB, cosine " << format("%.5f", tensor.errors.cosine()) << "\n";
  os << "\n"
     << left_justify("node", 21) << left_justify("tensor", 23)
     << left_justify("type", 6)
     << "  added    qdq  xmodel  cosine   max err     sat dead  worst "
        "channel\n";
  for (auto [position, index] : enumerate(ranking())) {
    if (limit > 0 && static_cast<int64_t>(position) >= limit) {
      os << "... " << tensors.size() - position << " more\n";
      break;
    }
    printTensor(os, tensors[index]);
  }
  if (!weights.empty())
    printWeights(os, weights, limit);
  bool any = false;
  for (size_t index : ranking())
    for (const std::string &line : tensors[index].advice) {
      if (!any)
        os << "\nwhat to try\n";
      any = true;
      const DebugTensor &tensor = tensors[index];
      os << "  " << (tensor.node.empty() ? tensor.name : tensor.node) << ": "
         << line << "\n";
    }
}
