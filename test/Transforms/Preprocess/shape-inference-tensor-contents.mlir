// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// Shapes that a graph computes: contents of small integer tensors flow from
// Shape to Reshape, as exporters write them.

// CHECK-LABEL: @exporter_chain
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:batch,1:seq"]{{.*}} -> tensor<?x?x12x64xf32>
func.func @exporter_chain(%x: tensor<?x?x768xf32> {onnx.name = "x", onnx.dim_params = "0:batch,1:seq"}) -> tensor<*xf32> {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %heads = onnx.Constant dense<12> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?x?x768xf32>) -> tensor<*xi64>
  %b = "onnx.Gather"(%shape, %zero) {axis = 0 : si64} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %s = "onnx.Gather"(%shape, %one) {axis = 0 : si64} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %b1 = "onnx.Unsqueeze"(%b, %axes) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %s1 = "onnx.Unsqueeze"(%s, %axes) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %target = "onnx.Concat"(%b1, %s1, %heads, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %target) : (tensor<?x?x768xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// Dimensions without a name are followed too.
// CHECK-LABEL: @anonymous_chain
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<?x12xf32>
func.func @anonymous_chain(%x: tensor<?x3x4xf32>) -> tensor<*xf32> {
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %rest = onnx.Constant {value_ints = [-1]} : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?x3x4xf32>) -> tensor<*xi64>
  %b = "onnx.Gather"(%shape, %zero) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %target = "onnx.Concat"(%b, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %target) : (tensor<?x3x4xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @sliced_shape
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:h,1:w,2:n"]{{.*}} -> tensor<?x?x?xf32>
func.func @sliced_shape(%x: tensor<?x?x?xf32> {onnx.dim_params = "0:n,1:h,2:w"}) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %starts = onnx.Constant dense<-2> : tensor<1xi64>
  %ends = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?x?x?xf32>) -> tensor<*xi64>
  %hw = "onnx.Slice"(%shape, %starts, %ends, %none, %none) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xi64>
  %target = "onnx.Concat"(%hw, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %target) : (tensor<?x?x?xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @reversed_shape
// CHECK: "onnx.Slice"({{.*}}) -> tensor<3xi64>
// CHECK: "onnx.Expand"({{.*}}onnx_dim_params = ["2:n"]{{.*}} -> tensor<5x4x?xf32>
func.func @reversed_shape(%x: tensor<?x4x5xf32> {onnx.dim_params = "0:n"}, %y: tensor<1xf32>) -> tensor<*xf32> {
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %starts = onnx.Constant dense<-1> : tensor<1xi64>
  %ends = onnx.Constant dense<-9223372036854775808> : tensor<1xi64>
  %steps = onnx.Constant dense<-1> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?x4x5xf32>) -> tensor<*xi64>
  %r = "onnx.Slice"(%shape, %starts, %ends, %axes, %steps) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %z = "onnx.Expand"(%y, %r) : (tensor<1xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %z : tensor<*xf32>
}

// CHECK-LABEL: @size_of
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:12*n"]{{.*}} -> tensor<?xf32>
func.func @size_of(%x: tensor<?x3x4xf32> {onnx.dim_params = "0:n"}) -> tensor<*xf32> {
  %target = onnx.Constant dense<1> : tensor<1xi64>
  %size = "onnx.Size"(%x) : (tensor<?x3x4xf32>) -> tensor<*xi64>
  %vector = "onnx.Reshape"(%size, %target) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %vector) : (tensor<?x3x4xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @split_shape
// CHECK: "onnx.Reshape"({{.*}}onnx_dim_params = ["0:n,1:w,2:h"]{{.*}} -> tensor<?x?x?xf32>
func.func @split_shape(%x: tensor<?x?x?xf32> {onnx.dim_params = "0:n,1:h,2:w"}) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %shape = "onnx.Shape"(%x) : (tensor<?x?x?xf32>) -> tensor<*xi64>
  %n, %h, %w = "onnx.Split"(%shape, %none) {axis = 0 : si64, num_outputs = 3 : si64} : (tensor<*xi64>, none) -> (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>)
  %target = "onnx.Concat"(%n, %w, %h) {axis = 0 : si64} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %y = "onnx.Reshape"(%x, %target) : (tensor<?x?x?xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @squeezed_transposed_identity
// CHECK: "onnx.Tile"({{.*}}onnx_dim_params = ["0:2*n"]{{.*}} -> tensor<?xf32>
func.func @squeezed_transposed_identity(%x: tensor<?xf32> {onnx.dim_params = "0:n"}, %y: tensor<2xf32>) -> tensor<*xf32> {
  %axis = onnx.Constant dense<0> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?xf32>) -> tensor<*xi64>
  %scalar = "onnx.Squeeze"(%shape, %axis) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %again = "onnx.Identity"(%scalar) : (tensor<*xi64>) -> tensor<*xi64>
  %vector = "onnx.Unsqueeze"(%again, %axis) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %same = "onnx.Transpose"(%vector) {perm = [0]} : (tensor<*xi64>) -> tensor<*xi64>
  %z = "onnx.Tile"(%y, %same) : (tensor<2xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %z : tensor<*xf32>
}

// CHECK-LABEL: @repeated_contents
// CHECK: "onnx.Expand"({{.*}}onnx_dim_params = ["0:n,1:n,2:n"]{{.*}} -> tensor<?x?x?xf32>
// CHECK: "onnx.Expand"({{.*}}onnx_dim_params = ["0:n,1:n"]{{.*}} -> tensor<?x?xf32>
func.func @repeated_contents(%x: tensor<?xf32> {onnx.dim_params = "0:n"}, %one: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %three = onnx.Constant dense<3> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?xf32>) -> tensor<*xi64>
  %tiled = "onnx.Tile"(%shape, %three) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %expanded = "onnx.Expand"(%shape, %two) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.Expand"(%one, %tiled) : (tensor<1xf32>, tensor<*xi64>) -> tensor<*xf32>
  %z = "onnx.Expand"(%one, %expanded) : (tensor<1xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// Constants in other storage.
// CHECK-LABEL: @other_storage
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<3x4xf32>
// CHECK: "onnx.Gather"({{.*}}) -> tensor<3xf32>
// CHECK: "onnx.Resize"({{.*}}) -> tensor<4x2xf32>
// CHECK: "onnx.Resize"({{.*}}) -> tensor<4x2xf32>
// CHECK: "onnx.Compress"({{.*}}) -> tensor<2xf32>
func.func @other_storage(%x: tensor<12xf32>, %m: tensor<2x4xf32>, %v: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense_resource<ints> : tensor<2xi64>
  %i = onnx.Constant {value_int = 1 : si64} : tensor<i64>
  %f = onnx.Constant dense_resource<floats> : tensor<2xf32>
  %g = onnx.Constant {value_floats = [2.0 : f32, 0.5 : f32]} : tensor<2xf32>
  %c = onnx.Constant dense_resource<flags> : tensor<3xi1>
  %y = "onnx.Reshape"(%x, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<*xf32>
  %t = "onnx.Transpose"(%y) : (tensor<*xf32>) -> tensor<*xf32>
  %z = "onnx.Gather"(%t, %i) : (tensor<*xf32>, tensor<i64>) -> tensor<*xf32>
  %r = "onnx.Resize"(%m, %none, %f, %none) : (tensor<2x4xf32>, none, tensor<2xf32>, none) -> tensor<*xf32>
  %q = "onnx.Resize"(%m, %none, %g, %none) : (tensor<2x4xf32>, none, tensor<2xf32>, none) -> tensor<*xf32>
  %k = "onnx.Compress"(%v, %c) {axis = 0 : si64} : (tensor<3xf32>, tensor<3xi1>) -> tensor<*xf32>
  onnx.Return %y, %z, %r, %q, %k : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// A resource of another size than its type says is no constant.
// CHECK-LABEL: @wrong_resource
// CHECK: "onnx.Reshape"({{.*}}) -> tensor<?x?xf32>
func.func @wrong_resource(%x: tensor<12xf32>) -> tensor<*xf32> {
  %s = onnx.Constant dense_resource<flags> : tensor<2xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

{-#
  dialect_resources: {
    builtin: {
      ints: "0x080000000300000000000000FFFFFFFFFFFFFFFF",
      floats: "0x04000000000000400000003F",
      flags: "0x01000000010001"
    }
  }
#-}
