// Observers: what instrumented code calls to count the values of a tensor.
//
// A tensor is observed as a whole (`onnxq_observe`), or in parts while they are
// computed: begin, then rows or slices in any order, then end. Between begin
// and end, sums and histograms wait in scratch memory of the caller's.

#ifndef ONNXQUANT_RUNTIME_OBSERVERS_H
#define ONNXQUANT_RUNTIME_OBSERVERS_H

#include "OnnxQuant/Support/ObserverRecord.h"
#include <cstdint>

namespace onnxquant {

struct ObserverKernels;

/// The words of scratch memory that an observer of so many channels and bins
/// needs. It must be aligned to 64 bytes.
int64_t countScratchWords(int64_t channels, int64_t bins);

/// A function that compiled code calls by name.
struct ObserverSymbol {
  const char *name;
  void *address;
};
/// All of them, in a list that ends with a null name.
const ObserverSymbol *getObserverSymbols();

/// Makes observers that begin from now on use these kernels, and gives those
/// that they used before: for tests.
const ObserverKernels *exchangeKernels(const ObserverKernels *kernels);

} // namespace onnxquant

extern "C" {

/// Observes `outer` times `channels` times `inner` values. The record is at
/// word `offset` of the state. `first` is the tensor's first dimension, along
/// which samples lie.
void onnxq_observe(const float *x, int64_t first, int64_t outer,
                   int64_t channels, int64_t inner, int64_t *state,
                   int64_t offset, int64_t bins, int64_t parts);

/// Begins to observe a tensor whose values come in parts.
void onnxq_observe_begin(void *scratch, int64_t *state, int64_t offset,
                         int64_t first, int64_t channels, int64_t bins,
                         int64_t parts);
/// Adds `rows` rows of the `outer` rows of a tensor, from `row` on, each with a
/// value for every channel. They must belong to one sample.
void onnxq_observe_rows(void *scratch, const float *x, int64_t rows,
                        int64_t row, int64_t outer);
/// Adds `count` values of a channel, which are slice `slice` of `outer` slices
/// that the channel has.
void onnxq_observe_slice(void *scratch, const float *x, int64_t count,
                         int64_t channel, int64_t slice, int64_t outer);
/// Adds what waits to the record.
void onnxq_observe_end(void *scratch);

} // extern "C"

#endif // ONNXQUANT_RUNTIME_OBSERVERS_H
