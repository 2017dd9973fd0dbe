// Text as onnx-mlir prints it, read and printed again: properties, both forms of
// its constants, and ops that only it has, which are carried.
// RUN: onnxq-opt %s | FileCheck %s
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: not onnxq-opt %s -o %t.onnx 2>&1 | FileCheck %s --check-prefix=EXPORT

// EXPORT: error: {{.*}}cannot be exported: ONNX has no such operator

// CHECK-LABEL: func.func @properties
// GENERIC-LABEL: sym_name = "properties"
func.func @properties(%x: tensor<2x3x4xf32>, %w: tensor<5x3x2xf32>) -> tensor<*xf32> {
  // CHECK: "onnx.NoValue"() <{value}> : () -> none
  %none = "onnx.NoValue"() <{value}> : () -> none
  // CHECK: "onnx.Softmax"(%{{.*}}) <{axis = 1 : si64}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // GENERIC: "onnx.Softmax"(%{{.*}}) <{axis = 1 : si64}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = "onnx.Softmax"(%x) <{axis = 1 : si64}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // The older form without properties is the same op.
  // CHECK: "onnx.Softmax"(%{{.*}}) <{axis = 1 : si64}>
  %1 = "onnx.Softmax"(%0) {axis = 1 : si64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: "onnx.Transpose"(%{{.*}}) <{perm = [0, 2, 1]}> {onnx_node_name = "turn"}
  %2 = "onnx.Transpose"(%1) <{perm = [0, 2, 1]}> {onnx_node_name = "turn"} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  // CHECK: "onnx.Conv"{{.*}}<{auto_pad = "NOTSET", dilations = [1], group = 1 : si64, kernel_shape = [2], pads = [0, 0], strides = [1]}>
  %3 = "onnx.Conv"(%x, %w, %none) <{auto_pad = "NOTSET", dilations = [1], group = 1 : si64, kernel_shape = [2], pads = [0, 0], strides = [1]}> : (tensor<2x3x4xf32>, tensor<5x3x2xf32>, none) -> tensor<*xf32>
  // CHECK: "onnx.Cast"(%{{.*}}) <{saturate = 1 : si64, to = f16}>
  %4 = "onnx.Cast"(%2) <{saturate = 1 : si64, to = f16}> : (tensor<2x4x3xf32>) -> tensor<2x4x3xf16>
  onnx.Return %3 : tensor<*xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: onnx.Constant dense<-1> : tensor<1xi64>
  %0 = onnx.Constant dense<-1> : tensor<1xi64>
  // CHECK-NEXT: onnx.Constant dense<-1> : tensor<1xi64>
  %1 = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  // CHECK-NEXT: onnx.Constant dense<-1> : tensor<1xi64>
  %2 = "onnx.Constant"() <{value = dense<-1> : tensor<1xi64>}> : () -> tensor<1xi64>
  // A dictionary before a value is read, but not what onnx-mlir takes: it is
  // printed with the value inside.
  // CHECK-NEXT: onnx.Constant {extra = 0 : i32, value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
  %3 = onnx.Constant {extra = 0 : i32} dense<-1> : tensor<1xi64>
  // CHECK-NEXT: onnx.Constant {extra = 0 : i32, value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
  %4 = onnx.Constant {extra = 0 : i32, value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
  // CHECK-NEXT: onnx.Constant {value = dense<-1> : tensor<1xi64>} : tensor<*xi64>
  %5 = onnx.Constant {value = dense<-1> : tensor<1xi64>} : tensor<*xi64>
  // CHECK-NEXT: onnx.Constant {value_float = 1.500000e+00 : f32} : tensor<f32>
  %6 = onnx.Constant {value_float = 1.5 : f32} : tensor<f32>
  // CHECK-NEXT: onnx.Constant {value_ints = [1, 2]} : tensor<2xi64>
  %7 = onnx.Constant {value_ints = [1, 2]} : tensor<2xi64>
  onnx.Return
}

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<1x1x2x2xf32>, %s: tensor<?xi64>) -> tensor<1x1x4x6xf32> {
  // CHECK: "onnx.UpsampleV7"(%{{.*}}) <{mode = "nearest", scales = [1.000000e+00 : f32, 1.000000e+00 : f32, 2.000000e+00 : f32, 3.000000e+00 : f32]}>
  %0 = "onnx.UpsampleV7"(%x) <{mode = "nearest", scales = [1.0 : f32, 1.0 : f32, 2.0 : f32, 3.0 : f32]}> : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x6xf32>
  // CHECK: "onnx.Dim"(%{{.*}}) {axis = 0 : si64}
  %1 = "onnx.Dim"(%x) {axis = 0 : si64} : (tensor<1x1x2x2xf32>) -> tensor<1xi64>
  onnx.Return %0 : tensor<1x1x4x6xf32>
}

// The one operator beside constants that has a form of its own.
// CHECK-LABEL: func.func @filled
func.func @filled(%s: tensor<2xi64>) -> (tensor<?x?xi32>, tensor<*xf32>) {
  // CHECK-NEXT: onnx.ConstantOfShape(%{{.*}}) {onnx_node_name = "ones", value = dense<1> : tensor<1xi32>} : (tensor<2xi64>) -> tensor<?x?xi32>
  // GENERIC: "onnx.ConstantOfShape"(%{{.*}}) <{value = dense<1> : tensor<1xi32>}> {onnx_node_name = "ones"} : (tensor<2xi64>) -> tensor<?x?xi32>
  %0 = onnx.ConstantOfShape(%s) {onnx_node_name = "ones", value = dense<1> : tensor<1xi32>} : (tensor<2xi64>) -> tensor<?x?xi32>
  // CHECK-NEXT: onnx.ConstantOfShape(%{{.*}}) : (tensor<2xi64>) -> tensor<*xf32>
  %1 = "onnx.ConstantOfShape"(%s) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<?x?xi32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @layouts(
// CHECK-SAME: tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>
func.func @layouts(%x: tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>) -> tensor<5x3x8x8xf32> {
  // CHECK-NEXT: "onnx.Relu"(%{{.*}}) : (tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>) -> tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>
  %0 = "onnx.Relu"(%x) : (tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>) -> tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>
  // CHECK-NEXT: "onnx.LayoutTransform"(%{{.*}}) {target_layout = #onnx.layout<{dataLayout = "NCHW8C"}>}
  %1 = "onnx.LayoutTransform"(%0) {target_layout = #onnx.layout<{dataLayout = "NCHW8C"}>} : (tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>) -> tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW8C"}>>
  %2 = "onnx.LayoutTransform"(%1) : (tensor<5x3x8x8xf32, #onnx.layout<{dataLayout = "NCHW8C"}>>) -> tensor<5x3x8x8xf32>
  onnx.Return %2 : tensor<5x3x8x8xf32>
}

// Strings, sequences and optionals pass through.
// CHECK-LABEL: func.func @strings(
// CHECK-SAME: tensor<2x2x!onnx.String>
func.func @strings(%a: tensor<2x2x!onnx.String>, %s: tensor<1xi64>) -> (tensor<*xi1>, tensor<*x!onnx.String>, tensor<*xi64>) {
  // CHECK-NEXT: onnx.Constant dense<["ab", "c"]> : tensor<2x!onnx.String>
  %0 = onnx.Constant dense<["ab", "c"]> : tensor<2x!onnx.String>
  // CHECK-NEXT: "onnx.Equal"(%{{.*}}, %{{.*}}) : (tensor<2x2x!onnx.String>, tensor<2x!onnx.String>) -> tensor<*xi1>
  %1 = "onnx.Equal"(%a, %0) : (tensor<2x2x!onnx.String>, tensor<2x!onnx.String>) -> tensor<*xi1>
  // CHECK-NEXT: "onnx.Reshape"(%{{.*}}, %{{.*}}) <{allowzero = 0 : si64}> : (tensor<2x2x!onnx.String>, tensor<1xi64>) -> tensor<*x!onnx.String>
  %2 = "onnx.Reshape"(%a, %s) <{allowzero = 0 : si64}> : (tensor<2x2x!onnx.String>, tensor<1xi64>) -> tensor<*x!onnx.String>
  // CHECK-NEXT: "onnx.CategoryMapper"(%{{.*}}) {{.*}}cats_strings = ["cat", "dog"]{{.*}} : (tensor<2x2x!onnx.String>) -> tensor<*xi64>
  %3 = "onnx.CategoryMapper"(%a) {cats_int64s = [1, 2], cats_strings = ["cat", "dog"], default_int64 = -1 : si64} : (tensor<2x2x!onnx.String>) -> tensor<*xi64>
  onnx.Return %1, %2, %3 : tensor<*xi1>, tensor<*x!onnx.String>, tensor<*xi64>
}

// CHECK-LABEL: func.func @sequences(
// CHECK-SAME: -> (!onnx.Seq<tensor<*xf32>>, tensor<*xf32>)
func.func @sequences(%x: tensor<4x3xf32>, %at: tensor<i64>) -> (!onnx.Seq<tensor<*xf32>>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.SequenceConstruct"(%{{.*}}, %{{.*}}) : (tensor<4x3xf32>, tensor<4x3xf32>) -> !onnx.Seq<tensor<4x3xf32>>
  %0 = "onnx.SequenceConstruct"(%x, %x) : (tensor<4x3xf32>, tensor<4x3xf32>) -> !onnx.Seq<tensor<4x3xf32>>
  // CHECK: "onnx.SplitToSequence"({{.*}}) -> !onnx.Seq<tensor<*xf32>>
  %1 = "onnx.SplitToSequence"(%x, %none) {axis = 0 : si64, keepdims = 1 : si64} : (tensor<4x3xf32>, none) -> !onnx.Seq<tensor<*xf32>>
  // CHECK: "onnx.SequenceAt"({{.*}}) : (!onnx.Seq<tensor<4x3xf32>>, tensor<i64>) -> tensor<*xf32>
  %2 = "onnx.SequenceAt"(%0, %at) : (!onnx.Seq<tensor<4x3xf32>>, tensor<i64>) -> tensor<*xf32>
  onnx.Return %1, %2 : !onnx.Seq<tensor<*xf32>>, tensor<*xf32>
}

// CHECK-LABEL: func.func @optionals(
func.func @optionals(%x: !onnx.Opt<tensor<2xf32>>, %s: !onnx.Opt<!onnx.Seq<tensor<*xf32>>>) -> (tensor<2xf32>, tensor<i1>) {
  // CHECK-NEXT: "onnx.OptionalGetElement"(%{{.*}}) : (!onnx.Opt<tensor<2xf32>>) -> tensor<2xf32>
  %0 = "onnx.OptionalGetElement"(%x) : (!onnx.Opt<tensor<2xf32>>) -> tensor<2xf32>
  // CHECK-NEXT: "onnx.OptionalHasElement"(%{{.*}}) : (!onnx.Opt<!onnx.Seq<tensor<*xf32>>>) -> tensor<i1>
  %1 = "onnx.OptionalHasElement"(%s) : (!onnx.Opt<!onnx.Seq<tensor<*xf32>>>) -> tensor<i1>
  onnx.Return %0, %1 : tensor<2xf32>, tensor<i1>
}

// Types of random ops have numbers of their own, and results the type that they
// had before inference.
// CHECK-LABEL: func.func @random
func.func @random(%x: tensor<1x28xf64>) -> (tensor<*xf32>, tensor<2xf64>) {
  // CHECK: "onnx.RandomNormal"() <{dtype = 0 : si64, {{.*}}shape = [3, 4]}> : () -> tensor<*xf32>
  %0 = "onnx.RandomNormal"() {shape = [3, 4], dtype = 0 : si64} : () -> tensor<*xf32>
  // CHECK: "onnx.RandomNormal"() <{dtype = 2 : si64, {{.*}}shape = [2]}> : () -> tensor<2xf64>
  %1 = "onnx.RandomNormal"() {shape = [2], dtype = 2 : si64} : () -> tensor<2xf64>
  // CHECK: "onnx.RandomNormalLike"(%{{.*}}) <{mean = 0.000000e+00 : f32, scale = 1.000000e+00 : f32}> : (tensor<1x28xf64>) -> tensor<*xf32>
  %2 = "onnx.RandomNormalLike"(%x) : (tensor<1x28xf64>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<2xf64>
}
"onnx.EntryPoint"() {func = @others} : () -> ()
