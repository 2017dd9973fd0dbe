// Sums of errors against numbers computed by hand.

#include "OnnxQuant/Debugging/Errors.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace onnxquant;

TEST(ErrorSums, DecibelsCosineAndLargestError) {
  ErrorSums sums;
  // |x| = 5, |x - y| = 0.5: 20 dB.
  sums.add({3, 4}, {3, 3.5f}, {2}, -1);
  EXPECT_NEAR(sums.decibels(), 20, 1e-9);
  EXPECT_NEAR(sums.noiseToSignal(), 0.01, 1e-12);
  EXPECT_NEAR(sums.cosine(), (9 + 14) / (5 * std::sqrt(9 + 12.25)), 1e-12);
  EXPECT_EQ(sums.maxError, 0.5);
  EXPECT_EQ(sums.min, 3);
  EXPECT_EQ(sums.max, 4);
}

TEST(ErrorSums, PartsAddUpToTheWhole) {
  ErrorSums whole, parts;
  whole.add({1, 2, 3, 4}, {1, 2.5f, 3, 3}, {4}, -1);
  parts.add({1, 2}, {1, 2.5f}, {2}, -1);
  parts.add({3, 4}, {3, 3}, {2}, -1);
  EXPECT_DOUBLE_EQ(whole.decibels(), parts.decibels());
  EXPECT_DOUBLE_EQ(whole.cosine(), parts.cosine());
  EXPECT_EQ(parts.count, 4);
}

TEST(ErrorSums, ChannelsAlongAnAxis) {
  ErrorSums sums;
  // [2, 2, 2], channels in the middle: elements 0, 1, 4, 5 and 2, 3, 6, 7.
  sums.add({1, 2, 10, 20, 3, 4, 30, 40}, {1, 2, 7, 7, 3, 4, 7, 7}, {2, 2, 2},
           1);
  ASSERT_EQ(sums.channels.size(), 2u);
  EXPECT_EQ(sums.channels[0].noise, 0);
  EXPECT_EQ(sums.channels[1].noise, 9 + 169 + 529 + 1089);
  EXPECT_EQ(sums.channels[1].min, 10);
  EXPECT_EQ(sums.channels[1].max, 40);
  EXPECT_EQ(sums.worstChannel()->first, 1);
  // The second channel varies, but became one number.
  EXPECT_EQ(sums.deadChannels(), 1);
}

TEST(ErrorSums, AConstantChannelIsNotDead) {
  ErrorSums sums;
  sums.add({5, 5, 1, 2}, {5, 5, 1, 2}, {2, 2}, 0);
  EXPECT_EQ(sums.deadChannels(), 0);
}

TEST(ErrorSums, PaddingAndNonFiniteValuesTakeNoPart) {
  ErrorSums sums;
  sums.add({-3.4e38f, NAN, INFINITY, 2}, {-3.4e38f, 1, 1, 1}, {4}, -1);
  EXPECT_EQ(sums.count, 1);
  EXPECT_EQ(sums.sentinels, 1);
  EXPECT_EQ(sums.nonFinite, 2);
  EXPECT_NEAR(sums.decibels(), 20 * std::log10(2.0), 1e-9);
}

TEST(ErrorSums, EqualTensorsHaveAFiniteError) {
  ErrorSums sums;
  sums.add({1, 1}, {1, 1}, {2}, -1);
  EXPECT_TRUE(std::isfinite(sums.decibels()));
  EXPECT_GT(sums.decibels(), 200);
  EXPECT_NEAR(sums.cosine(), 1, 1e-12);
}

TEST(ErrorSums, ZerosAreEqualToZeros) {
  ErrorSums sums;
  sums.add({0, 0}, {0, 0}, {2}, -1);
  EXPECT_EQ(sums.cosine(), 1);
}
