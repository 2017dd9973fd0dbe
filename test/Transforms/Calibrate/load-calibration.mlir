// onnx-load-calibration: ranges of a table, and tables that don't fit.
// RUN: echo '{"x": [-1, 2.5], "y": [0, 2.5]}' > %t.json
// RUN: printf 'x 3\ny 0.25\n' > %t.cache
// RUN: echo '{"x": [-1, 2.5], "q": [0, 1]}' > %t.other.json
// RUN: echo '{"x": [2, 1], "y": [0, 1]}' > %t.wrong.json
// Tensors that only the table has are no misfit.
// RUN: echo '{"x": [-1, 2.5], "y": [0, 2.5], "q": [0, 1]}' > %t.more.json
// RUN: onnxq-opt %s --onnx-load-calibration=table=%t.more.json | FileCheck %s --check-prefix=MORE
// RUN: onnxq-opt %s --onnx-load-calibration=table=%t.json | FileCheck %s
// RUN: onnxq-opt %s --onnx-load-calibration="table=%t.json symmetric=true" | FileCheck %s --check-prefix=SYMMETRIC
// RUN: onnxq-opt %s --onnx-load-calibration=table=%t.cache | FileCheck %s --check-prefix=CACHE
// RUN: not onnxq-opt %s --onnx-load-calibration=table=%t.other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: onnxq-opt %s --onnx-load-calibration="table=%t.other.json partial=true" 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: not onnxq-opt %s --onnx-load-calibration=table=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not onnxq-opt %s --onnx-load-calibration=table=%t.none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not onnxq-opt %s --onnx-load-calibration 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not onnxq-opt %s --onnx-load-calibration="table=%t.json method=entropy" 2>&1 | FileCheck %s --check-prefix=METHOD
// Statistics give any method's ranges later.
// RUN: %python %S/Inputs/samples.py plain %t.npy
// RUN: onnxq-opt %s --onnx-calibrate="data=%t.npy method=percentile table=%t.full.json" -o %t.out.mlir
// RUN: onnxq-opt %s --onnx-load-calibration="table=%t.full.json method=average" | FileCheck %s --check-prefix=LATER

// CHECK: module attributes {onnxq.calibration = {x = {max = 2.500000e+00 : f64, min = -1.000000e+00 : f64}, y = {max = 2.500000e+00 : f64, min = 0.000000e+00 : f64}}}
// MORE: x = {max = 2.500000e+00 : f64, min = -1.000000e+00 : f64}, y = {max = 2.500000e+00 : f64, min = 0.000000e+00 : f64}
// SYMMETRIC: x = {max = 2.500000e+00 : f64, min = -2.500000e+00 : f64}
// CACHE: x = {max = 3.000000e+00 : f64, min = -3.000000e+00 : f64}, y = {max = 2.500000e-01 : f64, min = -2.500000e-01 : f64}
// OTHER: error: the table {{.*}} doesn't fit the model: it has no range for 1 of 2 tensors ('y'); calibrate the same model, prepared and specialized alike
// PARTIAL: warning: {{.*}}doesn't fit the model
// PARTIAL: x = {max = 2.500000e+00
// WRONG: error: {{.*}}tensor 'x' expects [min, max] of finite numbers in order
// NONE: error: {{.*}}none.json: cannot be opened: No such file or directory
// NOTHING: error: onnx-load-calibration expects table=FILE
// METHOD: error: {{.*}}holds ranges, from which method entropy can't be computed
// LATER: x = {{.*}}max = 4.333{{.*}} : f64, min = -1.666{{.*}} : f64

func.func @main(%x: tensor<1x4xf32> {onnx.name = "x"}) -> tensor<1x4xf32> {
  %y = "onnx.Relu"(%x) {onnx_node_name = "relu1", onnx_result_names = ["y"]} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  onnx.Return %y : tensor<1x4xf32>
}
