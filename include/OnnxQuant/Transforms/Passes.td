// All passes from the `onnx` dialect to itself.

#ifndef ONNXQUANT_TRANSFORMS_PASSES_TD
#define ONNXQUANT_TRANSFORMS_PASSES_TD

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
  ];
  let statistics = [
    Statistic<"numStatic", "static-results", "Results with a static shape">,
    Statistic<"numSymbolic", "symbolic-results",
      "Results with a dynamic dimension that has an expression">,
    Statistic<"numOpen", "open-results",
      "Results with an unknown rank or dimension">,
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

def FoldBatchNorm : Pass<"onnx-fold-batch-norm", "::mlir::ModuleOp"> {
  let summary = "fold batch normalizations into convolutions and products";
  let description = [{
    With s = scale / sqrt(var + epsilon), a BatchNormalization with constant
    operands is x * s + (B - mean * s) per channel. After a Conv, ConvTranspose
    or Gemm with constant weights whose result nothing else reads, the weights
    of each output channel are multiplied by s, and the rest goes to the bias.
    Before one, the weights of each input channel are, if the shift is zero or
    the consumer doesn't pad: there the padding would be shifted as well.

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

#endif // ONNXQUANT_TRANSFORMS_PASSES_TD
