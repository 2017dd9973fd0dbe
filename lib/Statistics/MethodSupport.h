// What the files of calibration methods share.

#ifndef ONNXQUANT_LIB_CALIBRATION_METHODSUPPORT_H
#define ONNXQUANT_LIB_CALIBRATION_METHODSUPPORT_H

#include "OnnxQuant/Calibration/Methods.h"

namespace onnxquant {

/// The range with the smallest squared error after rounding and clipping.
Range mseRange(const TensorStatistics &statistics,
               const MethodOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_CALIBRATION_METHODSUPPORT_H
