// How k is cut where B is larger than the caches: into equal blocks, of whole
// runs or of parts of one.

#include "KBlocks.h"
#include "Tuning.h"
#include "gtest/gtest.h"

using namespace onnxquant::kernels;

static void expectBlocks(int64_t runs, int64_t length, KBlocks expected) {
  std::optional<KBlocks> blocks = planKBlocks(runs, length);
  ASSERT_TRUE(blocks) << runs << " runs of " << length;
  EXPECT_EQ(blocks->count, expected.count);
  EXPECT_EQ(blocks->runs, expected.runs);
  EXPECT_EQ(blocks->length, expected.length);
}

TEST(KBlocks, CutsALongRun) { expectBlocks(1, 3072, {8, 1, 384}); }

TEST(KBlocks, TakesSeveralShortRuns) {
  // A 3x3 window of 64 channels: rows of taps.
  expectBlocks(9, 64, {3, 3, 64});
  expectBlocks(9, 256, {9, 1, 256});
}

TEST(KBlocks, LeavesAloneWhatFitsABlock) {
  EXPECT_FALSE(planKBlocks(1, tuning::mostKOfBlock));
  EXPECT_FALSE(planKBlocks(9, 32));
}

TEST(KBlocks, LeavesAloneWhatOnlyShortBlocksDivide) {
  // A prime.
  EXPECT_FALSE(planKBlocks(1, 397));
  EXPECT_FALSE(planKBlocks(397, 1));
}

TEST(KBlocks, CoversAllOfKWithBlocksOfEqualSize) {
  for (int64_t runs = 1; runs <= 49; ++runs)
    for (int64_t length = 1; length <= 1024; length += 13)
      if (std::optional<KBlocks> blocks = planKBlocks(runs, length)) {
        int64_t size = blocks->runs * blocks->length;
        EXPECT_EQ(blocks->count * size, runs * length);
        EXPECT_LE(size, tuning::mostKOfBlock);
        EXPECT_GE(size, tuning::leastKOfBlock);
        EXPECT_TRUE(blocks->runs == 1 || blocks->length == length);
      }
}
