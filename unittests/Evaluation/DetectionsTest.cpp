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

/// Boxes of the first sample of one output.
static llvm::Expected<std::vector<Detection>>
decode(const HostTensor &output, const DecodeOptions &options) {
  return decodeBoxes({&output}, 0, options);
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
  auto found = decode(tensor({1, 2, 7}, {50, 60, 20, 10, 0.5f, 0.1f, 0.8f, 5, 5,
                                         2, 2, 0.05f, 1, 1}),
                      options);
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
  auto found = decode(
      tensor({1, 5, 2}, {50, 10, 60, 10, 20, 4, 10, 4, 0.7f, 0.01f}), options);
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
  auto found = decode(tensor({1, 21, 6}, values), options);
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
  auto wrong = decode(tensor({1, 4}, {0, 0, 0, 0}), {});
  ASSERT_FALSE(static_cast<bool>(wrong));
  EXPECT_NE(llvm::toString(wrong.takeError()).find("'boxes'"),
            std::string::npos);
  DecodeOptions options;
  options.format = BoxFormat::YoloX;
  options.inputHeight = options.inputWidth = 64;
  auto cells = decode(tensor({1, 1, 6}, {0, 0, 0, 0, 1, 1}), options);
  ASSERT_FALSE(static_cast<bool>(cells));
  llvm::consumeError(cells.takeError());
}

/// The number before a sigmoid.
static float logit(float p) { return std::log(p / (1 - p)); }

TEST(Detections, YoloV3ReadsThreeHeads) {
  DecodeOptions options;
  options.format = BoxFormat::YoloV3;
  options.scoreThreshold = 0.1;
  options.inputHeight = 32;
  options.inputWidth = 64;
  // One class: three anchors of six numbers in each cell of 4x8, 2x4 and 1x2.
  std::vector<HostTensor> heads;
  for (int64_t rows : {1, 2, 4}) {
    std::vector<float> values(18 * rows * rows * 2, -20);
    if (rows == 2) {
      // The second anchor of the cell at row 1, column 3.
      float numbers[] = {0,           logit(0.25f), 0, std::log(2.0f),
                         logit(0.9f), logit(0.8f)};
      for (size_t i = 0; i < 6; ++i)
        values[((6 + i) * 2 + 1) * 4 + 3] = numbers[i];
    }
    heads.push_back(tensor({1, 18, rows, rows * 2}, values));
  }
  auto found = decodeBoxes({&heads[0], &heads[1], &heads[2]}, 0, options);
  ASSERT_TRUE(static_cast<bool>(found));
  ASSERT_EQ(found->size(), 1u);
  // Steps of 16; the anchors of the middle head are 30x61, 62x45, 59x119.
  const Box &box = (*found)[0].box;
  EXPECT_NEAR((*found)[0].score, 0.72, 1e-5);
  EXPECT_NEAR(box.width, 62, 1e-4);
  EXPECT_NEAR(box.height, 90, 1e-4);
  EXPECT_NEAR(box.x + box.width / 2, 3.5 * 16, 1e-4);
  EXPECT_NEAR(box.y + box.height / 2, 1.25 * 16, 1e-4);
}

TEST(Detections, HeadsMayHaveChannelsLastAndOwnAnchors) {
  DecodeOptions options;
  options.format = BoxFormat::YoloV3;
  options.scoreThreshold = 0.1;
  options.inputHeight = options.inputWidth = 32;
  options.anchors = {{5, 7}};
  std::vector<float> values(6 * 4, -20);
  float numbers[] = {0, 0, 0, 0, logit(0.9f), logit(0.9f)};
  std::copy(std::begin(numbers), std::end(numbers), values.begin() + 6 * 2);
  for (std::vector<int64_t> dims :
       {std::vector<int64_t>{1, 2, 2, 6}, std::vector<int64_t>{1, 2, 2, 1, 6},
        std::vector<int64_t>{1, 1, 2, 2, 6}}) {
    auto found = decode(tensor(dims, values), options);
    ASSERT_TRUE(static_cast<bool>(found));
    ASSERT_EQ(found->size(), 1u);
    // Row 1, column 0, in the middle of a cell of 16 pixels.
    EXPECT_NEAR((*found)[0].box.x, 8 - 2.5, 1e-4);
    EXPECT_NEAR((*found)[0].box.y, 24 - 3.5, 1e-4);
  }
  // YOLOv5's formulas: the same center, twice the sigmoid of 0, squared.
  options.format = BoxFormat::YoloV5;
  auto found = decode(tensor({1, 1, 2, 2, 6}, values), options);
  ASSERT_TRUE(static_cast<bool>(found));
  EXPECT_NEAR((*found)[0].box.width, 5, 1e-4);
  options.anchors = {};
  auto wrong = decode(tensor({1, 1, 2, 2, 6}, values), options);
  ASSERT_FALSE(static_cast<bool>(wrong));
  EXPECT_NE(llvm::toString(wrong.takeError()).find("--anchors"),
            std::string::npos);
}

TEST(Detections, YoloV10IsFinal) {
  DecodeOptions options;
  options.format = BoxFormat::YoloV10;
  options.scoreThreshold = 0.1;
  auto found = decode(tensor({1, 3, 6}, {1, 2, 11, 22, 0.5f, 3, 1, 2, 11, 22,
                                         0.9f, 3, 0, 0, 1, 1, 0.01f, 0}),
                      options);
  ASSERT_TRUE(static_cast<bool>(found));
  // Overlaps are the network's own: both stay.
  ASSERT_EQ(found->size(), 2u);
  EXPECT_NEAR((*found)[0].score, 0.9, 1e-6);
  EXPECT_EQ((*found)[0].category, 3);
  EXPECT_EQ((*found)[1].box.width, 10);
  EXPECT_EQ((*found)[1].box.height, 20);
}

TEST(Detections, LetterboxedBoxesGoBack) {
  // 100x50 in 64x64: 64x32 with 16 above and below.
  Placement place = Placement::letterboxed(100, 50, 64, 64, true);
  Box box = place.toPicture({32, 32, 16, 8});
  EXPECT_NEAR(box.x, 50, 1e-9);
  EXPECT_NEAR(box.y, 25, 1e-9);
  EXPECT_NEAR(box.width, 25, 1e-9);
  EXPECT_NEAR(box.height, 12.5, 1e-9);
  EXPECT_NEAR(
      Placement::letterboxed(100, 50, 64, 64, false).toPicture({0, 16, 1, 1}).y,
      25, 1e-9);
  EXPECT_NEAR(Placement::stretched(100, 50, 64, 64).toPicture({0, 32, 1, 1}).y,
              25, 1e-9);
}
