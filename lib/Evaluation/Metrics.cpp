// The metrics of classes and of likeness.

#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Support/Quantization.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

Expected<Metrics> onnxquant::parseMetrics(StringRef text) {
  Metrics metrics;
  SmallVector<StringRef> names;
  text.split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef each : names) {
    StringRef name = each.trim();
    if (name == "top1")
      metrics.top1 = true;
    else if (name == "top5")
      metrics.top5 = true;
    else if (name == "coco")
      metrics.coco = true;
    else if (name == "sqnr")
      metrics.sqnr = true;
    else if (name == "cosine")
      metrics.cosine = true;
    else if (name == "agreement")
      metrics.agreement = true;
    else
      return createStringError(
          inconvertibleErrorCode(),
          "metric expects top1, top5, coco, sqnr, cosine or agreement, but got "
          "'" +
              name.str() + "'");
  }
  return metrics;
}

int64_t onnxquant::bestClass(ArrayRef<double> scores) {
  return llvm::max_element(scores) - scores.begin();
}

void TopCounts::add(ArrayRef<double> scores, int64_t label) {
  ++samples;
  if (label < 0 || label >= static_cast<int64_t>(scores.size()))
    return;
  double own = scores[label];
  if (std::isnan(own))
    return;
  // Classes that go before: better ones, and equal ones with a lower number.
  int64_t before = 0;
  for (auto [index, score] : enumerate(scores))
    before +=
        score > own || (score == own && static_cast<int64_t>(index) < label);
  top1 += before < 1;
  top5 += before < 5;
}

void Likeness::add(double right, double mine) {
  signal += right * right;
  noise += (right - mine) * (right - mine);
  dot += right * mine;
  other += mine * mine;
}

double Likeness::sqnr() const {
  return signalToNoise(std::sqrt(signal), std::sqrt(noise));
}

double Likeness::cosine() const {
  double product = std::sqrt(signal) * std::sqrt(other);
  if (product > 0)
    return dot / product;
  return signal == other ? 1 : 0;
}

double Latencies::quantile(double share) const {
  if (times.empty())
    return 0;
  std::vector<double> sorted = times;
  llvm::sort(sorted);
  auto rank = static_cast<size_t>(
      std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}
