// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<ui16>) {
  // CHECK: "onnx.com.microsoft.QuantizeLinear"(%{{.*}}) <{axis = 1 : si64, block_size = 0 : si64}> : (tensor<2x3xf32>, tensor<f32>, tensor<ui16>) -> tensor<2x3xui16>
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %a2) {axis = 1 : si64, block_size = 0 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui16>) -> tensor<2x3xui16>
  onnx.Return
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%a0: tensor<2x3xi16>, %a1: tensor<2xf32>, %a2: tensor<2xi16>) {
  // CHECK: "onnx.com.microsoft.DequantizeLinear"(%{{.*}}) <{axis = 0 : si64, block_size = 0 : si64}> : (tensor<2x3xi16>, tensor<2xf32>, tensor<2xi16>) -> tensor<2x3xf32>
  %y = "onnx.com.microsoft.DequantizeLinear"(%a0, %a1, %a2) {axis = 0 : si64, block_size = 0 : si64} : (tensor<2x3xi16>, tensor<2xf32>, tensor<2xi16>) -> tensor<2x3xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @add
func.func @add(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3xui8>, %a4: tensor<f32>, %a5: tensor<ui8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearAdd"(%{{.*}}) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %y = "onnx.com.microsoft.QLinearAdd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @mul
func.func @mul(%a0: tensor<2x3xi8>, %a1: tensor<f32>, %a3: tensor<2x1xi8>, %a4: tensor<1xf32>, %a5: tensor<1xi8>, %a6: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QLinearMul"(%{{.*}}) : (tensor<2x3xi8>, tensor<f32>, none, tensor<2x1xi8>, tensor<1xf32>, tensor<1xi8>, tensor<f32>, none) -> tensor<2x3xi8>
  %y = "onnx.com.microsoft.QLinearMul"(%a0, %a1, %none, %a3, %a4, %a5, %a6, %none) : (tensor<2x3xi8>, tensor<f32>, none, tensor<2x1xi8>, tensor<1xf32>, tensor<1xi8>, tensor<f32>, none) -> tensor<2x3xi8>
  onnx.Return
}

// CHECK-LABEL: func.func @leaky_relu
func.func @leaky_relu(%a0: tensor<2x3xi8>, %a1: tensor<f32>, %a2: tensor<i8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // CHECK: "onnx.com.microsoft.QLinearLeakyRelu"(%{{.*}}) <{alpha = 1.000000e-01 : f32}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %y = "onnx.com.microsoft.QLinearLeakyRelu"(%a0, %a1, %a2, %a3, %a4) {alpha = 0.1 : f32} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// CHECK-LABEL: func.func @sigmoid
func.func @sigmoid(%a0: tensor<4xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearSigmoid"(%{{.*}}) : (tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %y = "onnx.com.microsoft.QLinearSigmoid"(%a0, %a1, %a2, %a3, %a4) : (tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearSoftmax"(%{{.*}}) <{axis = -1 : si64, opset = 13 : si64}> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %y = "onnx.com.microsoft.QLinearSoftmax"(%a0, %a1, %a2, %a3, %a4) {axis = -1 : si64, opset = 13 : si64} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @where
func.func @where(%a0: tensor<3xi1>, %a1: tensor<2x3xi8>, %a2: tensor<f32>, %a3: tensor<i8>, %a4: tensor<i8>, %a5: tensor<f32>, %a6: tensor<i8>, %a7: tensor<f32>, %a8: tensor<i8>) {
  // CHECK: "onnx.com.microsoft.QLinearWhere"(%{{.*}}) : (tensor<3xi1>, tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %y = "onnx.com.microsoft.QLinearWhere"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) : (tensor<3xi1>, tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// CHECK-LABEL: func.func @concat
func.func @concat(%a0: tensor<f32>, %a1: tensor<ui8>, %a2: tensor<2x3xui8>, %a3: tensor<f32>, %a4: tensor<ui8>, %a5: tensor<2x4xui8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearConcat"(%{{.*}}) <{axis = 1 : si64}> : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x7xui8>
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {axis = 1 : si64} : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x7xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @reduce_mean
func.func @reduce_mean(%a0: tensor<2x3x4xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearReduceMean"(%{{.*}}) <{axes = [1], keepdims = 0 : si64}> : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  %y = "onnx.com.microsoft.QLinearReduceMean"(%a0, %a1, %a2, %a3, %a4) {axes = [1], keepdims = 0 : si64} : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @average_pool
func.func @average_pool(%a0: tensor<1x8x8x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearAveragePool"(%{{.*}}) <{auto_pad = "NOTSET", ceil_mode = 0 : si64, channels_last = 1 : si64, count_include_pad = 1 : si64, kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}> : (tensor<1x8x8x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xui8>
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %a2, %a3, %a4) {auto_pad = "NOTSET", ceil_mode = 0 : si64, channels_last = 1 : si64, count_include_pad = 1 : si64, kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]} : (tensor<1x8x8x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @global_average_pool
func.func @global_average_pool(%a0: tensor<1x3x8x8xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QLinearGlobalAveragePool"(%{{.*}}) <{channels_last = 0 : si64}> : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x1x1xui8>
  %y = "onnx.com.microsoft.QLinearGlobalAveragePool"(%a0, %a1, %a2, %a3, %a4) {channels_last = 0 : si64} : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x1x1xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @conv
func.func @conv(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<4xf32>, %a5: tensor<4xi8>, %a6: tensor<f32>, %a7: tensor<ui8>, %a8: tensor<4xi32>) {
  // CHECK: "onnx.com.microsoft.QLinearConv"(%{{.*}}) <{auto_pad = "NOTSET", channels_last = 1 : si64, dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]}> : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x3x3x4xui8>
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) {auto_pad = "NOTSET", channels_last = 1 : si64, dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x3x3x4xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x3xi8>, %a4: tensor<4xf32>, %a5: tensor<4xi8>, %a6: tensor<4xi32>, %a7: tensor<f32>, %a8: tensor<ui8>) {
  // CHECK: "onnx.com.microsoft.QGemm"(%{{.*}}) <{alpha = 1.000000e+00 : f32, transA = 0 : si64, transB = 1 : si64}> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) {alpha = 1.0 : f32, transA = 0 : si64, transB = 1 : si64} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  onnx.Return
}

// CHECK-LABEL: func.func @gemm_float
func.func @gemm_float(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QGemm"(%{{.*}}) <{alpha = 1.000000e+00 : f32, transA = 0 : si64, transB = 0 : si64}> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<2x4xf32>
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<2x4xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @dynamic_quantize_matmul
func.func @dynamic_quantize_matmul(%a0: tensor<4x3xf32>, %a1: tensor<3x2xi8>, %a2: tensor<2xf32>, %a3: tensor<2xi8>, %a4: tensor<2xf32>) {
  // CHECK: "onnx.com.microsoft.DynamicQuantizeMatMul"(%{{.*}}) : (tensor<4x3xf32>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  %y = "onnx.com.microsoft.DynamicQuantizeMatMul"(%a0, %a1, %a2, %a3, %a4) : (tensor<4x3xf32>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @matmul_integer_to_float
func.func @matmul_integer_to_float(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a2: tensor<f32>, %a3: tensor<2xf32>, %a4: tensor<ui8>, %a5: tensor<2xi8>, %a6: tensor<2xf32>) {
  // CHECK: "onnx.com.microsoft.MatMulIntegerToFloat"(%{{.*}}) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<2xf32>, tensor<ui8>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<2xf32>, tensor<ui8>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @matmul_n_bits
func.func @matmul_n_bits(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>, %a3: tensor<8xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.MatMulNBits"(%{{.*}}) <{K = 64 : si64, N = 8 : si64, accuracy_level = 4 : si64, bits = 4 : si64, block_size = 32 : si64, weight_prepacked = 0 : si64}> : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, tensor<8xui8>, none, none) -> tensor<2x8xf32>
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %a3, %none, %none) {K = 64 : si64, N = 8 : si64, accuracy_level = 4 : si64, bits = 4 : si64, block_size = 32 : si64, weight_prepacked = 0 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, tensor<8xui8>, none, none) -> tensor<2x8xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @matmul_n_bits_float_zero_points
func.func @matmul_n_bits_float_zero_points(%a0: tensor<2x40xf32>, %a1: tensor<8x3x16xui8>, %a2: tensor<8x3xf32>, %a3: tensor<8x3xf32>, %a4: tensor<64xi32>, %a5: tensor<8xf32>) {
  // CHECK: "onnx.com.microsoft.MatMulNBits"(%{{.*}}) <{K = 40 : si64, N = 8 : si64, accuracy_level = 0 : si64, bits = 8 : si64, block_size = 16 : si64, weight_prepacked = 0 : si64}> : (tensor<2x40xf32>, tensor<8x3x16xui8>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<64xi32>, tensor<8xf32>) -> tensor<2x8xf32>
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %a3, %a4, %a5) {K = 40 : si64, N = 8 : si64, bits = 8 : si64, block_size = 16 : si64} : (tensor<2x40xf32>, tensor<8x3x16xui8>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<64xi32>, tensor<8xf32>) -> tensor<2x8xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>, %a5: tensor<1xi32>, %a6: tensor<ui8>, %a7: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QAttention"(%{{.*}}) <{do_rotary = 0 : si64, mask_filter_value = -1.000000e+04 : f32, num_heads = 2 : si64, past_present_share_buffer = 0 : si64, scale = 5.000000e-01 : f32, unidirectional = 1 : si64}> : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<1xi32>, tensor<ui8>, tensor<i8>, none) -> (tensor<1x5x8xf32>, tensor<2x1x2x5x4xf32>)
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {do_rotary = 0 : si64, mask_filter_value = -10000.0 : f32, num_heads = 2 : si64, past_present_share_buffer = 0 : si64, scale = 0.5 : f32, unidirectional = 1 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<1xi32>, tensor<ui8>, tensor<i8>, none) -> (tensor<1x5x8xf32>, tensor<2x1x2x5x4xf32>)
  onnx.Return
}

// CHECK-LABEL: func.func @lstm
func.func @lstm(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1x16xf32>, %a11: tensor<1x16xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.DynamicQuantizeLSTM"(%{{.*}}) <{activation_alpha = [5.000000e-01 : f32], activation_beta = [5.000000e-01 : f32], activations = ["Sigmoid", "Tanh", "Tanh"], clip = 3.000000e+00 : f32, direction = "forward", hidden_size = 4 : si64, input_forget = 0 : si64}> : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1x16xf32>, tensor<1x16xi8>) -> (tensor<7x1x2x4xf32>, tensor<1x2x4xf32>, none)
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) {activation_alpha = [0.5 : f32], activation_beta = [0.5 : f32], activations = ["Sigmoid", "Tanh", "Tanh"], clip = 3.0 : f32, direction = "forward", hidden_size = 4 : si64, input_forget = 0 : si64} : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1x16xf32>, tensor<1x16xi8>) -> (tensor<7x1x2x4xf32>, tensor<1x2x4xf32>, none)
  onnx.Return
}

// CHECK-LABEL: func.func @gelu
func.func @gelu(%a0: tensor<2x3xf32>) {
  // CHECK: "onnx.com.microsoft.Gelu"(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "onnx.com.microsoft.Gelu"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @quick_gelu
func.func @quick_gelu(%a0: tensor<2x3xf32>) {
  // CHECK: "onnx.com.microsoft.QuickGelu"(%{{.*}}) <{alpha = 1.500000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "onnx.com.microsoft.QuickGelu"(%a0) {alpha = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @bias_gelu
func.func @bias_gelu(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>) {
  // CHECK: "onnx.com.microsoft.BiasGelu"(%{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = "onnx.com.microsoft.BiasGelu"(%a0, %a1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @fast_gelu
func.func @fast_gelu(%a0: tensor<2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.FastGelu"(%{{.*}}) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  %y = "onnx.com.microsoft.FastGelu"(%a0, %none) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @skip_layer_norm
func.func @skip_layer_norm(%a0: tensor<1x4x8xf32>, %a1: tensor<1x4x8xf32>, %a2: tensor<8xf32>, %a3: tensor<8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.SkipLayerNormalization"(%{{.*}}) <{epsilon = 5.000000e-01 : f32}> : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<8xf32>, tensor<8xf32>, none) -> (tensor<1x4x8xf32>, none, none, tensor<1x4x8xf32>)
  %y:4 = "onnx.com.microsoft.SkipLayerNormalization"(%a0, %a1, %a2, %a3, %none) {epsilon = 0.5 : f32} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<8xf32>, tensor<8xf32>, none) -> (tensor<1x4x8xf32>, none, none, tensor<1x4x8xf32>)
  onnx.Return
}

// CHECK-LABEL: func.func @fused_conv
func.func @fused_conv(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.FusedConv"(%{{.*}}) <{activation = "LeakyRelu", activation_params = [1.000000e-01 : f32], auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]}> : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>, none) -> tensor<1x4x5x5xf32>
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %a2, %none) {activation = "LeakyRelu", activation_params = [0.1 : f32], auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>, none) -> tensor<1x4x5x5xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @fused_gemm
func.func @fused_gemm(%a0: tensor<2x3xf32>, %a1: tensor<4x3xf32>, %a2: tensor<4xf32>) {
  // CHECK: "onnx.com.microsoft.FusedGemm"(%{{.*}}) <{activation = "LeakyRelu", activation_alpha = 1.000000e-01 : f32, activation_beta = 5.000000e-01 : f32, activation_gamma = 5.000000e-01 : f32, alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, transA = 0 : si64, transB = 1 : si64}> : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %y = "onnx.com.microsoft.FusedGemm"(%a0, %a1, %a2) {activation = "LeakyRelu", activation_alpha = 0.1 : f32, activation_beta = 0.5 : f32, activation_gamma = 0.5 : f32, alpha = 1.0 : f32, beta = 1.0 : f32, transA = 0 : si64, transB = 1 : si64} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @fused_matmul
func.func @fused_matmul(%a0: tensor<2x4x8xf32>, %a1: tensor<2x6x8xf32>) {
  // CHECK: "onnx.com.microsoft.FusedMatMul"(%{{.*}}) <{alpha = 1.250000e-01 : f32, transA = 0 : si64, transB = 1 : si64, transBatchA = 0 : si64, transBatchB = 0 : si64}> : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
  %y = "onnx.com.microsoft.FusedMatMul"(%a0, %a1) {alpha = 0.125 : f32, transA = 0 : si64, transB = 1 : si64, transBatchA = 0 : si64, transBatchB = 0 : si64} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @float_attention
func.func @float_attention(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<24xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.Attention"(%{{.*}}) <{do_rotary = 0 : si64, mask_filter_value = -1.000000e+04 : f32, num_heads = 2 : si64, past_present_share_buffer = 0 : si64, qkv_hidden_sizes = [8, 8, 8], rotary_embedding_dim = 0 : si64, scale = 5.000000e-01 : f32, unidirectional = 0 : si64}> : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {do_rotary = 0 : si64, mask_filter_value = -10000.0 : f32, num_heads = 2 : si64, past_present_share_buffer = 0 : si64, qkv_hidden_sizes = [8, 8, 8], rotary_embedding_dim = 0 : si64, scale = 0.5 : f32, unidirectional = 0 : si64} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// CHECK-LABEL: func.func @unknown
func.func @unknown(%a0: tensor<*x!onnx.Unknown>, %a1: tensor<?xf32>, %a2: tensor<*xui8>, %a3: tensor<?x?xui8>, %a4: tensor<*xf32>, %a6: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QLinearAdd"(%{{.*}}) : (tensor<*x!onnx.Unknown>, tensor<?xf32>, tensor<*xui8>, tensor<?x?xui8>, tensor<*xf32>, none, tensor<f32>, none) -> tensor<*x!onnx.Unknown>
  %y = "onnx.com.microsoft.QLinearAdd"(%a0, %a1, %a2, %a3, %a4, %none, %a6, %none) : (tensor<*x!onnx.Unknown>, tensor<?xf32>, tensor<*xui8>, tensor<?x?xui8>, tensor<*xf32>, none, tensor<f32>, none) -> tensor<*x!onnx.Unknown>
  onnx.Return
}
