// Passes from the `onnx` dialect to kernels and to linalg.

#ifndef ONNXQUANT_CONVERSION_PASSES_TD
#define ONNXQUANT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyRunnable : Pass<"onnx-verify-runnable", "::mlir::ModuleOp"> {
  let summary = "refuse what no lowering can run";
  let description = [{
    The gate behind a graph's stages. An operator that isn't known, a tensor of
    unknown rank, and elements that can't be computed with are errors, which
    name the node. What passes can be lowered to linalg.

    ```mlir
    %y = "onnx.Relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
    // error: cannot be run: the rank of its result is unknown
    ```
  }];
}

def ConvertQuantizedToKernels
    : Pass<"onnx-quantized-to-kernels", "::mlir::ModuleOp"> {
  let summary = "turn quantized convolutions and products into kernels";
  let description = [{
    QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger, their relatives of
    com.microsoft, and float convolutions and products between dequantizers
    become `onnxq.contract` of integers with channels last, if the weights of
    convolutions are constant. Zero points of constant weights are taken away
    from them; that of the activations is the border's value, and is corrected
    for in the epilogue, together with the bias. A quantizer is the epilogue's
    `onnxq.requantize`, and a Relu or Clip before it are its bounds; real
    numbers are made by ops that the epilogue takes in later. Results are those
    of docs/QuantizationSemantics.md, bit by bit. Products of two activations are contractions as well, whose weights are
    packed at run time; small groups become larger ones with weights of zero.
    What has no kernel of integers is listed in the module's attribute
    `onnxq.without_kernel`, and told with the reason by `report`.

    ```mlir
    %y = "onnx.QLinearMatMul"(%a, %as, %az, %b, %bs, %bz, %ys, %yz) : (tensor<4x32xui8>, ...) -> tensor<4x16xui8>
    // becomes
    %e = tensor.empty() : tensor<4x16xui8>
    %y = onnxq.contract ins(%a, %w : tensor<4x32xui8>, tensor<1x32x16xi8>) epilogue(%c : tensor<16xi32>) outs(%e : tensor<4x16xui8>) attributes {epilogue_maps = [affine_map<(d0, d1) -> (d1)>], input_unsigned} {
    ^bb0(%acc: i32, %correction: i32):
      %t = arith.addi %acc, %correction : i32
      %q = onnxq.requantize %t scale %factor zero_point %yz in [0, 255] : i32 -> i8
      onnxq.yield %q : i8
    } -> tensor<4x16xui8>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "tell which nodes have no kernel of integers, and why">,
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels of integers in the graph">,
    Statistic<"numLeft", "left", "Ops of integers without such a kernel">,
  ];
}

def ConvertONNXToKernels : Pass<"onnx-to-kernels", "::mlir::ModuleOp"> {
  let summary = "turn convolutions and products of matrices into kernels";
  let description = [{
    Convolutions whose weights are constant, and products, become
    `onnxq.contract` with channels last; transposes stand around them. A
    transposed convolution is a plain one per phase of its strides. Small floats
    are computed as `f32` between casts. Convolutions with weights, and windows
    with pads, that are only known at run time stay for `onnx-to-linalg`, which
    makes plain loops of them; `report` tells which nodes these are, and why.
    The module's attribute `onnxq.without_kernel` lists their ops.

    ```mlir
    %y = "onnx.Conv"(%x, %w, %b) {pads = [1, 1, 1, 1], ...} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>) -> tensor<1x16x9x9xf32>
    // becomes
    %t = "onnx.Transpose"(%x) {perm = [0, 2, 3, 1]} : (tensor<1x8x9x9xf32>) -> tensor<1x9x9x8xf32>
    %e = tensor.empty() : tensor<1x9x9x16xf32>
    %c = onnxq.contract ins(%t, %v : tensor<1x9x9x8xf32>, tensor<1x72x16xf32>) epilogue(%b : tensor<16xf32>) outs(%e : tensor<1x9x9x16xf32>) attributes {...} {
    ^bb0(%acc: f32, %bias: f32):
      %s = arith.addf %acc, %bias : f32
      onnxq.yield %s : f32
    } -> tensor<1x9x9x16xf32>
    %y = "onnx.Transpose"(%c) {perm = [0, 3, 1, 2]} : (tensor<1x9x9x16xf32>) -> tensor<1x16x9x9xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "tell which nodes have no kernel, and why">,
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels in the graph">,
    Statistic<"numLeft", "left", "Ops that plain loops compute">,
  ];
}

def ConvertONNXToLinalg : Pass<"onnx-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower graphs to linalg, tensor, scf, arith and math";
  let description = [{
    Every op becomes loops over elements. Tensors are stored without signs and
    without small floats: `ui8` as `i8`, `f16` as `i16`, booleans as `i8`.
    What can only be known at run time is checked by `cf.assert` with a message
    that names the node. Ranks must be known; sizes may be dynamic. A Loop may
    run on without end; with `max-iterations` it fails after so many.

    ```mlir
    %y = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.generic {...} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %zero : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::onnxquant::onnxq::ONNXQDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"maxIterations", "max-iterations", "int64_t", "0",
      "iterations after which a Loop fails; 0 lets it run on">,
    Option<"bare", "bare", "bool", "false",
      "for microcontrollers: sums stay in registers, nothing is copied to be "
      "padded or to have its axes in order">,
  ];
}

def PrintLowerings : Pass<"onnx-print-lowerings", "::mlir::ModuleOp"> {
  let summary = "print which ops of the onnx dialect have a lowering";
  let description = [{
    A line per op with `yes` or `no`, sorted by name: `onnx.Abs yes`. The module
    doesn't matter and stays as it is.
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect"];
}

#endif // ONNXQUANT_CONVERSION_PASSES_TD
