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

#endif // ONNXQUANT_TRANSFORMS_PASSES_TD
