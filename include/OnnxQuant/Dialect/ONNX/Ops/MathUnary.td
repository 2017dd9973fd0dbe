// Functions and activations of one operand, applied to each element.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MATHUNARY_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MATHUNARY_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

// `attributes` follow the operand; `given` is their text in the example.
class ONNX_UnaryOp<string opName, list<int> since, string text,
                   list<string> names = ["X", "Y"],
                   Type tensor = ONNX_FloatTensor, string element = "f32",
                   string follow = "", dag attributes = (ins),
                   string given = "">
    : ONNX_Op<opName, since, [ONNX_SameElementType<names>]> {
  let description = "\n    " # text # [{

    Example:
    ```mlir
    %r = "onnx.}] # opName # [{"(%x) }] # given # [{: (tensor<2x3x}] # element
      # [{>) -> tensor<2x3x}] # element # [{>
    ```
  }];
  let arguments = !con(!dag(ins, [tensor], [names[0]]), attributes);
  let results = !dag(outs, [tensor], [names[1]]);
  let shapeRule = !if(!empty(follow), "shape::sameAs(ctx, op)",
      "follow::elementwise(ctx, op, follow::" # follow # ")");
}

// The other spelling of a unary op's operand and result.
class ONNX_FunctionOp<string opName, list<int> since, string text,
                      Type tensor = ONNX_FloatTensor>
    : ONNX_UnaryOp<opName, since, text, ["input", "output"], tensor>;

class ONNX_NumberUnaryOp<string opName, list<int> since, string text,
                         string follow = "">
    : ONNX_UnaryOp<opName, since, text, ["X", "Y"], ONNX_NumberTensor, "f32",
                   follow>;

// An activation with attributes.
class ONNX_TunedOp<string opName, list<int> since, string text,
                   dag attributes, string given,
                   Type tensor = ONNX_FloatTensor,
                   list<string> names = ["X", "Y"]>
    : ONNX_UnaryOp<opName, since, text, names, tensor, "f32", "", attributes,
                   given>;

//===----------------------------------------------------------------------===//
// Signs, logic and rounding
//===----------------------------------------------------------------------===//

def ONNX_AbsOp : ONNX_NumberUnaryOp<"Abs", [1, 6, 13],
    "`Y = |X|`", "absolute"> {
  let summary = "absolute value";
}
def ONNX_NegOp : ONNX_NumberUnaryOp<"Neg", [1, 6, 13],
    "`Y = -X`", "negate"> {
  let summary = "negated value";
}
def ONNX_SignOp : ONNX_FunctionOp<"Sign", [9, 13],
    "`output = 1` for positive elements, `-1` for negative ones, `0` for zero.",
    ONNX_NumberTensor> {
  let summary = "sign";
}
def ONNX_NotOp : ONNX_UnaryOp<"Not", [1],
    "`Y = !X`", ["X", "Y"], ONNX_BoolTensor, "i1", "logicalNot"> {
  let summary = "logical negation";
}
def ONNX_BitwiseNotOp : ONNX_UnaryOp<"BitwiseNot", [18],
    "`Y = ~X`, bit by bit.", ["X", "Y"], ONNX_IntTensor, "i32"> {
  let summary = "negation of all bits";
}
def ONNX_CeilOp : ONNX_UnaryOp<"Ceil", [1, 6, 13],
    "The least integer that is not below `X`."> {
  let summary = "rounding up";
  let shapeRule = "follow::rounding(ctx, op, follow::Rounding::Up)";
}
def ONNX_FloorOp : ONNX_UnaryOp<"Floor", [1, 6, 13],
    "The greatest integer that is not above `X`."> {
  let summary = "rounding down";
  let shapeRule = "follow::rounding(ctx, op, follow::Rounding::Down)";
}
def ONNX_RoundOp : ONNX_UnaryOp<"Round", [11, 22],
    "The nearest integer; halves go to the even one.",
    ["X", "Y"], ONNX_FloatTensor, "f32", "identity"> {
  let summary = "rounding to nearest";
}

//===----------------------------------------------------------------------===//
// Float tests
//===----------------------------------------------------------------------===//

def ONNX_TestedFloatTensor : ONNX_TensorOf<
    !listconcat(ONNX_Floats.types, ONNX_Float8s.types), "float values">;

def ONNX_IsInfOp : ONNX_Op<"IsInf", [10, 20]> {
  let summary = "where elements are infinite";
  let description = [{
    `Y` is true at `-inf` if `detect_negative` is not 0, and at `+inf` if
    `detect_positive` is not 0.

    Example:
    ```mlir
    %y = "onnx.IsInf"(%x) {detect_negative = 1 : si64, detect_positive = 0 : si64}
        : (tensor<2x3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins
      ONNX_TestedFloatTensor:$X,
      DefaultValuedAttr<SI64Attr, "1">:$detect_negative,
      DefaultValuedAttr<SI64Attr, "1">:$detect_positive);
  let results = (outs
      ONNX_BoolTensor:$Y);
  let shapeRule = [{ shape::sameDimsAs(ctx, op, 0,
      ::mlir::IntegerType::get(op.getContext(), 1)) }];
}

def ONNX_IsNaNOp : ONNX_Op<"IsNaN", [9, 13, 20]> {
  let summary = "where elements are no numbers";
  let description = [{
    `Y = (X != X)`

    Example:
    ```mlir
    %y = "onnx.IsNaN"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins
      ONNX_TestedFloatTensor:$X);
  let results = (outs
      ONNX_BoolTensor:$Y);
  let shapeRule = [{ shape::sameDimsAs(ctx, op, 0,
      ::mlir::IntegerType::get(op.getContext(), 1)) }];
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def ONNX_AcosOp : ONNX_FunctionOp<"Acos", [7, 22],
    "`output = arccos(input)`, in radians."> {
  let summary = "inverse cosine";
}
def ONNX_AcoshOp : ONNX_FunctionOp<"Acosh", [9, 22],
    "`output = ln(input + sqrt(input^2 - 1))`"> {
  let summary = "inverse hyperbolic cosine";
}
def ONNX_AsinOp : ONNX_FunctionOp<"Asin", [7, 22],
    "`output = arcsin(input)`, in radians."> {
  let summary = "inverse sine";
}
def ONNX_AsinhOp : ONNX_FunctionOp<"Asinh", [9, 22],
    "`output = ln(input + sqrt(input^2 + 1))`"> {
  let summary = "inverse hyperbolic sine";
}
def ONNX_AtanOp : ONNX_FunctionOp<"Atan", [7, 22],
    "`output = arctan(input)`, in radians."> {
  let summary = "inverse tangent";
}
def ONNX_AtanhOp : ONNX_FunctionOp<"Atanh", [9, 22],
    "`output = ln((1 + input) / (1 - input)) / 2`"> {
  let summary = "inverse hyperbolic tangent";
}
def ONNX_CosOp : ONNX_FunctionOp<"Cos", [7, 22],
    "`output = cos(input)`, of radians."> {
  let summary = "cosine";
}
def ONNX_CoshOp : ONNX_FunctionOp<"Cosh", [9, 22],
    "`output = (exp(input) + exp(-input)) / 2`"> {
  let summary = "hyperbolic cosine";
}
def ONNX_ErfOp : ONNX_FunctionOp<"Erf", [9, 13],
    "`output = 2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to "
    "`input`.", ONNX_NumberTensor> {
  let summary = "error function";
}
def ONNX_ExpOp : ONNX_FunctionOp<"Exp", [1, 6, 13],
    "`output = e^input`"> {
  let summary = "exponential";
}
def ONNX_LogOp : ONNX_FunctionOp<"Log", [1, 6, 13],
    "`output = ln(input)`"> {
  let summary = "natural logarithm";
}
def ONNX_ReciprocalOp : ONNX_UnaryOp<"Reciprocal", [1, 6, 13],
    "`Y = 1 / X`"> {
  let summary = "reciprocal";
}
def ONNX_SinOp : ONNX_FunctionOp<"Sin", [7, 22],
    "`output = sin(input)`, of radians."> {
  let summary = "sine";
}
def ONNX_SinhOp : ONNX_FunctionOp<"Sinh", [9, 22],
    "`output = (exp(input) - exp(-input)) / 2`"> {
  let summary = "hyperbolic sine";
}
def ONNX_SqrtOp : ONNX_UnaryOp<"Sqrt", [1, 6, 13],
    "`Y = X^(1/2)`; NaN for negative elements."> {
  let summary = "square root";
}
def ONNX_TanOp : ONNX_FunctionOp<"Tan", [7, 22],
    "`output = tan(input)`, of radians."> {
  let summary = "tangent";
}
def ONNX_TanhOp : ONNX_FunctionOp<"Tanh", [1, 6, 13],
    "`output = (exp(input) - exp(-input)) / (exp(input) + exp(-input))`"> {
  let summary = "hyperbolic tangent";
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def ONNX_CeluOp : ONNX_TunedOp<"Celu", [12],
    "`Y = max(0, X) + min(0, alpha * (exp(X / alpha) - 1))`",
    (ins DefaultValuedAttr<F32Attr, "1.0">:$alpha),
    "{alpha = 2.0 : f32} ", ONNX_F32Tensor> {
  let summary = "continuously differentiable exponential linear unit";
}
def ONNX_EluOp : ONNX_TunedOp<"Elu", [1, 6, 22],
    "`Y = X < 0 ? alpha * (exp(X) - 1) : X`",
    (ins DefaultValuedAttr<F32Attr, "1.0">:$alpha), "{alpha = 2.0 : f32} "> {
  let summary = "exponential linear unit";
}
def ONNX_GeluOp : ONNX_TunedOp<"Gelu", [20], [{`Y = X * (1 + erf(X / sqrt(2))) / 2`; with `approximate = "tanh"`,
    `Y = X * (1 + tanh(sqrt(2 / pi) * (X + 0.044715 * X^3))) / 2`.

    Constraints:
    - C1: `approximate` is `none` or `tanh`.}],
    (ins DefaultValuedStrAttr<StrAttr, "none">:$approximate),
    [{{approximate = "tanh"} }]> {
  let summary = "gaussian error linear unit";
  let hasVerifier = 1;
}
def ONNX_HardSigmoidOp : ONNX_TunedOp<"HardSigmoid", [1, 6, 22],
    "`Y = max(0, min(1, alpha * X + beta))`",
    (ins DefaultValuedAttr<F32Attr, "0.2">:$alpha,
         DefaultValuedAttr<F32Attr, "0.5">:$beta),
    "{alpha = 0.25 : f32, beta = 0.5 : f32} "> {
  let summary = "sigmoid made of straight lines";
}
def ONNX_HardSwishOp : ONNX_UnaryOp<"HardSwish", [14, 22],
    "`Y = X * max(0, min(1, X / 6 + 0.5))`"> {
  let summary = "swish with a sigmoid made of straight lines";
}
def ONNX_LeakyReluOp : ONNX_TunedOp<"LeakyRelu", [1, 6, 16],
    "`Y = X < 0 ? alpha * X : X`",
    (ins DefaultValuedAttr<F32Attr, "0.01">:$alpha), "{alpha = 0.5 : f32} "> {
  let summary = "rectifier that lets some of the negative values through";
}
def ONNX_MishOp : ONNX_UnaryOp<"Mish", [18, 22],
    "`Y = X * tanh(ln(1 + exp(X)))`"> {
  let summary = "product of a value and the tanh of its softplus";
}
def ONNX_ReluOp : ONNX_NumberUnaryOp<"Relu", [1, 6, 13, 14],
    "`Y = max(0, X)`"> {
  let summary = "rectifier";
}
def ONNX_SeluOp : ONNX_TunedOp<"Selu", [1, 6, 22],
    "`Y = gamma * (X > 0 ? X : alpha * (exp(X) - 1))`",
    (ins DefaultValuedAttr<F32Attr, "1.67326319217681884765625">:$alpha,
         DefaultValuedAttr<F32Attr, "1.05070102214813232421875">:$gamma),
    "{alpha = 2.0 : f32, gamma = 3.0 : f32} "> {
  let summary = "scaled exponential linear unit";
}
def ONNX_ShrinkOp : ONNX_TunedOp<"Shrink", [9],
    "`output = input < -lambd ? input + bias : input > lambd ? input - bias : "
    "0`",
    (ins DefaultValuedAttr<F32Attr, "0.0">:$bias,
         DefaultValuedAttr<F32Attr, "0.5">:$lambd),
    "{bias = 0.0 : f32, lambd = 1.5 : f32} ", ONNX_NumberTensor,
    ["input", "output"]> {
  let summary = "small values set to zero, others moved toward it";
}
def ONNX_SigmoidOp : ONNX_UnaryOp<"Sigmoid", [1, 6, 13],
    "`Y = 1 / (1 + exp(-X))`"> {
  let summary = "logistic function";
}
def ONNX_SoftplusOp : ONNX_UnaryOp<"Softplus", [1, 22],
    "`Y = ln(1 + exp(X))`"> {
  let summary = "smooth rectifier";
}
def ONNX_SoftsignOp : ONNX_FunctionOp<"Softsign", [1, 22],
    "`output = input / (1 + |input|)`"> {
  let summary = "value divided by one more than its size";
}
def ONNX_ThresholdedReluOp : ONNX_TunedOp<"ThresholdedRelu", [10, 22],
    "`Y = X > alpha ? X : 0`",
    (ins DefaultValuedAttr<F32Attr, "1.0">:$alpha), "{alpha = 2.0 : f32} "> {
  let summary = "rectifier with a threshold";
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MATHUNARY_TD
