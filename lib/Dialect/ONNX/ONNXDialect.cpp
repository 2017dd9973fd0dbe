// Registration of the `onnx` dialect, and its module-level ops: constants,
// left out values, the entry point and nodes of unknown operators.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace onnxquant::onnx;

#include "OnnxQuant/Dialect/ONNX/ONNXDialect.cpp.inc"
#include "OnnxQuant/Dialect/ONNX/ONNXInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "OnnxQuant/Dialect/ONNX/ONNXTextTypes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "OnnxQuant/Dialect/ONNX/ONNXTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "OnnxQuant/Dialect/ONNX/ONNXTextAttributes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "OnnxQuant/Dialect/ONNX/ONNXTextAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Module.cpp.inc"

void ONNXDialect::initialize() {
  // Text of other compilers has ops of old versions and of their own. They are
  // carried as they are; running and exporting them says what they are.
  allowUnknownOperations();
  addTypes<
#define GET_TYPEDEF_LIST
#include "OnnxQuant/Dialect/ONNX/ONNXTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "OnnxQuant/Dialect/ONNX/ONNXTextAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Module.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Math.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/NN.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Reduction.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/LinearAlgebra.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Tensor.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Quantization.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Microsoft.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Recurrent.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/ControlFlow.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Generator.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OnnxQuant/Dialect/ONNX/Ops/Signal.cpp.inc"
      >();
}

Operation *ONNXDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  if (isa<NoneType>(type) && isa<UnitAttr>(value))
    return NoValueOp::create(builder, loc, type, cast<UnitAttr>(value));
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements)
    return nullptr;
  OperationState state(loc, ConstantOp::getOperationName());
  state.addAttribute("value", elements);
  state.addTypes(type);
  return builder.create(state);
}

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

static constexpr StringLiteral constantForms[] = {
    "sparse_value", "value",      "value_float",  "value_floats",
    "value_int",    "value_ints", "value_string", "value_strings"};

/// `onnx.Constant dense<...> : type` where there is nothing but a value that
/// says the type, and `onnx.Constant {attrs, value = ...} : type` everywhere
/// else: onnx-mlir reads and writes these two. Attributes before a value are
/// read as well.
ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  Type type;
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseType(type))
      return failure();
  } else {
    Attribute value;
    if (parser.parseAttribute(value))
      return failure();
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed)
      return parser.emitError(parser.getNameLoc(),
                              "expects a value that has a type");
    type = typed.getType();
    state.addAttribute("value", value);
  }
  state.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  Type type = getOutput().getType();
  ElementsAttr value = getValueAttr();
  if (value && value.getType() == type && (*this)->getAttrs().size() == 1) {
    printer << ' ';
    printer.printAttribute(value);
    return;
  }
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << type;
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (ElementsAttr value = getValueAttr())
    return value;
  return {};
}

LogicalResult ConstantOp::verify() {
  unsigned forms = llvm::count_if(
      constantForms, [&](StringRef name) { return (*this)->hasAttr(name); });
  if (forms != 1)
    return emitOpError("expects exactly one value attribute, but got ")
           << forms << " (C1)";
  ElementsAttr value = getValueAttr();
  if (!value)
    return success();
  auto type = cast<TensorType>(getOutput().getType());
  auto valueType = value.getShapedType();
  if ((type.getElementType() != valueType.getElementType() &&
       !isa<UnknownType>(type.getElementType())) ||
      failed(verifyCompatibleShape(type, valueType)))
    return emitOpError("expects a result of the value's type ")
           << valueType << ", but got " << type << " (C2)";
  return success();
}

LogicalResult ConstantOp::inferShapes(ShapeContext &ctx) {
  MLIRContext *context = getContext();
  OpResult result = (*this)->getOpResult(0);
  auto setDims = [&](Type elementType, ArrayRef<int64_t> shape) {
    Dims dims(shape.begin(), shape.end());
    return ctx.set(result, elementType, std::optional<Dims>(dims));
  };
  if (ElementsAttr value = getValueAttr())
    return setDims(value.getElementType(), value.getShapedType().getShape());
  Type f32 = Float32Type::get(context);
  Type i64 = IntegerType::get(context, 64);
  if (getValueFloatAttr())
    return setDims(f32, {});
  if (getValueIntAttr())
    return setDims(i64, {});
  if (ArrayAttr values = getValueFloatsAttr())
    return setDims(f32, static_cast<int64_t>(values.size()));
  if (ArrayAttr values = getValueIntsAttr())
    return setDims(i64, static_cast<int64_t>(values.size()));
  return success();
}

//===----------------------------------------------------------------------===//
// NoValue, EntryPoint, Custom
//===----------------------------------------------------------------------===//

OpFoldResult NoValueOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult
EntryPointOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, getFuncAttr()))
    return emitOpError("expects a function named ") << getFuncAttr();
  return success();
}

LogicalResult CustomOp::inferShapes(ShapeContext &ctx) {
  // What the model states of the results stays; nothing else is known.
  for (Region &region : (*this)->getRegions())
    if (failed(ctx.infer(region)))
      return failure();
  return success();
}
