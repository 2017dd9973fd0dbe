// What lies between requantizations becomes shorter.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-fold-requantize --split-input-file | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64" --onnxq-fold-requantize --split-input-file | FileCheck %s --check-prefixes=CHECK,PLAIN

// Dequantized, clipped to 0 and 6, requantized with the same scale: 6 / 0.05 is
// 120, so it is one requantization to bounds from 3 to 123.
// CHECK-LABEL: func.func @clip
// CHECK: ^bb0(%[[ACC:.*]]: i32):
// CHECK: %[[THREE:.*]] = arith.constant 3 : i32
// CHECK-NEXT: %[[Y:.*]] = onnxq.requantize %[[ACC]] scale %{{.*}} zero_point %[[THREE]] in[3, 123] {fits_i32} : i32 -> i8
// CHECK-NEXT: onnxq.yield %[[Y]]
func.func @clip(%x: tensor<4x8xi8>, %w: tensor<1x8x6xi8>, %e: tensor<4x6xi8>) -> tensor<4x6xi8> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %scale = arith.constant 0.05 : f32
  %three = arith.constant 3 : i32
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) outs(%e : tensor<4x6xi8>) {
  ^bb0(%acc: i32):
    %q = onnxq.requantize %acc scale %scale zero_point %three in [0, 255] : i32 -> i8
    %wide = arith.extui %q : i8 to i32
    %less = arith.subi %wide, %three : i32
    %f = arith.sitofp %less : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %max = arith.maximumf %d, %zero : f32
    %min = arith.minimumf %max, %six : f32
    %v = arith.divf %min, %scale : f32
    %q2 = onnxq.requantize %v zero_point %three in [0, 255] : f32 -> i8
    onnxq.yield %q2 : i8
  } -> tensor<4x6xi8>
  return %y : tensor<4x6xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// An int8 from memory, whose negative half is cut off: neither product nor
// division is left.
// CHECK-LABEL: func.func @relu
// CHECK: ^bb0(%[[X:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: %[[W:.*]] = arith.extsi %[[X]]
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[W]]
// CHECK-NEXT: %[[Y:.*]] = onnxq.requantize %[[F]] zero_point %{{.*}} in[0, 127] : f32 -> i8
// CHECK-NEXT: linalg.yield %[[Y]] : i8
func.func @relu(%x: tensor<8xi8>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %zero = arith.constant 0.0 : f32
  %point = arith.constant 0 : i32
  %scale = arith.constant 0.3 : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xi8>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: i8, %out: i8):
    %wide = arith.extsi %in : i8 to i32
    %f = arith.sitofp %wide : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %max = arith.maximumf %d, %zero : f32
    %v = arith.divf %max, %scale : f32
    %q = onnxq.requantize %v zero_point %point in [-128, 127] : f32 -> i8
    linalg.yield %q : i8
  } -> tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Another scale: two roundings stay. What was requantized isn't narrowed and
// widened, and its zero point is part of the first.
// CHECK-LABEL: func.func @kept
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK: %[[R:.*]] = onnxq.requantize %[[X]] zero_point %{{.*}} in[-7, 248] : f32 -> f32
// CHECK-NOT: arith.extui
// CHECK: %[[D:.*]] = arith.mulf %[[R]]
// FMA: %[[LOW:.*]] = arith.mulf %[[D]]
// FMA: %[[Q:.*]] = math.fma %[[D]], %{{.*}}, %[[LOW]]
// PLAIN: %[[Q:.*]] = arith.divf %[[D]]
// CHECK: onnxq.requantize %[[Q]] zero_point %{{.*}} in[0, 255] : f32 -> i8
func.func @kept(%x: tensor<8xf32>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %scale = arith.constant 0.3 : f32
  %other = arith.constant 0.37 : f32
  %seven = arith.constant 7 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: f32, %out: i8):
    %q = onnxq.requantize %in zero_point %seven in [0, 255] : f32 -> i8
    %wide = arith.extui %q : i8 to i32
    %less = arith.subi %wide, %seven : i32
    %f = arith.sitofp %less : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %v = arith.divf %d, %other : f32
    %q2 = onnxq.requantize %v zero_point %seven in [0, 255] : f32 -> i8
    linalg.yield %q2 : i8
  } -> tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What is read with another sign than its bounds have is narrowed.
// CHECK-LABEL: func.func @other_sign
// CHECK: onnxq.requantize {{.*}} in[0, 255] : f32 -> i8
// CHECK: arith.extsi
func.func @other_sign(%x: tensor<8xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %seven = arith.constant 7 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = onnxq.requantize %in zero_point %seven in [0, 255] : f32 -> i8
    %wide = arith.extsi %q : i8 to i32
    %f = arith.sitofp %wide : i32 to f32
    linalg.yield %f : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// NaN would become the raised bound: a Relu of any float stays. A minimum
// raises nothing, and neither does a Relu to the type's own bound.
// CHECK-LABEL: func.func @any_float
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: i8):
// CHECK: %[[R:.*]] = arith.maximumf %[[X]]
// CHECK: onnxq.requantize %[[R]] zero_point %{{.*}} in[-128, 20] : f32 -> i8
// CHECK: onnxq.requantize %[[Y]] zero_point %{{.*}} in[0, 255] : f32 -> i8
func.func @any_float(%x: tensor<8xf32>, %y: tensor<8xf32>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %zero = arith.constant 0.0 : f32
  %point = arith.constant 0 : i32
  %limit = arith.constant 20.25 : f32
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: f32, %other: f32, %out: i8):
    %max = arith.maximumf %in, %zero : f32
    %min = arith.minimumf %max, %limit : f32
    %a = onnxq.requantize %min zero_point %point in [-128, 127] : f32 -> i8
    %relu = arith.maximumf %other, %zero : f32
    %b = onnxq.requantize %relu zero_point %point in [0, 255] : f32 -> i8
    %c = arith.xori %a, %b : i8
    linalg.yield %c : i8
  } -> tensor<8xi8>
  return %s : tensor<8xi8>
}

// -----

// The quotient of any float: two products where they can be added at once. The
// maximum never meets anything but numbers, and the epilogue operands' elements are all
// the same.
// CHECK-LABEL: func.func @float_to_int8
// CHECK: onnxq.contract {{.*}} epilogue(%{{[^,]*}} : tensor<6xf32>) outs
// CHECK: ^bb0(%[[ACC:.*]]: i32, %[[FACTOR:.*]]: f32):
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %[[FACTOR]] : f32
// CHECK-NOT: arith.maximumf
// CHECK: %[[M:.*]] = arith.select
// CHECK: %[[S:.*]] = arith.mulf %[[M]], %[[SPLAT:.*]] : f32
// FMA-NOT: arith.divf
// FMA: %[[LOW:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// FMA: %[[Q:.*]] = math.fma %[[S]], %{{.*}}, %[[LOW]] : f32
// PLAIN: %[[Q:.*]] = arith.divf %[[S]]
// CHECK: onnxq.requantize %[[Q]]
func.func @float_to_int8(%x: tensor<4x8xi8>, %w: tensor<1x8x6xi8>, %e: tensor<4x6xi8>) -> tensor<4x6xi8> {
  %zero = arith.constant 0.0 : f32
  %point = arith.constant 3 : i32
  %scale = arith.constant 0.0123 : f32
  %factors = arith.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]> : tensor<6xf32>
  %same = arith.constant dense<0.7> : tensor<1x1xf32>
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) epilogue(%factors, %same : tensor<6xf32>, tensor<1x1xf32>) outs(%e : tensor<4x6xi8>) attributes {epilogue_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (0, 0)>]} {
  ^bb0(%acc: i32, %factor: f32, %only: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %max = arith.maximumf %m, %zero : f32
    %p = arith.mulf %max, %only : f32
    %q = arith.divf %p, %scale : f32
    %b = onnxq.requantize %q zero_point %point in [0, 255] : f32 -> i8
    onnxq.yield %b : i8
  } -> tensor<4x6xi8>
  return %y : tensor<4x6xi8>
}

// -----

// Factors of run time may not be finite: the maximum stays.
// CHECK-LABEL: func.func @unknown_factor
// CHECK: arith.maximumf
func.func @unknown_factor(%x: tensor<4x8xi8>, %w: tensor<1x8x6xi8>, %f: tensor<6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) epilogue(%f : tensor<6xf32>) outs(%e : tensor<4x6xf32>) attributes {epilogue_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %max = arith.maximumf %m, %zero : f32
    onnxq.yield %max : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Accumulators times 0.5 fit 32 bits once they are rounded. Times 1 the largest
// one is rounded to 2^31, which doesn't.
// CHECK-LABEL: func.func @fits
// CHECK: onnxq.requantize {{.*}} in[-128, 127] {fits_i32} : i32 -> i8
// CHECK: onnxq.requantize {{.*}} in[-128, 127] : i32 -> i8
func.func @fits(%x: tensor<4x8xi8>, %w: tensor<1x8x2xi8>, %e: tensor<4x2xi8>) -> (tensor<4x2xi8>, tensor<4x2xi8>) {
  %zero = arith.constant 0 : i32
  %halves = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %ones = arith.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x2xi8>) epilogue(%halves : tensor<2xf32>) outs(%e : tensor<4x2xi8>) attributes {epilogue_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %q = onnxq.requantize %acc scale %factor zero_point %zero in [-128, 127] : i32 -> i8
    onnxq.yield %q : i8
  } -> tensor<4x2xi8>
  %z = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x2xi8>) epilogue(%ones : tensor<2xf32>) outs(%e : tensor<4x2xi8>) attributes {epilogue_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %q = onnxq.requantize %acc scale %factor zero_point %zero in [-128, 127] : i32 -> i8
    onnxq.yield %q : i8
  } -> tensor<4x2xi8>
  return %y, %z : tensor<4x2xi8>, tensor<4x2xi8>
}
