// 3x3 convolutions of bytes by Winograd's transform: bytes are widened once,
// pairs of 16 bits multiplied, and sums divided by nine with its inverse. The
// weights are stored in eight bits, and expanded by a constructor.
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s
// RUN: FileCheck %s --check-prefix=LOAD < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v2 && FileCheck %s --check-prefix=SSE < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 --no-winograd && FileCheck %s --check-prefix=PLAIN < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 --features +avxvnni && FileCheck %s --check-prefix=VNNI < %t.s

// AVX2-NOT: vpmaddubsw
// AVX2: vpmovzxbw {{.*}}%ymm
// AVX2: vpbroadcastd {{.*}}(%{{.*}}), %ymm
// AVX2: vpmaddwd %ymm{{.*}}%ymm
// AVX2: vpmulld
// AVX2: vpsrad $6, %ymm
// AVX2-NOT: vpmaddubsw
// LOAD: onnxq_load:
// LOAD-NEXT: jmp kernel_expand
// LOAD: kernel_expand{{.*}}:
// LOAD: vpmovsxbw {{.*}}%ymm
// LOAD: .comm {{.*}}onnxq_expanded,73728,4096
// LOAD: .section .init_array.101,"aw",@init_array
// LOAD-NEXT: .p2align 3
// LOAD-NEXT: .quad {{.*}}onnxq_load
// SSE: pmaddwd
// SSE: psrad $6, %xmm
// PLAIN: vpmaddubsw
// PLAIN-NOT: vpsrad $6
// VNNI: vpdpbusd
// VNNI-NOT: vpsrad $6
func.func @main_graph(%x: tensor<1x32x40x40xui8> {onnx.name = "x"}) -> (tensor<1x32x40x40xui8> {onnx.name = "y"}) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %zero = onnx.Constant dense<128> : tensor<ui8>
  %ws = onnx.Constant dense<0.01> : tensor<f32>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %w = onnx.Constant dense<60> : tensor<32x32x3x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.QLinearConv"(%x, %s, %zero, %w, %ws, %wz, %s, %zero, %none) {group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x32x40x40xui8>, tensor<f32>, tensor<ui8>, tensor<32x32x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<1x32x40x40xui8>
  onnx.Return %y : tensor<1x32x40x40xui8>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
