// Records that follow from others are those that observers would leave.

#include "OnnxQuant/Calibration/Records.h"
#include "RecordBuilder.h"
#include "gtest/gtest.h"

using namespace onnxquant;
using namespace onnxquant::test;

namespace {

const std::vector<float> few = {1.5f, -0.25f, 1e-20f, 3e38f, -7.0f};
const std::vector<float> more = {
    0.0f, 300.0f, -1e-3f, std::numeric_limits<float>::quiet_NaN(), -2.5f};

TensorStatistics statisticsOfRecord(const ObserverLayout &layout,
                                    llvm::ArrayRef<int64_t> record) {
  TensorStatistics statistics(layout, layout.channels > 1 ? 1 : -1);
  statistics.addRecord(layout, record, 1);
  return statistics;
}

} // namespace

TEST(RecordsTest, RepeatsElements) {
  ObserverLayout layout{1, 64, 1};
  std::vector<float> values;
  for (float value : few)
    values.insert(values.end(), 6, value);
  std::vector<int64_t> derived = repeatRecord(layout, recordOf(layout, few), 6);
  EXPECT_TRUE(statisticsOfRecord(layout, derived) ==
              statisticsOfRecord(layout, recordOf(layout, values)));
  EXPECT_EQ(derived[ObserverLayout::Executions], 1);
  EXPECT_EQ(derived[ObserverLayout::Sentinels], 6);
}

TEST(RecordsTest, JoinsWithinChannels) {
  ObserverLayout layout{1, 64, 1};
  std::vector<float> values = few;
  values.insert(values.end(), more.begin(), more.end());
  auto expected = statisticsOfRecord(layout, recordOf(layout, values));
  std::vector<int64_t> a = recordOf(layout, few), b = recordOf(layout, more);
  auto join = [&](llvm::ArrayRef<LaidRecord> parts) {
    return statisticsOfRecord(layout,
                              joinRecords(layout, parts, /*byChannel=*/false));
  };
  EXPECT_TRUE(join({{layout, a}, {layout, b}}) == expected);
  EXPECT_TRUE(join({{layout, b}, {layout, a}}) == expected);
}

TEST(RecordsTest, JoinsByChannel) {
  ObserverLayout one{1, 64, 1}, two{2, 64, 1}, three{3, 64, 1};
  std::vector<int64_t> a = recordOf(one, few), b = recordOf(one, more);
  std::vector<int64_t> pair =
      joinRecords(two, {{one, b}, {one, a}}, /*byChannel=*/true);
  std::vector<int64_t> all =
      joinRecords(three, {{one, a}, {two, pair}}, /*byChannel=*/true);
  TensorStatistics statistics = statisticsOfRecord(three, all);
  TensorStatistics first = statisticsOfRecord(one, a),
                   second = statisticsOfRecord(one, b);
  EXPECT_EQ(statistics.count, 2 * first.count + second.count);
  EXPECT_EQ(statistics.nans, 1);
  EXPECT_EQ(statistics.sentinels, 2);
  EXPECT_EQ(statistics.histogram.total(), statistics.count);
  EXPECT_EQ(statistics.min, -7.0f);
  EXPECT_EQ(statistics.max, 300.0f);
  EXPECT_EQ(statistics.channelMins, (std::vector<float>{-7.0f, -2.5f, -7.0f}));
  EXPECT_EQ(statistics.channelMaxs, (std::vector<float>{1.5f, 300.0f, 1.5f}));
  EXPECT_TRUE(statistics.channelSums[0] == first.channelSums[0]);
  EXPECT_TRUE(statistics.channelSums[1] == second.channelSums[0]);
  EXPECT_TRUE(statistics.channelSums[2] == first.channelSums[0]);
  EXPECT_EQ(statistics.channelCounts[1], second.count);
}

TEST(RecordsTest, TakesFloatsApart) {
  EXPECT_EQ(BinaryFraction(0.0f).integer, 0);
  for (float value : {1.0f, -0.75f, 1e-45f, 3e38f, -1.1f, 6.0f}) {
    BinaryFraction parts(value);
    EXPECT_NE(parts.integer % 2, 0);
    EXPECT_EQ(std::ldexp(static_cast<double>(parts.integer),
                         static_cast<int>(parts.exponent)),
              static_cast<double>(value));
  }
}

namespace {

/// Values whose products and sums below are exact in float.
const std::vector<float> plain = {1.5f,   -0.25f, 1024.0f, -7.0f,
                                  0.125f, 0.0f,   -96.0f};

std::vector<float> mapped(std::vector<float> values, float factor,
                          float addend) {
  for (float &value : values)
    value = value * factor + addend;
  return values;
}

} // namespace

TEST(RecordsTest, ScalesAndShiftsElements) {
  ObserverLayout layout{1, 0, 1};
  std::vector<int64_t> record = recordOf(layout, plain);
  for (float factor : {2.0f, 0.375f, -1.25f, 1.0f, -1024.0f})
    EXPECT_TRUE(
        statisticsOfRecord(layout, scaleRecord(layout, record, factor)) ==
        statisticsOfRecord(layout, recordOf(layout, mapped(plain, factor, 0))))
        << factor;
  for (float addend : {2.0f, -0.375f, 0.0f, 4096.0f, -33.25f})
    EXPECT_TRUE(
        statisticsOfRecord(layout, shiftRecord(layout, record, addend)) ==
        statisticsOfRecord(layout, recordOf(layout, mapped(plain, 1, addend))))
        << addend;
  // One after the other.
  auto both = shiftRecord(layout, scaleRecord(layout, record, -0.5f), 3.0f);
  EXPECT_TRUE(
      statisticsOfRecord(layout, both) ==
      statisticsOfRecord(layout, recordOf(layout, mapped(plain, -0.5f, 3))));
}

TEST(RecordsTest, ScalesWhatFloatsCanNotHold) {
  // Sums of subnormal numbers and of the largest, times 24 bits: compared as
  // integers, since floats would round.
  ObserverLayout layout{1, 0, 1};
  std::vector<float> values = {1e-45f, 9e37f, -3e-40f, 16777215.0f, 1.1f};
  TensorStatistics before =
      statisticsOfRecord(layout, recordOf(layout, values));
  float factor = 0.099999994f, addend = -1.1920929e-7f;
  BinaryFraction by(factor), plus(addend);
  TensorStatistics scaled = statisticsOfRecord(
      layout, scaleRecord(layout, recordOf(layout, values), factor));
  auto wide = [](const llvm::APInt &value) { return value.sext(1024); };
  auto times = [&](const llvm::APInt &value, int64_t by) {
    return wide(value) * llvm::APInt(1024, by, /*isSigned=*/true);
  };
  ASSERT_LT(by.exponent, 0);
  EXPECT_EQ(wide(scaled.channelSums[0].scaled()).shl(-by.exponent),
            times(before.channelSums[0].scaled(), by.integer));
  EXPECT_EQ(wide(scaled.squares.scaled()).shl(-2 * by.exponent),
            times(before.squares.scaled(), by.integer * by.integer));
  TensorStatistics shifted = statisticsOfRecord(
      layout, shiftRecord(layout, recordOf(layout, values), addend));
  auto count = static_cast<int64_t>(values.size());
  EXPECT_EQ(wide(shifted.channelSums[0].scaled()),
            wide(before.channelSums[0].scaled()) +
                llvm::APInt(1024, plus.integer * count, /*isSigned=*/true)
                    .shl(plus.exponent + ObserverLayout::sumBias));
  EXPECT_EQ(wide(shifted.squares.scaled()),
            wide(before.squares.scaled()) +
                times(before.channelSums[0].scaled(), plus.integer)
                    .shl(plus.exponent + 1 + ObserverLayout::squareBias -
                         ObserverLayout::sumBias) +
                llvm::APInt(1024, plus.integer * plus.integer * count)
                    .shl(2 * plus.exponent + ObserverLayout::squareBias));
  EXPECT_EQ(scaled.max, 9e37f * factor);
  EXPECT_EQ(shifted.min, -3e-40f + addend);
}

TEST(RecordsTest, KeepsWhatDoesNotCount) {
  ObserverLayout layout{1, 0, 1};
  std::vector<int64_t> none =
      recordOf(layout, {3e38f, std::numeric_limits<float>::quiet_NaN()});
  TensorStatistics statistics =
      statisticsOfRecord(layout, shiftRecord(layout, none, 1.0f));
  EXPECT_EQ(statistics.count, 0);
  EXPECT_EQ(statistics.sentinels, 1);
  EXPECT_EQ(statistics.nans, 1);
  // What would be a sentinel stays below it.
  auto large = scaleRecord(layout, recordOf(layout, {9e37f, -1.0f}), -2.0f);
  EXPECT_GT(statisticsOfRecord(layout, large).min, -ObserverLayout::limit);
  EXPECT_EQ(statisticsOfRecord(layout, large).max, 2.0f);
}

TEST(RecordsTest, TakesHistograms) {
  ObserverLayout layout{3, 64, 1}, own{1, 64, 1};
  std::vector<int64_t> record(layout.words(), 0), bins = recordOf(own, few);
  takeHistogram(layout, record, {own, bins});
  EXPECT_EQ(record[ObserverLayout::Exponent], bins[ObserverLayout::Exponent]);
  EXPECT_TRUE(std::equal(bins.begin() + own.histogram(), bins.end(),
                         record.begin() + layout.histogram()));
}
