// What was found, as text.

#include "OnnxQuant/Debugging/Debugging.h"
#include "ReportData.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::debugging;

/// What stands where there is nothing to tell.
static constexpr StringLiteral nothing = "-";

static std::string formatted(const char *pattern, double value) {
  std::string text;
  raw_string_ostream(text) << format(pattern, value);
  return text;
}

static std::string decibels(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return nothing.str();
  return formatted("%.1f", *value);
}

/// A share in percent, with as many digits as can be read.
static std::string percent(std::optional<double> share) {
  if (!share || !std::isfinite(*share))
    return nothing.str();
  double value = 100 * *share;
  if (value > 0 && value < 0.01)
    return "<0.01";
  if (value >= 10000)
    return ">9999";
  return formatted(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
}

/// Decibels as the share of the signal that the noise is.
static std::optional<double> share(std::optional<double> decibels) {
  if (!decibels)
    return std::nullopt;
  return std::pow(10.0, -*decibels / 20);
}

/// Nothing is cut off, or nothing can be.
static std::string percentOrNothing(double share) {
  return share > 0 ? percent(share) : nothing.str();
}

/// The end of a long name tells more than its start.
static std::string shortened(StringRef text, size_t width) {
  if (text.size() <= width)
    return text.str();
  return ("~" + text.take_back(width - 1)).str();
}

static std::string worstOf(const ErrorSums &errors) {
  auto worst = errors.worstChannel();
  return worst ? std::to_string(worst->first) + " (" +
                     percent(share(worst->second)) + ")"
               : nothing.str();
}

static void printTensor(raw_ostream &os, const DebugTensor &tensor) {
  std::string type = tensor.stored.type.empty() ? "float" : tensor.stored.type;
  if (tensor.stored.dynamic)
    type += "*";
  std::string node = tensor.node.empty() ? tensor.opType : tensor.node;
  int64_t dead = tensor.errors.deadChannels();
  os << left_justify(shortened(node, 20), 21)
     << left_justify(shortened(tensor.name, 22), 23) << left_justify(type, 6)
     << right_justify(percent(share(addedError(tensor))), 7)
     << right_justify(percent(share(tensor.qdqError())), 7)
     << right_justify(percent(share(tensor.crossError())), 7)
     << right_justify(decibels(tensor.crossError()), 8)
     << format("%8.4f %9.3g", tensor.errors.cosine(), tensor.errors.maxError)
     << right_justify(percentOrNothing(tensor.saturatedShare()), 8)
     << right_justify(dead ? std::to_string(dead) : nothing.str(), 5) << "  "
     << worstOf(tensor.errors) << "\n";
}

static void printTensors(raw_ostream &os, const DebugResult &result,
                         int64_t limit) {
  os << "\n"
     << left_justify("", 50) << "noise in % of the signal\n"
     << left_justify("node", 21) << left_justify("tensor", 23)
     << left_justify("type", 6)
     << "  added    own  total SQNR dB  cosine   max err cut off dead  worst "
        "channel\n";
  for (auto [position, index] : enumerate(result.ranking())) {
    if (limit > 0 && static_cast<int64_t>(position) >= limit) {
      os << "... " << result.tensors.size() - position << " more\n";
      break;
    }
    printTensor(os, result.tensors[index]);
  }
}

static void printWeights(raw_ostream &os,
                         const std::vector<DebugWeight> &weights,
                         int64_t limit) {
  std::vector<const DebugWeight *> order;
  for (const DebugWeight &weight : weights)
    order.push_back(&weight);
  stable_sort(order, [](const DebugWeight *a, const DebugWeight *b) {
    // What is cut off first; what differs on purpose last.
    auto key = [](const DebugWeight *weight) {
      return std::tuple(weight->saturated <= 0, weight->corrected,
                        weight->kind == "bias", weight->errors.decibels());
    };
    return key(a) < key(b);
  });
  os << "\n"
     << left_justify("weight or bias", 30) << left_justify("node", 21)
     << left_justify("type", 6)
     << "  noise %  SQNR dB  max err  cut off  worst channel\n";
  for (auto [index, weight] : enumerate(order)) {
    if (limit > 0 && static_cast<int64_t>(index) >= limit) {
      os << "... " << order.size() - index << " more\n";
      break;
    }
    os << left_justify(shortened(weight->name, 29), 30)
       << left_justify(shortened(weight->node, 20), 21)
       << left_justify(weight->stored.type, 6);
    if (weight->corrected) {
      os << "  corrected for the weights' error, by up to "
         << format("%.3g", weight->errors.maxError) << "\n";
      continue;
    }
    double error = weight->errors.decibels();
    os << right_justify(percent(share(error)), 9)
       << right_justify(decibels(error), 9)
       << format(" %8.3g", weight->errors.maxError)
       << right_justify(percentOrNothing(weight->saturated), 9) << "  "
       << worstOf(weight->errors) << "\n";
  }
}

/// Which samples are worst, where they differ.
static void printSamples(raw_ostream &os, const DebugResult &result) {
  constexpr size_t most = 3;
  if (result.perSample.size() < 2)
    return;
  std::vector<const DebugSample *> order;
  for (const DebugSample &sample : result.perSample)
    order.push_back(&sample);
  stable_sort(order, [](const DebugSample *a, const DebugSample *b) {
    return a->noiseShare() > b->noiseShare();
  });
  double middle = order[order.size() / 2]->noiseShare();
  os << "\nworst samples (the median has " << percent(middle)
     << " % noise at the outputs)\n";
  for (const DebugSample *sample : ArrayRef(order).take_front(most)) {
    os << "  " << right_justify(percent(sample->noiseShare()), 7) << " %  "
       << (sample->file.empty() ? "sample " + std::to_string(sample->index)
                                : sample->file);
    if (sample->cutShare > 0)
      os << "; " << percent(sample->cutShare) << " % of '" << sample->cutTensor
         << "' cut off";
    os << "\n";
  }
}

static void printMismatch(raw_ostream &os, const DebugResult &result) {
  os << "\nThis data isn't prepared as the calibration data was: check --mean "
        "and --scale.\n";
  for (const DebugTensor &tensor : result.tensors)
    if (tensor.isMismatch())
      os << "  input '" << tensor.name << "': calibrated for "
         << format("%.4g to %.4g", tensor.stored.range->first,
                   tensor.stored.range->second)
         << ", but this data reaches from "
         << format("%.4g to %.4g", tensor.errors.min, tensor.errors.max)
         << "\n";
  os << "The layers aren't judged: behind such data each of them looks bad.\n";
}

static void printAdvice(raw_ostream &os, const DebugResult &result,
                        int64_t limit) {
  os << "\nwhat to try\n";
  int64_t shown = 0;
  for (size_t index : result.ranking()) {
    const DebugTensor &tensor = result.tensors[index];
    if (tensor.advice.empty())
      continue;
    if (limit > 0 && shown++ >= limit) {
      os << "  ... and more; see --report\n";
      break;
    }
    for (const Advice &each : tensor.advice)
      os << "  " << (tensor.node.empty() ? tensor.name : tensor.node) << ": "
         << each.text << "\n";
  }
}

void DebugResult::print(raw_ostream &os, int64_t limit) const {
  os << samples << (samples == 1 ? " sample" : " samples");
  if (skipped > 0)
    os << " (" << skipped << " skipped)";
  os << ", " << tensors.size() << " tensors and " << weights.size()
     << " weights compared";
  if (!unmatched.empty())
    os << ", " << unmatched.size() << " without a counterpart";
  os << "\n";
  for (const DebugTensor &tensor : tensors)
    if (tensor.isOutput)
      os << "output '" << tensor.outputName
         << "': " << percent(share(tensor.crossError())) << " % noise (SQNR "
         << decibels(tensor.crossError()) << " dB), cosine "
         << format("%.5f", tensor.errors.cosine()) << "\n";
  for (const std::string &note : notes)
    os << "note: " << note << "\n";
  Verdict what = verdict();
  if (what == Verdict::InputMismatch)
    return printMismatch(os, *this);
  printTensors(os, *this, limit);
  if (!weights.empty())
    printWeights(os, weights, limit);
  printSamples(os, *this);
  constexpr int64_t mostAdvice = 8;
  if (what == Verdict::Layers)
    printAdvice(os, *this, limit == 0 ? 0 : mostAdvice);
  if (what == Verdict::Spread)
    os << "\nThe outputs are bad, but no layer stands out: the noise of many "
          "adds up.\n";
  if (proposal) {
    os << "\ntry this: "
       << format("%.1f dB at the outputs instead of %.1f dB", proposal->after,
                 proposal->before)
       << ", measured on these samples"
       << (proposal->sameSamples ? ", which it is calibrated with, too" : "")
       << "\n";
    for (const std::string &change : proposal->changes)
      os << "  - " << change << "\n";
    if (proposal->int8Before && proposal->int8After)
      os << format("  in int8: %.1f %% of the multiply-adds, now %.1f %%\n",
                   100 * *proposal->int8After, 100 * *proposal->int8Before);
    os << "  " << proposal->command << "\n";
  }
}
