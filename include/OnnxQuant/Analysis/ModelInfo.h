// What a model contains, counted.

#ifndef ONNXQUANT_ANALYSIS_MODELINFO_H
#define ONNXQUANT_ANALYSIS_MODELINFO_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant {

struct TensorInfo {
  std::string name;
  /// ONNX's name of the element type, such as `float32`.
  std::string elementType;
  /// Numbers, names, or `?`; none if the rank is unknown.
  std::optional<std::vector<std::string>> shape;
};

struct ModelInfo {
  std::string graphName, producer;
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets;
  std::vector<TensorInfo> inputs, outputs;
  /// Nodes by operator, those of subgraphs included. Operators of other domains
  /// have their domain before them.
  std::map<std::string, int64_t> opCounts;
  int64_t numNodes = 0;
  /// Elements and bytes of all constants.
  int64_t parameters = 0, parameterBytes = 0;
  /// Multiply-accumulates of convolutions and matrix products of static shape,
  /// and how many such nodes have a shape that isn't static.
  int64_t macs = 0, numUncounted = 0;
};

ModelInfo getModelInfo(mlir::ModuleOp module);

/// Multiply-accumulates of one node; none if it has none, or its shape isn't
/// known.
std::optional<int64_t> countMacs(mlir::Operation *op);
/// How many of a quantized model's multiply-accumulates have 8-bit operands.
struct IntegerShare {
  int64_t macs = 0, integerMacs = 0;
  /// Nodes; of those without a static shape, products are not counted.
  int64_t nodes = 0, integerNodes = 0, uncounted = 0;
};
IntegerShare getIntegerShare(mlir::ModuleOp module);

/// Whether a node is a convolution or a matrix product.
bool isContraction(mlir::Operation *op);

} // namespace onnxquant

#endif // ONNXQUANT_ANALYSIS_MODELINFO_H
