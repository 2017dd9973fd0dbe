// The page: its parts and the data of the drawings put together.

#include "OnnxQuant/Debugging/Debugging.h"
#include "OnnxQuant/Support/Quantization.h"
#include "ReportData.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::debugging;

static constexpr StringLiteral pageText =
#include "report-page.html.inc"
    ;
static constexpr StringLiteral styleText =
#include "report-style.css.inc"
    ;
static constexpr StringLiteral chartsText =
#include "report-charts.js.inc"
    ;
static constexpr StringLiteral graphText =
#include "report-graph.js.inc"
    ;
static constexpr StringLiteral scriptText =
#include "report-page.js.inc"
    ;

/// Bars of a drawn histogram, and channels that are drawn, at most.
static constexpr int64_t drawnBins = 64, drawnChannels = 512;
/// Samples that are shown, at most.
static constexpr size_t shownSamples = 1000;

/// Counts between two numbers in equal bins.
static json::Array rebin(const Histogram &histogram, double low, double high) {
  std::vector<double> counts(drawnBins, 0);
  double width = (high - low) / static_cast<double>(drawnBins);
  for (int64_t bin = 0; bin < histogram.bins(); ++bin) {
    if (histogram.counts[bin] == 0)
      continue;
    double middle = histogram.edge(bin) + histogram.width() / 2;
    auto at = static_cast<int64_t>(std::floor((middle - low) / width));
    at = std::clamp<int64_t>(at, 0, drawnBins - 1);
    counts[at] += static_cast<double>(histogram.counts[bin]);
  }
  json::Array array;
  for (double count : counts)
    array.push_back(count);
  return array;
}

/// Both histograms over what they have in common, and the range where that is
/// of their size.
static json::Object describeHistogram(const ErrorSums &errors,
                                      const StoredAs &stored) {
  double low = errors.min, high = errors.max;
  double span = std::max(high - low, 1e-12);
  if (stored.range) {
    auto [least, most] = *stored.range;
    if (std::isfinite(least) && std::isfinite(most) &&
        most - least < 8 * span) {
      low = std::min(low, least);
      high = std::max(high, most);
    }
  }
  span = std::max(high - low, 1e-12);
  low -= 0.02 * span;
  high += 0.02 * span;
  return json::Object{{"low", low},
                      {"high", high},
                      {"float", rebin(errors.histogram, low, high)},
                      {"quant", rebin(errors.otherHistogram, low, high)}};
}

/// Extremes of each channel, of evenly spread ones where there are many.
static json::Array describeChannels(const ErrorSums &errors) {
  json::Array array;
  auto count = static_cast<int64_t>(errors.channels.size());
  int64_t step = (count + drawnChannels - 1) / drawnChannels;
  for (int64_t index = 0; index < count; index += std::max<int64_t>(step, 1)) {
    const ChannelErrors &channel = errors.channels[index];
    if (channel.min > channel.max)
      continue;
    array.push_back(
        json::Array{index, channel.min, channel.max,
                    jsonNumber(signalToNoise(std::sqrt(channel.signal),
                                             std::sqrt(channel.noise)))});
  }
  return array;
}

static json::Array describeGraph(const std::vector<DebugNode> &graph) {
  json::Array nodes;
  for (const DebugNode &node : graph) {
    json::Array tensors;
    for (const std::string &name : node.tensors)
      tensors.push_back(json::fixUTF8(name));
    nodes.push_back(json::Array{json::fixUTF8(node.name), node.op,
                                std::move(tensors), json::Array(node.sources)});
  }
  return nodes;
}

/// What the page shows of another run.
static json::Value describeOther(const json::Value &other) {
  const json::Object *root = other.getAsObject();
  const json::Array *tensors = root ? root->getArray("tensors") : nullptr;
  if (!tensors)
    return nullptr;
  json::Array kept;
  for (const json::Value &value : *tensors) {
    const json::Object *tensor = value.getAsObject();
    if (!tensor)
      continue;
    json::Object object;
    for (StringRef key :
         {"name", "type", "added_noise", "xmodel_noise", "xmodel_err"})
      if (const json::Value *found = tensor->get(key))
        object[key] = *found;
    kept.push_back(std::move(object));
  }
  return json::Object{{"quantized", root->getString("quantized").value_or("")},
                      {"tensors", std::move(kept)}};
}

/// The worst samples, if there are many.
static void limitSamples(json::Object &root) {
  json::Array *samples = root.getArray("per_sample");
  if (!samples || samples->size() <= shownSamples)
    return;
  auto noise = [](const json::Value &value) {
    return value.getAsObject()->getNumber("noise").value_or(0);
  };
  std::vector<json::Value> sorted(samples->begin(), samples->end());
  stable_sort(sorted, [&](const json::Value &a, const json::Value &b) {
    return noise(a) > noise(b);
  });
  json::Array kept;
  for (json::Value &value : MutableArrayRef(sorted).take_front(shownSamples))
    kept.push_back(std::move(value));
  *samples = std::move(kept);
}

std::string DebugResult::toHtml() const {
  json::Object root = describeResult(*this);
  limitSamples(root);
  json::Array all, constants;
  for (const DebugTensor &tensor : tensors) {
    json::Object object = describeTensor(tensor, *this);
    object["histogram"] = describeHistogram(tensor.errors, tensor.stored);
    all.push_back(std::move(object));
  }
  for (const DebugWeight &weight : weights) {
    json::Object object = describeWeight(weight);
    object["histogram"] = describeHistogram(weight.errors, weight.stored);
    object["channel_ranges"] = describeChannels(weight.errors);
    constants.push_back(std::move(object));
  }
  root["tensors"] = std::move(all);
  root["weights"] = std::move(constants);
  root["graph"] = describeGraph(graph);
  json::Object times;
  for (const auto &[node, time] : milliseconds)
    times[json::fixUTF8(node)] = time;
  root["times"] = std::move(times);
  root["compare"] = describeOther(other);
  std::string data;
  raw_string_ostream(data) << json::Value(std::move(root));
  // Names may hold anything; in a script `</` would end it.
  std::string safe;
  safe.reserve(data.size());
  for (char c : data)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  std::string page = pageText.str();
  auto put = [&](StringRef marker, StringRef text) {
    page.replace(page.find(marker), marker.size(), text);
  };
  put("/*STYLE*/", styleText);
  put("/*SCRIPT*/", (chartsText + graphText + scriptText).str());
  put("/*DATA*/null", safe);
  return page;
}
