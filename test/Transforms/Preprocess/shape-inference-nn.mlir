// Shapes of normalizations, activations, dropout and losses.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: @batch_normalization(
// CHECK: "onnx.BatchNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w", "", ""]{{.*}} -> (tensor<?x3x?xf32>, none, none)
func.func @batch_normalization(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                               %b: tensor<3xf32>,
                               %c: tensor<3xf32>,
                               %d: tensor<3xf32>,
                               %e: tensor<3xf32>)
    -> tensor<*xf32> {
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// CHECK-LABEL: @batch_normalization_training(
// CHECK: "onnx.BatchNormalization"({{.*}}){{.*}} -> (tensor<2x3x4xf16>, tensor<3xf64>, tensor<3xf64>)
func.func @batch_normalization_training(%a: tensor<2x3x4xf16>,
                                        %b: tensor<3xf32>,
                                        %c: tensor<3xf32>,
                                        %d: tensor<*xf64>,
                                        %e: tensor<?xf64>)
    -> (tensor<*xf16>, tensor<*xf64>, tensor<*xf64>) {
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e) {training_mode = 1 : si64}
      : (tensor<2x3x4xf16>, tensor<3xf32>, tensor<3xf32>, tensor<*xf64>, tensor<?xf64>) -> (tensor<*xf16>, tensor<*xf64>, tensor<*xf64>)
  onnx.Return %r0, %r1, %r2 : tensor<*xf16>, tensor<*xf64>, tensor<*xf64>
}

// CHECK-LABEL: @batch_normalization_inference_mode(
// CHECK: "onnx.BatchNormalizationInferenceMode"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @batch_normalization_inference_mode(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                                              %b: tensor<3xf32>,
                                              %c: tensor<3xf32>,
                                              %d: tensor<3xf32>,
                                              %e: tensor<3xf32>)
    -> tensor<*xf32> {
  %r = "onnx.BatchNormalizationInferenceMode"(%a, %b, %c, %d, %e)
      : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @instance_normalization(
// CHECK: "onnx.InstanceNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @instance_normalization(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>)
    -> tensor<*xf32> {
  %r = "onnx.InstanceNormalization"(%a, %b, %c)
      : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @group_normalization(
// CHECK: "onnx.GroupNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @group_normalization(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                               %b: tensor<3xf32>,
                               %c: tensor<3xf32>)
    -> tensor<*xf32> {
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 3 : si64}
      : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @lrn(
// CHECK: "onnx.LRN"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @lrn(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.LRN"(%a) {size = 3 : si64} : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @layer_normalization(
// CHECK: "onnx.LayerNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n", "0:n", "0:n"]{{.*}} -> (tensor<?x3x4xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>)
func.func @layer_normalization(%a: tensor<?x3x4xf32> {onnx.name = "x", onnx.dim_params = "0:n"},
                               %b: tensor<4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none) {axis = 1 : si64}
      : (tensor<?x3x4xf32>, tensor<4xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @layer_normalization_stash(
// CHECK: "onnx.LayerNormalization"({{.*}}){{.*}} -> (tensor<2x3x4xf16>, tensor<2x3x1xbf16>, none)
func.func @layer_normalization_stash(%a: tensor<2x3x4xf16>,
                                     %b: tensor<4xf16>)
    -> (tensor<*xf16>, tensor<*x!onnx.Unknown>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none) {stash_type = 16 : si64}
      : (tensor<2x3x4xf16>, tensor<4xf16>, none) -> (tensor<*xf16>, tensor<*x!onnx.Unknown>, none)
  onnx.Return %r0, %r1 : tensor<*xf16>, tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @layer_normalization_unranked(
// CHECK: "onnx.LayerNormalization"({{.*}}){{.*}} -> (tensor<*xf32>, tensor<*xf32>, none)
func.func @layer_normalization_unranked(%a: tensor<*xf32>,
                                        %b: tensor<4xf32>)
    -> (tensor<*xf32>, tensor<*x!onnx.Unknown>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none)
      : (tensor<*xf32>, tensor<4xf32>, none) -> (tensor<*xf32>, tensor<*x!onnx.Unknown>, none)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @rms_normalization(
// CHECK: "onnx.RMSNormalization"({{.*}}){{.*}} -> tensor<2x3x4xf32>
func.func @rms_normalization(%a: tensor<2x3x4xf16>, %b: tensor<4xf32>) -> tensor<*x!onnx.Unknown> {
  %r = "onnx.RMSNormalization"(%a, %b) : (tensor<2x3x4xf16>, tensor<4xf32>) -> tensor<*x!onnx.Unknown>
  onnx.Return %r : tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @lp_normalization(
// CHECK: "onnx.LpNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @lp_normalization(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.LpNormalization"(%a) : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @mean_variance_normalization(
// CHECK: "onnx.MeanVarianceNormalization"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @mean_variance_normalization(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.MeanVarianceNormalization"(%a) {axes = [0, -1]} : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @softmax(
// CHECK: "onnx.Softmax"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @softmax(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.Softmax"(%a) : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @log_softmax(
// CHECK: "onnx.LogSoftmax"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @log_softmax(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.LogSoftmax"(%a) : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @hardmax(
// CHECK: "onnx.Hardmax"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w"]{{.*}} -> tensor<?x3x?xf32>
func.func @hardmax(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> tensor<*xf32> {
  %r = "onnx.Hardmax"(%a) : (tensor<?x3x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @dropout(
// CHECK: "onnx.Dropout"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:w", "0:n,2:w"]{{.*}} -> (tensor<?x3x?xf32>, tensor<?x3x?xi1>)
func.func @dropout(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"})
    -> (tensor<*xf32>, tensor<*xi1>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.Dropout"(%a, %none, %none)
      : (tensor<?x3x?xf32>, none, none) -> (tensor<*xf32>, tensor<*xi1>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xi1>
}

// CHECK-LABEL: @negative_log_likelihood_loss(
// CHECK: "onnx.NegativeLogLikelihoodLoss"({{.*}}){{.*}} -> tensor<f32>
func.func @negative_log_likelihood_loss(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                                        %b: tensor<?x?xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none)
      : (tensor<?x3x?xf32>, tensor<?x?xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @negative_log_likelihood_loss_none(
// CHECK: "onnx.NegativeLogLikelihoodLoss"({{.*}}){{.*}}onnx_dim_params = ["0:n,1:w"]{{.*}} -> tensor<?x?xf32>
func.func @negative_log_likelihood_loss_none(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                                             %b: tensor<*xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none) {reduction = "none"}
      : (tensor<?x3x?xf32>, tensor<*xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @softmax_cross_entropy_loss(
// CHECK: "onnx.SoftmaxCrossEntropyLoss"({{.*}}){{.*}} -> (tensor<3x2xf32>, tensor<*xf32>)
func.func @softmax_cross_entropy_loss(%a: tensor<*xf32>,
                                      %b: tensor<3x2xi64>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none) {reduction = "none"}
      : (tensor<*xf32>, tensor<3x2xi64>, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @softmax_cross_entropy_loss_mean(
// CHECK: "onnx.SoftmaxCrossEntropyLoss"({{.*}}){{.*}}onnx_dim_params = ["", "0:n,2:w"]{{.*}} -> (tensor<f32>, tensor<?x3x?xf32>)
func.func @softmax_cross_entropy_loss_mean(%a: tensor<?x3x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:w"},
                                           %b: tensor<*xi64>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none)
      : (tensor<?x3x?xf32>, tensor<*xi64>, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// What only inference knows of the operands is checked again.
func.func @softmax_axis(%a: tensor<2x3xf32>) -> tensor<*xf32> {
  %s = "onnx.Softmax"(%a) : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @+1 {{expects an axis of a tensor of rank 2, but got 2 (C1)}}
  %r = "onnx.Softmax"(%s) {axis = 2 : si64} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}
