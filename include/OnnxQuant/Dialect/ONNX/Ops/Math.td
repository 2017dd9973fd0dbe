// Elementwise operators: arithmetic, comparisons, logic, bits, conversions and
// selection here; functions and activations of one operand in MathUnary.td.
//
// Operands broadcast from the right unless an op says otherwise. A `follow`
// function (lib/Dialect/ONNX/Ops/MathSupport.h) tells what the op does to the
// contents of small integer tensors, so that shapes computed by the graph stay
// known.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MATH_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MATH_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"
include "OnnxQuant/Dialect/ONNX/Ops/MathUnary.td"

//===----------------------------------------------------------------------===//
// Two operands of one element type
//===----------------------------------------------------------------------===//

class ONNX_BinaryOp<string opName, list<int> since, string text, Type tensor,
                    string element, string follow = "">
    : ONNX_Op<opName, since, [ONNX_SameElementType<["A", "B", "C"]>]> {
  let description = text # [{

    Example:
    ```mlir
    %r = "onnx.}] # opName # [{"(%a, %b) : (tensor<2x3x}] # element
      # [{>, tensor<3x}] # element # [{>) -> tensor<2x3x}] # element # [{>
    ```
  }];
  let arguments = (ins tensor:$A, tensor:$B);
  let results = (outs tensor:$C);
  let shapeRule = !if(!empty(follow), "shape::broadcast(ctx, op)",
      "follow::elementwise(ctx, op, follow::" # follow # ")");
}

def ONNX_AddOp : ONNX_BinaryOp<"Add", [1, 6, 7, 13, 14], [{
    `C = A + B`; integers wrap around.}], ONNX_NumberTensor, "f32", "add"> {
  let summary = "sum of two tensors";
}

def ONNX_SubOp : ONNX_BinaryOp<"Sub", [1, 6, 7, 13, 14], [{
    `C = A - B`; integers wrap around.}], ONNX_NumberTensor, "f32", "sub"> {
  let summary = "difference of two tensors";
}

def ONNX_MulOp : ONNX_BinaryOp<"Mul", [1, 6, 7, 13, 14], [{
    `C = A * B`; integers wrap around.}], ONNX_NumberTensor, "f32", "mul"> {
  let summary = "product of two tensors";
}

def ONNX_DivOp : ONNX_BinaryOp<"Div", [1, 6, 7, 13, 14], [{
    `C = A / B`. The quotient of integers is cut off toward zero.

    Shape inference takes a quotient of sizes as rounded down, which is the
    same for sizes that are not negative.}], ONNX_NumberTensor, "f32", "div"> {
  let summary = "quotient of two tensors";
}

def ONNX_ModOp : ONNX_Op<"Mod", [10, 13], [
    ONNX_SameElementType<["A", "B", "C"]>]> {
  let summary = "remainder of a division";
  let description = [{
    `C = A - B * q`, where `q` is the quotient rounded down (`fmod = 0`: the
    remainder has the sign of `B`) or cut off toward zero (`fmod = 1`: the
    remainder has the sign of `A`).

    Constraints:
    - C1: `fmod` is 0 or 1.
    - C2: `fmod` is 1 for float elements.

    Example:
    ```mlir
    %c = "onnx.Mod"(%a, %b) {fmod = 0 : si64} : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$A,
      ONNX_NumberTensor:$B,
      DefaultValuedAttr<SI64Attr, "0">:$fmod);
  let results = (outs
      ONNX_NumberTensor:$C);
  let shapeRule = [{ follow::elementwise(ctx, op,
      op.getFmod() ? follow::remainder : follow::modulo) }];
  let hasVerifier = 1;
}

def ONNX_PowOp : ONNX_Op<"Pow", [1, 7, 12, 13, 15], [
    ONNX_SameElementType<["X", "Z"]>]> {
  let summary = "power";
  let description = [{
    `Z = X ^ Y`, in the element type of `X`.

    Example:
    ```mlir
    %z = "onnx.Pow"(%x, %y) : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$X,
      ONNX_NumberTensor:$Y);
  let results = (outs
      ONNX_NumberTensor:$Z);
  let shapeRule = [{ follow::elementwise(ctx, op, follow::power,
      getElementType(op.getX())) }];
}

def ONNX_PReluOp : ONNX_Op<"PRelu", [1, 6, 7, 9, 16], [
    ONNX_SameElementType<["X", "slope", "Y"]>]> {
  let summary = "rectifier whose slope for negative values is an operand";
  let description = [{
    `Y = X < 0 ? slope * X : X`. `slope` broadcasts to `X`, never the other way
    round.

    Example:
    ```mlir
    %y = "onnx.PRelu"(%x, %slope) : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$X,
      ONNX_NumberTensor:$slope);
  let results = (outs
      ONNX_NumberTensor:$Y);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

class ONNX_CompareOp<string opName, list<int> since, string text,
                     string follow, Type tensor = ONNX_NumberTensor>
    : ONNX_Op<opName, since, [ONNX_SameElementType<["A", "B"]>]> {
  let description = text # [{

    Example:
    ```mlir
    %c = "onnx.}] # opName # [{"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins tensor:$A, tensor:$B);
  let results = (outs ONNX_BoolTensor:$C);
  let shapeRule = "follow::elementwise(ctx, op, follow::" # follow
      # ", ::mlir::IntegerType::get(op.getContext(), 1))";
}

def ONNX_EqualOp : ONNX_CompareOp<"Equal", [1, 7, 11, 13, 19], [{
    `C = (A == B)`. NaN equals nothing.}], "equal", ONNX_AnyTensor> {
  let summary = "where two tensors are equal";
}

def ONNX_GreaterOp : ONNX_CompareOp<"Greater", [1, 7, 9, 13], [{
    `C = (A > B)`}], "greater"> {
  let summary = "where the first tensor is greater";
}

def ONNX_GreaterOrEqualOp : ONNX_CompareOp<"GreaterOrEqual", [12, 16], [{
    `C = (A >= B)`}], "greaterOrEqual"> {
  let summary = "where the first tensor is greater or equal";
}

def ONNX_LessOp : ONNX_CompareOp<"Less", [1, 7, 9, 13], [{
    `C = (A < B)`}], "less"> {
  let summary = "where the first tensor is less";
}

def ONNX_LessOrEqualOp : ONNX_CompareOp<"LessOrEqual", [12, 16], [{
    `C = (A <= B)`}], "lessOrEqual"> {
  let summary = "where the first tensor is less or equal";
}

//===----------------------------------------------------------------------===//
// Logic and bits
//===----------------------------------------------------------------------===//

def ONNX_AndOp : ONNX_BinaryOp<"And", [1, 7], [{
    `C = A && B`}], ONNX_BoolTensor, "i1", "logicalAnd"> {
  let summary = "logical and";
}

def ONNX_OrOp : ONNX_BinaryOp<"Or", [1, 7], [{
    `C = A || B`}], ONNX_BoolTensor, "i1", "logicalOr"> {
  let summary = "logical or";
}

def ONNX_XorOp : ONNX_BinaryOp<"Xor", [1, 7], [{
    `C = (A != B)`}], ONNX_BoolTensor, "i1", "logicalXor"> {
  let summary = "logical exclusive or";
}

def ONNX_BitwiseAndOp : ONNX_BinaryOp<"BitwiseAnd", [18], [{
    `C = A & B`, bit by bit.}], ONNX_IntTensor, "i32"> {
  let summary = "and of the bits of two tensors";
}

def ONNX_BitwiseOrOp : ONNX_BinaryOp<"BitwiseOr", [18], [{
    `C = A | B`, bit by bit.}], ONNX_IntTensor, "i32"> {
  let summary = "or of the bits of two tensors";
}

def ONNX_BitwiseXorOp : ONNX_BinaryOp<"BitwiseXor", [18], [{
    `C = A ^ B`, bit by bit.}], ONNX_IntTensor, "i32"> {
  let summary = "exclusive or of the bits of two tensors";
}

def ONNX_BitShiftOp : ONNX_Op<"BitShift", [11], [
    ONNX_SameElementType<["X", "Y", "Z"]>]> {
  let summary = "bits moved left or right";
  let description = [{
    `Z = X << Y` for the direction `LEFT`, `Z = X >> Y` for `RIGHT`. Zeros come
    in.

    Constraints:
    - C1: `direction` is `LEFT` or `RIGHT`.

    Example:
    ```mlir
    %z = "onnx.BitShift"(%x, %y) {direction = "LEFT"} : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
    ```
  }];
  let arguments = (ins
      ONNX_IntTensor:$X,
      ONNX_IntTensor:$Y,
      StrAttr:$direction);
  let results = (outs
      ONNX_IntTensor:$Z);
  let shapeRule = "shape::broadcast(ctx, op)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Any number of operands
//===----------------------------------------------------------------------===//

class ONNX_VariadicOp<string opName, list<int> since, string text, Type tensor,
                      string result, string follow = "">
    : ONNX_Op<opName, since, [ONNX_SameElementType<["data_0", result]>]> {
  let description = text # [{

    Constraints:
    - C1: there is at least one operand.

    Example:
    ```mlir
    %r = "onnx.}] # opName # [{"(%a, %b, %c) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Variadic<tensor>:$data_0);
  let results = !dag(outs, [tensor], [result]);
  let shapeRule = !if(!empty(follow), "shape::broadcast(ctx, op)",
      "follow::elementwise(ctx, op, follow::" # follow # ")");
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_MaxOp : ONNX_VariadicOp<"Max", [1, 6, 8, 12, 13], [{
    The greatest of the operands' elements, position by position. NaN wins.}], ONNX_NumberTensor, "max", "maximum"> {
  let summary = "greatest elements of several tensors";
}

def ONNX_MinOp : ONNX_VariadicOp<"Min", [1, 6, 8, 12, 13], [{
    The least of the operands' elements, position by position. NaN wins.}], ONNX_NumberTensor, "min", "minimum"> {
  let summary = "least elements of several tensors";
}

def ONNX_SumOp : ONNX_VariadicOp<"Sum", [1, 6, 8, 13], [{
    The sum of the operands' elements, position by position.}], ONNX_FloatTensor, "sum", "add"> {
  let summary = "sum of several tensors";
}

def ONNX_MeanOp : ONNX_VariadicOp<"Mean", [1, 6, 8, 13], [{
    The mean of the operands' elements, position by position: their sum divided
    by the number of operands.}], ONNX_FloatTensor, "mean"> {
  let summary = "mean of several tensors";
}

//===----------------------------------------------------------------------===//
// Conversion, limits and selection
//===----------------------------------------------------------------------===//

def ONNX_CastOp : ONNX_Op<"Cast", [1, 6, 9, 13, 19, 21, 23]> {
  let summary = "elements converted to another type";
  let description = [{
    Floats become integers by cutting off toward zero, numbers become `i1` by
    comparing with zero, wider floats are rounded half to even. `saturate` is
    for the 8-bit floats: values out of range become the greatest finite value
    (1), or infinity or NaN (0).

    Constraints:
    - C1: `to` is an element type that ONNX has.
    - C2: the output has the element type `to`.

    Example:
    ```mlir
    %y = "onnx.Cast"(%x) {saturate = 1 : si64, to = f32} : (tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      DefaultValuedAttr<SI64Attr, "1">:$saturate,
      TypeAttr:$to);
  let results = (outs
      ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_CastLikeOp : ONNX_Op<"CastLike", [15, 19, 21, 23], [
    ONNX_SameElementType<["target_type", "output"]>]> {
  let summary = "elements converted to the type of another tensor";
  let description = [{
    As `onnx.Cast` to the element type of `target_type`; nothing else of that
    operand is used.

    Example:
    ```mlir
    %y = "onnx.CastLike"(%x, %t) {saturate = 1 : si64} : (tensor<2x3xi64>, tensor<1xf16>) -> tensor<2x3xf16>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_AnyTensor:$target_type,
      DefaultValuedAttr<SI64Attr, "1">:$saturate);
  let results = (outs
      ONNX_AnyTensor:$output);
  let hasFolder = 1;
}

def ONNX_ClipOp : ONNX_Op<"Clip", [1, 6, 11, 12, 13], [
    ONNX_SameElementType<["input", "min", "max", "output"]>]> {
  let summary = "elements limited to an interval";
  let description = [{
    `output = min(max(input, min), max)`. A limit that is left out does not
    limit; if `min > max`, every element is `max`.

    Constraints:
    - C1: `min` is a scalar or left out.
    - C2: `max` is a scalar or left out.

    Example:
    ```mlir
    %y = "onnx.Clip"(%x, %min, %max) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$input,
      ONNX_Opt<ONNX_NumberTensor>:$min,
      ONNX_Opt<ONNX_NumberTensor>:$max);
  let results = (outs
      ONNX_NumberTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_WhereOp : ONNX_Op<"Where", [9, 16], [
    ONNX_SameElementType<["X", "Y", "output"]>]> {
  let summary = "elements of one of two tensors, by condition";
  let description = [{
    `output = condition ? X : Y`; all three broadcast.

    Example:
    ```mlir
    %r = "onnx.Where"(%c, %x, %y) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_BoolTensor:$condition,
      ONNX_AnyTensor:$X,
      ONNX_AnyTensor:$Y);
  let results = (outs
      ONNX_AnyTensor:$output);
  let shapeRule = [{ follow::elementwise(ctx, op, follow::select,
      follow::commonElementType({op.getX(), op.getY()})) }];
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MATH_TD
