// The progress bar's line: counts, rate, time left, never wider than asked.

#include "OnnxQuant/Support/Progress.h"
#include "gtest/gtest.h"

using namespace onnxquant;

TEST(ProgressTest, TellsRateAndTimeLeft) {
  EXPECT_EQ(Progress::line("work", "samples", 25, 100, 5, 60),
            "work [#####.................] 25/100, 5 samples/s, 15s left");
  std::string slow = Progress::line("work", "samples", 1, 1000, 10, 100);
  EXPECT_NE(slow.find("2h46m left"), std::string::npos) << slow;
}

TEST(ProgressTest, HasNoTimeLeftAtEitherEnd) {
  EXPECT_EQ(Progress::line("work", "samples", 0, 10, 0, 40).find("left"),
            std::string::npos);
  EXPECT_EQ(Progress::line("work", "samples", 10, 10, 2, 80).find("left"),
            std::string::npos);
}

TEST(ProgressTest, HasNoRateBeforeAnythingIsDone) {
  EXPECT_EQ(Progress::line("work", "samples", 0, 10, 12, 40),
            "work [...................] 0/10 samples");
}

TEST(ProgressTest, TellsHowLongAPhaseHasLasted) {
  EXPECT_EQ(Phase::line("compiling", 12.7, 80), "compiling ... 12s");
  EXPECT_EQ(Phase::line("compiling", 100, 10), "compiling");
}

TEST(ProgressTest, FitsNarrowTerminals) {
  for (int columns : {1, 10, 30, 45, 80, 200})
    EXPECT_LE(Progress::line("calibrating", "samples", 3, 9, 1, columns).size(),
              static_cast<size_t>(columns));
}
