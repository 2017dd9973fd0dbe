// What an observer counts of a tensor in one run: the only statement of a
// record's layout.
//
// Word 0 of a state (64 bits each) is the number of samples in the run. A
// record follows for each observed tensor: an ObserverRecord, then the extremes
// of each part (sample), an ObserverChannel for each channel, and the bins of
// the histogram. Records are canonical once an observer has ended: they depend
// on the values only, not on their order or on the instructions used.

#ifndef ONNXQUANT_SUPPORT_OBSERVERRECORD_H
#define ONNXQUANT_SUPPORT_OBSERVERRECORD_H

#include <cstdint>
#include <type_traits>

namespace onnxquant {

/// Both infinite, the minimum above the maximum, if there is no value. Zeros
/// have no sign.
struct ObserverExtremes {
  float min, max;
};

struct ObserverChannel {
  /// A sum is exact: limb i stands for limb * 2^(32 * i - sumBias). All limbs
  /// but the last, which has a sign, are in [0, 2^32).
  static constexpr int64_t sumLimbs = 14, sumBias = 224;

  ObserverExtremes extremes;
  int64_t count;
  int64_t sum[sumLimbs];
};

struct ObserverRecord {
  /// Magnitudes from here on are sentinels, not values.
  static constexpr float limit = 1e38f;
  /// The smallest range of a histogram is 2^minExponent.
  static constexpr int64_t minExponent = -100;

  /// How often the tensor was computed.
  int64_t executions;
  /// Values that count, and those that don't.
  int64_t count, nans, infinities, sentinels;
  ObserverExtremes extremes;
  /// The histogram's range is -2^exponent to 2^exponent.
  int64_t exponent;
  /// How many parts have extremes of their own; 0 if none has.
  int64_t partsUsed;
};

/// The sizes of a record's lists, and where they are.
struct ObserverLayout {
  /// Entries along the channel axis; 1 without one.
  int64_t channels = 1;
  /// Bins of the histogram; 0 without one.
  int64_t bins = 0;
  /// Samples that a run can hold at most.
  int64_t parts = 1;

  int64_t words() const { return binsOffset() + bins; }

  /// The members of a record that begins at `words`, const if these are.
  template <typename Word> auto *record(Word *words) const {
    return as<ObserverRecord>(words);
  }
  template <typename Word> auto *partExtremes(Word *words) const {
    return as<ObserverExtremes>(words + partsOffset());
  }
  template <typename Word> auto *channel(Word *words, int64_t number) const {
    return as<ObserverChannel>(words + channelsOffset()) + number;
  }
  template <typename Word> Word *histogram(Word *words) const {
    return words + binsOffset();
  }

private:
  static constexpr int64_t wordBytes = sizeof(int64_t);
  static_assert(sizeof(ObserverExtremes) == wordBytes &&
                    sizeof(ObserverRecord) % wordBytes == 0 &&
                    sizeof(ObserverChannel) % wordBytes == 0,
                "records are made of words");

  int64_t partsOffset() const { return sizeof(ObserverRecord) / wordBytes; }
  int64_t channelsOffset() const { return partsOffset() + parts; }
  int64_t binsOffset() const {
    return channelsOffset() + channels * (sizeof(ObserverChannel) / wordBytes);
  }

  template <typename T, typename Word> static auto *as(Word *words) {
    return reinterpret_cast<
        std::conditional_t<std::is_const_v<Word>, const T, T> *>(words);
  }
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_OBSERVERRECORD_H
