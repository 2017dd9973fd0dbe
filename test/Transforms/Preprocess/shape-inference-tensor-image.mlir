// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// Padding, cropping, resizing and sampling; and encoded data.

// CHECK-LABEL: @pad
// CHECK: "onnx.Pad"({{.*}}onnx_dim_params = ["2:h+3"]{{.*}} -> tensor<1x3x?x7xf32>
// CHECK: "onnx.Pad"({{.*}}onnx_dim_params = ["2:h"]{{.*}} -> tensor<1x4x?x7xf32>
// CHECK: "onnx.Pad"({{.*}}) -> tensor<?x?x?x?xf32>
// CHECK: "onnx.Pad"({{.*}}) -> tensor<?x?xf32>
func.func @pad(%x: tensor<1x3x?x8xf32> {onnx.dim_params = "2:h"}, %p: tensor<8xi64>, %u: tensor<*xf32>, %q: tensor<4xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, -1, 0, 0, 2, 0]> : tensor<8xi64>
  %some = onnx.Constant dense<[0, 1, -1, 0]> : tensor<4xi64>
  %axes = onnx.Constant dense<[3, -3]> : tensor<2xi32>
  %a = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x3x?x8xf32>, tensor<8xi64>, none, none) -> tensor<*xf32>
  %b = "onnx.Pad"(%x, %some, %none, %axes) : (tensor<1x3x?x8xf32>, tensor<4xi64>, none, tensor<2xi32>) -> tensor<*xf32>
  %c = "onnx.Pad"(%x, %p, %none, %none) : (tensor<1x3x?x8xf32>, tensor<8xi64>, none, none) -> tensor<*xf32>
  %d = "onnx.Pad"(%u, %q, %none, %none) : (tensor<*xf32>, tensor<4xi64>, none, none) -> tensor<*xf32>
  onnx.Return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @center_crop_pad
// CHECK: "onnx.CenterCropPad"({{.*}}onnx_dim_params = ["1:n"]{{.*}} -> tensor<9x?x10xf32>
// CHECK: "onnx.CenterCropPad"({{.*}}) -> tensor<10x9xf32>
func.func @center_crop_pad(%x: tensor<20x?x3xf32> {onnx.dim_params = "1:n"}, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %shape = onnx.Constant dense<[10, 9]> : tensor<2xi64>
  %a = "onnx.CenterCropPad"(%x, %shape) {axes = [-1, 0]} : (tensor<20x?x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  %b = "onnx.CenterCropPad"(%u, %shape) : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

//===--- Resize -----------------------------------------------------------===//

// Whole and halved scales keep symbols; 10 * 0.7 is 7 in 32-bit floats.
// CHECK-LABEL: @resize_scales
// CHECK: "onnx.Resize"({{.*}}onnx_dim_params = ["0:n,2:2*h,3:floor((3*w)/2)"]{{.*}} -> tensor<?x7x?x?xf32>
// CHECK: "onnx.Resize"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x10x?x?xf32>
// CHECK: "onnx.Resize"({{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x10x?x?xf32>
func.func @resize_scales(%x: tensor<?x10x?x?xf32> {onnx.dim_params = "0:n,2:h,3:w"}, %s: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %all = onnx.Constant dense<[1.0, 0.7, 2.0, 1.5]> : tensor<4xf32>
  %odd = onnx.Constant dense<[0.3, 0.7]> : tensor<2xf32>
  %a = "onnx.Resize"(%x, %none, %all, %none) : (tensor<?x10x?x?xf32>, none, tensor<4xf32>, none) -> tensor<*xf32>
  %b = "onnx.Resize"(%x, %none, %odd, %none) {axes = [3, 2]} : (tensor<?x10x?x?xf32>, none, tensor<2xf32>, none) -> tensor<*xf32>
  %c = "onnx.Resize"(%x, %none, %s, %none) {axes = [2, 3]} : (tensor<?x10x?x?xf32>, none, tensor<2xf32>, none) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// Scales and a region of no elements are left out.
// CHECK-LABEL: @resize_sizes
// CHECK: "onnx.Resize"({{.*}}) -> tensor<1x3x17x5xf32>
// CHECK: "onnx.Resize"({{.*}}onnx_dim_params = ["2:h,3:w"]{{.*}} -> tensor<1x3x?x?xf32>
func.func @resize_sizes(%x: tensor<1x3x8x9xf32>, %like: tensor<1x3x?x?xf32> {onnx.dim_params = "2:h,3:w"}) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %empty = onnx.Constant dense<> : tensor<0xf32>
  %sizes = onnx.Constant dense<[1, 3, 17, 5]> : tensor<4xi64>
  %a = "onnx.Resize"(%x, %empty, %empty, %sizes) : (tensor<1x3x8x9xf32>, tensor<0xf32>, tensor<0xf32>, tensor<4xi64>) -> tensor<*xf32>
  %shape = "onnx.Shape"(%like) : (tensor<1x3x?x?xf32>) -> tensor<*xi64>
  %b = "onnx.Resize"(%x, %none, %none, %shape) : (tensor<1x3x8x9xf32>, none, none, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// 8x6 to at most, or at least, 9x9: the ratios are 9/8 and 9/6.
// CHECK-LABEL: @resize_policies
// CHECK: "onnx.Resize"({{.*}}keep_aspect_ratio_policy = "not_larger"{{.*}} -> tensor<1x9x7xf32>
// CHECK: "onnx.Resize"({{.*}}keep_aspect_ratio_policy = "not_smaller"{{.*}} -> tensor<1x12x9xf32>
// CHECK: "onnx.Resize"({{.*}}keep_aspect_ratio_policy = "not_smaller"{{.*}} -> tensor<1x?x?xf32>
func.func @resize_policies(%x: tensor<1x8x6xf32>, %d: tensor<1x?x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %sizes = onnx.Constant dense<[9, 9]> : tensor<2xi64>
  %a = "onnx.Resize"(%x, %none, %none, %sizes) {axes = [1, 2], keep_aspect_ratio_policy = "not_larger"} : (tensor<1x8x6xf32>, none, none, tensor<2xi64>) -> tensor<*xf32>
  %b = "onnx.Resize"(%x, %none, %none, %sizes) {axes = [1, 2], keep_aspect_ratio_policy = "not_smaller"} : (tensor<1x8x6xf32>, none, none, tensor<2xi64>) -> tensor<*xf32>
  %c = "onnx.Resize"(%d, %none, %none, %sizes) {axes = [1, 2], keep_aspect_ratio_policy = "not_smaller"} : (tensor<1x?x6xf32>, none, none, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @resize_crops
// CHECK: "onnx.Resize"({{.*}}) {{.*}} -> tensor<?x?xf32>
// CHECK: "onnx.Resize"({{.*}}) {{.*}} -> tensor<3x3xf32>
func.func @resize_crops(%x: tensor<4x4xf32>, %roi: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %scales = onnx.Constant dense<2.0> : tensor<2xf32>
  %sizes = onnx.Constant dense<3> : tensor<2xi64>
  %a = "onnx.Resize"(%x, %roi, %scales, %none) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<4x4xf32>, tensor<4xf32>, tensor<2xf32>, none) -> tensor<*xf32>
  %b = "onnx.Resize"(%x, %roi, %none, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<4x4xf32>, tensor<4xf32>, none, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

//===--- Grids and encoded data -------------------------------------------===//

// CHECK-LABEL: @grid_sample
// CHECK: "onnx.GridSample"({{.*}}onnx_dim_params = ["0:n,2:h"]{{.*}} -> tensor<?x3x?x5xf32>
// CHECK: "onnx.GridSample"({{.*}}) -> tensor<2x?x4x5x6xf16>
func.func @grid_sample(%x: tensor<?x3x8x8xf32> {onnx.dim_params = "0:n"}, %g: tensor<?x?x5x2xf32> {onnx.dim_params = "1:h"}, %u: tensor<*xf16>, %v: tensor<2x4x5x6x3xf32>) -> (tensor<*xf32>, tensor<*xf16>) {
  %a = "onnx.GridSample"(%x, %g) : (tensor<?x3x8x8xf32>, tensor<?x?x5x2xf32>) -> tensor<*xf32>
  %b = "onnx.GridSample"(%u, %v) : (tensor<*xf16>, tensor<2x4x5x6x3xf32>) -> tensor<*xf16>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf16>
}

// CHECK-LABEL: @affine_grid
// CHECK: "onnx.AffineGrid"({{.*}}onnx_dim_params = ["1:h,2:w"]{{.*}} -> tensor<1x?x?x2xf32>
// CHECK: "onnx.AffineGrid"({{.*}}) -> tensor<?x?x?x?x3xf32>
func.func @affine_grid(%theta: tensor<1x2x3xf32>, %x: tensor<?x3x?x?xf32> {onnx.dim_params = "0:n,2:h,3:w"}, %t: tensor<?x3x4xf32>, %s: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %size = "onnx.Shape"(%x) : (tensor<?x3x?x?xf32>) -> tensor<*xi64>
  %a = "onnx.AffineGrid"(%theta, %size) : (tensor<1x2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  %b = "onnx.AffineGrid"(%t, %s) : (tensor<?x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @image_decoder
// CHECK: "onnx.ImageDecoder"({{.*}}) -> tensor<?x?x3xui8>
// CHECK: "onnx.ImageDecoder"({{.*}} -> tensor<?x?x1xui8>
func.func @image_decoder(%x: tensor<?xui8>) -> (tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>) {
  %a = "onnx.ImageDecoder"(%x) : (tensor<?xui8>) -> tensor<*x!onnx.Unknown>
  %b = "onnx.ImageDecoder"(%x) {pixel_format = "Grayscale"} : (tensor<?xui8>) -> tensor<*x!onnx.Unknown>
  onnx.Return %a, %b : tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @tf_idf
// CHECK: "onnx.TfIdfVectorizer"({{.*}} -> tensor<?x8xf32>
func.func @tf_idf(%x: tensor<?x6xi64> {onnx.dim_params = "0:n"}) -> tensor<*xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [7, 1], pool_int64s = [5, 7]} : (tensor<?x6xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
