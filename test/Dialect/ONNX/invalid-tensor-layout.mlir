// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// Reshape C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<1x1xi64>) {
  // expected-error@+1 {{'onnx.Reshape' op expects shape of rank 1, but got rank 2 (C1)}}
  %y = "onnx.Reshape"(%a0, %a1) : (tensor<4xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Reshape C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<1xi64>) {
  // expected-error@+1 {{'onnx.Reshape' op expects allowzero in [0, 1], but got 2 (C2)}}
  %y = "onnx.Reshape"(%a0, %a1) {allowzero = 2 : si64} : (tensor<4xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Flatten C1
func.func @invalid(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'onnx.Flatten' op expects axis in [-2, 2], but got -3 (C1)}}
  %y = "onnx.Flatten"(%a0) {axis = -3 : si64} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Squeeze C1
func.func @invalid(%a0: tensor<1x3xf32>, %a1: tensor<1x1xi64>) {
  // expected-error@+1 {{'onnx.Squeeze' op expects axes of rank at most 1, but got rank 2 (C1)}}
  %y = "onnx.Squeeze"(%a0, %a1) : (tensor<1x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Unsqueeze C1
func.func @invalid(%a0: tensor<3xf32>, %a1: tensor<1x1xi64>) {
  // expected-error@+1 {{'onnx.Unsqueeze' op expects axes of rank at most 1, but got rank 2 (C1)}}
  %y = "onnx.Unsqueeze"(%a0, %a1) : (tensor<3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Transpose C1
func.func @invalid(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'onnx.Transpose' op expects perm to be a permutation of 0 to 1, but got [1, 1] (C1)}}
  %y = "onnx.Transpose"(%a0) {perm = [1, 1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Transpose C1
func.func @invalid(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'onnx.Transpose' op expects perm to be a permutation of 0 to 1}}
  %y = "onnx.Transpose"(%a0) {perm = [0, 9223372036854775807]} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Transpose C2
func.func @invalid(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'onnx.Transpose' op expects perm of 2 entries, but got 3 (C2)}}
  %y = "onnx.Transpose"(%a0) {perm = [0, 1, 2]} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Concat C1
func.func @invalid() {
  // expected-error@+1 {{'onnx.Concat' op expects at least one operand, but got none (C1)}}
  %y = "onnx.Concat"() {axis = 0 : si64} : () -> tensor<*xf32>
  onnx.Return
}

// -----

// Concat C2
func.func @invalid(%a0: tensor<2xf32>, %a1: tensor<2x2xf32>) {
  // expected-error@+1 {{'onnx.Concat' op expects operands of rank 1, but got rank 2 (C2)}}
  %y = "onnx.Concat"(%a0, %a1) {axis = 0 : si64} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Concat C2
func.func @invalid(%a0: tensor<f32>) {
  // expected-error@+1 {{'onnx.Concat' op expects operands of rank 1 or more, but got rank 0 (C2)}}
  %y = "onnx.Concat"(%a0) {axis = 0 : si64} : (tensor<f32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Concat C3
func.func @invalid(%a0: tensor<2xf32>, %a1: tensor<3xf32>) {
  // expected-error@+1 {{'onnx.Concat' op expects axis in [-1, 0], but got 1 (C3)}}
  %y = "onnx.Concat"(%a0, %a1) {axis = 1 : si64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Split C1
func.func @invalid(%a0: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Split' op expects at least one result, but got none (C1)}}
  "onnx.Split"(%a0, %none) {axis = 0 : si64} : (tensor<4xf32>, none) -> ()
  onnx.Return
}

// -----

// Split C2
func.func @invalid(%a0: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Split' op expects axis in [-1, 0], but got 1 (C2)}}
  %y = "onnx.Split"(%a0, %none) {axis = 1 : si64} : (tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Split C3
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<3xi64>) {
  // expected-error@+1 {{'onnx.Split' op expects split of 2 elements, but got 3 (C3)}}
  %y:2 = "onnx.Split"(%a0, %a1) : (tensor<4xf32>, tensor<3xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return
}

// -----

// Split C4
func.func @invalid(%a0: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Split' op expects num_outputs of 2, but got 3 (C4)}}
  %y:2 = "onnx.Split"(%a0, %none) {num_outputs = 3 : si64} : (tensor<4xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return
}

// -----

// Split C5
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.Split' op expects one of split and num_outputs, but got both (C5)}}
  %y:2 = "onnx.Split"(%a0, %a1) {num_outputs = 2 : si64} : (tensor<4xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return
}

// -----

// Expand C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<i64>) {
  // expected-error@+1 {{'onnx.Expand' op expects shape of rank 1, but got rank 0 (C1)}}
  %y = "onnx.Expand"(%a0, %a1) : (tensor<4xf32>, tensor<i64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Tile C1
func.func @invalid(%a0: tensor<4x2xf32>, %a1: tensor<3xi64>) {
  // expected-error@+1 {{'onnx.Tile' op expects repeats of 2 elements, but got 3 (C1)}}
  %y = "onnx.Tile"(%a0, %a1) : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// DepthToSpace C1
func.func @invalid(%a0: tensor<1x8x2x2xf32>) {
  // expected-error@+1 {{'onnx.DepthToSpace' op expects a positive blocksize, but got 0 (C1)}}
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 0 : si64} : (tensor<1x8x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// DepthToSpace C2
func.func @invalid(%a0: tensor<1x8x2x2xf32>) {
  // expected-error@+1 {{'onnx.DepthToSpace' op expects mode of DCR, CRD, but got 'RCD' (C2)}}
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 2 : si64, mode = "RCD"} : (tensor<1x8x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// DepthToSpace C3
func.func @invalid(%a0: tensor<8x2x2xf32>) {
  // expected-error@+1 {{'onnx.DepthToSpace' op expects input of rank 4, but got rank 3 (C3)}}
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 2 : si64} : (tensor<8x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// DepthToSpace C4
func.func @invalid(%a0: tensor<1x6x2x2xf32>) {
  // expected-error@+1 {{'onnx.DepthToSpace' op expects channels in multiples of the squared blocksize, but got 6 for blocksize 2 (C4)}}
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 2 : si64} : (tensor<1x6x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// DepthToSpace C4
func.func @invalid(%a0: tensor<1x6x2x2xf32>) {
  // expected-error@+1 {{'onnx.DepthToSpace' op expects channels in multiples of the squared blocksize, but got 6 for blocksize 9223372036854775807 (C4)}}
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 9223372036854775807 : si64} : (tensor<1x6x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// SpaceToDepth C1
func.func @invalid(%a0: tensor<1x8x2x2xf32>) {
  // expected-error@+1 {{'onnx.SpaceToDepth' op expects a positive blocksize, but got -2 (C1)}}
  %y = "onnx.SpaceToDepth"(%a0) {blocksize = -2 : si64} : (tensor<1x8x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// SpaceToDepth C2
func.func @invalid(%a0: tensor<1x8x2x2x2xf32>) {
  // expected-error@+1 {{'onnx.SpaceToDepth' op expects input of rank 4, but got rank 5 (C2)}}
  %y = "onnx.SpaceToDepth"(%a0) {blocksize = 2 : si64} : (tensor<1x8x2x2x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// SpaceToDepth C3
func.func @invalid(%a0: tensor<1x8x4x3xf32>) {
  // expected-error@+1 {{'onnx.SpaceToDepth' op expects height and width in multiples of 2, but got 3 (C3)}}
  %y = "onnx.SpaceToDepth"(%a0) {blocksize = 2 : si64} : (tensor<1x8x4x3xf32>) -> tensor<*xf32>
  onnx.Return
}
