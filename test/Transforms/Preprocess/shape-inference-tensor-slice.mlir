// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// Slice: bounds of all kinds over static and symbolic dimensions.

// CHECK-LABEL: @static
// CHECK: "onnx.Slice"({{.*}}) -> tensor<3x5x5xf32>
func.func @static(%x: tensor<20x10x5xf32>) -> tensor<*xf32> {
  %starts = onnx.Constant dense<[1, -6]> : tensor<2xi64>
  %ends = onnx.Constant dense<[9, -1]> : tensor<2xi64>
  %axes = onnx.Constant dense<[0, -2]> : tensor<2xi64>
  %steps = onnx.Constant dense<[3, 1]> : tensor<2xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %axes, %steps) : (tensor<20x10x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @clamped
// CHECK: "onnx.Slice"({{.*}}) -> tensor<5x0x7x1xf32>
func.func @clamped(%x: tensor<5x6x7x8xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %starts = onnx.Constant dense<[-9223372036854775808, 100, -100, 2]> : tensor<4xi64>
  %ends = onnx.Constant dense<[9223372036854775807, 200, 100, 3]> : tensor<4xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %none, %none) : (tensor<5x6x7x8xf32>, tensor<4xi64>, tensor<4xi64>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @backward
// CHECK: "onnx.Slice"({{.*}}) -> tensor<5x3x2x1xf32>
func.func @backward(%x: tensor<5x6x7x8xf32>) -> tensor<*xf32> {
  %starts = onnx.Constant dense<[-1, 100, 4, -100]> : tensor<4xi64>
  %ends = onnx.Constant dense<[-9223372036854775808, 0, 1, -100]> : tensor<4xi64>
  %axes = onnx.Constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %steps = onnx.Constant dense<[-1, -2, -2, -9223372036854775808]> : tensor<4xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %axes, %steps) : (tensor<5x6x7x8xf32>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @symbolic
// CHECK: "onnx.Slice"({{.*}}onnx_dim_params = ["0:a,1:max(0,b-1),2:max(0,c-3),3:floor((d+1)/2),4:min(1,e),5:f"]{{.*}}
func.func @symbolic(%x: tensor<?x?x?x?x?x?xf32> {onnx.dim_params = "0:a,1:b,2:c,3:d,4:e,5:f"}) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %axes = onnx.Constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
  %starts = onnx.Constant dense<[0, 0, 1, 0, -1, -1]> : tensor<6xi64>
  %ends = onnx.Constant dense<[9223372036854775807, -1, -2, 2147483647, 9223372036854775807, -9223372036854775808]> : tensor<6xi64>
  %steps = onnx.Constant dense<[1, 1, 1, 2, 1, -1]> : tensor<6xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %axes, %steps) : (tensor<?x?x?x?x?x?xf32>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// Slicing off the first and slicing off the last gives equal lengths.
// CHECK-LABEL: @shifted
// CHECK-COUNT-2: "onnx.Slice"({{.*}}onnx_dim_params = ["0:max(0,n-1)"]{{.*}} -> tensor<?xf32>
func.func @shifted(%x: tensor<?xf32> {onnx.dim_params = "0:n"}) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %a = "onnx.Slice"(%x, %zero, %last, %none, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  %b = "onnx.Slice"(%x, %one, %end, %none, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// Bounds that come from shapes.
// CHECK-LABEL: @symbolic_bounds
// CHECK: "onnx.Slice"({{.*}}onnx_dim_params = ["1:min(512,seq)"]{{.*}} -> tensor<1x?xf32>
// CHECK: "onnx.Slice"({{.*}}onnx_dim_params = ["1:max(-seq+512,0)"]{{.*}} -> tensor<1x?xf32>
// CHECK: "onnx.Slice"({{.*}}onnx_dim_params = ["1:seq"]{{.*}} -> tensor<1x?xf32>
func.func @symbolic_bounds(%x: tensor<1x512xf32>, %t: tensor<1x?xf32> {onnx.dim_params = "1:seq"}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %seq = "onnx.Shape"(%t) {start = 1 : si64} : (tensor<1x?xf32>) -> tensor<*xi64>
  %a = "onnx.Slice"(%x, %zero, %seq, %one, %none) : (tensor<1x512xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %b = "onnx.Slice"(%x, %seq, %end, %one, %none) : (tensor<1x512xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %c = "onnx.Slice"(%t, %zero, %seq, %one, %none) : (tensor<1x?xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// What is unknown about the operands is unknown about the result.
// CHECK-LABEL: @unknown
// CHECK: "onnx.Slice"({{.*}}) -> tensor<?x6xf32>
// CHECK: "onnx.Slice"({{.*}}) -> tensor<?x?xf32>
// CHECK: "onnx.Slice"({{.*}}) -> tensor<*xf32>
func.func @unknown(%x: tensor<5x6xf32>, %i: tensor<1xi64>, %n: tensor<?xi64>, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %a = "onnx.Slice"(%x, %zero, %i, %none, %none) : (tensor<5x6xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  %b = "onnx.Slice"(%x, %n, %n, %n, %none) : (tensor<5x6xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, none) -> tensor<*xf32>
  %c = "onnx.Slice"(%u, %zero, %i, %none, %none) : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
