// Register tiles and blocks of k of floats.

#include "RegisterTile.h"
#include "KBlocks.h"
#include "Tuning.h"
#include "gtest/gtest.h"

using namespace onnxquant;
using namespace onnxquant::kernels;

static TargetInfo avx2() {
  return getTargetInfo("x86_64-unknown-linux-gnu", "x86-64-v3", "");
}

TEST(RegisterTile, KeepsAccumulatorsInRegisters) {
  TargetInfo target = avx2();
  for (int64_t rows : {1, 2, 3, 7, 49, 128, 4096})
    for (int64_t columns : {1, 8, 24, 64, 1000}) {
      RegisterTile tile = chooseTile(target, rows, columns);
      int64_t vectors = tile.columns / (columns == 1 ? 1 : target.lanes());
      EXPECT_LE(tile.rows * vectors, target.numVectors)
          << rows << "x" << columns;
      EXPECT_LE(tile.rows, rows);
    }
}

TEST(RegisterTile, IsWideForOneRow) {
  RegisterTile many = chooseTile(avx2(), 4096, 1024);
  EXPECT_EQ(many.rows, 6);
  EXPECT_EQ(many.columns, 16);
  RegisterTile one = chooseTile(avx2(), 1, 1024);
  EXPECT_EQ(one.rows, 1);
  EXPECT_EQ(one.columns, 64);
  // Rows that aren't known are many.
  RegisterTile open = chooseTile(avx2(), std::nullopt, 1024);
  EXPECT_EQ(open.rows, many.rows);
  EXPECT_EQ(open.columns, many.columns);
}

TEST(KBlocks, CutsKEvenly) {
  std::optional<KBlocks> blocks = planKBlocks(/*runs=*/1, /*length=*/3072);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->count * blocks->runs * blocks->length, 3072);
  EXPECT_LE(blocks->runs * blocks->length, tuning::mostKOfBlock);
  // Whole rows of taps where several fit.
  blocks = planKBlocks(/*runs=*/9, /*length=*/128);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->length, 128);
  EXPECT_EQ(blocks->runs, 3);
  // A prime has no even blocks, and few products need none.
  EXPECT_FALSE(planKBlocks(1, 3079));
  EXPECT_FALSE(planKBlocks(1, 64));
}
