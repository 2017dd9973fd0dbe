// Metrics of classes and of likeness, against numbers computed by hand.

#include "OnnxQuant/Evaluation/Evaluation.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace onnxquant;

TEST(TopCounts, HitsAmongTheBest) {
  TopCounts counts;
  std::vector<double> scores{0.1, 0.9, 0.5, 0.4, 0.3, 0.2, 0.0};
  counts.add(scores, 1); // best
  counts.add(scores, 5); // fifth
  counts.add(scores, 0); // sixth
  counts.add(scores, 6); // last
  EXPECT_EQ(counts.samples, 4);
  EXPECT_EQ(counts.top1, 1);
  EXPECT_EQ(counts.top5, 2);
  EXPECT_DOUBLE_EQ(counts.top1Share(), 0.25);
  EXPECT_DOUBLE_EQ(counts.top5Share(), 0.5);
}

TEST(TopCounts, OfEqualScoresTheFirstGoesFirst) {
  TopCounts counts;
  counts.add({1, 1}, 0);
  counts.add({1, 1}, 1);
  EXPECT_EQ(counts.top1, 1);
  EXPECT_EQ(bestClass({1, 3, 3}), 1);
}

TEST(TopCounts, NotANumberIsNoHit) {
  TopCounts counts;
  counts.add({NAN, 1}, 0);
  EXPECT_EQ(counts.top1, 0);
  EXPECT_EQ(counts.top5, 0);
}

TEST(Likeness, DecibelsAndCosine) {
  Likeness likeness;
  likeness.add(3, 3);
  likeness.add(4, 3.5);
  EXPECT_NEAR(likeness.sqnr(), 20, 1e-9);
  EXPECT_NEAR(likeness.cosine(), 23 / (5 * std::sqrt(21.25)), 1e-12);
}

TEST(Latencies, Quantiles) {
  Latencies times;
  for (double each : {5.0, 1.0, 3.0, 2.0, 4.0})
    times.add(each);
  EXPECT_EQ(times.quantile(0), 1);
  EXPECT_EQ(times.quantile(0.5), 3);
  EXPECT_EQ(times.quantile(0.9), 5);
  EXPECT_EQ(times.quantile(1), 5);
}

TEST(Metrics, Names) {
  auto metrics = parseMetrics("top1, cosine");
  ASSERT_TRUE(static_cast<bool>(metrics));
  EXPECT_TRUE(metrics->top1 && metrics->cosine);
  EXPECT_FALSE(metrics->top5 || metrics->coco);
  auto wrong = parseMetrics("top2");
  ASSERT_FALSE(static_cast<bool>(wrong));
  EXPECT_NE(llvm::toString(wrong.takeError()).find("'top2'"),
            std::string::npos);
}

static HostTensor tensor(std::vector<int64_t> dims, std::vector<float> values) {
  HostTensor result;
  result.dims = std::move(dims);
  result.data.resize(values.size() * sizeof(float));
  std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}

TEST(Likeness, AgreementIsAlongTheLastAxis) {
  Likeness likeness;
  // Two samples of two rows of three classes; the last row differs.
  likeness.addClasses(tensor({2, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}),
                      tensor({2, 2, 3}, {9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 9}),
                      2);
  EXPECT_EQ(likeness.rows, 4);
  EXPECT_DOUBLE_EQ(likeness.agreement(), 0.75);
  EXPECT_DOUBLE_EQ(likeness.equalShare(), 0.5);
}

TEST(Likeness, AgreementMeansSomethingForClassesOnly) {
  EXPECT_TRUE(hasClassScores(tensor({1, 3}, {-1, 4, 2})));
  EXPECT_TRUE(hasClassScores(tensor({1, 2, 1, 1}, {-1, 4})));
  // One number, a map, and rows that are no probabilities.
  EXPECT_FALSE(hasClassScores(tensor({1, 1}, {0.5f})));
  EXPECT_FALSE(hasClassScores(tensor({1, 1, 2, 2}, {0, 1, 1, 0})));
  EXPECT_FALSE(hasClassScores(tensor({1, 2, 2}, {3, 1, -1, 2})));
  EXPECT_TRUE(hasClassScores(tensor({1, 2, 2}, {0.25f, 0.75f, 1, 0})));
  EXPECT_TRUE(
      hasClassScores(tensor({1, 1, 2}, {std::log(0.5f), std::log(0.5f)})));
}
