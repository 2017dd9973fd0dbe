// Calibration methods against direct implementations of their definitions.

#include "OnnxQuant/Statistics/Methods.h"
#include "RecordBuilder.h"
#include "gtest/gtest.h"
#include <random>

using namespace onnxquant;
using namespace onnxquant::test;

namespace {

/// Gives a little to zeros and takes it from the rest; empty if it can't.
std::vector<double> smooth(const std::vector<double> &p) {
  double zeros = 0, others = 0;
  for (double value : p)
    ++(value == 0 ? zeros : others);
  if (others == 0 || 1e-4 * zeros / others >= 1)
    return {};
  std::vector<double> result;
  for (double value : p)
    result.push_back(value == 0 ? 1e-4 : value - 1e-4 * zeros / others);
  return result;
}

double divergence(std::vector<double> p, std::vector<double> q) {
  double sumP = 0, sumQ = 0, result = 0;
  for (double value : p)
    sumP += value;
  for (double value : q)
    sumQ += value;
  for (size_t i = 0; i < p.size(); ++i)
    result += p[i] / sumP * std::log((p[i] / sumP) / (q[i] / sumQ));
  return result;
}

/// The entropy method as its definition reads, step by step.
int64_t directEntropy(const std::vector<int64_t> &counts, int64_t groups,
                      int64_t limit) {
  int64_t zero = counts.size() / 2, best = std::max(groups / 2, limit);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = groups / 2; i <= limit; ++i) {
    std::vector<double> slice(counts.begin() + zero - i,
                              counts.begin() + zero + i);
    std::vector<double> p = slice;
    double inside = 0, left = 0, right = 0;
    for (int64_t k = 0; k < zero - i; ++k)
      left += static_cast<double>(counts[k]);
    for (size_t k = zero + i; k < counts.size(); ++k)
      right += static_cast<double>(counts[k]);
    for (double value : slice)
      inside += value;
    p.front() += left;
    p.back() += right;
    if (inside < left + right)
      continue;
    int64_t merged = static_cast<int64_t>(slice.size()) / groups;
    std::vector<double> q(slice.size(), 0);
    for (int64_t g = 0; g < groups; ++g) {
      size_t from = g * merged;
      size_t to = g == groups - 1 ? slice.size() : from + merged;
      double sum = 0, nonzero = 0;
      for (size_t k = from; k < to; ++k) {
        sum += slice[k];
        nonzero += p[k] != 0;
      }
      for (size_t k = from; k < to; ++k)
        if (p[k] != 0)
          q[k] = sum / nonzero;
    }
    std::vector<double> smoothP = smooth(p), smoothQ = smooth(q);
    if (smoothP.empty() || smoothQ.empty())
      continue;
    double value = divergence(smoothP, smoothQ);
    // Rounding must not decide between equals.
    if (value < least - 1e-12) {
      least = value;
      best = i;
    }
  }
  return best;
}

MethodOptions with(CalibrationMethod method) {
  MethodOptions options;
  options.method = method;
  return options;
}

Range rangeOf(const TensorStatistics &s, const MethodOptions &options) {
  auto range = computeRange(s, options);
  EXPECT_TRUE(bool(range)) << llvm::toString(range.takeError());
  return range ? *range : Range{};
}

} // namespace

TEST(MethodsTest, EntropyIsThatOfTheDefinition) {
  std::mt19937 random(17);
  int clipped = 0;
  for (int trial = 0; trial < 40; ++trial) {
    int64_t bins = trial % 2 ? 256 : 128, groups = trial % 3 ? 16 : 32;
    std::vector<int64_t> counts(bins, 0);
    std::normal_distribution<double> normal(0, 0.02 * (1 + trial % 5));
    for (int i = 0; i < 3000; ++i) {
      double x = trial % 4 == 3 ? std::fabs(normal(random)) : normal(random);
      auto bin = static_cast<int64_t>(std::floor((x + 1) / 2 * bins));
      if (bin >= 0 && bin < bins)
        ++counts[bin];
    }
    // Outliers.
    counts[bins - 1] += trial % 7;
    int64_t limit = bins / 2;
    int64_t expected = directEntropy(counts, groups, limit);
    EXPECT_EQ(entropyThreshold(counts, groups, limit), expected) << trial;
    clipped += expected < limit;
  }
  EXPECT_GT(clipped, 10);
}

TEST(MethodsTest, EntropyWithAsManyGroupsAsBinsKeepsAll) {
  std::vector<int64_t> counts(128, 3);
  EXPECT_EQ(entropyThreshold(counts, 128, 64), 64);
}

TEST(MethodsTest, EntropyNeverClipsMostOfTheValues) {
  // All values lie far from zero in one direction.
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(0.7f + 0.0002f * static_cast<float>(i));
  TensorStatistics s = statisticsOf({values}, 2048);
  EXPECT_GE(rangeOf(s, with(CalibrationMethod::Entropy)).max, 0.79);
}

TEST(MethodsTest, MinMaxTakesExtremesAndAverageTheirMeans) {
  TensorStatistics s = statisticsOf({{-1, 4}, {-3, 2}, {0, 9}});
  Range extremes = rangeOf(s, with(CalibrationMethod::MinMax));
  EXPECT_EQ(extremes.min, -3);
  EXPECT_EQ(extremes.max, 9);
  Range means = rangeOf(s, with(CalibrationMethod::Average));
  EXPECT_DOUBLE_EQ(means.min, -4.0 / 3);
  EXPECT_DOUBLE_EQ(means.max, 5);
}

TEST(MethodsTest, SymmetricRangesHaveTheLargerMagnitude) {
  MethodOptions options = with(CalibrationMethod::MinMax);
  options.symmetric = true;
  Range range = rangeOf(statisticsOf({{-1, 4}}), options);
  EXPECT_EQ(range.min, -4);
  EXPECT_EQ(range.max, 4);
}

TEST(MethodsTest, PercentileCutsBothSides) {
  std::vector<float> values;
  for (int i = -1000; i <= 1000; ++i)
    values.push_back(static_cast<float>(i) / 100);
  values.push_back(500);
  TensorStatistics s = statisticsOf({values}, 65536);
  MethodOptions options = with(CalibrationMethod::Percentile);
  options.percentile = 90;
  Range range = rangeOf(s, options);
  // 5 of 100 below and above; a bin is 512 / 32768 wide.
  EXPECT_NEAR(range.min, -9, 0.02);
  EXPECT_NEAR(range.max, 9, 0.02);
  options.percentile = 100;
  EXPECT_EQ(rangeOf(s, options).max, 500);
  EXPECT_EQ(rangeOf(s, options).min, -10);
}

TEST(MethodsTest, MseBeatsExtremesWhereThereAreOutliers) {
  std::mt19937 random(23);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (int i = 0; i < 5000; ++i)
    values.push_back(normal(random));
  values.push_back(60);
  TensorStatistics s = statisticsOf({values}, 2048);
  MethodOptions options = with(CalibrationMethod::Mse);
  options.levels = 16;
  Range range = rangeOf(s, options);
  auto error = [&](Range r) {
    double step = (r.max - r.min) / 15, sum = 0;
    for (float value : values) {
      double clamped = std::min(std::max<double>(value, r.min), r.max);
      double rounded = std::nearbyint((clamped - r.min) / step) * step + r.min;
      sum += (value - rounded) * (value - rounded);
    }
    return sum;
  };
  EXPECT_LT(error(range), 0.8 * error({s.min, s.max}));
  // No range of a grid of candidates is much better.
  for (double low = -4; low < -0.5; low += 0.25)
    for (double high = 0.5; high < 60; high *= 1.2)
      EXPECT_GT(error({low, high}), 0.9 * error(range));
}

TEST(MethodsTest, AllZeroTensorsHaveARange) {
  TensorStatistics s = statisticsOf({{0, 0, 0}}, 2048);
  for (CalibrationMethod method :
       {CalibrationMethod::MinMax, CalibrationMethod::Entropy,
        CalibrationMethod::Percentile, CalibrationMethod::Mse}) {
    Range range = rangeOf(s, with(method));
    EXPECT_EQ(range.min, 0);
    EXPECT_EQ(range.max, 0);
  }
}

TEST(MethodsTest, SaysWhatIsMissing) {
  auto message = [](const TensorStatistics &s, CalibrationMethod method) {
    auto range = computeRange(s, with(method));
    return range ? std::string() : llvm::toString(range.takeError());
  };
  TensorStatistics s = statisticsOf({{1}}, 0);
  EXPECT_EQ(message(s, CalibrationMethod::Entropy),
            "has no histogram, which method entropy needs");
  EXPECT_NE(message(s, CalibrationMethod::MovingAverage), "");
  EXPECT_EQ(message(statisticsOf({}), CalibrationMethod::MinMax),
            "has no values");
  auto naive = parseMethod("naive");
  ASSERT_TRUE(bool(naive));
  EXPECT_EQ(*naive, CalibrationMethod::Average);
  auto unknown = parseMethod("kl");
  ASSERT_FALSE(bool(unknown));
  EXPECT_NE(llvm::toString(unknown.takeError()).find("but got 'kl'"),
            std::string::npos);
}
