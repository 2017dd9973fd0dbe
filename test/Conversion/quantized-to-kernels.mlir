// RUN: onnxq-opt %s --onnx-quantized-to-kernels --split-input-file | FileCheck %s

// The zero points of weights vanish, that of the activations is the border, and
// is corrected for together with the bias: 10 - 3 * (1 - 2 + 4 - 2) and so on.
// CHECK-LABEL: func.func @qlinear_conv
// CHECK-SAME: %[[X:.*]]: tensor<1x1x5x5xui8>
// CHECK-DAG: %[[T:.*]] = "onnx.Transpose"(%[[X]]) <{perm = [0, 2, 3, 1]}>
// CHECK-DAG: %[[PAD:.*]] = arith.constant 3 : i8
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[}}{{\[}}[-1, 0], [2, 0]]]> : tensor<1x2x2xi8>
// CHECK-DAG: %[[C:.*]] = onnx.Constant dense<[7, 20]> : tensor<2xi32>
// CHECK: %[[Q:.*]] = onnxq.contract ins(%[[T]], %[[W]] : tensor<1x5x5x1xui8>, tensor<1x2x2xi8>) pad(%[[PAD]] : i8) epilogue(%[[C]] : tensor<2xi32>)
// CHECK-SAME: input_unsigned
// CHECK-SAME: kernel = array<i64: 1, 2>
// CHECK: %[[ACC:.*]] = arith.addi
// CHECK-DAG: %[[F:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[Z:.*]] = arith.constant 7 : i32
// CHECK: %[[B:.*]] = onnxq.requantize %[[ACC]] scale %[[F]] zero_point %[[Z]] in[0, 255] : i32 -> i8
// CHECK: onnxq.yield %[[B]] : i8
// CHECK: tensor<1x5x6x2xui8>
// CHECK: "onnx.Transpose"(%[[Q]]) <{perm = [0, 3, 1, 2]}>
func.func @qlinear_conv(%x: tensor<1x1x5x5xui8>) -> tensor<1x2x5x6xui8> {
  %xs = onnx.Constant dense<0.5> : tensor<f32>
  %xz = onnx.Constant dense<3> : tensor<ui8>
  %w = onnx.Constant dense<[[[[1, 4]]], [[[2, 2]]]]> : tensor<2x1x1x2xi8>
  %ws = onnx.Constant dense<0.25> : tensor<f32>
  %wz = onnx.Constant dense<2> : tensor<i8>
  %ys = onnx.Constant dense<0.5> : tensor<f32>
  %yz = onnx.Constant dense<7> : tensor<ui8>
  %b = onnx.Constant dense<[10, 20]> : tensor<2xi32>
  %y = "onnx.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {pads = [0, 1, 0, 1]} : (tensor<1x1x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<2x1x1x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<2xi32>) -> tensor<1x2x5x6xui8>
  return %y : tensor<1x2x5x6xui8>
}

// -----

// A zero point that is known at run time only goes into the epilogue.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[A:.*]]: tensor<?x2xui8>, %[[Z:.*]]: tensor<ui8>
// CHECK: %[[SUMS:.*]] = onnx.Constant dense<[4, 6]> : tensor<2xi32>
// CHECK: onnxq.contract ins(%[[A]], %{{.*}} : tensor<?x2xui8>, tensor<1x2x2xi8>) epilogue(%[[Z]], %[[SUMS]] : tensor<ui8>, tensor<2xi32>)
// CHECK: ^bb0(%[[ACC:.*]]: i32, %[[ZERO:.*]]: i8, %[[SUM:.*]]: i32):
// CHECK: %[[E:.*]] = arith.extui %[[ZERO]] : i8 to i32
// CHECK: %[[P:.*]] = arith.muli %[[E]], %[[SUM]]
// CHECK: arith.subi %[[ACC]], %[[P]]
func.func @dynamic(%a: tensor<?x2xui8>, %z: tensor<ui8>) -> tensor<?x2xi32> {
  %b = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.MatMulInteger"(%a, %b, %z, %none) : (tensor<?x2xui8>, tensor<2x2xi8>, tensor<ui8>, none) -> tensor<?x2xi32>
  return %y : tensor<?x2xi32>
}

// -----

// Weights less their zero point may need nine bits.
// CHECK-LABEL: func.func @wide
// CHECK: onnx.Constant dense<{{.*}}> : tensor<1x2x2xi16>
func.func @wide(%a: tensor<4x2xi8>) -> tensor<4x2xi32> {
  %b = onnx.Constant dense<[[0, 255], [3, 4]]> : tensor<2x2xui8>
  %z = onnx.Constant dense<[0, 100]> : tensor<2xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.MatMulInteger"(%a, %b, %none, %z) : (tensor<4x2xi8>, tensor<2x2xui8>, none, tensor<2xui8>) -> tensor<4x2xi32>
  return %y : tensor<4x2xi32>
}

// -----

// A float product between dequantizers, with a quantizer behind a Relu, which is
// the lower bound.
// CHECK-LABEL: func.func @qdq_relu
// CHECK-SAME: %[[A:.*]]: tensor<4x2xui8>
// CHECK: %[[Q:.*]] = onnxq.contract ins(%[[A]],
// CHECK: onnxq.requantize %{{.*}} in[3, 255] : i32 -> i8
// CHECK: return %[[Q]]
func.func @qdq_relu(%a: tensor<4x2xui8>) -> tensor<4x2xui8> {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<3> : tensor<ui8>
  %b = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %x = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %w = "onnx.DequantizeLinear"(%b, %s, %none) : (tensor<2x2xi8>, tensor<f32>, none) -> tensor<2x2xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %r = "onnx.Relu"(%p) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = "onnx.QuantizeLinear"(%r, %s, %z) : (tensor<4x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  return %y : tensor<4x2xui8>
}

// -----

// With a Clip between, whose limits are rounded: 2.2 / 0.5 is 4, and 200 is
// beyond what bytes hold.
// CHECK-LABEL: func.func @clipped
// CHECK: %[[Q:.*]] = onnxq.contract
// CHECK: onnxq.requantize %{{.*}} in[7, 255] : i32 -> i8
// CHECK: return %[[Q]]
func.func @clipped(%a: tensor<4x2xui8>) -> tensor<4x2xui8> {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<3> : tensor<ui8>
  %b = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %low = onnx.Constant dense<2.2> : tensor<f32>
  %high = onnx.Constant dense<200.0> : tensor<f32>
  %none = "onnx.NoValue"() {value} : () -> none
  %x = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %w = "onnx.DequantizeLinear"(%b, %s, %none) : (tensor<2x2xi8>, tensor<f32>, none) -> tensor<2x2xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %r = "onnx.Clip"(%p, %low, %high) : (tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  %y = "onnx.QuantizeLinear"(%r, %s, %z) : (tensor<4x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  return %y : tensor<4x2xui8>
}

// -----

// Limits that the type keeps anyway.
// CHECK-LABEL: func.func @clipped_by_type
// CHECK-NOT: onnx.Clip
// CHECK: onnxq.requantize %{{.*}} in[0, 255] : i32 -> i8
func.func @clipped_by_type(%a: tensor<4x2xui8>) -> tensor<4x2xui8> {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<0> : tensor<ui8>
  %b = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %low = onnx.Constant dense<0.0> : tensor<f32>
  %none = "onnx.NoValue"() {value} : () -> none
  %x = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %w = "onnx.DequantizeLinear"(%b, %s, %none) : (tensor<2x2xi8>, tensor<f32>, none) -> tensor<2x2xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %r = "onnx.Clip"(%p, %low, %none) : (tensor<4x2xf32>, tensor<f32>, none) -> tensor<4x2xf32>
  %y = "onnx.QuantizeLinear"(%r, %s, %z) : (tensor<4x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  return %y : tensor<4x2xui8>
}

// -----

// Weights of open sizes, and scales by row, stay.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: onnxq.contract
func.func @stays(%a: tensor<4x2xui8>, %b: tensor<?x2xi8>, %s: tensor<4xf32>, %z: tensor<4xui8>) -> (tensor<4x2xi32>, tensor<4x2xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x2xui8>, tensor<?x2xi8>, none, none) -> tensor<4x2xi32>
  %w = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0> : tensor<i8>
  %yz = onnx.Constant dense<0> : tensor<ui8>
  %q = "onnx.QLinearMatMul"(%a, %s, %z, %w, %one, %zero, %one, %yz) : (tensor<4x2xui8>, tensor<4xf32>, tensor<4xui8>, tensor<2x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  return %y, %q : tensor<4x2xi32>, tensor<4x2xui8>
}

// -----

// A transposed convolution is a contraction per phase of its stride: even
// places take tap 1, odd ones taps 2 and 0. Each phase has the sums of its own
// taps as correction: -3 * 20 and -3 * 40.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x9x2xui8>
// CHECK: onnx.Constant dense<-60> : tensor<2xi32>
// CHECK: onnx.Constant dense<20> : tensor<1x1x2xi8>
// CHECK: %[[EVEN:.*]] = onnxq.contract
// CHECK: onnxq.requantize
// CHECK: %[[HALF:.*]] = tensor.insert_slice %[[EVEN]] into %[[E]][0, 0, 0] [1, 5, 2] [1, 2, 1]
// CHECK: onnx.Constant dense<-120> : tensor<2xi32>
// CHECK{LITERAL}: onnx.Constant dense<[[[30, 30], [10, 10]]]> : tensor<1x2x2xi8>
// CHECK: %[[ODD:.*]] = onnxq.contract
// CHECK-SAME: kernel = array<i64: 2>
// CHECK: onnxq.requantize
// CHECK: tensor.insert_slice %[[ODD]] into %[[HALF]][0, 1, 0] [1, 4, 2] [1, 2, 1]
// CHECK-NOT: "onnx.QuantizeLinear"
// CHECK-NOT: onnx.ConvTranspose
func.func @transposed(%x: tensor<1x1x5xui8>) -> tensor<1x2x9xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  %xs = onnx.Constant dense<0.5> : tensor<f32>
  %xz = onnx.Constant dense<3> : tensor<ui8>
  %wq = onnx.Constant dense<[[[10, 20, 30], [10, 20, 30]]]> : tensor<1x2x3xi8>
  %ws = onnx.Constant dense<[0.25, 0.5]> : tensor<2xf32>
  %wz = onnx.Constant dense<0> : tensor<2xi8>
  %yz = onnx.Constant dense<7> : tensor<ui8>
  %a = "onnx.DequantizeLinear"(%x, %xs, %xz) : (tensor<1x1x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x5xf32>
  %w = "onnx.DequantizeLinear"(%wq, %ws, %wz) {axis = 1 : si64} : (tensor<1x2x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<1x2x3xf32>
  %y = "onnx.ConvTranspose"(%a, %w, %none) {auto_pad = "NOTSET", group = 1 : si64, pads = [1, 1], strides = [2]} : (tensor<1x1x5xf32>, tensor<1x2x3xf32>, none) -> tensor<1x2x9xf32>
  %q = "onnx.QuantizeLinear"(%y, %xs, %yz) : (tensor<1x2x9xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x9xui8>
  return %q : tensor<1x2x9xui8>
}

// -----

// Both operands are activations: sums of columns times the left zero point,
// sums of rows times the right one.
// CHECK-LABEL: func.func @activations
// CHECK-SAME: %[[A:.*]]: tensor<2x4x8xui8>, %[[B:.*]]: tensor<2x8x6xi8>
// CHECK: %[[COLUMNS:.*]] = "onnx.ReduceSum"(%{{.*}}) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x8x6xi32>, tensor<1xi64>) -> tensor<2x6xi32>
// CHECK: %[[ROWS:.*]] = "onnx.ReduceSum"(%{{.*}}) {{.*}} -> tensor<2x4xi32>
// CHECK: onnxq.contract ins(%[[A]], %[[B]] : tensor<2x4x8xui8>, tensor<2x8x6xi8>) epilogue(%[[COLUMNS]], %[[ROWS]] : tensor<2x6xi32>, tensor<2x4xi32>)
// CHECK-SAME: attributes {batched,
// CHECK-SAME: input_unsigned
// CHECK: ^bb0(%[[ACC:.*]]: i32, %[[COLUMN:.*]]: i32, %[[ROW:.*]]: i32):
// CHECK: %[[P:.*]] = arith.muli %{{.*}}, %[[COLUMN]]
// CHECK: %[[D:.*]] = arith.subi %[[ACC]], %[[P]]
// CHECK: %[[R:.*]] = arith.subi %[[ROW]], %{{.*}}
// CHECK: %[[Q:.*]] = arith.muli %{{.*}}, %[[R]]
// CHECK: arith.subi %[[D]], %[[Q]]
func.func @activations(%a: tensor<2x4x8xui8>, %b: tensor<2x8x6xi8>) -> tensor<2x4x6xi32> {
  %az = onnx.Constant dense<100> : tensor<ui8>
  %bz = onnx.Constant dense<5> : tensor<i8>
  %y = "onnx.MatMulInteger"(%a, %b, %az, %bz) : (tensor<2x4x8xui8>, tensor<2x8x6xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4x6xi32>
  return %y : tensor<2x4x6xi32>
}

// -----

// Groups of one channel become one group, with weights of zero between.
// CHECK-LABEL: func.func @small_groups
// CHECK{LITERAL}: onnx.Constant dense<[[[1, 2, 0, 0], [0, 0, 3, 4]]]> : tensor<1x2x4xi8>
// CHECK: onnxq.contract
func.func @small_groups(%x: tensor<1x2x5x5xui8>) -> tensor<1x4x5x5xi32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<[[[[1]]], [[[2]]], [[[3]]], [[[4]]]]> : tensor<4x1x1x1xi8>
  %y = "onnx.ConvInteger"(%x, %w, %none, %none) {auto_pad = "NOTSET", group = 2 : si64} : (tensor<1x2x5x5xui8>, tensor<4x1x1x1xi8>, none, none) -> tensor<1x4x5x5xi32>
  return %y : tensor<1x4x5x5xi32>
}

// -----

// Weights of four bits stay codes: with a sign, codes and zeros are moved up by
// eight.
// CHECK-LABEL: func.func @codes
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[}}{{\[}}[0, 15], [8, 9], [10, 11]]]> : tensor<1x3x2xi8>
// CHECK-DAG: %[[S:.*]] = onnx.Constant dense<{{\[}}[5.000000e-01, 1.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: %[[Z:.*]] = onnx.Constant dense<{{\[}}[8, 9], [7, 8]]> : tensor<2x2xi8>
// CHECK: onnxq.contract ins(%{{.*}}, %[[W]] : tensor<?x3xf32>, tensor<1x3x2xi8>) scales(%[[S]] : tensor<2x2xf32>) zeros(%[[Z]] : tensor<2x2xi8>)
// CHECK-SAME: block = 2 : i64
func.func @codes(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %q = onnx.Constant dense<[[-8, 7], [0, 1], [2, 3]]> : tensor<3x2xi4>
  %s = onnx.Constant dense<[[0.5, 1.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %z = onnx.Constant dense<[[0, 1], [-1, 0]]> : tensor<2x2xi4>
  %w = "onnx.DequantizeLinear"(%q, %s, %z) {axis = 0 : si64, block_size = 2 : si64} : (tensor<3x2xi4>, tensor<2x2xf32>, tensor<2x2xi4>) -> tensor<3x2xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
