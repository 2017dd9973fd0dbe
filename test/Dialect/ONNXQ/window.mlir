// Windows are read, printed and read again.
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: @depthwise(
// CHECK: onnxq.window <mul_add> ins(%{{.+}} : tensor<1x56x56x32xf32>) weights(%{{.+}} : tensor<9x32xf32>)
// CHECK-SAME: epilogue(%{{.+}} : tensor<32xf32>) outs(%{{.+}} : tensor<1x28x28x32xf32>)
func.func @depthwise(%x: tensor<1x56x56x32xf32>, %w: tensor<9x32xf32>, %b: tensor<32xf32>) -> tensor<1x28x28x32xf32> {
  %e = tensor.empty() : tensor<1x28x28x32xf32>
  %y = onnxq.window <mul_add> ins(%x : tensor<1x56x56x32xf32>) weights(%w : tensor<9x32xf32>)
      epilogue(%b : tensor<32xf32>) outs(%e : tensor<1x28x28x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: f32, %bias: f32):
    %s = arith.addf %acc, %bias : f32
    onnxq.yield %s : f32
  } -> tensor<1x28x28x32xf32>
  return %y : tensor<1x28x28x32xf32>
}

// CHECK-LABEL: @integers(
// CHECK: onnxq.window <mul_add> ins(%{{.+}} : tensor<?x?x?x32xui8>) weights(%{{.+}} : tensor<9x32xi16>) pad(%{{.+}} : i8)
// CHECK-SAME: input_unsigned
func.func @integers(%x: tensor<?x?x?x32xui8>, %w: tensor<9x32xi16>, %zero: i8, %e: tensor<?x?x?x32xi32>) -> tensor<?x?x?x32xi32> {
  %y = onnxq.window <mul_add> ins(%x : tensor<?x?x?x32xui8>) weights(%w : tensor<9x32xi16>)
      pad(%zero : i8) outs(%e : tensor<?x?x?x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<?x?x?x32xi32>
  return %y : tensor<?x?x?x32xi32>
}

// CHECK-LABEL: @pools(
// CHECK: onnxq.window <max> ins(%{{.+}} : memref<2x9x5xi8>) outs(%{{.+}} : memref<2x4x5xi8>)
// CHECK: onnxq.window <sum> ins(%{{.+}} : memref<2x9x5xi8>) outs(%{{.+}} : memref<2x4x5xi32>)
func.func @pools(%x: memref<2x9x5xi8>, %y: memref<2x4x5xi8>, %z: memref<2x4x5xi32>) {
  onnxq.window <max> ins(%x : memref<2x9x5xi8>) outs(%y : memref<2x4x5xi8>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 2>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: i8):
    onnxq.yield %acc : i8
  }
  onnxq.window <sum> ins(%x : memref<2x9x5xi8>) outs(%z : memref<2x4x5xi32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 2>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  }
  return
}
