// Statistics: exact sums, histograms that grow, and the laws of merging.

#include "RecordBuilder.h"
#include "gtest/gtest.h"
#include <random>

using namespace onnxquant;
using namespace onnxquant::test;

namespace {

/// Samples whose values span many magnitudes, with some that don't count.
std::vector<std::vector<float>> someSamples(unsigned seed, size_t number) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-40, 20);
  std::vector<std::vector<float>> samples(number);
  for (auto &sample : samples)
    for (int i = 0; i < 50; ++i)
      sample.push_back(std::ldexp(normal(random), exponent(random)));
  samples[0].push_back(std::numeric_limits<float>::quiet_NaN());
  samples[0].push_back(-std::numeric_limits<float>::infinity());
  samples[number - 1].push_back(-3.4e38f);
  samples[number - 1].push_back(0);
  samples[number - 1].push_back(-0.0f);
  return samples;
}

} // namespace

TEST(ExactSumTest, KeepsWhatFloatsLose) {
  ExactSum sum;
  sum.add(std::ldexp(1.0, 120));
  sum.add(std::ldexp(1.0, -149));
  sum.add(-std::ldexp(1.0, 120));
  EXPECT_EQ(sum.toDouble(), std::ldexp(1.0, -149));
  sum.add(-std::ldexp(1.0, -149));
  EXPECT_TRUE(sum == ExactSum());
}

TEST(ExactSumTest, DoesNotDependOnTheOrder) {
  std::mt19937 random(3);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i)
    values.push_back(std::ldexp(
        static_cast<float>(static_cast<int32_t>(random())) / 65536.0f,
        static_cast<int>(random() % 200) - 110));
  ExactSum forward, shuffled, left, right;
  for (double value : values)
    forward.add(value);
  std::shuffle(values.begin(), values.end(), random);
  for (size_t i = 0; i < values.size(); ++i) {
    shuffled.add(values[i]);
    (i % 3 ? left : right).add(values[i]);
  }
  left.add(right);
  EXPECT_TRUE(forward == shuffled);
  EXPECT_TRUE(forward == left);
}

TEST(ExactSumTest, CountsIntegersExactly) {
  ExactSum sum;
  int64_t expected = 0;
  for (int64_t i = 1; i <= 3000; ++i) {
    int64_t value = (i % 2 ? 1 : -1) * i * i;
    sum.add(static_cast<double>(value));
    expected += value;
  }
  EXPECT_EQ(sum.toDouble(), static_cast<double>(expected));
}

TEST(ExactSumTest, ReadsItsOwnText) {
  ExactSum sum, read;
  sum.add(-1234.5);
  EXPECT_TRUE(read.fromHex(sum.toHex()));
  EXPECT_TRUE(read == sum);
  for (const char *text : {"", "-", "12g", "0x12", " 1"})
    EXPECT_FALSE(read.fromHex(text)) << text;
  EXPECT_FALSE(read.fromHex(std::string(500, 'f')));
}

TEST(HistogramTest, CountsAsADirectLoopDoes) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.5f, 3);
  Histogram histogram;
  histogram.counts.assign(32, 0);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(normal(random));
    histogram.add(values.back());
  }
  // The smallest power of two above all magnitudes.
  double top = 0;
  for (float value : values)
    top = std::max(top, std::fabs(static_cast<double>(value)));
  EXPECT_GT(std::ldexp(1.0, histogram.exponent), top);
  EXPECT_LE(std::ldexp(1.0, histogram.exponent - 1), top);
  std::vector<int64_t> direct(32, 0);
  for (float value : values) {
    double place = value / histogram.width();
    auto bin = value < 0 ? -1 - static_cast<int64_t>(-place)
                         : static_cast<int64_t>(place);
    ++direct[16 + bin];
  }
  EXPECT_EQ(histogram.counts, direct);
  EXPECT_EQ(histogram.total(), 1000);
}

TEST(HistogramTest, GrowsByMergingPairs) {
  Histogram histogram;
  histogram.counts.assign(8, 0);
  histogram.exponent = 2;
  // Bins of width 1 from -4 to 4.
  histogram.counts = {1, 2, 3, 4, 5, 6, 7, 8};
  histogram.growTo(3);
  EXPECT_EQ(histogram.counts, (std::vector<int64_t>{0, 0, 3, 7, 11, 15, 0, 0}));
  histogram.growTo(100);
  EXPECT_EQ(histogram.counts, (std::vector<int64_t>{0, 0, 0, 10, 26, 0, 0, 0}));
  EXPECT_EQ(histogram.exponent, 100);
}

TEST(HistogramTest, CoarsensWithoutChangingItsRange) {
  Histogram histogram;
  histogram.exponent = 2;
  histogram.counts = {1, 2, 3, 4, 5, 6, 7, 8};
  Histogram coarse = histogram.coarsened(4);
  EXPECT_EQ(coarse.exponent, 2);
  EXPECT_EQ(coarse.counts, (std::vector<int64_t>{3, 7, 11, 15}));
}

TEST(StatisticsTest, MergeIsCommutativeAndAssociative) {
  TensorStatistics a = statisticsOf(someSamples(1, 3));
  TensorStatistics b = statisticsOf(someSamples(2, 4));
  TensorStatistics c = statisticsOf(someSamples(3, 2));
  TensorStatistics ab = a, ba = b, bc = b, left, right = a;
  EXPECT_FALSE(bool(ab.merge(b)));
  EXPECT_FALSE(bool(ba.merge(a)));
  EXPECT_TRUE(ab == ba);
  left = ab;
  EXPECT_FALSE(bool(left.merge(c)));
  EXPECT_FALSE(bool(bc.merge(c)));
  EXPECT_FALSE(bool(right.merge(bc)));
  EXPECT_TRUE(left == right);
}

TEST(StatisticsTest, NothingIsNeutral) {
  TensorStatistics a = statisticsOf(someSamples(7, 3));
  TensorStatistics empty = statisticsOf({}), both = a, other = empty;
  EXPECT_FALSE(bool(both.merge(empty)));
  EXPECT_FALSE(bool(other.merge(a)));
  EXPECT_TRUE(both == a);
  EXPECT_TRUE(other == a);
}

TEST(StatisticsTest, ShardsMergeToTheWholeInAnyOrder) {
  auto samples = someSamples(11, 10);
  TensorStatistics whole = statisticsOf(samples);
  std::reverse(samples.begin(), samples.end());
  EXPECT_TRUE(whole == statisticsOf(samples));
  TensorStatistics merged = statisticsOf({});
  for (size_t shard = 0; shard < 3; ++shard) {
    std::vector<std::vector<float>> part;
    for (size_t i = shard; i < samples.size(); i += 3)
      part.push_back(samples[i]);
    EXPECT_FALSE(bool(merged.merge(statisticsOf(part))));
  }
  EXPECT_TRUE(merged == whole);
}

TEST(StatisticsTest, MeanIsThatOfTheDefinition) {
  std::vector<float> values;
  std::mt19937 random(9);
  std::normal_distribution<float> normal(1000, 0.25f);
  for (int i = 0; i < 500; ++i)
    values.push_back(normal(random));
  TensorStatistics s = statisticsOf({values});
  double mean = 0;
  for (float value : values)
    mean += value / 500.0;
  EXPECT_NEAR(s.mean(), mean, 1e-9);
}

TEST(StatisticsTest, OddValuesAreCountedOnly) {
  float inf = std::numeric_limits<float>::infinity();
  TensorStatistics s =
      statisticsOf({{1, -2, inf, -inf, std::nanf(""), -3.4e38f, 2e38f}});
  EXPECT_EQ(s.count, 2);
  EXPECT_EQ(s.nans, 1);
  EXPECT_EQ(s.infinities, 2);
  EXPECT_EQ(s.sentinels, 2);
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, 1);
  EXPECT_EQ(s.mean(), -0.5);
  EXPECT_EQ(s.histogram.total(), 2);
}

TEST(StatisticsTest, RefusesWhatDoesNotGoTogether) {
  TensorStatistics a = statisticsOf({{1}}, 64), b = statisticsOf({{1}}, 32);
  EXPECT_EQ(llvm::toString(a.merge(b)),
            "expects histograms of one size, but got 64 and 32 bins");
  TensorStatistics c(ObserverLayout{3, 64, 1}, 1);
  EXPECT_EQ(llvm::toString(a.merge(c)),
            "expects the same channels, but got 1 along axis -1 and 3 along "
            "axis 1");
  TensorStatistics d = statisticsOf({{1}}, 64);
  d.moving.emplace();
  EXPECT_NE(llvm::toString(a.merge(d)).find("moving average"),
            std::string::npos);
}

TEST(StatisticsTest, MovingAverageFollowsTheOrder) {
  ObserverLayout layout{1, 0, 1};
  TensorStatistics s(layout, -1);
  s.moving = MovingAverage{0.5, 0, 0};
  for (float top : {4.0f, 8.0f, 2.0f})
    s.addRecord(layout, recordOf(layout, {-1, top}), 1);
  EXPECT_EQ(s.moving->min, -1);
  EXPECT_EQ(s.moving->max, 4);
}
