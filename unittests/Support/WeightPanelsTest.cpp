// Packed panels against the matrix they come from.

#include "OnnxQuant/Support/WeightPanels.h"
#include "gtest/gtest.h"
#include <vector>

using namespace onnxquant;

static std::vector<int8_t> numbered(const WeightShape &shape) {
  std::vector<int8_t> values(shape.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int8_t>(i * 37 + 11);
  return values;
}

/// The weight of `row` and `column` as a kernel finds it.
static int packedAt(llvm::ArrayRef<int16_t> panels, const WeightShape &shape,
                    const PanelShape &panel, int64_t group, int64_t row,
                    int64_t column) {
  int64_t perSegment = (shape.length + panel.depth - 1) / panel.depth;
  int64_t place = row % shape.length;
  int64_t bundle = row / shape.length * perSegment + place / panel.depth;
  int64_t number = group * panelCount(shape, panel) + column / panel.columns;
  int64_t at = number * bundleCount(shape, panel) + bundle;
  at = at * panel.columns + column % panel.columns;
  return panels[at * panel.depth + place % panel.depth];
}

TEST(WeightPanels, HoldEveryWeightOnce) {
  for (PanelShape panel : {PanelShape{16, 2}, {16, 4}, {8, 4}, {8, 8}, {16, 1}})
    for (WeightShape shape : {WeightShape{1, 1, 32, 32},
                              {2, 3, 9, 5},
                              {1, 1, 1, 1},
                              {3, 2, 16, 17}}) {
      std::vector<int8_t> from = numbered(shape);
      std::vector<int16_t> to(packedSize(shape, panel), -1);
      packPanels<int8_t, int16_t>(from, shape, panel, to);
      int64_t sum = 0, packed = 0, at = 0;
      for (int64_t g = 0; g < shape.groups; ++g)
        for (int64_t k = 0; k < shape.rows(); ++k)
          for (int64_t n = 0; n < shape.columns; ++n, ++at) {
            sum += std::abs(from[at]);
            ASSERT_EQ(packedAt(to, shape, panel, g, k, n), from[at]);
          }
      for (int16_t weight : to)
        packed += std::abs(weight);
      EXPECT_EQ(sum, packed) << "padding isn't zero";
    }
}

TEST(WeightPanels, SumsColumns) {
  WeightShape shape = {2, 2, 2, 2};
  std::vector<int8_t> from = {1,    2,   3,    4,   5,    6,   7,    8,
                              -128, 127, -128, 127, -128, 127, -128, 127};
  std::vector<int32_t> sums(4, 99);
  sumColumns(from, shape, sums);
  EXPECT_EQ(sums, (std::vector<int32_t>{16, 20, -512, 508}));
}

TEST(WeightPanels, ProvesPairs) {
  WeightShape two = {1, 1, 2, 1};
  auto isInBound = [&](int8_t a, int8_t b) {
    return pairsStayInBound(std::vector<int8_t>{a, b}, two);
  };
  EXPECT_TRUE(isInBound(64, 64));
  EXPECT_FALSE(isInBound(64, 65));
  EXPECT_TRUE(isInBound(-64, -64));
  EXPECT_FALSE(isInBound(-64, -65));
  EXPECT_TRUE(isInBound(127, -128));
  EXPECT_FALSE(isInBound(-128, -1));
  EXPECT_TRUE(isInBound(-128, 0));
  // Rows of different segments, or 1 and 2, aren't a pair.
  EXPECT_TRUE(pairsStayInBound({127, 127}, {1, 2, 1, 1}));
  EXPECT_TRUE(pairsStayInBound({0, 127, 127, 0}, {1, 1, 4, 1}));
  EXPECT_FALSE(pairsStayInBound({127, 127, 0, 0}, {1, 1, 4, 1}));
  EXPECT_FALSE(pairsStayInBound({0, 0, 100, 100}, {1, 1, 4, 1}));
  EXPECT_TRUE(pairsStayInBound({100, 0, 0, 100}, {1, 1, 2, 2}));
}

TEST(WeightPanels, EveryProvedPairIsExact) {
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b) {
      bool isInBound = pairsStayInBound({int8_t(a), int8_t(b)}, {1, 1, 2, 1});
      bool fits = true;
      for (int x : {0, 255})
        for (int y : {0, 255})
          fits &= x * a + y * b >= -32768 && x * a + y * b <= 32767;
      // The proof may refuse a pair that fits, but not the other way round.
      ASSERT_TRUE(!isInBound || fits) << a << " " << b;
    }
}

TEST(WeightPanels, PacksHalves) {
  std::vector<int8_t> to = packHalves({-8, 7, -1, 0, 1, 2, 3, 4}, 4);
  ASSERT_EQ(to.size(), 4u);
  // The first half of a vector in the low bits, eight more than it is.
  EXPECT_EQ(static_cast<uint8_t>(to[0]), 0x70);
  EXPECT_EQ(static_cast<uint8_t>(to[1]), 0x8f);
  EXPECT_EQ(static_cast<uint8_t>(to[2]), 0xb9);
  EXPECT_EQ(static_cast<uint8_t>(to[3]), 0xca);
}
