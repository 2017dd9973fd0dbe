// Packs windows of integers that sum products.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKWINDOWS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKWINDOWS_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// Packs the weights of a window for steps that take two rows of taps, with
/// what its zero point and bias add to the sums. Says whether it did: the
/// target has such steps, and sizes and zero point are known.
bool packWindow(onnxq::WindowOp op, const TargetInfo &target);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_PACKWINDOWS_H
