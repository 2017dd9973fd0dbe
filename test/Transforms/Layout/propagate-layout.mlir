// Ops between transposes compute in the order in which the transposes vanish.
// RUN: onnxq-opt %s --onnx-propagate-layout --split-input-file | FileCheck %s

// CHECK-LABEL: @elementwise(
// CHECK-SAME: [[X:%.+]]: tensor<1x5x6x4xf32>
// CHECK-DAG: [[C:%.+]] = onnx.Constant dense<{{.*}}> : tensor<1x1x1x4xf32>
// CHECK: [[A:%.+]] = "onnx.Add"([[X]], [[C]]) {onnx_node_name = "add"}
// CHECK: [[R:%.+]] = "onnx.Relu"([[A]])
// CHECK: onnx.Return [[R]] : tensor<1x5x6x4xf32>
func.func @elementwise(%x: tensor<1x5x6x4xf32>) -> tensor<1x5x6x4xf32> {
  %c = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.Add"(%0, %c) {onnx_node_name = "add"} : (tensor<1x4x5x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x6xf32>
  %2 = "onnx.Relu"(%1) : (tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %3 = "onnx.Transpose"(%2) {perm = [0, 2, 3, 1]} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  onnx.Return %3 : tensor<1x5x6x4xf32>
}

// -----

// A residual: one transpose served two, none is left.
// CHECK-LABEL: @residual(
// CHECK-NOT: onnx.Transpose
// CHECK: onnx.Return
func.func @residual(%x: tensor<1x5x6x4xf32>, %y: tensor<1x5x6x4xf32>) -> tensor<1x5x6x4xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.Transpose"(%y) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %2 = "onnx.Sigmoid"(%0) : (tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %3 = "onnx.Mul"(%2, %0) : (tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %4 = "onnx.Add"(%3, %1) : (tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %5 = "onnx.Transpose"(%4) {perm = [0, 2, 3, 1]} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  onnx.Return %5 : tensor<1x5x6x4xf32>
}

// -----

// Nothing is gained: one transpose before and after.
// CHECK-LABEL: @no_gain(
// CHECK-COUNT-1: onnx.Transpose
// CHECK-NOT: onnx.Transpose
// CHECK: onnx.Return
func.func @no_gain(%x: tensor<1x5x6x4xf32>, %y: tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.Add"(%0, %y) : (tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  onnx.Return %1 : tensor<1x4x5x6xf32>
}

// -----

// Axes of Concat, Split, Softmax, ArgMax and reductions move.
// CHECK-LABEL: @axes(
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.Concat"({{.*}}) <{axis = 3 : si64}>
// CHECK: "onnx.Softmax"({{.*}}) <{axis = 3 : si64}>
// CHECK: "onnx.Split"({{.*}}) <{axis = 1 : si64
// CHECK: "onnx.ReduceMean"({{.*}}keepdims = 1 : si64{{.*}} -> tensor<1x2x1x8xf32>
// CHECK: "onnx.ArgMax"({{.*}}) <{axis = 3 : si64, keepdims = 0 : si64{{.*}}}> : (tensor<1x2x6x8xf32>) -> tensor<1x2x6xi64>
func.func @axes(%x: tensor<1x4x6x4xf32>, %y: tensor<1x4x6x4xf32>) -> (tensor<1x2x1x8xf32>, tensor<1x2x6xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %last = onnx.Constant dense<[-1]> : tensor<1xi64>
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x4x6x4xf32>) -> tensor<1x4x4x6xf32>
  %1 = "onnx.Transpose"(%y) {perm = [0, 3, 1, 2]} : (tensor<1x4x6x4xf32>) -> tensor<1x4x4x6xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 1 : si64} : (tensor<1x4x4x6xf32>, tensor<1x4x4x6xf32>) -> tensor<1x8x4x6xf32>
  %3 = "onnx.Softmax"(%2) {axis = 1 : si64} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %4:2 = "onnx.Split"(%3, %none) <{axis = -2 : si64, num_outputs = 2 : si64}> : (tensor<1x8x4x6xf32>, none) -> (tensor<1x8x2x6xf32>, tensor<1x8x2x6xf32>)
  %5 = "onnx.ReduceMean"(%4#0, %last) {keepdims = 1 : si64} : (tensor<1x8x2x6xf32>, tensor<1xi64>) -> tensor<1x8x2x1xf32>
  %6 = "onnx.ArgMax"(%4#1) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<1x8x2x6xf32>) -> tensor<1x2x6xi64>
  %7 = "onnx.Transpose"(%5) {perm = [0, 2, 3, 1]} : (tensor<1x8x2x1xf32>) -> tensor<1x2x1x8xf32>
  onnx.Return %7, %6 : tensor<1x2x1x8xf32>, tensor<1x2x6xi64>
}

// -----

// Slice, Pad and Resize list the axes that they had.
// CHECK-LABEL: @movement(
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.Slice"({{.*}} -> tensor<1x5x5x4xf32>
// CHECK: "onnx.Pad"({{.*}} -> tensor<1x7x6x4xf32>
// CHECK: "onnx.Resize"({{.*}}axes = [0, 3, 1, 2]{{.*}} -> tensor<1x14x12x4xf32>
func.func @movement(%x: tensor<1x5x6x4xf32>) -> tensor<1x14x12x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %end = onnx.Constant dense<[100]> : tensor<1xi64>
  %axis = onnx.Constant dense<[3]> : tensor<1xi64>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 0, 1, 1]> : tensor<8xi64>
  %scales = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.Slice"(%0, %one, %end, %axis, %one) : (tensor<1x4x5x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x4x5x5xf32>
  %2 = "onnx.Pad"(%1, %pads, %none, %none) {mode = "constant"} : (tensor<1x4x5x5xf32>, tensor<8xi64>, none, none) -> tensor<1x4x7x6xf32>
  %3 = "onnx.Resize"(%2, %none, %scales, %none) {mode = "nearest"} : (tensor<1x4x7x6xf32>, none, tensor<4xf32>, none) -> tensor<1x4x14x12xf32>
  %4 = "onnx.Transpose"(%3) {perm = [0, 2, 3, 1]} : (tensor<1x4x14x12xf32>) -> tensor<1x14x12x4xf32>
  onnx.Return %4 : tensor<1x14x12x4xf32>
}

// -----

// A global pooling is a reduction; what follows only moves sizes of 1.
// CHECK-LABEL: @squeeze_excite(
// CHECK-SAME: [[X:%.+]]: tensor<1x5x6x4xf32>
// CHECK-NOT: onnx.Transpose
// CHECK: [[M:%.+]] = "onnx.ReduceMean"([[X]], {{.*}}onnxq.places{{.*}} -> tensor<1x1x1x4xf32>
// CHECK: [[S:%.+]] = "onnx.HardSigmoid"([[M]])
// CHECK: "onnx.Mul"([[X]], [[S]])
func.func @squeeze_excite(%x: tensor<1x5x6x4xf32>) -> tensor<1x5x6x4xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.GlobalAveragePool"(%0) : (tensor<1x4x5x6xf32>) -> tensor<1x4x1x1xf32>
  %2 = "onnx.HardSigmoid"(%1) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %3 = "onnx.Mul"(%0, %2) : (tensor<1x4x5x6xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x5x6xf32>
  %4 = "onnx.Transpose"(%3) {perm = [0, 2, 3, 1]} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  onnx.Return %4 : tensor<1x5x6x4xf32>
}

// -----

// Runs of dimensions change places as a whole.
// CHECK-LABEL: @heads(
// CHECK-SAME: [[X:%.+]]: tensor<1x5x6x4xf32>
// CHECK-NOT: onnx.Transpose
// CHECK: [[R:%.+]] = "onnx.Reshape"([[X]], {{.*}} -> tensor<1x30x4xf32>
// CHECK: onnx.Return [[R]]
func.func @heads(%x: tensor<1x5x6x4xf32>) -> tensor<1x30x4xf32> {
  %shape = onnx.Constant dense<[1, 4, 30]> : tensor<3xi64>
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.Reshape"(%0, %shape) : (tensor<1x4x5x6xf32>, tensor<3xi64>) -> tensor<1x4x30xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 2, 1]} : (tensor<1x4x30xf32>) -> tensor<1x30x4xf32>
  onnx.Return %2 : tensor<1x30x4xf32>
}

// -----

// CHECK-LABEL: @squeezed(
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.Squeeze"(%{{.*}} -> tensor<?x?x4xf32>
func.func @squeezed(%x: tensor<?x1x?x4xf32>) -> tensor<?x?x4xf32> {
  %axes = onnx.Constant dense<[2]> : tensor<1xi64>
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<?x1x?x4xf32>) -> tensor<?x4x1x?xf32>
  %1 = "onnx.Squeeze"(%0, %axes) : (tensor<?x4x1x?xf32>, tensor<1xi64>) -> tensor<?x4x?xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 2, 1]} : (tensor<?x4x?xf32>) -> tensor<?x?x4xf32>
  onnx.Return %2 : tensor<?x?x4xf32>
}

// -----

// Scales per channel move with their axis; the smaller side is transposed.
// CHECK-LABEL: @quantizers(
// CHECK: [[Q:%.+]] = "onnx.QuantizeLinear"(%arg0, {{.*}}axis = 3 : si64
// CHECK: "onnx.Transpose"([[Q]]) {{.*}}tensor<1x4x5x6xi8>
func.func @quantizers(%x: tensor<1x5x6x4xf32>, %scale: tensor<4xf32>, %zero: tensor<4xi8>) -> tensor<1x4x5x6xi8> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.QuantizeLinear"(%0, %scale, %zero) {axis = 1 : si64} : (tensor<1x4x5x6xf32>, tensor<4xf32>, tensor<4xi8>) -> tensor<1x4x5x6xi8>
  onnx.Return %1 : tensor<1x4x5x6xi8>
}

// -----

// CHECK-LABEL: @shape_of(
// CHECK-NOT: onnx.Transpose
// CHECK: [[R:%.+]] = "onnx.Relu"(%arg0)
// CHECK: [[S:%.+]] = "onnx.Shape"([[R]]) <{start = 0 : si64}> : (tensor<1x?x?x4xf32>) -> tensor<4xi64>
// CHECK: "onnx.Gather"([[S]], %{{.*}}) <{axis = 0 : si64}> : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
func.func @shape_of(%x: tensor<1x?x?x4xf32>) -> (tensor<1x?x?x4xf32>, tensor<2xi64>) {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x?x?x4xf32>) -> tensor<1x4x?x?xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
  %2 = "onnx.Shape"(%1) {start = 2 : si64} : (tensor<1x4x?x?xf32>) -> tensor<2xi64>
  %3 = "onnx.Transpose"(%1) {perm = [0, 2, 3, 1]} : (tensor<1x4x?x?xf32>) -> tensor<1x?x?x4xf32>
  onnx.Return %3, %2 : tensor<1x?x?x4xf32>, tensor<2xi64>
}

// -----

// An observer's channels move too.
// CHECK-LABEL: @observed(
// CHECK-NOT: onnx.Transpose
// CHECK: onnxq.observe "t" %arg0 {{.*}}channel_axis = 3 : i64
func.func @observed(%x: tensor<1x5x6x4xf32>, %state: memref<999xi64>) -> tensor<1x5x6x4xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  onnxq.observe "t" %0 into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 4 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x4x5x6xf32>, memref<999xi64>
  %1 = "onnx.Relu"(%0) : (tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 2, 3, 1]} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  onnx.Return %2 : tensor<1x5x6x4xf32>
}

// -----

// What can't be stored in another order stays between its transposes.
// CHECK-LABEL: @rigid(
// CHECK: "onnx.Transpose"(%arg0)
// CHECK: "onnx.LRN"
// CHECK: "onnx.Transpose"
func.func @rigid(%x: tensor<1x5x6x4xf32>) -> tensor<1x5x6x4xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "onnx.LRN"(%0) {size = 3 : si64} : (tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 2, 3, 1]} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  onnx.Return %2 : tensor<1x5x6x4xf32>
}
