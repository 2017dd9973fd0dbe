// The instructions that a product's sums are made of, per target.
// RUN: onnxq compile %s -o %t.v3.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.v3.s
// RUN: onnxq compile %s -o %t.v4.s --target x86-64-v4 --cpu znver4 && FileCheck %s --check-prefix=AVX512 < %t.v4.s
// RUN: onnxq compile %s -o %t.v2.s --target x86-64-v2 && FileCheck %s --check-prefix=SSE < %t.v2.s
// RUN: onnxq compile %s -o %t.arm.s --target aarch64 && FileCheck %s --check-prefix=NEON < %t.arm.s
// RUN: onnxq compile %s -o %t.rv.s --target riscv64+v && FileCheck %s --check-prefix=RVV < %t.rv.s

// AVX2: vfmadd231ps {{.*}}%ymm
// AVX512: vfmadd231ps {{.*}}%zmm
// SSE-NOT: fmaf
// SSE: mulps
// NEON: fmla v{{.*}}.4s
// RVV: vfmacc.vf

func.func @main_graph(%x: tensor<64x32xf32>) -> tensor<64x48xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x48xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  onnx.Return %y : tensor<64x48xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
