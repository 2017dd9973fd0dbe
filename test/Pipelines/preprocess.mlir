// The whole of preprocessing: a chain that needs several rounds, the report that
// a module asks for, and names that no step has.
// RUN: onnxq-opt %s --onnx-preprocess | FileCheck %s
// RUN: onnxq-opt %s --onnx-preprocess=skip=fuse-add,onnx-fuse-mul | FileCheck %s --check-prefix=SKIP
// RUN: onnxq-opt %s --onnx-preprocess=passes=eliminate_identity | FileCheck %s --check-prefix=ONLY
// RUN: onnxq-opt %s --onnx-preprocess=optimize=false | FileCheck %s --check-prefix=SHAPES
// RUN: not onnxq-opt %s --onnx-preprocess=skip=fold-everything 2>&1 | FileCheck %s --check-prefix=NO-STEP
// RUN: not onnxq-opt %s --onnx-preprocess=passes=fold-everything 2>&1 | FileCheck %s --check-prefix=NO-STEP

// NO-STEP: preprocessing has no step 'fold-everything'; it has remove-no-ops,

// CHECK: onnxq.report = {"onnx-fold-batch-norm" = {"folded into producers" = 1 : i64}, "onnx-fold-constants" = {"nodes computed" = 1 : i64}
// CHECK-SAME: "onnx-fuse-add" = {"sums made biases" = 1 : i64}, "onnx-fuse-mul" = {"scales made weights" = 1 : i64}
// CHECK-SAME: "onnx-fuse-pad" = {"paddings of convolutions" = 1 : i64}
// CHECK-SAME: "onnx-remove-no-ops" = {"nodes removed" = 1 : i64}
// CHECK-LABEL: @main_graph(
// CHECK: [[Y:%.+]] = "onnx.Conv"(%arg0
// CHECK-SAME: pads = [1, 1]}>
// CHECK-SAME: onnx_dim_params = ["0:n"], onnx_node_name = "conv", onnx_result_names = ["y"]
// CHECK-SAME: -> tensor<?x2x8xf32>
// CHECK-NEXT: onnx.Return [[Y]]

// SKIP: onnx.Conv
// SKIP: onnx.Add
// SKIP: onnx.Mul

// ONLY: onnx.Pad
// ONLY-NOT: onnx.Identity
// ONLY: onnx.Neg

// SHAPES: onnx.Pad{{.*}} -> tensor<?x1x10xf32>
// SHAPES: onnx.Identity
module attributes {onnxq.report = {}} {
  func.func @main_graph(%x: tensor<?x1x8xf32> {onnx.dim_params = "0:n", onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<1.0> : tensor<2x1x3xf32>
    %two = onnx.Constant dense<2.0> : tensor<2xf32>
    %one = onnx.Constant dense<1.0> : tensor<2xf32>
    %zero = onnx.Constant dense<0.0> : tensor<2xf32>
    %c = onnx.Constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
    %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<?x1x8xf32>, tensor<6xi64>, none, none) -> tensor<*xf32>
    %1 = "onnx.Conv"(%0, %w, %none) {onnx_node_name = "conv"} : (tensor<*xf32>, tensor<2x1x3xf32>, none) -> tensor<*xf32>
    %2 = "onnx.Identity"(%1) : (tensor<*xf32>) -> tensor<*xf32>
    %3, %m, %v = "onnx.BatchNormalization"(%2, %two, %one, %zero, %one) : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<*xf32>, none, none)
    %4 = "onnx.Neg"(%c) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %5 = "onnx.Add"(%3, %4) : (tensor<*xf32>, tensor<2x1xf32>) -> tensor<*xf32>
    %6 = "onnx.Mul"(%5, %c) {onnx_result_names = ["y"]} : (tensor<*xf32>, tensor<2x1xf32>) -> tensor<*xf32>
    onnx.Return %6 : tensor<*xf32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
