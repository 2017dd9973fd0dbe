// RUN: onnxq-opt %s --onnxq-fuse-elementwise | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#line = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @chain
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.negf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// A sum reads its elements from memory.
// CHECK-LABEL: func @into_reduction
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @into_reduction(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// An exponential per row isn't computed for every element of the row.
// CHECK-LABEL: func @into_broadcast
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @into_broadcast(%x: tensor<4xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %y : tensor<4xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// What makes bytes of a kernel's sums is left for the kernel.
// CHECK-LABEL: func @narrowing
// CHECK: onnxq.contract
// CHECK: linalg.generic
// CHECK: arith.trunci
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK: arith.addi
func.func @narrowing(%x: tensor<4x8xi8>, %w: tensor<1x8x8xi8>, %z: tensor<4x8xi8>) -> tensor<4x8xi8> {
  %s = tensor.empty() : tensor<4x8xi32>
  %e = tensor.empty() : tensor<4x8xi8>
  %sums = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x8xi8>) outs(%s : tensor<4x8xi32>) {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<4x8xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : tensor<4x8xi32>) outs(%e : tensor<4x8xi8>) {
  ^bb0(%a: i32, %b: i8):
    %r = arith.trunci %a : i32 to i8
    linalg.yield %r : i8
  } -> tensor<4x8xi8>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %z : tensor<4x8xi8>, tensor<4x8xi8>) outs(%e : tensor<4x8xi8>) {
  ^bb0(%a: i8, %c: i8, %b: i8):
    %r = arith.addi %a, %c : i8
    linalg.yield %r : i8
  } -> tensor<4x8xi8>
  return %1 : tensor<4x8xi8>
}

// Each reader makes numbers of bytes by itself, also one that sums them.
// CHECK-LABEL: func @bytes_for_many
// CHECK-SAME: %[[X:.*]]: tensor<4x8xi8>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xi8>)
// CHECK: arith.uitofp
// CHECK: arith.negf
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4x8xi8>)
// CHECK: arith.uitofp
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @bytes_for_many(%x: tensor<4x8xi8>, %init: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xi8>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: i8, %b: f32):
    %n = arith.uitofp %a : i8 to f32
    %r = arith.mulf %n, %scale : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4xf32>
}
