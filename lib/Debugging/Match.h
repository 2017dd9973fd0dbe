// Which tensor and node of a float graph a tensor and node of a quantized graph
// stand for.

#ifndef ONNXQUANT_LIB_DEBUGGING_MATCH_H
#define ONNXQUANT_LIB_DEBUGGING_MATCH_H

#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "QuantView.h"
#include "llvm/ADT/MapVector.h"

namespace onnxquant::debugging {

/// Names are compared first: a tensor that both graphs name alike is the same.
/// From there the quantized graph is followed: a quantizer's result is its
/// operand, and a node whose operands are known stands for the node of that
/// operator that reads the same tensors in the float graph; of several, the one
/// whose weights are most alike. A clamp that is missing in the quantized graph
/// is done by the saturation of a quantizer.
class GraphMatch {
public:
  GraphMatch(mlir::func::FuncOp real, mlir::func::FuncOp quant);

  /// The float tensor; null if it isn't known.
  mlir::Value real(mlir::Value quant) const { return tensors.lookup(quant); }
  /// The float node; null if it isn't known.
  mlir::Operation *real(mlir::Operation *quant) const {
    return nodes.lookup(quant);
  }
  /// Bounds that a quantizer stands for besides quantizing; none if it doesn't.
  std::optional<onnx::RealRange> clamp(mlir::Value quant) const;
  /// The value of the quantized graph that has a node's real results: its own
  /// result, or what rescaling makes of its sums.
  mlir::Value resultOf(mlir::Operation *quant) const;
  /// How many tensors and nodes are known.
  size_t size() const { return tensors.size() + nodes.size(); }

private:
  void matchNames();
  void visit(mlir::Operation *op);
  void visitNode(mlir::Operation *op);
  mlir::Operation *findNode(mlir::Operation *op, const QuantNode &node) const;
  mlir::Operation *findByOperands(mlir::Operation *op,
                                  const QuantNode &node) const;
  mlir::Value throughClamps(mlir::Value real, mlir::Value before,
                            const QuantTensor &quantized);

  mlir::func::FuncOp realGraph, quantGraph;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> nodes;
  llvm::DenseSet<mlir::Operation *> taken;
  llvm::DenseMap<mlir::Value, onnx::RealRange> clamps;
};

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_MATCH_H
