// Suggestions for names that don't exist.

#include "OnnxQuant/Support/NearestName.h"
#include "gtest/gtest.h"

using namespace onnxquant;

TEST(NearestName, IsTheOneWithTheLeastEditDistance) {
  EXPECT_EQ(nearestName("cnov1", {"relu1", "conv1", "conv10"}), "conv1");
}

TEST(NearestName, TakesTheFirstOfEquals) {
  EXPECT_EQ(nearestName("b", {"a", "c"}), "a");
}

TEST(NearestName, SaysNothingOfWhatIsTooFar) {
  EXPECT_EQ(nearestName("modee", {"data", "mode"}, 2), "mode");
  EXPECT_EQ(nearestName("fly", {"run", "info"}, 2), "");
}

TEST(NearestName, SaysNothingWithoutCandidates) {
  EXPECT_EQ(suggestName("x", {}), "");
  EXPECT_EQ(suggestName("x", {"y"}), "; did you mean 'y'?");
}
