// What a search found, as a table, as JSON and as a page.

#include "OnnxQuant/Budget/Search.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::budget;

static json::Value optionalNumber(std::optional<double> number) {
  return number && std::isfinite(*number) ? json::Value(*number)
                                          : json::Value(nullptr);
}

static json::Object describePoint(const Point &point, const Result &result) {
  json::Object object{{"changes", point.place},
                      {"int16_tensors", point.wide},
                      {"finer_weights", point.finer},
                      {"float_nodes", point.floats},
                      {"relative_time", point.relativeTime},
                      {"ms", optionalNumber(point.milliseconds)}};
  if (!point.score)
    return object;
  const Score &score = *point.score;
  object["sqnr_db"] = optionalNumber(score.sqnr);
  if (score.agreement)
    object["agreement"] = *score.agreement;
  if (score.own) {
    object[result.bounds.metric] = *score.own;
    object["reference_" + result.bounds.metric] = *score.reference;
    object["drop"] = *score.drop();
  }
  for (auto [name, interval] : {std::pair("drop_95", &score.interval),
                                {"sqnr_db_95", &score.sqnrInterval},
                                {"agreement_95", &score.agreementInterval}})
    if (*interval)
      object[name] = json::Array{(*interval)->low, (*interval)->high};
  if (result.bounds.boundsLoss())
    object["holds"] = holds(score, result.bounds);
  return object;
}

json::Value Result::toJson() const {
  json::Object asked;
  if (bounds.minSqnr)
    asked["min_sqnr"] = *bounds.minSqnr;
  if (bounds.minAgreement)
    asked["min_agreement"] = *bounds.minAgreement;
  if (bounds.maxDrop) {
    asked["max_drop"] = *bounds.maxDrop;
    asked["metric"] = bounds.metric;
  }
  if (bounds.maxLatency)
    asked["max_latency_ms"] = *bounds.maxLatency;
  json::Array frontier, expected;
  for (const Point &point : points)
    frontier.push_back(describePoint(point, *this));
  for (auto [time, decibels] : curve)
    expected.push_back(json::Array{time, decibels});
  json::Object root{{"bounds", std::move(asked)},
                    {"calibration_samples", calibration},
                    {"held_back_samples", heldBack},
                    {"time", isMeasured ? "measured" : "model of " + target},
                    {"sensitivity_runs", sensitivityRuns},
                    {"models_judged", judged},
                    {"tensors", tensors},
                    {"layers", layers},
                    {"frontier", std::move(frontier)},
                    {"expected", std::move(expected)},
                    {"float_ms", optionalNumber(floatMilliseconds)},
                    {"float_relative_time", floatTime},
                    {"interrupted", wasInterrupted},
                    {"notes", json::Array(notes)}};
  auto names = [](const std::vector<std::string> &list) {
    json::Array array;
    for (const std::string &name : list)
      array.push_back(json::fixUTF8(name));
    return array;
  };
  if (chosen)
    root["chosen"] = json::Object{{"index", static_cast<int64_t>(*chosen)},
                                  {"int16_tensors", names(wideTensors)},
                                  {"finer_weights", names(finerWeights)},
                                  {"nodes_to_exclude", names(floatNodes)}};
  if (!reason.empty())
    root["reason"] = reason;
  return root;
}

/// The columns of losses: those that are bounded, and decibels.
static std::vector<std::pair<std::string, std::string>>
lossesOf(const Score &score, const Result &result) {
  std::vector<std::pair<std::string, std::string>> losses;
  auto add = [&](const std::string &name, const char *pattern, double value) {
    std::string text;
    raw_string_ostream(text) << format(pattern, value);
    losses.emplace_back(name, text);
  };
  add("SQNR", "%.1f dB", score.sqnr);
  if (score.agreement)
    add("agreement", "%.2f %%", 100 * *score.agreement);
  if (score.own) {
    add(result.bounds.metric, "%.2f %%", 100 * *score.own);
    add("lost", "%.2f", 100 * *score.drop());
  }
  return losses;
}

void Result::print(raw_ostream &os) const {
  os << "budget       " << describe(bounds) << "; ranges of " << calibration
     << " samples, judged by " << heldBack << " others, evenly spread\n"
     << "time         "
     << (isMeasured ? "measured here, the least of runs in turns"
                    : "by a model of " + target)
     << "; " << judged << " models judged after " << sensitivityRuns
     << " runs with one tensor or weight quantized\n";
  const Score *any = nullptr;
  for (const Point &point : points)
    if (point.score)
      any = &*point.score;
  os << "frontier     " << right_justify("16 bits", 8)
     << right_justify("float", 7) << right_justify("time", 9)
     << right_justify("run", 12);
  size_t columns = 0;
  if (any)
    for (const auto &[name, text] : lossesOf(*any, *this)) {
      os << right_justify(name, 12);
      ++columns;
    }
  os << "\n";
  auto row = [&](const std::string &wide, const std::string &floats,
                 double time, std::optional<double> milliseconds) {
    std::string relative, run = "-";
    raw_string_ostream(relative) << format("%.2f x", time);
    if (milliseconds) {
      run.clear();
      raw_string_ostream(run) << format("%.3f ms", *milliseconds);
    }
    os << "             " << right_justify(wide, 8) << right_justify(floats, 7)
       << right_justify(relative, 9) << right_justify(run, 12);
  };
  for (auto [index, point] : enumerate(points)) {
    row(std::to_string(point.wide), std::to_string(point.floats),
        point.relativeTime, point.milliseconds);
    if (point.score)
      for (const auto &[name, text] : lossesOf(*point.score, *this))
        os << right_justify(text, 12);
    else
      for (size_t i = 0; i < columns; ++i)
        os << right_justify("-", 12);
    os << (chosen == index ? "  chosen" : "") << "\n";
  }
  row("-", "all", floatTime, floatMilliseconds);
  os << "\n";
  if (chosen && points[*chosen].score)
    os << "chosen       " << describe(*points[*chosen].score, bounds)
       << (bounds.boundsLoss() ? "" : " within the time") << "\n";
  for (const std::string &note : notes)
    os << "note         " << note << "\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static std::string escape(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

namespace {
/// Numbers along an axis become places in the drawing.
struct Axis {
  double low, high, start, end;
  double at(double value) const {
    double span = high - low;
    return start + (span > 0 ? (value - low) / span : 0.5) * (end - start);
  }
};
} // namespace

static Axis makeAxis(const std::vector<double> &values, double start,
                     double end) {
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  double margin = std::max(0.06 * (*high - *low), 1e-3);
  return {*low - margin, *high + margin, start, end};
}

static void drawFrontier(raw_ostream &os, const Result &result) {
  constexpr double width = 720, height = 360, left = 56, bottom = 40, top = 12;
  std::vector<double> times{1}, decibels;
  // A model without any error has no decibels.
  auto isShown = [](double value) {
    return std::isfinite(value) && value < 150;
  };
  for (auto [time, value] : result.curve)
    if (isShown(value)) {
      times.push_back(time);
      decibels.push_back(value);
    }
  for (const Point &point : result.points)
    if (point.score && isShown(point.score->sqnr)) {
      times.push_back(point.relativeTime);
      decibels.push_back(point.score->sqnr);
    }
  if (decibels.empty())
    return;
  Axis x = makeAxis(times, left, width - 12),
       y = makeAxis(decibels, height - bottom, top);
  os << formatv("<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Signal "
                "to noise against time\">\n",
                width, height);
  constexpr int ticks = 5;
  for (int i = 0; i <= ticks; ++i) {
    double time = x.low + (x.high - x.low) * i / ticks,
           value = y.low + (y.high - y.low) * i / ticks;
    os << formatv("<line class=\"grid\" x1=\"{0:F1}\" x2=\"{1:F1}\" "
                  "y1=\"{2:F1}\" y2=\"{2:F1}\"/><text x=\"{3:F1}\" "
                  "y=\"{4:F1}\" text-anchor=\"end\">{5:F1}</text>\n",
                  x.start, x.end, y.at(value), x.start - 6, y.at(value) + 4,
                  value)
       << formatv("<text x=\"{0:F1}\" y=\"{1:F1}\" "
                  "text-anchor=\"middle\">{2:F2}</text>\n",
                  x.at(time), y.start + 16, time);
  }
  os << formatv("<text x=\"{0:F1}\" y=\"{1:F1}\" text-anchor=\"middle\">time, "
                "all 8 bits = 1</text>\n<text x=\"12\" y=\"{2:F1}\" "
                "transform=\"rotate(-90 12 {2:F1})\" "
                "text-anchor=\"middle\">SQNR dB</text>\n",
                (x.start + x.end) / 2, height - 6, (y.start + y.end) / 2);
  os << "<polyline class=\"expected\" points=\"";
  for (auto [time, value] : result.curve)
    if (isShown(value))
      os << formatv("{0:F1},{1:F1} ", x.at(time), y.at(value));
  os << "\"/>\n";
  if (result.bounds.minSqnr && *result.bounds.minSqnr > y.low &&
      *result.bounds.minSqnr < y.high)
    os << formatv("<line class=\"bound\" x1=\"{0:F1}\" x2=\"{1:F1}\" "
                  "y1=\"{2:F1}\" y2=\"{2:F1}\"/>\n",
                  x.start, x.end, y.at(*result.bounds.minSqnr));
  for (auto [index, point] : enumerate(result.points)) {
    if (!point.score || !isShown(point.score->sqnr))
      continue;
    os << formatv(
        "<circle class=\"{0}\" cx=\"{1:F1}\" cy=\"{2:F1}\" "
        "r=\"{3}\"><title>{4} "
        "tensors in 16 bits, {5} layers in float: {6}</title></circle>\n",
        result.chosen == index ? "chosen" : "judged", x.at(point.relativeTime),
        y.at(point.score->sqnr), result.chosen == index ? 7 : 5, point.wide,
        point.floats, escape(describe(*point.score, result.bounds)));
  }
  os << "</svg>\n";
}

std::string Result::toHtml(StringRef model) const {
  std::string page;
  raw_string_ostream os(page);
  os << R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Accuracy within a budget</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
svg{width:100%;height:auto;font-size:11px}svg text{fill:currentColor}
.grid{stroke:currentColor;opacity:.15}.expected{fill:none;stroke:currentColor;opacity:.5}
.bound{stroke:#c43;stroke-dasharray:5 4}.judged{fill:#37a}.chosen{fill:#c43}
table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #8884}
tr.chosen{font-weight:bold}code{overflow-wrap:anywhere}
</style></head><body>
)";
  os << "<h1>" << escape(model) << " within a budget</h1>\n<p>"
     << escape(describe(bounds)) << ". ";
  if (chosen && points[*chosen].score)
    os << "Chosen: " << escape(describe(*points[*chosen].score, bounds))
       << format(", %.2f times the time of all 8 bits.",
                 points[*chosen].relativeTime);
  else if (!reason.empty())
    os << escape(reason) << ".";
  os << "</p>\n<p>Ranges of " << calibration << " samples, judged by "
     << heldBack << " others. Time "
     << (isMeasured ? "was measured."
                    : "is by a model of " + escape(target) + ".")
     << " The line is what is expected if errors add up; points are models "
        "that "
        "were judged.</p>\n";
  drawFrontier(os, *this);
  os << "<table><tr><th>16 bits</th><th>finer weights</th><th>float</th>"
        "<th>time</th><th>run</th><th>loss</th></tr>\n";
  for (auto [index, point] : enumerate(points)) {
    os << (chosen == index ? "<tr class=\"chosen\">" : "<tr>") << "<td>"
       << point.wide << "</td><td>" << point.finer << "</td><td>"
       << point.floats << "</td><td>" << format("%.2f", point.relativeTime)
       << "</td><td>";
    if (point.milliseconds)
      os << format("%.3f ms", *point.milliseconds);
    os << "</td><td>";
    if (point.score)
      for (const auto &[name, text] : lossesOf(*point.score, *this))
        os << escape(name) << " " << escape(text) << " ";
    os << "</td></tr>\n";
  }
  os << "</table>\n";
  auto list = [&](StringRef title, const std::vector<std::string> &names) {
    if (names.empty())
      return;
    os << "<h2>" << title << "</h2>\n<p><code>";
    for (const std::string &name : names)
      os << escape(name) << "<br>";
    os << "</code></p>\n";
  };
  list("Tensors in 16 bits", wideTensors);
  list("Weights with a scale for each channel", finerWeights);
  list("Layers in float", floatNodes);
  os << "</body></html>\n";
  return page;
}

Error onnxquant::budget::writeReport(StringRef path, StringRef model,
                                     const QuantizeReport &report,
                                     const Result &result) {
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  if (sys::path::extension(path).starts_with(".htm")) {
    (*file)->os() << result.toHtml(sys::path::filename(model));
  } else {
    json::Value value = report.toJson();
    (*value.getAsObject())["budget"] = result.toJson();
    (*file)->os() << formatv("{0:2}\n", value);
  }
  return (*file)->commit();
}
