// RUN: onnxq-opt %s --onnx-to-linalg --canonicalize | FileCheck %s

// Elements that keep their order stay where they are.
// CHECK-LABEL: func.func @reshape_static
func.func @reshape_static(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
  // CHECK-NEXT: return
  %shape = "onnx.Constant"() {value = dense<[-1, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "onnx.Reshape"(%x, %shape) {allowzero = 0 : si64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  onnx.Return %y : tensor<6x4xf32>
}

// A shape that comes at run time is checked before it is used.
// CHECK-LABEL: func.func @reshape_dynamic
func.func @reshape_dynamic(%x: tensor<?x?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'Reshape': expects at most one -1 in shape"
  // CHECK: cf.assert %{{.*}}, "node 'Reshape': expects a shape of as many elements as data has"
  // CHECK-NOT: linalg
  // CHECK: tensor.reshape
  %y = "onnx.Reshape"(%x, %shape) {allowzero = 0 : si64} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<?x3x4xf32>) -> tensor<2xi64> {
  // CHECK: %[[N:.*]] = tensor.dim
  // CHECK: %[[I:.*]] = arith.index_cast %[[N]]
  // CHECK: tensor.from_elements %[[I]], %{{.*}} : tensor<2xi64>
  %y = "onnx.Shape"(%x) {end = 2 : si64, start = 0 : si64} : (tensor<?x3x4xf32>) -> tensor<2xi64>
  onnx.Return %y : tensor<2xi64>
}

// A part with positive steps is a view.
// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: tensor.extract_slice %{{.*}}[0, 1] [4, 3] [1, 2]
  // CHECK-NEXT: return
  %starts = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %ends = "onnx.Constant"() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %steps = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %starts, %steps) : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  onnx.Return %y : tensor<4x3xf32>
}

// Elements move as they are stored: small floats are not converted.
// CHECK-LABEL: func.func @slice_back
func.func @slice_back(%x: tensor<8xf16>) -> tensor<8xf16> {
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb0(%{{.*}}: i16):
  // CHECK-NOT: arith.extui
  // CHECK: %[[E:.*]] = tensor.extract %{{.*}} : tensor<8xi16>
  // CHECK-NEXT: linalg.yield %[[E]] : i16
  %starts = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %ends = "onnx.Constant"() {value = dense<-9> : tensor<1xi64>} : () -> tensor<1xi64>
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.Slice"(%x, %starts, %ends, %axes, %starts) : (tensor<8xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf16>
  onnx.Return %y : tensor<8xf16>
}

// Operands go to their places; open sizes are compared.
// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<?x3xf32>, %b: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'Concat': expects operands of the same sizes but along axis"
  // CHECK: %[[OUT:.*]] = tensor.empty
  // CHECK: %[[ONE:.*]] = tensor.insert_slice %{{.*}} into %[[OUT]][0, 0]
  // CHECK: tensor.insert_slice %{{.*}} into %[[ONE]][0, 3]
  %y = "onnx.Concat"(%a, %b) {axis = 1 : si64} : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  onnx.Return %y : tensor<2x?xf32>
}

// Indices are looked through before the first access.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<4x?xf32>, %i: tensor<?xi64>) -> tensor<?x?xf32> {
  // CHECK: %[[VALID:.*]] = scf.for
  // CHECK: arith.cmpi ult
  // CHECK: cf.assert %[[VALID]], "node 'Gather': expects indices within the dimension that they index"
  // CHECK: linalg.generic
  %y = "onnx.Gather"(%x, %i) {axis = 0 : si64} : (tensor<4x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// Constants that are within need no look.
// CHECK-LABEL: func.func @gather_constant
func.func @gather_constant(%x: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // CHECK-NOT: cf.assert
  // CHECK: linalg.generic
  %i = "onnx.Constant"() {value = dense<[1, -4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "onnx.Gather"(%x, %i) {axis = 0 : si64} : (tensor<4x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  onnx.Return %y : tensor<2x5xf32>
}

// Updates are written one after the other.
// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // CHECK: cf.assert
  // CHECK: scf.for {{.*}} iter_args(%[[DATA:.*]] = %{{.*}}) -> (tensor<4xf32>)
  // CHECK: %[[OLD:.*]] = tensor.extract %[[DATA]]
  // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]]
  // CHECK: tensor.insert %[[NEW]] into %[[DATA]]
  %y = "onnx.ScatterElements"(%x, %i, %u) {axis = 0 : si64, reduction = "add"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}

// First counted, then filled.
// CHECK-LABEL: func.func @compress
func.func @compress(%x: tensor<4xf32>, %c: tensor<4xi1>) -> tensor<?xf32> {
  // CHECK: %[[COUNT:.*]]:2 = scf.for
  // CHECK: cf.assert %[[COUNT]]#1
  // CHECK: tensor.empty(%[[COUNT]]#0) : tensor<?xf32>
  %y = "onnx.Compress"(%x, %c) {axis = 0 : si64} : (tensor<4xf32>, tensor<4xi1>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// Whole scales repeat elements, without tables.
// CHECK-LABEL: func.func @resize_twice
func.func @resize_twice(%x: tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32> {
  // CHECK-NOT: cf.assert
  // CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x3x4x2x4x2xf32>)
  // CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0], [1], [2, 3], [4, 5]]
  // CHECK-NOT: linalg.generic
  %none = "onnx.NoValue"() {value} : () -> none
  %scales = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = "onnx.Resize"(%x, %none, %scales, %none) {coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode = "floor"} : (tensor<?x3x4x4xf32>, none, tensor<4xf32>, none) -> tensor<?x3x8x8xf32>
  onnx.Return %y : tensor<?x3x8x8xf32>
}

// One pass per axis that changes.
// CHECK-LABEL: func.func @resize_linear
func.func @resize_linear(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x6x9xf32> {
  // CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x3x4x9xf32>)
  // CHECK: tensor.extract %[[WIDE]]
  // CHECK: linalg.yield
  // CHECK-NEXT: } -> tensor<1x3x6x9xf32>
  // CHECK-NEXT: return
  %none = "onnx.NoValue"() {value} : () -> none
  %sizes = "onnx.Constant"() {value = dense<[6, 9]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "onnx.Resize"(%x, %none, %none, %sizes) {axes = [2, 3], mode = "linear"} : (tensor<1x3x4x4xf32>, none, none, tensor<2xi64>) -> tensor<1x3x6x9xf32>
  onnx.Return %y : tensor<1x3x6x9xf32>
}
