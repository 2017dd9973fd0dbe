// The instructions of each target. Weights of 127 next to each other leave no
// room in 16 bits, those of 64 do.

// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 --features +avxvnni && FileCheck %s --check-prefix=VNNI < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +avx512vnni && FileCheck %s --check-prefix=AVX512 < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v2 && FileCheck %s --check-prefix=SSE < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64 && FileCheck %s --check-prefix=NEON < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64+dotprod && FileCheck %s --check-prefix=SDOT < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64+i8mm && FileCheck %s --check-prefix=I8MM < %t.s
// RUN: onnxq compile %s -o %t.s --target riscv64+v && FileCheck %s --check-prefix=RVV < %t.s

// AVX2-DAG: vpmaddwd
// AVX2-DAG: vpmaddubsw
// AVX2-NOT: vpdpbusd
// VNNI: vpdpbusd {{.*}}%ymm
// AVX512: vpdpbusd {{.*}}%zmm
// SSE: pmaddwd {{.*}}%xmm
// NEON: smlal
// SDOT: sdot {{v[0-9]+}}.4s, {{v[0-9]+}}.16b, {{v[0-9]+}}.4b[{{[0-3]}}]
// I8MM: usmmla {{v[0-9]+}}.4s, {{v[0-9]+}}.16b, {{v[0-9]+}}.16b
// RVV: vwmacc.vx

module {
  func.func @main_graph(%x: tensor<8x64xui8> {onnx.name = "x"}) -> (tensor<8x32xi32> {onnx.name = "y"}, tensor<8x32xi32> {onnx.name = "z"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %large = onnx.Constant dense<127> : tensor<64x32xi8>
    %small = onnx.Constant dense<64> : tensor<64x32xi8>
    %y = "onnx.MatMulInteger"(%x, %large, %none, %none) : (tensor<8x64xui8>, tensor<64x32xi8>, none, none) -> tensor<8x32xi32>
    %z = "onnx.MatMulInteger"(%x, %small, %none, %none) : (tensor<8x64xui8>, tensor<64x32xi8>, none, none) -> tensor<8x32xi32>
    return %y, %z : tensor<8x32xi32>, tensor<8x32xi32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
