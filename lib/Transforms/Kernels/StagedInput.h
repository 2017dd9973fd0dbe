// Inputs that are copied before a kernel reads them: padded, widened, of
// another sign, or with channels filled up to whole steps.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_STAGEDINPUT_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_STAGEDINPUT_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant::kernels {

/// How elements are stored.
struct ElementForm {
  bool isUnsigned = false;
  /// Widened to 16 bits.
  bool isWidened = false;
  /// 2^(bits - 1) added: what has a sign has none then, and the other way
  /// around.
  bool isFlipped = false;
};

/// The form of an element.
mlir::Value convertElement(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                           const ElementForm &form);

/// Has a contraction read a copy of its input with so many channels in all, and
/// with its padding: it has none itself any more.
void stageInput(onnxq::ContractOp op, int64_t channels,
                const ElementForm &form);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_STAGEDINPUT_H
