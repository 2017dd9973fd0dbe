// Where tiles take less time, and how their weights are cut: in chunks of at
// most 64 products, the last of which ends with its run.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4 features=-prefer-256-bit,+avx512vnni,+amx-tile,+amx-int8" --onnxq-pack-weights | FileCheck %s

// Two chunks of 52: the last begins at 48. Bytes with a sign stay so.
// CHECK-LABEL: func.func @overlap
// CHECK-NOT: onnxq.stage
// CHECK: tensor<3328xi8>
// CHECK: packing = #onnxq.packing<groups = 1, k = 100, n = 32, mr = 32, nr = 32, step = 4, kind = amx, run = 100>
func.func @overlap(%x: tensor<64x100xi8>) -> tensor<64x32xi32> {
  %w = arith.constant dense<100> : tensor<1x100x32xi8>
  %e = tensor.empty() : tensor<64x32xi32>
  %y = onnxq.contract ins(%x, %w : tensor<64x100xi8>, tensor<1x100x32xi8>) outs(%e : tensor<64x32xi32>) {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<64x32xi32>
  return %y : tensor<64x32xi32>
}

// One row is no tile, nor are few products.
// CHECK-LABEL: func.func @row
// CHECK: kind = vnni
func.func @row(%x: tensor<1x256xi8>) -> tensor<1x32xi32> {
  %w = arith.constant dense<100> : tensor<1x256x32xi8>
  %e = tensor.empty() : tensor<1x32xi32>
  %y = onnxq.contract ins(%x, %w : tensor<1x256xi8>, tensor<1x256x32xi8>) outs(%e : tensor<1x32xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x32xi32>
  return %y : tensor<1x32xi32>
}

// CHECK-LABEL: func.func @shallow
// CHECK: kind = vnni
func.func @shallow(%x: tensor<512x16xi8>) -> tensor<512x32xi32> {
  %w = arith.constant dense<100> : tensor<1x16x32xi8>
  %e = tensor.empty() : tensor<512x32xi32>
  %y = onnxq.contract ins(%x, %w : tensor<512x16xi8>, tensor<1x16x32xi8>) outs(%e : tensor<512x32xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<512x32xi32>
  return %y : tensor<512x32xi32>
}

// Taps of a row follow each other in a staged input.
// CHECK-LABEL: func.func @window
// CHECK: onnxq.stage
// CHECK: kind = amx, run = 96>
func.func @window(%x: tensor<1x20x20x32xi8>) -> tensor<1x20x20x64xi32> {
  %w = arith.constant dense<100> : tensor<1x288x64xi8>
  %e = tensor.empty() : tensor<1x20x20x64xi32>
  %y = onnxq.contract ins(%x, %w : tensor<1x20x20x32xi8>, tensor<1x288x64xi8>) outs(%e : tensor<1x20x20x64xi32>) attributes {input_unsigned, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x20x20x64xi32>
  return %y : tensor<1x20x20x64xi32>
}
