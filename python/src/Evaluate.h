// Evaluating models, as a function of the compiler's module.

#ifndef ONNXQUANT_PYTHON_EVALUATE_H
#define ONNXQUANT_PYTHON_EVALUATE_H

#include "Call.h"

namespace onnxquant::python {

/// Figures of a model as JSON and as text; `reference` is None or a model.
py::tuple evaluate(const py::object &model, const py::object &reference,
                   const py::dict &options, const py::object &samples,
                   int64_t size, const std::vector<std::string> &names,
                   const py::object &progress);

} // namespace onnxquant::python

#endif // ONNXQUANT_PYTHON_EVALUATE_H
