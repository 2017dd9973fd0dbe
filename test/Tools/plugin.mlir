// The plug-in gives another MLIR driver our dialects, passes and pipelines.
// UNSUPPORTED: asan
// RUN: mlir-opt --load-dialect-plugin=%build_root/lib/OnnxQuantPlugin.so %s | FileCheck %s --check-prefix=TEXT
// RUN: mlir-opt --load-dialect-plugin=%build_root/lib/OnnxQuantPlugin.so --load-pass-plugin=%build_root/lib/OnnxQuantPlugin.so --pass-pipeline='builtin.module(onnx-preprocess{skip=div-to-mul})' %s | FileCheck %s --check-prefix=FUSED
// RUN: mlir-opt --load-dialect-plugin=%build_root/lib/OnnxQuantPlugin.so --load-pass-plugin=%build_root/lib/OnnxQuantPlugin.so --pass-pipeline='builtin.module(onnx-quantize{dynamic=true mode=integer})' %s | FileCheck %s --check-prefix=INT8
// RUN: mlir-opt --load-dialect-plugin=%build_root/lib/OnnxQuantPlugin.so --load-pass-plugin=%build_root/lib/OnnxQuantPlugin.so --pass-pipeline='builtin.module(onnx-to-llvm{target=x86-64-v3})' %s | FileCheck %s --check-prefix=LLVM
// RUN: not mlir-opt --load-dialect-plugin=%build_root/lib/OnnxQuantPlugin.so --load-pass-plugin=%build_root/lib/OnnxQuantPlugin.so --pass-pipeline='builtin.module(onnx-no-such-pass)' %s 2>&1 | FileCheck %s --check-prefix=NONE

// TEXT: "onnx.MatMul"(%{{.*}}, %{{.*}})
// FUSED: "onnx.Gemm"
// INT8: "onnx.MatMulInteger"
// LLVM: llvm.func
// NONE: 'onnx-no-such-pass' does not refer to a registered pass
func.func @main_graph(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x4xf32> {onnx.name = "y"}) {
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[0.5, 1.0, 1.5, 2.0], [0.25, 1.0, 0.5, 2.0], [0.125, 1.0, 1.5, 3.0]]> : tensor<3x4xf32>
  %b = onnx.Constant {onnx_result_names = ["b"]} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %p = "onnx.MatMul"(%x, %w) {onnx_node_name = "mm", onnx_result_names = ["p"]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.Add"(%p, %b) {onnx_node_name = "add", onnx_result_names = ["y"]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
