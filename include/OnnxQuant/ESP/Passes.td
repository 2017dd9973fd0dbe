// The pass that quantizes a float model as ESP-DL's kernels compute.

#ifndef ONNXQUANT_ESP_PASSES_TD
#define ONNXQUANT_ESP_PASSES_TD

include "mlir/Pass/PassBase.td"

def EspQuantize : Pass<"onnx-esp-quantize", "::mlir::ModuleOp"> {
  let summary = "quantize a float model by powers of two, as ESP-DL does";
  let description = [{
    Makes of a float model with static shapes one with QuantizeLinear and
    DequantizeLinear whose scales are powers of two and whose zero points are
    zero: what `onnxq esp quantize` writes as .espdl, with the same integers.
    Exponents come from `table`, or from the ranges of the module's attribute
    `onnxq.calibration`: the least with which the larger magnitude fits.

    ```mlir
    module attributes {onnxq.calibration = {x = {min = -1.0, max = 1.0}, y = {min = -2.0, max = 2.0}}} {
      func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x1xf32> {onnx.name = "y"}) {
        %w = onnx.Constant dense<[[1.0], [0.5]]> : tensor<2x1xf32>
        %y = "onnx.Gemm"(%x, %w) : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
        onnx.Return %y : tensor<1x1xf32>
      }
    }
    // becomes
    %scale = onnx.Constant dense<7.812500e-03> : tensor<f32>
    %q = "onnx.QuantizeLinear"(%x, %scale, %zero) : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
    ```

    A node that the runtime lacks is an error that names it.
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
                           "::mlir::func::FuncDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"esp32s3\"",
      "whose kernels count: esp32s3, esp32p4, esp32c3, ...">,
    Option<"bits", "bits", "int64_t", "8", "of activations and weights: 8 or 16">,
    Option<"perTensor", "per-tensor", "bool", "false",
      "one exponent per filter also on chips that have one per output channel">,
    Option<"table", "table", "std::string", "",
      "file of exponents: .json, .pickle or .espdl">,
    ListOption<"int16Nodes", "int16-nodes", "std::string",
      "names of nodes with 16 bits">,
    Option<"scaleChannels", "scale-channels", "bool", "false",
      "make channels between products alike by powers of two">
  ];
  let statistics = [
    Statistic<"numNodes", "nodes", "nodes that were quantized">
  ];
}

#endif // ONNXQUANT_ESP_PASSES_TD
