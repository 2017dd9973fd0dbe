// Weights as codes of few bits, as functions of the compiler's module.

#ifndef ONNXQUANT_PYTHON_BLOCKS_H
#define ONNXQUANT_PYTHON_BLOCKS_H

#include "Call.h"

namespace onnxquant::python {

/// Codes (a byte each), scales and zero points of float32 numbers [rows,
/// depth], by rounding to the nearest in blocks along the depth.
py::tuple roundBlocks(const py::bytes &numbers, int64_t rows, int64_t depth,
                      unsigned bits, int64_t blockSize, bool symmetric);

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_BLOCKS_H
