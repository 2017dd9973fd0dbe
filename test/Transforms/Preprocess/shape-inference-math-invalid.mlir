// Operands of the Math family whose dimensions cannot go together.
//
// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects operands that broadcast, but got 'tensor<2x3xf32>', 'tensor<2xf32>'}}
  %c = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return %c : tensor<*xf32>
}

// -----

func.func @where(%c: tensor<4xi1>, %x: tensor<2xf32>, %y: tensor<f32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects operands that broadcast}}
  %r = "onnx.Where"(%c, %x, %y) : (tensor<4xi1>, tensor<2xf32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @prelu_slope(%x: tensor<1x3xf32>, %slope: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a slope that broadcasts to 'tensor<1x3xf32>', but got 'tensor<2x3xf32>'}}
  %y = "onnx.PRelu"(%x, %slope) : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @prelu_rank(%x: tensor<3xf32>, %slope: tensor<1x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a slope that broadcasts to 'tensor<3xf32>', but got 'tensor<1x3xf32>'}}
  %y = "onnx.PRelu"(%x, %slope) : (tensor<3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
