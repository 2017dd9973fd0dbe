// Functions of one byte become tables.
// RUN: onnxq-opt %s --onnx-tabulate --split-input-file | FileCheck %s

// One node between quantizers.
// CHECK-LABEL: @sigmoid(
// CHECK-SAME: %[[X:.*]]: tensor<2x512xui8>
// CHECK: %[[ALL:.*]] = onnx.Constant {{.*}}tensor<256xui8>
// CHECK: %[[REAL:.*]] = "onnx.DequantizeLinear"(%[[ALL]], {{.*}} -> tensor<256xf32>
// CHECK: %[[Y:.*]] = "onnx.Sigmoid"(%[[REAL]]) {{.*}} -> tensor<256xf32>
// CHECK: %[[TABLE:.*]] = "onnx.QuantizeLinear"(%[[Y]], {{.*}} -> tensor<256xui8>
// CHECK: %[[R:.*]] = onnxq.lookup %[[X]] in %[[TABLE]] {onnx_node_name = "q"} : tensor<2x512xui8>, tensor<256xui8> -> tensor<2x512xui8>
// CHECK: onnx.Return %[[R]]
func.func @sigmoid(%x: tensor<2x512xui8>) -> tensor<2x512xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<128> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<2x512xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x512xf32>
  %1 = "onnx.Sigmoid"(%0) : (tensor<2x512xf32>) -> tensor<2x512xf32>
  %y = "onnx.QuantizeLinear"(%1, %s, %z) {onnx_node_name = "q"} : (tensor<2x512xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x512xui8>
  onnx.Return %y : tensor<2x512xui8>
}

// -----

// A whole x * sigmoid(x), quantized inside, comes from the first tensor.
// CHECK-LABEL: @silu(
// CHECK-SAME: %[[X:.*]]: tensor<1024xi8>
// CHECK-COUNT-1: onnxq.lookup %[[X]]
// CHECK-NOT: onnxq.lookup
// CHECK: onnx.Return
func.func @silu(%x: tensor<1024xi8>) -> tensor<1024xi8> {
  %s = onnx.Constant dense<0.1> : tensor<1xf32>
  %z = onnx.Constant dense<0> : tensor<1xi8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<1024xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<1024xf32>
  %1 = "onnx.Sigmoid"(%0) : (tensor<1024xf32>) -> tensor<1024xf32>
  %2 = "onnx.QuantizeLinear"(%1, %s, %z) : (tensor<1024xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1024xi8>
  %3 = "onnx.DequantizeLinear"(%2, %s, %z) : (tensor<1024xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<1024xf32>
  %4 = "onnx.Mul"(%0, %3) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %y = "onnx.QuantizeLinear"(%4, %s, %z) : (tensor<1024xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1024xi8>
  onnx.Return %y : tensor<1024xi8>
}

// -----

// Relu costs less than a table.
// CHECK-LABEL: @cheap(
// CHECK-NOT: onnxq.lookup
func.func @cheap(%x: tensor<1024xui8>) -> tensor<1024xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<3> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<1024xui8>, tensor<f32>, tensor<ui8>) -> tensor<1024xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1024xf32>) -> tensor<1024xf32>
  %y = "onnx.QuantizeLinear"(%1, %s, %z) : (tensor<1024xf32>, tensor<f32>, tensor<ui8>) -> tensor<1024xui8>
  onnx.Return %y : tensor<1024xui8>
}

// -----

// Two tensors, a scale per channel, a result that others read, few elements.
// CHECK-LABEL: @others(
// CHECK-NOT: onnxq.lookup
func.func @others(%x: tensor<2x512xui8>, %w: tensor<2x512xui8>, %few: tensor<16xui8>) -> (tensor<2x512xui8>, tensor<2x512xui8>, tensor<2x512xf32>, tensor<2x512xui8>, tensor<16xui8>) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<128> : tensor<ui8>
  %ss = onnx.Constant dense<[0.1, 0.2]> : tensor<2xf32>
  %zz = onnx.Constant dense<[1, 2]> : tensor<2xui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<2x512xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x512xf32>
  %1 = "onnx.DequantizeLinear"(%w, %s, %z) : (tensor<2x512xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x512xf32>
  %2 = "onnx.Sigmoid"(%0) : (tensor<2x512xf32>) -> tensor<2x512xf32>
  %3 = "onnx.Mul"(%2, %1) : (tensor<2x512xf32>, tensor<2x512xf32>) -> tensor<2x512xf32>
  %4 = "onnx.QuantizeLinear"(%3, %s, %z) : (tensor<2x512xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x512xui8>
  %5 = "onnx.DequantizeLinear"(%x, %ss, %zz) {axis = 0 : si64} : (tensor<2x512xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x512xf32>
  %6 = "onnx.Tanh"(%5) : (tensor<2x512xf32>) -> tensor<2x512xf32>
  %7 = "onnx.QuantizeLinear"(%6, %s, %z) : (tensor<2x512xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x512xui8>
  %8 = "onnx.Erf"(%0) : (tensor<2x512xf32>) -> tensor<2x512xf32>
  %9 = "onnx.QuantizeLinear"(%8, %s, %z) : (tensor<2x512xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x512xui8>
  %10 = "onnx.DequantizeLinear"(%few, %s, %z) : (tensor<16xui8>, tensor<f32>, tensor<ui8>) -> tensor<16xf32>
  %11 = "onnx.Exp"(%10) : (tensor<16xf32>) -> tensor<16xf32>
  %12 = "onnx.QuantizeLinear"(%11, %s, %z) : (tensor<16xf32>, tensor<f32>, tensor<ui8>) -> tensor<16xui8>
  onnx.Return %4, %7, %8, %9, %12 : tensor<2x512xui8>, tensor<2x512xui8>, tensor<2x512xf32>, tensor<2x512xui8>, tensor<16xui8>
}
