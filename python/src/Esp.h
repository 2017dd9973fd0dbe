// ESP-DL for Python: the toolkit of v1.x, and .espdl files.

#ifndef ONNXQUANT_PYTHON_ESP_H
#define ONNXQUANT_PYTHON_ESP_H

#include "Call.h"

namespace onnxquant::python {

/// Adds the functions `esp_...` to the module.
void defineEsp(py::module_ &module);

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_ESP_H
