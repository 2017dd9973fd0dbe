// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// Every op of the Tensor family, with all of its attributes.

// CHECK-LABEL: func.func @Identity(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xf32>)
// CHECK: "onnx.Identity"(%[[A0]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @Identity(%a0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = "onnx.Identity"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @Identity_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<*x!onnx.Unknown>)
// CHECK: "onnx.Identity"(%[[A0]]) : (tensor<*x!onnx.Unknown>) -> tensor<*xf32>
func.func @Identity_1(%a0: tensor<*x!onnx.Unknown>) -> tensor<*xf32> {
  %y = "onnx.Identity"(%a0) : (tensor<*x!onnx.Unknown>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @Reshape(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4xf32>, %[[A1:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Reshape"(%[[A0]], %[[A1]]) <{allowzero = 0 : si64}> : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
func.func @Reshape(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>) -> tensor<2x12xf32> {
  %y = "onnx.Reshape"(%a0, %a1) {allowzero = 0 : si64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
  onnx.Return %y : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @Reshape_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<?x?xf8E4M3FN>, %[[A1:[^:]*]]: tensor<?xi64>)
// CHECK: "onnx.Reshape"(%[[A0]], %[[A1]]) <{allowzero = 1 : si64}> : (tensor<?x?xf8E4M3FN>, tensor<?xi64>) -> tensor<*xf8E4M3FN>
func.func @Reshape_1(%a0: tensor<?x?xf8E4M3FN>, %a1: tensor<?xi64>) -> tensor<*xf8E4M3FN> {
  %y = "onnx.Reshape"(%a0, %a1) {allowzero = 1 : si64} : (tensor<?x?xf8E4M3FN>, tensor<?xi64>) -> tensor<*xf8E4M3FN>
  onnx.Return %y : tensor<*xf8E4M3FN>
}

// CHECK-LABEL: func.func @Flatten(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4x5xf32>)
// CHECK: "onnx.Flatten"(%[[A0]]) <{axis = 2 : si64}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
func.func @Flatten(%a0: tensor<2x3x4x5xf32>) -> tensor<6x20xf32> {
  %y = "onnx.Flatten"(%a0) {axis = 2 : si64} : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  onnx.Return %y : tensor<6x20xf32>
}

// CHECK-LABEL: func.func @Squeeze(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x1xf32>, %[[A1:[^:]*]]: tensor<1xi64>)
// CHECK: "onnx.Squeeze"(%[[A0]], %[[A1]]) : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<3x1xf32>
func.func @Squeeze(%a0: tensor<1x3x1xf32>, %a1: tensor<1xi64>) -> tensor<3x1xf32> {
  %y = "onnx.Squeeze"(%a0, %a1) : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  onnx.Return %y : tensor<3x1xf32>
}

// CHECK-LABEL: func.func @Squeeze_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x1xf32>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Squeeze"(%[[A0]], %[[NONE]]) : (tensor<1x3x1xf32>, none) -> tensor<3xf32>
func.func @Squeeze_1(%a0: tensor<1x3x1xf32>) -> tensor<3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Squeeze"(%a0, %none) : (tensor<1x3x1xf32>, none) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @Unsqueeze(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<3xf32>, %[[A1:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Unsqueeze"(%[[A0]], %[[A1]]) : (tensor<3xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
func.func @Unsqueeze(%a0: tensor<3xf32>, %a1: tensor<2xi64>) -> tensor<1x3x1xf32> {
  %y = "onnx.Unsqueeze"(%a0, %a1) : (tensor<3xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
  onnx.Return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: func.func @Transpose(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x8x9xf32>)
// CHECK: "onnx.Transpose"(%[[A0]]) <{perm = [0, 2, 3, 1]}> : (tensor<1x3x8x9xf32>) -> tensor<1x8x9x3xf32>
func.func @Transpose(%a0: tensor<1x3x8x9xf32>) -> tensor<1x8x9x3xf32> {
  %y = "onnx.Transpose"(%a0) {perm = [0, 2, 3, 1]} : (tensor<1x3x8x9xf32>) -> tensor<1x8x9x3xf32>
  onnx.Return %y : tensor<1x8x9x3xf32>
}

// CHECK-LABEL: func.func @Transpose_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xcomplex<f32>>)
// CHECK: "onnx.Transpose"(%[[A0]]) : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
func.func @Transpose_1(%a0: tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>> {
  %y = "onnx.Transpose"(%a0) : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  onnx.Return %y : tensor<3x2xcomplex<f32>>
}

// CHECK-LABEL: func.func @Concat(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xf32>, %[[A1:[^:]*]]: tensor<2x4xf32>)
// CHECK: "onnx.Concat"(%[[A0]], %[[A1]]) <{axis = 1 : si64}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
func.func @Concat(%a0: tensor<2x3xf32>, %a1: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %y = "onnx.Concat"(%a0, %a1) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  onnx.Return %y : tensor<2x7xf32>
}

// CHECK-LABEL: func.func @Split(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<7xf32>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Split"(%[[A0]], %[[NONE]]) <{axis = 0 : si64, num_outputs = 2 : si64}> : (tensor<7xf32>, none) -> (tensor<4xf32>, tensor<3xf32>)
func.func @Split(%a0: tensor<7xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %y:2 = "onnx.Split"(%a0, %none) {axis = 0 : si64, num_outputs = 2 : si64} : (tensor<7xf32>, none) -> (tensor<4xf32>, tensor<3xf32>)
  onnx.Return %y#0, %y#1 : tensor<4xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @Split_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<7xf32>, %[[A1:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Split"(%[[A0]], %[[A1]]) <{axis = -1 : si64}> : (tensor<7xf32>, tensor<2xi64>) -> (tensor<5xf32>, tensor<2xf32>)
func.func @Split_1(%a0: tensor<7xf32>, %a1: tensor<2xi64>) -> (tensor<5xf32>, tensor<2xf32>) {
  %y:2 = "onnx.Split"(%a0, %a1) {axis = -1 : si64} : (tensor<7xf32>, tensor<2xi64>) -> (tensor<5xf32>, tensor<2xf32>)
  onnx.Return %y#0, %y#1 : tensor<5xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @Expand(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<3x1xf32>, %[[A1:[^:]*]]: tensor<3xi64>)
// CHECK: "onnx.Expand"(%[[A0]], %[[A1]]) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
func.func @Expand(%a0: tensor<3x1xf32>, %a1: tensor<3xi64>) -> tensor<2x3x4xf32> {
  %y = "onnx.Expand"(%a0, %a1) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  onnx.Return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @Tile(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xf32>, %[[A1:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Tile"(%[[A0]], %[[A1]]) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
func.func @Tile(%a0: tensor<2x3xf32>, %a1: tensor<2xi64>) -> tensor<4x3xf32> {
  %y = "onnx.Tile"(%a0, %a1) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  onnx.Return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @DepthToSpace(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x8x2x3xf32>)
// CHECK: "onnx.DepthToSpace"(%[[A0]]) <{blocksize = 2 : si64, mode = "CRD"}> : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
func.func @DepthToSpace(%a0: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %y = "onnx.DepthToSpace"(%a0) {blocksize = 2 : si64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  onnx.Return %y : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @SpaceToDepth(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x2x4x6xf32>)
// CHECK: "onnx.SpaceToDepth"(%[[A0]]) <{blocksize = 2 : si64}> : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
func.func @SpaceToDepth(%a0: tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32> {
  %y = "onnx.SpaceToDepth"(%a0) {blocksize = 2 : si64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  onnx.Return %y : tensor<1x8x2x3xf32>
}

// CHECK-LABEL: func.func @Shape(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4xf32>)
// CHECK: "onnx.Shape"(%[[A0]]) <{end = 3 : si64, start = 1 : si64}> : (tensor<2x3x4xf32>) -> tensor<2xi64>
func.func @Shape(%a0: tensor<2x3x4xf32>) -> tensor<2xi64> {
  %y = "onnx.Shape"(%a0) {end = 3 : si64, start = 1 : si64} : (tensor<2x3x4xf32>) -> tensor<2xi64>
  onnx.Return %y : tensor<2xi64>
}

// CHECK-LABEL: func.func @Size(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4xf32>)
// CHECK: "onnx.Size"(%[[A0]]) : (tensor<2x3x4xf32>) -> tensor<i64>
func.func @Size(%a0: tensor<2x3x4xf32>) -> tensor<i64> {
  %y = "onnx.Size"(%a0) : (tensor<2x3x4xf32>) -> tensor<i64>
  onnx.Return %y : tensor<i64>
}

// CHECK-LABEL: func.func @Slice(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<20x10x5xf32>, %[[A1:[^:]*]]: tensor<2xi64>, %[[A2:[^:]*]]: tensor<2xi64>, %[[A3:[^:]*]]: tensor<2xi64>, %[[A4:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Slice"(%[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]]) : (tensor<20x10x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x5x5xf32>
func.func @Slice(%a0: tensor<20x10x5xf32>, %a1: tensor<2xi64>, %a2: tensor<2xi64>, %a3: tensor<2xi64>, %a4: tensor<2xi64>) -> tensor<3x5x5xf32> {
  %y = "onnx.Slice"(%a0, %a1, %a2, %a3, %a4) : (tensor<20x10x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x5x5xf32>
  onnx.Return %y : tensor<3x5x5xf32>
}

// CHECK-LABEL: func.func @Slice_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<20xui8>, %[[A1:[^:]*]]: tensor<1xi32>, %[[A2:[^:]*]]: tensor<1xi32>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Slice"(%[[A0]], %[[A1]], %[[A2]], %[[NONE]], %[[NONE]]) : (tensor<20xui8>, tensor<1xi32>, tensor<1xi32>, none, none) -> tensor<?xui8>
func.func @Slice_1(%a0: tensor<20xui8>, %a1: tensor<1xi32>, %a2: tensor<1xi32>) -> tensor<?xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Slice"(%a0, %a1, %a2, %none, %none) : (tensor<20xui8>, tensor<1xi32>, tensor<1xi32>, none, none) -> tensor<?xui8>
  onnx.Return %y : tensor<?xui8>
}

// CHECK-LABEL: func.func @Gather(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<3x4x5xf32>, %[[A1:[^:]*]]: tensor<2x6xi64>)
// CHECK: "onnx.Gather"(%[[A0]], %[[A1]]) <{axis = 1 : si64}> : (tensor<3x4x5xf32>, tensor<2x6xi64>) -> tensor<3x2x6x5xf32>
func.func @Gather(%a0: tensor<3x4x5xf32>, %a1: tensor<2x6xi64>) -> tensor<3x2x6x5xf32> {
  %y = "onnx.Gather"(%a0, %a1) {axis = 1 : si64} : (tensor<3x4x5xf32>, tensor<2x6xi64>) -> tensor<3x2x6x5xf32>
  onnx.Return %y : tensor<3x2x6x5xf32>
}

// CHECK-LABEL: func.func @GatherElements(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xf32>, %[[A1:[^:]*]]: tensor<2x2xi64>)
// CHECK: "onnx.GatherElements"(%[[A0]], %[[A1]]) <{axis = 1 : si64}> : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
func.func @GatherElements(%a0: tensor<2x3xf32>, %a1: tensor<2x2xi64>) -> tensor<2x2xf32> {
  %y = "onnx.GatherElements"(%a0, %a1) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  onnx.Return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @GatherND(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4xf32>, %[[A1:[^:]*]]: tensor<2x1xi64>)
// CHECK: "onnx.GatherND"(%[[A0]], %[[A1]]) <{batch_dims = 1 : si64}> : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
func.func @GatherND(%a0: tensor<2x3x4xf32>, %a1: tensor<2x1xi64>) -> tensor<2x4xf32> {
  %y = "onnx.GatherND"(%a0, %a1) {batch_dims = 1 : si64} : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @ScatterElements(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x5xf32>, %[[A1:[^:]*]]: tensor<1x2xi64>, %[[A2:[^:]*]]: tensor<1x2xf32>)
// CHECK: "onnx.ScatterElements"(%[[A0]], %[[A1]], %[[A2]]) <{axis = 1 : si64, reduction = "add"}> : (tensor<1x5xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<1x5xf32>
func.func @ScatterElements(%a0: tensor<1x5xf32>, %a1: tensor<1x2xi64>, %a2: tensor<1x2xf32>) -> tensor<1x5xf32> {
  %y = "onnx.ScatterElements"(%a0, %a1, %a2) {axis = 1 : si64, reduction = "add"} : (tensor<1x5xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<1x5xf32>
  onnx.Return %y : tensor<1x5xf32>
}

// CHECK-LABEL: func.func @ScatterND(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<4x5xf32>, %[[A1:[^:]*]]: tensor<2x1xi64>, %[[A2:[^:]*]]: tensor<2x5xf32>)
// CHECK: "onnx.ScatterND"(%[[A0]], %[[A1]], %[[A2]]) <{reduction = "none"}> : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
func.func @ScatterND(%a0: tensor<4x5xf32>, %a1: tensor<2x1xi64>, %a2: tensor<2x5xf32>) -> tensor<4x5xf32> {
  %y = "onnx.ScatterND"(%a0, %a1, %a2) {reduction = "none"} : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
  onnx.Return %y : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @Compress(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<3x2xf32>, %[[A1:[^:]*]]: tensor<3xi1>)
// CHECK: "onnx.Compress"(%[[A0]], %[[A1]]) <{axis = 0 : si64}> : (tensor<3x2xf32>, tensor<3xi1>) -> tensor<?x2xf32>
func.func @Compress(%a0: tensor<3x2xf32>, %a1: tensor<3xi1>) -> tensor<?x2xf32> {
  %y = "onnx.Compress"(%a0, %a1) {axis = 0 : si64} : (tensor<3x2xf32>, tensor<3xi1>) -> tensor<?x2xf32>
  onnx.Return %y : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @OneHot(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xi64>, %[[A1:[^:]*]]: tensor<i64>, %[[A2:[^:]*]]: tensor<2xf32>)
// CHECK: "onnx.OneHot"(%[[A0]], %[[A1]], %[[A2]]) <{axis = 1 : si64}> : (tensor<2x3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<2x?x3xf32>
func.func @OneHot(%a0: tensor<2x3xi64>, %a1: tensor<i64>, %a2: tensor<2xf32>) -> tensor<2x?x3xf32> {
  %y = "onnx.OneHot"(%a0, %a1, %a2) {axis = 1 : si64} : (tensor<2x3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<2x?x3xf32>
  onnx.Return %y : tensor<2x?x3xf32>
}

// CHECK-LABEL: func.func @ReverseSequence(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<4x8xf32>, %[[A1:[^:]*]]: tensor<4xi64>)
// CHECK: "onnx.ReverseSequence"(%[[A0]], %[[A1]]) <{batch_axis = 0 : si64, time_axis = 1 : si64}> : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
func.func @ReverseSequence(%a0: tensor<4x8xf32>, %a1: tensor<4xi64>) -> tensor<4x8xf32> {
  %y = "onnx.ReverseSequence"(%a0, %a1) {batch_axis = 0 : si64, time_axis = 1 : si64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  onnx.Return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @Trilu(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<4x5xf32>, %[[A1:[^:]*]]: tensor<i64>)
// CHECK: "onnx.Trilu"(%[[A0]], %[[A1]]) <{upper = 0 : si64}> : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
func.func @Trilu(%a0: tensor<4x5xf32>, %a1: tensor<i64>) -> tensor<4x5xf32> {
  %y = "onnx.Trilu"(%a0, %a1) {upper = 0 : si64} : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  onnx.Return %y : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @Pad(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3x4xf32>, %[[A1:[^:]*]]: tensor<4xi64>, %[[A2:[^:]*]]: tensor<f32>, %[[A3:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.Pad"(%[[A0]], %[[A1]], %[[A2]], %[[A3]]) <{mode = "constant"}> : (tensor<2x3x4xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x5x6xf32>
func.func @Pad(%a0: tensor<2x3x4xf32>, %a1: tensor<4xi64>, %a2: tensor<f32>, %a3: tensor<2xi64>) -> tensor<2x5x6xf32> {
  %y = "onnx.Pad"(%a0, %a1, %a2, %a3) {mode = "constant"} : (tensor<2x3x4xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x5x6xf32>
  onnx.Return %y : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @Pad_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<2x3xf16>, %[[A1:[^:]*]]: tensor<4xi64>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Pad"(%[[A0]], %[[A1]], %[[NONE]], %[[NONE]]) <{mode = "wrap"}> : (tensor<2x3xf16>, tensor<4xi64>, none, none) -> tensor<?x?xf16>
func.func @Pad_1(%a0: tensor<2x3xf16>, %a1: tensor<4xi64>) -> tensor<?x?xf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Pad"(%a0, %a1, %none, %none) {mode = "wrap"} : (tensor<2x3xf16>, tensor<4xi64>, none, none) -> tensor<?x?xf16>
  onnx.Return %y : tensor<?x?xf16>
}

// CHECK-LABEL: func.func @CenterCropPad(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<20x8x3xf32>, %[[A1:[^:]*]]: tensor<2xi64>)
// CHECK: "onnx.CenterCropPad"(%[[A0]], %[[A1]]) <{axes = [0, 1]}> : (tensor<20x8x3xf32>, tensor<2xi64>) -> tensor<10x9x3xf32>
func.func @CenterCropPad(%a0: tensor<20x8x3xf32>, %a1: tensor<2xi64>) -> tensor<10x9x3xf32> {
  %y = "onnx.CenterCropPad"(%a0, %a1) {axes = [0, 1]} : (tensor<20x8x3xf32>, tensor<2xi64>) -> tensor<10x9x3xf32>
  onnx.Return %y : tensor<10x9x3xf32>
}

// CHECK-LABEL: func.func @Resize(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x8x8xf32>, %[[A2:[^:]*]]: tensor<2xf32>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Resize"(%[[A0]], %[[NONE]], %[[A2]], %[[NONE]]) <{antialias = 1 : si64, axes = [2, 3], coordinate_transformation_mode = "asymmetric", cubic_coeff_a = -5.000000e-01 : f32, exclude_outside = 1 : si64, extrapolation_value = 1.000000e+00 : f32, keep_aspect_ratio_policy = "stretch", mode = "nearest", nearest_mode = "floor"}> : (tensor<1x3x8x8xf32>, none, tensor<2xf32>, none) -> tensor<1x3x16x16xf32>
func.func @Resize(%a0: tensor<1x3x8x8xf32>, %a2: tensor<2xf32>) -> tensor<1x3x16x16xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Resize"(%a0, %none, %a2, %none) {antialias = 1 : si64, axes = [2, 3], coordinate_transformation_mode = "asymmetric", cubic_coeff_a = -5.000000e-01 : f32, exclude_outside = 1 : si64, extrapolation_value = 1.000000e+00 : f32, keep_aspect_ratio_policy = "stretch", mode = "nearest", nearest_mode = "floor"} : (tensor<1x3x8x8xf32>, none, tensor<2xf32>, none) -> tensor<1x3x16x16xf32>
  onnx.Return %y : tensor<1x3x16x16xf32>
}

// CHECK-LABEL: func.func @Resize_1(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x8x8xf32>, %[[A1:[^:]*]]: tensor<4xf32>, %[[A3:[^:]*]]: tensor<2xi64>)
// CHECK: %[[NONE:.*]] = "onnx.NoValue"()
// CHECK: "onnx.Resize"(%[[A0]], %[[A1]], %[[NONE]], %[[A3]]) <{antialias = 0 : si64, axes = [-2, -1], coordinate_transformation_mode = "tf_crop_and_resize", cubic_coeff_a = -7.500000e-01 : f32, exclude_outside = 0 : si64, extrapolation_value = 0.000000e+00 : f32, keep_aspect_ratio_policy = "not_larger", mode = "cubic", nearest_mode = "round_prefer_floor"}> : (tensor<1x3x8x8xf32>, tensor<4xf32>, none, tensor<2xi64>) -> tensor<1x3x?x?xf32>
func.func @Resize_1(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4xf32>, %a3: tensor<2xi64>) -> tensor<1x3x?x?xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Resize"(%a0, %a1, %none, %a3) {antialias = 0 : si64, axes = [-2, -1], coordinate_transformation_mode = "tf_crop_and_resize", cubic_coeff_a = -7.500000e-01 : f32, exclude_outside = 0 : si64, extrapolation_value = 0.000000e+00 : f32, keep_aspect_ratio_policy = "not_larger", mode = "cubic", nearest_mode = "round_prefer_floor"} : (tensor<1x3x8x8xf32>, tensor<4xf32>, none, tensor<2xi64>) -> tensor<1x3x?x?xf32>
  onnx.Return %y : tensor<1x3x?x?xf32>
}

// CHECK-LABEL: func.func @GridSample(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x3x8x8xf32>, %[[A1:[^:]*]]: tensor<1x4x5x2xf32>)
// CHECK: "onnx.GridSample"(%[[A0]], %[[A1]]) <{align_corners = 1 : si64, mode = "linear", padding_mode = "border"}> : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32>
func.func @GridSample(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32> {
  %y = "onnx.GridSample"(%a0, %a1) {align_corners = 1 : si64, mode = "linear", padding_mode = "border"} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32>
  onnx.Return %y : tensor<1x3x4x5xf32>
}

// CHECK-LABEL: func.func @AffineGrid(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<1x2x3xf32>, %[[A1:[^:]*]]: tensor<4xi64>)
// CHECK: "onnx.AffineGrid"(%[[A0]], %[[A1]]) <{align_corners = 1 : si64}> : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<1x?x?x2xf32>
func.func @AffineGrid(%a0: tensor<1x2x3xf32>, %a1: tensor<4xi64>) -> tensor<1x?x?x2xf32> {
  %y = "onnx.AffineGrid"(%a0, %a1) {align_corners = 1 : si64} : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<1x?x?x2xf32>
  onnx.Return %y : tensor<1x?x?x2xf32>
}

// CHECK-LABEL: func.func @ImageDecoder(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<?xui8>)
// CHECK: "onnx.ImageDecoder"(%[[A0]]) <{pixel_format = "BGR"}> : (tensor<?xui8>) -> tensor<?x?x3xui8>
func.func @ImageDecoder(%a0: tensor<?xui8>) -> tensor<?x?x3xui8> {
  %y = "onnx.ImageDecoder"(%a0) {pixel_format = "BGR"} : (tensor<?xui8>) -> tensor<?x?x3xui8>
  onnx.Return %y : tensor<?x?x3xui8>
}

// CHECK-LABEL: func.func @TfIdfVectorizer(
// CHECK-SAME: %[[A0:[^:]*]]: tensor<12xi32>)
// CHECK: "onnx.TfIdfVectorizer"(%[[A0]]) <{max_gram_length = 2 : si64, max_skip_count = 1 : si64, min_gram_length = 1 : si64, mode = "TFIDF", ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], pool_int64s = [5, 7, 5, 6], weights = [1.000000e+00 : f32, 2.000000e+00 : f32, 5.000000e-01 : f32]}> : (tensor<12xi32>) -> tensor<3xf32>
func.func @TfIdfVectorizer(%a0: tensor<12xi32>) -> tensor<3xf32> {
  %y = "onnx.TfIdfVectorizer"(%a0) {max_gram_length = 2 : si64, max_skip_count = 1 : si64, min_gram_length = 1 : si64, mode = "TFIDF", ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], pool_int64s = [5, 7, 5, 6], weights = [1.000000e+00 : f32, 2.000000e+00 : f32, 5.000000e-01 : f32]} : (tensor<12xi32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}
