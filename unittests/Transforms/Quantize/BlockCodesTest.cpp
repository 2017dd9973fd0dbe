// Codes of blocks: how they lie in bytes, and that each algorithm keeps what it
// promises, judged by plain sums.

#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace onnxquant;

namespace {

/// Weights of a bell's shape.
std::vector<float> makeWeights(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> weights(count);
  for (float &weight : weights)
    weight = normal(random);
  return weights;
}

/// Inputs whose channels go together, and their products.
struct Inputs {
  int64_t rows, depth;
  std::vector<float> numbers;
  Covariance products;

  Inputs(int64_t rows, int64_t depth) : rows(rows), depth(depth) {
    std::vector<float> mixing = makeWeights(depth * depth, 3);
    std::vector<float> sources = makeWeights(rows * depth, 4);
    numbers.assign(rows * depth, 0);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < depth; ++j)
          numbers[i * depth + k] += sources[i * depth + j] *
                                    mixing[j * depth + k] /
                                    static_cast<float>(1 + j);
    products.size = depth;
    products.sums.assign(depth * depth, 0);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t a = 0; a < depth; ++a)
        for (int64_t b = 0; b < depth; ++b)
          products.sums[a * depth + b] +=
              numbers[i * depth + a] * numbers[i * depth + b];
  }

  /// The squared error of the results, computed with the inputs themselves.
  double errorOf(const std::vector<float> &weights,
                 const BlockCodes &codes) const {
    double total = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t n = 0; n < codes.rows; ++n) {
        double error = 0;
        for (int64_t k = 0; k < depth; ++k)
          error += static_cast<double>(numbers[i * depth + k]) *
                   (weights[n * depth + k] - codes.weight(n, k));
        total += error * error;
      }
    return total;
  }
};

/// The squared error, where weights count by their size and the typical one of
/// their block.
double weightError(const std::vector<float> &weights, const BlockCodes &codes) {
  double total = 0;
  int64_t size = codes.spec.blockSize;
  for (int64_t n = 0; n < codes.rows; ++n)
    for (int64_t first = 0; first < codes.depth; first += size) {
      int64_t end = std::min(first + size, codes.depth);
      double squares = 0;
      for (int64_t k = first; k < end; ++k)
        squares += std::pow(weights[n * codes.depth + k], 2);
      double typical = std::sqrt(squares / static_cast<double>(end - first));
      for (int64_t k = first; k < end; ++k) {
        double weight = weights[n * codes.depth + k];
        total += (typical + std::fabs(weight)) *
                 std::pow(weight - codes.weight(n, k), 2);
      }
    }
  return total;
}

TEST(PackBits, FirstNumberIsInTheLowestBits) {
  EXPECT_EQ(packBits({1, 2, 15}, 4), (std::vector<uint8_t>{0x21, 0x0f}));
  EXPECT_EQ(packBits({3, 0, 1, 2, 1}, 2), (std::vector<uint8_t>{0x93, 0x01}));
  EXPECT_EQ(packBits({7, 200}, 8), (std::vector<uint8_t>{7, 200}));
}

TEST(BlockCodes, RowsAndBlocksStartAtBytes) {
  // Three blocks of 16 in a row of 40: the last is padded with its zero point.
  BlockCodes codes({4, 16, false}, 2, 40);
  for (int64_t i = 0; i < 80; ++i)
    codes.codes[i] = static_cast<uint8_t>(i % 16);
  codes.zeros = {1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> bytes = codes.packCodes();
  ASSERT_EQ(bytes.size(), 2u * 3 * 8);
  EXPECT_EQ(bytes[0], 0x10);
  EXPECT_EQ(bytes[19], 0x76);
  EXPECT_EQ(bytes[20], 0x33);
  EXPECT_EQ(bytes[24], 0x98);
  EXPECT_EQ(codes.packZeros(), (std::vector<uint8_t>{0x21, 0x03, 0x54, 0x06}));
}

TEST(RoundToNearest, AsymmetricBlocksHoldZeroAndTheirEnds) {
  // From -1 to 2: a step of 0.2, zero is code 5.
  std::vector<float> weights = {-1, 2, 0, 0.11f, 0.09f, 0.3f, 1, 1};
  BlockCodes codes = roundToNearest(weights, 1, 8, {4, 16, false});
  EXPECT_FLOAT_EQ(codes.scales[0], 0.2f);
  EXPECT_EQ(codes.zeros[0], 5);
  EXPECT_EQ(codes.codes, (std::vector<uint8_t>{0, 15, 5, 6, 5, 7, 10, 10}));
  // All above zero: zero is the first code.
  codes = roundToNearest({3, 1.5f}, 1, 2, {4, 16, false});
  EXPECT_EQ(codes.zeros[0], 0);
  EXPECT_EQ(codes.codes, (std::vector<uint8_t>{15, 8}));
}

TEST(RoundToNearest, SymmetricScaleHasTheSignOfTheLargest) {
  BlockCodes codes = roundToNearest({-4, 2, 1, 0}, 1, 4, {4, 16, true});
  EXPECT_FLOAT_EQ(codes.scales[0], 0.5f);
  EXPECT_EQ(codes.codes, (std::vector<uint8_t>{0, 12, 10, 8}));
  codes = roundToNearest({4, 2, 1, 0}, 1, 4, {4, 16, true});
  EXPECT_FLOAT_EQ(codes.scales[0], -0.5f);
  EXPECT_EQ(codes.codes, (std::vector<uint8_t>{0, 4, 6, 8}));
}

TEST(RoundToNearest, BlocksOfZerosStayZero) {
  for (bool symmetric : {false, true}) {
    BlockCodes codes =
        roundToNearest(std::vector<float>(32, 0), 1, 32, {4, 16, symmetric});
    for (int64_t k = 0; k < 32; ++k)
      EXPECT_EQ(codes.weight(0, k), 0);
  }
}

TEST(FitWeighted, LosesNoMoreThanNearest) {
  std::vector<float> weights = makeWeights(64 * 96, 1);
  BlockSpec spec{4, 32, false};
  double nearest = weightError(weights, roundToNearest(weights, 64, 96, spec));
  EXPECT_LT(weightError(weights, fitWeighted(weights, 64, 96, spec)), nearest);
}

TEST(HalfQuadratic, LosesLessInAbsoluteErrors) {
  std::vector<float> weights = makeWeights(64 * 96, 2);
  BlockSpec spec{4, 32, false};
  auto error = [&](const BlockCodes &codes) {
    double total = 0;
    for (int64_t n = 0; n < 64; ++n)
      for (int64_t k = 0; k < 96; ++k)
        total += std::fabs(weights[n * 96 + k] - codes.weight(n, k));
    return total;
  };
  EXPECT_LT(error(halfQuadratic(weights, 64, 96, spec)),
            error(roundToNearest(weights, 64, 96, spec)));
}

TEST(ProductError, IsThatOfTheInputs) {
  Inputs inputs(50, 24);
  std::vector<float> weights = makeWeights(70 * 24, 5);
  BlockCodes codes = roundToNearest(weights, 70, 24, {4, 16, false});
  double direct = inputs.errorOf(weights, codes);
  EXPECT_NEAR(productError(weights, codes, inputs.products), direct,
              1e-3 * direct);
}

TEST(SecondOrder, HalvesTheErrorOfProductsAtLeast) {
  Inputs inputs(300, 48);
  std::vector<float> weights = makeWeights(70 * 48, 6);
  for (unsigned bits : {4u, 8u}) {
    BlockSpec spec{bits, 16, false};
    double nearest =
        inputs.errorOf(weights, roundToNearest(weights, 70, 48, spec));
    double better = inputs.errorOf(
        weights, secondOrder(weights, 70, 48, spec, inputs.products));
    EXPECT_LT(better, nearest / 2) << bits << " bits";
  }
}

TEST(SecondOrder, OrderAndScalesCanBeLeftAlone) {
  Inputs inputs(300, 48);
  std::vector<float> weights = makeWeights(70 * 48, 6);
  BlockSpec spec{4, 16, false};
  BlockCodes nearest = roundToNearest(weights, 70, 48, spec);
  BlockCodes all = secondOrder(weights, 70, 48, spec, inputs.products);
  BlockCodes inOrder = secondOrder(weights, 70, 48, spec, inputs.products,
                                   {0.01, /*sortsChannels=*/false, true});
  BlockCodes whole = secondOrder(weights, 70, 48, spec, inputs.products,
                                 {0.01, true, /*searchesScales=*/false});
  EXPECT_NE(all.codes, inOrder.codes);
  EXPECT_EQ(all.scales, inOrder.scales);
  EXPECT_EQ(whole.scales, nearest.scales);
  EXPECT_NE(all.scales, whole.scales);
  double bound = inputs.errorOf(weights, nearest) / 2;
  EXPECT_LT(inputs.errorOf(weights, inOrder), bound);
  EXPECT_LT(inputs.errorOf(weights, whole), bound);
}

TEST(SecondOrder, InputsThatAreAlwaysZeroDoNoHarm) {
  Inputs inputs(40, 16);
  for (int64_t k = 0; k < 16; ++k)
    inputs.products.sums[5 * 16 + k] = inputs.products.sums[k * 16 + 5] = 0;
  std::vector<float> weights = makeWeights(3 * 16, 7);
  BlockCodes codes =
      secondOrder(weights, 3, 16, {4, 16, true}, inputs.products);
  for (int64_t k = 0; k < 16; ++k)
    EXPECT_TRUE(std::isfinite(codes.weight(2, k)));
  Covariance nothing{16, std::vector<double>(16 * 16, 0)};
  codes = secondOrder(weights, 3, 16, {4, 16, false}, nothing);
  EXPECT_TRUE(std::isfinite(codes.weight(2, 15)));
}

TEST(ActivationAware, FavoursLargeChannels) {
  int64_t depth = 32;
  Covariance inputs{depth, std::vector<double>(depth * depth, 0)};
  for (int64_t k = 0; k < depth; ++k)
    inputs.sums[k * depth + k] = k == 9 ? 1e4 : 1;
  std::vector<float> weights = makeWeights(40 * depth, 8);
  std::vector<llvm::ArrayRef<float>> all = {weights};
  std::vector<float> factors =
      activationAwareFactors(all, depth, {4, 32, false}, inputs);
  for (int64_t k = 0; k < depth; ++k)
    EXPECT_TRUE(k == 9 || factors[9] > factors[k]);
}

} // namespace
