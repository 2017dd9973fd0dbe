// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// Slice C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<i64>, %a2: tensor<1xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Slice' op expects starts of rank 1, but got rank 0 (C1)}}
  %y = "onnx.Slice"(%a0, %a1, %a2, %none, %none) : (tensor<4xf32>, tensor<i64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Slice C2
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<2xi64>, %a2: tensor<2xi64>, %a3: tensor<1xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Slice' op expects axes of 2 elements, but got 1 (C2)}}
  %y = "onnx.Slice"(%a0, %a1, %a2, %a3, %none) : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Slice C3
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<2xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Slice' op expects starts of at most 1 elements, but got 2 (C3)}}
  %y = "onnx.Slice"(%a0, %a1, %a2, %none, %none) : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Gather C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.Gather' op expects axis in [-1, 0], but got 1 (C1)}}
  %y = "onnx.Gather"(%a0, %a1) {axis = 1 : si64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Gather C1
func.func @invalid(%a0: tensor<f32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.Gather' op expects data of rank 1 or more, but got rank 0 (C1)}}
  %y = "onnx.Gather"(%a0, %a1) {axis = 0 : si64} : (tensor<f32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GatherElements C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.GatherElements' op expects axis in [-1, 0], but got -2 (C1)}}
  %y = "onnx.GatherElements"(%a0, %a1) {axis = -2 : si64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GatherElements C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2x2xi64>) {
  // expected-error@+1 {{'onnx.GatherElements' op expects indices of rank 1, but got rank 2 (C2)}}
  %y = "onnx.GatherElements"(%a0, %a1) {axis = 0 : si64} : (tensor<4xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GatherND C1
func.func @invalid(%a0: tensor<f32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.GatherND' op expects data of rank 1 or more, but got rank 0 (C1)}}
  %y = "onnx.GatherND"(%a0, %a1) : (tensor<f32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GatherND C2
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<2x1xi64>) {
  // expected-error@+1 {{'onnx.GatherND' op expects batch_dims in [0, 1], but got 2 (C2)}}
  %y = "onnx.GatherND"(%a0, %a1) {batch_dims = 2 : si64} : (tensor<4x4xf32>, tensor<2x1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GatherND C3
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<4x3xi64>) {
  // expected-error@+1 {{'onnx.GatherND' op expects the last dimension of indices in [1, 1], but got 3 (C3)}}
  %y = "onnx.GatherND"(%a0, %a1) {batch_dims = 1 : si64} : (tensor<4x4xf32>, tensor<4x3xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterElements C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.ScatterElements' op expects axis in [-1, 0], but got 1 (C1)}}
  %y = "onnx.ScatterElements"(%a0, %a1, %a2) {axis = 1 : si64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterElements C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<2x1xf32>) {
  // expected-error@+1 {{'onnx.ScatterElements' op expects updates of rank 1, but got rank 2 (C2)}}
  %y = "onnx.ScatterElements"(%a0, %a1, %a2) : (tensor<4xf32>, tensor<2xi64>, tensor<2x1xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterElements C3
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<3xf32>) {
  // expected-error@+1 {{'onnx.ScatterElements' op expects indices and updates of the same dimensions, but got 'tensor<2xi64>' and 'tensor<3xf32>' (C3)}}
  %y = "onnx.ScatterElements"(%a0, %a1, %a2) : (tensor<4xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterElements C4
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.ScatterElements' op expects reduction of none, add, mul, max, min, but got 'sub' (C4)}}
  %y = "onnx.ScatterElements"(%a0, %a1, %a2) {reduction = "sub"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterND C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<i64>, %a2: tensor<4xf32>) {
  // expected-error@+1 {{'onnx.ScatterND' op expects indices of rank 1 or more, but got rank 0 (C1)}}
  %y = "onnx.ScatterND"(%a0, %a1, %a2) : (tensor<4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterND C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2x2xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.ScatterND' op expects the last dimension of indices in [0, 1], but got 2 (C2)}}
  %y = "onnx.ScatterND"(%a0, %a1, %a2) : (tensor<4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterND C3
func.func @invalid(%a0: tensor<4x5xf32>, %a1: tensor<2x1xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.ScatterND' op expects updates of rank 2, but got rank 1 (C3)}}
  %y = "onnx.ScatterND"(%a0, %a1, %a2) : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ScatterND C4
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2x1xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.ScatterND' op expects reduction of none, add, mul, max, min, but got '' (C4)}}
  %y = "onnx.ScatterND"(%a0, %a1, %a2) {reduction = ""} : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Compress C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<4xi1>) {
  // expected-error@+1 {{'onnx.Compress' op expects axis in [-1, 0], but got 1 (C1)}}
  %y = "onnx.Compress"(%a0, %a1) {axis = 1 : si64} : (tensor<4xf32>, tensor<4xi1>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Compress C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2x2xi1>) {
  // expected-error@+1 {{'onnx.Compress' op expects condition of rank 1, but got rank 2 (C2)}}
  %y = "onnx.Compress"(%a0, %a1) : (tensor<4xf32>, tensor<2x2xi1>) -> tensor<*xf32>
  onnx.Return
}

// -----

// OneHot C1
func.func @invalid(%a0: tensor<4xi64>, %a1: tensor<i64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.OneHot' op expects axis in [-2, 1], but got 2 (C1)}}
  %y = "onnx.OneHot"(%a0, %a1, %a2) {axis = 2 : si64} : (tensor<4xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// OneHot C2
func.func @invalid(%a0: tensor<4xi64>, %a1: tensor<2xi64>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'onnx.OneHot' op expects depth of one element, but got 'tensor<2xi64>' (C2)}}
  %y = "onnx.OneHot"(%a0, %a1, %a2) : (tensor<4xi64>, tensor<2xi64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// OneHot C3
func.func @invalid(%a0: tensor<4xi64>, %a1: tensor<i64>, %a2: tensor<3xf32>) {
  // expected-error@+1 {{'onnx.OneHot' op expects values of 2 elements, but got 3 (C3)}}
  %y = "onnx.OneHot"(%a0, %a1, %a2) : (tensor<4xi64>, tensor<i64>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ReverseSequence C1
func.func @invalid(%a0: tensor<4x8xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{'onnx.ReverseSequence' op expects batch_axis and time_axis to be 0 and 1, but got 0 and 0 (C1)}}
  %y = "onnx.ReverseSequence"(%a0, %a1) {batch_axis = 0 : si64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ReverseSequence C2
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{'onnx.ReverseSequence' op expects input of rank 2 or more, but got rank 1 (C2)}}
  %y = "onnx.ReverseSequence"(%a0, %a1) : (tensor<4xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ReverseSequence C3
func.func @invalid(%a0: tensor<4x8xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{'onnx.ReverseSequence' op expects sequence_lens of 8 elements, but got 4 (C3)}}
  %y = "onnx.ReverseSequence"(%a0, %a1) : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Trilu C1
func.func @invalid(%a0: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Trilu' op expects input of rank 2 or more, but got rank 1 (C1)}}
  %y = "onnx.Trilu"(%a0, %none) : (tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Trilu C2
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.Trilu' op expects k of one element, but got 'tensor<2xi64>' (C2)}}
  %y = "onnx.Trilu"(%a0, %a1) : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}
