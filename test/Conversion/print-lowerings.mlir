// RUN: onnxq-opt %s --onnx-print-lowerings -o /dev/null | FileCheck %s

// CHECK: onnx.Abs yes
// CHECK: onnx.EntryPoint no
// CHECK: onnx.If yes
// CHECK: onnx.com.microsoft.QLinearAdd yes
module {}
