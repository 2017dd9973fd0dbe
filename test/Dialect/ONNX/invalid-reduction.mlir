// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// ReduceL1 C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceL1"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceL2 C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceL2"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceLogSum C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceLogSum"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceLogSumExp C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceLogSumExp"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceMax C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceMax"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceMean C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceMean"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceMin C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceMin"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceProd C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceProd"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceSum C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// ReduceSumSquare C1
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1x1xi64>) {
  // expected-error @+1 {{expects axes of rank 0 or 1, but got rank 2 (C1)}}
  %y = "onnx.ReduceSumSquare"(%x, %axes) : (tensor<2x3xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// element types
func.func @f(%x: tensor<2x3xf32>, %axes: tensor<1xi64>) {
  // expected-error @+1 {{data, reduced have the same element type}}
  %y = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xi32>
  return
}

// -----

// ArgMax C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expects an axis within rank 2, but got 2 (C1)}}
  %y = "onnx.ArgMax"(%x) {axis = 2 : si64} : (tensor<2x3xf32>) -> tensor<*xi64>
  return
}

// -----

// ArgMin C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expects an axis within rank 2, but got -9223372036854775808 (C1)}}
  %y = "onnx.ArgMin"(%x) {axis = -9223372036854775808 : si64} : (tensor<2x3xf32>) -> tensor<*xi64>
  return
}

// -----

// CumSum C1
func.func @f(%x: tensor<2x3xf32>, %axis: tensor<2xi64>) {
  // expected-error @+1 {{expects an axis with one element, but got 'tensor<2xi64>' (C1)}}
  %y = "onnx.CumSum"(%x, %axis) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// TopK C1
func.func @f(%x: tensor<f32>, %k: tensor<1xi64>) {
  // expected-error @+1 {{expects an axis within rank 0, but got -1 (C1)}}
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<f32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return
}

// -----

// TopK C2
func.func @f(%x: tensor<2x3xf32>, %k: tensor<2xi64>) {
  // expected-error @+1 {{expects K with one element, but got 'tensor<2xi64>' (C2)}}
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return
}

// -----

// NonMaxSuppression C1
func.func @f(%boxes: tensor<1x6x5xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<1xi64>, %iou: tensor<1xf32>) {
  // expected-error @+1 {{expects boxes of shape (batches, boxes, 4), but got 'tensor<1x6x5xf32>' (C1)}}
  %y = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %iou) {center_point_box = 0 : si64} : (tensor<1x6x5xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<*xi64>
  return
}

// -----

// NonMaxSuppression C2
func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x7xf32>, %max: tensor<1xi64>, %iou: tensor<1xf32>) {
  // expected-error @+1 {{expects scores of shape (batches, classes, boxes), but got 'tensor<1x2x7xf32>' for boxes 'tensor<1x6x4xf32>' (C2)}}
  %y = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %iou) {center_point_box = 0 : si64} : (tensor<1x6x4xf32>, tensor<1x2x7xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<*xi64>
  return
}

// -----

// NonMaxSuppression C3
func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<1x1xi64>, %iou: tensor<1xf32>) {
  // expected-error @+1 {{expects a number of boxes with one element, but got 'tensor<1x1xi64>' (C3)}}
  %y = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %iou) {center_point_box = 0 : si64} : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1x1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<*xi64>
  return
}

// -----

// NonMaxSuppression C4
func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<1xi64>, %iou: tensor<1xf32>) {
  // expected-error @+1 {{expects center_point_box of 0 or 1, but got 2 (C4)}}
  %y = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %iou) {center_point_box = 2 : si64} : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<*xi64>
  return
}

// -----

// Unique C1
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expects an axis within rank 2, but got -3 (C1)}}
  %y, %a, %b, %c = "onnx.Unique"(%x) {axis = -3 : si64} : (tensor<4x3xf32>) -> (tensor<*xf32>, none, none, none)
  return
}
