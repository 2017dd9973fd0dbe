// What lies between quantized bytes becomes shorter.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-fold-bytes --split-input-file | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64" --onnxq-fold-bytes --split-input-file | FileCheck %s --check-prefixes=CHECK,PLAIN

// Dequantized, clipped to 0 and 6, quantized with the same scale: 6 / 0.05 is
// 120, so it clamps to that.
// CHECK-LABEL: func.func @clip
// CHECK: ^bb0(%[[ACC:.*]]: i32):
// CHECK-NOT: arith.maximumf
// CHECK: %[[R:.*]] = math.roundeven
// CHECK: %[[S:.*]] = arith.addf %[[R]]
// CHECK: %[[LOW:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf ogt, %[[S]], %[[LOW]]
// CHECK: %[[L:.*]] = arith.select
// CHECK: %[[HIGH:.*]] = arith.constant 1.200000e+02 : f32
// CHECK: arith.cmpf olt, %[[L]], %[[HIGH]]
// CHECK: arith.fptosi
// CHECK: %[[Y:.*]] = arith.trunci
// CHECK: onnxq.yield %[[Y]]
func.func @clip(%x: tensor<4x8xi8>, %w: tensor<1x8x6xi8>, %e: tensor<4x6xi8>) -> tensor<4x6xi8> {
  %zero = arith.constant 0.0 : f32
  %top = arith.constant 255.0 : f32
  %six = arith.constant 6.0 : f32
  %scale = arith.constant 0.05 : f32
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) outs(%e : tensor<4x6xi8>) {
  ^bb0(%acc: i32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %scale : f32
    %r = math.roundeven %m : f32
    %s = arith.addf %r, %zero : f32
    %c0 = arith.cmpf ogt, %s, %zero : f32
    %l = arith.select %c0, %s, %zero : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %q = arith.trunci %i : i32 to i8
    %wide = arith.extui %q : i8 to i32
    %f = arith.sitofp %wide : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %max = arith.maximumf %d, %zero : f32
    %min = arith.minimumf %max, %six : f32
    %v = arith.divf %min, %scale : f32
    %r2 = math.roundeven %v : f32
    %c2 = arith.cmpf ogt, %r2, %zero : f32
    %l2 = arith.select %c2, %r2, %zero : f32
    %c3 = arith.cmpf olt, %l2, %top : f32
    %h2 = arith.select %c3, %l2, %top : f32
    %i2 = arith.fptosi %h2 : f32 to i32
    %q2 = arith.trunci %i2 : i32 to i8
    onnxq.yield %q2 : i8
  } -> tensor<4x6xi8>
  return %y : tensor<4x6xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A byte from memory, with its sign, whose negative half is cut off.
// CHECK-LABEL: func.func @relu
// CHECK: ^bb0(%[[X:.*]]: i8, %{{.*}}: i8):
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK: %[[Y:.*]] = arith.maxsi %[[X]], %[[ZERO]] : i8
// CHECK-NEXT: linalg.yield %[[Y]] : i8
func.func @relu(%x: tensor<8xi8>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.3 : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xi8>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: i8, %out: i8):
    %wide = arith.extsi %in : i8 to i32
    %f = arith.sitofp %wide : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %max = arith.maximumf %d, %zero : f32
    %v = arith.divf %max, %scale : f32
    %r = math.roundeven %v : f32
    %i = arith.fptosi %r : f32 to i32
    %q = arith.trunci %i : i32 to i8
    linalg.yield %q : i8
  } -> tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Another scale: no clamp, but all bytes are the same with a reciprocal. A byte
// that depends on a float stays. One that was a whole number isn't narrowed and
// widened.
// CHECK-LABEL: func.func @stays
// CHECK: ^bb0(%[[X:.*]]: i8, %[[Z:.*]]: f32, %{{.*}}: i8):
// CHECK: arith.extui %[[X]]
// CHECK-NOT: arith.divf
// CHECK: %[[R:.*]] = math.roundeven
// CHECK: %[[L:.*]] = arith.select
// CHECK: %[[H:.*]] = arith.select
// CHECK-NOT: arith.extui
// CHECK: %[[SEVEN:.*]] = arith.constant 7.000000e+00 : f32
// CHECK: %[[D:.*]] = arith.subf %[[H]], %[[SEVEN]]
// CHECK: arith.addf %[[D]], %[[Z]]
func.func @stays(%x: tensor<8xi8>, %z: tensor<8xf32>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %zero = arith.constant 0.0 : f32
  %top = arith.constant 255.0 : f32
  %scale = arith.constant 0.3 : f32
  %other = arith.constant 0.37 : f32
  %seven = arith.constant 7 : i32
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %z : tensor<8xi8>, tensor<8xf32>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: i8, %add: f32, %out: i8):
    %wide = arith.extui %in : i8 to i32
    %f = arith.sitofp %wide : i32 to f32
    %d = arith.mulf %f, %scale : f32
    %v = arith.divf %d, %other : f32
    %r = math.roundeven %v : f32
    %c0 = arith.cmpf ogt, %r, %zero : f32
    %l = arith.select %c0, %r, %zero : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %q = arith.trunci %i : i32 to i8
    %wide2 = arith.extui %q : i8 to i32
    %less = arith.subi %wide2, %seven : i32
    %f2 = arith.sitofp %less : i32 to f32
    %sum = arith.addf %f2, %add : f32
    %i2 = arith.fptosi %sum : f32 to i32
    %q2 = arith.trunci %i2 : i32 to i8
    linalg.yield %q2 : i8
  } -> tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A sum of two bytes: of all 65536 results some differ with a reciprocal, none
// with one more step, which takes an instruction of the target.
// CHECK-LABEL: func.func @add
// CHECK: ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %{{.*}}: i8):
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NOT: arith.maximumf
// CHECK: %[[RELU:.*]] = arith.select
// FMA-NOT: arith.divf
// FMA: %[[Q:.*]] = arith.mulf %[[RELU]], %[[INVERSE:.*]] : f32
// FMA: %[[REST:.*]] = math.fma %[[Q]], %{{.*}}, %[[RELU]] : f32
// FMA: math.fma %[[REST]], %{{.*}}, %[[Q]] : f32
// PLAIN: arith.divf %[[RELU]]
func.func @add(%x: tensor<8xi8>, %y: tensor<8xi8>, %e: tensor<8xi8>) -> tensor<8xi8> {
  %zero = arith.constant 0.0 : f32
  %top = arith.constant 255.0 : f32
  %a = arith.constant 0.3 : f32
  %b = arith.constant 0.3 : f32
  %c = arith.constant 0.6 : f32
  %seven = arith.constant 7 : i32
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: i8, %other: i8, %out: i8):
    %w0 = arith.extui %in : i8 to i32
    %f0 = arith.sitofp %w0 : i32 to f32
    %d0 = arith.mulf %f0, %a : f32
    %w1 = arith.extsi %other : i8 to i32
    %l1 = arith.subi %w1, %seven : i32
    %f1 = arith.sitofp %l1 : i32 to f32
    %d1 = arith.mulf %f1, %b : f32
    %sum = arith.addf %d0, %d1 : f32
    %relu = arith.maximumf %sum, %zero : f32
    %q = arith.divf %relu, %c : f32
    %r = math.roundeven %q : f32
    %c0 = arith.cmpf ogt, %r, %zero : f32
    %l = arith.select %c0, %r, %zero : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %byte = arith.trunci %i : i32 to i8
    linalg.yield %byte : i8
  } -> tensor<8xi8>
  return %s : tensor<8xi8>
}

// -----

// The quotient of any float, rounded to a byte: two products where they can be
// added at once. The maximum never meets anything but numbers, and the extras'
// elements are all the same.
// CHECK-LABEL: func.func @float_to_byte
// CHECK: onnxq.contract {{.*}} extras(%{{[^,]*}} : tensor<6xf32>) outs
// CHECK: ^bb0(%[[ACC:.*]]: i32, %[[FACTOR:.*]]: f32):
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %[[FACTOR]] : f32
// CHECK-NOT: arith.maximumf
// CHECK: %[[M:.*]] = arith.select
// CHECK: %[[S:.*]] = arith.mulf %[[M]], %[[SPLAT:.*]] : f32
// FMA-NOT: arith.divf
// FMA: %[[LOW:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// FMA: %[[Q:.*]] = math.fma %[[S]], %{{.*}}, %[[LOW]] : f32
// PLAIN: %[[Q:.*]] = arith.divf %[[S]]
// CHECK: math.roundeven %[[Q]]
func.func @float_to_byte(%x: tensor<4x8xi8>, %w: tensor<1x8x6xi8>, %e: tensor<4x6xi8>) -> tensor<4x6xi8> {
  %zero = arith.constant 0.0 : f32
  %top = arith.constant 255.0 : f32
  %point = arith.constant 3.0 : f32
  %scale = arith.constant 0.0123 : f32
  %factors = arith.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]> : tensor<6xf32>
  %same = arith.constant dense<0.7> : tensor<1x1xf32>
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) extras(%factors, %same : tensor<6xf32>, tensor<1x1xf32>) outs(%e : tensor<4x6xi8>) attributes {extra_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (0, 0)>]} {
  ^bb0(%acc: i32, %factor: f32, %only: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %max = arith.maximumf %m, %zero : f32
    %p = arith.mulf %max, %only : f32
    %q = arith.divf %p, %scale : f32
    %r = math.roundeven %q : f32
    %s = arith.addf %r, %point : f32
    %c0 = arith.cmpf ogt, %s, %zero : f32
    %l = arith.select %c0, %s, %zero : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %b = arith.trunci %i : i32 to i8
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
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x6xi8>) extras(%f : tensor<6xf32>) outs(%e : tensor<4x6xf32>) attributes {extra_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %max = arith.maximumf %m, %zero : f32
    onnxq.yield %max : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Sums times 0.5 fit 32 bits once they are rounded. Times 1 the largest one is
// rounded to 2^31, which doesn't.
// CHECK-LABEL: func.func @fits
// CHECK: math.roundeven %{{.*}} {onnxq.fits_i32}
func.func @fits(%x: tensor<4x8xi8>, %w: tensor<1x8x2xi8>, %e: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %bottom = arith.constant -128.0 : f32
  %top = arith.constant 127.0 : f32
  %factors = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x2xi8>) extras(%factors : tensor<2xf32>) outs(%e : tensor<4x2xi8>) attributes {extra_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %r = math.roundeven %m : f32
    %c0 = arith.cmpf ogt, %r, %bottom : f32
    %l = arith.select %c0, %r, %bottom : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %b = arith.trunci %i : i32 to i8
    onnxq.yield %b : i8
  } -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}

// -----

// CHECK-LABEL: func.func @may_not_fit
// CHECK-NOT: onnxq.fits_i32
func.func @may_not_fit(%x: tensor<4x8xi8>, %w: tensor<1x8x2xi8>, %e: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %bottom = arith.constant -128.0 : f32
  %top = arith.constant 127.0 : f32
  %factors = arith.constant dense<[1.0, 0.25]> : tensor<2xf32>
  %y = onnxq.contract ins(%x, %w : tensor<4x8xi8>, tensor<1x8x2xi8>) extras(%factors : tensor<2xf32>) outs(%e : tensor<4x2xi8>) attributes {extra_maps = [affine_map<(m, n) -> (n)>]} {
  ^bb0(%acc: i32, %factor: f32):
    %a = arith.sitofp %acc : i32 to f32
    %m = arith.mulf %a, %factor : f32
    %r = math.roundeven %m : f32
    %c0 = arith.cmpf ogt, %r, %bottom : f32
    %l = arith.select %c0, %r, %bottom : f32
    %c1 = arith.cmpf olt, %l, %top : f32
    %h = arith.select %c1, %l, %top : f32
    %i = arith.fptosi %h : f32 to i32
    %b = arith.trunci %i : i32 to i8
    onnxq.yield %b : i8
  } -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}
