// Each run breaks one rule; the message says which.
// RUN: not onnxq-opt %s --onnx-quantize="mode=int8" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not onnxq-opt %s --onnx-quantize="placement=all" 2>&1 | FileCheck %s --check-prefix=PLACEMENT
// RUN: not onnxq-opt %s --onnx-quantize="nbits=7" 2>&1 | FileCheck %s --check-prefix=NBITS
// RUN: not onnxq-opt %s --onnx-quantize="activation-type=u4" 2>&1 | FileCheck %s --check-prefix=ACTIVATION
// RUN: not onnxq-opt %s --onnx-quantize="nbits=16 weight-type=s8" 2>&1 | FileCheck %s --check-prefix=CONFLICT
// RUN: not onnxq-opt %s --onnx-quantize="asymmetric-input-types=false weight-type=s8" 2>&1 | FileCheck %s --check-prefix=ASYMMETRIC
// RUN: not onnxq-opt %s --onnx-quantize="mode=qlinear activation-type=u16" 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not onnxq-opt %s --onnx-quantize="mode=integer weight-type=s4" 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not onnxq-opt %s --onnx-quantize="mode=integer block-size=32" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not onnxq-opt %s --onnx-quantize="block-size=32 keep-cheap-in-float=false" 2>&1 | FileCheck %s --check-prefix=CHEAP
// RUN: not onnxq-opt %s --onnx-quantize="dynamic=true activation-type=s8" 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not onnxq-opt %s --onnx-quantize="dynamic=true dedicated-qdq-pair=true" 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not onnxq-opt %s --onnx-quantize="quantization-mode=IntegerOps_Static dynamic=true" 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not onnxq-opt %s --onnx-quantize="minimum-real-range=-1" 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not onnxq-opt %s --onnx-quantize="contrib-ops=true" 2>&1 | FileCheck %s --check-prefix=CONTRIB
// RUN: not onnxq-opt %s --onnx-quantize="mode=integer contrib-ops=true" 2>&1 | FileCheck %s --check-prefix=CONTRIB
// RUN: not onnxq-opt %s --onnx-quantize="mode=qlinear quantize-bias=false" 2>&1 | FileCheck %s --check-prefix=BIAS
// RUN: not onnxq-opt %s --onnx-quantize="nodes-to-exclude=cnov" 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not onnxq-opt %s --onnx-quantize="op-types-to-quantize=Covn" 2>&1 | FileCheck %s --check-prefix=OPTYPE
// RUN: not onnxq-opt %s --onnx-quantize="nodes-to-exclude=.*" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not onnxq-opt %s --onnx-quantize="int16-tensors=z" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"input\":[0,0.1]}" 2>&1 | FileCheck %s --check-prefix=PARAMS
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[0,0.0]}" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[0,-1.0]}" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[0,1e60]}" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[256,0.1]}" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params=nowhere.json" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"scale\":1},\"x\":{\"scale\":2}}" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"scales\":1}}" 2>&1 | FileCheck %s --check-prefix=SETTING
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"min\":1,\"max\":0}}" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"w\":{\"axis\":5,\"scale\":[1]},\"x\":{\"scale\":1}}" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"min\":-1e300,\"max\":1e300}}" 2>&1 | FileCheck %s --check-prefix=TOOWIDE
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"w\":{\"min\":-1e300,\"max\":1e300},\"x\":{\"scale\":1}}" 2>&1 | FileCheck %s --check-prefix=TOOWIDE
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"axis\":1,\"min\":0,\"max\":1}}" 2>&1 | FileCheck %s --check-prefix=CHANNELS
// RUN: not onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"type\":\"u4\",\"min\":0,\"max\":1}}" 2>&1 | FileCheck %s --check-prefix=NIBBLES
// RUN: onnxq-opt %s --onnx-quantize="int16-tensors=w tensor-overrides={\"x\":{\"scale\":1}}" 2>&1 | FileCheck %s --check-prefix=WIDEWEIGHT
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat per-channel=false" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=per-channel
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat enable-subgraph=false" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=enable-subgraph
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat for=onnxruntime" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=for
// RUN: not onnxq-opt %s --onnx-quantize="for=tvm" 2>&1 | FileCheck %s --check-prefix=RUNTIME
// RUN: not onnxq-opt %s --onnx-quantize="max-opset=9" 2>&1 | FileCheck %s --check-prefix=OPSET
// RUN: not onnxq-opt %s --onnx-quantize="max-opset=10 dynamic=true" 2>&1 | FileCheck %s --check-prefix=DYNAMICOPSET
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[1,0.5]} output-quantization-params={\"x\":[2,0.5]}" 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: not onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[1,0.5,\"s16\"]}" 2>&1 | FileCheck %s --check-prefix=PAIRTYPE
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat nbits=16" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=nbits
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat int16-first=2" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=int16-first
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat nodes-to-exclude=conv" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=nodes-to-exclude
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat placement=every-op" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=placement
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat keep-cheap-in-float=false" 2>&1 | FileCheck %s --check-prefix=TRAINED -DNAME=keep-cheap-in-float
// RUN: not onnxq-opt %s --onnx-quantize="mode=qat" 2>&1 | FileCheck %s --check-prefix=QAT
// RUN: not onnxq-opt %s --onnx-quantize 2>&1 | FileCheck %s --check-prefix=RANGES

// MODE: mode expects qdq, qlinear, integer or qat, but got 'int8'
// PLACEMENT: placement expects fused or every-op, but got 'all'
// NBITS: nbits expects 4, 8 or 16, but got 7
// ACTIVATION: activation-type expects u8, s8, u16, s16 or f8e4m3fn, but got 'u4'
// CONFLICT: weight-type=s8 contradicts nbits=16
// ASYMMETRIC: weight-type=s8 contradicts asymmetric-input-types=false
// WIDE: activations of 16 bits are for mode=qdq
// NARROW: weights of other than 8 bits are for mode=qdq
// TWICE: tensor-overrides: expects JSON, but 'x' is there twice
// BLOCK: block-size is for mode=qdq
// CHEAP: keep-cheap-in-float=false contradicts block-size
// DYNAMIC: dynamic expects activation-type=u8
// PAIR: dedicated-qdq-pair is for static mode=qdq
// STATIC: quantization-mode=IntegerOps_Static contradicts dynamic
// WIDTH: minimum-real-range expects a finite number not below zero
// CONTRIB: contrib-ops is for mode=qlinear and dynamic modes
// BIAS: quantize-bias=false contradicts mode=qlinear
// RUNTIME: for expects onnxruntime or onnxruntime-vnni, but got 'tvm'
// OPSET: max-opset expects 10 or more here, but got 9: older opsets have no quantizers
// DYNAMICOPSET: max-opset expects 11 or more here, but got 10
// DIFFER: output-quantization-params: tensor 'x' has been given other parameters before
// PAIRTYPE: tensor 'x' expects the type of its zero point to be of 8 bits
// NODE: nodes-to-exclude: the model has no node 'cnov'; did you mean 'conv'?
// OPTYPE: op-types-to-quantize expects operators that can be quantized, but got 'Covn'; did you mean 'Conv'?
// EMPTY: the options leave no node that can be quantized
// TENSOR: int16-tensors: the model has no tensor 'z'
// PARAMS: the model has no tensor 'input'; did you mean
// SCALE: input-quantization-params: tensor 'x' expects a finite scale greater than zero
// ZERO: tensor 'x' expects a zero point of type u8, but got 256
// FILE: input-quantization-params: expects JSON or a file of it, but got 'nowhere.json'
// SETTING: tensor 'x' has no setting 'scales'; there are type, scale
// ORDER: tensor 'x' expects min not above max
// AXIS: tensor 'w' expects an axis within its rank 4, but got 5
// TOOWIDE: the range of tensor '{{x|w}}' is too wide for a finite scale
// CHANNELS: tensor 'x' is an activation, and expects one scale for all of it
// NIBBLES: tensor 'x' is an activation, and expects 8 or 16 bits: 4 are for weights
// WIDEWEIGHT: warning: int16-tensors: 'w' is no activation that is quantized
// TRAINED: [[NAME]] is no option of mode=qat
// QAT: mode=qat expects a model with quantizers, but got none
// RANGES: the model has no ranges, and tensor 'x' needs one
module {
  func.func @main_graph(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2x1x1xf32>
    %y = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}
