// Orders of changes, searches along them, and what samples can tell.

#include "OnnxQuant/Budget/Choice.h"
#include "OnnxQuant/Data/DataSet.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::budget;

using Kind = Change::Kind;

/// Three layers in a row, each with a tensor of its own.
static Problem makeChain(std::vector<double> tensorNoise,
                         std::vector<double> weightNoise) {
  Problem problem;
  for (size_t i = 0; i < tensorNoise.size(); ++i) {
    problem.tensors.push_back({"t" + std::to_string(i), tensorNoise[i], {i}});
    problem.layers.push_back(
        {"l" + std::to_string(i), "Conv", weightNoise[i], {}, 1, 1.5, 2});
  }
  return problem;
}

TEST(OrderMoves, TakesMostNoiseForItsTimeFirst) {
  std::vector<Move> moves = orderMoves(makeChain({1, 100, 3}, {0, 0, 0}));
  ASSERT_GE(moves.size(), 3u);
  EXPECT_EQ(moves[0].changes, (std::vector<Change>{{Kind::Wide, 1}}));
  EXPECT_EQ(moves[1].changes, (std::vector<Change>{{Kind::Wide, 2}}));
  EXPECT_DOUBLE_EQ(moves[0].noise, 4);
  EXPECT_DOUBLE_EQ(moves[0].time, 3.5);
}

TEST(OrderMoves, LeavesLayersInFloatWhereWeightsAreToBlame) {
  std::vector<Move> moves = orderMoves(makeChain({1, 1, 1}, {0, 0, 50}));
  EXPECT_EQ(moves[0].changes, (std::vector<Change>{{Kind::Float, 2}}));
  // Its tensor isn't rounded then either.
  EXPECT_DOUBLE_EQ(moves[0].noise, 2);
}

TEST(OrderMoves, PrefersFinerWeightsThatCostNothing) {
  Problem problem = makeChain({1, 1}, {60, 0});
  problem.layers[0].finerNoise = 2;
  std::vector<Move> moves = orderMoves(problem);
  EXPECT_EQ(moves[0].changes, (std::vector<Change>{{Kind::Finer, 0}}));
  EXPECT_DOUBLE_EQ(moves[0].noise, 4);
  EXPECT_DOUBLE_EQ(moves[0].time, 2);
}

TEST(OrderMoves, TakesAllReadersOfATensorTogether) {
  Problem problem = makeChain({0, 0, 0}, {1, 1, 1});
  problem.tensors = {{"shared", 90, {0, 1}}};
  // 16 bits are out of question.
  for (Layer &layer : problem.layers)
    layer.time16 = 1000;
  std::vector<Move> moves = orderMoves(problem);
  EXPECT_EQ(moves[0].changes,
            (std::vector<Change>{{Kind::Float, 0}, {Kind::Float, 1}}));
  EXPECT_DOUBLE_EQ(moves[0].noise, 1);
}

TEST(OrderMoves, LeavesOneLayerQuantizedAndNoiseNeverGrows) {
  Problem problem = makeChain({5, 4, 3}, {2, 2, 2});
  std::vector<Move> moves = orderMoves(problem);
  std::vector<bool> isFloat(3);
  double noise = noiseOf(problem);
  for (const Move &move : moves) {
    EXPECT_LT(move.noise, noise);
    noise = move.noise;
    for (const Change &change : move.changes)
      if (change.kind == Kind::Float)
        isFloat[change.index] = true;
  }
  EXPECT_EQ(std::count(isFloat.begin(), isFloat.end(), true), 2);
}

TEST(OrderMoves, NothingToGainGivesNoMoves) {
  EXPECT_TRUE(orderMoves(makeChain({0, 0}, {0, 0})).empty());
  EXPECT_TRUE(orderMoves(Problem()).empty());
}

TEST(Coarse, EqualTimesStayEqual) {
  // A few percent make no difference in the middle of a step.
  EXPECT_EQ(coarse(1.0), coarse(1.07));
  EXPECT_EQ(coarse(1.0), coarse(0.93));
  EXPECT_LT(coarse(1.0), coarse(1.2));
  EXPECT_EQ(coarse(0), 0);
}

TEST(FindLeast, FindsEveryPlaceInFewQuestions) {
  auto half = [](int64_t low, int64_t high) { return (low + high) / 2; };
  auto bad = [](int64_t low, int64_t) { return low + 1; };
  for (int64_t last : {0, 1, 2, 7, 100, 1000})
    for (int64_t right : {int64_t(0), last / 3, last}) {
      int64_t asked = 0;
      auto holds = [&](int64_t place) -> std::optional<bool> {
        ++asked;
        return place >= right;
      };
      EXPECT_EQ(findLeast(last, holds, half), right);
      EXPECT_LE(asked, 2 + std::log2(last + 1) + 1);
      asked = 0;
      EXPECT_EQ(findLeast(last, holds, bad), right);
      EXPECT_LE(asked, 3 + 2 * (std::log2(last + 1) + 1));
    }
}

TEST(FindLeast, SaysThatNothingHolds) {
  auto half = [](int64_t low, int64_t high) { return (low + high) / 2; };
  EXPECT_EQ(findLeast(
                9, [](int64_t) { return std::optional(false); }, half),
            std::nullopt);
  EXPECT_EQ(findLeast(
                9, [](int64_t) { return std::optional<bool>(); }, half),
            std::nullopt);
}

TEST(DropInterval, HoldsTheDropAndNarrows) {
  Interval none = dropInterval(100, 0, 0);
  // Nothing lost in 100 samples is no proof of less than a percent.
  EXPECT_GT(none.high, 0.01);
  EXPECT_LT(none.low, 0);
  Interval few = dropInterval(100, 5, 1), many = dropInterval(10000, 500, 100);
  EXPECT_LT(few.low, 0.04);
  EXPECT_GT(few.high, 0.04);
  EXPECT_LT(many.high - many.low, few.high - few.low);
  EXPECT_GT(many.low, 0.03);
}

TEST(Interval, DecibelsVaryAsSamplesDo) {
  // The same share of noise in all samples leaves nothing open.
  auto same = sqnrInterval({{10, 1}, {20, 2}, {30, 3}});
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->low, 10, 1e-12);
  EXPECT_NEAR(same->high, 10, 1e-12);
  // Noises of 1 and 3 beside equal signals: the logarithm's error is half, and
  // two samples leave nearly ten times that open.
  auto two = sqnrInterval({{10, 1}, {10, 3}});
  ASSERT_TRUE(two);
  EXPECT_NEAR((two->low + two->high) / 2, 10 * std::log10(5), 1e-9);
  EXPECT_GT(two->high - two->low, 2 * 9 * 0.5 * 4.343);
  std::vector<std::pair<double, double>> many;
  for (int i = 0; i < 400; ++i)
    many.emplace_back(10, i % 2 != 0 ? 1 : 3);
  auto surer = sqnrInterval(many);
  // 1.966 * 0.5 / sqrt(399) of a natural logarithm, in decibels, to each side.
  EXPECT_NEAR(surer->high - surer->low, 2 * 1.966 * 0.5 / 19.975 * 4.343, 1e-3);
  EXPECT_FALSE(sqnrInterval({{10, 1}}));
  EXPECT_FALSE(sqnrInterval({{10, 0}, {10, 0}}));
}

TEST(Interval, SharesAreWilsons) {
  // Brown, Cai and DasGupta: 95 of 100 with 10 samples and a share of one.
  EXPECT_NEAR(shareInterval(10, 1).low, 0.7225, 1e-3);
  EXPECT_DOUBLE_EQ(shareInterval(10, 1).high, 1);
  EXPECT_NEAR(shareInterval(100, 0.9).low, 0.8256, 1e-3);
  EXPECT_NEAR(shareInterval(100, 0.9).high, 0.9448, 1e-3);
}

TEST(SamplesFor, OneSampleIsNoMoreThanTheShare) {
  EXPECT_EQ(samplesFor(0.005), 200);
  EXPECT_EQ(samplesFor(0.01), 100);
  EXPECT_EQ(samplesFor(0.3), 4);
  EXPECT_EQ(samplesFor(1), 1);
}

TEST(Split, PartsAreSpreadAndComplete) {
  for (int64_t count : {2, 3, 8, 100, 1000}) {
    int64_t kept = calibrationShare(count), calibrating = 0;
    for (int64_t i = 0; i < count; ++i)
      calibrating += isForCalibration(i, count, kept);
    EXPECT_EQ(calibrating, kept);
    EXPECT_GE(kept, 1);
    EXPECT_LT(kept, count);
  }
  // No long run of one part.
  for (int64_t i = 0; i + 1 < 100; ++i)
    EXPECT_NE(isForCalibration(i, 100, 50), isForCalibration(i + 1, 100, 50));
}
