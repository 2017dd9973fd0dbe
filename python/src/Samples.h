// Samples that Python gives.

#ifndef ONNXQUANT_PYTHON_SAMPLES_H
#define ONNXQUANT_PYTHON_SAMPLES_H

#include "Call.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"

namespace onnxquant::python {

/// ONNX's number of an array's element type; 0 if there is none.
int32_t onnxTypeOf(const py::object &array);

/// A list, or an iterator, of lists of (name, contiguous array); null for None.
/// Where messages about data go: to the call's warnings.
NoteSink warningsOf(Call &call);
std::shared_ptr<DataSource> readSamples(Call &call, const py::object &samples,
                                        int64_t size);
/// The options of samples: paths and what goes with them, or `samples`.
DataOptions readData(Call &call, const py::dict &options,
                     const py::object &samples, int64_t size);

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_SAMPLES_H
