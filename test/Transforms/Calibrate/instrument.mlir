// onnx-instrument: which tensors are observed, along which channels, and what
// the graph's ends become.
// RUN: onnxq-opt %s --onnx-instrument --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnx-instrument="op-types=Relu bins=2048 batch=4" --split-input-file | FileCheck %s --check-prefix=RELU
// RUN: onnxq-opt %s --onnx-instrument=all --split-input-file | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: func.func @contractions
// CHECK-SAME: %[[X:.*]]: tensor<1x3x8x8xf32> {onnx.name = "x"}, %[[N:.*]]: tensor<1xi64> {onnx.name = "onnxq.samples"}) -> (tensor<1x4xf32> {onnx.name = "z"}, tensor<[[WORDS:[0-9]+]]xi64> {onnx.name = "onnxq.statistics"})
// CHECK: %[[STATE:.*]] = onnxq.state %[[N]] : tensor<1xi64> -> memref<[[WORDS]]xi64>
// CHECK: onnxq.observe "x" %[[X]] into %[[STATE]] {{.*}}channel_axis = 1 : i64, channels = 3 : i64, offset = 1 : i64
// CHECK: "onnx.Conv"
// CHECK-NEXT: onnxq.observe "y" {{.*}}channel_axis = 1 : i64, channels = 4 : i64
// CHECK: "onnx.Erf"
// CHECK-NOT: onnxq.observe "e"
// CHECK: "onnx.ReduceSum"
// CHECK-NEXT: onnxq.observe "s" {{.*}}channel_axis = 1 : i64, channels = 4 : i64
// CHECK-NOT: onnxq.observe "w"
// CHECK: "onnx.MatMul"
// CHECK-NEXT: onnxq.observe "z"
// CHECK: %[[OUT:.*]] = onnxq.statistics %[[STATE]]
// CHECK: onnx.Return %{{.*}}, %[[OUT]]
// RELU-LABEL: func.func @contractions
// RELU-NOT: onnxq.observe
// RELU: onnx.Return
// ALL-LABEL: func.func @contractions
// ALL: onnxq.observe "e"
func.func @contractions(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}) -> (tensor<1x4xf32> {onnx.name = "z"}) {
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<1.0> : tensor<4x3x1x1xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64, onnx_result_names = ["y"]} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<1x4x8x8xf32>
  %e = "onnx.Erf"(%y) {onnx_result_names = ["e"]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %axes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %s = "onnx.ReduceSum"(%e, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64, onnx_result_names = ["s"]} : (tensor<1x4x8x8xf32>, tensor<2xi64>) -> tensor<1x4xf32>
  %m = onnx.Constant {onnx_result_names = ["m"]} dense<2.0> : tensor<4x4xf32>
  %z = "onnx.MatMul"(%s, %m) {onnx_result_names = ["z"]} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  onnx.Return %z : tensor<1x4xf32>
}

// -----

// Open channels are not told apart; tensors without a name get one; integers
// are left alone.
// CHECK-LABEL: func.func @open
// CHECK: onnxq.observe "tensor_0" %{{.*}}channel_axis = -1 : i64, channels = 1 : i64
// CHECK: onnxq.observe "tensor_2"
// CHECK-NOT: onnxq.observe
// RELU-LABEL: func.func @open
// RELU: onnxq.observe "tensor_0" %{{.*}}bins = 2048 : i64{{.*}}parts = 4 : i64
func.func @open(%x: tensor<2x?xf32>, %i: tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x1xi64>) {
  %y = "onnx.Relu"(%x) : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = onnx.Constant dense<1> : tensor<2x1xi64>
  onnx.Return %y, %r : tensor<2x?xf32>, tensor<2x1xi64>
}

// -----

// Observers stand in the branch that makes the tensor.
// CHECK-LABEL: func.func @branches
// CHECK: %[[STATE:.*]] = onnxq.state
// CHECK: "onnx.If"
// CHECK: "onnx.Relu"
// CHECK-NEXT: onnxq.observe "then" %{{.*}} into %[[STATE]]
// CHECK: "onnx.Sigmoid"
// CHECK-NEXT: onnxq.observe "else" %{{.*}} into %[[STATE]]
// RELU-LABEL: func.func @branches
// RELU: onnxq.observe "then"
// RELU-NOT: onnxq.observe "else"
func.func @branches(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %y = "onnx.If"(%c) ({
    %a = "onnx.Relu"(%x) {onnx_result_names = ["then"]} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  }, {
    %b = "onnx.Sigmoid"(%x) {onnx_result_names = ["else"]} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %b : tensor<4xf32>
  }) {onnx_result_names = ["y"]} : (tensor<i1>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}
