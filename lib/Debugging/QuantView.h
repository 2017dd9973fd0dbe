// A node of a quantized graph as the float node that it stands for: the same
// operands in the same order, each with the parameters that make it real
// numbers.

#ifndef ONNXQUANT_LIB_DEBUGGING_QUANTVIEW_H
#define ONNXQUANT_LIB_DEBUGGING_QUANTVIEW_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/Quantization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxquant::debugging {

/// A tensor with its parameters; without a scale it is what it says.
struct QuantTensor {
  mlir::Value value;
  mlir::Value scale, zeroPoint;
  int64_t axis = 1, blockSize = 0;

  bool isQuantized() const { return static_cast<bool>(scale); }
};

/// What a node stands for.
struct QuantNode {
  /// The operator of the float node.
  llvm::StringRef role;
  llvm::SmallVector<QuantTensor> operands;
  /// The first result.
  QuantTensor result;
  /// The result is the exact sum of products of integers.
  bool givesSums = false;
};

/// The operator's type, without its domain.
llvm::StringRef roleOf(mlir::Operation *op);

/// A node's name, or that of its first result.
std::string nameOfNode(mlir::Operation *op);

/// The ops of a graph in order, those of the bodies of Loop and Scan after the
/// op itself. Branches of an If are left out: only one of them runs.
llvm::SmallVector<mlir::Operation *> nodesOf(mlir::func::FuncOp graph);
/// In how many bodies of a graph a value is made.
int64_t depthOf(mlir::Value value);

bool isQuantizer(mlir::Operation *op);
bool isDequantizer(mlir::Operation *op);
/// Relu and Clip.
bool isClamp(mlir::Operation *op);

/// What a node stands for; dequantizers before it are looked through.
QuantNode viewNode(mlir::Operation *op);

/// The parameters of a tensor of integers, found where it was made. Without a
/// scale if they can't be found.
QuantTensor viewTensor(mlir::Value value);

/// Whether the operator multiplies and adds, as a convolution.
bool isContraction(llvm::StringRef role);

/// Real numbers of a constant with constant parameters; none if that isn't what
/// it is. Numbers that a quantizer makes of a float constant count too.
struct ConstantNumbers {
  llvm::SmallVector<int64_t> integers;
  /// By the index of `scaleIndex`.
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  std::optional<QuantType> type;
  unsigned bits = 8;
  llvm::SmallVector<int64_t> shape;
  int64_t axis = 0, blockSize = 0;

  /// Which scale an element has.
  int64_t scaleIndex(int64_t element) const;
  double real(int64_t element) const {
    int64_t at = scaleIndex(element);
    return static_cast<double>(integers[element] -
                               (zeroPoints.empty() ? 0 : zeroPoints[at])) *
           scales[at];
  }
};
std::optional<ConstantNumbers> readConstant(const QuantTensor &tensor);

/// All numbers of a float constant; none if the value isn't one.
std::optional<llvm::SmallVector<double>> readReal(mlir::Value value);

/// The integer type that tensors of an element type hold; none for floats.
std::optional<QuantType> quantType(mlir::Type elementType);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_QUANTVIEW_H
