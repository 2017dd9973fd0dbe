// What makes a quantized model look as if ONNX Runtime's tool had written it:
// which operators are taken, and the names of nodes and tensors.
//
// In QDQ form the names are right as they are made. In QOperator form integers
// of tensor T are T_quantized, and a dequantizer gives T itself back; what an
// op in float makes for another in float is not quantized on its way.

#include "Plan.h"
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

void quantize::renameAsOnnxRuntime(Plan &plan) {
  Builder builder(plan.module.getContext());
  plan.module->setAttr("onnx.producer_name",
                       builder.getStringAttr("onnx.quantize"));
  plan.module->setAttr("onnx.producer_version", builder.getStringAttr("0.1.0"));
  if (plan.settings.form != Mode::QLinear)
    return;
  skipPairs(plan);
  renameOperators(plan);
}
