// onnx-calibrate runs samples through compiled code and notes the ranges.
// RUN: %python %S/Inputs/samples.py plain %t.npy
// RUN: %python %S/Inputs/samples.py odd %t.odd.npy
// RUN: %python %S/Inputs/samples.py wrong-shape %t.wrong.npy
// RUN: onnxq-opt %s --onnx-calibrate=data=%t.npy | FileCheck %s
// RUN: onnxq-opt %s --onnx-calibrate="data=%t.npy method=average per-channel=false" | FileCheck %s --check-prefix=AVERAGE
// RUN: onnxq-opt %s --onnx-calibrate="data=%t.npy method=moving-average constant=0.5 symmetric=true" | FileCheck %s --check-prefix=MOVING
// RUN: onnxq-opt %s --onnx-calibrate="data=%t.npy limit=1 start=1" | FileCheck %s --check-prefix=LIMIT
// RUN: onnxq-opt %s --onnx-calibrate=data=%t.odd.npy 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not onnxq-opt %s --onnx-calibrate=data=%t.wrong.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not onnxq-opt %s --onnx-calibrate=data=%t.none.npy 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not onnxq-opt %s --onnx-calibrate="data=%t.npy start=3" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not onnxq-opt %s --onnx-calibrate="data=%t.npy method=kl" 2>&1 | FileCheck %s --check-prefix=METHOD
// RUN: not onnxq-opt %s --onnx-calibrate="data=%t.npy batch=2" 2>&1 | FileCheck %s --check-prefix=BATCH

// CHECK: module attributes {onnxq.calibration =
// CHECK-SAME: x = {channel_axis = 1 : i64, channel_maxs = array<f64: 3.000000e+00, 2.000000e+00, 1.000000e+00, 8.000000e+00>, channel_means = array<f64: 0.666{{.*}}>, channel_mins = array<f64: -1.000000e+00, -4.000000e+00, 0.000000e+00, 5.000000e-01>, max = 8.000000e+00 : f64, min = -4.000000e+00 : f64}
// CHECK-SAME: y = {{.*}}max = 8.000000e+00 : f64, min = 0.000000e+00 : f64
// CHECK: func.func @main(%{{.*}}: tensor<1x4xf32> {onnx.name = "x"}) -> tensor<1x4xf32>
// CHECK-NOT: onnxq.observe
// AVERAGE: x = {max = 4.333{{.*}} : f64, min = -1.666{{.*}} : f64}
// MOVING: x = {{.*}}max = 5.250000e+00 : f64, min = -5.250000e+00 : f64
// LIMIT: x = {{.*}}max = 3.000000e+00 : f64, min = -4.000000e+00 : f64
// ODD: warning: tensor 'x': left out of its range: 1 NaN, 1 infinite, 1 of 1e38 or more of 12 values, first in {{.*}}.odd.npy, sample {{[0-9]}}
// ODD: x = {{.*}}max = 8.000000e+00 : f64, min = -4.000000e+00 : f64
// SHAPE: error: {{.*}}.wrong.npy, sample 0: input 'x' expects shape [1, 4], but got [1, 3]
// NONE: error: {{.*}}none.npy: no such file or folder
// EMPTY: error: start leaves out all samples: {{.*}}.npy has 3
// METHOD: error: method expects minmax, average, moving-average, entropy, percentile, mse or distribution, but got 'kl'
// BATCH: error: batch expects the first dimension of input 'x' to be open, but it is 1

func.func @main(%x: tensor<1x4xf32> {onnx.name = "x"}) -> tensor<1x4xf32> {
  %y = "onnx.Relu"(%x) {onnx_node_name = "relu1", onnx_result_names = ["y"]} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  onnx.Return %y : tensor<1x4xf32>
}
