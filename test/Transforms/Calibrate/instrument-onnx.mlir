// onnx-instrument=form=onnx: extremes as nodes and outputs that ONNX has, which
// can be exported. Constants and tensors of subgraphs have none.
// RUN: onnxq-opt %s --onnx-instrument="form=onnx all=true" | FileCheck %s
// RUN: onnxq-opt %s --onnx-instrument="form=onnx all=true" -o %t.onnx
// RUN: onnxq info %t.onnx | FileCheck %s --check-prefix=INFO

// CHECK-LABEL: func.func @main_graph
// CHECK-SAME: -> (tensor<2x4xf32> {onnx.name = "z"}, tensor<1xf32> {onnx.name = "x_ReduceMin"}, tensor<1xf32> {onnx.name = "x_ReduceMax"}, tensor<1xf32> {onnx.name = "y_ReduceMin"}, tensor<1xf32> {onnx.name = "y_ReduceMax"}, tensor<1xf32> {onnx.name = "z_ReduceMin"}, tensor<1xf32> {onnx.name = "z_ReduceMax"})
// CHECK: %[[Y:.*]] = "onnx.Relu"
// CHECK: %[[Z:.*]] = "onnx.MatMul"
// CHECK: %[[ALL:.*]] = onnx.Constant {{.*}}dense<-1> : tensor<1xi64>
// CHECK: %[[R:.*]] = "onnx.ReduceMin"(%[[Y]], %{{.*}}) {{.*}}keepdims = 1 : si64{{.*}}onnx_node_name = "y_ReduceMin", onnx_result_names = ["y_ReduceMin_Reshape"]{{.*}} -> tensor<1x1xf32>
// CHECK-NEXT: %[[MIN:.*]] = "onnx.Reshape"(%[[R]], %[[ALL]]) {{.*}}onnx_node_name = "y_ReduceMin_Reshape", onnx_result_names = ["y_ReduceMin"]
// CHECK: onnx.Return %[[Z]], %{{.*}}, %{{.*}}, %[[MIN]]
// INFO: output {{.*}}z: float32 [2, 4]
// INFO-NEXT: x_ReduceMin: float32 [1]
func.func @main_graph(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x4xf32> {onnx.name = "z"}) {
  %y = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_result_names = ["y"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<3x4xf32>
  %z = "onnx.MatMul"(%y, %w) {onnx_node_name = "mm", onnx_result_names = ["z"]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  onnx.Return %z : tensor<2x4xf32>
}
