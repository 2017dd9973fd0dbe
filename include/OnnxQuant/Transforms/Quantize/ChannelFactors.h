// Which channels a quantized model holds multiplied, so that its tensors and
// weights can be compared with those of the float model.

#ifndef ONNXQUANT_TRANSFORMS_QUANTIZE_CHANNELFACTORS_H
#define ONNXQUANT_TRANSFORMS_QUANTIZE_CHANNELFACTORS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace onnxquant {

/// A tensor whose channels are multiplied by powers of two.
struct ScaledTensor {
  /// Its name in the float model.
  std::string name;
  /// The names of the nodes that read it, whose weights are divided.
  std::vector<std::string> readers;
  /// A product was put behind it; otherwise the weights of the convolution that
  /// makes it are multiplied.
  bool isProduct = false;
  /// The logarithms of the factors.
  std::vector<unsigned> exponents;
};

/// Writes into a model's metadata what was scaled.
void recordScaledTensors(mlir::ModuleOp module,
                         llvm::ArrayRef<ScaledTensor> tensors);
/// What was scaled, by a model's metadata.
std::vector<ScaledTensor> readScaledTensors(mlir::ModuleOp module);

/// Scales a float model's channels, as the quantizer has scaled those of a
/// model made from it. Tensors that aren't there are left out.
void applyScaledTensors(mlir::ModuleOp module,
                        llvm::ArrayRef<ScaledTensor> tensors);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_QUANTIZE_CHANNELFACTORS_H
