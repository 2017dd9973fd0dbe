// Shapes of the Generator family.
//
// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: func.func @constant_of_shape(
func.func @constant_of_shape(%n: tensor<3xi64>, %m: tensor<?xi64>, %x: tensor<?x2xf32> {onnx.name = "x", onnx.dim_params = "0:batch"})
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi8>) {
  // CHECK: onnx.ConstantOfShape(%{{.*}}) : (tensor<3xi64>) -> tensor<?x?x?xf32>
  %0 = "onnx.ConstantOfShape"(%n) : (tensor<3xi64>) -> tensor<*xf32>
  // CHECK: onnx.ConstantOfShape(%{{.*}}) : (tensor<?xi64>) -> tensor<*xf32>
  %1 = "onnx.ConstantOfShape"(%m) : (tensor<?xi64>) -> tensor<*xf32>
  %shape = "onnx.Shape"(%x) {start = 0 : si64} : (tensor<?x2xf32>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape(%{{.*}}) {onnx_dim_params = ["0:batch"]} : (tensor<2xi64>) -> tensor<?x2xf32>
  %2 = "onnx.ConstantOfShape"(%shape) : (tensor<*xi64>) -> tensor<*xf32>
  // A scalar is made of no dimensions.
  %none = onnx.Constant dense<> : tensor<0xi64>
  // CHECK: onnx.ConstantOfShape(%{{.*}}) {value = dense<3> : tensor<1xi8>} : (tensor<0xi64>) -> tensor<i8>
  %3 = "onnx.ConstantOfShape"(%none) {value = dense<3> : tensor<1xi8>} : (tensor<0xi64>) -> tensor<*xi8>
  onnx.Return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi8>
}

// CHECK-LABEL: func.func @constant_of_shape_contents(
// CHECK-SAME: -> tensor<5x5xf32>
func.func @constant_of_shape_contents() -> tensor<*xf32> {
  %two = onnx.Constant dense<[2]> : tensor<1xi64>
  %fives = "onnx.ConstantOfShape"(%two) {value = dense<5> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %y = "onnx.ConstantOfShape"(%fives) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @range_of_integers(
func.func @range_of_integers(%x: tensor<?xf32> {onnx.name = "x", onnx.dim_params = "0:n"}, %open: tensor<i64>)
    -> (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %three = onnx.Constant dense<3> : tensor<i64>
  %minus = onnx.Constant dense<-2> : tensor<i64>
  %ten = onnx.Constant dense<10> : tensor<i64>
  // CHECK: "onnx.Range"({{.*}}) : ({{.*}}) -> tensor<4xi64>
  %0 = "onnx.Range"(%zero, %ten, %three) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  // CHECK: "onnx.Range"({{.*}}) : ({{.*}}) -> tensor<5xi64>
  %1 = "onnx.Range"(%ten, %zero, %minus) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  // CHECK: "onnx.Range"({{.*}}) : ({{.*}}) -> tensor<0xi64>
  %2 = "onnx.Range"(%ten, %zero, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %size = "onnx.Size"(%x) : (tensor<?xf32>) -> tensor<i64>
  // CHECK: "onnx.Range"({{.*}}) {onnx_dim_params = ["0:n"]} : ({{.*}}) -> tensor<?xi64>
  %3 = "onnx.Range"(%zero, %size, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  // CHECK: "onnx.Range"({{.*}}) : ({{.*}}) -> tensor<?xi64>
  %4 = "onnx.Range"(%zero, %size, %open) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  onnx.Return %0, %1, %2, %3, %4 : tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>
}

// CHECK-LABEL: func.func @range_contents(
// CHECK-SAME: -> tensor<1x4x7xf32>
func.func @range_contents() -> tensor<*xf32> {
  %one = onnx.Constant dense<1> : tensor<i64>
  %three = onnx.Constant dense<3> : tensor<i64>
  %eight = onnx.Constant dense<8> : tensor<i64>
  %sizes = "onnx.Range"(%one, %eight, %three) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %y = "onnx.ConstantOfShape"(%sizes) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @range_of_floats(
// CHECK-SAME: -> (tensor<5xf32>, tensor<?xf32>)
func.func @range_of_floats(%open: tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %limit = onnx.Constant dense<1.125> : tensor<f32>
  %step = onnx.Constant dense<0.25> : tensor<f32>
  %0 = "onnx.Range"(%zero, %limit, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %1 = "onnx.Range"(%zero, %open, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @like(
// CHECK-SAME: -> (tensor<?x3xf64> {onnx.dim_params = "0:batch"}, tensor<?x3xf32> {onnx.dim_params = "0:batch"}, tensor<?x3xi1> {onnx.dim_params = "0:batch"}, tensor<?x3xf16> {onnx.dim_params = "0:batch"}, tensor<?x3xf32> {onnx.dim_params = "0:batch"}, tensor<?x?xf32>)
func.func @like(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}, %z: tensor<*xf32>)
    -> (tensor<*xf64>, tensor<*xf32>, tensor<*xi1>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>) {
  // CHECK: "onnx.EyeLike"({{.*}}) <{dtype = 11 : si64{{.*}}}> {onnx_dim_params = ["0:batch"]}
  %0 = "onnx.EyeLike"(%x) {dtype = 11 : si64} : (tensor<?x3xf32>) -> tensor<*xf64>
  %1 = "onnx.EyeLike"(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
  %2 = "onnx.Bernoulli"(%x) {dtype = 9 : si64} : (tensor<?x3xf32>) -> tensor<*xi1>
  %3 = "onnx.RandomNormalLike"(%x) {dtype = 10 : si64} : (tensor<?x3xf32>) -> tensor<*xf16>
  %4 = "onnx.RandomUniformLike"(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
  %5 = "onnx.EyeLike"(%z) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3, %4, %5 : tensor<*xf64>, tensor<*xf32>, tensor<*xi1>, tensor<*xf16>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @random(
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<f16>, tensor<?x4xi64> {onnx.dim_params = "0:batch"})
func.func @random(%x: tensor<?x9xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> (tensor<*xf32>, tensor<*xf16>, tensor<*xi64>) {
  %0 = "onnx.RandomNormal"() {shape = [2, 3]} : () -> tensor<*xf32>
  %1 = "onnx.RandomUniform"() {dtype = 10 : si64, shape = []} : () -> tensor<*xf16>
  // CHECK: "onnx.Multinomial"({{.*}}) <{dtype = 7 : si64, sample_size = 4 : si64}> {onnx_dim_params = ["0:batch"]}
  %2 = "onnx.Multinomial"(%x) {dtype = 7 : si64, sample_size = 4 : si64} : (tensor<?x9xf32>) -> tensor<*xi64>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf16>, tensor<*xi64>
}
