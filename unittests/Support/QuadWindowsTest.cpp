// Windowed quads: the kernel's steps in scalar code, on the packed blob, give
// the plain sum of products for all weights and activations, without a sum that
// leaves 16 bits.

#include "OnnxQuant/Support/QuadWindows.h"
#include "OnnxQuant/Support/DotCost.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

using namespace onnxquant;

using Bytes = std::vector<int8_t>;

static void inOrder(int64_t count, llvm::function_ref<void(int64_t)> body) {
  for (int64_t i = 0; i < count; ++i)
    body(i);
}

namespace {
/// Runs a blob as the kernel does.
class BlobRunner {
public:
  BlobRunner(const Bytes &blob, const WeightShape &shape)
      : blob(blob), shape(shape), layout(quadBlob(shape)) {}

  /// One row of activations times panel `number`.
  std::array<int32_t, 16> run(llvm::ArrayRef<uint8_t> row, int64_t number) {
    reorder(row, number);
    sums.fill(0);
    int64_t counts = layout.counts() + 32 * number, at = 0;
    for (int kind = 0; kind < 3; ++kind)
      for (; at < read(counts + 4 * kind); ++at)
        addWindow(number * layout.windows + at, kind);
    for (int64_t i = read(counts + 12); i < read(counts + 16); ++i)
      addExtra(layout.extras() + i * quadExtraBytes);
    return sums;
  }

private:
  int32_t read(int64_t at) const {
    int32_t value;
    std::memcpy(&value, &blob[at], 4);
    return value;
  }

  void reorder(llvm::ArrayRef<uint8_t> row, int64_t number) {
    scratch.assign(layout.windows * 16, 0);
    int64_t perSegment = layout.windows / shape.segments;
    for (int64_t w = 0; w < layout.windows; ++w) {
      int64_t begin = std::min(w % perSegment * 16, shape.length - 16);
      begin += w / perSegment * shape.length;
      for (int slot = 0; slot < 16; ++slot) {
        uint8_t from = blob[(number * layout.windows + w) * 16 + slot];
        scratch[w * 16 + slot] = from & 0x80 ? 0 : row[begin + from];
      }
    }
  }

  /// A sum of two or four products as the machine keeps it.
  static int checked(int sum) {
    EXPECT_TRUE(sum >= -32768 && sum <= 32767) << "a lane saturates: " << sum;
    return sum;
  }

  /// Adjacent products of bundle `b` of column `c`.
  int pair(int64_t weights, int64_t from, int b, int c, int half) const {
    int sum = 0;
    for (int slot = 2 * half; slot < 2 * half + 2; ++slot)
      sum +=
          scratch[from + b * 4 + slot] * blob[weights + b * 64 + c * 4 + slot];
    return checked(sum);
  }

  void addWindow(int64_t place, int kind) {
    int64_t weights = layout.weights() + place * quadWindowBytes;
    int64_t from = read(layout.offsets() + 4 * place);
    int doubles = 2 - kind;
    for (int c = 0; c < 16; ++c)
      for (int half = 0; half < 2; ++half)
        for (int b = 0; b < 4; b += b < 2 * doubles ? 2 : 1) {
          int lane = pair(weights, from, b, c, half);
          if (b < 2 * doubles)
            lane = checked(lane + pair(weights, from, b + 1, c, half));
          sums[c] += lane;
        }
  }

  void addExtra(int64_t at) {
    int64_t from = read(at);
    for (int c = 0; c < 16; ++c)
      for (int half = 0; half < 2; ++half) {
        int lane = 0;
        for (int slot = 2 * half; slot < 2 * half + 2; ++slot) {
          uint8_t index = blob[at + 4 + slot];
          int x = index & 0x80 ? 0 : scratch[from + index];
          lane += x * blob[at + 8 + c * 4 + slot];
        }
        sums[c] += checked(lane);
      }
  }

  const Bytes &blob;
  WeightShape shape;
  QuadBlob layout;
  std::vector<uint8_t> scratch;
  std::array<int32_t, 16> sums;
};
} // namespace

/// Compares every column with the plain sum, for random and extreme rows.
static void expectExact(const Bytes &weights, const WeightShape &shape) {
  Bytes blob = writeQuads(packQuadPanels(weights, shape, inOrder), shape);
  BlobRunner runner(blob, shape);
  std::mt19937 random(7);
  int64_t panels = panelCount(shape, {16, 4});
  for (int kind = 0; kind < 4; ++kind) {
    std::vector<uint8_t> row(shape.rows());
    for (uint8_t &x : row)
      x = kind == 0 ? 255 : kind == 1 ? random() : random() % 2 ? 255 : 0;
    for (int64_t number = 0; number < panels * shape.groups; ++number) {
      auto sums = runner.run(row, number);
      for (int c = 0; c < 16; ++c) {
        int64_t column = number % panels * 16 + c;
        if (column >= shape.columns)
          continue;
        int32_t sum = 0;
        int64_t first = number / panels * shape.rows() * shape.columns;
        for (int64_t k = 0; k < shape.rows(); ++k)
          sum += row[k] * weights[first + k * shape.columns + column];
        ASSERT_EQ(sums[c], sum) << "column " << column;
      }
    }
  }
}

static Bytes uniform(const WeightShape &shape, int low, int high,
                     unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes weights(shape.elements());
  for (int8_t &w : weights)
    w = low + static_cast<int>(random() % (high - low + 1));
  return weights;
}

/// Normally distributed, the largest of 127.
static Bytes bell(const WeightShape &shape, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes weights(shape.elements());
  for (int8_t &w : weights) {
    double sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += (random() % 65536) / 65536.0;
    w = std::clamp<int>(std::lround((sum - 6) * 127 / 3.8), -127, 127);
  }
  return weights;
}

TEST(QuadWindows, AreExactForEveryConstantWeight) {
  WeightShape shape = {1, 1, 16, 16};
  for (int w = -128; w < 128; ++w)
    expectExact(Bytes(shape.elements(), w), shape);
}

TEST(QuadWindows, AreExactAtTheExtremes) {
  WeightShape shape = {1, 2, 40, 32};
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    Bytes weights(shape.elements());
    static const int8_t values[] = {-128, 127, -127, 0, 64, -64, 65, 1};
    for (int8_t &w : weights)
      w = values[random() % (2 + round % 7)];
    expectExact(weights, shape);
  }
}

TEST(QuadWindows, AreExactForShapes) {
  for (WeightShape shape : {WeightShape{1, 1, 16, 1},
                            {1, 1, 17, 16},
                            {1, 3, 31, 20},
                            {3, 1, 48, 8},
                            {2, 3, 48, 33},
                            {1, 1, 200, 16}}) {
    expectExact(uniform(shape, -128, 127), shape);
    expectExact(bell(shape), shape);
    expectExact(uniform(shape, -32, 32), shape);
  }
}

TEST(QuadWindows, SmallWeightsAreAllQuads) {
  WeightShape shape = {1, 1, 64, 16};
  QuadPanel panel = packQuadPanel(uniform(shape, -32, 32), shape, 0);
  EXPECT_EQ(panel.classes, (std::array<int32_t, 3>{4, 0, 0}));
  EXPECT_TRUE(panel.extras.empty());
}

TEST(QuadWindows, AreTheSameInParallel) {
  WeightShape shape = {1, 1, 256, 256};
  Bytes weights = bell(shape);
  auto backwards = [](int64_t count, llvm::function_ref<void(int64_t)> body) {
    std::thread upper([&] {
      for (int64_t i = count - 1; i >= count / 2; --i)
        body(i);
    });
    for (int64_t i = count / 2 - 1; i >= 0; --i)
      body(i);
    upper.join();
  };
  EXPECT_EQ(writeQuads(packQuadPanels(weights, shape, inOrder), shape),
            writeQuads(packQuadPanels(weights, shape, backwards), shape));
}

TEST(DotCost, PrefersWhatMeasuredFaster) {
  // Bell-shaped weights of a deep layer: quads; flat weights: widening.
  WeightShape shape = {1, 1, 768, 16};
  int64_t widened = costOfBundles(shape, DotKind::Widened);
  EXPECT_LT(costOfQuads(packQuadPanel(bell(shape), shape, 0)), widened);
  EXPECT_GT(costOfQuads(packQuadPanel(uniform(shape, -128, 127), shape, 0)),
            widened);
  EXPECT_LT(costOfBundles(shape, DotKind::Pairs), widened);
}

TEST(DotCost, TransformsWhereItMeasuredFaster) {
  // What quads cost at least.
  auto plain = [](const WeightShape &shape, int64_t places) {
    return (places + 3) / 4 * panelCount(shape, {quadColumns, 1}) *
           (shape.rows() / 8 * dotcost::doubleQuad + dotcost::quadTile);
  };
  WeightShape early = {1, 9, 64, 64}, late = {1, 9, 512, 512};
  int64_t small = costOfWinograd(early, 2, 28 * 28);
  EXPECT_LT(small, plain(early, 56 * 56));
  EXPECT_LT(costOfWinograd(early, 4, 14 * 14), small);
  // Few places for many weights.
  EXPECT_GT(costOfWinograd(late, 2, 4 * 4), plain(late, 7 * 7));
}
