// Boxes from outputs, against numbers computed by hand.

#include "OnnxQuant/Evaluation/Detections.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace onnxquant;

static HostTensor tensor(std::vector<int64_t> dims, std::vector<float> values) {
  HostTensor result;
  result.name = "boxes";
  result.dims = std::move(dims);
  result.data.resize(values.size() * sizeof(float));
  std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}

TEST(Detections, Overlap) {
  EXPECT_DOUBLE_EQ(intersectionOverUnion({0, 0, 2, 2}, {1, 0, 2, 2}), 2.0 / 6);
  EXPECT_DOUBLE_EQ(intersectionOverUnion({0, 0, 2, 2}, {2, 0, 2, 2}), 0);
  EXPECT_DOUBLE_EQ(intersectionOverUnion({0, 0, 2, 2}, {0, 0, 2, 2}), 1);
  // Of a crowd: the share of the detection that lies within.
  EXPECT_DOUBLE_EQ(intersectionOverUnion({0, 0, 2, 2}, {1, 0, 9, 9}, true),
                   0.5);
}

TEST(Detections, SuppressionKeepsTheBestOfEachCategory) {
  std::vector<Detection> boxes{{0, 1, {0, 0, 10, 10}, 0.5},
                               {0, 1, {1, 0, 10, 10}, 0.9},
                               {0, 2, {1, 0, 10, 10}, 0.4},
                               {0, 1, {30, 0, 10, 10}, 0.3}};
  std::vector<Detection> kept = suppressOverlaps(boxes, 0.5, 100);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].score, 0.9);
  EXPECT_EQ(kept[1].category, 2);
  EXPECT_EQ(kept[2].score, 0.3);
  EXPECT_EQ(suppressOverlaps(boxes, 0.5, 1).size(), 1u);
  // 9 of 11 overlap; with a higher threshold both stay.
  EXPECT_EQ(suppressOverlaps(boxes, 0.9, 100).size(), 4u);
}

TEST(Detections, YoloV5) {
  DecodeOptions options;
  options.scoreThreshold = 0.1;
  auto found = decodeBoxes(tensor({1, 2, 7}, {50, 60, 20, 10, 0.5f, 0.1f, 0.8f,
                                              5, 5, 2, 2, 0.05f, 1, 1}),
                           0, options);
  ASSERT_TRUE(static_cast<bool>(found));
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].category, 1);
  EXPECT_NEAR((*found)[0].score, 0.4, 1e-6);
  EXPECT_EQ((*found)[0].box.x, 40);
  EXPECT_EQ((*found)[0].box.y, 55);
}

TEST(Detections, YoloV8HasBoxesInColumns) {
  DecodeOptions options;
  options.format = BoxFormat::YoloV8;
  options.scoreThreshold = 0.1;
  // Two boxes of one class: x, y, width, height, score in rows.
  auto found = decodeBoxes(
      tensor({1, 5, 2}, {50, 10, 60, 10, 20, 4, 10, 4, 0.7f, 0.01f}), 0,
      options);
  ASSERT_TRUE(static_cast<bool>(found));
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].box.x, 40);
  EXPECT_EQ((*found)[0].box.width, 20);
}

TEST(Detections, YoloXIsRelativeToCells) {
  DecodeOptions options;
  options.format = BoxFormat::YoloX;
  options.scoreThreshold = 0.1;
  options.inputHeight = options.inputWidth = 32;
  // 16 + 4 + 1 cells of 8, 16 and 32 pixels; the sixth and the eighteenth.
  std::vector<float> values(21 * 6, 0);
  float sixth[] = {0.5f, 0.5f, 0, std::log(2.0f), 1, 0.9f};
  float other[] = {0, 0, 0, 0, 1, 0.8f};
  std::copy(std::begin(sixth), std::end(sixth), values.begin() + 5 * 6);
  std::copy(std::begin(other), std::end(other), values.begin() + 17 * 6);
  auto found = decodeBoxes(tensor({1, 21, 6}, values), 0, options);
  ASSERT_TRUE(static_cast<bool>(found));
  ASSERT_EQ(found->size(), 2u);
  // Cell (1, 1) of 8 pixels: center 12, 12; 8 wide, 16 high.
  EXPECT_NEAR((*found)[0].box.x, 8, 1e-5);
  EXPECT_NEAR((*found)[0].box.y, 4, 1e-5);
  EXPECT_NEAR((*found)[0].box.height, 16, 1e-5);
  // Cell (1, 0) of 16 pixels: center 16, 0.
  EXPECT_NEAR((*found)[1].box.x, 8, 1e-5);
  EXPECT_NEAR((*found)[1].box.y, -8, 1e-5);
}

TEST(Detections, WrongShapesNameTheOutput) {
  auto wrong = decodeBoxes(tensor({1, 4}, {0, 0, 0, 0}), 0, {});
  ASSERT_FALSE(static_cast<bool>(wrong));
  EXPECT_NE(llvm::toString(wrong.takeError()).find("'boxes'"),
            std::string::npos);
  DecodeOptions options;
  options.format = BoxFormat::YoloX;
  options.inputHeight = options.inputWidth = 64;
  auto cells = decodeBoxes(tensor({1, 1, 6}, {0, 0, 0, 0, 1, 1}), 0, options);
  ASSERT_FALSE(static_cast<bool>(cells));
  llvm::consumeError(cells.takeError());
}
