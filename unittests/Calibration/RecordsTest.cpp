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
