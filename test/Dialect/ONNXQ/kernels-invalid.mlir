// Each constraint of the kernels, broken once.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects an input of 4 dimensions, but got 'tensor<8x8x4xf32>' [C1]}}
  %y = onnxq.contract ins(%x, %w : tensor<8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @weights(%x: tensor<1x8x8x4xf32>, %w: tensor<1x35x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects weights for 'tensor<1x8x8x4xf32>', but got 'tensor<1x35x6xf32>' [C2]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x35x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @packed(%x: tensor<1x8x8x4xf32>, %w: tensor<100xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects weights for 'tensor<1x8x8x4xf32>', but got 'tensor<100xf32>' [C2]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<100xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, packing = #onnxq.packing<groups = 1, k = 36, n = 6, mr = 4, nr = 8, step = 1, kind = fma>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @output(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x9x8x6xf32>) {
  // expected-error@+1 {{expects an output for 'tensor<1x8x8x4xf32>', but got 'tensor<1x9x8x6xf32>' [C3]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x9x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x9x8x6xf32>
  return
}

// -----

func.func @elements(%x: tensor<1x8x8x4xf64>, %w: tensor<1x36x6xf64>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects f32 or integers of 8 or 16 bits, but got 'f64' times 'f64' in 'f32' [C4]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf64>, tensor<1x36x6xf64>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @unsigned(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects floats to have no unsigned operands [C5]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {input_unsigned, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @pad(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %p: i8) {
  // expected-error@+1 {{expects pad to be 'f32', but got 'i8' [C6]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) pad(%p : i8) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @batched(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects no window if it is batched [C7]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {batched, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @maps(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{expects a map per epilogue operand, but got 0 for 1 [K1]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) epilogue(%b : tensor<6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32, %c: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @map(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{expects a map from 4 dimensions to some of them for epilogue operand 0, but got affine_map<(d0) -> (d0)> [K1]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) epilogue(%b : tensor<6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epilogue_maps = [affine_map<(c) -> (c)>]} {
  ^bb0(%acc: f32, %c: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @operand_rank(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %b: tensor<1x6xf32>) {
  // expected-error@+1 {{expects epilogue operand 0 to have 1 dimensions, but got 'tensor<1x6xf32>' [K2]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) epilogue(%b : tensor<1x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: f32, %c: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @operand_size(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{expects size 6 in epilogue operand 0, but got 'tensor<5xf32>' [K2]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) epilogue(%b : tensor<5xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: f32, %c: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @arguments(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects the epilogue to take 1 arguments, but got 2 [K3]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32, %c: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @argument(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{expects argument 1 of the epilogue to be 'f32', but got 'i32' [K3]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) epilogue(%b : tensor<6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: f32, %c: i32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @yield(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects the epilogue to yield 'f32' [K4]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    %i = arith.fptosi %acc : f32 to i32
    onnxq.yield %i : i32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @memory(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>, %m: memref<f32>) {
  // expected-error@+1 {{expects an epilogue that computes element by element [K5]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    memref.store %acc, %m[] : memref<f32>
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @window(%x: tensor<1x8x8x4xf32>, %w: tensor<1x36x6xf32>, %e: tensor<1x8x8x6xf32>) {
  // expected-error@+1 {{expects a positive stride and dilation, and two pads, per entry of kernel [K6]}}
  %y = onnxq.contract ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x36x6xf32>) outs(%e : tensor<1x8x8x6xf32>) attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x8x8x6xf32>
  return
}

// -----

func.func @stage_rank(%x: tensor<1x8x8x3xf32>, %e: tensor<10x10x3xf32>) {
  // expected-error@+1 {{expects two ranks of at least 2, but got 'tensor<1x8x8x3xf32>' and 'tensor<10x10x3xf32>' [C1]}}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xf32>) outs(%e : tensor<10x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: f32):
    onnxq.yield %a : f32
  } -> tensor<10x10x3xf32>
  return
}

// -----

func.func @stage_pads(%x: tensor<1x8x8x3xf32>, %e: tensor<1x10x10x3xf32>) {
  // expected-error@+1 {{expects two pads per spatial dimension, but got 2 [C2]}}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xf32>) outs(%e : tensor<1x10x10x3xf32>) attributes {pads = array<i64: 1, 1>} {
  ^bb0(%a: f32):
    onnxq.yield %a : f32
  } -> tensor<1x10x10x3xf32>
  return
}

// -----

func.func @stage_size(%x: tensor<1x8x8x3xf32>, %e: tensor<1x11x10x3xf32>) {
  // expected-error@+1 {{expects size 10 in dimension 1, but got 11 [C3]}}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xf32>) outs(%e : tensor<1x11x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: f32):
    onnxq.yield %a : f32
  } -> tensor<1x11x10x3xf32>
  return
}

// -----

func.func @stage_region(%x: tensor<1x8x8x3xf32>, %e: tensor<1x10x10x3xf32>) {
  // expected-error@+1 {{expects a region from 'f32' to 'f32' [C4]}}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xf32>) outs(%e : tensor<1x10x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: i32):
    onnxq.yield %a : i32
  } -> tensor<1x10x10x3xf32>
  return
}

// -----

func.func @stage_pad(%x: tensor<1x8x8x3xf32>, %e: tensor<1x10x10x3xf32>, %p: i8) {
  // expected-error@+1 {{expects pad to be 'f32', but got 'i8' [C5]}}
  %s = onnxq.stage ins(%x : tensor<1x8x8x3xf32>) pad(%p : i8) outs(%e : tensor<1x10x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: f32):
    onnxq.yield %a : f32
  } -> tensor<1x10x10x3xf32>
  return
}

// -----

// expected-error@+1 {{expects a run of whole steps that divides k with AMX only, but got 24}}
func.func private @run() attributes {p = #onnxq.packing<groups = 1, k = 64, n = 6, mr = 32, nr = 16, step = 4, kind = amx, run = 24>}

// -----

// expected-error@+1 {{expects a run of whole steps that divides k with AMX only, but got 64}}
func.func private @run() attributes {p = #onnxq.packing<groups = 1, k = 64, n = 6, mr = 8, nr = 16, step = 4, kind = vnni, run = 64>}

// -----

// expected-error@+1 {{expects positive sizes, but got 0}}
func.func private @packing() attributes {p = #onnxq.packing<groups = 1, k = 0, n = 6, mr = 4, nr = 8, step = 1, kind = fma>}

// -----

func.func @codes(%x: tensor<4x64xf32>, %w: tensor<1x64x8xi8>, %s: tensor<1x8xf32>, %z: tensor<1x8xi8>, %e: tensor<4x8xf32>) {
  // expected-error @below {{expects scales and zeros per block of codes for one product of floats [C8]}}
  %y = onnxq.contract ins(%x, %w : tensor<4x64xf32>, tensor<1x64x8xi8>) scales(%s : tensor<1x8xf32>) zeros(%z : tensor<1x8xi8>) outs(%e : tensor<4x8xf32>) attributes {block = 32 : i64} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @pack_depth(%w: tensor<62x16xi8>, %e: tensor<1024xi8>) {
  // expected-error @below {{expects matrices for #onnxq.packing<groups = 1, k = 64, n = 16, mr = 4, nr = 16, step = 2, kind = madd>, but got 'tensor<62x16xi8>' [C1]}}
  %p = onnxq.pack ins(%w : tensor<62x16xi8>) outs(%e : tensor<1024xi8>) attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 16, mr = 4, nr = 16, step = 2, kind = madd>} {
  ^bb0(%a: i8):
    onnxq.yield %a : i8
  } -> tensor<1024xi8>
  return
}

// -----

func.func @pack_size(%w: tensor<64x16xi8>, %e: tensor<1000xi8>) {
  // expected-error @below {{expects 1024 elements per matrix of 'tensor<64x16xi8>', but got 'tensor<1000xi8>' [C2]}}
  %p = onnxq.pack ins(%w : tensor<64x16xi8>) outs(%e : tensor<1000xi8>) attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 16, mr = 4, nr = 16, step = 2, kind = madd>} {
  ^bb0(%a: i8):
    onnxq.yield %a : i8
  } -> tensor<1000xi8>
  return
}

// -----

func.func @pack_region(%w: tensor<64x16xi8>, %e: tensor<1024xi16>) {
  // expected-error @below {{expects a region from 'i8' to 'i16' [C3]}}
  %p = onnxq.pack ins(%w : tensor<64x16xi8>) outs(%e : tensor<1024xi16>) attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 16, mr = 4, nr = 16, step = 2, kind = madd>} {
  ^bb0(%a: i8):
    onnxq.yield %a : i8
  } -> tensor<1024xi16>
  return
}

// -----

func.func @expand_filters(%w: tensor<9216xi8>, %e: tensor<36864xi16>) {
  // expected-error @below {{expects filters of 3 panels, but got 'tensor<9216xi8>' [C1]}}
  %p = onnxq.expand ins(%w : tensor<9216xi8>) outs(%e : tensor<36864xi16>) attributes {panels = 3 : i64} -> tensor<36864xi16>
  return
}

// -----

func.func @expand_element(%w: tensor<72xi32>, %e: tensor<128xi16>) {
  // expected-error @below {{expects filters of 1 panels, but got 'tensor<72xi32>' [C1]}}
  %p = onnxq.expand ins(%w : tensor<72xi32>) outs(%e : tensor<128xi16>) attributes {panels = 1 : i64} -> tensor<128xi16>
  return
}

// -----

func.func @expand_numbers(%w: tensor<72xi8>, %e: tensor<72xi16>) {
  // expected-error @below {{expects 16 or 36 points of i16 for each of 8 filters, but got 'tensor<72xi16>' [C2]}}
  %p = onnxq.expand ins(%w : tensor<72xi8>) outs(%e : tensor<72xi16>) attributes {panels = 1 : i64} -> tensor<72xi16>
  return
}
