// What weight-only refuses, each with the reason.
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=3" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 block-size=24" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 mode=qlinear" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 algorithm=best" 2>&1 | FileCheck %s --check-prefix=ALGORITHM
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 algorithm=hqq symmetric-weights=true" 2>&1 | FileCheck %s --check-prefix=ZEROS
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 algorithm=hqq mode=qdq" 2>&1 | FileCheck %s --check-prefix=REAL
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 activation-type=u8" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 mode=qdq accuracy-level=4" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 damping=0.1" 2>&1 | FileCheck %s --check-prefix=DAMPING
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 act-order=false" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 search-scales=false" 2>&1 | FileCheck %s --check-prefix=SCALES
// RUN: not onnxq-opt %s --onnx-quantize="search-scales=false" 2>&1 | FileCheck %s --check-prefix=SEARCH
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 smooth-quant=true" 2>&1 | FileCheck %s --check-prefix=SMOOTH
// RUN: not onnxq-opt %s --onnx-quantize="algorithm=gptq" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 algorithm=gptq" 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 nodes-to-exclude=product" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not onnxq-opt %s --onnx-quantize="weight-only=4 op-types-to-quantize=Conv" 2>&1 | FileCheck %s --check-prefix=TYPES

// BITS: error: weight-only expects 2, 4 or 8, but got 3
// BLOCK: error: block-size expects a power of two from 16 to 65536 with weight-only, but got 24
// MODE: error: weight-only contradicts mode=qlinear
// ALGORITHM: error: algorithm expects rtn, hqq, k-quant, gptq or awq, but got 'best'
// ZEROS: error: algorithm=hqq contradicts symmetric-weights
// REAL: error: algorithm=hqq contradicts mode=qdq
// OTHER: error: activation-type is no option of weight-only
// LEVEL: error: accuracy-level contradicts mode=qdq
// DAMPING: error: damping is for algorithm=gptq
// ORDER: error: act-order is for algorithm=gptq
// SCALES: error: search-scales is for algorithm=gptq
// SEARCH: error: act-order and search-scales are for weight-only with algorithm=gptq
// SMOOTH: error: smooth-quant is no option of weight-only
// ALONE: error: algorithm is for weight-only
// SAMPLES: error: this algorithm expects samples
// NOTHING: error: nothing can be quantized
// TYPES: error: op-types-to-quantize expects operators that can be quantized, but got 'Conv'
func.func @matmul(%x: tensor<2x16xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  %w = onnx.Constant dense<1.0> : tensor<16x2xf32>
  %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "product"} : (tensor<2x16xf32>, tensor<16x2xf32>) -> tensor<2x2xf32>
  onnx.Return %y : tensor<2x2xf32>
}
