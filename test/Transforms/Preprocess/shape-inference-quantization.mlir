// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// The zero point, else output_dtype, else nothing tells the type.
// CHECK-LABEL: func.func @quantize
// CHECK-SAME: -> (tensor<2x3xi16>, tensor<2x3xui8>, tensor<2x3xi4>)
func.func @quantize(%x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<i16>) -> (tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<2x3xi16>
  %0 = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<2x3xui8>
  %1 = "onnx.QuantizeLinear"(%x, %s, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<2x3xi4>
  %2 = "onnx.QuantizeLinear"(%x, %s, %none) {output_dtype = 22 : si64} : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<*x!onnx.Unknown>
  onnx.Return %0, %1, %2 : tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%x: tensor<?x3xi8> {onnx.name = "x", onnx.dim_params = "0:batch"}, %s: tensor<f16>) -> (tensor<*x!onnx.Unknown>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.DequantizeLinear"{{.*}}onnx_dim_params = ["0:batch"]{{.*}} -> tensor<?x3xf16>
  %0 = "onnx.DequantizeLinear"(%x, %s, %none) : (tensor<?x3xi8>, tensor<f16>, none) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.DequantizeLinear"{{.*}} -> tensor<?x3xf32>
  %1 = "onnx.DequantizeLinear"(%x, %s, %none) {output_dtype = 1 : si64} : (tensor<?x3xi8>, tensor<f16>, none) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*x!onnx.Unknown>, tensor<*xf32>
}

// CHECK-LABEL: func.func @dynamic_quantize
func.func @dynamic_quantize(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> tensor<*xui8> {
  // CHECK: "onnx.DynamicQuantizeLinear"{{.*}} -> (tensor<?x4xui8>, tensor<f32>, tensor<ui8>)
  %y:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<?x4xf32>) -> (tensor<*xui8>, tensor<*xf32>, tensor<*xui8>)
  onnx.Return %y#0 : tensor<*xui8>
}

// CHECK-LABEL: func.func @matmul_integer
// CHECK-SAME: -> (tensor<7x?x2xi32>{{.*}}, tensor<2xi32>)
func.func @matmul_integer(%a: tensor<?x3xui8> {onnx.name = "a", onnx.dim_params = "0:rows"}, %v: tensor<3xui8>, %b: tensor<7x3x2xi8>, %c: tensor<3x2xi8>) -> (tensor<*xi32>, tensor<*xi32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.MatMulInteger"{{.*}}onnx_dim_params = ["1:rows"]{{.*}} -> tensor<7x?x2xi32>
  %0 = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<?x3xui8>, tensor<7x3x2xi8>, none, none) -> tensor<*xi32>
  // CHECK: "onnx.MatMulInteger"{{.*}} -> tensor<2xi32>
  %1 = "onnx.MatMulInteger"(%v, %c, %none, %none) : (tensor<3xui8>, tensor<3x2xi8>, none, none) -> tensor<*xi32>
  onnx.Return %0, %1 : tensor<*xi32>, tensor<*xi32>
}

// The result has the type of its zero point, not of the operands.
// CHECK-LABEL: func.func @qlinear_matmul
func.func @qlinear_matmul(%a: tensor<4x3xui8>, %s: tensor<f32>, %z: tensor<ui8>, %b: tensor<3x2xi8>, %w: tensor<i8>) -> tensor<*x!onnx.Unknown> {
  // CHECK: "onnx.QLinearMatMul"{{.*}} -> tensor<4x2xi8>
  %y = "onnx.QLinearMatMul"(%a, %s, %z, %b, %s, %w, %s, %w) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*x!onnx.Unknown>
  onnx.Return %y : tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: func.func @conv_integer
func.func @conv_integer(%x: tensor<?x2x5x5xui8> {onnx.name = "x", onnx.dim_params = "0:batch"}, %w: tensor<4x2x3x3xui8>) -> tensor<*xi32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.ConvInteger"{{.*}}onnx_dim_params = ["0:batch"]{{.*}} -> tensor<?x4x3x3xi32>
  %y = "onnx.ConvInteger"(%x, %w, %none, %none) {pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<?x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// CHECK-LABEL: func.func @qlinear_conv
func.func @qlinear_conv(%x: tensor<1x2x5x5xui8>, %s: tensor<f32>, %z: tensor<ui8>, %w: tensor<4x2x3x3xi8>, %wz: tensor<i8>) -> tensor<*xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.QLinearConv"{{.*}} -> tensor<1x4x5x5xui8>
  %y = "onnx.QLinearConv"(%x, %s, %z, %w, %s, %wz, %s, %z, %none) {auto_pad = "SAME_UPPER"} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return %y : tensor<*xui8>
}
