// Observers against plain loops, in every variant that this processor runs.

#include "OnnxQuant/Runtime/Observers.h"
#include "OnnxQuant/Runtime/ObserverKernels.h"
#include "OnnxQuant/Statistics/Statistics.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace onnxquant;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float notANumber = std::numeric_limits<float>::quiet_NaN();

/// A tensor of outer x channels x inner values.
struct Shape {
  int64_t first, outer, channels, inner, bins = 64, parts = 1, samples = 1;

  ObserverLayout layout() const { return {channels, bins, parts}; }
  int64_t size() const { return outer * channels * inner; }
};

using Values = std::vector<float>;
using Words = std::vector<int64_t>;

/// What is in most tensors.
Values tameValues(int64_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.3f, 2);
  Values values(size);
  for (float &value : values)
    value = normal(random);
  return values;
}

/// Magnitudes that no double can add up exactly, zeros of both signs,
/// subnormal numbers and values that are none.
Values oddValues(int64_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Values values = tameValues(size, seed);
  for (float &value : values) {
    value = std::ldexp(value, static_cast<int>(random() % 200) - 120);
    constexpr float odd[] = {0.0f, -0.0f, 1e-45f, -1e-40f, inf, -inf, 3.4e38f};
    if (random() % 16 == 0)
      value = odd[random() % 7];
    if (random() % 64 == 0)
      value = notANumber;
  }
  return values;
}

/// What a record must hold, by loops over all values.
struct Reference {
  explicit Reference(const Shape &shape, const Values &values);

  ObserverRecord record = {};
  std::vector<ObserverExtremes> parts;
  struct Channel {
    ObserverExtremes extremes = {inf, -inf};
    int64_t count = 0;
    ExactSum sum;
  };
  std::vector<Channel> channels;
  Histogram histogram;
};

void widen(ObserverExtremes &extremes, float value) {
  extremes.min = std::min(extremes.min, value);
  extremes.max = std::max(extremes.max, value);
}

Reference::Reference(const Shape &shape, const Values &values)
    : parts(shape.parts, {inf, -inf}), channels(shape.channels) {
  record.extremes = {inf, -inf};
  histogram.counts.assign(shape.bins, 0);
  for (int64_t i = 0; i < shape.size(); ++i) {
    float value = values[i];
    if (std::isnan(value)) {
      ++record.nans;
    } else if (std::isinf(value)) {
      ++record.infinities;
    } else if (std::fabs(value) >= 1e38f) {
      ++record.sentinels;
    } else {
      ++record.count;
      widen(record.extremes, value);
      int64_t row = i / (shape.channels * shape.inner);
      widen(parts[row * shape.samples / shape.outer], value);
      Channel &channel = channels[i / shape.inner % shape.channels];
      ++channel.count;
      widen(channel.extremes, value);
      channel.sum.add(static_cast<double>(value));
      if (shape.bins > 0)
        histogram.add(value);
    }
  }
}

Words emptyState(const Shape &shape) {
  Words state(1 + shape.layout().words(), 0);
  state[0] = shape.samples;
  return state;
}

void observe(const Shape &shape, const Values &values, Words &state) {
  onnxq_observe(values.data(), shape.first, shape.outer, shape.channels,
                shape.inner, state.data(), 1, shape.bins, shape.parts);
}

/// Memory for an observer that takes a tensor in parts.
struct Scratch {
  explicit Scratch(const Shape &shape)
      : words(countScratchWords(shape.channels, shape.bins) + 8) {
    auto address = reinterpret_cast<uintptr_t>(words.data());
    begin = words.data() + (64 - address % 64) % 64 / 8;
  }
  Words words;
  int64_t *begin;
};

void expectExtremes(const ObserverExtremes &found,
                    const ObserverExtremes &expected, const char *what) {
  EXPECT_EQ(found.min, expected.min) << what;
  EXPECT_EQ(found.max, expected.max) << what;
  EXPECT_FALSE(found.min == 0 && std::signbit(found.min)) << what;
  EXPECT_FALSE(found.max == 0 && std::signbit(found.max)) << what;
}

void expectRecord(const Shape &shape, const Words &state,
                  const Reference &expected, int64_t executions = 1) {
  const int64_t *words = state.data() + 1;
  ObserverLayout layout = shape.layout();
  const ObserverRecord &record = *layout.record(words);
  EXPECT_EQ(record.executions, executions);
  EXPECT_EQ(record.count, expected.record.count);
  EXPECT_EQ(record.nans, expected.record.nans);
  EXPECT_EQ(record.infinities, expected.record.infinities);
  EXPECT_EQ(record.sentinels, expected.record.sentinels);
  expectExtremes(record.extremes, expected.record.extremes, "tensor");
  for (int64_t i = 0; i < record.partsUsed; ++i)
    expectExtremes(layout.partExtremes(words)[i], expected.parts[i], "part");
  for (int64_t c = 0; c < shape.channels; ++c) {
    const ObserverChannel &channel = *layout.channel(words, c);
    EXPECT_EQ(channel.count, expected.channels[c].count) << c;
    expectExtremes(channel.extremes, expected.channels[c].extremes, "channel");
    ExactSum sum;
    sum.addLimbs(channel.sum);
    EXPECT_TRUE(sum == expected.channels[c].sum) << "sum of channel " << c;
    for (int64_t i = 0; i + 1 < ObserverChannel::sumLimbs; ++i)
      EXPECT_EQ(channel.sum[i], channel.sum[i] & 0xffffffff);
  }
  const int64_t *bins = layout.histogram(words);
  EXPECT_EQ(Words(bins, bins + shape.bins), expected.histogram.counts);
  if (shape.bins > 0 && record.count > 0)
    EXPECT_EQ(record.exponent, expected.histogram.exponent);
}

/// Runs with each variant that there is.
class ObserversTest : public testing::TestWithParam<const ObserverKernels *> {
protected:
  void SetUp() override {
    if (!GetParam())
      GTEST_SKIP() << "this processor has other instructions";
    exchangeKernels(GetParam());
  }
  void TearDown() override { exchangeKernels(nullptr); }
};

std::string
nameOf(const testing::TestParamInfo<const ObserverKernels *> &info) {
  constexpr const char *names[] = {"Portable", "Avx2", "Avx512"};
  return names[info.index];
}

const Shape shapes[] = {
    {1, 1, 1, 1},
    {1, 1, 1, 5000},
    {1, 1, 7, 11},
    {1, 300, 1, 1},
    {1, 300, 3, 1},
    {1, 64, 16, 1},
    {1, 259, 24, 1},
    {1, 70, 100, 1},
    {1, 5, 3000, 1},
    {1, 2, 13, 257},
    {1, 4100, 5, 1, 2048},
    {1, 40, 33, 1, 0},
    {4, 4, 5, 33, 64, 4, 4},
    {6, 96, 17, 1, 16, 3, 3},
    {2, 2, 3, 10, 64, 1, 2},
    {3, 3, 8, 40, 64, 4, 2},
};

} // namespace

TEST_P(ObserversTest, AreThoseOfPlainLoops) {
  for (const Shape &shape : shapes)
    for (const Values &values :
         {tameValues(shape.size()), oddValues(shape.size())}) {
      SCOPED_TRACE(testing::Message() << shape.outer << " x " << shape.channels
                                      << " x " << shape.inner);
      Words state = emptyState(shape);
      observe(shape, values, state);
      expectRecord(shape, state, Reference(shape, values));
    }
}

TEST_P(ObserversTest, GiveTheBitsOfThePortableVariant) {
  for (const Shape &shape : shapes)
    for (const Values &values :
         {tameValues(shape.size(), 3), oddValues(shape.size(), 4)}) {
      Words state = emptyState(shape), portable = emptyState(shape);
      observe(shape, values, state);
      exchangeKernels(getPortableKernels());
      observe(shape, values, portable);
      exchangeKernels(GetParam());
      EXPECT_EQ(state, portable);
    }
}

TEST_P(ObserversTest, TakeRowsInParts) {
  for (int64_t channels : {1, 5, 16, 40, 130}) {
    Shape shape = {2, 2 * 300, channels, 1, 256, 2, 2};
    Values values = oddValues(shape.size(), 7);
    // Ranges grow on the way.
    for (int64_t i = shape.size() / 3; i < shape.size(); ++i)
      values[i] *= 1000;
    Words whole = emptyState(shape), state = emptyState(shape);
    observe(shape, values, whole);
    Scratch scratch(shape);
    onnxq_observe_begin(scratch.begin, state.data(), 1, shape.first, channels,
                        shape.bins, shape.parts);
    // Backwards, in blocks within samples.
    for (int64_t row = shape.outer - 60; row >= 0; row -= 60)
      onnxq_observe_rows(scratch.begin, values.data() + row * channels, 60, row,
                         shape.outer);
    onnxq_observe_end(scratch.begin);
    EXPECT_EQ(state, whole);
    expectRecord(shape, state, Reference(shape, values));
  }
}

TEST_P(ObserversTest, TakeSlicesInParts) {
  Shape shape = {3, 3, 4, 1000, 128, 3, 3};
  Values values = tameValues(shape.size(), 9);
  Words state = emptyState(shape);
  Scratch scratch(shape);
  onnxq_observe_begin(scratch.begin, state.data(), 1, shape.first,
                      shape.channels, shape.bins, shape.parts);
  for (int64_t slice = 11; slice >= 0; --slice)
    onnxq_observe_slice(scratch.begin, values.data() + slice * shape.inner,
                        shape.inner, slice % 4, slice / 4, shape.outer);
  onnxq_observe_end(scratch.begin);
  expectRecord(shape, state, Reference(shape, values));
}

TEST_P(ObserversTest, AddUpRunsOfLoops) {
  Shape shape = {1, 50, 20, 1};
  Values both = oddValues(2 * shape.size());
  Values first(both.begin(), both.begin() + shape.size());
  Values second(both.begin() + shape.size(), both.end());
  Words state = emptyState(shape);
  observe(shape, first, state);
  observe(shape, second, state);
  Shape twice = {1, 100, 20, 1};
  expectRecord(twice, state, Reference(twice, both), 2);
}

TEST_P(ObserversTest, LeaveEmptyTensorsWithoutExtremes) {
  for (const Shape &shape : {Shape{0, 0, 3, 1}, Shape{1, 1, 2, 0}}) {
    Words state = emptyState(shape);
    observe(shape, {}, state);
    const ObserverRecord &record = *shape.layout().record(state.data() + 1);
    EXPECT_EQ(record.executions, 1);
    EXPECT_EQ(record.count, 0);
    EXPECT_GT(record.extremes.min, record.extremes.max);
  }
}

TEST_P(ObserversTest, CountNothingButOddValues) {
  for (float odd : {notANumber, inf, -inf, 1e38f, -3.4e38f}) {
    Shape shape = {1, 40, 16, 1};
    Values values(shape.size(), odd);
    Words state = emptyState(shape);
    observe(shape, values, state);
    expectRecord(shape, state, Reference(shape, values));
  }
}

TEST_P(ObserversTest, KeepSumsThatCancelOut) {
  Shape shape = {1, 4, 16, 1, 0};
  Values values(shape.size());
  // 2^100 + 2^-149 - 2^100.
  for (int64_t c = 0; c < 16; ++c) {
    values[c] = std::ldexp(1.0f, 100);
    values[16 + c] = std::ldexp(1.0f, -149);
    values[32 + c] = -std::ldexp(1.0f, 100);
  }
  Words state = emptyState(shape);
  observe(shape, values, state);
  ExactSum sum;
  sum.addLimbs(shape.layout().channel(state.data() + 1, 5)->sum);
  EXPECT_EQ(sum.toDouble(), std::ldexp(1.0, -149));
}

TEST_P(ObserversTest, KeepLongSums) {
  // More rows than wait for the record at once, all as large as can be.
  Shape shape = {1, 40000, 16, 1, 0};
  Values values(shape.size(), std::nextafter(4.0f, 0.0f));
  Words state = emptyState(shape);
  observe(shape, values, state);
  expectRecord(shape, state, Reference(shape, values));
}

INSTANTIATE_TEST_SUITE_P(Variants, ObserversTest,
                         testing::Values(getPortableKernels(), getAvx2Kernels(),
                                         getAvx512Kernels()),
                         nameOf);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

bool addColumns(const Values &values, int64_t rows, int64_t exponent,
                ObserverExtremes &extremes) {
  auto columns = static_cast<int64_t>(values.size()) / rows;
  Values mins(columns), maxs(columns);
  Words sums(columns);
  return getObserverKernels().addColumns(
      values.data(), rows, columns, exponent,
      {mins.data(), maxs.data(), sums.data()}, extremes);
}

} // namespace

TEST(ObserverKernelsTest, TellWhatIsNotExact) {
  ObserverExtremes extremes;
  Values values(5 * 20, 1.0f);
  EXPECT_TRUE(addColumns(values, 5, 1, extremes));
  // Beyond the last place of the grid.
  values[33] = std::ldexp(1.0f, -60);
  EXPECT_FALSE(addColumns(values, 5, 1, extremes));
  EXPECT_EQ(extremes.min, values[33]);
  values[33] = std::ldexp(1.0f, -26);
  EXPECT_TRUE(addColumns(values, 5, 1, extremes));
  values[33] = notANumber;
  EXPECT_FALSE(addColumns(values, 5, 1, extremes));
  values[33] = -inf;
  EXPECT_FALSE(addColumns(values, 5, 1, extremes));
  EXPECT_EQ(extremes.min, -inf);
}

TEST(ObserverKernelsTest, CountZerosOfBothSignsInOneBin) {
  for (int64_t count : {3, 16, 50}) {
    Values values(count, -0.0f);
    values[0] = 0.0f;
    Words bins(16, 0);
    std::vector<uint32_t> counts(ObserverKernels::copies *
                                 ObserverKernels::stride(16));
    getObserverKernels().addBins(values.data(), count, 3, 16, counts.data());
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t copy = 0; copy < ObserverKernels::copies; ++copy)
        bins[i] += counts[copy * ObserverKernels::stride(16) + i];
    EXPECT_EQ(bins[8], count);
  }
}
