// COCO's metric against numbers computed by hand.

#include "OnnxQuant/Evaluation/Coco.h"
#include "gtest/gtest.h"

using namespace onnxquant;

static GroundTruth truth(int64_t image, int64_t category, Box box,
                         bool isCrowd = false) {
  return {image, category, box, box.area(), isCrowd};
}

TEST(Coco, ExactBoxesAreAllFound) {
  std::vector<GroundTruth> truths{truth(1, 1, {10, 10, 50, 50})};
  std::vector<Detection> found{{1, 1, {10, 10, 50, 50}, 0.9}};
  CocoSummary summary = evaluateCoco(truths, found, {1});
  EXPECT_NEAR(summary.ap, 1, 1e-9);
  EXPECT_NEAR(summary.ap50, 1, 1e-9);
  EXPECT_NEAR(summary.ap75, 1, 1e-9);
  EXPECT_NEAR(summary.ar1, 1, 1e-9);
  EXPECT_NEAR(summary.arMedium, 1, 1e-9);
  // There is no small and no large box to find.
  EXPECT_EQ(summary.apSmall, -1);
  EXPECT_EQ(summary.apLarge, -1);
}

/// The overlap is 304 * 244 of (2 * 348 - 304) * 244, or 0.7755: found at the
/// six thresholds up to 0.75 of ten.
TEST(Coco, OneBoxFoundAtSixOfTenThresholds) {
  std::vector<GroundTruth> truths{truth(1, 0, {214, 41, 348, 244})};
  std::vector<Detection> found{{1, 0, {258, 41, 348, 244}, 0.536}};
  CocoSummary summary = evaluateCoco(truths, found, {1});
  EXPECT_NEAR(summary.ap, 0.6, 1e-9);
  EXPECT_NEAR(summary.ap50, 1, 1e-9);
  EXPECT_NEAR(summary.ap75, 1, 1e-9);
  EXPECT_NEAR(summary.apLarge, 0.6, 1e-9);
  EXPECT_EQ(summary.apMedium, -1);
  EXPECT_NEAR(summary.ar1, 0.6, 1e-9);
  EXPECT_NEAR(summary.ar10, 0.6, 1e-9);
  EXPECT_NEAR(summary.ar100, 0.6, 1e-9);
}

/// Right, wrong, right of two: precision 1 up to recall 0.5 (51 of 101 points),
/// then 2/3 up to 1 (50 points).
TEST(Coco, InterpolatesAt101Recalls) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 40, 40}),
                                  truth(2, 1, {0, 0, 40, 40})};
  std::vector<Detection> found{{1, 1, {0, 0, 40, 40}, 0.9},
                               {1, 1, {100, 100, 40, 40}, 0.8},
                               {2, 1, {0, 0, 40, 40}, 0.7}};
  CocoSummary summary = evaluateCoco(truths, found, {1, 2});
  EXPECT_NEAR(summary.ap, (51 + 50 * 2.0 / 3) / 101, 1e-9);
  EXPECT_NEAR(summary.ar1, 1, 1e-9);
}

/// A later detection with more precision raises the earlier points.
TEST(Coco, PrecisionNeverRisesWithRecall) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 40, 40}),
                                  truth(2, 1, {0, 0, 40, 40})};
  std::vector<Detection> found{{1, 1, {100, 100, 40, 40}, 0.9},
                               {1, 1, {0, 0, 40, 40}, 0.8},
                               {2, 1, {0, 0, 40, 40}, 0.7}};
  // Precision 1/2 at recall 1/2 and 2/3 at 1: 2/3 everywhere.
  EXPECT_NEAR(evaluateCoco(truths, found, {1, 2}).ap, 2.0 / 3, 1e-9);
}

TEST(Coco, ASecondDetectionOfOneBoxIsWrong) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 40, 40}),
                                  truth(1, 1, {200, 0, 40, 40})};
  std::vector<Detection> found{{1, 1, {0, 0, 40, 40}, 0.9},
                               {1, 1, {0, 0, 40, 40}, 0.8},
                               {1, 1, {200, 0, 40, 40}, 0.7}};
  EXPECT_NEAR(evaluateCoco(truths, found, {1}).ap, (51 + 50 * 2.0 / 3) / 101,
              1e-9);
}

TEST(Coco, RecallCountsSoManyDetectionsOfAnImage) {
  std::vector<GroundTruth> truths;
  std::vector<Detection> found;
  for (int i = 0; i < 20; ++i) {
    Box box{100.0 * i, 0, 40, 40};
    truths.push_back(truth(1, 1, box));
    found.push_back({1, 1, box, 1.0 - 0.01 * i});
  }
  CocoSummary summary = evaluateCoco(truths, found, {1});
  EXPECT_NEAR(summary.ar1, 0.05, 1e-9);
  EXPECT_NEAR(summary.ar10, 0.5, 1e-9);
  EXPECT_NEAR(summary.ar100, 1, 1e-9);
  EXPECT_NEAR(summary.ap, 1, 1e-9);
}

TEST(Coco, AreaRanges) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 20, 20}),
                                  truth(1, 1, {200, 0, 60, 60}),
                                  truth(1, 1, {400, 0, 200, 200})};
  // The small one is missed.
  std::vector<Detection> found{{1, 1, {200, 0, 60, 60}, 0.9},
                               {1, 1, {400, 0, 200, 200}, 0.8}};
  CocoSummary summary = evaluateCoco(truths, found, {1});
  EXPECT_NEAR(summary.apSmall, 0, 1e-9);
  EXPECT_NEAR(summary.apMedium, 1, 1e-9);
  EXPECT_NEAR(summary.apLarge, 1, 1e-9);
  // Recall 2/3: points 0 to 0.66 of 101.
  EXPECT_NEAR(summary.ap, 67.0 / 101, 1e-9);
}

TEST(Coco, CrowdsAreNeitherFoundNorMissed) {
  std::vector<GroundTruth> truths{
      truth(1, 1, {0, 0, 40, 40}),
      truth(1, 1, {100, 0, 300, 300}, /*isCrowd=*/true)};
  // Both detections within the crowd count for nothing.
  std::vector<Detection> found{{1, 1, {110, 10, 40, 40}, 0.9},
                               {1, 1, {200, 100, 40, 40}, 0.85},
                               {1, 1, {0, 0, 40, 40}, 0.8}};
  EXPECT_NEAR(evaluateCoco(truths, found, {1}).ap, 1, 1e-9);
}

TEST(Coco, CategoriesAreAveraged) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 40, 40}),
                                  truth(1, 2, {0, 0, 40, 40})};
  std::vector<Detection> found{{1, 1, {0, 0, 40, 40}, 0.9}};
  CocoSummary summary = evaluateCoco(truths, found, {1});
  EXPECT_NEAR(summary.ap, 0.5, 1e-9);
  EXPECT_NEAR(summary.perCategory[1], 1, 1e-9);
  EXPECT_NEAR(summary.perCategory[2], 0, 1e-9);
}

TEST(Coco, NothingToFind) {
  std::vector<Detection> found{{1, 1, {0, 0, 40, 40}, 0.9}};
  CocoSummary summary = evaluateCoco({}, found, {1});
  EXPECT_EQ(summary.ap, -1);
  EXPECT_EQ(summary.ar100, -1);
}

TEST(Coco, OtherImagesTakeNoPart) {
  std::vector<GroundTruth> truths{truth(1, 1, {0, 0, 40, 40}),
                                  truth(2, 1, {0, 0, 40, 40})};
  std::vector<Detection> found{{1, 1, {0, 0, 40, 40}, 0.9}};
  EXPECT_NEAR(evaluateCoco(truths, found, {1}).ap, 1, 1e-9);
}
