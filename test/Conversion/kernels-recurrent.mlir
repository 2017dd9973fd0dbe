// RUN: onnxq-opt %s --onnx-to-kernels | FileCheck %s
// RUN: onnxq-opt %s --onnx-to-kernels --onnx-to-linalg | FileCheck %s --check-prefix=LOOPS

// The products of all steps' inputs are a kernel; those of the states stay in
// the loop, as each waits for the one before.
// CHECK-LABEL: func.func @steps
// CHECK: onnxq.contract
// CHECK-NOT: onnxq.contract
// CHECK: "onnx.LSTM"
// CHECK-SAME: onnxq.input_projected
// CHECK-NOT: onnxq.hidden_projected
// LOOPS-LABEL: func.func @steps
// LOOPS: scf.for
func.func @steps(%x: tensor<5x2x3xf32>) -> tensor<1x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<0.5> : tensor<1x8x3xf32>
  %r = onnx.Constant dense<0.25> : tensor<1x8x2xf32>
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %none, %none, %none) {hidden_size = 2 : si64} : (tensor<5x2x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, none, none, none, none, none) -> (none, tensor<1x2x2xf32>, none)
  onnx.Return %h : tensor<1x2x2xf32>
}

// A single step waits for nothing.
// CHECK-LABEL: func.func @one_step
// CHECK-COUNT-2: onnxq.contract
// CHECK: "onnx.LSTM"
// CHECK-SAME: onnxq.hidden_projected
// CHECK-SAME: onnxq.input_projected
func.func @one_step(%x: tensor<1x2x3xf32>, %state: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<0.5> : tensor<1x8x3xf32>
  %r = onnx.Constant dense<0.25> : tensor<1x8x2xf32>
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %state, %none, %none) {hidden_size = 2 : si64} : (tensor<1x2x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, none, none, tensor<1x2x2xf32>, none, none) -> (none, tensor<1x2x2xf32>, none)
  onnx.Return %h : tensor<1x2x2xf32>
}

// A GRU's last gate is multiplied after its reset; both directions' inputs are
// one product.
// CHECK-LABEL: func.func @gru
// CHECK: onnxq.contract {{.*}}tensor<1x3x12xf32>
// CHECK: "onnx.GRU"
// CHECK-NOT: onnxq.hidden_projected
// CHECK: onnx.Return
func.func @gru(%x: tensor<1x2x3xf32>, %state: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<0.5> : tensor<2x6x3xf32>
  %r = onnx.Constant dense<0.25> : tensor<2x6x2xf32>
  %y, %h = "onnx.GRU"(%x, %w, %r, %none, %none, %state) {direction = "bidirectional", hidden_size = 2 : si64} : (tensor<1x2x3xf32>, tensor<2x6x3xf32>, tensor<2x6x2xf32>, none, none, tensor<2x2x2xf32>) -> (none, tensor<2x2x2xf32>)
  onnx.Return %h : tensor<2x2x2xf32>
}

// Weights that are stored in 8 bits are expanded here, not in every run.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: onnxq.contract
// CHECK: "onnx.RNN"
func.func @bytes(%x: tensor<5x2x3xf32>) -> tensor<1x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %scale = onnx.Constant dense<[0.5, 0.25]> : tensor<2xf32>
  %bytes = onnx.Constant dense<3> : tensor<1x2x3xi8>
  %w = "onnx.DequantizeLinear"(%bytes, %scale, %none) {axis = 1 : si64} : (tensor<1x2x3xi8>, tensor<2xf32>, none) -> tensor<1x2x3xf32>
  %r = onnx.Constant dense<0.25> : tensor<1x2x2xf32>
  %y, %h = "onnx.RNN"(%x, %w, %r, %none, %none, %none) {hidden_size = 2 : si64} : (tensor<5x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>, none, none, none) -> (none, tensor<1x2x2xf32>)
  onnx.Return %h : tensor<1x2x2xf32>
}

// Weights that are computed stay in the layer.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: onnxq.contract
// CHECK: "onnx.RNN"
// CHECK-NOT: onnxq.input_projected
// CHECK: onnx.Return
func.func @computed(%x: tensor<5x2x3xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = onnx.Constant dense<0.25> : tensor<1x2x2xf32>
  %y, %h = "onnx.RNN"(%x, %w, %r, %none, %none, %none) {hidden_size = 2 : si64} : (tensor<5x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>, none, none, none) -> (none, tensor<1x2x2xf32>)
  onnx.Return %h : tensor<1x2x2xf32>
}
