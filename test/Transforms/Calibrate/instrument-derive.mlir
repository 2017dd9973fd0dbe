// onnx-instrument=derive: what follows from other observers has none, or one that
// counts bins only, with that of what it follows from if it can; what it follows
// from has one though nobody asked for it.
// RUN: onnxq-opt %s --onnx-instrument=derive --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnx-instrument="derive bins=64" --split-input-file | FileCheck %s --check-prefix=BINS
// RUN: onnxq-opt %s --onnx-instrument="derive bins=8192" --split-input-file | FileCheck %s --check-prefix=MANY
// RUN: onnxq-opt %s --onnx-instrument="derive nodes=sum" --split-input-file | FileCheck %s --check-prefix=SUM

// CHECK-LABEL: func.func @affine
// CHECK: onnxq.observe "x"
// CHECK: onnxq.observe "r"
// CHECK-NOT: onnxq.observe
// CHECK: onnx.Return
// BINS-LABEL: func.func @affine
// BINS: onnxq.observe "x" {{.*}} {bins = 0 : i64, channel_axis = 1 : i64, channels = 3 : i64, offset = [[X:[0-9]+]] : i64
// BINS: onnxq.observe "x" {{.*}} {bins = 64 : i64, bins_only, channel_axis = 1 : i64, channels = 3 : i64, members = #onnxq.members<offsets = [[[R:[0-9]+]], {{[0-9]+}}], channels = [3, 0], factors = [1.000000e+00 : f32, 2.500000e+00 : f32], addends = [-0.000000e+00 : f32, -0.000000e+00 : f32], lowers = [0.000000e+00 : f32, -3.40282347E+38 : f32], uppers = [3.40282347E+38 : f32, 3.40282347E+38 : f32]>, offset = [[X]] : i64
// BINS: onnxq.observe "r" {{.*}} {bins = 0 : i64, channel_axis = 1 : i64, channels = 3 : i64, offset = [[R]] : i64
// BINS: onnxq.observe "a" {{.*}} {bins = 64 : i64, bins_only, channel_axis
// BINS-NOT: onnxq.observe
// BINS: onnx.Return
// Too many bins to be counted together.
// MANY-LABEL: func.func @affine
// MANY: onnxq.observe "r" {{.*}} {bins = 8192 : i64, channel_axis
// MANY: onnxq.observe "m" {{.*}} {bins = 8192 : i64, bins_only, channel_axis
// MANY: onnxq.observe "a" {{.*}} {bins = 8192 : i64, bins_only, channel_axis
// SUM-LABEL: func.func @affine
// SUM-NOT: onnxq.observe "x"
// SUM: onnxq.observe "r"
// SUM-NOT: onnxq.observe
// SUM: onnx.Return
func.func @affine(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}) -> (tensor<1x3x16x8xf32> {onnx.name = "j"}) {
  %two = onnx.Constant dense<2.5> : tensor<1xf32>
  %one = onnx.Constant dense<1.1> : tensor<f32>
  %r = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %m = "onnx.Mul"(%r, %two) {onnx_node_name = "product", onnx_result_names = ["m"]} : (tensor<1x3x8x8xf32>, tensor<1xf32>) -> tensor<1x3x8x8xf32>
  %a = "onnx.Add"(%one, %m) {onnx_node_name = "sum", onnx_result_names = ["a"]} : (tensor<f32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %j = "onnx.Concat"(%a, %m) {axis = 2 : si64, onnx_node_name = "join", onnx_result_names = ["j"]} : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x16x8xf32>
  onnx.Return %j : tensor<1x3x16x8xf32>
}

// -----

// Not with a number for each channel, a factor that loses bits of sums, or a
// number less an element; nor of half floats, whose rounding is another.
// CHECK-LABEL: func.func @observed
// CHECK: onnxq.observe "c"
// CHECK: onnxq.observe "t"
// CHECK: onnxq.observe "l"
// CHECK: onnxq.observe "h"
// SUM-LABEL: func.func @observed
// SUM: onnxq.observe "t"
// SUM-NOT: onnxq.observe "c"
// SUM: onnx.Return
func.func @observed(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}, %y: tensor<1x3xf16> {onnx.name = "y"}) -> (tensor<1x3x8x8xf32> {onnx.name = "c"}, tensor<1x3x8x8xf32> {onnx.name = "t"}, tensor<1x3x8x8xf32> {onnx.name = "l"}, tensor<1x3xf16> {onnx.name = "h"}) {
  %each = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %tiny = onnx.Constant dense<1.1e-6> : tensor<f32>
  %half = onnx.Constant dense<2.0> : tensor<f16>
  %c = "onnx.Mul"(%x, %each) {onnx_node_name = "each", onnx_result_names = ["c"]} : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %t = "onnx.Mul"(%x, %tiny) {onnx_node_name = "sum", onnx_result_names = ["t"]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  %l = "onnx.Sub"(%tiny, %x) {onnx_node_name = "less", onnx_result_names = ["l"]} : (tensor<f32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %h = "onnx.Mul"(%y, %half) {onnx_node_name = "half", onnx_result_names = ["h"]} : (tensor<1x3xf16>, tensor<f16>) -> tensor<1x3xf16>
  onnx.Return %c, %t, %l, %h : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x3xf16>
}

// -----

// Two at most are counted with another one, each made of the one before; a
// second chain has observers of its own.
// BINS-LABEL: func.func @chains
// BINS: onnxq.observe "r" {{.*}} {bins = 0 : i64
// BINS: onnxq.observe "r" {{.*}} members = #onnxq.members<offsets = [{{[0-9]+}}, {{[0-9]+}}], channels = [0, 0], factors = [1.000000e+00 : f32, -2.000000e+00 : f32], addends = [3.000000e+00 : f32, -0.000000e+00 : f32], lowers = [-3.40282347E+38 : f32, -3.40282347E+38 : f32], uppers = [3.40282347E+38 : f32, 3.40282347E+38 : f32]>
// BINS: onnxq.observe "c" {{.*}} {bins = 64 : i64, bins_only, channel_axis = 1 : i64, channels = 3 : i64, offset
// BINS: onnxq.observe "d" {{.*}} {bins = 64 : i64, bins_only, channel_axis = 1 : i64, channels = 3 : i64, offset
// BINS-NOT: onnxq.observe
func.func @chains(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}) -> (tensor<1x3x8x8xf32> {onnx.name = "c"}, tensor<1x3x8x8xf32> {onnx.name = "d"}) {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %two = onnx.Constant dense<-2.0> : tensor<f32>
  %r = "onnx.Sigmoid"(%x) {onnx_node_name = "sigmoid", onnx_result_names = ["r"]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %a = "onnx.Add"(%r, %three) {onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  %b = "onnx.Mul"(%a, %two) {onnx_node_name = "second", onnx_result_names = ["b"]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  %c = "onnx.Mul"(%b, %two) {onnx_node_name = "sum", onnx_result_names = ["c"]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  %d = "onnx.Mul"(%r, %two) {onnx_node_name = "other", onnx_result_names = ["d"]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  onnx.Return %c, %d : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>
}

// -----

// Bounds that are numbers; not those of the run, nor of other types.
// BINS-LABEL: func.func @bounds
// BINS: onnxq.observe "x" {{.*}} {bins = 0 : i64
// BINS: onnxq.observe "x" {{.*}} members = #onnxq.members<offsets = [{{[0-9]+}}], channels = [3], factors = [1.000000e+00 : f32], addends = [-0.000000e+00 : f32], lowers = [-3.40282347E+38 : f32], uppers = [6.000000e+00 : f32]>
// BINS: onnxq.observe "c" {{.*}} {bins = 0 : i64
// BINS: onnxq.observe "o" {{.*}} {bins = 64 : i64, channel_axis
// BINS: onnxq.observe "h" {{.*}} {bins = 64 : i64, channel_axis
func.func @bounds(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}, %m: tensor<f32> {onnx.name = "m"}, %y: tensor<1x3xf16> {onnx.name = "y"}) -> (tensor<1x3x8x8xf32> {onnx.name = "o"}, tensor<1x3xf16> {onnx.name = "h"}) {
  %none = "onnx.NoValue"() {value} : () -> none
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %c = "onnx.Clip"(%x, %none, %six) {onnx_node_name = "clip", onnx_result_names = ["c"]} : (tensor<1x3x8x8xf32>, none, tensor<f32>) -> tensor<1x3x8x8xf32>
  %o = "onnx.Clip"(%c, %none, %m) {onnx_node_name = "sum", onnx_result_names = ["o"]} : (tensor<1x3x8x8xf32>, none, tensor<f32>) -> tensor<1x3x8x8xf32>
  %h = "onnx.Relu"(%y) {onnx_node_name = "half", onnx_result_names = ["h"]} : (tensor<1x3xf16>) -> tensor<1x3xf16>
  onnx.Return %o, %h : tensor<1x3x8x8xf32>, tensor<1x3xf16>
}
