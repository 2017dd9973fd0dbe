// Products of recurrent layers.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_RECURRENTPRODUCTS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_RECURRENTPRODUCTS_H

#include "mlir/IR/Operation.h"

namespace onnxquant::kernels {

/// RNN, GRU or LSTM.
bool isRecurrent(mlir::Operation *op);
/// Takes the products that no step waits for out of recurrent layers with
/// constant weights.
void projectRecurrent(mlir::Operation *root);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_RECURRENTPRODUCTS_H
