// Ops with subgraphs: If, Loop and Scan.
//
// A subgraph is a region of one block that ends in onnx.Yield. It may use values
// of the graphs around it. The ops have only the effects of their subgraphs.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_CONTROLFLOW_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_CONTROLFLOW_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

class ONNX_SubgraphOp<string opName, list<int> since, list<Trait> traits = []>
    : ONNX_NodeOp<opName, "", opName, since,
                  !listconcat([RecursiveMemoryEffects], traits)>;

def ONNX_IfOp : ONNX_SubgraphOp<"If", [1, 11, 13, 16, 19, 21, 23],
    [RecursivelySpeculatable]> {
  let summary = "runs one of two subgraphs";
  let description = [{
    Gives what `then_branch` yields if `cond` is true, else what `else_branch`
    yields. The branches' results may differ in shape.

    Constraints:
    - C1: `cond` has one element.
    - C2: both branches have no arguments and end in `onnx.Yield`.
    - C3: both branches yield as many values as the op has results.
    - C4: what the branches yield has the results' element types.

    Example:
    ```mlir
    %y = "onnx.If"(%cond) ({
      %a = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      onnx.Yield %a : tensor<4xf32>
    }, {
      onnx.Yield %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_BoolTensor:$cond);
  let results = (outs
      Variadic<ONNX_AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

// Not speculatable: a loop may never end.
def ONNX_LoopOp : ONNX_SubgraphOp<"Loop", [1, 11, 13, 16, 19, 21, 23]> {
  let summary = "runs a subgraph again and again";
  let description = [{
    Runs `body` at most `M` times (left out: without limit) as long as the
    condition holds: `cond` at first (left out: true), then what the body
    yields. The body's arguments are the iteration's number, the condition, and
    the carried values; it yields the next condition, the next carried values,
    and elements of scan outputs. The results are the last carried values, then
    the scan outputs: the elements of all iterations, stacked along a new first
    axis.

    Constraints:
    - C1: `M` and `cond` have one element each.
    - C2: the body has one argument per initial value after an i64 and a bool one, and ends in `onnx.Yield`.
    - C3: the op has at least one result per initial value, and the body yields a condition and one value per result.
    - C4: the condition that the body yields has bool elements.
    - C5: an initial value, its argument, what is yielded for it and its result have the same element type.
    - C6: what is yielded for a scan output has the result's element type.

    Example:
    ```mlir
    %sum, %all = "onnx.Loop"(%m, %true, %zero) ({
    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
      %n = "onnx.Add"(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      onnx.Yield %c, %n, %n : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_Opt<ONNX_I64Tensor>:$M,
      ONNX_Opt<ONNX_BoolTensor>:$cond,
      Variadic<ONNX_AnyTensor>:$v_initial);
  let results = (outs
      Variadic<ONNX_AnyTensor>:$v_final_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def ONNX_ScanOp : ONNX_SubgraphOp<"Scan", [8, 9, 11, 16, 19, 21, 23],
    [RecursivelySpeculatable]> {
  let summary = "runs a subgraph over the slices of tensors";
  let description = [{
    Runs `body` once per slice of the scan inputs, which are the last
    `num_scan_inputs` operands; the operands before them are initial states. The
    body's arguments are the states, then one slice of each scan input; it
    yields the next states, then elements of scan outputs. The results are the
    last states, then the scan outputs: the elements of all runs, stacked.

    Scan inputs are cut along `scan_input_axes` (0 unless given), and scan
    outputs have their new axis at `scan_output_axes`. A direction of 1 takes
    slices from the end, or stacks elements from the end.

    Constraints:
    - C1: `num_scan_inputs` is between 1 and the number of operands.
    - C2: the body has one argument per operand, and ends in `onnx.Yield`.
    - C3: the op has at least one result per state, and the body yields one value per result.
    - C4: a list of axes or directions has one entry per scan input or scan output.
    - C5: directions are 0 or 1.
    - C6: the axis of a scan input or output is within its rank.
    - C7: scan inputs have the same size along their axes.
    - C8: an initial state, its argument, what is yielded for it and its result have the same element type, and so have a scan input and its argument, and what is yielded for a scan output and its result.

    Example:
    ```mlir
    %sum, %all = "onnx.Scan"(%zero, %x) ({
    ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
      %n = "onnx.Add"(%s, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield %n, %n : tensor<2xf32>, tensor<2xf32>
    }) {num_scan_inputs = 1 : si64} : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
    ```
  }];
  let arguments = (ins
      Variadic<ONNX_AnyTensor>:$initial_state_and_scan_inputs,
      SI64Attr:$num_scan_inputs,
      OptionalAttr<I64ArrayAttr>:$scan_input_axes,
      OptionalAttr<I64ArrayAttr>:$scan_input_directions,
      OptionalAttr<I64ArrayAttr>:$scan_output_axes,
      OptionalAttr<I64ArrayAttr>:$scan_output_directions);
  let results = (outs
      Variadic<ONNX_AnyTensor>:$final_state_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_CONTROLFLOW_TD
