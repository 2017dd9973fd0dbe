// Weights of two, four and eight bits that floats are multiplied with: codes in
// panels, with their scales and zero points.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights | FileCheck %s

// Four bits: two codes to a byte.
// CHECK-LABEL: func.func @four_bits
// CHECK: onnxq.contract ins(%{{.*}}, %{{.*}} : tensor<5x64xf32>, tensor<1024xi8>) scales(%{{.*}} : tensor<64xf32>) zeros(%{{.*}} : tensor<64xi8>)
// CHECK-SAME: onnxq.common_zero = 3 : i64
// CHECK-SAME: packing = #onnxq.packing<groups = 1, k = 64, n = 32, mr = 4, nr = 16, step = 1, kind = codes>
func.func @four_bits(%x: tensor<5x64xf32>, %e: tensor<5x32xf32>) -> tensor<5x32xf32> {
  %w = arith.constant dense<7> : tensor<1x64x32xi8>
  %s = arith.constant dense<0.5> : tensor<2x32xf32>
  %z = arith.constant dense<3> : tensor<2x32xi8>
  %y = onnxq.contract ins(%x, %w : tensor<5x64xf32>, tensor<1x64x32xi8>) scales(%s : tensor<2x32xf32>) zeros(%z : tensor<2x32xi8>) outs(%e : tensor<5x32xf32>) attributes {block = 32 : i64} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}

// Zero points that differ are read next to the product.
// CHECK-LABEL: func.func @zeros_differ
// CHECK-NOT: onnxq.common_zero
// CHECK: kind = codes
func.func @zeros_differ(%x: tensor<5x2xf32>, %e: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<7> : tensor<1x2x2xi8>
  %s = arith.constant dense<0.5> : tensor<1x2xf32>
  %z = arith.constant dense<[[3, 4]]> : tensor<1x2xi8>
  %y = onnxq.contract ins(%x, %w : tensor<5x2xf32>, tensor<1x2x2xi8>) scales(%s : tensor<1x2xf32>) zeros(%z : tensor<1x2xi8>) outs(%e : tensor<5x2xf32>) attributes {block = 2 : i64} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Eight bits: one code to a byte, less the zero point where it is 128.
// CHECK-LABEL: func.func @eight_bits
// CHECK: onnxq.common_zero = 128 : i64
// CHECK-SAME: kind = bytes
func.func @eight_bits(%x: tensor<5x2xf32>, %e: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<-56> : tensor<1x2x2xi8>
  %s = arith.constant dense<0.5> : tensor<1x2xf32>
  %z = arith.constant dense<-128> : tensor<1x2xi8>
  %y = onnxq.contract ins(%x, %w : tensor<5x2xf32>, tensor<1x2x2xi8>) scales(%s : tensor<1x2xf32>) zeros(%z : tensor<1x2xi8>) outs(%e : tensor<5x2xf32>) attributes {block = 2 : i64} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
