// Records that follow from others of the same run, so that nothing has to look
// at the tensors: those of tensors that hold the elements of others.

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

} // namespace onnxquant

#endif // ONNXQUANT_CALIBRATION_RECORDS_H
