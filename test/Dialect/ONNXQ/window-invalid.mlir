// What windows refuse.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: memref<1x9x?xf32>, %y: memref<1x7x?xf32>) {
  // expected-error @below {{with known channels, but got 'memref<1x9x?xf32>' [C1]}}
  onnxq.window <max> ins(%x : memref<1x9x?xf32>) outs(%y : memref<1x7x?xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>) {
  // expected-error @below {{expects weights of 3x8 [C2]}}
  onnxq.window <mul_add> ins(%x : memref<1x9x8xf32>) outs(%y : memref<1x7x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>, %w: memref<3x8xf32>) {
  // expected-error @below {{expects no weights, not 3x8 [C2]}}
  onnxq.window <max> ins(%x : memref<1x9x8xf32>) weights(%w : memref<3x8xf32>) outs(%y : memref<1x7x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x6x8xf32>) {
  // expected-error @below {{expects an output for 'memref<1x9x8xf32>', but got 'memref<1x6x8xf32>' [C3]}}
  onnxq.window <max> ins(%x : memref<1x9x8xf32>) outs(%y : memref<1x6x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xi8>, %y: memref<1x7x8xi16>) {
  // expected-error @below {{expects f32 or integers of 8 bits, but got 'i8' in 'i16' [C4]}}
  onnxq.window <max> ins(%x : memref<1x9x8xi8>) outs(%y : memref<1x7x8xi16>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: i16):
    onnxq.yield %acc : i16
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>) {
  // expected-error @below {{expects floats not to be unsigned [C5]}}
  onnxq.window <max> ins(%x : memref<1x9x8xf32>) outs(%y : memref<1x7x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>, input_unsigned} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>, %p: f32) {
  // expected-error @below {{expects no pad of type 'f32' [C6]}}
  onnxq.window <max> ins(%x : memref<1x9x8xf32>) pad(%p : f32) outs(%y : memref<1x7x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @f(%x: memref<1x9x8xf32>, %y: memref<1x7x8xf32>) {
  // expected-error @below {{two pads per entry of kernel [K6]}}
  onnxq.window <max> ins(%x : memref<1x9x8xf32>) outs(%y : memref<1x7x8xf32>)
      attributes {kernel = array<i64: 3>, strides = array<i64: 1, 1>,
        dilations = array<i64: 1>, pads = array<i64: 0, 0>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// -----

func.func @packed(%x: memref<1x9x9x8xi8>, %w: memref<448xi16>, %y: memref<1x7x7x8xi32>) {
  // expected-error@+1 {{expects weights of 9x8 [C2]}}
  onnxq.window <mul_add> ins(%x : memref<1x9x9x8xi8>) weights(%w : memref<448xi16>) outs(%y : memref<1x7x7x8xi32>)
      attributes {packed, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  }
  return
}
