// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// Pad C1
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Pad' op expects mode of constant, edge, reflect, wrap, but got 'mirror' (C1)}}
  %y = "onnx.Pad"(%a0, %a1, %none, %none) {mode = "mirror"} : (tensor<4xf32>, tensor<2xi64>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Pad C2
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<2xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Pad' op expects pads of 4 elements, but got 2 (C2)}}
  %y = "onnx.Pad"(%a0, %a1, %none, %none) : (tensor<4x4xf32>, tensor<2xi64>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Pad C3
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<2xi64>, %a2: tensor<2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Pad' op expects constant_value of one element, but got 'tensor<2xf32>' (C3)}}
  %y = "onnx.Pad"(%a0, %a1, %a2, %none) : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Pad C4
func.func @invalid(%a0: tensor<4xf32>, %a1: tensor<4xi64>, %a3: tensor<2xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Pad' op expects axes of at most 1 elements, but got 2 (C4)}}
  %y = "onnx.Pad"(%a0, %a1, %none, %a3) : (tensor<4xf32>, tensor<4xi64>, none, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// CenterCropPad C1
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<2xi64>) {
  // expected-error@+1 {{'onnx.CenterCropPad' op expects distinct axes, but got 1 twice (C1)}}
  %y = "onnx.CenterCropPad"(%a0, %a1) {axes = [1, -1]} : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// CenterCropPad C1
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<1xi64>) {
  // expected-error@+1 {{'onnx.CenterCropPad' op expects axes in [-2, 1], but got 2 (C1)}}
  %y = "onnx.CenterCropPad"(%a0, %a1) {axes = [2]} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// CenterCropPad C2
func.func @invalid(%a0: tensor<4x4xf32>, %a1: tensor<1xi64>) {
  // expected-error@+1 {{'onnx.CenterCropPad' op expects shape of 2 elements, but got 1 (C2)}}
  %y = "onnx.CenterCropPad"(%a0, %a1) : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C1
func.func @invalid(%a0: tensor<1x3x8x8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects one of scales and sizes, but got none (C1)}}
  %y = "onnx.Resize"(%a0, %none, %none, %none) : (tensor<1x3x8x8xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C1
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>, %a3: tensor<4xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects one of scales and sizes, but got both (C1)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %a3) : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C2
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects coordinate_transformation_mode of half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn, tf_crop_and_resize, but got 'corners' (C2)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {coordinate_transformation_mode = "corners"} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C3
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects mode of nearest, linear, cubic, but got 'bilinear' (C3)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {mode = "bilinear"} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C4
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects nearest_mode of round_prefer_floor, round_prefer_ceil, floor, ceil, but got 'round' (C4)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {nearest_mode = "round"} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C5
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects keep_aspect_ratio_policy of stretch, not_larger, not_smaller, but got 'keep' (C5)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {keep_aspect_ratio_policy = "keep"} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C6
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects axes in [-4, 3], but got 4 (C6)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {axes = [0, 1, 2, 4]} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C7
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects scales of 2 elements, but got 4 (C7)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {axes = [2, 3]} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C8
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects roi for tf_crop_and_resize, but got none (C8)}}
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x8x8xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// Resize C8
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error@+1 {{'onnx.Resize' op expects roi of 8 elements, but got 4 (C8)}}
  %y = "onnx.Resize"(%a0, %a1, %a2, %none) : (tensor<1x3x8x8xf32>, tensor<4xf32>, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// GridSample C1
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x5x2xf32>) {
  // expected-error@+1 {{'onnx.GridSample' op expects mode of linear, nearest, cubic, but got 'bilinear' (C1)}}
  %y = "onnx.GridSample"(%a0, %a1) {mode = "bilinear"} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GridSample C2
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x5x2xf32>) {
  // expected-error@+1 {{'onnx.GridSample' op expects padding_mode of zeros, border, reflection, but got 'wrap' (C2)}}
  %y = "onnx.GridSample"(%a0, %a1) {padding_mode = "wrap"} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GridSample C3
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x2xf32>) {
  // expected-error@+1 {{'onnx.GridSample' op expects grid of rank 4, but got rank 3 (C3)}}
  %y = "onnx.GridSample"(%a0, %a1) : (tensor<1x3x8x8xf32>, tensor<1x4x2xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// GridSample C4
func.func @invalid(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x5x3xf32>) {
  // expected-error@+1 {{'onnx.GridSample' op expects grid with a last dimension of 2, but got 3 (C4)}}
  %y = "onnx.GridSample"(%a0, %a1) : (tensor<1x3x8x8xf32>, tensor<1x4x5x3xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// AffineGrid C1
func.func @invalid(%a0: tensor<1x2x4xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{'onnx.AffineGrid' op expects theta of 2x3 or 3x4 matrices, but got 'tensor<1x2x4xf32>' (C1)}}
  %y = "onnx.AffineGrid"(%a0, %a1) : (tensor<1x2x4xf32>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// AffineGrid C2
func.func @invalid(%a0: tensor<1x2x3xf32>, %a1: tensor<5xi64>) {
  // expected-error@+1 {{'onnx.AffineGrid' op expects size of 4 elements, but got 5 (C2)}}
  %y = "onnx.AffineGrid"(%a0, %a1) : (tensor<1x2x3xf32>, tensor<5xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// AffineGrid C2
func.func @invalid(%a0: tensor<*xf32>, %a1: tensor<6xi64>) {
  // expected-error@+1 {{'onnx.AffineGrid' op expects the number of elements of size in [4, 5], but got 6 (C2)}}
  %y = "onnx.AffineGrid"(%a0, %a1) : (tensor<*xf32>, tensor<6xi64>) -> tensor<*xf32>
  onnx.Return
}

// -----

// ImageDecoder C1
func.func @invalid(%a0: tensor<2x2xui8>) {
  // expected-error@+1 {{'onnx.ImageDecoder' op expects encoded_stream of rank 1, but got rank 2 (C1)}}
  %y = "onnx.ImageDecoder"(%a0) : (tensor<2x2xui8>) -> tensor<*xui8>
  onnx.Return
}

// -----

// ImageDecoder C2
func.func @invalid(%a0: tensor<?xui8>) {
  // expected-error@+1 {{'onnx.ImageDecoder' op expects pixel_format of RGB, BGR, Grayscale, but got 'CMYK' (C2)}}
  %y = "onnx.ImageDecoder"(%a0) {pixel_format = "CMYK"} : (tensor<?xui8>) -> tensor<*xui8>
  onnx.Return
}

// -----

// TfIdfVectorizer C1
func.func @invalid(%a0: tensor<1x1x12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects the rank of X in [1, 2], but got 3 (C1)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<1x1x12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C2
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects mode of TF, IDF, TFIDF, but got 'DF' (C2)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "DF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C3
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects 1 <= min_gram_length <= max_gram_length and a max_skip_count of 0 or more, but got 2, 1 and 0 (C3)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 2 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C4
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects a pool of integers, but got one of strings (C4)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_strings = ["a"]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C5
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects ngram_counts of at least 2 entries, but got 1 (C5)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 2 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C5
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects ngram_counts to ascend from 0 to 2, but got [3] (C5)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [3], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C6
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects ngram_indexes of 0 or more, but got [0, -1] (C6)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, -1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// TfIdfVectorizer C7
func.func @invalid(%a0: tensor<12xi32>) {
  // expected-error@+1 {{'onnx.TfIdfVectorizer' op expects 2 weights, but got 1 (C7)}}
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7], weights = [1.0 : f32]} : (tensor<12xi32>) -> tensor<*xf32>
  onnx.Return
}
