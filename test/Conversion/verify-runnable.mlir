// The gate behind the graph: what no lowering can run.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-verify-runnable

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be run: the rank of its result is unknown}}
  %y = "onnx.Relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// Dynamic dimensions can be run.
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = "onnx.Relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  onnx.Return %y : tensor<?x4xf32>
}
