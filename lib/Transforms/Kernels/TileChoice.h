// When contractions of bytes are products of x86's tiles, and how their weights
// are cut.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILECHOICE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILECHOICE_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// Whether products of tiles take less time than dot products of vectors, for
/// `depth` products of each sum in runs of `run`.
bool prefersTiles(onnxq::ContractOp op, const TargetInfo &target, int64_t depth,
                  int64_t run);

/// Rows of weights in chunks of the runs that they multiply: where a chunk
/// begins earlier, zeros take the place of those that the one before has.
std::vector<int16_t> cutRuns(llvm::ArrayRef<int16_t> weights,
                             onnxq::PackingAttr packing);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILECHOICE_H
