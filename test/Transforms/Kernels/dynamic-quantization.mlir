// The range of a tensor and its quantization are passes of vectors.

// RUN: onnxq compile %s -o %t.s --target x86-64-v3 && FileCheck %s --check-prefix=AVX2 < %t.s
// RUN: onnxq compile %s -o %t.s --target aarch64+dotprod && FileCheck %s --check-prefix=NEON < %t.s

// AVX2-DAG: vminps {{.*}}%ymm
// AVX2-DAG: vmaxps {{.*}}%ymm
// AVX2-DAG: vdivps {{.*}}%ymm
// AVX2-DAG: vroundps {{.*}}%ymm
// NEON-DAG: fminnm {{v[0-9]+}}.4s
// NEON-DAG: fmaxnm {{v[0-9]+}}.4s
// NEON-DAG: fdiv {{v[0-9]+}}.4s
// NEON-DAG: frintn {{v[0-9]+}}.4s

module {
  func.func @main_graph(%x: tensor<64x64xf32> {onnx.name = "x"}) -> (tensor<64x32xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant dense<127> : tensor<64x32xi8>
    %ws = onnx.Constant dense<0.5> : tensor<32xf32>
    %b = onnx.Constant dense<0.25> : tensor<32xf32>
    %q, %s, %z = "onnx.DynamicQuantizeLinear"(%x) {onnx_node_name = "range"} : (tensor<64x64xf32>) -> (tensor<64x64xui8>, tensor<f32>, tensor<ui8>)
    %i = "onnx.MatMulInteger"(%q, %w, %z, %none) {onnx_node_name = "product"} : (tensor<64x64xui8>, tensor<64x32xi8>, tensor<ui8>, none) -> tensor<64x32xi32>
    %f = "onnx.Cast"(%i) {onnx_node_name = "cast", saturate = 1 : si64, to = f32} : (tensor<64x32xi32>) -> tensor<64x32xf32>
    %m = "onnx.Mul"(%s, %ws) {onnx_node_name = "scale"} : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
    %r = "onnx.Mul"(%f, %m) {onnx_node_name = "rescale"} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
    %y = "onnx.Add"(%r, %b) {onnx_node_name = "bias"} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
    return %y : tensor<64x32xf32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
