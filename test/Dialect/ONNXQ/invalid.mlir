// Each constraint of the observers' ops, broken once.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<1x8xf32>, %state: memref<999xi64>) {
  // expected-error@+1 {{expects channel_axis to be -1 or an axis of 'tensor<1x8xf32>', but got 2 [C1]}}
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 2 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x8xf32>, memref<999xi64>
  return
}

// -----

func.func @channels(%x: tensor<1x8xf32>, %state: memref<999xi64>) {
  // expected-error@+1 {{expects channels to be the size along channel_axis, but got 7 [C2]}}
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 7 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x8xf32>, memref<999xi64>
  return
}

// -----

func.func @open_channels(%x: tensor<1x?xf32>, %state: memref<999xi64>) {
  // expected-error@+1 {{expects channels to be the size along channel_axis, but got 8 [C2]}}
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x?xf32>, memref<999xi64>
  return
}

// -----

func.func @bins(%x: tensor<8xf32>, %state: memref<999xi64>) {
  // expected-error@+1 {{expects bins to be 0 or a power of two from 16 to 65536, but got 100 [C3]}}
  onnxq.observe "x" %x into %state {bins = 100 : i64, channel_axis = -1 : i64, channels = 1 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<8xf32>, memref<999xi64>
  return
}

// -----

func.func @beyond(%x: tensor<8xf32>, %state: memref<20xi64>) {
  // expected-error@+1 {{expects a record within 'memref<20xi64>', but got 25 words at 1 [C4]}}
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = -1 : i64, channels = 1 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<8xf32>, memref<20xi64>
  return
}

// -----

func.func @first_word(%x: tensor<8xf32>, %state: memref<99xi64>) {
  // expected-error@+1 {{expects a record within}}
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = -1 : i64, channels = 1 : i64, offset = 0 : i64, parts = 1 : i64} : tensor<8xf32>, memref<99xi64>
  return
}

// -----

func.func @state(%n: tensor<1xi64>) {
  // expected-error@+1 {{expects a known number of words}}
  %state = onnxq.state %n : tensor<1xi64> -> memref<?xi64>
  return
}

// -----

func.func @short_table(%x: tensor<8xui8>, %table: tensor<255xui8>) {
  // expected-error@+1 {{expects a table of 256 entries, but got 'tensor<255xui8>' [C1]}}
  %y = onnxq.lookup %x in %table : tensor<8xui8>, tensor<255xui8> -> tensor<8xui8>
  return
}

// -----

func.func @other_shape(%x: tensor<8xui8>, %table: tensor<256xui8>) {
  // expected-error@+1 {{expects a result of the input's shape, but got 'tensor<9xui8>' [C2]}}
  %y = onnxq.lookup %x in %table : tensor<8xui8>, tensor<256xui8> -> tensor<9xui8>
  return
}

// -----

func.func @short_entries(%x: i8) {
  // expected-error@+1 {{expects a table of 256 entries, but got 'tensor<255xi8>' [C1]}}
  %y = onnxq.entry %x of dense<7> : tensor<255xi8> : i8
  return
}

// -----

func.func @bounds_in_order(%x: f32, %z: i32) -> i8 {
  // expected-error@+1 {{expects bounds in order that fit 'i8', but got 3 and 2 [C1]}}
  %y = onnxq.requantize %x zero_point %z in [3, 2] : f32 -> i8
  return %y : i8
}

// -----

func.func @bounds_of_both_signs(%x: f32, %z: i32) -> i8 {
  // expected-error@+1 {{expects bounds in order that fit 'i8', but got -1 and 128 [C1]}}
  %y = onnxq.requantize %x zero_point %z in [-1, 128] : f32 -> i8
  return %y : i8
}

// -----

func.func @without_scale(%x: i32, %z: i32) -> i8 {
  // expected-error@+1 {{expects a scale for a value of type 'i32' [C2]}}
  %y = onnxq.requantize %x zero_point %z in [0, 255] : i32 -> i8
  return %y : i8
}

// -----

func.func @lanes(%x: vector<8xf32>, %z: vector<8xi32>) -> vector<4xi8> {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %y = onnxq.requantize %x zero_point %z in [0, 255] : vector<8xf32> -> vector<4xi8>
  return %y : vector<4xi8>
}
