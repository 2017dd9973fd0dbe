// The page: the data of the drawings put into the text of report.html.

#include "OnnxQuant/Debugging/Debugging.h"
#include "OnnxQuant/Support/Quantization.h"
#include "ReportData.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::debugging;

static const char pageText[] =
#include "report.html.inc"
    ;

/// Bars of a drawn histogram, and channels that are drawn, at most.
static constexpr int64_t drawnBins = 64, drawnChannels = 512;

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

std::string DebugResult::toHtml() const {
  json::Object root = describeResult(*this);
  json::Array all, constants;
  for (const DebugTensor &tensor : tensors) {
    json::Object object = describeTensor(tensor);
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
  std::string data;
  raw_string_ostream(data) << json::Value(std::move(root));
  // Names may hold anything; in a script `</` would end it.
  std::string safe;
  for (char c : data)
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  StringRef page = pageText, marker = "/*DATA*/null";
  auto [before, after] = page.split(marker);
  return (before + safe + after).str();
}
