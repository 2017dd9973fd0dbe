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
  hits1.push_back(0);
  hits5.push_back(0);
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
  top1 += hits1.back() = before < 1;
  top5 += hits5.back() = before < 5;
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

static double shareOf(int64_t part, int64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double Likeness::agreement() const { return shareOf(agreements, rows); }
double Likeness::equalShare() const { return shareOf(equalSamples, samples); }

/// The dimensions of an output, ones at the end left out.
static ArrayRef<int64_t> meaningfulDims(const HostTensor &output) {
  ArrayRef<int64_t> dims = output.dims;
  while (dims.size() > 1 && dims.back() == 1)
    dims = dims.drop_back();
  return dims;
}

int64_t onnxquant::classesOf(const HostTensor &output) {
  ArrayRef<int64_t> dims = meaningfulDims(output);
  return dims.empty() ? 1 : dims.back();
}

void Likeness::addClasses(const HostTensor &right, const HostTensor &mine,
                          int64_t count) {
  int64_t classes = classesOf(right);
  int64_t all = classes > 0 ? right.numElements() / classes : 0;
  int64_t each = std::max<int64_t>(1, all / std::max<int64_t>(count, 1));
  auto best = [&](const HostTensor &output, int64_t row) {
    int64_t first = row * classes, top = 0;
    for (int64_t i = 1; i < classes; ++i)
      if (output.at(first + i) > output.at(first + top))
        top = i;
    return top;
  };
  int64_t equal = 0;
  for (int64_t row = 0; row < all; ++row) {
    equal += best(right, row) == best(mine, row);
    if ((row + 1) % each != 0)
      continue;
    equalSamples += equal == each;
    agreements += equal;
    equal = 0;
  }
  agreements += equal;
  rows += all;
  samples += count;
}

bool onnxquant::hasClassScores(const HostTensor &output) {
  ArrayRef<int64_t> dims = meaningfulDims(output);
  int64_t classes = classesOf(output);
  if (classes < 2 || dims.size() > 3)
    return false;
  if (dims.size() < 3)
    return true;
  // Rows of probabilities sum up to one, and so do those behind logarithms.
  constexpr double tolerance = 0.02;
  int64_t rows = output.numElements() / classes;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, exponentials = 0;
    for (int64_t i = row * classes; i < (row + 1) * classes; ++i) {
      double value = output.at(i);
      sum += value >= -tolerance ? value : INFINITY;
      exponentials += std::exp(value);
    }
    if (!(std::fabs(sum - 1) < tolerance) &&
        !(std::fabs(exponentials - 1) < tolerance))
      return false;
  }
  return rows > 0;
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
