// Passes from the `onnx` dialect to itself that prepare a graph.

#ifndef ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_TD
#define ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShapeInference : Pass<"onnx-shape-inference", "::mlir::ModuleOp"> {
  let summary = "infer element types and shapes, static and symbolic";
  let description = [{
    Infers the types of all tensors of a model's graphs from its inputs.
    Dimensions are expressions over the inputs' named dimensions; the contents
    of small integer tensors are followed, so that chains of Shape, Gather,
    Concat and Reshape resolve. Dynamic dimensions that have an expression are
    written to `onnx_dim_params`, and the graph's result types are updated.

    Inputs can be specialized first: `dim=batch=1` gives a named dimension a
    value everywhere, `input-shape=x=1x3x224x224` a whole input (`?` and names
    keep a dimension open), and `dynamic-batch=N` makes the first dimension of
    every input the named dimension `N`.

    ```mlir
    func.func @main_graph(%x: tensor<?x8xf32> {onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
      %y = "onnx.Relu"(%x) : (tensor<?x8xf32>) -> tensor<*xf32>
      onnx.Return %y : tensor<*xf32>
    }
    // becomes
    func.func @main_graph(%x: tensor<?x8xf32> {onnx.dim_params = "0:batch"}) -> (tensor<?x8xf32> {onnx.dim_params = "0:batch"}) {
      %y = "onnx.Relu"(%x) {onnx_dim_params = ["0:batch"]} : (tensor<?x8xf32>) -> tensor<?x8xf32>
      onnx.Return %y : tensor<?x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
                           "::mlir::func::FuncDialect"];
  let options = [
    ListOption<"dims", "dim", "std::string",
      "NAME=VALUE: the value of a named dimension">,
    ListOption<"inputShapes", "input-shape", "std::string",
      "NAME=1x3x224x224: the shape of an input">,
    Option<"dynamicBatch", "dynamic-batch", "std::string", "",
      "make the first dimension of every input dynamic, under this name">,
    Option<"symbolic", "symbolic", "bool", "true",
      "write expressions over named dimensions">,
    Option<"forget", "forget", "bool", "false",
      "instead of inferring, forget all shapes but those of inputs and outputs">,
    Option<"autoMerge", "auto-merge", "bool", "false",
      "take named dimensions that meet in an elementwise node or a Concat to be the same">,
    Option<"guessRanks", "guess-output-rank", "bool", "false",
      "take results of unknown operators to have the rank of the first operand">,
  ];
  let statistics = [
    Statistic<"numStatic", "static-results", "Results with a static shape">,
    Statistic<"numSymbolic", "symbolic-results",
      "Results with a dynamic dimension that has an expression">,
    Statistic<"numOpen", "open-results",
      "Results with an unknown rank or dimension">,
  ];
}

def OpenSlices : Pass<"onnx-open-slices", "::mlir::ModuleOp"> {
  let summary = "take very large ends of slices to mean no end";
  let description = [{
    Exporters write an end that is never reached as some large number. Ends of
    `bound` or more become the largest of 64 bits, those of -bound or less the
    smallest, so that shape inference doesn't take them for a limit.

    ```mlir
    %e = onnx.Constant dense<100000> : tensor<1xi64>
    %y = "onnx.Slice"(%x, %s, %e, %axes, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?xf32>
    // becomes
    %e = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
    %y = "onnx.Slice"(%x, %s, %e, %axes, %none) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?xf32>
    ```
  }];
  let options = [
    Option<"bound", "bound", "int64_t", "2147483647",
      "the smallest number that means no end">,
  ];
  let statistics = [
    Statistic<"numOpened", "opened-slices", "Slices without an end">,
  ];
}

def DynamicBatch : Pass<"onnx-dynamic-batch", "::mlir::ModuleOp"> {
  let summary = "make the batch a named dimension";
  let description = [{
    The first dimension of every input becomes the named dimension. A Reshape
    to constant dimensions that holds the old batch copies or infers it, where
    that follows from the dimensions. The model is refused where a Reshape
    fixes the batch otherwise, where inputs have different batches, where an
    output lacks the batch, and where two samples at once don't fit.

    ```mlir
    func.func @main_graph(%x: tensor<1x8xf32>) -> tensor<1x2x4xf32> {
      %s = onnx.Constant dense<[1, 2, 4]> : tensor<3xi64>
      %y = "onnx.Reshape"(%x, %s) : (tensor<1x8xf32>, tensor<3xi64>) -> tensor<1x2x4xf32>
      onnx.Return %y : tensor<1x2x4xf32>
    }
    // becomes
    func.func @main_graph(%x: tensor<?x8xf32> {onnx.dim_params = "0:N"}) -> (tensor<?x2x4xf32> {onnx.dim_params = "0:N"}) {
      %s = onnx.Constant dense<[0, 2, 4]> : tensor<3xi64>
      %y = "onnx.Reshape"(%x, %s) {onnx_dim_params = ["0:N"]} : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
      onnx.Return %y : tensor<?x2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"name", "name", "std::string", "\"N\"",
      "the name of the dimension">,
  ];
  let statistics = [
    Statistic<"numReshapes", "opened-reshapes", "Reshapes that follow the batch">,
  ];
}

def RemoveUnused : Pass<"onnx-remove-unused", "::mlir::ModuleOp"> {
  let summary = "erase nodes and constants that no output depends on";
  let description = [{
    ```mlir
    %w = onnx.Constant dense<1.0> : tensor<4xf32>
    %1 = "onnx.Add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Return %x : tensor<4xf32>
    // becomes
    onnx.Return %x : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"constantsOnly", "constants-only", "bool", "false",
      "erase unused constants, but no nodes">,
  ];
  let statistics = [
    Statistic<"numNodes", "removed-nodes", "Nodes removed">,
    Statistic<"numConstants", "removed-constants", "Constants removed">,
  ];
}

def RemoveNoOps : Pass<"onnx-remove-no-ops", "::mlir::ModuleOp"> {
  let summary = "remove nodes that do nothing, and join transposes";
  let description = [{
    Removes Identity, Dropout that doesn't train, Pad by nothing, Cast to the
    same type, Reshape, Flatten, Squeeze, Expand, Tile and Slice that change
    nothing, Transpose in the given order, and so on: whatever its folder says
    gives back an operand. Dimensions are compared as expressions. A Transpose
    of a Transpose becomes one. An If of known condition gives way to its
    branch.

    An output keeps its name, which becomes that of the producer; a node that
    passes an input on to an output stays.

    ```mlir
    %1 = "onnx.Identity"(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %2 = "onnx.Relu"(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    // becomes
    %2 = "onnx.Relu"(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let options = [
    ListOption<"kinds", "kinds", "std::string",
      "the operators to look at, all if empty">,
  ];
  let statistics = [
    Statistic<"numRemoved", "removed-nodes", "Nodes removed">,
    Statistic<"numJoined", "joined-transposes", "Transposes joined">,
  ];
}

def FoldConstants : Pass<"onnx-fold-constants", "::mlir::ModuleOp"> {
  let summary = "compute what depends on constants only";
  let description = [{
    Nodes whose operands are constants, or come from such nodes, are compiled,
    run once, and replaced by the results, under the same tensor names. Shape
    arithmetic that shape inference follows is replaced without compiling.

    A result of more than `max-bytes` is computed only if it is no larger than
    what it is computed from, so that an Expand or a ConstantOfShape doesn't
    make a model grow. Random nodes, DequantizeLinear (a quantized weight stays
    quantized), nodes with subgraphs and outputs of graphs stay. What can't be
    compiled or fails when it runs stays too, with a remark.

    The pass needs an executor; without one, only shape arithmetic is folded.

    ```mlir
    %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %t = "onnx.Transpose"(%w) {onnx_result_names = ["t"], perm = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    // becomes
    %t = onnx.Constant {onnx_result_names = ["t"]} dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
    ```
  }];
  let dependentDialects = [
    "::onnxquant::onnx::ONNXDialect", "::mlir::func::FuncDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "1048576",
      "the largest result that may be larger than its operands">,
  ];
  let statistics = [
    Statistic<"numKnown", "shape-nodes", "Nodes known by shape inference">,
    Statistic<"numComputed", "computed-nodes", "Nodes computed by running them">,
    Statistic<"numLeft", "left-nodes", "Nodes that can't be compiled or run">,
  ];
}

def PlaceConstants : Pass<"onnx-place-constants", "::mlir::ModuleOp"> {
  let summary = "put every constant before the first node that reads it";
  let description = [{
    The order in which a model's constants are read from a file. After it, a
    model that is written, read and written again has the same bytes.

    ```mlir
    %b = onnx.Constant dense<2.0> : tensor<4xf32>
    %a = onnx.Constant dense<1.0> : tensor<4xf32>
    %1 = "onnx.Add"(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "onnx.Add"(%1, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %a = onnx.Constant dense<1.0> : tensor<4xf32>
    %1 = "onnx.Add"(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = onnx.Constant dense<2.0> : tensor<4xf32>
    %2 = "onnx.Add"(%1, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def MergeConstants : Pass<"onnx-merge-constants", "::mlir::ModuleOp"> {
  let summary = "make one constant of equal ones";
  let description = [{
    Constants with the same type and elements become the first of them, under
    its name. Those that are outputs stay.

    ```mlir
    %a = onnx.Constant {onnx_result_names = ["a"]} dense<1.0> : tensor<4xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<1.0> : tensor<4xf32>
    %y = "onnx.Sum"(%x, %a, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %a = onnx.Constant {onnx_result_names = ["a"]} dense<1.0> : tensor<4xf32>
    %y = "onnx.Sum"(%x, %a, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "merged-constants", "Constants merged">,
  ];
}

def FoldBatchNorm : Pass<"onnx-fold-batch-norm", "::mlir::ModuleOp"> {
  let summary = "fold batch normalizations into convolutions and products";
  let description = [{
    With s = scale / sqrt(var + epsilon), a BatchNormalization with constant
    operands is x * s + (B - mean * s) per channel. After a Conv, ConvTranspose
    or Gemm with constant weights whose result nothing else reads, the weights
    of each output channel are multiplied by s, and the rest goes to the bias.
    Before one, the weights of each input channel are, if the shift is zero or
    the consumer doesn't pad: there the padding would be shifted as well.

    Channels are axis 1. After a MatMul with a constant matrix on the right the
    columns of which they are (a product of rank 2, or one that a Transpose
    turns, with or without a bias), the matrix is scaled and the shift becomes
    an Add; so it is with a matrix on the left and its rows. Where axis 1 of a
    product of rank 3 is its sequence, nothing can be folded: each place of it
    has a factor of its own, and the matrix is the same for all.

    The result keeps the name of the last tensor, the node that of the
    contraction. Weights are computed in double precision and rounded once.

    ```mlir
    %1 = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "c"} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<1x4x8x8xf32>
    %y, %m, %v = "onnx.BatchNormalization"(%1, %s, %b, %mean, %var) {onnx_result_names = ["y"]}
        : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x8x8xf32>, none, none)
    // becomes
    %y = "onnx.Conv"(%x, %w2, %b2) {onnx_node_name = "c", onnx_result_names = ["y"]}
        : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numAfter", "into-producers", "Folded into a producer">,
    Statistic<"numBefore", "into-consumers", "Folded into a consumer">,
  ];
}

def FusePad : Pass<"onnx-fuse-pad", "::mlir::ModuleOp"> {
  let summary = "make paddings part of convolutions and poolings";
  let description = [{
    A constant Pad of spatial dimensions becomes part of the `pads` of the one
    op that reads it: zeros for Conv, and for AveragePool, which counts them
    then; for MaxPool a number that can't win, which is the lowest one, or zero
    after an op that gives no negative numbers. An op with `auto_pad` SAME, one
    that counts its own padding otherwise, and windows that would lie in the
    padding keep the Pad.

    ```mlir
    %1 = "onnx.Pad"(%x, %pads, %none, %none) {mode = "constant"} : (tensor<1x3x8x8xf32>, tensor<8xi64>, none, none) -> tensor<1x3x10x10xf32>
    %y = "onnx.Conv"(%1, %w, %none) : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8xf32>
    // becomes
    %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8xf32>
    ```
  }];
  let options = [
    Option<"convOnly", "conv-only", "bool", "false",
      "leave poolings as they are">,
  ];
  let statistics = [
    Statistic<"numConvs", "convolutions", "Paddings of convolutions">,
    Statistic<"numPools", "poolings", "Paddings of poolings">,
  ];
}

def FuseMul : Pass<"onnx-fuse-mul", "::mlir::ModuleOp"> {
  let summary = "make products with constants weights";
  let description = [{
    A Mul or Div by a constant per output channel (or by one number) becomes
    part of the weights and the bias of the Conv, ConvTranspose or Gemm before
    it, if they are constant and nothing else reads its result.

    ```mlir
    %1 = "onnx.Conv"(%x, %w, %b) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %y = "onnx.Mul"(%1, %s) : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
    // becomes
    %y = "onnx.Conv"(%x, %w2, %b2) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused-products", "Products made weights">,
  ];
}

def FuseAdd : Pass<"onnx-fuse-add", "::mlir::ModuleOp"> {
  let summary = "make sums with constants biases";
  let description = [{
    An Add or Sub of a constant per output channel (or of one number) becomes
    part of the bias of the Conv, ConvTranspose or Gemm before it, if its
    weights are constant and nothing else reads its result. The result keeps
    the name of the sum, the node that of the contraction.

    ```mlir
    %1 = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "c"} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<1x4x8x8xf32>
    %y = "onnx.Add"(%1, %b) {onnx_result_names = ["y"]} : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
    // becomes
    %y = "onnx.Conv"(%x, %w, %b2) {onnx_node_name = "c", onnx_result_names = ["y"]} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused-sums", "Sums made biases">,
  ];
}

def DivToMul : Pass<"onnx-div-to-mul", "::mlir::ModuleOp"> {
  let summary = "multiply by reciprocals of constants";
  let description = [{
    Floats divided by a constant are multiplied by its reciprocal: the same for
    powers of two, within one rounding otherwise. Divisors whose reciprocal is
    not a normal number stay.

    ```mlir
    %c = onnx.Constant dense<4.0> : tensor<f32>
    %y = "onnx.Div"(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    // becomes
    %c = onnx.Constant dense<0.25> : tensor<f32>
    %y = "onnx.Mul"(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"exactOnly", "exact-only", "bool", "false",
      "change divisions by powers of two only">,
  ];
  let statistics = [
    Statistic<"numChanged", "changed-divisions", "Divisions made products">,
  ];
}

def FuseMatMulAdd : Pass<"onnx-fuse-matmul-add", "::mlir::ModuleOp"> {
  let summary = "make products of matrices with a bias Gemm";
  let description = [{
    A MatMul of two matrices, or a Gemm without a bias, and the Add of a
    constant per column become one Gemm under the product's node name.

    ```mlir
    %1 = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %y = "onnx.Add"(%1, %c) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    // becomes
    %y = "onnx.Gemm"(%a, %b, %c) {alpha = 1.0 : f32, beta = 1.0 : f32, transA = 0 : si64, transB = 0 : si64} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused-products", "Products made Gemm">,
  ];
}

def SplitGemm : Pass<"onnx-split-gemm", "::mlir::ModuleOp"> {
  let summary = "make a flattened Gemm a MatMul of more dimensions";
  let description = [{
    Where a tensor is reshaped to a matrix for a Gemm with constant weights and
    the rows are reshaped back, MatMul and Add do the same without reshaping.

    ```mlir
    %1 = "onnx.Reshape"(%x, %s) : (tensor<2x5x8xf32>, tensor<2xi64>) -> tensor<10x8xf32>
    %2 = "onnx.Gemm"(%1, %w, %b) : (tensor<10x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<10x4xf32>
    %y = "onnx.Reshape"(%2, %t) : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<2x5x4xf32>
    // becomes
    %1 = "onnx.MatMul"(%x, %w) : (tensor<2x5x8xf32>, tensor<8x4xf32>) -> tensor<2x5x4xf32>
    %y = "onnx.Add"(%1, %b) : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
    ```
  }];
  let statistics = [
    Statistic<"numSplit", "split-products", "Gemm made MatMul">,
  ];
}

def FuseTranspose : Pass<"onnx-fuse-transpose", "::mlir::ModuleOp"> {
  let summary = "let Gemm read transposed operands";
  let description = [{
    A Transpose of a matrix that a Gemm reads turns the flag of that operand.

    ```mlir
    %1 = "onnx.Transpose"(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %y = "onnx.Gemm"(%1, %b, %c) {transA = 0 : si64} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    // becomes
    %y = "onnx.Gemm"(%a, %b, %c) {transA = 1 : si64} : (tensor<3x2xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused-transposes", "Transposes made flags">,
  ];
}

def RecognizeHardSwish : Pass<"onnx-recognize-hard-swish", "::mlir::ModuleOp"> {
  let summary = "find HardSigmoid and HardSwish in their parts";
  let description = [{
    A sum limited to 0..L (Clip, or Min of Max or Relu) and divided by L is a
    HardSigmoid; times its own input, with the slope 1/6 and the offset 1/2, it
    is a HardSwish. Factors may come in any order. Below opset 14, which has no
    HardSwish, the latter becomes a HardSigmoid and a Mul.

    ```mlir
    %1 = "onnx.Add"(%x, %three) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = "onnx.Clip"(%1, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
    %3 = "onnx.Mul"(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %y = "onnx.Div"(%3, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    // becomes
    %y = "onnx.HardSwish"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"maxOpset", "max-opset", "int64_t", "0",
      "make no node that this opset doesn't have; 0 is any">,
  ];
  let statistics = [
    Statistic<"numSwishes", "hard-swishes", "HardSwish found">,
    Statistic<"numSigmoids", "hard-sigmoids", "HardSigmoid found">,
  ];
}

def RecognizeSigmoid : Pass<"onnx-recognize-sigmoid", "::mlir::ModuleOp"> {
  let summary = "find Sigmoid, Softplus and Mish in their parts";
  let description = [{
    1 / (1 + exp(-x)) is Sigmoid, x / (1 + exp(-x)) is x times it (Swish),
    log(1 + exp(x)) is Softplus, and x * tanh(softplus(x)) is Mish, which needs
    opset 18.

    ```mlir
    %1 = "onnx.Neg"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "onnx.Exp"(%1) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "onnx.Add"(%2, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %y = "onnx.Div"(%one, %3) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %y = "onnx.Sigmoid"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"maxOpset", "max-opset", "int64_t", "0",
      "make no node that this opset doesn't have; 0 is any">,
  ];
  let statistics = [
    Statistic<"numSigmoids", "sigmoids", "Sigmoid found">,
    Statistic<"numOthers", "others", "Softplus or Mish found">,
  ];
}

def RecognizeGelu : Pass<"onnx-recognize-gelu", "::mlir::ModuleOp"> {
  let summary = "find Gelu in its parts";
  let description = [{
    x * (1 + erf(x / sqrt(2))) / 2, and the form with tanh and the cube, with
    factors in any order, become one node of opset 20.

    ```mlir
    %1 = "onnx.Div"(%x, %sqrt2) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = "onnx.Erf"(%1) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "onnx.Add"(%2, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %4 = "onnx.Mul"(%x, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %y = "onnx.Mul"(%4, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    // becomes
    %y = "onnx.Gelu"(%x) {approximate = "none"} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"maxOpset", "max-opset", "int64_t", "0",
      "make no node that this opset doesn't have; 0 is any">,
  ];
  let statistics = [
    Statistic<"numFound", "gelus", "Gelu found">,
  ];
}

def RecognizeLayerNorm : Pass<"onnx-recognize-layer-norm", "::mlir::ModuleOp"> {
  let summary = "find LayerNormalization in its parts";
  let description = [{
    (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), the means over the
    last axes, becomes one node of opset 17; a constant factor and a constant
    bias of the shape of these axes become its operands. f64 stays, because the
    operator computes in f32.

    ```mlir
    %1 = "onnx.ReduceMean"(%x, %axes) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
    %2 = "onnx.Sub"(%x, %1) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
    %3 = "onnx.Mul"(%2, %2) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %4 = "onnx.ReduceMean"(%3, %axes) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
    %5 = "onnx.Add"(%4, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
    %6 = "onnx.Sqrt"(%5) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %7 = "onnx.Div"(%2, %6) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
    %y = "onnx.Mul"(%7, %scale) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    // becomes
    %y, %m, %d = "onnx.LayerNormalization"(%x, %scale, %none) {axis = -1 : si64, epsilon = 1.0e-5 : f32, stash_type = 1 : si64}
        : (tensor<2x8xf32>, tensor<8xf32>, none) -> (tensor<2x8xf32>, none, none)
    ```
  }];
  let options = [
    Option<"maxOpset", "max-opset", "int64_t", "0",
      "make no node that this opset doesn't have; 0 is any">,
  ];
  let statistics = [
    Statistic<"numFound", "layer-norms", "LayerNormalization found">,
  ];
}

def ResolveBranches : Pass<"onnx-resolve-branches", "::mlir::ModuleOp"> {
  let summary = "make ranks known that depend on the branch of an If";
  let description = [{
    An If of a known condition is replaced by its branch. Where the branches of
    any other If give a value of different ranks, what follows is moved into
    both branches: there the rank is known, and questions that the model asks
    about it are answered. A branch that cannot be run for the shapes at hand
    ends in a check that fails with the reason.

    ```mlir
    %r = "onnx.If"(%c) ({
      %s = "onnx.Squeeze"(%x, %axes) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x8xf32>
      onnx.Yield %s : tensor<?x8xf32>
    }, {
      onnx.Yield %x : tensor<?x8x?xf32>
    }) : (tensor<i1>) -> tensor<*xf32>
    %y = "onnx.Relu"(%r) : (tensor<*xf32>) -> tensor<*xf32>
    // becomes
    %y = "onnx.If"(%c) ({
      %s = "onnx.Squeeze"(%x, %axes) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x8xf32>
      %t = "onnx.Relu"(%s) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      onnx.Yield %t : tensor<?x8xf32>
    }, {
      %t = "onnx.Relu"(%x) : (tensor<?x8x?xf32>) -> tensor<?x8x?xf32>
      onnx.Yield %t : tensor<?x8x?xf32>
    }) : (tensor<i1>) -> tensor<*xf32>
    ```
  }];
  let dependentDialects = ["::onnxquant::onnx::ONNXDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::ub::UBDialect"];
  let statistics = [
    Statistic<"numTaken", "taken", "Branches that are always taken">,
    Statistic<"numSunk", "sunk", "Branches that what follows was moved into">,
    Statistic<"numCut", "cut", "Branches that can't be run">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_TD
