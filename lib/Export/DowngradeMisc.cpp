// Downgrade rules of matrix products, quantization, recurrence, control flow
// and signal operators.

#include "DowngradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

static LogicalResult gemm11(Node &node) { return success(node.has(2)); }

static LogicalResult gemm7(Node &node) {
  Value c = node.operand(2), y = node.op->getResult(0);
  if (haveSameDims(c, y))
    return success();
  if (!hasOneElement(c) && !isSuffixOf(c, y))
    return failure();
  setInt(node, "broadcast", 1);
  return success();
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Before opset 23 the scale had the input's type, unless that was i32.
static LogicalResult quantizeLinear23(Node &node) {
  Type type = elementTypeOf(node.operand(0));
  if (!(type && type.isInteger(32)) &&
      !haveSameElements(node.operand(0), node.operand(1)))
    return failure();
  return dropDefault(node, "precision", int64_t(0));
}

static LogicalResult quantizeLinear21(Node &node) {
  if (failed(dropDefault(node, "block_size", int64_t(0))))
    return failure();
  return dropDefault(node, "output_dtype", int64_t(0));
}

static LogicalResult quantizeLinear19(Node &node) {
  return dropDefault(node, "saturate", int64_t(1));
}

static LogicalResult dequantizeLinear23(Node &node) {
  return dropDefault(node, "output_dtype", int64_t(0));
}

static LogicalResult dequantizeLinear21(Node &node) {
  return dropDefault(node, "block_size", int64_t(0));
}

/// Before opset 13 one scale served the whole tensor.
static LogicalResult perTensor13(Node &node) {
  if (!hasOneElement(node.operand(1)))
    return failure();
  return dropDefault(node, "axis", int64_t(1));
}

//===----------------------------------------------------------------------===//
// Recurrence and control flow
//===----------------------------------------------------------------------===//

static LogicalResult recurrent14(Node &node) {
  return dropDefault(node, "layout", int64_t(0));
}

static LogicalResult recurrent7(Node &node) {
  if (hasResult(node, 0))
    setInt(node, "output_sequence", 1);
  return success();
}

static LogicalResult gru3(Node &node) {
  if (!hasResult(node, 1))
    return failure();
  return dropDefault(node, "linear_before_reset", int64_t(0));
}

static LogicalResult scan11(Node &node) {
  for (StringRef name : {"scan_input_axes", "scan_output_axes"})
    if (failed(makeAxesPositive(node, name, std::nullopt)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

static LogicalResult dft20(Node &node) {
  int64_t axis = -2;
  if (node.has(2)) {
    std::optional<Ints> given = getConstantInts(node.operand(2));
    if (!given || given->size() != 1)
      return failure();
    axis = given->front();
  }
  setInt(node, "axis", axis);
  keepOperands(node, 2);
  return success();
}

ArrayRef<DowngradeRule> exporting::getMiscDowngrades() {
  static constexpr DowngradeRule rules[] = {
      {"DFT", 20, dft20},
      {"DequantizeLinear", 13, perTensor13},
      {"DequantizeLinear", 21, dequantizeLinear21},
      {"DequantizeLinear", 23, dequantizeLinear23},
      {"GRU", 3, gru3},
      {"GRU", 7, recurrent7},
      {"GRU", 14, recurrent14},
      {"Gemm", 7, gemm7},
      {"Gemm", 11, gemm11},
      {"LSTM", 7, recurrent7},
      {"LSTM", 14, recurrent14},
      {"QuantizeLinear", 13, perTensor13},
      {"QuantizeLinear", 19, quantizeLinear19},
      {"QuantizeLinear", 21, quantizeLinear21},
      {"QuantizeLinear", 23, quantizeLinear23},
      {"RNN", 7, recurrent7},
      {"RNN", 14, recurrent14},
      {"Scan", 9, refuseAll},
      {"Scan", 11, scan11},
  };
  return rules;
}
