// The pass that makes a quantized model of a float one.

#ifndef ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_TD
#define ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_TD

include "OnnxQuant/Support/Options.td"

def Quantize : PassWithGroups<"onnx-quantize", "::mlir::ModuleOp"> {
  let summary = "quantize a float model by the ranges of its tensors";
  let description = [{
    Stores weights as integers and lets activations pass through integers where
    that pays. Ranges of activations come from the module's attribute
    `onnxq.calibration`, from the options, or at run time (`dynamic`).

    `mode` is the form of the result: `qdq` puts QuantizeLinear and
    DequantizeLinear around float ops; `qlinear` has QLinearConv and
    QLinearMatMul; `integer` has ConvInteger and MatMulInteger; `qat` takes over
    the quantizers that a model was trained with. `placement` says which
    activations are quantized: `fused` those that feed a contraction, `every-op`
    those of every op that can be quantized.

    ```mlir
    module attributes {onnxq.calibration = {x = {min = 0.0, max = 2.55}}} {
      func.func @main_graph(%x: tensor<1x4xf32> {onnx.name = "x"}) -> tensor<1x2xf32> {
        %w = onnx.Constant dense<[[1.27, 0.0], [0.0, 1.27], [0.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32>
        %y = "onnx.MatMul"(%x, %w) : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
        onnx.Return %y : tensor<1x2xf32>
      }
    }
    // becomes, per tensor
    %scale = onnx.Constant dense<0.01> : tensor<f32>
    %zero = onnx.Constant dense<0> : tensor<ui8>
    %q = "onnx.QuantizeLinear"(%x, %scale, %zero) : (tensor<1x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4xui8>
    %xd = "onnx.DequantizeLinear"(%q, %scale, %zero) : (tensor<1x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4xf32>
    %wq = onnx.Constant dense<[[127, 0], [0, 127], [0, 0], [0, 0]]> : tensor<4x2xi8>
    %wd = "onnx.DequantizeLinear"(%wq, ...) : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
    %y = "onnx.MatMul"(%xd, %wd) : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
    ```

    `weight-only` stores the constant matrices of MatMul and Gemm in 4 or 8 bits
    with a scale for each `block-size` weights (32) along the sum, and touches
    no activation:

    ```mlir
    %y = "onnx.MatMul"(%x, %w) : (tensor<1x64xf32>, tensor<64x8xf32>) -> tensor<1x8xf32>
    // becomes with weight-only=4
    %y = "onnx.com.microsoft.MatMulNBits"(%x, %codes, %scales, %zeros, %none, %none) {K = 64 : si64, N = 8 : si64, bits = 4 : si64, block_size = 32 : si64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>, tensor<8x1xui8>, none, none) -> tensor<1x8xf32>
    ```

    A missing range is an error that names the tensor. Every node that is not
    quantized is in the report with the reason.
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
                           "::mlir::func::FuncDialect"];
  let groups = [
    Group<"form", "The form of the result", [
      Choice<"modeName", "mode", "", ["qdq", "qlinear", "integer", "qat"],
        "form of the result (qdq; with weight-only MatMulNBits unless it is "
        "qdq)">,
      Option<"dynamic", "dynamic", "bool", "false",
        "take the scales of activations at run time">,
      Choice<"qatForm", "qat-form", "qdq", ["qdq", "qlinear", "integer"],
        "what mode=qat leaves">,
      Choice<"quantizationMode", "quantization-mode", "",
        ["IntegerOps_Static", "IntegerOps_Dynamic", "QLinearOps_Static",
         "QLinearOps_Dynamic"],
        "mode and dynamic by another name; integers are unsigned (see "
        "asymmetric-input-types)", open=1>,
      Option<"maxOpset", "max-opset", "int64_t", "0",
        "the highest opset of the result (0: as high as it needs); forms that "
        "need a later one are avoided">,
      Option<"contribOps", "contrib-ops", "bool", "false",
        "use the quantized ops of com.microsoft; where dynamic, also its "
        "QAttention and QEmbedLayerNormalization">,
      Option<"quantizeBias", "quantize-bias", "bool", "true",
        "store biases as 32-bit integers">,
    ]>,
    ChosenGroup<"preset", "What it is made for", [
      Choice<"runtime", "for", "", ["onnxruntime", "onnxruntime-vnni"],
        "choose what is right for a runtime: onnxruntime takes unsigned "
        "weights, whose sums saturate on no processor; onnxruntime-vnni signed "
        "ones, which are faster with VNNI and saturate without">,
      Choice<"preset", "compatible", "", ["onnxruntime"],
        "which ops are quantized, in which form and by which names as ONNX "
        "Runtime's tool does it; every-op placement, contrib-ops, no "
        "correction of biases, each weight to the nearest integer">,
    ]>,
    Group<"corrections", "What makes up for rounding", [
      Choice<"biasCorrection", "bias-correction", "local", ["local", "none"],
        "local moves the mean error of quantized weights into the bias">,
      Choice<"weightRounding", "weight-rounding", "auto",
        ["nearest", "sums", "auto"],
        "nearest: each weight to the nearest integer; sums: so that the sums "
        "of kernels are kept; auto takes sums where placement=fused is static">,
      Choice<"channelScaling", "channel-scaling", "auto",
        ["depthwise", "products", "none", "auto"],
        "bring channels of one tensor to similar ranges, by powers of two, "
        "depthwise: those that depthwise convolutions read; products: those "
        "that MatMul and Gemm read; auto: both where it can be done">,
      Option<"smoothQuant", "smooth-quant", "bool", "false",
        "divide the channels that MatMul and Gemm read, and multiply their "
        "weights, so that outliers are shared between both">,
      Option<"smoothAlpha", "smooth-quant-alpha", "double", "0.5",
        "share of the outliers that goes into the weights, 0 to 1">,
      Option<"smoothFolding", "smooth-quant-folding", "bool", "true",
        "divide in the constants of a LayerNormalization or Mul before, where "
        "there is one; false: by a product of its own">,
    ]>,
    ChosenGroup<"selection", "What is quantized", [
      Choice<"placementName", "placement", "fused", ["fused", "every-op"],
        "activations to quantize">,
      Option<"keepCheap", "keep-cheap-in-float", "bool", "true",
        "leave activations float where integers save no time: small tensors "
        "that are read for few products, what depthwise convolutions read "
        "(mode=qdq), and gates (placement=fused)">,
      Texts<"opTypes", "op-types-to-quantize", "A,B",
        "operators to quantize, such as Conv,MatMul (all that can be; with "
        "weight-only all but Gather, whose tables become GatherBlockQuantized "
        "of 4 bits)">,
      Texts<"nodes", "nodes-to-quantize", "A,B",
        "only these nodes: names or regular expressions">,
      Texts<"excluded", "nodes-to-exclude", "A,B",
        "not these nodes: names or regular expressions">,
      Choice<"matmulConstBOnly", "matmul-const-b-only", "auto",
        ["true", "false", "auto"],
        "quantize only products by a constant; auto: where dynamic">,
      Texts<"outputOpsExcluded", "op-types-to-exclude-output", "A,B",
        "operators whose results stay float (placement=every-op)">,
      Option<"excludeOutputs", "exclude-output-quantization", "bool", "false",
        "don't quantize the graph's outputs (placement=every-op)">,
      Option<"forceNoInputCheck", "force-quantize-no-input-check", "bool",
        "false",
        "quantize ops that only move data also where their input is float "
        "(placement=every-op)">,
      Option<"enableSubgraph", "enable-subgraph", "bool", "true",
        "quantize the bodies of If, Loop and Scan as well; those that no "
        "sample took stay float">,
    ]>,
    ChosenGroup<"types", "Types and scales", [
      Option<"nbits", "nbits", "int64_t", "8",
        "bits of activations and weights: 8 or 16; 4 is for weights">,
      Choice<"activationType", "activation-type", "",
        ["u8", "s8", "u16", "s16", "f8e4m3fn"], "type of activations (u8)",
        open=1>,
      Choice<"weightType", "weight-type", "",
        ["u8", "s8", "u16", "s16", "u4", "s4", "f8e4m3fn"],
        "type of weights (s8)",
        open=1>,
      Choice<"asymmetricInputTypes", "asymmetric-input-types", "",
        ["true", "false"],
        "unsigned activations and signed weights; false makes both unsigned">,
      Option<"symmetricActivations", "symmetric-activations", "bool", "false",
        "ranges of activations around zero">,
      Choice<"weightSymmetry", "symmetric-weights", "auto",
        ["true", "false", "auto"],
        "ranges of weights around zero; auto: for signed types and for scales "
        "per channel">,
      Option<"restrictedAsymmetric", "restricted-asymmetric", "bool", "false",
        "zero points of u8 activations are 0, or 128 where a number is "
        "negative">,
      Option<"perChannel", "per-channel", "bool", "true",
        "one scale for each output channel of a weight">,
      Option<"blockSize", "block-size", "int64_t", "0",
        "one scale for each run of this many weights along the sum (0: none)">,
      Option<"weightOnlyBits", "weight-only", "int64_t", "0",
        "store constant weights of products in 2, 4 or 8 bits with a scale for "
        "each block, and leave activations float (0: no); tables of Gather if "
        "op-types-to-quantize lists it">,
      Choice<"algorithmName", "algorithm", "rtn",
        ["rtn", "hqq", "k-quant", "gptq", "awq"],
        "how weight-only finds codes: rtn is the nearest; gptq and awq read "
        "samples">,
      Option<"damping", "damping", "double", "0.01",
        "algorithm=gptq: share of the inputs' mean square that is added to each "
        "channel's">,
      Option<"sortsChannels", "act-order", "bool", "true",
        "algorithm=gptq: round the channels with the largest inputs first; "
        "false: in their order">,
      Option<"searchesScales", "search-scales", "bool", "true",
        "algorithm=gptq: narrow the ranges of blocks where that has less "
        "error; false: take all of them">,
      Option<"accuracyLevel", "accuracy-level", "int64_t", "0",
        "attribute of MatMulNBits: 0 to leave it out, 1 float32, 2 float16, "
        "3 bfloat16, 4 int8">,
      Texts<"channelAxisList", "channel-axes", "OP:AXIS",
        "the axes of the channels of operators' weights">,
      Option<"reduceRange", "reduce-range", "bool", "false",
        "weights use one bit less than their type has">,
      Option<"minimumRealRange", "minimum-real-range", "double", "0.0",
        "the least width of a range">,
      Option<"adjustWeights", "adjust-weights-for-bias", "bool", "true",
        "enlarge the scales of weights whose bias would leave 32 bits">,
      Option<"int16First", "int16-first", "int64_t", "0",
        "store the first N activations in 16 bits">,
      Texts<"int16Tensors", "int16-tensors", "A,B",
        "store these activations in 16 bits: names or regular expressions">,
    ]>,
    ChosenGroup<"parameters", "Parameters of tensors", [
      Text<"inputParams", "input-quantization-params", "JSON",
        "JSON or a file of it: {\"tensor\": [zero point, scale]} of "
        "activations that enter nodes; a zero point below zero is that of s8 "
        "numbers">,
      Text<"outputParams", "output-quantization-params", "JSON",
        "the same of activations that leave nodes">,
      Text<"tensorOverrides", "tensor-overrides", "JSON",
        "JSON or a file of it: {\"tensor\": {\"type\": .., \"scale\": .., "
        "\"zero_point\": .., \"min\": .., \"max\": .., \"axis\": .., "
        "\"symmetric\": .., \"reduce_range\": .., \"convert\": {\"type\": .., "
        "\"recv_nodes\": [..]}}}">,
    ]>,
    ChosenGroup<"nodes", "Quantizers in the graph", [
      Option<"dedicatedPair", "dedicated-qdq-pair", "bool", "false",
        "a pair of quantizer and dequantizer for each user of a tensor">,
      Option<"weightPair", "add-qdq-pair-to-weight", "bool", "false",
        "leave weights in float, and quantize them in the graph">,
      Option<"keepActivations", "keep-removable-activations", "bool", "false",
        "keep a Relu or Clip that saturation makes superfluous">,
      Option<"contribQdq", "contrib-qdq", "bool", "false",
        "use com.microsoft's quantizers for 16 and 4 bits, which need no opset "
        "21">,
    ]>,
    Group<"budget", "How much may be lost ('onnxq quantize' and Python only)", [
      Text<"minSqnr", "min-sqnr", "DB",
        "the fastest model with this signal to noise at the outputs, in "
        "decibels, on samples held back">,
      Text<"minAgreement", "min-agreement", "P%",
        "the fastest model whose best class is the float model's in this share "
        "of rows">,
      Text<"maxDrop", "max-drop", "P%",
        "the fastest model that loses no more than this share of metric">,
      Text<"maxLatency", "max-latency", "MS",
        "the most accurate model that a run takes no longer with, or a bound "
        "beside the others">,
      Text<"labels", "labels", "FILE",
        "of max-drop, as of 'onnxq evaluate'; without it, folders are classes">,
      Choice<"metric", "metric", "", ["top1", "top5", "coco"],
        "of max-drop (top1; coco where boxes are given)">,
      Text<"boxes", "boxes", "FORMAT",
        "how outputs mean boxes, for metric=coco, as of 'onnxq evaluate'">,
      Option<"onlyWhereFaster", "only-where-faster", "bool", "false",
        "without a bound: leave convolutions and products float that 8 bits "
        "make slower on target">,
      Text<"target", "target", "NAME",
        "the processor that time counts on (native: measured here; others by a "
        "model of their costs)">,
      Text<"checkpoint", "checkpoint", "FILE",
        "continue a search from this file, and write it while searching">,
    ]>,
    Group<"report", "What is told", [
      Text<"report", "report", "FILE", "file to write a JSON report to">,
      Option<"remarks", "remarks", "bool", "false",
        "a remark for each node: quantized, or why not">,
    ]>,
  ];
  let statistics = [
    Statistic<"numQuantized", "quantized", "Nodes quantized">,
    Statistic<"numFloat", "float", "Nodes left in float">,
    Statistic<"numActivations", "activations", "Activations quantized">,
    Statistic<"numWeights", "weights", "Weights quantized">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_TD
