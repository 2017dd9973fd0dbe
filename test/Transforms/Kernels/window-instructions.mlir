// Depthwise convolutions of bytes take two rows of taps at once, in the widest
// vectors, and narrow four columns together with AVX-512. With AVX2 bytes are
// widened as they are loaded, and nothing but the upper half of a result moves
// between halves of a register. Scales show that no sum is too large to become
// an integer.
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +avx512vnni && FileCheck %s --check-prefix=VNNI < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 && FileCheck %s --check-prefix=AVX512 < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s

// VNNI: vpdpwssd {{.*}}%zmm
// VNNI: vpackssdw {{.*}}%zmm
// VNNI: vpackuswb {{.*}}%zmm
// VNNI: vpermd {{.*}}%zmm
// AVX512-NOT: vpdpwssd
// AVX512: vpmaddwd {{.*}}%zmm
// AVX512: vpackuswb {{.*}}%zmm
// AVX2-NOT: {{%zmm|vpmovzxbw %xmm|vperm[qd]|vminps}}
// AVX2: vpmovzxbw {{.*}}(%r{{.*}}), %ymm
// AVX2-NOT: {{%zmm|vpmovzxbw %xmm|vperm[qd]|vminps}}
// AVX2: vpmaddwd {{.*}}%ymm
// AVX2-NOT: {{%zmm|vpmovzxbw %xmm|vperm[qd]|vminps}}
// AVX2: vpackuswb {{.*}}%xmm
// AVX2-NOT: {{%zmm|vpmovzxbw %xmm|vperm[qd]|vminps}}
func.func @main_graph(%x: tensor<1x32x16x16xui8> {onnx.name = "x"}) -> (tensor<1x32x16x16xui8> {onnx.name = "y"}) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %zero = onnx.Constant dense<128> : tensor<ui8>
  %ws = onnx.Constant dense<0.01> : tensor<f32>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %w = onnx.Constant dense<127> : tensor<32x1x3x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.QLinearConv"(%x, %s, %zero, %w, %ws, %wz, %s, %zero, %none) {group = 32 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x32x16x16xui8>, tensor<f32>, tensor<ui8>, tensor<32x1x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<1x32x16x16xui8>
  onnx.Return %y : tensor<1x32x16x16xui8>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
