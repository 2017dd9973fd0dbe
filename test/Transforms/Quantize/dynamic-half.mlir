// Dynamic quantization of float16: DynamicQuantizeLinear takes float32 only, so
// the tensor is widened before it. Integer products stay float32 until the end.
// RUN: onnxq-opt %s --onnx-quantize="dynamic=true mode=integer" | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="dynamic=true mode=qdq" | FileCheck %s --check-prefix=QDQ

// CHECK-LABEL: func.func @main_graph
// CHECK: %[[WIDE:.*]] = "onnx.Cast"(%arg0) {{.*}}to = f32{{.*}} -> tensor<2x3xf32>
// CHECK: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = "onnx.DynamicQuantizeLinear"(%[[WIDE]]){{.*}} -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
// CHECK-NOT: "onnx.Cast"
// CHECK: "onnx.Mul"(%[[S]], %{{.*}}) {{.*}} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[I:.*]] = "onnx.MatMulInteger"(%[[Q]],
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[I]]){{.*}} -> tensor<2x4xf32>
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[F]],
// CHECK: %[[Y:.*]] = "onnx.Cast"(%[[P]]) {{.*}}to = f16{{.*}} -> tensor<2x4xf16>
// CHECK: onnx.Return %[[Y]]

// QDQ: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = "onnx.DynamicQuantizeLinear"
// QDQ: %[[H:.*]] = "onnx.Cast"(%[[S]]) {{.*}}to = f16{{.*}} -> tensor<f16>
// QDQ: "onnx.DequantizeLinear"(%[[Q]], %[[H]], %[[Z]]){{.*}} -> tensor<2x3xf16>
// QDQ: "onnx.MatMul"
func.func @main_graph(%x: tensor<2x3xf16> {onnx.name = "x"}) -> (tensor<2x4xf16> {onnx.name = "y"}) {
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[0.5, 1.0, 1.5, 2.0], [0.25, 1.0, 0.5, 2.0], [0.125, 1.0, 1.5, 3.0]]> : tensor<3x4xf16>
  %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "mm", onnx_result_names = ["y"]} : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  onnx.Return %y : tensor<2x4xf16>
}
