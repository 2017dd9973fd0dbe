// Lowers whole graphs: signatures, constants, and every op by its lowering.
// Enters: graphs of known ranks. Leaves: func, linalg, tensor, scf, arith, math
// and cf; the original types of the graph's ends stay as attributes.

#include "AllLowerings.h"
#include "Kernels.h"
#include "Lookups.h"
#include "Observers.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace onnxquant {
#define GEN_PASS_DEF_CONVERTONNXTOLINALG
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ir = onnxquant::onnx;

/// A constant's elements under its stored type. Bits stay; booleans and 4-bit
/// integers get a byte each.
static TypedAttr storedConstant(ElementsAttr elements) {
  ShapedType type = elements.getShapedType();
  Type element = type.getElementType();
  Type storage = storageType(element);
  if (!storage)
    return {};
  auto stored = RankedTensorType::get(type.getShape(), storage);
  if (stored == type)
    return elements;
  bool widened = element.getIntOrFloatBitWidth() < 8;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (!widened || element.isInteger(1))
      return DenseResourceElementsAttr::get(stored, resource.getRawHandle());
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return {};
    SmallVector<char> bytes;
    bool isSigned = !element.isUnsignedInteger() && isa<IntegerType>(element);
    for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
      int nibble =
          (static_cast<uint8_t>(blob->getData()[i / 2]) >> (i % 2 * 4)) & 15;
      bytes.push_back(isSigned && nibble >= 8 ? nibble - 16 : nibble);
    }
    return DenseElementsAttr::getFromRawBuffer(stored, bytes);
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return {};
  auto bitsOf = [&](const APInt &bits) {
    unsigned width = storage.getIntOrFloatBitWidth();
    bool extendSign = isa<IntegerType>(element) &&
                      !element.isUnsignedInteger() && !element.isInteger(1);
    return extendSign ? bits.sextOrTrunc(width) : bits.zextOrTrunc(width);
  };
  if (isa<FloatType>(element))
    return cast<TypedAttr>(dense.mapValues(storage, [&](const APFloat &value) {
      return bitsOf(value.bitcastToAPInt());
    }));
  return cast<TypedAttr>(dense.mapValues(storage, bitsOf));
}

namespace {

struct LowerConstant : OpConversionPattern<ir::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ir::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementsAttr elements = ir::getConstant(op.getOutput());
    TypedAttr stored = elements ? storedConstant(elements) : TypedAttr();
    if (!stored)
      return op.emitOpError("cannot be run: its value has no stored form");
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), stored);
    return replaceWithStored(op, constant, *getTypeConverter(), rewriter);
  }
};

struct LowerReturn : OpConversionPattern<ir::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ir::ReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, adaptor.getOperands());
    return success();
  }
};

/// A value behind a check that fails: any tensor will do.
struct LowerPoison : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_if_present<RankedTensorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "the value has no stored form");
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    SmallVector<Value> sizes(type.getNumDynamicDims(), zero);
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type, sizes);
    return success();
  }
};

struct ConvertONNXToLinalg
    : public onnxquant::impl::ConvertONNXToLinalgBase<ConvertONNXToLinalg> {
  using ConvertONNXToLinalgBase::ConvertONNXToLinalgBase;
  void runOnOperation() override;
};

} // namespace

/// The names and types of a graph's inputs and outputs, for whoever describes
/// the compiled function.
static LogicalResult recordSignature(func::FuncOp function) {
  Builder b(function.getContext());
  auto describe = [&](Type type, Attribute name) -> Attribute {
    NamedAttrList entry;
    entry.set("type", TypeAttr::get(type));
    entry.set("name", name ? name : b.getStringAttr(""));
    return entry.getDictionary(function.getContext());
  };
  SmallVector<Attribute> inputs, outputs;
  // A run must leave its caller's inputs as they are.
  NamedAttribute readOnly("bufferization.writable", b.getBoolAttr(false));
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getEncoding() ||
        !storageType(tensor.getElementType()))
      return function.emitError("input ")
             << index << " cannot be run: its type is " << type;
    inputs.push_back(
        describe(type, function.getArgAttr(index, ir::argNameAttr)));
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    outputs.push_back(
        describe(type, function.getResultAttr(index, ir::argNameAttr)));
  // All at once: each change makes a list of all.
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      inputs.size(), b.getDictionaryAttr(readOnly)));
  function.removeResAttrsAttr();
  NamedAttrList signature;
  signature.set("inputs", b.getArrayAttr(inputs));
  signature.set("outputs", b.getArrayAttr(outputs));
  function->setAttr(signatureAttr,
                    signature.getDictionary(function.getContext()));
  return success();
}

void ConvertONNXToLinalg::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(recordSignature(function)))
      return signalPassFailure();
  MLIRContext *context = &getContext();
  if (maxIterations > 0)
    module.walk([&](ir::LoopOp loop) {
      loop->setAttr(maxIterationsAttr,
                    Builder(context).getI64IntegerAttr(maxIterations));
    });
  StorageTypeConverter types;
  RewritePatternSet patterns(context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 types);
  patterns.add<LowerConstant, LowerPoison, LowerReturn>(types, context);
  addAllLowerings(patterns, types);
  if (bare)
    addBareLowerings(patterns, types);

  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         linalg::LinalgDialect, math::MathDialect,
                         scf::SCFDialect, tensor::TensorDialect>();
  target.addIllegalDialect<ir::ONNXDialect, ub::UBDialect>();
  addKernelConversions(patterns, types, target);
  addObserverLowerings(patterns, types, target);
  addLookupLowerings(patterns, types, target);
  // Left out values have no users in the end.
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp, ir::NoValueOp,
                    ir::EntryPointOp, func::ReturnOp>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
    return types.isSignatureLegal(function.getFunctionType()) &&
           types.isLegal(&function.getBody());
  });
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return signalPassFailure();
  // The entry is known by its signature from here on.
  module.walk([](Operation *op) {
    if (isa<ir::EntryPointOp>(op) ||
        (isa<ir::NoValueOp>(op) && op->use_empty()))
      op->erase();
  });
}
