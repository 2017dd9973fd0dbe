// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// Ops that keep all elements: static and symbolic dimensions.

// CHECK-LABEL: @identity
// CHECK: "onnx.Identity"(%{{.*}}) {onnx_dim_params = ["0:batch"]} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @identity(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
  %y = "onnx.Identity"(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @unranked
// CHECK: "onnx.Identity"({{.*}}) -> tensor<*xf32>
// CHECK: "onnx.Flatten"({{.*}}) -> tensor<?x?xf32>
func.func @unranked(%x: tensor<*xf32>) -> tensor<*x!onnx.Unknown> {
  %a = "onnx.Identity"(%x) : (tensor<*xf32>) -> tensor<*x!onnx.Unknown>
  %y = "onnx.Flatten"(%a) {axis = 1 : si64} : (tensor<*x!onnx.Unknown>) -> tensor<*x!onnx.Unknown>
  onnx.Return %y : tensor<*x!onnx.Unknown>
}

//===--- Reshape ----------------------------------------------------------===//

// CHECK-LABEL: @reshape_static
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<2x12xf32>
func.func @reshape_static(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %s = onnx.Constant dense<[0, -1]> : tensor<2xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @reshape_symbolic
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:batch,1:seq"]{{.*}} -> tensor<?x?x12x64xf32>
func.func @reshape_symbolic(%x: tensor<?x?x768xf32> {onnx.dim_params = "0:batch,1:seq"}) -> tensor<*xf32> {
  %s = onnx.Constant dense<[0, 0, 12, -1]> : tensor<4xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @reshape_merges_symbols
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:batch*seq"]{{.*}} -> tensor<?x768xf32>
func.func @reshape_merges_symbols(%x: tensor<?x?x768xf32> {onnx.dim_params = "0:batch,1:seq"}) -> tensor<*xf32> {
  %s = onnx.Constant dense<[-1, 768]> : tensor<2xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<?x?x768xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// A sum stands on both sides: no polynomial division needs to find it.
// CHECK-LABEL: @reshape_cancels_sums
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:h+1,1:w"]{{.*}} -> tensor<?x?xf32>
func.func @reshape_cancels_sums(%x: tensor<?x?x1xf32> {onnx.dim_params = "0:w,1:h+1"}) -> tensor<*xf32> {
  %dim = "onnx.Shape"(%x) {start = 1 : si64, end = 2 : si64} : (tensor<?x?x1xf32>) -> tensor<*xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %s = "onnx.Concat"(%dim, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<?x?x1xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @reshape_allowzero
// CHECK: "onnx.Reshape"({{.*}} -> tensor<0x7xf32>
func.func @reshape_allowzero(%x: tensor<3x0xf32>) -> tensor<*xf32> {
  %s = onnx.Constant dense<[0, 7]> : tensor<2xi64>
  %y = "onnx.Reshape"(%x, %s) {allowzero = 1 : si64} : (tensor<3x0xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// The only dimension that nothing tells is what the others leave.
// CHECK-LABEL: @reshape_solves_unknown
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:batch"]{{.*}} -> tensor<?x4x2xf32>
func.func @reshape_solves_unknown(%x: tensor<?x8xf32> {onnx.dim_params = "0:batch"}, %n: tensor<1xi64>) -> tensor<*xf32> {
  %c = onnx.Constant dense<[4, 2]> : tensor<2xi64>
  %s = "onnx.Concat"(%n, %c) {axis = 0 : si64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @reshape_rank_only
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<?x?x?xf32>
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<*xf32>
func.func @reshape_rank_only(%x: tensor<*xf32>, %s: tensor<3xi64>, %t: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = "onnx.Reshape"(%x, %s) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %z = "onnx.Reshape"(%x, %t) : (tensor<*xf32>, tensor<?xi64>) -> tensor<*xf32>
  onnx.Return %y, %z : tensor<*xf32>, tensor<*xf32>
}

//===--- Other layouts ----------------------------------------------------===//

// CHECK-LABEL: @flatten
// CHECK: "onnx.Flatten"({{.*}}onnx_dim_params = ["0:3*batch"]{{.*}} -> tensor<?x20xf32>
// CHECK: "onnx.Flatten"({{.*}}onnx_dim_params = ["1:60*batch"]{{.*}} -> tensor<1x?xf32>
func.func @flatten(%x: tensor<?x3x4x5xf32> {onnx.dim_params = "0:batch"}) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = "onnx.Flatten"(%x) {axis = 2 : si64} : (tensor<?x3x4x5xf32>) -> tensor<*xf32>
  %z = "onnx.Flatten"(%x) {axis = -4 : si64} : (tensor<?x3x4x5xf32>) -> tensor<*xf32>
  onnx.Return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @squeeze
// CHECK: "onnx.Squeeze"({{.*}}) -> tensor<3xf32>
// CHECK: "onnx.Squeeze"({{.*}}) -> tensor<1x3xf32>
// CHECK: "onnx.Squeeze"({{.*}}) -> tensor<*xf32>
// CHECK: "onnx.Squeeze"({{.*}}) -> tensor<?x?xf32>
func.func @squeeze(%x: tensor<1x3x1xf32>, %d: tensor<?x1xf32>, %axes: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %a = "onnx.Squeeze"(%x, %none) : (tensor<1x3x1xf32>, none) -> tensor<*xf32>
  %b = "onnx.Squeeze"(%x, %last) : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<*xf32>
  %c = "onnx.Squeeze"(%d, %none) : (tensor<?x1xf32>, none) -> tensor<*xf32>
  %e = "onnx.Squeeze"(%x, %axes) : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c, %e : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @unsqueeze
// CHECK: "onnx.Unsqueeze"({{.*}}onnx_dim_params = ["1:n"]{{.*}} -> tensor<1x?x3x1xf32>
// CHECK: "onnx.Unsqueeze"({{.*}}) -> tensor<?x?x?xf32>
func.func @unsqueeze(%x: tensor<?x3xf32> {onnx.dim_params = "0:n"}, %axes: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %both = onnx.Constant dense<[-1, 0]> : tensor<2xi64>
  %a = "onnx.Unsqueeze"(%x, %both) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  %b = "onnx.Unsqueeze"(%x, %axes) : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @transpose
// CHECK: "onnx.Transpose"({{.*}}onnx_dim_params = ["2:n"]{{.*}} -> tensor<4x3x?xf32>
// CHECK: "onnx.Transpose"({{.*}}onnx_dim_params = ["1:n"]{{.*}} -> tensor<4x?x3xf32>
// CHECK: "onnx.Transpose"({{.*}} -> tensor<?x?xf32>
func.func @transpose(%x: tensor<?x3x4xf32> {onnx.dim_params = "0:n"}, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %a = "onnx.Transpose"(%x) : (tensor<?x3x4xf32>) -> tensor<*xf32>
  %b = "onnx.Transpose"(%x) {perm = [2, 0, 1]} : (tensor<?x3x4xf32>) -> tensor<*xf32>
  %c = "onnx.Transpose"(%u) {perm = [1, 0]} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// The dimensions that aren't joined are known from whichever operand says them.
// CHECK-LABEL: @concat
// CHECK: "onnx.Concat"({{.*}}onnx_dim_params = ["0:n,1:2*w+4"]{{.*}} -> tensor<?x?x3xf32>
// CHECK: "onnx.Concat"({{.*}}) -> tensor<?x?x3xf32>
func.func @concat(%x: tensor<?x3x?xf32> {onnx.dim_params = "0:n,2:w"}, %y: tensor<?x?x4xf32>, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %t = "onnx.Transpose"(%x) {perm = [0, 2, 1]} : (tensor<?x3x?xf32>) -> tensor<*xf32>
  %s = "onnx.Transpose"(%y) {perm = [0, 2, 1]} : (tensor<?x?x4xf32>) -> tensor<*xf32>
  %a = "onnx.Concat"(%t, %s, %t) {axis = -2 : si64} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b = "onnx.Concat"(%u, %t) {axis = 1 : si64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @split
// CHECK: "onnx.Split"({{.*}}) {{.*}} -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>)
// CHECK: "onnx.Split"({{.*}}) {{.*}} -> (tensor<2x5xf32>, tensor<2x2xf32>)
// CHECK: "onnx.Split"({{.*}}onnx_dim_params = ["0:n", "0:n"]{{.*}} -> (tensor<?xf32>, tensor<?xf32>)
func.func @split(%x: tensor<2x7xf32>, %s: tensor<?xf32> {onnx.dim_params = "0:2*n"}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %sizes = onnx.Constant dense<[5, 2]> : tensor<2xi64>
  %a:3 = "onnx.Split"(%x, %none) {axis = 1 : si64, num_outputs = 3 : si64} : (tensor<2x7xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %b:2 = "onnx.Split"(%x, %sizes) {axis = -1 : si64} : (tensor<2x7xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %c:2 = "onnx.Split"(%s, %none) {axis = 0 : si64, num_outputs = 2 : si64} : (tensor<?xf32>, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %a#2, %b#1, %c#1 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @expand
// CHECK: "onnx.Expand"({{.*}}onnx_dim_params = ["2:n"]{{.*}} -> tensor<2x3x?xf32>
// CHECK: "onnx.Expand"({{.*}}) -> tensor<?x3x?xf32>
func.func @expand(%x: tensor<3x?xf32> {onnx.dim_params = "1:n"}, %s: tensor<3xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %shape = onnx.Constant dense<[2, 1, 1]> : tensor<3xi64>
  %a = "onnx.Expand"(%x, %shape) : (tensor<3x?xf32>, tensor<3xi64>) -> tensor<*xf32>
  %b = "onnx.Expand"(%x, %s) : (tensor<3x?xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @tile
// CHECK: "onnx.Tile"({{.*}}onnx_dim_params = ["1:3*n"]{{.*}} -> tensor<6x?xf32>
func.func @tile(%x: tensor<3x?xf32> {onnx.dim_params = "1:n"}) -> tensor<*xf32> {
  %repeats = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %y = "onnx.Tile"(%x, %repeats) : (tensor<3x?xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @depth_and_space
// CHECK: "onnx.DepthToSpace"({{.*}}onnx_dim_params = ["0:n,2:2*h"]{{.*}} -> tensor<?x2x?x10xf32>
// CHECK: "onnx.SpaceToDepth"({{.*}}onnx_dim_params = ["0:n,2:h"]{{.*}} -> tensor<?x8x?x5xf32>
func.func @depth_and_space(%x: tensor<?x8x?x5xf32> {onnx.dim_params = "0:n,2:h"}) -> tensor<*xf32> {
  %a = "onnx.DepthToSpace"(%x) {blocksize = 2 : si64} : (tensor<?x8x?x5xf32>) -> tensor<*xf32>
  %b = "onnx.SpaceToDepth"(%a) {blocksize = 2 : si64} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %b : tensor<*xf32>
}

// CHECK-LABEL: @shape_and_size
// CHECK: "onnx.Shape"({{.*}} -> tensor<2xi64>
// CHECK: "onnx.Shape"({{.*}} -> tensor<0xi64>
// CHECK: "onnx.Shape"({{.*}} -> tensor<3xi64>
// CHECK: "onnx.Size"({{.*}}) -> tensor<i64>
func.func @shape_and_size(%x: tensor<2x3x4xf32>) -> (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) {
  %a = "onnx.Shape"(%x) {end = -1 : si64, start = -3 : si64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %b = "onnx.Shape"(%x) {end = 1 : si64, start = 2 : si64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %c = "onnx.Shape"(%x) {end = 9223372036854775807 : si64, start = -9223372036854775808 : si64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %d = "onnx.Size"(%x) : (tensor<2x3x4xf32>) -> tensor<*xi64>
  onnx.Return %a, %b, %c, %d : tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>
}
