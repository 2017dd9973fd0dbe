// Entries of tables as each target reads them, and where they are computed.
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --cpu icelake-server --features -prefer-256-bit && FileCheck %s --check-prefix=VBMI < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64 && FileCheck %s --check-prefix=NEON < %t.s
// RUN: onnxq-opt %s --onnx-tabulate --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" --onnx-to-linalg | FileCheck %s --check-prefix=OPEN

// The product's bytes are looked up where they are computed; those of an input
// in a loop of their own.
// VBMI: vpdpbusd {{.*}}%zmm
// VBMI: vcvtps2dq {{.*}}%zmm
// VBMI: vpackssdw {{.*}}%zmm
// VBMI: vpackuswb
// VBMI: vperm{{[it]}}2b {{.*}}%zmm
// AVX2-DAG: vp{{add|sub}}sb {{.*}}%ymm
// AVX2-DAG: vpackuswb {{.*}}%ymm
// AVX2-DAG: vpshufb {{.*}}%ymm
// NEON: tbl v{{[0-9]+}}.16b, { v{{[0-9]+}}.16b, v{{[0-9]+}}.16b, v{{[0-9]+}}.16b, v{{[0-9]+}}.16b }

// Without what computes constants, the table is read as it is.
// OPEN: tensor.extract {{.*}}tensor<256xi8>
func.func @main_graph(%x: tensor<64x64xui8> {onnx.name = "x"}) -> (tensor<64x32xui8> {onnx.name = "y"}, tensor<64x64xui8> {onnx.name = "z"}) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %zero = onnx.Constant dense<128> : tensor<ui8>
  %ws = onnx.Constant dense<0.01> : tensor<f32>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %w = onnx.Constant dense<127> : tensor<64x32xi8>
  %p = "onnx.QLinearMatMul"(%x, %s, %zero, %w, %ws, %wz, %s, %zero) : (tensor<64x64xui8>, tensor<f32>, tensor<ui8>, tensor<64x32xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<64x32xui8>
  %0 = "onnx.DequantizeLinear"(%p, %s, %zero) : (tensor<64x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<64x32xf32>
  %1 = "onnx.Sigmoid"(%0) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = "onnx.QuantizeLinear"(%1, %s, %zero) : (tensor<64x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<64x32xui8>
  %2 = "onnx.DequantizeLinear"(%x, %s, %zero) : (tensor<64x64xui8>, tensor<f32>, tensor<ui8>) -> tensor<64x64xf32>
  %3 = "onnx.Tanh"(%2) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = "onnx.QuantizeLinear"(%3, %s, %zero) : (tensor<64x64xf32>, tensor<f32>, tensor<ui8>) -> tensor<64x64xui8>
  onnx.Return %y, %z : tensor<64x32xui8>, tensor<64x64xui8>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
