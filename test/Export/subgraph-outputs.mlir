// RUN: onnxq-opt %s -o %t.onnx
// RUN: onnxq-opt %t.onnx | FileCheck %s

// Branches that yield values from outside pass them on by an Identity, under a name
// of their own where the given one is taken meanwhile.

// CHECK-LABEL: func.func @main_graph
// CHECK-SAME:    %[[C:.*]]: tensor<i1> {onnx.name = "c"}, %[[X:.*]]: tensor<2xf32> {onnx.name = "x"}
// CHECK:         %[[T:.*]] = "onnx.Relu"(%[[X]]) {onnx_node_name = "hoisted", onnx_result_names = ["t"]}
// CHECK:         "onnx.If"(%[[C]]) ({
// CHECK:           %[[A:.*]] = "onnx.Identity"(%[[T]]) {{.*}}onnx_result_names = ["t_0"]
// CHECK:           onnx.Yield %[[A]]
// CHECK:         }, {
// CHECK:           %[[B:.*]] = "onnx.Identity"(%[[X]]) {{.*}}onnx_result_names = ["u"]
// CHECK:           onnx.Yield %[[B]]
func.func @main_graph(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %t = "onnx.Relu"(%x) {onnx_node_name = "hoisted", onnx_result_names = ["t"]} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "onnx.If"(%c) ({
    onnx.Yield %t : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) {onnx_node_name = "fork", onnx_subgraphs = [{inputs = [], name = "then", outputs = ["t"]}, {inputs = [], name = "else", outputs = ["u"]}]} : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
