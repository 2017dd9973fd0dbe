// Loops and kernels of floats that end in bytes narrow whole vectors.
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 && FileCheck %s --check-prefix=AVX512 < %t.s

// Factors of channels: four vectors at a time, 40 channels are one such and a
// shorter one.
// CHECK-LABEL: kernel_generic
// CHECK-NOT: vroundps
// CHECK-DAG: vcvtps2dq {{.*}}%ymm
// CHECK-DAG: vpackssdw {{.*}}%ymm
// CHECK-DAG: vpackuswb {{.*}}%ymm
// CHECK-DAG: vpackuswb {{.*}}%xmm
// AVX512-LABEL: kernel_generic
// AVX512: vcvtps2dq {{.*}}%ymm
// Columns of a depthwise convolution.
// CHECK-LABEL: kernel_window
// CHECK: vfmadd231ps {{.*}}%ymm
// CHECK-NOT: vroundps
// CHECK-DAG: vpackssdw {{.*}}%ymm
// CHECK-DAG: vpackuswb {{.*}}%ymm
// Rows of a product.
// CHECK-LABEL: kernel_contract
// CHECK-NOT: vroundps
// CHECK: vpackuswb {{.*}}%xmm
func.func @main_graph(%x: tensor<1x24x24x40xf32>, %g: tensor<1x1x1x40xf32>, %i: tensor<1x16x20x20xf32>, %a: tensor<64x32xf32>) -> (tensor<1x24x24x40xui8>, tensor<1x16x20x20xui8>, tensor<64x48xui8>) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %zero = onnx.Constant dense<128> : tensor<ui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %m = "onnx.Mul"(%x, %g) : (tensor<1x24x24x40xf32>, tensor<1x1x1x40xf32>) -> tensor<1x24x24x40xf32>
  %y = "onnx.QuantizeLinear"(%m, %s, %zero) : (tensor<1x24x24x40xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x24x24x40xui8>
  %w = onnx.Constant dense<0.5> : tensor<16x1x3x3xf32>
  %c = "onnx.Conv"(%i, %w, %none) {group = 16 : si64, pads = [1, 1, 1, 1]} : (tensor<1x16x20x20xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x20x20xf32>
  %z = "onnx.QuantizeLinear"(%c, %s, %zero) : (tensor<1x16x20x20xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x20x20xui8>
  %v = onnx.Constant dense<0.5> : tensor<32x48xf32>
  %p = "onnx.MatMul"(%a, %v) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %q = "onnx.QuantizeLinear"(%p, %s, %zero) : (tensor<64x48xf32>, tensor<f32>, tensor<ui8>) -> tensor<64x48xui8>
  onnx.Return %y, %z, %q : tensor<1x24x24x40xui8>, tensor<1x16x20x20xui8>, tensor<64x48xui8>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
