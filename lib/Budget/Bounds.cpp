// Reads bounds, and tells whether they hold.

#include "OnnxQuant/Budget/Bounds.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::budget;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

template <typename... Values>
static std::string text(const char *pattern, Values... values) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format(pattern, values...);
  return result;
}

/// A number; with a percent sign a share.
static llvm::Expected<std::optional<double>>
readNumber(llvm::StringRef name, llvm::StringRef text, bool isShare) {
  llvm::StringRef number = text.trim();
  if (number.empty())
    return std::nullopt;
  bool percent = isShare && number.consume_back("%");
  double value;
  if (number.rtrim().getAsDouble(value) || !std::isfinite(value))
    return fail(name + " expects a " +
                (isShare ? "share such as 0.5%" : "number") + ", but got '" +
                text + "'");
  // 0.5 could be meant as either.
  if (isShare && !percent)
    return fail(name + " expects a share in percent, such as " + number +
                "%, but got '" + text + "'");
  if (isShare && (value < 0 || value > 100))
    return fail(name + " expects 0% to 100%, but got '" + text + "'");
  return isShare ? value / 100 : value;
}

llvm::Expected<std::optional<Bounds>>
onnxquant::budget::readBounds(const QuantizeOptions &options) {
  Bounds bounds;
  auto read = [&](llvm::StringRef name, llvm::StringRef text, bool isShare,
                  std::optional<double> &place) -> llvm::Error {
    auto number = readNumber(name, text, isShare);
    if (!number)
      return number.takeError();
    place = *number;
    return llvm::Error::success();
  };
  if (auto error = read("min-sqnr", options.minSqnr, false, bounds.minSqnr))
    return error;
  if (auto error = read("min-agreement", options.minAgreement, true,
                        bounds.minAgreement))
    return error;
  if (auto error = read("max-drop", options.maxDrop, true, bounds.maxDrop))
    return error;
  if (auto error =
          read("max-latency", options.maxLatency, false, bounds.maxLatency))
    return error;
  if (bounds.maxLatency && *bounds.maxLatency <= 0)
    return fail("max-latency expects milliseconds above 0, but got '" +
                llvm::Twine(options.maxLatency) + "'");
  if (!bounds.boundsLoss() && !bounds.maxLatency) {
    // The processor that is faster is asked for without a search as well.
    QuantizeOptions others = options;
    if (others.onlyWhereFaster) {
      others.onlyWhereFaster = false;
      others.target.clear();
    }
    if (auto name = findBudgetOption(others))
      return fail(*name + " is for a search: give min-sqnr, min-agreement, "
                          "max-drop or max-latency, too");
    return std::nullopt;
  }
  if (options.onlyWhereFaster)
    return fail("only-where-faster means nothing with a bound, whose search "
                "chooses layers itself");
  if (!bounds.maxDrop)
    for (auto [name, value] : {std::pair("labels", &options.labels),
                               {"metric", &options.metric},
                               {"boxes", &options.boxes}})
      if (!value->empty())
        return fail(llvm::Twine(name) + " is for max-drop");
  bounds.labels = options.labels;
  bounds.metric = !options.metric.empty() ? options.metric
                  : options.boxes.empty() ? "top1"
                                          : "coco";
  if ((bounds.metric == "coco") == options.boxes.empty())
    return fail(bounds.metric == "coco"
                    ? "metric=coco expects boxes with one of " +
                          boxFormatNames().str()
                    : "boxes is for metric=coco");
  if (!options.boxes.empty()) {
    auto format = parseBoxFormat(options.boxes);
    if (!format)
      return format.takeError();
    bounds.boxes = *format;
  }
  return bounds;
}

Metrics Bounds::metrics() const {
  Metrics metrics;
  metrics.sqnr = true;
  metrics.agreement = minAgreement.has_value();
  metrics.top1 = maxDrop && metric == "top1";
  metrics.top5 = maxDrop && metric == "top5";
  metrics.coco = maxDrop && metric == "coco";
  return metrics;
}

Score onnxquant::budget::readScore(const EvaluationResult &result,
                                   const Bounds &bounds) {
  Score score;
  score.samples = result.samples;
  score.sqnr = result.likeness->sqnr();
  score.sqnrInterval = sqnrInterval(result.likeness->energies);
  if (bounds.minAgreement) {
    score.agreement = result.likeness->agreement();
    // Rows of a sample go together: its share counts once.
    score.agreementInterval = shareInterval(result.samples, *score.agreement);
  }
  score.rows = result.likeness->rows;
  if (!bounds.maxDrop)
    return score;
  const ModelScore &mine = result.model, &theirs = *result.reference;
  if (bounds.metric == "coco") {
    score.reference = theirs.coco.ap;
    score.own = mine.coco.ap;
    return score;
  }
  bool isFirst = bounds.metric == "top1";
  score.reference = isFirst ? theirs.top.top1Share() : theirs.top.top5Share();
  score.own = isFirst ? mine.top.top1Share() : mine.top.top5Share();
  int64_t lost = 0, gained = 0;
  const std::vector<char> &right =
                              isFirst ? theirs.top.hits1 : theirs.top.hits5,
                          &own = isFirst ? mine.top.hits1 : mine.top.hits5;
  for (auto [before, after] : llvm::zip(right, own)) {
    lost += before && !after;
    gained += !before && after;
  }
  score.interval = dropInterval(result.samples, lost, gained);
  return score;
}

bool onnxquant::budget::holds(const Score &score, const Bounds &bounds) {
  // Shares are quotients: what is equal in percent may differ in the last bit.
  constexpr double slack = 1e-12;
  return (!bounds.minSqnr || score.sqnr >= *bounds.minSqnr) &&
         (!bounds.minAgreement ||
          *score.agreement >= *bounds.minAgreement - slack) &&
         (!bounds.maxDrop || *score.drop() <= *bounds.maxDrop + slack);
}

std::string onnxquant::budget::describe(const Bounds &bounds) {
  std::vector<std::string> parts;
  if (bounds.minSqnr)
    parts.push_back(text("%.1f dB", *bounds.minSqnr));
  if (bounds.minAgreement)
    parts.push_back(text("%g %% agreement", 100 * *bounds.minAgreement));
  if (bounds.maxDrop)
    parts.push_back(text("at most %g %% less ", 100 * *bounds.maxDrop) +
                    bounds.metric);
  if (bounds.maxLatency)
    parts.push_back(text("%g ms", *bounds.maxLatency));
  return llvm::join(parts, ", ");
}

std::string onnxquant::budget::describe(const Score &score,
                                        const Bounds &bounds) {
  std::vector<std::string> parts;
  auto between = [](const std::optional<Interval> &interval,
                    const char *pattern, double factor) {
    return interval ? " (95 of 100: " +
                          text(pattern, factor * interval->low,
                               factor * interval->high) +
                          ")"
                    : std::string();
  };
  if (bounds.minSqnr || !bounds.boundsLoss())
    parts.push_back(text("%.1f dB", score.sqnr) +
                    between(score.sqnrInterval, "%.1f to %.1f", 1));
  if (score.agreement)
    parts.push_back(text("%.2f %% agreement", 100 * *score.agreement) +
                    between(score.agreementInterval, "%.2f to %.2f", 100));
  if (auto drop = score.drop()) {
    parts.push_back(bounds.metric + text(" %.2f %%", 100 * *score.own) +
                    text(", %.2f points less", 100 * *drop) +
                    between(score.interval, "%.2f to %.2f", 100));
  }
  return llvm::join(parts, ", ");
}

/// Nothing at all lost can be seen on any number.
static std::string explainFew(llvm::StringRef name, double share, int64_t count,
                              llvm::StringRef what) {
  int64_t wanted = samplesFor(share);
  if (share <= 0 || count >= wanted)
    return "";
  return (name + " can't be judged by " + llvm::Twine(count) + " " + what +
          " held back: one of them is " +
          text("%.3g %%", 100.0 / static_cast<double>(count)) + "; give " +
          llvm::Twine(2 * wanted) + " " + what +
          ", of which half are held back")
      .str();
}

std::string onnxquant::budget::tooFew(const Bounds &bounds, int64_t samples) {
  if (!bounds.maxDrop || bounds.metric == "coco")
    return "";
  return explainFew("max-drop", *bounds.maxDrop, samples, "samples");
}

std::string onnxquant::budget::tooFewRows(const Bounds &bounds, int64_t rows) {
  if (!bounds.minAgreement)
    return "";
  return explainFew("min-agreement", 1 - *bounds.minAgreement, rows, "rows");
}

std::vector<std::string> onnxquant::budget::doubts(const Score &score,
                                                   const Bounds &bounds) {
  std::vector<std::string> notes;
  auto add = [&](const std::string &what) {
    notes.push_back(std::to_string(score.samples) + " samples can't exclude " +
                    what + ": judge by more to be surer");
  };
  if (bounds.maxDrop && score.interval &&
      score.interval->high > *bounds.maxDrop)
    add(text("a loss of up to %.2f points", 100 * score.interval->high));
  if (bounds.minSqnr && score.sqnrInterval &&
      score.sqnrInterval->low < *bounds.minSqnr)
    add(text("%.1f dB", score.sqnrInterval->low));
  if (bounds.minAgreement && score.agreementInterval &&
      score.agreementInterval->low < *bounds.minAgreement)
    add(text("an agreement of %.2f %%", 100 * score.agreementInterval->low));
  return notes;
}
