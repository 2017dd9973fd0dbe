// One call each to register everything that OnnxQuant brings.

#ifndef ONNXQUANT_PIPELINES_INITALL_H
#define ONNXQUANT_PIPELINES_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace onnxquant {

/// Adds OnnxQuant's dialects and those that its IR uses.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Registers OnnxQuant's passes and pipelines by their flags.
void registerAllPasses();

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_INITALL_H
