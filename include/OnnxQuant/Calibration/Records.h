// Records that follow from others of the same run, so that nothing has to look
// at the tensors: those of tensors that hold the elements of others, and of
// others times or plus a number.

#ifndef ONNXQUANT_CALIBRATION_RECORDS_H
#define ONNXQUANT_CALIBRATION_RECORDS_H

#include "OnnxQuant/Support/ObserverLayout.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace onnxquant {

/// The record of a tensor that holds each element of another `times` times, in
/// the same channels and samples.
std::vector<int64_t> repeatRecord(const ObserverLayout &layout,
                                  llvm::ArrayRef<int64_t> record,
                                  int64_t times);

/// A record and its layout.
struct LaidRecord {
  ObserverLayout layout;
  llvm::ArrayRef<int64_t> words;
};

/// The record of a tensor that holds the elements of all `parts`, at least one.
/// Their channels follow each other if `byChannel`; otherwise all have the
/// channels of the whole.
std::vector<int64_t> joinRecords(const ObserverLayout &layout,
                                 llvm::ArrayRef<LaidRecord> parts,
                                 bool byChannel);

/// A float as an odd integer times a power of two; zero is 0 * 2^0.
struct BinaryFraction {
  explicit BinaryFraction(float value);
  int64_t integer = 0;
  int64_t exponent = 0;
};

/// The record, but for the histogram, of a tensor whose elements are those of
/// another times a finite number but zero, or plus a finite number. Sums are
/// those of the products or sums before they are rounded to float, extremes
/// those after. No bit of a sum may fall below its last place.
std::vector<int64_t> scaleRecord(const ObserverLayout &layout,
                                 llvm::ArrayRef<int64_t> record, float factor);
std::vector<int64_t> shiftRecord(const ObserverLayout &layout,
                                 llvm::ArrayRef<int64_t> record, float addend);

/// Gives a record the histogram of another.
void takeHistogram(const ObserverLayout &layout, std::vector<int64_t> &record,
                   const LaidRecord &from);

} // namespace onnxquant

#endif // ONNXQUANT_CALIBRATION_RECORDS_H
