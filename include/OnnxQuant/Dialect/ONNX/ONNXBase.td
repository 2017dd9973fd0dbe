// Base classes of all ops of the `onnx` dialect: type sets, optional operands,
// element type equality, and where an op's shape rule comes from.

#ifndef ONNXQUANT_DIALECT_ONNX_BASE_TD
#define ONNXQUANT_DIALECT_ONNX_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "OnnxQuant/Dialect/ONNX/ONNXTypes.td"
include "OnnxQuant/Dialect/ONNX/ONNXInterfaces.td"

//===----------------------------------------------------------------------===//
// Element types and tensors
//===----------------------------------------------------------------------===//

class ONNX_Set<list<Type> members> {
  list<Type> types = members;
}
def ONNX_Floats : ONNX_Set<[F16, BF16, F32, F64]>;
def ONNX_Float8s : ONNX_Set<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ]>;
def ONNX_SignedInts : ONNX_Set<[I8, I16, I32, I64]>;
def ONNX_UnsignedInts : ONNX_Set<[UI8, UI16, UI32, UI64]>;
def ONNX_Ints : ONNX_Set<!listconcat(ONNX_SignedInts.types, ONNX_UnsignedInts.types)>;
def ONNX_Indices : ONNX_Set<[I32, I64]>;
def ONNX_Numbers : ONNX_Set<!listconcat(ONNX_Floats.types, ONNX_Ints.types)>;
def ONNX_Complexes : ONNX_Set<[Complex<F32>, Complex<F64>]>;
def ONNX_Narrow : ONNX_Set<!listconcat(ONNX_Float8s.types,
    [I<4>, UI<4>, F4E2M1FN, F8E8M0FNU])>;
// See ONNXTextTypes.td.
def ONNX_Strings : Type<CPred<
    "$_self.getAbstractType().getName() == \"onnx.String\"">, "string">;
def ONNX_All : ONNX_Set<!listconcat(ONNX_Numbers.types, [I1, ONNX_Strings],
    ONNX_Complexes.types, ONNX_Narrow.types)>;

// A tensor, of any rank or none known, with one of these element types (or one
// that nothing tells: see `!onnx.Unknown`).
class ONNX_TensorOf<list<Type> types, string text>
    : Type<And<[IsTensorTypePred, Or<[
          CPred<"::llvm::isa<::onnxquant::onnx::UnknownType>("
                "::llvm::cast<::mlir::TensorType>($_self).getElementType())">,
          SubstLeaves<"$_self",
            "::llvm::cast<::mlir::TensorType>($_self).getElementType()",
            Or<!foreach(t, types, t.predicate)>>]>]>,
        "tensor of " # text, "::mlir::TensorType">;

def ONNX_FloatTensor : ONNX_TensorOf<ONNX_Floats.types, "float values">;
def ONNX_NumberTensor : ONNX_TensorOf<ONNX_Numbers.types, "number values">;
def ONNX_IntTensor : ONNX_TensorOf<ONNX_Ints.types, "integer values">;
def ONNX_IndexTensor : ONNX_TensorOf<ONNX_Indices.types, "i32 or i64 values">;
def ONNX_I64Tensor : ONNX_TensorOf<[I64], "i64 values">;
def ONNX_I32Tensor : ONNX_TensorOf<[I32], "i32 values">;
def ONNX_BoolTensor : ONNX_TensorOf<[I1], "bool values">;
def ONNX_F32Tensor : ONNX_TensorOf<[F32], "f32 values">;
def ONNX_AnyTensor : ONNX_TensorOf<ONNX_All.types, "any values">;
def ONNX_Int8Tensor : ONNX_TensorOf<[I8, UI8], "i8 or ui8 values">;

// An operand or result that may be left out: then it has type `none`.
class ONNX_Opt<Type type>
    : Type<Or<[type.predicate, NoneType.predicate]>,
        type.summary # " or none", "::mlir::Type">;

// The named operands and results have one element type in common. Left out
// operands and unknown element types go with any.
class ONNX_SameElementType<list<string> names>
    : PredOpTrait<!interleave(names, ", ") # " have the same element type",
        CPred<"::onnxquant::onnx::haveSameElementType("
              # !interleave(!foreach(n, names, "$" # n), ", ") # ")">>;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// An op that stands for an ONNX node. `opType` is the operator's type, `since`
// lists the opset versions of its domain that introduced or changed it.
class ONNX_NodeOp<string mnemonic, string domain, string opType,
                  list<int> since, list<Trait> traits>
    : Op<ONNX_Dialect, mnemonic,
         !listconcat(traits, [ONNX_NodeOpInterface,
                     DeclareOpInterfaceMethods<ONNX_ShapeInferenceOpInterface>])> {
  // An expression over `op` and `ctx` that infers shapes. Where it is empty,
  // `inferShapes` is written in C++.
  code shapeRule = "";
  // Further C++ declarations of the op.
  code extraDeclaration = "";

  let extraClassDeclaration =
      "  static ::llvm::StringRef getOnnxDomain() { return \"" # domain # "\"; }\n"
      "  static ::llvm::StringRef getOnnxOpType() { return \"" # opType # "\"; }\n"
      "  static ::llvm::ArrayRef<int> getSinceVersions() {\n"
      "    static const int versions[] = {" # !interleave(since, ", ") # "};\n"
      "    return versions;\n"
      "  }\n" # extraDeclaration;
  let extraClassDefinition = !if(!empty(shapeRule), "",
      "::llvm::LogicalResult $cppClass::inferShapes("
      "::onnxquant::onnx::ShapeContext &ctx) {\n"
      "  auto op = *this; (void)op;\n"
      "  return " # shapeRule # ";\n"
      "}\n");
}

// An op of the ai.onnx domain. All but the random ones are pure.
class ONNX_Op<string opName, list<int> since, list<Trait> traits = []>
    : ONNX_NodeOp<opName, "", opName, since, !listconcat(traits, [Pure])>;
class ONNX_ImpureOp<string opName, list<int> since, list<Trait> traits = []>
    : ONNX_NodeOp<opName, "", opName, since, traits>;

// An op of the com.microsoft domain: `onnx.com.microsoft.QGemm`.
class ONNX_MicrosoftOp<string opName, list<Trait> traits = []>
    : ONNX_NodeOp<"com.microsoft." # opName, "com.microsoft", opName, [1],
                  !listconcat(traits, [Pure])> {
  let cppNamespace = "::onnxquant::onnx::microsoft";
}

#endif // ONNXQUANT_DIALECT_ONNX_BASE_TD
