// What was found, as a table and as JSON.

#include "OnnxQuant/Evaluation/Evaluation.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnxquant;

/// COCO's twelve numbers by name.
static std::vector<std::pair<StringRef, double>>
cocoNumbers(const CocoSummary &coco) {
  return {{"AP", coco.ap},
          {"AP50", coco.ap50},
          {"AP75", coco.ap75},
          {"AP_small", coco.apSmall},
          {"AP_medium", coco.apMedium},
          {"AP_large", coco.apLarge},
          {"AR_1", coco.ar1},
          {"AR_10", coco.ar10},
          {"AR_100", coco.ar100},
          {"AR_small", coco.arSmall},
          {"AR_medium", coco.arMedium},
          {"AR_large", coco.arLarge}};
}

static json::Object describe(const ModelScore &score, const Metrics &metrics) {
  json::Object object{{"model", score.name}};
  if (score.bytes > 0)
    object["bytes"] = score.bytes;
  if (metrics.top1)
    object["top1"] = score.top.top1Share();
  if (metrics.top5)
    object["top5"] = score.top.top5Share();
  if (metrics.coco) {
    json::Object coco, categories;
    for (auto [name, value] : cocoNumbers(score.coco))
      coco[name] = value;
    for (auto [category, value] : score.coco.perCategory)
      categories[std::to_string(category)] = value;
    coco["per_category"] = std::move(categories);
    object["coco"] = std::move(coco);
  }
  if (!score.latencies.empty())
    object["latency_ms"] =
        json::Object{{"median", score.latencies.quantile(0.5)},
                     {"min", score.latencies.quantile(0)},
                     {"p90", score.latencies.quantile(0.9)}};
  return object;
}

json::Value EvaluationResult::toJson() const {
  json::Object root = describe(model, metrics);
  root["samples"] = samples;
  root["skipped"] = skipped;
  root["batch"] = batch;
  if (reference) {
    root["reference"] = describe(*reference, metrics);
    json::Object against;
    if (metrics.sqnr)
      against["sqnr"] = likeness->sqnr();
    if (metrics.cosine)
      against["cosine"] = likeness->cosine();
    if (metrics.agreement) {
      against["agreement"] = likeness->agreement();
      against["agreement_rows"] = likeness->rows;
      against["equal_samples"] = likeness->equalShare();
    }
    double mine = model.latencies.quantile(0.5);
    if (mine > 0)
      against["speed_up"] = reference->latencies.quantile(0.5) / mine;
    root["against_reference"] = std::move(against);
  }
  return root;
}

void EvaluationResult::print(raw_ostream &os) const {
  std::vector<const ModelScore *> columns{&model};
  if (reference)
    columns.push_back(&*reference);
  os << samples
     << (metrics.coco && model.latencies.empty() ? " image" : " sample")
     << (samples == 1 ? "" : "s");
  if (skipped > 0)
    os << " (" << skipped << " skipped)";
  os << "\n" << left_justify("", 14);
  for (const ModelScore *column : columns)
    os << right_justify(sys::path::filename(column->name).take_back(20), 22);
  os << "\n";
  auto line = [&](StringRef name, auto value) {
    os << left_justify(name, 14);
    for (const ModelScore *column : columns)
      os << right_justify(value(*column), 22);
    os << "\n";
  };
  auto text = [](const char *pattern, double value) {
    std::string result;
    raw_string_ostream(result) << format(pattern, value);
    return result;
  };
  if (metrics.top1)
    line("top-1", [&](const ModelScore &score) {
      return text("%.2f %%", 100 * score.top.top1Share());
    });
  if (metrics.top5)
    line("top-5", [&](const ModelScore &score) {
      return text("%.2f %%", 100 * score.top.top5Share());
    });
  if (metrics.coco)
    for (size_t i = 0; i < 12; ++i)
      line(cocoNumbers(model.coco)[i].first, [&](const ModelScore &score) {
        double value = cocoNumbers(score.coco)[i].second;
        return value < 0 ? std::string("-") : text("%.3f", value);
      });
  if (!model.latencies.empty()) {
    line(batch > 1 ? "batch takes" : "latency", [&](const ModelScore &score) {
      return text("%.3f ms", score.latencies.quantile(0.5));
    });
    line("size", [&](const ModelScore &score) {
      return text("%.1f KB", static_cast<double>(score.bytes) / 1000);
    });
  }
  if (!likeness)
    return;
  if (metrics.sqnr)
    os << left_justify("SQNR", 14)
       << right_justify(text("%.2f dB", likeness->sqnr()), 22) << "\n";
  if (metrics.cosine)
    os << left_justify("cosine", 14)
       << right_justify(text("%.6f", likeness->cosine()), 22) << "\n";
  if (metrics.agreement) {
    os << left_justify("agreement", 14)
       << right_justify(text("%.2f %%", 100 * likeness->agreement()), 22)
       << (likeness->rows > likeness->samples
               ? " of " + std::to_string(likeness->rows) + " rows"
               : "")
       << "\n";
    // A text is right if all its letters are.
    if (likeness->rows > likeness->samples)
      os << left_justify("all rows", 14)
         << right_justify(text("%.2f %%", 100 * likeness->equalShare()), 22)
         << " of samples\n";
  }
  double mine = model.latencies.quantile(0.5);
  if (mine > 0)
    os << left_justify("speed-up", 14)
       << right_justify(
              text("%.2f x", reference->latencies.quantile(0.5) / mine), 22)
       << "\n";
}
