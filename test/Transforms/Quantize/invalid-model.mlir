// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-quantize

// expected-error@+1 {{no range is known of tensors 'a', 'b'}}
module attributes {onnxq.calibration = {}} {
  func.func @main_graph(%a: tensor<1x2xf32> {onnx.name = "a"}, %b: tensor<2x2xf32> {onnx.name = "b"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %y = "onnx.MatMul"(%a, %b) {onnx_node_name = "mm", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// expected-error@+1 {{the range of tensor 'a' is not finite}}
module attributes {onnxq.calibration = {a = {min = 0xFFF0000000000000 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%a: tensor<1x2xf32> {onnx.name = "a"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %y = "onnx.MatMul"(%a, %w) {onnx_node_name = "mm", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// expected-error@+1 {{tensor 'w' has a number that is not finite}}
module attributes {onnxq.calibration = {a = {min = 0.0 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%a: tensor<1x2xf32> {onnx.name = "a"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0x7F800000> : tensor<2x2xf32>
    %y = "onnx.MatMul"(%a, %w) {onnx_node_name = "mm", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// expected-warning@+1 {{the model is quantized already: it has a DequantizeLinear, and stays as it is; mode=qat takes over the quantizers of a trained model}}
module {
  func.func @main_graph(%a: tensor<2xui8> {onnx.name = "a"}, %s: tensor<f32>, %z: tensor<ui8>) -> (tensor<2xf32> {onnx.name = "y"}) {
    %y = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2xf32>
    onnx.Return %y : tensor<2xf32>
  }
}

// -----

// expected-warning@+1 {{the model is quantized already: it has a QuantizeLinear, and stays as it is; mode=qat}}
module {
  func.func @contrib(%a: tensor<2xf32> {onnx.name = "a"}, %s: tensor<f32>, %z: tensor<ui8>) -> (tensor<2xui8> {onnx.name = "y"}) {
    %y = "onnx.com.microsoft.QuantizeLinear"(%a, %s, %z) : (tensor<2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2xui8>
    onnx.Return %y : tensor<2xui8>
  }
}

// -----

// expected-error@+1 {{the model has no node that can be quantized; node 'mm' (MatMul) is not, because its numbers are not float32 or float16}}
module {
  func.func @main_graph(%a: tensor<1x2xi32> {onnx.name = "a"}, %b: tensor<2x2xi32> {onnx.name = "b"}) -> (tensor<1x2xi32> {onnx.name = "y"}) {
    %y = "onnx.MatMul"(%a, %b) {onnx_node_name = "mm"} : (tensor<1x2xi32>, tensor<2x2xi32>) -> tensor<1x2xi32>
    onnx.Return %y : tensor<1x2xi32>
  }
}

// -----

// expected-error@+1 {{the model has no node that can be quantized: it has no Conv, MatMul, Gemm or recurrent layer}}
module {
  func.func @main_graph(%a: tensor<2xi64> {onnx.name = "a"}) -> (tensor<2xi64> {onnx.name = "y"}) {
    %y = "onnx.Relu"(%a) : (tensor<2xi64>) -> tensor<2xi64>
    onnx.Return %y : tensor<2xi64>
  }
}
