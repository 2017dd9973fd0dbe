// Passes that choose where and in which order a graph's tensors are kept: as
// bytes or floats, by tables, with which dimension last.

#ifndef ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_TD
#define ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoveBytes : Pass<"onnx-move-bytes", "::mlir::ModuleOp"> {
  let summary = "move quantized numbers as bytes";
  let description = [{
    An op that only moves numbers (Concat, Slice, Transpose, Resize to the
    nearest, MaxPool, ...) does the same to quantized ones of one scale, and
    reads and writes a quarter of the memory. A DequantizeLinear before it goes
    behind it, where all operands have the same scale and zero point. A
    QuantizeLinear behind a Concat goes before it, once for each operand. A
    QuantizeLinear of what was dequantized with its own scale and zero point
    changes nothing, and goes away. Scales are constants of one number.

    ```mlir
    %1 = "onnx.DequantizeLinear"(%a, %s, %z)
    %2 = "onnx.DequantizeLinear"(%b, %s, %z)
    %3 = "onnx.Concat"(%1, %2) {axis = 1 : si64}
    %y = "onnx.QuantizeLinear"(%3, %s, %z)
    // becomes
    %y = "onnx.Concat"(%a, %b) {axis = 1 : si64}
    ```
  }];
  let statistics = [
    Statistic<"numFused", "moved-quantizers", "Quantizers moved or removed">,
  ];
}

def Tabulate : Pass<"onnx-tabulate", "::mlir::ModuleOp"> {
  let summary = "read functions of one byte from tables";
  let description = [{
    What lies between a quantized tensor and a quantizer is a function of a byte
    if nodes that work element by element and constants of one element are all
    there is. If computing it costs more than reading a table (Sigmoid, Erf,
    Tanh, ...), it becomes `onnxq.lookup`. The table is what the same nodes make
    of all 256 bytes; `onnx-fold-constants` computes it. Quantizers inside of
    the function become part of it.

    ```mlir
    %1 = "onnx.DequantizeLinear"(%x, %xs, %xz)
    %2 = "onnx.Sigmoid"(%1)
    %y = "onnx.QuantizeLinear"(%2, %ys, %yz)
    // becomes
    %all = onnx.Constant dense<"0x000102..."> : tensor<256xui8>
    %1 = "onnx.DequantizeLinear"(%all, %xs, %xz)
    %2 = "onnx.Sigmoid"(%1)
    %table = "onnx.QuantizeLinear"(%2, %ys, %yz)
    %y = onnxq.lookup %x in %table
    ```
  }];
  let dependentDialects = ["::onnxquant::onnxq::ONNXQDialect"];
  let statistics = [
    Statistic<"numTables", "tables", "Functions made tables">,
  ];
}

def PropagateLayout : Pass<"onnx-propagate-layout", "::mlir::ModuleOp"> {
  let summary = "move transposes to where they cost least";
  let description = [{
    Ops between transposes compute in another order of dimensions if that saves
    transposed bytes: axes, paddings and constants per channel are rewritten,
    pairs of transposes cancel, and what is left stands where orders must
    differ, mostly at the graph's inputs and outputs. What an op does to an
    order is told by LayoutOpInterface.

    The choice is the cheapest cut between ops that need one order and those
    that need the other, so no transpose moves more bytes in all than before.
    Where costs are equal, transposes move away from the ops that need them.
    Transposes that move dimensions of size 1 only become reshapes.

    ```mlir
    %1 = "onnx.Transpose"(%0) {perm = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
    %2 = "onnx.Add"(%1, %c) : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
    %3 = "onnx.Softmax"(%2) {axis = 1 : si64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %4 = "onnx.Transpose"(%3) {perm = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
    // becomes
    %2 = "onnx.Add"(%0, %c2) : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
    %4 = "onnx.Softmax"(%2) {axis = 3 : si64} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect"];
  let statistics = [
    Statistic<"numMoved", "moved-nodes", "Nodes that compute in another order">,
    Statistic<"numCancelled", "cancelled-transposes",
      "Transposes fewer than before">,
    Statistic<"numLeft", "left-transposes", "Transposes left">,
    Statistic<"numBytesBefore", "bytes-before", "Bytes transposed before">,
    Statistic<"numBytesAfter", "bytes-after", "Bytes transposed after">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_TD
