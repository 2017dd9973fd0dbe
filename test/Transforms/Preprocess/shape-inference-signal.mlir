// Shapes of the Signal family.
//
// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: func.func @windows(
// CHECK-SAME: -> (tensor<10xf32>, tensor<?xf64>, tensor<?xi32> {onnx.dim_params = "0:n"})
func.func @windows(%n: tensor<i64>, %x: tensor<?xf32> {onnx.name = "x", onnx.dim_params = "0:n"}) -> (tensor<*xf32>, tensor<*xf64>, tensor<*xi32>) {
  %ten = onnx.Constant dense<10> : tensor<i32>
  %0 = "onnx.HannWindow"(%ten) : (tensor<i32>) -> tensor<*xf32>
  %1 = "onnx.HammingWindow"(%n) {output_datatype = 11 : si64} : (tensor<i64>) -> tensor<*xf64>
  %size = "onnx.Size"(%x) : (tensor<?xf32>) -> tensor<i64>
  // CHECK: "onnx.BlackmanWindow"({{.*}}){{.*}}onnx_dim_params = ["0:n"]{{.*}}}
  %2 = "onnx.BlackmanWindow"(%size) {output_datatype = 6 : si64} : (tensor<i64>) -> tensor<*xi32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf64>, tensor<*xi32>
}

// CHECK-LABEL: func.func @dft(
func.func @dft(%x: tensor<?x10x6x1xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}, %axis: tensor<i64>, %z: tensor<*xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %one = onnx.Constant dense<1> : tensor<i64>
  %sixteen = onnx.Constant dense<16> : tensor<i64>
  // The axis before the last one.
  // CHECK: "onnx.DFT"({{.*}}) <{{{.*}}onesided = 1 : si64}> {onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x10x4x2xf32>
  %0 = "onnx.DFT"(%x, %none, %none) {onesided = 1 : si64} : (tensor<?x10x6x1xf32>, none, none) -> tensor<*xf32>
  // CHECK: "onnx.DFT"({{.*}}) <{{{.*}}onesided = 1 : si64}> {onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x9x6x2xf32>
  %1 = "onnx.DFT"(%x, %sixteen, %one) {onesided = 1 : si64} : (tensor<?x10x6x1xf32>, tensor<i64>, tensor<i64>) -> tensor<*xf32>
  // CHECK: "onnx.DFT"({{.*}}) <{{{.*}}inverse = 1 : si64, {{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x16x6x2xf32>
  %2 = "onnx.DFT"(%x, %sixteen, %one) {inverse = 1 : si64} : (tensor<?x10x6x1xf32>, tensor<i64>, tensor<i64>) -> tensor<*xf32>
  // CHECK: "onnx.DFT"({{.*}}) <{inverse = 0 : si64, onesided = 0 : si64}> : ({{.*}}) -> tensor<?x?x?x2xf32>
  %3 = "onnx.DFT"(%x, %sixteen, %axis) : (tensor<?x10x6x1xf32>, tensor<i64>, tensor<i64>) -> tensor<*xf32>
  // Nothing changes its size here, whatever the axis.
  // CHECK: "onnx.DFT"({{.*}}){{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x10x6x2xf32>
  %4 = "onnx.DFT"(%x, %none, %axis) : (tensor<?x10x6x1xf32>, none, tensor<i64>) -> tensor<*xf32>
  // CHECK: "onnx.DFT"({{.*}}) <{inverse = 0 : si64, onesided = 0 : si64}> : ({{.*}}) -> tensor<*xf32>
  %5 = "onnx.DFT"(%z, %none, %axis) : (tensor<*xf32>, none, tensor<i64>) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @stft(
func.func @stft(%x: tensor<?x128x1xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}, %y: tensor<1x?xf32> {onnx.name = "y", onnx.dim_params = "1:samples"}, %w: tensor<16xf32>, %n: tensor<i64>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %eight = onnx.Constant dense<8> : tensor<i64>
  %sixteen = onnx.Constant dense<16> : tensor<i64>
  // CHECK: "onnx.STFT"({{.*}}){{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x15x9x2xf32>
  %0 = "onnx.STFT"(%x, %eight, %w, %none) : (tensor<?x128x1xf32>, tensor<i64>, tensor<16xf32>, none) -> tensor<*xf32>
  // CHECK: "onnx.STFT"({{.*}}) <{{{.*}}onesided = 0 : si64}> {onnx_dim_params = ["1:floor(samples/8)-1"]{{.*}}} : ({{.*}}) -> tensor<1x?x16x2xf32>
  %1 = "onnx.STFT"(%y, %eight, %none, %sixteen) {onesided = 0 : si64} : (tensor<1x?xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  // CHECK: "onnx.STFT"({{.*}}){{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x?x?x2xf32>
  %2 = "onnx.STFT"(%x, %eight, %none, %n) : (tensor<?x128x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  // One frame of all samples.
  // CHECK: "onnx.STFT"({{.*}}){{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : ({{.*}}) -> tensor<?x1x65x2xf32>
  %3 = "onnx.STFT"(%x, %eight, %none, %none) : (tensor<?x128x1xf32>, tensor<i64>, none, none) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @mel(
// CHECK-SAME: -> tensor<9x8xf32>
func.func @mel(%low: tensor<f32>, %high: tensor<f32>) -> tensor<*xf32> {
  %bins = onnx.Constant dense<8> : tensor<i64>
  %length = onnx.Constant dense<16> : tensor<i64>
  %rate = onnx.Constant dense<8192> : tensor<i64>
  %y = "onnx.MelWeightMatrix"(%bins, %length, %rate, %low, %high)
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
