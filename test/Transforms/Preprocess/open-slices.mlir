// Ends that are never reached.
// RUN: onnxq-opt %s --split-input-file --onnx-open-slices=bound=100000 --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: @open(
// CHECK: dense<9223372036854775807>
// CHECK: "onnx.Slice"{{.*}}onnx_dim_params = ["0:max(0,n-1)"]
func.func @open(%x: tensor<?xf32> {onnx.dim_params = "0:n"}) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<1> : tensor<1xi64>
  %e = onnx.Constant dense<100000> : tensor<1xi64>
  %y = "onnx.Slice"(%x, %s, %e, %none, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @limited(
// CHECK: dense<99999>
func.func @limited(%x: tensor<?xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<1> : tensor<1xi64>
  %e = onnx.Constant dense<99999> : tensor<1xi64>
  %y = "onnx.Slice"(%x, %s, %e, %none, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
