// Kernels parse, print and parse again, also as bytecode.
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x56x56x64xf32>, %w: tensor<1x576x32xf32>, %b: tensor<32xf32>, %e: tensor<1x56x56x32xf32>) -> tensor<1x56x56x32xf32> {
  // CHECK: onnxq.contract ins(%{{.*}}, %{{.*}} : tensor<1x56x56x64xf32>, tensor<1x576x32xf32>)
  // CHECK-SAME: epilogue(%{{.*}} : tensor<32xf32>) outs(%{{.*}} : tensor<1x56x56x32xf32>)
  // CHECK-SAME: attributes {dilations = array<i64: 1, 1>, epilogue_maps = [{{.*}}], kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
  // CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[BIAS]] : f32
  // CHECK-NEXT: onnxq.yield %[[S]] : f32
  // CHECK: } -> tensor<1x56x56x32xf32>
  %y = onnxq.contract ins(%x, %w : tensor<1x56x56x64xf32>, tensor<1x576x32xf32>)
      epilogue(%b : tensor<32xf32>) outs(%e : tensor<1x56x56x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: f32, %bias: f32):
    %s = arith.addf %acc, %bias : f32
    onnxq.yield %s : f32
  } -> tensor<1x56x56x32xf32>
  return %y : tensor<1x56x56x32xf32>
}

// Integers keep their signs outside of regions.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<4x8xui8>, %w: tensor<1x8x16xi8>, %zp: i8, %e: tensor<4x16xui8>) -> tensor<4x16xui8> {
  // CHECK: onnxq.contract {{.*}} pad(%{{.*}} : i8) {{.*}} attributes {input_unsigned}
  %y = onnxq.contract ins(%x, %w : tensor<4x8xui8>, tensor<1x8x16xi8>) pad(%zp : i8)
      outs(%e : tensor<4x16xui8>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    %s = arith.trunci %acc : i32 to i8
    onnxq.yield %s : i8
  } -> tensor<4x16xui8>
  return %y : tensor<4x16xui8>
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: memref<2x3x4xf32>, %w: memref<2x4x5xf32>, %y: memref<2x3x5xf32, strided<[30, 10, 1], offset: ?>>) {
  // CHECK: onnxq.contract {{.*}} attributes {batched, packing = #onnxq.packing<groups = 1, k = 4, n = 5, mr = 3, nr = 8, step = 1, kind = rows>}
  onnxq.contract ins(%x, %w : memref<2x3x4xf32>, memref<2x4x5xf32>)
      outs(%y : memref<2x3x5xf32, strided<[30, 10, 1], offset: ?>>)
      attributes {batched, packing = #onnxq.packing<groups = 1, k = 4, n = 5, mr = 3, nr = 8, step = 1, kind = rows>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func.func @stage
func.func @stage(%x: tensor<1x8x8x3xi8>, %zero: i16, %e: tensor<1x10x10x4xi16>) -> tensor<1x10x10x4xi16> {
  // CHECK: onnxq.stage ins(%{{.*}} : tensor<1x8x8x3xi8>) pad(%{{.*}} : i16) outs(%{{.*}} : tensor<1x10x10x4xi16>) attributes {pads = array<i64: 1, 1, 1, 1>}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xi8>) pad(%zero : i16) outs(%e : tensor<1x10x10x4xi16>)
      attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: i8):
    %w = arith.extui %a : i8 to i16
    onnxq.yield %w : i16
  } -> tensor<1x10x10x4xi16>
  return %s : tensor<1x10x10x4xi16>
}

// CHECK-LABEL: func.func @codes
func.func @codes(%x: tensor<4x64xf32>, %w: tensor<1x64x8xi8>, %s: tensor<2x8xf32>, %z: tensor<2x8xi8>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: onnxq.contract {{.*}} scales(%{{.*}} : tensor<2x8xf32>) zeros(%{{.*}} : tensor<2x8xi8>) outs(%{{.*}} : tensor<4x8xf32>) attributes {block = 32 : i64}
  %y = onnxq.contract ins(%x, %w : tensor<4x64xf32>, tensor<1x64x8xi8>) scales(%s : tensor<2x8xf32>) zeros(%z : tensor<2x8xi8>)
      outs(%e : tensor<4x8xf32>) attributes {block = 32 : i64} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @pack
func.func @pack(%w: tensor<12x63x128xi8>, %e: tensor<12x8192xi16>) -> tensor<12x8192xi16> {
  // CHECK: onnxq.pack ins(%{{.*}} : tensor<12x63x128xi8>) outs(%{{.*}} : tensor<12x8192xi16>) attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 128, mr = 4, nr = 16, step = 2, kind = madd>}
  %p = onnxq.pack ins(%w : tensor<12x63x128xi8>) outs(%e : tensor<12x8192xi16>)
      attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 128, mr = 4, nr = 16, step = 2, kind = madd>} {
  ^bb0(%a: i8):
    %x = arith.extsi %a : i8 to i16
    onnxq.yield %x : i16
  } -> tensor<12x8192xi16>
  return %p : tensor<12x8192xi16>
}

// CHECK-LABEL: func.func @expand
func.func @expand(%w: tensor<9216xi8>, %e: tensor<36864xi16>, %v: memref<72xi16>, %f: memref<128xi16>) -> tensor<36864xi16> {
  // CHECK: onnxq.expand ins(%{{.*}} : memref<72xi16>) outs(%{{.*}} : memref<128xi16>) attributes {panels = 1 : i64}
  onnxq.expand ins(%v : memref<72xi16>) outs(%f : memref<128xi16>) attributes {panels = 1 : i64}
  // CHECK: onnxq.expand ins(%{{.*}} : tensor<9216xi8>) outs(%{{.*}} : tensor<36864xi16>) attributes {panels = 2 : i64} -> tensor<36864xi16>
  %p = onnxq.expand ins(%w : tensor<9216xi8>) outs(%e : tensor<36864xi16>) attributes {panels = 2 : i64} -> tensor<36864xi16>
  return %p : tensor<36864xi16>
}
