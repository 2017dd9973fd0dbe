// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @quantize_per_axis
func.func @quantize_per_axis(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %zero: tensor<3xi8>) -> tensor<2x3xi8> {
  // CHECK: "onnx.QuantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{axis = 1 : si64, block_size = 0 : si64, output_dtype = 3 : si64, precision = 1 : si64, saturate = 1 : si64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  %y = "onnx.QuantizeLinear"(%x, %scale, %zero) {axis = 1 : si64, block_size = 0 : si64, output_dtype = 3 : si64, precision = 1 : si64, saturate = 1 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  onnx.Return %y : tensor<2x3xi8>
}

// One element per tensor may be a scalar or a vector; without a zero point the
// result is ui8.
// CHECK-LABEL: func.func @quantize_per_tensor
func.func @quantize_per_tensor(%x: tensor<2x3xf32>, %scale: tensor<f32>, %zero: tensor<1xui8>) -> tensor<2x3xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.QuantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{axis = 7 : si64, {{.*}}}> : (tensor<2x3xf32>, tensor<f32>, tensor<1xui8>) -> tensor<2x3xui8>
  %y = "onnx.QuantizeLinear"(%x, %scale, %zero) {axis = 7 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<1xui8>) -> tensor<2x3xui8>
  // CHECK: "onnx.QuantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{axis = 1 : si64, block_size = 0 : si64, output_dtype = 0 : si64, precision = 0 : si64, saturate = 1 : si64}> : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xui8>
  %d = "onnx.QuantizeLinear"(%x, %scale, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xui8>
  onnx.Return %d : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @quantize_float8
func.func @quantize_float8(%x: tensor<2x3xf16>, %scale: tensor<f16>, %zero: tensor<f8E4M3FN>) -> tensor<2x3xf8E4M3FN> {
  // CHECK: "onnx.QuantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{{{.*}}saturate = 0 : si64}> : (tensor<2x3xf16>, tensor<f16>, tensor<f8E4M3FN>) -> tensor<2x3xf8E4M3FN>
  %y = "onnx.QuantizeLinear"(%x, %scale, %zero) {saturate = 0 : si64} : (tensor<2x3xf16>, tensor<f16>, tensor<f8E4M3FN>) -> tensor<2x3xf8E4M3FN>
  onnx.Return %y : tensor<2x3xf8E4M3FN>
}

// CHECK-LABEL: func.func @dequantize_blocked
func.func @dequantize_blocked(%x: tensor<4x3xi4>, %scale: tensor<2x3xf32>, %zero: tensor<2x3xi4>) -> tensor<4x3xf32> {
  // CHECK: "onnx.DequantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{axis = 0 : si64, block_size = 2 : si64, output_dtype = 1 : si64}> : (tensor<4x3xi4>, tensor<2x3xf32>, tensor<2x3xi4>) -> tensor<4x3xf32>
  %y = "onnx.DequantizeLinear"(%x, %scale, %zero) {axis = 0 : si64, block_size = 2 : si64, output_dtype = 1 : si64} : (tensor<4x3xi4>, tensor<2x3xf32>, tensor<2x3xi4>) -> tensor<4x3xf32>
  onnx.Return %y : tensor<4x3xf32>
}

// The last block of five elements by two has one.
// CHECK-LABEL: func.func @dequantize_partial_block
func.func @dequantize_partial_block(%x: tensor<5xui8>, %scale: tensor<3xbf16>) -> tensor<5xbf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.DequantizeLinear"
  %y = "onnx.DequantizeLinear"(%x, %scale, %none) {axis = -1 : si64, block_size = 2 : si64} : (tensor<5xui8>, tensor<3xbf16>, none) -> tensor<5xbf16>
  onnx.Return %y : tensor<5xbf16>
}

// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<*x!onnx.Unknown>, %scale: tensor<?xf32>, %zero: tensor<*x!onnx.Unknown>) -> tensor<*xf32> {
  // CHECK: "onnx.DequantizeLinear"(%{{.*}}, %{{.*}}, %{{.*}}) <{axis = -3 : si64, {{.*}}}> : (tensor<*x!onnx.Unknown>, tensor<?xf32>, tensor<*x!onnx.Unknown>) -> tensor<*xf32>
  %y = "onnx.DequantizeLinear"(%x, %scale, %zero) {axis = -3 : si64} : (tensor<*x!onnx.Unknown>, tensor<?xf32>, tensor<*x!onnx.Unknown>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @dynamic_quantize
func.func @dynamic_quantize(%x: tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) {
  // CHECK: "onnx.DynamicQuantizeLinear"(%{{.*}}) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %y, %scale, %zero = "onnx.DynamicQuantizeLinear"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  onnx.Return %y, %scale, %zero : tensor<2x3xui8>, tensor<f32>, tensor<ui8>
}

// CHECK-LABEL: func.func @matmul_integer
func.func @matmul_integer(%a: tensor<4x3xui8>, %b: tensor<3x2xi8>, %az: tensor<ui8>, %bz: tensor<2xi8>) -> tensor<4x2xi32> {
  // CHECK: "onnx.MatMulInteger"(%{{.*}}) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<4x2xi32>
  %y = "onnx.MatMulInteger"(%a, %b, %az, %bz) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<4x2xi32>
  onnx.Return %y : tensor<4x2xi32>
}

// Zero points per row and per column of each matrix.
// CHECK-LABEL: func.func @matmul_integer_batched
func.func @matmul_integer_batched(%a: tensor<5x4x3xui8>, %b: tensor<5x3x2xi8>, %az: tensor<5x4x1xui8>, %bz: tensor<5x1x2xi8>) -> tensor<5x4x2xi32> {
  // CHECK: "onnx.MatMulInteger"
  %y = "onnx.MatMulInteger"(%a, %b, %az, %bz) : (tensor<5x4x3xui8>, tensor<5x3x2xi8>, tensor<5x4x1xui8>, tensor<5x1x2xi8>) -> tensor<5x4x2xi32>
  onnx.Return %y : tensor<5x4x2xi32>
}

// CHECK-LABEL: func.func @conv_integer
func.func @conv_integer(%x: tensor<1x2x5x5xui8>, %w: tensor<4x2x3x3xui8>, %xz: tensor<ui8>, %wz: tensor<4xui8>) -> tensor<1x4x5x5xi32> {
  // CHECK: "onnx.ConvInteger"(%{{.*}}) <{auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]}>
  %y = "onnx.ConvInteger"(%x, %w, %xz, %wz) {auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, tensor<ui8>, tensor<4xui8>) -> tensor<1x4x5x5xi32>
  onnx.Return %y : tensor<1x4x5x5xi32>
}

// CHECK-LABEL: func.func @qlinear_matmul
func.func @qlinear_matmul(%a: tensor<4x3xui8>, %as: tensor<f32>, %az: tensor<ui8>, %b: tensor<3x2xi8>, %bs: tensor<2xf32>, %bz: tensor<2xi8>, %ys: tensor<f32>, %yz: tensor<ui8>) -> tensor<4x2xui8> {
  // CHECK: "onnx.QLinearMatMul"(%{{.*}}) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  %y = "onnx.QLinearMatMul"(%a, %as, %az, %b, %bs, %bz, %ys, %yz) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  onnx.Return %y : tensor<4x2xui8>
}

// CHECK-LABEL: func.func @qlinear_conv
func.func @qlinear_conv(%x: tensor<1x2x5x5xui8>, %xs: tensor<f32>, %xz: tensor<ui8>, %w: tensor<4x2x3x3xi8>, %ws: tensor<4xf32>, %wz: tensor<4xi8>, %ys: tensor<f32>, %yz: tensor<ui8>, %b: tensor<4xi32>) -> tensor<1x4x2x2xui8> {
  // CHECK: "onnx.QLinearConv"(%{{.*}}) <{auto_pad = "NOTSET", group = 1 : si64, strides = [2, 2]}>
  %y = "onnx.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {group = 1 : si64, strides = [2, 2]} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x4x2x2xui8>
  onnx.Return %y : tensor<1x4x2x2xui8>
}
