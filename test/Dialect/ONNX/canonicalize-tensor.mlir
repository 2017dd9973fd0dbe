// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// Ops of the Tensor family that do nothing give way to their operand; those
// that do something stay.

// CHECK-LABEL: @identity
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @identity(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = "onnx.Identity"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  onnx.Return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @identity_of_another_type
// CHECK: "onnx.Identity"
func.func @identity_of_another_type(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %y = "onnx.Identity"(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @same_static_type
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>,
// CHECK-NEXT: onnx.Return %[[X]]
func.func @same_static_type(%x: tensor<2x3xf32>, %s: tensor<2xi64>) -> tensor<2x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %axes = onnx.Constant dense<> : tensor<0xi64>
  %a = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %b = "onnx.Flatten"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "onnx.Squeeze"(%b, %none) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  %d = "onnx.Unsqueeze"(%c, %axes) : (tensor<2x3xf32>, tensor<0xi64>) -> tensor<2x3xf32>
  %e = "onnx.Expand"(%d, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %f = "onnx.Tile"(%e, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %g = "onnx.CenterCropPad"(%f, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  onnx.Return %g : tensor<2x3xf32>
}

// Dynamic dimensions may change places.
// CHECK-LABEL: @dynamic_reshape
// CHECK: "onnx.Reshape"
func.func @dynamic_reshape(%x: tensor<?x?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Reshape"(%x, %s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// CHECK-LABEL: @transpose_identity
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @transpose_identity(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = "onnx.Transpose"(%x) {perm = [0, 1]} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  onnx.Return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @transpose_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @transpose_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = "onnx.Transpose"(%x) {perm = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %b = "onnx.Transpose"(%a) {perm = [2, 0, 1]} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  onnx.Return %b : tensor<2x3x4xf32>
}

// Without a permutation the order is reversed.
// CHECK-LABEL: @transpose_twice
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = "onnx.Transpose"(%[[X]]) <{perm = [0, 2, 1]}> : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: onnx.Return %[[Y]]
func.func @transpose_twice(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %a = "onnx.Transpose"(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %b = "onnx.Transpose"(%a) {perm = [2, 0, 1]} : (tensor<4x3x2xf32>) -> tensor<2x4x3xf32>
  onnx.Return %b : tensor<2x4x3xf32>
}

// CHECK-LABEL: @transpose_stays
// CHECK: "onnx.Transpose"
func.func @transpose_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = "onnx.Transpose"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  onnx.Return %y : tensor<3x3xf32>
}

// CHECK-LABEL: @concat_and_split_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @concat_and_split_of_one(%x: tensor<?xf32>) -> tensor<?xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %a = "onnx.Concat"(%x) {axis = 0 : si64} : (tensor<?xf32>) -> tensor<?xf32>
  %b = "onnx.Split"(%a, %none) {num_outputs = 1 : si64} : (tensor<?xf32>, none) -> tensor<?xf32>
  onnx.Return %b : tensor<?xf32>
}

// CHECK-LABEL: @blocks_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x2x2xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @blocks_of_one(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %a = "onnx.DepthToSpace"(%x) {blocksize = 1 : si64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %b = "onnx.SpaceToDepth"(%a) {blocksize = 1 : si64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  onnx.Return %b : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: @slice_of_everything
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>,
// CHECK-NEXT: onnx.Return %[[X]]
func.func @slice_of_everything(%x: tensor<4xf32>, %i: tensor<1xi64>, %j: tensor<1xi64>) -> tensor<4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %a = "onnx.Slice"(%x, %i, %j, %none, %none) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<4xf32>
  %b = "onnx.Slice"(%a, %i, %j, %none, %one) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<4xf32>
  onnx.Return %b : tensor<4xf32>
}

// CHECK-LABEL: @slice_backward
// CHECK: "onnx.Slice"
func.func @slice_backward(%x: tensor<4xf32>, %i: tensor<1xi64>, %j: tensor<1xi64>) -> tensor<4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %step = onnx.Constant dense<-1> : tensor<1xi64>
  %y = "onnx.Slice"(%x, %i, %j, %none, %step) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}

// CHECK-LABEL: @pad_of_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @pad_of_nothing(%x: tensor<?xf32>) -> tensor<?xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<0> : tensor<2xi64>
  %y = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<?xf32>, tensor<2xi64>, none, none) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// Equal types are no proof: this one shifts.
// CHECK-LABEL: @pad_shifts
// CHECK: "onnx.Pad"
func.func @pad_shifts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %y = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<4xf32>, tensor<2xi64>, none, none) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}
