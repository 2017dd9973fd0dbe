// What the files of calibration methods share.

#ifndef ONNXQUANT_LIB_STATISTICS_METHODSUPPORT_H
#define ONNXQUANT_LIB_STATISTICS_METHODSUPPORT_H

#include "OnnxQuant/Statistics/Methods.h"

namespace onnxquant {

/// The range with the smallest squared error after rounding and clipping.
Range mseRange(const TensorStatistics &statistics,
               const MethodOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_STATISTICS_METHODSUPPORT_H
