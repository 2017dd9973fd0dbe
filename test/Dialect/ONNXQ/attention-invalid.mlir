// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

func.func @rank(%q: tensor<3x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x7x4xf32>, %e: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{expects elements of f32 in four dimensions, but got 'tensor<3x5x8xf32>' [C1]}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<3x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x7x4xf32>) outs(%e : tensor<1x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>} -> tensor<1x3x5x4xf32>
  return
}

// -----

func.func @heads(%q: tensor<1x?x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x7x4xf32>, %e: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{expects heads and widths that are known, but got 'tensor<1x?x5x8xf32>' [C2]}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x?x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x7x4xf32>) outs(%e : tensor<1x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>} -> tensor<1x3x5x4xf32>
  return
}

// -----

func.func @shares(%q: tensor<1x4x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x7x4xf32>, %e: tensor<1x4x5x4xf32>) {
  // expected-error@+1 {{expects heads that are a multiple of those of keys and values, but got 4, 3 and 3 [C2]}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x4x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x7x4xf32>) outs(%e : tensor<1x4x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>} -> tensor<1x4x5x4xf32>
  return
}

// -----

func.func @lengths(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x6x4xf32>, %e: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{expects tensors that go together}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x3x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x6x4xf32>) outs(%e : tensor<1x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>} -> tensor<1x3x5x4xf32>
  return
}

// -----

func.func @bias(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x7x4xf32>, %m: tensor<1x2x1x7xf32>, %e: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{expects a bias of the scores' sizes, but got 'tensor<1x2x1x7xf32>' [C4]}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x3x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x7x4xf32>) bias(%m : tensor<1x2x1x7xf32>) outs(%e : tensor<1x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>} -> tensor<1x3x5x4xf32>
  return
}

// -----

func.func @layouts(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x7x8xf32>, %v: tensor<1x3x7x4xf32>, %e: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{expects four entries of tokens_first, but got 3 [C5]}}
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x3x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x7x4xf32>) outs(%e : tensor<1x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false>} -> tensor<1x3x5x4xf32>
  return
}
