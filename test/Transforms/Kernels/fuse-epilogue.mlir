// What follows a kernel goes into its epilogue, if nothing else reads it.
// RUN: onnxq-opt %s --onnxq-fuse-epilogue --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @gate
func.func @gate(%x: tensor<4x8xf32>, %w: tensor<1x8x6xf32>, %g: tensor<4x1xf32>, %r: tensor<4x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = onnxq.contract ins(%x, %w : tensor<4x8xf32>, tensor<1x8x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x6xf32>
  // CHECK: %[[Y:.*]] = onnxq.contract {{.*}} epilogue(%{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<4x6xf32>)
  // CHECK: ^bb0(%[[ACC:.*]]: f32, %[[G:.*]]: f32, %[[R:.*]]: f32):
  // CHECK: %[[M:.*]] = arith.mulf %[[ACC]], %[[G]]
  // CHECK: %[[S:.*]] = arith.addf %[[M]], %[[R]]
  // CHECK: onnxq.yield %[[S]]
  // CHECK-NOT: linalg.generic
  // CHECK: return %[[Y]]
  %y = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %g, %r : tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %d : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// A result with two readers, and one that is read in another order, stay.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: linalg.generic
func.func @stays(%x: tensor<4x8xf32>, %w: tensor<1x8x4xf32>, %e: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = onnxq.contract ins(%x, %w : tensor<4x8xf32>, tensor<1x8x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  %d = onnxq.contract ins(%x, %w : tensor<4x8xf32>, tensor<1x8x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  return %c, %y, %z : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// What follows the phases of a tensor goes into each of them.
// CHECK-LABEL: func.func @phases
func.func @phases(%x: tensor<4x8xf32>, %w: tensor<1x8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %s0 = tensor.extract_slice %e[0, 0] [4, 6] [2, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  // CHECK: onnxq.contract
  // CHECK: arith.negf
  %p0 = onnxq.contract ins(%x, %w : tensor<4x8xf32>, tensor<1x8x6xf32>) outs(%s0 : tensor<4x6xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x6xf32>
  %y0 = tensor.insert_slice %p0 into %e[0, 0] [4, 6] [2, 1] : tensor<4x6xf32> into tensor<8x6xf32>
  %s1 = tensor.extract_slice %y0[1, 0] [4, 6] [2, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  // CHECK: onnxq.contract
  // CHECK: arith.negf
  %p1 = onnxq.contract ins(%x, %w : tensor<4x8xf32>, tensor<1x8x6xf32>) outs(%s1 : tensor<4x6xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x6xf32>
  %y1 = tensor.insert_slice %p1 into %y0[1, 0] [4, 6] [2, 1] : tensor<4x6xf32> into tensor<8x6xf32>
  // CHECK-NOT: linalg.generic
  %z = tensor.empty() : tensor<8x6xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y1 : tensor<8x6xf32>) outs(%z : tensor<8x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
