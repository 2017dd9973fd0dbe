// A Loop may be bounded.
// RUN: onnxq-opt %s --onnx-to-linalg=max-iterations=7 | FileCheck %s
// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s --check-prefix=FREE

// CHECK: arith.cmpi slt, %{{.*}}, %c7
// CHECK-NEXT: cf.assert %{{.*}}, "node '{{.*}}': runs for more than 7 iterations"
// FREE-NOT: iterations"
func.func @main_graph(%c: tensor<i1> {onnx.name = "c"}, %v: tensor<2xf32> {onnx.name = "v"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %none = "onnx.NoValue"() : () -> none
  %y = "onnx.Loop"(%none, %c, %v) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %w: tensor<2xf32>):
    %z = "onnx.Add"(%w, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %d, %z : tensor<i1>, tensor<2xf32>
  }) {onnx_node_name = "spin"} : (none, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
