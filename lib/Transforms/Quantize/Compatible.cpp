// What makes a quantized model look as if ONNX Runtime's tool had written it:
// which operators are taken, and the names of nodes and tensors.
//
// In QDQ form the names are right as they are made. In QOperator form integers
// of tensor T are T_quantized, and a dequantizer gives T itself back; what an
// op in float makes for another in float is not quantized on its way.

#include "OnnxQuant/Dialect/ONNX/TypedData.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

std::string quantize::leftByOnnxRuntime(const Settings &settings,
                                        StringRef opType) {
  static const llvm::StringSet<> operators = {
      "ArgMax",    "Conv",    "Gemm",        "MatMul",
      "Add",       "Mul",     "Relu",        "Clip",
      "LeakyRelu", "Sigmoid", "MaxPool",     "GlobalAveragePool",
      "Split",     "Pad",     "Reshape",     "Squeeze",
      "Unsqueeze", "Resize",  "AveragePool", "Concat",
      "Softmax",   "Where",   "Gather",      "Transpose"};
  static const llvm::StringSet<> pairsOnly = {"ConvTranspose",
                                              "Flatten",
                                              "Slice",
                                              "GatherElements",
                                              "InstanceNormalization",
                                              "LayerNormalization",
                                              "BatchNormalization",
                                              "TopK",
                                              "CumSum"};
  if (operators.contains(opType) || settings.form == Mode::Integer ||
      settings.dynamic)
    return "";
  bool isListed = llvm::is_contained(settings.opTypes, opType);
  if (settings.form == Mode::QDQ && (pairsOnly.contains(opType) || isListed))
    return "";
  return "ONNX Runtime's tool has no quantized form of it (compatible)";
}

/// Operators that move numbers for ONNX Runtime's tool; all others that are
/// listed have parameters of their own for each tensor.
static bool isMover(const Settings &settings, Operation *op) {
  if (settings.form == Mode::QDQ)
    return isa<ReshapeOp, TransposeOp, SqueezeOp, UnsqueezeOp, FlattenOp,
               ResizeOp, MaxPoolOp, AveragePoolOp, SliceOp, PadOp, SplitOp,
               GatherOp>(op);
  return !isa<ConcatOp, AveragePoolOp, GlobalMaxPoolOp>(op);
}

/// The operand of a Pad that it fills with.
static constexpr unsigned fillerOperand = 2;

/// Whether a Pad fills with numbers that any range has: its own, or zero.
static bool fillsWithinRange(PadOp op) {
  if (op.getMode() != "constant" ||
      isa<NoneType>(op->getOperand(fillerOperand).getType()))
    return true;
  auto numbers = numbersOf(op->getOperand(fillerOperand));
  return numbers && numbers->size() == 1 && (*numbers)[0] == 0;
}

std::optional<unsigned> quantize::quantizedFiller(Plan &plan, Operation *op) {
  const Settings &settings = plan.settings;
  if (!isa<PadOp>(op) || !settings.isCompatible() ||
      settings.form != Mode::QDQ || !scaleTypeOf(op->getOperand(fillerOperand)))
    return std::nullopt;
  // Before opset 11 it was an attribute.
  auto opsets = plan.module->getAttrOfType<DictionaryAttr>("onnx.opsets");
  auto version = opsets ? dyn_cast_or_null<IntegerAttr>(opsets.get("ai.onnx"))
                        : IntegerAttr();
  if (version && version.getInt() < 11)
    return std::nullopt;
  return fillerOperand;
}

bool quantize::sharesParameters(const Settings &settings,
                                QuantizableOpInterface op) {
  if (!settings.isCompatible())
    return op.sharesParameters();
  if (auto pad = dyn_cast<PadOp>(op.getOperation());
      pad && settings.form == Mode::QDQ)
    return fillsWithinRange(pad);
  bool always = settings.form == Mode::QDQ && isa<AveragePoolOp, ResizeOp>(op);
  return isMover(settings, op) && (always || op.sharesParameters());
}

bool quantize::followsOperands(const Settings &settings,
                               QuantizableOpInterface op) {
  bool operators = settings.form == Mode::QLinear;
  if (settings.isCompatible() &&
      (isa<WhereOp>(op) || (operators && isa<GlobalAveragePoolOp>(op))))
    return true;
  bool always = isa<SplitOp>(op) || (!operators && isa<PadOp>(op));
  if (settings.isCompatible() && (always || !isMover(settings, op)))
    return false;
  return op.movesData() || sharesParameters(settings, op);
}

bool quantize::haveMarkedOperands(const Settings &settings,
                                  QuantizableOpInterface op,
                                  llvm::function_ref<bool(Value)> isMarked) {
  auto marked = [&](unsigned index) { return isMarked(op->getOperand(index)); };
  SmallVector<unsigned> operands = op.getQuantizableOperands();
  if (!settings.isCompatible())
    return llvm::any_of(operands, marked);
  if (isa<WhereOp>(op))
    return settings.form == Mode::QDQ && llvm::all_of(operands, marked);
  // Rows of a table are quantized with it.
  if (isa<GatherOp>(op) && constantOf(op->getOperand(0)))
    return true;
  return llvm::any_of(operands, marked);
}

bool quantize::isPlainForOnnxRuntime(const Settings &settings, Operation *op) {
  if (!settings.isCompatible() || settings.form != Mode::QDQ ||
      settings.dynamic || isa<QuantizableOpInterface>(op))
    return false;
  if (!settings.opTypes.empty())
    return llvm::is_contained(settings.opTypes, opTypeOf(op));
  return plainWeightOf(op) || movesPlainly(op) || isa<CumSumOp>(op);
}

std::optional<unsigned> quantize::plainWeightOf(Operation *op) {
  if (isa<InstanceNormalizationOp, LayerNormalizationOp, BatchNormalizationOp>(
          op))
    return 1;
  return std::nullopt;
}

std::optional<unsigned> quantize::plainBiasOf(Operation *op) {
  if (!plainWeightOf(op) || op->getNumOperands() < 3 ||
      isa<NoneType>(op->getOperand(2).getType()))
    return std::nullopt;
  return 2;
}

bool quantize::movesPlainly(Operation *op) {
  return isa<GatherElementsOp, TopKOp>(op);
}

/// Lets readers of a dequantized tensor read it as it was before its quantizer.
static void skipPairs(Plan &plan) {
  SmallVector<Operation *> unused;
  plan.module.walk([&](DequantizeLinearOp op) {
    auto quantizer = op.getX().getDefiningOp<QuantizeLinearOp>();
    if (!quantizer)
      return;
    op.getResult().replaceAllUsesWith(quantizer.getX());
    unused.push_back(op);
    unused.push_back(quantizer);
  });
  for (Operation *op : unused)
    if (op->use_empty())
      op->erase();
}

/// Whether an op moves what was quantized before it.
static bool movesIntegers(Operation *op) {
  auto quantizable = dyn_cast<QuantizableOpInterface>(op);
  return quantizable && quantizable.movesData() &&
         quantTypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
}

/// Names an op's first result.
static void setResultName(Operation *op, StringRef name) {
  Builder builder(op->getContext());
  auto names =
      llvm::to_vector(op->getAttrOfType<ArrayAttr>(resultNamesAttr).getValue());
  names[0] = builder.getStringAttr(name);
  op->setAttr(resultNamesAttr, builder.getArrayAttr(names));
}

/// T_QuantizeLinear_Output becomes T_quantized, T_DequantizeLinear_Output T.
static void renameOperators(Plan &plan) {
  llvm::StringSet<> taken;
  SmallVector<Operation *> ops;
  plan.module.walk([&](Operation *op) {
    if (op->getNumResults() == 0 || !op->hasAttr(resultNamesAttr))
      return;
    ops.push_back(op);
    taken.insert(tensorName(op->getResult(0)));
  });
  for (Operation *op : ops) {
    std::string text = tensorName(op->getResult(0));
    StringRef name = text;
    if (name.consume_back("_QuantizeLinear_Output"))
      setResultName(op, (name + "_quantized").str());
    else if (isa<DequantizeLinearOp>(op) &&
             name.consume_back("_DequantizeLinear_Output") &&
             taken.insert(name).second)
      setResultName(op, name);
    else if (name.consume_back("_QuantizeLinear_Input") &&
             taken.insert(name).second)
      setResultName(op, name);
    else if (movesIntegers(op) && !name.ends_with("_quantized"))
      setResultName(op, (name + "_quantized").str());
  }
}

/// Weights that were transposed for a product keep their name.
static void renameTransposed(Plan &plan) {
  plan.module.walk([&](ConstantOp op) {
    std::string text = tensorName(op->getResult(0));
    StringRef name = text;
    if (name.consume_back("_transposed") && name.ends_with("_quantized") &&
        op->hasAttr(resultNamesAttr))
      setResultName(op, name);
  });
}

/// What is made of constants only comes first.
static void sortAsOnnxRuntime(Plan &plan) {
  SmallVector<Operation *> first;
  plan.module.walk([&](Operation *op) {
    if (isa<DequantizeLinearOp, microsoft::DequantizeLinearOp>(op) &&
        constantOf(op->getOperand(0)) && isa<func::FuncOp>(op->getParentOp()))
      first.push_back(op);
  });
  for (Operation *op : llvm::reverse(first)) {
    Block *block = op->getBlock();
    op->moveBefore(block, block->begin());
    for (Value operand : llvm::reverse(op->getOperands()))
      if (Operation *constant = operand.getDefiningOp())
        constant->moveBefore(block, block->begin());
  }
}

/// Parameters before all else, in the order in which nodes read and make what
/// they are of, zero points first: as ONNX Runtime's tool writes them.
static void orderParameters(Block *block) {
  llvm::SetVector<Operation *> ordered;
  auto take = [&](Operation *quantizer) {
    for (unsigned index : {2, 1})
      if (Operation *maker = quantizer->getOperand(index).getDefiningOp();
          maker && maker->hasAttr(typedDataAttr) && maker->getBlock() == block)
        ordered.insert(maker);
  };
  for (Operation &op : *block) {
    if (isa<QuantizeLinearOp, DequantizeLinearOp, microsoft::QuantizeLinearOp,
            microsoft::DequantizeLinearOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp();
          isa_and_nonnull<DequantizeLinearOp, microsoft::DequantizeLinearOp>(
              maker))
        take(maker);
    for (Value result : op.getResults())
      for (Operation *user : result.getUsers())
        if (isa<QuantizeLinearOp, microsoft::QuantizeLinearOp>(user) &&
            user->getOperand(0) == result)
          take(user);
  }
  for (Operation *op : llvm::reverse(ordered))
    op->moveBefore(block, block->begin());
}

void quantize::renameAsOnnxRuntime(Plan &plan) {
  Builder builder(plan.module.getContext());
  plan.module->setAttr("onnx.producer_name",
                       builder.getStringAttr("onnx.quantize"));
  plan.module->setAttr("onnx.producer_version", builder.getStringAttr("0.1.0"));
  if (plan.settings.form == Mode::Integer)
    renameTransposed(plan);
  if (plan.settings.form == Mode::QDQ)
    sortAsOnnxRuntime(plan);
  plan.module->walk([](Block *block) { orderParameters(block); });
  if (plan.settings.form != Mode::QLinear)
    return;
  skipPairs(plan);
  renameOperators(plan);
}
