// AVX-512's tiles have eight rows, or fewer where the last tile would repeat
// many: 49 rows are seven tiles of seven.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=znver4" --onnxq-pack-weights | FileCheck %s

// CHECK-LABEL: func.func @even
// CHECK: mr = 8, nr = 32, step = 4, kind = vnni
func.func @even(%x: tensor<64x64xi8>, %e: tensor<64x32xi32>) -> tensor<64x32xi32> {
  %w = arith.constant dense<65> : tensor<1x64x32xi8>
  %y = onnxq.contract ins(%x, %w : tensor<64x64xi8>, tensor<1x64x32xi8>) outs(%e : tensor<64x32xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<64x32xi32>
  return %y : tensor<64x32xi32>
}

// CHECK-LABEL: func.func @odd
// CHECK: mr = 7, nr = 32, step = 4, kind = vnni
func.func @odd(%x: tensor<49x64xi8>, %e: tensor<49x32xi32>) -> tensor<49x32xi32> {
  %w = arith.constant dense<65> : tensor<1x64x32xi8>
  %y = onnxq.contract ins(%x, %w : tensor<49x64xi8>, tensor<1x64x32xi8>) outs(%e : tensor<49x32xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<49x32xi32>
  return %y : tensor<49x32xi32>
}
