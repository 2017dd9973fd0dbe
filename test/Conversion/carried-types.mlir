// Types that text of onnx-mlir brings, and that nothing can compute with.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-verify-runnable --onnx-to-linalg

func.func @strings() -> tensor<1xi1> {
  // expected-error @below {{cannot be run: elements of type '!onnx.String' can't be computed with}}
  %0 = onnx.Constant dense<["ab"]> : tensor<1x!onnx.String>
  %1 = "onnx.Equal"(%0, %0) : (tensor<1x!onnx.String>, tensor<1x!onnx.String>) -> tensor<1xi1>
  onnx.Return %1 : tensor<1xi1>
}

// -----

func.func @sequence(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{cannot be run: its result has type '!onnx.Seq<tensor<2xf32>>'}}
  %0 = "onnx.SequenceConstruct"(%x) : (tensor<2xf32>) -> !onnx.Seq<tensor<2xf32>>
  onnx.Return %x : tensor<2xf32>
}

// -----

// expected-error @below {{input 0 cannot be run: its type is '!onnx.Opt<tensor<2xf32>>'}}
func.func @optional(%x: !onnx.Opt<tensor<2xf32>>, %y: tensor<2xf32>) -> tensor<2xf32> {
  onnx.Return %y : tensor<2xf32>
}

// -----

// expected-error @below {{input 0 cannot be run: its type is 'tensor<2xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>'}}
func.func @layout(%x: tensor<2xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>, %y: tensor<2xf32>) -> tensor<2xf32> {
  onnx.Return %y : tensor<2xf32>
}

// -----

func.func @layout_result(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{cannot be run: its result has the layout #onnx.layout<{dataLayout = "NCHW4C"}>}}
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>
  onnx.Return %x : tensor<2xf32>
}
