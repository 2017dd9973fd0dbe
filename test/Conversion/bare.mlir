// For microcontrollers, sums are loops inside of the element that they are for.
// RUN: onnxq-opt %s --onnx-to-linalg="bare=true" --canonicalize | FileCheck %s

// The image is read as it is stored, and what lies in the padding is left out.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x6x4xi8>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 2 : index
// CHECK: %[[FROM:.*]] = arith.maxsi
// CHECK: %[[TO:.*]] = arith.minsi
// CHECK: scf.for %[[K:.*]] = %[[FROM]] to %[[TO]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.extract %[[X]]
// CHECK: arith.addi {{.*}} : i32
// CHECK: linalg.yield
func.func @conv(%x: tensor<1x5x6x4xi8>) -> tensor<1x3x5x6xi32> {
  %w = "onnx.Constant"() {value = dense<1> : tensor<3x4x3x3xi8>} : () -> tensor<3x4x3x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %t = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xi8>) -> tensor<1x4x5x6xi8>
  %y = "onnx.ConvInteger"(%t, %w, %none, %none) {auto_pad = "NOTSET", group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x4x5x6xi8>, tensor<3x4x3x3xi8>, none, none) -> tensor<1x3x5x6xi32>
  onnx.Return %y : tensor<1x3x5x6xi32>
}
