// The COCO detection metric.
//
// Follows the definition: in each image and category detections are taken in
// the order of their scores, each takes the free box that it overlaps most, and
// at least by the threshold. Boxes out of the area range and crowds are taken
// last and count for nothing, as do detections out of the range that take none.

#include "OnnxQuant/Evaluation/Coco.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace llvm;
using namespace onnxquant;

namespace {

constexpr size_t numThresholds = 10, numRecalls = 101;
constexpr size_t mostDetections = 100;

struct AreaRange {
  double least, most;
};

/// One detection, judged at each threshold.
struct Judged {
  double score = 0;
  std::array<bool, numThresholds> isMatched{}, isIgnored{};
};

/// One image and category, in one area range.
struct JudgedImage {
  std::vector<Judged> detections;
  int64_t truths = 0;
};

/// Averages over thresholds of one category and area range.
struct Averages {
  std::array<double, numThresholds> precision, recall;
};

/// Ten thresholds, and 101 recalls; computed as other tools do, so that ties
/// fall on the same side.
double threshold(size_t index) {
  return 0.5 + (0.95 - 0.5) / 9 * static_cast<double>(index);
}
double recallAtPoint(size_t index) {
  return index + 1 == numRecalls ? 1.0 : 0.01 * static_cast<double>(index);
}

} // namespace

/// The best free box for a detection; -1 if none overlaps enough. Boxes that
/// count come first, so that one of them is never given up for another.
static int64_t findTruth(const Detection &detection,
                         ArrayRef<const GroundTruth *> truths,
                         ArrayRef<bool> ignored, ArrayRef<bool> isTaken,
                         double least) {
  int64_t best = -1;
  double overlap = std::min(least, 1 - 1e-10);
  for (size_t i = 0; i < truths.size(); ++i) {
    if (isTaken[i] && !truths[i]->isCrowd)
      continue;
    if (best >= 0 && !ignored[best] && ignored[i])
      break;
    double value = intersectionOverUnion(detection.box, truths[i]->box,
                                         truths[i]->isCrowd);
    if (value < overlap)
      continue;
    overlap = value;
    best = static_cast<int64_t>(i);
  }
  return best;
}

static JudgedImage judge(std::vector<const GroundTruth *> truths,
                         std::vector<const Detection *> detections,
                         AreaRange range) {
  auto isIgnored = [&](const GroundTruth *truth) {
    return truth->isCrowd || truth->area < range.least ||
           truth->area > range.most;
  };
  stable_sort(truths, [&](const GroundTruth *a, const GroundTruth *b) {
    return isIgnored(a) < isIgnored(b);
  });
  stable_sort(detections, [](const Detection *a, const Detection *b) {
    return a->score > b->score;
  });
  if (detections.size() > mostDetections)
    detections.resize(mostDetections);
  SmallVector<bool> ignored;
  for (const GroundTruth *truth : truths)
    ignored.push_back(isIgnored(truth));
  JudgedImage result;
  result.truths = count(ignored, false);
  for (const Detection *detection : detections) {
    Judged judged;
    judged.score = detection->score;
    result.detections.push_back(judged);
  }
  for (size_t t = 0; t < numThresholds; ++t) {
    SmallVector<bool> isTaken(truths.size(), false);
    for (auto [index, detection] : enumerate(detections)) {
      Judged &judged = result.detections[index];
      int64_t found =
          findTruth(*detection, truths, ignored, isTaken, threshold(t));
      if (found >= 0) {
        isTaken[found] = true;
        judged.isMatched[t] = true;
        judged.isIgnored[t] = ignored[found];
      } else {
        double area = detection->box.area();
        judged.isIgnored[t] = area < range.least || area > range.most;
      }
    }
  }
  return result;
}

/// The mean of precision at 101 recalls, and the greatest recall, of all images
/// with up to `limit` detections of each.
static std::optional<Averages> averagesOf(ArrayRef<JudgedImage> images,
                                          size_t limit) {
  int64_t truths = 0;
  std::vector<const Judged *> all;
  for (const JudgedImage &image : images) {
    truths += image.truths;
    for (const Judged &judged :
         ArrayRef<Judged>(image.detections).take_front(limit))
      all.push_back(&judged);
  }
  if (truths == 0)
    return std::nullopt;
  stable_sort(all, [](const Judged *a, const Judged *b) {
    return a->score > b->score;
  });
  Averages averages;
  for (size_t t = 0; t < numThresholds; ++t) {
    std::vector<double> recalls, precisions;
    double hits = 0, misses = 0;
    for (const Judged *judged : all) {
      if (!judged->isIgnored[t])
        (judged->isMatched[t] ? hits : misses) += 1;
      recalls.push_back(hits / static_cast<double>(truths));
      precisions.push_back(
          hits / (hits + misses + std::numeric_limits<double>::epsilon()));
    }
    // A later point with more precision raises the earlier ones.
    for (size_t i = precisions.size(); i > 1; --i)
      precisions[i - 2] = std::max(precisions[i - 2], precisions[i - 1]);
    double sum = 0;
    for (size_t r = 0; r < numRecalls; ++r) {
      auto at = lower_bound(recalls, recallAtPoint(r)) - recalls.begin();
      sum +=
          at < static_cast<ptrdiff_t>(precisions.size()) ? precisions[at] : 0;
    }
    averages.precision[t] = sum / numRecalls;
    averages.recall[t] = recalls.empty() ? 0 : recalls.back();
  }
  return averages;
}

static double mean(const std::vector<double> &values) {
  if (values.empty())
    return -1;
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

CocoSummary onnxquant::evaluateCoco(ArrayRef<GroundTruth> truths,
                                    ArrayRef<Detection> detections,
                                    ArrayRef<int64_t> images) {
  std::set<int64_t> wanted(images.begin(), images.end()), categories;
  using Key = std::pair<int64_t, int64_t>;
  std::map<Key, std::vector<const GroundTruth *>> truthsOf;
  std::map<Key, std::vector<const Detection *>> detectionsOf;
  for (const GroundTruth &truth : truths)
    if (wanted.count(truth.image)) {
      truthsOf[{truth.category, truth.image}].push_back(&truth);
      categories.insert(truth.category);
    }
  for (const Detection &detection : detections)
    if (wanted.count(detection.image))
      detectionsOf[{detection.category, detection.image}].push_back(&detection);
  constexpr double most = 1e10;
  const AreaRange ranges[] = {
      {0, most}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, most}};
  const size_t limits[] = {1, 10, mostDetections};
  // By area range, and by the number of detections.
  std::vector<double> precision[4], recall[4], recallAt[3], ap50, ap75;
  CocoSummary summary;
  for (int64_t category : categories)
    for (size_t range = 0; range < 4; ++range) {
      std::vector<JudgedImage> judged;
      for (int64_t image : wanted) {
        Key key{category, image};
        auto there = truthsOf.find(key);
        auto found = detectionsOf.find(key);
        if (there != truthsOf.end() || found != detectionsOf.end())
          judged.push_back(judge(
              there == truthsOf.end() ? std::vector<const GroundTruth *>()
                                      : there->second,
              found == detectionsOf.end() ? std::vector<const Detection *>()
                                          : found->second,
              ranges[range]));
      }
      auto all = averagesOf(judged, mostDetections);
      if (!all)
        continue;
      precision[range].insert(precision[range].end(), all->precision.begin(),
                              all->precision.end());
      recall[range].insert(recall[range].end(), all->recall.begin(),
                           all->recall.end());
      if (range != 0)
        continue;
      ap50.push_back(all->precision[0]);
      ap75.push_back(all->precision[5]);
      summary.perCategory[category] = mean(
          std::vector<double>(all->precision.begin(), all->precision.end()));
      for (size_t i = 0; i < 3; ++i) {
        auto some = averagesOf(judged, limits[i]);
        recallAt[i].insert(recallAt[i].end(), some->recall.begin(),
                           some->recall.end());
      }
    }
  summary.ap = mean(precision[0]);
  summary.ap50 = mean(ap50);
  summary.ap75 = mean(ap75);
  summary.apSmall = mean(precision[1]);
  summary.apMedium = mean(precision[2]);
  summary.apLarge = mean(precision[3]);
  summary.ar1 = mean(recallAt[0]);
  summary.ar10 = mean(recallAt[1]);
  summary.ar100 = mean(recallAt[2]);
  summary.arSmall = mean(recall[1]);
  summary.arMedium = mean(recall[2]);
  summary.arLarge = mean(recall[3]);
  return summary;
}
