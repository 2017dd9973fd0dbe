// Recurrent networks: plain, gated and long short-term memory.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_RECURRENT_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_RECURRENT_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

// What the descriptions have in common.
defvar recurrentText = [{

    Sizes: T steps, N sequences, I inputs, H hidden values (`hidden_size`), D
    directions (2 if `direction` is `bidirectional`, else 1). `layout` 0: X is
    [T, N, I], states are [D, N, H] and Y is [T, D, N, H]; `layout` 1: X is
    [N, T, I], states are [N, D, H] and Y is [N, T, D, H]. W is [D, G * H, I]
    and R [D, G * H, H] for the weights of all G gates below one another; B is
    [D, 2 * G * H] with the biases of W, then those of R. `sequence_lens` are
    the lengths of the sequences, T each if they are left out. `activations`
    names the functions of all directions in turn, with `activation_alpha` and
    `activation_beta` for those that have parameters. With `clip` c, the
    sums that enter the functions of the gates are first brought into [-c, c];
    the cell state that enters the last function of an LSTM stays as it is.

    Constraints:
    - C1: `direction` is `forward`, `reverse` or `bidirectional`.
    - C2: `layout` is 0 or 1.
    - C3: `hidden_size` is positive.
    - C4: `activations` has known names, as many as the functions times D (or
      times 2, of which one direction uses the first half).
    - C5: the ranks of the operands are as above.
    - C6: the dimensions of the operands are as above.
}];

// `gates` is the number of gates, `functions` that of activation functions.
class ONNX_RecurrentOp<string opName, list<int> since, int gates,
                       int functions, list<string> typed>
    : ONNX_Op<opName, since, [ONNX_SameElementType<typed>]> {
  let extraDeclaration =
      "  static constexpr int64_t numGates = " # gates # ";\n"
      "  static constexpr int64_t numFunctions = " # functions # ";\n";
  let hasVerifier = 1;
}

def ONNX_RNNOp : ONNX_RecurrentOp<"RNN", [1, 7, 14, 22], 1, 1,
    ["X", "W", "R", "B", "initial_h", "Y", "Y_h"]> {
  let summary = "plain recurrent network";
  let description = [{
    h' = f(W x + Wb + R h + Rb), step by step; f is Tanh by default. Y holds
    the states after all steps, `Y_h` the last ones.
  }] # recurrentText # [{
    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y, %h = "onnx.RNN"(%x, %w, %r, %none, %none, %none) {activations = ["Tanh"], hidden_size = 4 : si64}
        : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_FloatTensor:$R,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      ONNX_Opt<ONNX_I32Tensor>:$sequence_lens,
      ONNX_Opt<ONNX_FloatTensor>:$initial_h,
      OptionalAttr<F32ArrayAttr>:$activation_alpha,
      OptionalAttr<F32ArrayAttr>:$activation_beta,
      OptionalAttr<StrArrayAttr>:$activations,
      OptionalAttr<F32Attr>:$clip,
      DefaultValuedStrAttr<StrAttr, "forward">:$direction,
      OptionalAttr<SI64Attr>:$hidden_size,
      DefaultValuedAttr<SI64Attr, "0">:$layout);
  let results = (outs
      ONNX_Opt<ONNX_FloatTensor>:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$Y_h);
}

def ONNX_GRUOp : ONNX_RecurrentOp<"GRU", [1, 3, 7, 14, 22], 3, 2,
    ["X", "W", "R", "B", "initial_h", "Y", "Y_h"]> {
  let summary = "recurrent network with update and reset gates";
  let description = [{
    With gates in the order z, r, h:
    z = f(Wz x + Wbz + Rz h + Rbz), r = f(Wr x + Wbr + Rr h + Rbr),
    n = g(Wh x + Wbh + Rh (r * h) + Rbh), or with `linear_before_reset`
    n = g(Wh x + Wbh + r * (Rh h + Rbh)), and h' = (1 - z) * n + z * h. The
    functions f and g are Sigmoid and Tanh by default.
  }] # recurrentText # [{
    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y, %h = "onnx.GRU"(%x, %w, %r, %none, %none, %none) {hidden_size = 4 : si64, linear_before_reset = 1 : si64}
        : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (none, tensor<1x3x4xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_FloatTensor:$R,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      ONNX_Opt<ONNX_I32Tensor>:$sequence_lens,
      ONNX_Opt<ONNX_FloatTensor>:$initial_h,
      OptionalAttr<F32ArrayAttr>:$activation_alpha,
      OptionalAttr<F32ArrayAttr>:$activation_beta,
      OptionalAttr<StrArrayAttr>:$activations,
      OptionalAttr<F32Attr>:$clip,
      DefaultValuedStrAttr<StrAttr, "forward">:$direction,
      OptionalAttr<SI64Attr>:$hidden_size,
      DefaultValuedAttr<SI64Attr, "0">:$layout,
      DefaultValuedAttr<SI64Attr, "0">:$linear_before_reset);
  let results = (outs
      ONNX_Opt<ONNX_FloatTensor>:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$Y_h);
}

def ONNX_LSTMOp : ONNX_RecurrentOp<"LSTM", [1, 7, 14, 22], 4, 3,
    ["X", "W", "R", "B", "initial_h", "initial_c", "P", "Y", "Y_h", "Y_c"]> {
  let summary = "recurrent network with a long short-term memory";
  let description = [{
    With gates in the order i, o, f, c, and peephole weights P of
    [D, 3 * H] in the order i, o, f:
    i = f(Wi x + Wbi + Ri h + Rbi + Pi * c),
    m = f(Wf x + Wbf + Rf h + Rbf + Pf * c), or 1 - i with `input_forget`,
    n = g(Wc x + Wbc + Rc h + Rbc), c' = m * c + i * n,
    o = f(Wo x + Wbo + Ro h + Rbo + Po * c') and h' = o * h(c'). The functions
    f, g and h are Sigmoid, Tanh and Tanh by default. `Y_c` holds the last c'.
  }] # recurrentText # [{
    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %none, %none, %none) {direction = "forward", hidden_size = 4 : si64}
        : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none)
        -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, none)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_FloatTensor:$R,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      ONNX_Opt<ONNX_I32Tensor>:$sequence_lens,
      ONNX_Opt<ONNX_FloatTensor>:$initial_h,
      ONNX_Opt<ONNX_FloatTensor>:$initial_c,
      ONNX_Opt<ONNX_FloatTensor>:$P,
      OptionalAttr<F32ArrayAttr>:$activation_alpha,
      OptionalAttr<F32ArrayAttr>:$activation_beta,
      OptionalAttr<StrArrayAttr>:$activations,
      OptionalAttr<F32Attr>:$clip,
      DefaultValuedStrAttr<StrAttr, "forward">:$direction,
      OptionalAttr<SI64Attr>:$hidden_size,
      DefaultValuedAttr<SI64Attr, "0">:$input_forget,
      DefaultValuedAttr<SI64Attr, "0">:$layout);
  let results = (outs
      ONNX_Opt<ONNX_FloatTensor>:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$Y_h,
      ONNX_Opt<ONNX_FloatTensor>:$Y_c);
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_RECURRENT_TD
