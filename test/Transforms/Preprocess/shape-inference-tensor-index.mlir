// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// Ops that pick elements by index or condition, or put them there.

// CHECK-LABEL: @gather
// CHECK: "onnx.Gather"({{.*}}onnx_dim_params = ["0:n,2:m"]{{.*}} -> tensor<?x2x?x5xf32>
// CHECK: "onnx.Gather"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x4xf32>
// CHECK: "onnx.Gather"({{.*}}) -> tensor<*xf32>
func.func @gather(%x: tensor<?x4x5xf32> {onnx.dim_params = "0:n"}, %i: tensor<2x?xi64> {onnx.dim_params = "1:m"}, %s: tensor<i32>, %u: tensor<*xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %a = "onnx.Gather"(%x, %i) {axis = 1 : si64} : (tensor<?x4x5xf32>, tensor<2x?xi64>) -> tensor<*xf32>
  %b = "onnx.Gather"(%x, %s) {axis = -1 : si64} : (tensor<?x4x5xf32>, tensor<i32>) -> tensor<*xf32>
  %c = "onnx.Gather"(%x, %u) : (tensor<?x4x5xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @gather_elements
// CHECK: "onnx.GatherElements"({{.*}}onnx_dim_params = ["1:m"]{{.*}} -> tensor<2x?xf32>
// CHECK: "onnx.GatherElements"({{.*}}) -> tensor<?x?xf32>
func.func @gather_elements(%x: tensor<4x5xf32>, %i: tensor<2x?xi64> {onnx.dim_params = "1:m"}, %u: tensor<*xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = "onnx.GatherElements"(%x, %i) : (tensor<4x5xf32>, tensor<2x?xi64>) -> tensor<*xf32>
  %b = "onnx.GatherElements"(%x, %u) : (tensor<4x5xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @gather_nd
// CHECK: "onnx.GatherND"({{.*}}onnx_dim_params = ["0:m"]{{.*}} -> tensor<?x5xf32>
// CHECK: "onnx.GatherND"({{.*}} -> tensor<3x4x5xf32>
// CHECK: "onnx.GatherND"({{.*}}) -> tensor<*xf32>
func.func @gather_nd(%x: tensor<3x4x5xf32>, %i: tensor<?x2xi64> {onnx.dim_params = "0:m"}, %j: tensor<?x4x1xi64>, %u: tensor<2x?xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %a = "onnx.GatherND"(%x, %i) : (tensor<3x4x5xf32>, tensor<?x2xi64>) -> tensor<*xf32>
  %b = "onnx.GatherND"(%x, %j) {batch_dims = 1 : si64} : (tensor<3x4x5xf32>, tensor<?x4x1xi64>) -> tensor<*xf32>
  %c = "onnx.GatherND"(%x, %u) : (tensor<3x4x5xf32>, tensor<2x?xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @same_dimensions
// CHECK: "onnx.ScatterElements"({{.*}}) -> tensor<?x5xf32>
// CHECK: "onnx.ScatterND"({{.*}}) -> tensor<?x5xf32>
// CHECK: "onnx.ReverseSequence"({{.*}}) -> tensor<?x5xf32>
// CHECK: "onnx.Trilu"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x5xf32>
func.func @same_dimensions(%x: tensor<?x5xf32> {onnx.dim_params = "0:n"}, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>, %j: tensor<2x1xi64>, %v: tensor<2x5xf32>, %l: tensor<5xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %a = "onnx.ScatterElements"(%x, %i, %u) : (tensor<?x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<*xf32>
  %b = "onnx.ScatterND"(%a, %j, %v) : (tensor<*xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<*xf32>
  %c = "onnx.ReverseSequence"(%b, %l) : (tensor<*xf32>, tensor<5xi64>) -> tensor<*xf32>
  %d = "onnx.Trilu"(%c, %none) : (tensor<*xf32>, none) -> tensor<*xf32>
  onnx.Return %d : tensor<*xf32>
}

// CHECK-LABEL: @compress
// CHECK: "onnx.Compress"({{.*}}) -> tensor<3x?xf32>
// CHECK: "onnx.Compress"({{.*}}) -> tensor<?xf32>
// CHECK: "onnx.Compress"({{.*}}) -> tensor<2x4xf32>
func.func @compress(%x: tensor<3x4xf32>, %c: tensor<?xi1>, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %flags = onnx.Constant dense<[true, false, true, true]> : tensor<4xi1>
  %a = "onnx.Compress"(%x, %c) {axis = -1 : si64} : (tensor<3x4xf32>, tensor<?xi1>) -> tensor<*xf32>
  %b = "onnx.Compress"(%u, %c) : (tensor<*xf32>, tensor<?xi1>) -> tensor<*xf32>
  %d = "onnx.Compress"(%x, %flags) {axis = 0 : si64} : (tensor<3x4xf32>, tensor<4xi1>) -> tensor<*xf32>
  onnx.Return %a, %b, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @one_hot
// CHECK: "onnx.OneHot"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x3x10xi8>
// CHECK: "onnx.OneHot"({{.*}}onnx_dim_params = ["1:n"]{{.*}} -> tensor<12x?x3xi8>
// CHECK: "onnx.OneHot"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x?x3xi8>
func.func @one_hot(%x: tensor<?x3xi64> {onnx.dim_params = "0:n"}, %d: tensor<i64>, %v: tensor<2xi8>) -> (tensor<*xi8>, tensor<*xi8>, tensor<*xi8>) {
  %ten = onnx.Constant dense<10> : tensor<1xi64>
  %twelve = onnx.Constant dense<12.5> : tensor<f32>
  %a = "onnx.OneHot"(%x, %ten, %v) : (tensor<?x3xi64>, tensor<1xi64>, tensor<2xi8>) -> tensor<*xi8>
  %b = "onnx.OneHot"(%x, %twelve, %v) {axis = 0 : si64} : (tensor<?x3xi64>, tensor<f32>, tensor<2xi8>) -> tensor<*xi8>
  %c = "onnx.OneHot"(%x, %d, %v) {axis = -2 : si64} : (tensor<?x3xi64>, tensor<i64>, tensor<2xi8>) -> tensor<*xi8>
  onnx.Return %a, %b, %c : tensor<*xi8>, tensor<*xi8>, tensor<*xi8>
}

// A depth in every kind of storage that a blob may have.
// CHECK-LABEL: @one_hot_storage
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x6xf32>
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x5xf32>
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x9xf32>
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x250xf32>
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x258xf32>
// CHECK: "onnx.OneHot"({{.*}}) -> tensor<3x?xf32>
func.func @one_hot_storage(%x: tensor<3xi64>, %v: tensor<2xf32>) -> tensor<*xf32> {
  %d0 = onnx.Constant dense_resource<f16> : tensor<f16>
  %d1 = onnx.Constant dense_resource<bf16> : tensor<1xbf16>
  %d2 = onnx.Constant dense_resource<f64> : tensor<f64>
  %d3 = onnx.Constant dense_resource<ui8> : tensor<ui8>
  %d4 = onnx.Constant dense_resource<i16> : tensor<i16>
  %d5 = onnx.Constant dense<18446744073709551615> : tensor<ui64>
  %y0 = "onnx.OneHot"(%x, %d0, %v) : (tensor<3xi64>, tensor<f16>, tensor<2xf32>) -> tensor<*xf32>
  %y1 = "onnx.OneHot"(%x, %d1, %v) : (tensor<3xi64>, tensor<1xbf16>, tensor<2xf32>) -> tensor<*xf32>
  %y2 = "onnx.OneHot"(%x, %d2, %v) : (tensor<3xi64>, tensor<f64>, tensor<2xf32>) -> tensor<*xf32>
  %y3 = "onnx.OneHot"(%x, %d3, %v) : (tensor<3xi64>, tensor<ui8>, tensor<2xf32>) -> tensor<*xf32>
  %y4 = "onnx.OneHot"(%x, %d4, %v) : (tensor<3xi64>, tensor<i16>, tensor<2xf32>) -> tensor<*xf32>
  %y5 = "onnx.OneHot"(%x, %d5, %v) : (tensor<3xi64>, tensor<ui64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return %y5 : tensor<*xf32>
}

{-#
  dialect_resources: {
    builtin: {
      f16: "0x020000000046",
      bf16: "0x02000000A040",
      f64: "0x080000000000000000002240",
      ui8: "0x01000000FA",
      i16: "0x020000000201"
    }
  }
#-}
