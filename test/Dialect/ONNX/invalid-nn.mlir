// What the verifiers of normalizations, activations, dropout and losses refuse, one case per constraint.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// BatchNormalization C1
func.func @batch_normalization_c1(%a: tensor<f32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>,
                                  %d: tensor<3xf32>,
                                  %e: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 1 or more, but got rank 0 (C1)}}
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// BatchNormalization C2
func.func @batch_normalization_c2_size(%a: tensor<2x3x4xf32>,
                                       %b: tensor<3xf32>,
                                       %c: tensor<3xf32>,
                                       %d: tensor<4xf32>,
                                       %e: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects the mean to have one element per channel, but got 4 elements for 3 channels (C2)}}
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// BatchNormalization C2
func.func @batch_normalization_c2_unranked(%a: tensor<*xf32>,
                                           %b: tensor<3xf32>,
                                           %c: tensor<3xf32>,
                                           %d: tensor<3xf32>,
                                           %e: tensor<2xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects the variance to have one element per channel, but got 2 elements for 3 channels (C2)}}
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// BatchNormalization C2
func.func @batch_normalization_c2_rank(%a: tensor<2x3x4xf32>,
                                       %b: tensor<3x1xf32>,
                                       %c: tensor<3xf32>,
                                       %d: tensor<3xf32>,
                                       %e: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects scale to have rank 1, but got rank 2 (C2)}}
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<2x3x4xf32>, tensor<3x1xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// BatchNormalization C3
func.func @batch_normalization_c3(%a: tensor<2x3x4xf32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>,
                                  %d: tensor<3xf32>,
                                  %e: tensor<3xf32>)
    -> (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>) {
  // expected-error @+1 {{expects a running mean and variance with training_mode only, but got them without (C3)}}
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e)
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<*xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// BatchNormalizationInferenceMode C1
func.func @batch_normalization_inference_mode_c1(%a: tensor<f32>,
                                                 %b: tensor<3xf32>,
                                                 %c: tensor<3xf32>,
                                                 %d: tensor<3xf32>,
                                                 %e: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 1 or more, but got rank 0 (C1)}}
  %r = "onnx.BatchNormalizationInferenceMode"(%a, %b, %c, %d, %e)
      : (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// BatchNormalizationInferenceMode C2
func.func @batch_normalization_inference_mode_c2(%a: tensor<2x3x4xf32>,
                                                 %b: tensor<3xf32>,
                                                 %c: tensor<1xf32>,
                                                 %d: tensor<3xf32>,
                                                 %e: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects B to have one element per channel, but got 1 elements for 3 channels (C2)}}
  %r = "onnx.BatchNormalizationInferenceMode"(%a, %b, %c, %d, %e)
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<1xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// InstanceNormalization C1
func.func @instance_normalization_c1(%a: tensor<3xf32>,
                                     %b: tensor<3xf32>,
                                     %c: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects input to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.InstanceNormalization"(%a, %b, %c)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// InstanceNormalization C2
func.func @instance_normalization_c2(%a: tensor<2x3x4xf32>,
                                     %b: tensor<3xf32>,
                                     %c: tensor<2xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects B to have one element per channel, but got 2 elements for 3 channels (C2)}}
  %r = "onnx.InstanceNormalization"(%a, %b, %c)
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GroupNormalization C1
func.func @group_normalization_c1(%a: tensor<3xf32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 3 : si64}
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GroupNormalization C2
func.func @group_normalization_c2_zero(%a: tensor<2x3x4xf32>,
                                       %b: tensor<3xf32>,
                                       %c: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects a positive num_groups, but got 0 (C2)}}
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 0 : si64}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GroupNormalization C2
func.func @group_normalization_c2_divides(%a: tensor<2x3x4xf32>,
                                          %b: tensor<3xf32>,
                                          %c: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects channels that are a multiple of num_groups, but got 3 channels for 2 groups (C2)}}
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 2 : si64}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GroupNormalization C3
func.func @group_normalization_c3(%a: tensor<2x3x4xf32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<1xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects bias to have one element per channel, but got 1 elements for 3 channels (C3)}}
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 3 : si64}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<1xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GroupNormalization C4
func.func @group_normalization_c4(%a: tensor<2x3x4xf32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects stash_type to be 1, 10, 11 or 16, but got 7 (C4)}}
  %r = "onnx.GroupNormalization"(%a, %b, %c) {num_groups = 3 : si64, stash_type = 7 : si64}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LRN C1
func.func @lrn_c1(%a: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.LRN"(%a) {size = 3 : si64} : (tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LRN C2
func.func @lrn_c2(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a positive size, but got 0 (C2)}}
  %r = "onnx.LRN"(%a) {size = 0 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LayerNormalization C1
func.func @layer_normalization_c1(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got 3 (C1)}}
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none) {axis = 3 : si64}
      : (tensor<2x3x4xf32>, tensor<4xf32>, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LayerNormalization C2
func.func @layer_normalization_c2_scale(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects Scale to broadcast to 'tensor<2x3x4xf32>', but got 'tensor<3xf32>' (C2)}}
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none)
      : (tensor<2x3x4xf32>, tensor<3xf32>, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LayerNormalization C2
func.func @layer_normalization_c2_bias(%a: tensor<2x3x4xf32>,
                                       %b: tensor<4xf32>,
                                       %c: tensor<1x2x3x4xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects B to broadcast to 'tensor<2x3x4xf32>', but got 'tensor<1x2x3x4xf32>' (C2)}}
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %c)
      : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<1x2x3x4xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LayerNormalization C3
func.func @layer_normalization_c3(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects stash_type to be 1, 10, 11 or 16, but got 0 (C3)}}
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %none) {stash_type = 0 : si64}
      : (tensor<2x3x4xf32>, tensor<4xf32>, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RMSNormalization C1
func.func @rms_normalization_c1(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got -4 (C1)}}
  %r = "onnx.RMSNormalization"(%a, %b) {axis = -4 : si64}
      : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RMSNormalization C2
func.func @rms_normalization_c2(%a: tensor<2x3x4xf32>, %b: tensor<5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects scale to broadcast to 'tensor<2x3x4xf32>', but got 'tensor<5xf32>' (C2)}}
  %r = "onnx.RMSNormalization"(%a, %b) : (tensor<2x3x4xf32>, tensor<5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RMSNormalization C3
func.func @rms_normalization_c3(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects stash_type to be 1, 10, 11 or 16, but got -1 (C3)}}
  %r = "onnx.RMSNormalization"(%a, %b) {stash_type = -1 : si64}
      : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpNormalization C1
func.func @lp_normalization_c1(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got 9223372036854775807 (C1)}}
  %r = "onnx.LpNormalization"(%a) {axis = 9223372036854775807 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpNormalization C2
func.func @lp_normalization_c2(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects p to be 1 or 2, but got 3 (C2)}}
  %r = "onnx.LpNormalization"(%a) {p = 3 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MeanVarianceNormalization C1
func.func @mean_variance_normalization_c1_default(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got 3 (C1)}}
  %r = "onnx.MeanVarianceNormalization"(%a) : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MeanVarianceNormalization C1
func.func @mean_variance_normalization_c1_twice(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects every axis once, but got -1 again (C1)}}
  %r = "onnx.MeanVarianceNormalization"(%a) {axes = [0, 2, -1]} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Softmax C1
func.func @softmax_c1(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got -4 (C1)}}
  %r = "onnx.Softmax"(%a) {axis = -4 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LogSoftmax C1
func.func @log_softmax_c1(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got -4 (C1)}}
  %r = "onnx.LogSoftmax"(%a) {axis = -4 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Hardmax C1
func.func @hardmax_c1(%a: tensor<2x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an axis of a tensor of rank 3, but got -4 (C1)}}
  %r = "onnx.Hardmax"(%a) {axis = -4 : si64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Dropout C1
func.func @dropout_c1_ratio(%a: tensor<2x3x4xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects ratio to have one element, but got 'tensor<2xf32>' (C1)}}
  %r0, %r1 = "onnx.Dropout"(%a, %b, %none) : (tensor<2x3x4xf32>, tensor<2xf32>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// Dropout C1
func.func @dropout_c1_mode(%a: tensor<2x3x4xf32>, %b: tensor<0xi1>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects training_mode to have one element, but got 'tensor<0xi1>' (C1)}}
  %r0, %r1 = "onnx.Dropout"(%a, %none, %b) : (tensor<2x3x4xf32>, none, tensor<0xi1>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// NegativeLogLikelihoodLoss C1
func.func @negative_log_likelihood_loss_c1(%a: tensor<2x3x4xf32>,
                                           %b: tensor<2x4xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects reduction to be none, mean or sum, but got 'max' (C1)}}
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none) {reduction = "max"}
      : (tensor<2x3x4xf32>, tensor<2x4xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// NegativeLogLikelihoodLoss C2
func.func @negative_log_likelihood_loss_c2_small(%a: tensor<2xf32>,
                                                 %b: tensor<2xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input to have rank 2 or more, but got rank 1 (C2)}}
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none) : (tensor<2xf32>, tensor<2xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// NegativeLogLikelihoodLoss C2
func.func @negative_log_likelihood_loss_c2_rank(%a: tensor<2x3x4xf32>,
                                                %b: tensor<2xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects target to have rank 2, but got rank 1 (C2)}}
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none)
      : (tensor<2x3x4xf32>, tensor<2xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// NegativeLogLikelihoodLoss C2
func.func @negative_log_likelihood_loss_c2_dim(%a: tensor<2x3x4xf32>,
                                               %b: tensor<2x3xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of target to be 4, but got 3 (C2)}}
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %none)
      : (tensor<2x3x4xf32>, tensor<2x3xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// NegativeLogLikelihoodLoss C3
func.func @negative_log_likelihood_loss_c3(%a: tensor<2x3x4xf32>,
                                           %b: tensor<2x4xi64>,
                                           %c: tensor<4xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects weight to have one element per channel, but got 4 elements for 3 channels (C3)}}
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %c)
      : (tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// SoftmaxCrossEntropyLoss C1
func.func @softmax_cross_entropy_loss_c1(%a: tensor<2x3x4xf32>,
                                         %b: tensor<2x4xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects reduction to be none, mean or sum, but got 'max' (C1)}}
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none) {reduction = "max"}
      : (tensor<2x3x4xf32>, tensor<2x4xi64>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// SoftmaxCrossEntropyLoss C2
func.func @softmax_cross_entropy_loss_c2_small(%a: tensor<2xf32>,
                                               %b: tensor<2xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects scores to have rank 2 or more, but got rank 1 (C2)}}
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none)
      : (tensor<2xf32>, tensor<2xi64>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// SoftmaxCrossEntropyLoss C2
func.func @softmax_cross_entropy_loss_c2_rank(%a: tensor<2x3x4xf32>,
                                              %b: tensor<2xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects labels to have rank 2, but got rank 1 (C2)}}
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none)
      : (tensor<2x3x4xf32>, tensor<2xi64>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// SoftmaxCrossEntropyLoss C2
func.func @softmax_cross_entropy_loss_c2_dim(%a: tensor<2x3x4xf32>,
                                             %b: tensor<2x3xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of labels to be 4, but got 3 (C2)}}
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none)
      : (tensor<2x3x4xf32>, tensor<2x3xi64>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// SoftmaxCrossEntropyLoss C3
func.func @softmax_cross_entropy_loss_c3(%a: tensor<2x3x4xf32>,
                                         %b: tensor<2x4xi64>,
                                         %c: tensor<4xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects weights to have one element per channel, but got 4 elements for 3 channels (C3)}}
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %c)
      : (tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<4xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}
