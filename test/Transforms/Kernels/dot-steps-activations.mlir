// The instructions of products of two activations: their weights are packed at
// run time, and nothing is proved of them.

// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 --features +avxvnni && FileCheck %s --check-prefix=VNNI < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +avx512vnni && FileCheck %s --check-prefix=AVX512 < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64 && FileCheck %s --check-prefix=NEON < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64+dotprod && FileCheck %s --check-prefix=SDOT < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64+i8mm && FileCheck %s --check-prefix=I8MM < %t.s
// RUN: onnxq compile %s -o %t.s --target riscv64+v && FileCheck %s --check-prefix=RVV < %t.s

// AVX2-NOT: vpmaddubsw
// AVX2: vpmaddwd {{.*}}%ymm
// VNNI: vpdpbusd {{.*}}%ymm
// AVX512: vpdpbusd {{.*}}%zmm
// NEON: smlal
// SDOT: sdot
// I8MM: {{usdot|sudot}}
// RVV: vwmacc

module {
  func.func @main_graph(%a: tensor<4x16x64xui8> {onnx.name = "a"}, %b: tensor<4x64x32xi8> {onnx.name = "b"}) -> (tensor<4x16x32xi32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x16x64xui8>, tensor<4x64x32xi8>, none, none) -> tensor<4x16x32xi32>
    return %y : tensor<4x16x32xi32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
