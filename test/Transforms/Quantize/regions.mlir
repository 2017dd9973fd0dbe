// RUN: onnxq-opt %s --split-input-file --onnx-quantize | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize=int16-first=2 | FileCheck %s --check-prefix=WIDE
// RUN: onnxq-opt %s --split-input-file --onnx-quantize=keep-cheap-in-float=false | FileCheck %s --check-prefix=ALL
// RUN: onnxq-opt %s --split-input-file --onnx-quantize=report=%t.json -o /dev/null && FileCheck %s --check-prefix=REPORT < %t.json

// What a pooling and a Mul read is stored between regions, and quantized once
// where it doesn't stay in a cache.
// The convolution that makes the gate has integer weights and a float input.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 2.55 : f64},
    r = {min = 0.0 : f64, max = 2.55 : f64}, m = {min = 0.0 : f64, max = 1.0 : f64},
    g = {min = 0.0 : f64, max = 1.0 : f64}, s = {min = 0.0 : f64, max = 1.0 : f64}, p = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @gate
  // CHECK: %[[C:.*]] = "onnx.Conv"
  // CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[C]]
  // CHECK: %[[R:.*]] = "onnx.DequantizeLinear"(%[[Q]]
  // CHECK: %[[M:.*]] = "onnx.GlobalAveragePool"(%[[R]])
  // CHECK: %[[G:.*]] = "onnx.Conv"(%[[M]], 
  // CHECK: %[[S:.*]] = "onnx.Sigmoid"(%[[G]])
  // CHECK: %[[P:.*]] = "onnx.Mul"(%[[R]], %[[S]])
  // CHECK: "onnx.QuantizeLinear"(%[[P]]
  // ALL-LABEL: func.func @gate
  // ALL: %[[M:.*]] = "onnx.GlobalAveragePool"
  // ALL: "onnx.QuantizeLinear"(%[[M]]
  // ALL: "onnx.Conv"({{.*}}onnx_node_name = "squeeze"
  func.func @gate(%x: tensor<1x2x512x512xf32> {onnx.name = "x"}) -> (tensor<1x2x512x512xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[0.5]], [[0.25]]], [[[0.125]], [[1.0]]]]> : tensor<2x2x1x1xf32>
    %c = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "first", onnx_result_names = ["c"]} : (tensor<1x2x512x512xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x512x512xf32>
    %r = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2x512x512xf32>) -> tensor<1x2x512x512xf32>
    %m = "onnx.GlobalAveragePool"(%r) {onnx_node_name = "mean", onnx_result_names = ["m"]} : (tensor<1x2x512x512xf32>) -> tensor<1x2x1x1xf32>
    %g = "onnx.Conv"(%m, %w, %none) {onnx_node_name = "squeeze", onnx_result_names = ["g"]} : (tensor<1x2x1x1xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x1x1xf32>
    %s = "onnx.Sigmoid"(%g) {onnx_node_name = "sigmoid", onnx_result_names = ["s"]} : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
    %p = "onnx.Mul"(%r, %s) {onnx_node_name = "mul", onnx_result_names = ["p"]} : (tensor<1x2x512x512xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x512x512xf32>
    %y = "onnx.Conv"(%p, %w, %none) {onnx_node_name = "last", onnx_result_names = ["y"]} : (tensor<1x2x512x512xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x512x512xf32>
    onnx.Return %y : tensor<1x2x512x512xf32>
  }
}

// -----

// Small, it stays float until it is multiplied.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 2.55 : f64},
    r = {min = 0.0 : f64, max = 2.55 : f64}, m = {min = 0.0 : f64, max = 1.0 : f64},
    g = {min = 0.0 : f64, max = 1.0 : f64}, s = {min = 0.0 : f64, max = 1.0 : f64}, p = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @small_gate
  // CHECK: %[[C:.*]] = "onnx.Conv"
  // CHECK: %[[R:.*]] = "onnx.Relu"(%[[C]])
  // CHECK: %[[M:.*]] = "onnx.GlobalAveragePool"(%[[R]])
  // CHECK: %[[G:.*]] = "onnx.Conv"(%[[M]], 
  // CHECK: %[[S:.*]] = "onnx.Sigmoid"(%[[G]])
  // CHECK: %[[P:.*]] = "onnx.Mul"(%[[R]], %[[S]])
  // CHECK: "onnx.QuantizeLinear"(%[[P]]
  // CHECK-NOT: "onnx.QuantizeLinear"
  // ALL-LABEL: func.func @small_gate
  // ALL: %[[C:.*]] = "onnx.Conv"
  // ALL: "onnx.QuantizeLinear"(%[[C]]
  // ALL: %[[M:.*]] = "onnx.GlobalAveragePool"
  // ALL: "onnx.QuantizeLinear"(%[[M]]
  // ALL: "onnx.Conv"({{.*}}onnx_node_name = "squeeze"
  func.func @small_gate(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[0.5]], [[0.25]]], [[[0.125]], [[1.0]]]]> : tensor<2x2x1x1xf32>
    %c = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "first", onnx_result_names = ["c"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    %r = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %m = "onnx.GlobalAveragePool"(%r) {onnx_node_name = "mean", onnx_result_names = ["m"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    %g = "onnx.Conv"(%m, %w, %none) {onnx_node_name = "squeeze", onnx_result_names = ["g"]} : (tensor<1x2x1x1xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x1x1xf32>
    %s = "onnx.Sigmoid"(%g) {onnx_node_name = "sigmoid", onnx_result_names = ["s"]} : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
    %p = "onnx.Mul"(%r, %s) {onnx_node_name = "mul", onnx_result_names = ["p"]} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
    %y = "onnx.Conv"(%p, %w, %none) {onnx_node_name = "last", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}

// -----

// The sum is computed behind the second convolution, and the result of the first
// waits for it in memory; that of the second doesn't. The sum of the last two
// leads to no contraction: it is the model's head.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64},
    b = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = -1.0 : f64, max = 1.0 : f64}, y = {min = -1.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @shortcut
  // CHECK: %[[A:.*]] = "onnx.Conv"
  // CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[A]]
  // CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
  // CHECK: %[[B:.*]] = "onnx.Conv"
  // CHECK-NEXT: %[[S:.*]] = "onnx.Add"(%[[D]], %[[B]])
  // CHECK: "onnx.QuantizeLinear"(%[[S]]
  // CHECK: %[[L:.*]] = "onnx.Conv"
  // CHECK-NEXT: %[[Y:.*]] = "onnx.Add"(%[[L]]
  // CHECK-NEXT: onnx.Return %[[Y]]
  // What waits counts among the first where it is made.
  // WIDE-LABEL: func.func @shortcut
  // WIDE: "x_zero_point"], value = {{.*}}tensor<ui16>
  // WIDE: "a_zero_point"], value = {{.*}}tensor<ui16>
  // WIDE: "s_zero_point"], value = {{.*}}tensor<ui8>
  func.func @shortcut(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> (tensor<1x1x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<1x1x1x1xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.25> : tensor<1x1x1x1xf32>
    %a = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "left", onnx_result_names = ["a"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
    %b = "onnx.Conv"(%x, %v, %none) {onnx_node_name = "right", onnx_result_names = ["b"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
    %s = "onnx.Add"(%a, %b) {onnx_node_name = "sum", onnx_result_names = ["s"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %l = "onnx.Conv"(%s, %w, %none) {onnx_node_name = "last", onnx_result_names = ["l"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
    %y = "onnx.Add"(%l, %s) {onnx_node_name = "head", onnx_result_names = ["y"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    onnx.Return %y : tensor<1x1x4x4xf32>
  }
}

// -----

// The second convolution makes four products of each number that it reads, and
// less than a hundredth of all: what it reads stays float. The third makes 64,
// and the last four, but of two million bytes.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64},
    b = {min = -1.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 1.0 : f64},
    z = {min = -1.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @few_products
  // CHECK-DAG: "onnx.QuantizeLinear"(%arg0
  // CHECK-DAG: "onnx.QuantizeLinear"(%arg1
  // CHECK: %[[A:.*]] = "onnx.Conv"({{.*}}onnx_node_name = "first"
  // CHECK-NEXT: %[[B:.*]] = "onnx.Conv"(%[[A]], {{.*}}onnx_node_name = "second"
  // CHECK: "onnx.QuantizeLinear"(%[[B]]
  // CHECK: "onnx.Conv"({{.*}}onnx_node_name = "third"
  // ALL-LABEL: func.func @few_products
  // ALL: %[[A:.*]] = "onnx.Conv"({{.*}}onnx_node_name = "first"
  // ALL: "onnx.QuantizeLinear"(%[[A]]
  // ALL: "onnx.Conv"({{.*}}onnx_node_name = "second"
  // REPORT: "weights only: it makes few products of each number"
  // REPORT: "placement": "fused"
  func.func @few_products(%x: tensor<1x16x8x8xf32> {onnx.name = "x"}, %z: tensor<1x4x256x512xf32> {onnx.name = "z"}) -> (tensor<1x64x8x8xf32> {onnx.name = "y"}, tensor<1x4x256x512xf32> {onnx.name = "last"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<64x16x1x1xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.25> : tensor<4x64x1x1xf32>
    %t = onnx.Constant {onnx_result_names = ["t"]} dense<0.25> : tensor<4x4x1x1xf32>
    %u = onnx.Constant {onnx_result_names = ["u"]} dense<0.25> : tensor<64x4x1x1xf32>
    %a = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x16x8x8xf32>, tensor<64x16x1x1xf32>, none) -> tensor<1x64x8x8xf32>
    %b = "onnx.Conv"(%a, %v, %none) {onnx_node_name = "second", onnx_result_names = ["b"]} : (tensor<1x64x8x8xf32>, tensor<4x64x1x1xf32>, none) -> tensor<1x4x8x8xf32>
    %c = "onnx.Conv"(%b, %u, %none) {onnx_node_name = "third", onnx_result_names = ["c"]} : (tensor<1x4x8x8xf32>, tensor<64x4x1x1xf32>, none) -> tensor<1x64x8x8xf32>
    %l = "onnx.Conv"(%z, %t, %none) {onnx_node_name = "last", onnx_result_names = ["l"]} : (tensor<1x4x256x512xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x256x512xf32>
    onnx.Return %c, %l : tensor<1x64x8x8xf32>, tensor<1x4x256x512xf32>
  }
}
