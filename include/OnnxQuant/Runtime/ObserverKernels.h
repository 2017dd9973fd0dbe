// The inner loops of observers, in variants for instruction sets. All variants
// give the same results, bit for bit.

#ifndef ONNXQUANT_RUNTIME_OBSERVERKERNELS_H
#define ONNXQUANT_RUNTIME_OBSERVERKERNELS_H

#include "OnnxQuant/Support/ObserverRecord.h"
#include <cstdint>

namespace onnxquant {

/// Minimum, maximum and sum of each column of some rows. Sums are multiples of
/// a power of two, the grid.
struct ColumnSums {
  float *mins, *maxs;
  int64_t *sums;
};

struct ObserverKernels {
  const char *name;

  /// The fewest columns that `addColumns` takes, and the most rows.
  static constexpr int64_t minColumns = 16, maxRows = 1 << 12;
  /// Rows that are added up as doubles before they go to the grid, and bits of
  /// an integer that a double holds next to the number that moves it there.
  static constexpr int64_t rowsAtOnce = 4, gridBits = 51;
  /// Values below 2^exponent in magnitude are added on the grid
  /// 2^(exponent - bandBits).
  static constexpr int64_t bandBits = gridBits - 2;

  /// Looks at `rows` rows of `columns` values, which follow each other without
  /// gaps. Values must be below 2^exponent in magnitude for sums to be right,
  /// which `extremes` tells. False if a value is NaN, or if a sum isn't exact:
  /// then only `extremes`, but for NaN, are right.
  bool (*addColumns)(const float *x, int64_t rows, int64_t columns,
                     int64_t exponent, ColumnSums out,
                     ObserverExtremes &extremes);

  /// Copies of a histogram that `addBins` counts in by turns, and how far one
  /// is from the next.
  static constexpr int64_t copies = 4;
  static int64_t stride(int64_t bins) { return bins + 64; }

  /// Counts values below 2^exponent in magnitude, in bins as of
  /// ObserverRecord.
  void (*addBins)(const float *x, int64_t count, int64_t exponent, int64_t bins,
                  uint32_t *counts);
};

/// Each is null where this processor can't run it.
const ObserverKernels *getPortableKernels();
const ObserverKernels *getAvx2Kernels();
const ObserverKernels *getAvx512Kernels();

/// The best that this processor can run, found out once.
const ObserverKernels &getObserverKernels();

} // namespace onnxquant

#endif // ONNXQUANT_RUNTIME_OBSERVERKERNELS_H
