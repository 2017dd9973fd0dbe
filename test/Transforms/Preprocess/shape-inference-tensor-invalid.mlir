// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics

// What types can't show: contents of constants and dimensions that a rule finds
// out do not go together.

func.func @reshape_count(%x: tensor<2x3xf32>) {
  %s = onnx.Constant dense<[4, -1]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects a shape of 6 elements, but got [4, -1]}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_size(%x: tensor<2x3xf32>) {
  %s = onnx.Constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects a shape of 6 elements, but got [2, 4]}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_two_open(%x: tensor<2x3xf32>) {
  %s = onnx.Constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects at most one dimension of -1, but got another at 1}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_negative(%x: tensor<2x3xf32>) {
  %s = onnx.Constant dense<[-9223372036854775808, 1]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects dimensions of -1 or more, but got -9223372036854775808}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_copies_beyond(%x: tensor<2xf32>) {
  %s = onnx.Constant dense<[2, 0]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects dimensions of 0 within rank 1, but got one at 1}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_zero_and_open(%x: tensor<2x0xf32>) {
  %s = onnx.Constant dense<[0, -1]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Reshape' op expects no dimension of -1 beside one of 0 with allowzero, but got it at 1}}
  %y = "onnx.Reshape"(%x, %s) {allowzero = 1 : si64} : (tensor<2x0xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @reshape_rank(%x: tensor<*xf32>, %s: tensor<9223372036854775807xi64>) {
  // expected-error@+1 {{'onnx.Reshape' op expects a result of rank at most 64, but got 9223372036854775807}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<*xf32>, tensor<9223372036854775807xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @squeeze_size(%x: tensor<2x3xf32>) {
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{'onnx.Squeeze' op expects dimension 1 to be 1, but got 3}}
  %y = "onnx.Squeeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @squeeze_axis(%x: tensor<1x3xf32>) {
  %axes = onnx.Constant dense<2> : tensor<1xi64>
  // expected-error@+1 {{'onnx.Squeeze' op expects axes in [-2, 1], but got 2}}
  %y = "onnx.Squeeze"(%x, %axes) : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @unsqueeze_twice(%x: tensor<3xf32>) {
  %axes = onnx.Constant dense<[0, -3]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Unsqueeze' op expects distinct axes, but got 0 twice}}
  %y = "onnx.Unsqueeze"(%x, %axes) : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @unsqueeze_rank(%x: tensor<3xf32>, %axes: tensor<9223372036854775807xi64>) {
  // expected-error@+1 {{'onnx.Unsqueeze' op expects a result of rank at most 64}}
  %y = "onnx.Unsqueeze"(%x, %axes) : (tensor<3xf32>, tensor<9223372036854775807xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @transpose_rank(%x: tensor<2x3xf32>) {
  %a = "onnx.Identity"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{'onnx.Transpose' op expects perm of 2 entries, but got 3}}
  %y = "onnx.Transpose"(%a) {perm = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @concat_sizes(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{'onnx.Concat' op expects dimension 0 of operand 1 to be 2, but got 3}}
  %z = "onnx.Concat"(%x, %y) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @concat_overflow(%x: tensor<9223372036854775807xf32>) {
  // expected-error@+1 {{'onnx.Concat' op infers dimension 0 of result 0 larger than 64 bits}}
  %z = "onnx.Concat"(%x, %x) {axis = 0 : si64} : (tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @split_sum(%x: tensor<6xf32>) {
  %sizes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Split' op expects pieces of 6 in all, but got 5}}
  %y:2 = "onnx.Split"(%x, %sizes) : (tensor<6xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return
}

// -----

func.func @split_too_small(%x: tensor<2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Split' op expects a dimension that splits into 4 pieces, but got 2}}
  %y:4 = "onnx.Split"(%x, %none) {num_outputs = 4 : si64} : (tensor<2xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return
}

// -----

func.func @expand_shape(%x: tensor<3xf32>) {
  %s = onnx.Constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Expand' op expects a shape that 'tensor<3xf32>' broadcasts with, but got [2, 4]}}
  %y = "onnx.Expand"(%x, %s) : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @expand_negative(%x: tensor<3xf32>) {
  %s = onnx.Constant dense<[-2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Expand' op expects dimensions of 0 or more, but got -2}}
  %y = "onnx.Expand"(%x, %s) : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @tile_negative(%x: tensor<3xf32>) {
  %r = onnx.Constant dense<-1> : tensor<1xi64>
  // expected-error@+1 {{'onnx.Tile' op expects repeats of 0 or more, but got -1}}
  %y = "onnx.Tile"(%x, %r) : (tensor<3xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @slice_step(%x: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %i = onnx.Constant dense<0> : tensor<1xi64>
  // expected-error@+1 {{'onnx.Slice' op expects steps other than 0, but got 0 at 0}}
  %y = "onnx.Slice"(%x, %i, %i, %none, %i) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @slice_axis(%x: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %i = onnx.Constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{'onnx.Slice' op expects axes in [-1, 0], but got 1}}
  %y = "onnx.Slice"(%x, %i, %i, %i, %none) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @gather_nd_batch(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{'onnx.GatherND' op expects batch dimension 0 of indices to be 3, but got 2}}
  %y = "onnx.GatherND"(%x, %i) {batch_dims = 1 : si64} : (tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @one_hot_depth(%x: tensor<3xi64>, %v: tensor<2xf32>) {
  %d = onnx.Constant dense<-3> : tensor<i64>
  // expected-error@+1 {{'onnx.OneHot' op expects depth of 0 or more, but got -3}}
  %y = "onnx.OneHot"(%x, %d, %v) : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @pad_cuts_too_much(%x: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<[-2, -2]> : tensor<2xi64>
  // expected-error@+1 {{'onnx.Pad' op infers dimension 0 of result 0 as -1}}
  %y = "onnx.Pad"(%x, %p, %none, %none) : (tensor<3xf32>, tensor<2xi64>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @resize_scale(%x: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<0xFFC00000> : tensor<1xf32>
  // expected-error@+1 {{'onnx.Resize' op expects positive scales}}
  %y = "onnx.Resize"(%x, %none, %s, %none) : (tensor<3xf32>, none, tensor<1xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @resize_huge(%x: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<1.0e38> : tensor<1xf32>
  // expected-error@+1 {{'onnx.Resize' op infers dimension 0 of result 0 larger than 64 bits}}
  %y = "onnx.Resize"(%x, %none, %s, %none) : (tensor<3xf32>, none, tensor<1xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @grid_sample_batch(%x: tensor<2x3x8xf32>, %g: tensor<3x4x1xf32>) {
  // expected-error@+1 {{'onnx.GridSample' op expects grid of batch 2, but got 3}}
  %y = "onnx.GridSample"(%x, %g) : (tensor<2x3x8xf32>, tensor<3x4x1xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @affine_grid_batch(%t: tensor<2x2x3xf32>) {
  %s = onnx.Constant dense<[3, 1, 4, 4]> : tensor<4xi64>
  // expected-error@+1 {{'onnx.AffineGrid' op expects theta of batch 3, but got 2}}
  %y = "onnx.AffineGrid"(%t, %s) : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

func.func @tf_idf_overflow(%x: tensor<6xi64>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op infers dimension 0 of result 0 larger than 64 bits}}
  %y = "onnx.TfIdfVectorizer"(%x) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [9223372036854775807], pool_int64s = [5]} : (tensor<6xi64>) -> tensor<*xf32>
  onnx.Return
}
