// The observers' ops and tables parse, print and parse again, also as bytecode.
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @observe
func.func @observe(%x: tensor<1x8x4x4xf32>, %n: tensor<1xi64>) -> tensor<999xi64> {
  // CHECK: %[[STATE:.*]] = onnxq.state %{{.*}} : tensor<1xi64> -> memref<999xi64>
  %state = onnxq.state %n : tensor<1xi64> -> memref<999xi64>
  // CHECK: onnxq.observe "conv1_out" %{{.*}} into %[[STATE]] {bins = 16 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 2 : i64} : tensor<1x8x4x4xf32>, memref<999xi64>
  onnxq.observe "conv1_out" %x into %state {bins = 16 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 2 : i64} : tensor<1x8x4x4xf32>, memref<999xi64>
  // CHECK: onnxq.statistics %[[STATE]] : memref<999xi64> -> tensor<999xi64>
  %words = onnxq.statistics %state : memref<999xi64> -> tensor<999xi64>
  return %words : tensor<999xi64>
}

// CHECK-LABEL: func.func @buffer
func.func @buffer(%x: memref<?xf32>, %state: memref<99xi64>) {
  // CHECK: onnxq.observe "x" %{{.*}} into %{{.*}} : memref<?xf32>, memref<99xi64>
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = -1 : i64, channels = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<?xf32>, memref<99xi64>
  return
}

// CHECK-LABEL: func.func @parts
func.func @parts(%x: memref<1x8x4x4xf32>, %i: index, %scratch: memref<256xi64>, %state: memref<999xi64>) {
  // CHECK: onnxq.observe_begin %[[S:.*]] into %{{.*}} {bins = 16 : i64, channels = 8 : i64, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<256xi64>, memref<999xi64>
  onnxq.observe_begin %scratch into %state {bins = 16 : i64, channels = 8 : i64, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<256xi64>, memref<999xi64>
  // CHECK: onnxq.observe_slice %{{.*}}[%{{.*}}, %{{.*}}] with %[[S]] : memref<1x8x4x4xf32>, memref<256xi64>
  onnxq.observe_slice %x[%i, %i] with %scratch : memref<1x8x4x4xf32>, memref<256xi64>
  // CHECK: onnxq.observe_rows %{{.*}}[%{{.*}}] at %{{.*}} with %[[S]] {outer = 32 : i64, rows = 4 : i64} : memref<1x8x4x4xf32>, memref<256xi64>
  onnxq.observe_rows %x[%i] at %i with %scratch {outer = 32 : i64, rows = 4 : i64} : memref<1x8x4x4xf32>, memref<256xi64>
  // CHECK: onnxq.observe_end %[[S]] : memref<256xi64>
  onnxq.observe_end %scratch : memref<256xi64>
  return
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%x: tensor<1x8xi8>, %table: tensor<256xui8>) -> tensor<1x8xui8> {
  // CHECK: onnxq.lookup %{{.*}} in %{{.*}} : tensor<1x8xi8>, tensor<256xui8> -> tensor<1x8xui8>
  %y = onnxq.lookup %x in %table : tensor<1x8xi8>, tensor<256xui8> -> tensor<1x8xui8>
  return %y : tensor<1x8xui8>
}

// CHECK-LABEL: func.func @entry
func.func @entry(%x: i8, %v: vector<16xi8>) -> (i8, vector<16xi8>) {
  // CHECK: onnxq.entry %{{.*}} of dense<7> : tensor<256xi8> : i8
  %y = onnxq.entry %x of dense<7> : tensor<256xi8> : i8
  // CHECK: onnxq.entry %{{.*}} of dense<7> : tensor<256xi8> : vector<16xi8>
  %w = onnxq.entry %v of dense<7> : tensor<256xi8> : vector<16xi8>
  return %y, %w : i8, vector<16xi8>
}

// CHECK-LABEL: func.func @requantize
func.func @requantize(%acc: i32, %s: f32, %z: i32, %x: vector<8xf32>, %p: vector<8xi32>) -> (i8, vector<8xi16>, vector<8xf32>) {
  // CHECK: onnxq.requantize %{{.*}} scale %{{.*}} zero_point %{{.*}} in[0, 255] : i32 -> i8
  %y = onnxq.requantize %acc scale %s zero_point %z in [0, 255] : i32 -> i8
  // CHECK: onnxq.requantize %{{.*}} zero_point %{{.*}} in[-32768, 32767] {fits_i32} : vector<8xf32> -> vector<8xi16>
  %v = onnxq.requantize %x zero_point %p in [-32768, 32767] {fits_i32} : vector<8xf32> -> vector<8xi16>
  // CHECK: onnxq.requantize %{{.*}} zero_point %{{.*}} in[-255, 127] : vector<8xf32> -> vector<8xf32>
  %w = onnxq.requantize %x zero_point %p in [-255, 127] : vector<8xf32> -> vector<8xf32>
  return %y, %v, %w : i8, vector<8xi16>, vector<8xf32>
}
