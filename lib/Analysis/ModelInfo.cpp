// Counts what a model contains.

#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

static std::string elementTypeName(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "uint" : "int") +
           std::to_string(integer.getWidth());
  if (type.isBF16())
    return "bfloat16";
  if (type.isF16() || type.isF32() || type.isF64())
    return "float" + std::to_string(type.getIntOrFloatBitWidth());
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return isa<ir::UnknownType>(type) ? "?" : text;
}

static TensorInfo describe(StringRef name, Type type, StringRef dimParams) {
  TensorInfo info;
  info.name = name.str();
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return info;
  info.elementType = elementTypeName(tensor.getElementType());
  if (!tensor.hasRank())
    return info;
  ir::Dims dims;
  for (int64_t size : tensor.getShape())
    dims.push_back(ShapedType::isDynamic(size) ? ir::Dim::invalid(false)
                                               : ir::Dim(size));
  ir::applyDimParams(dimParams, dims);
  info.shape.emplace();
  for (const ir::Dim &dim : dims)
    info.shape->push_back(dim.str());
  return info;
}

/// The product of all dimensions of a static tensor.
static std::optional<int64_t> countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

/// Outputs times the length of the sum behind each.
static std::optional<int64_t> times(std::optional<int64_t> outputs,
                                    std::optional<int64_t> length) {
  int64_t macs;
  if (!outputs || !length || llvm::MulOverflow(*outputs, *length, macs))
    return std::nullopt;
  return macs;
}

/// All dimensions of a filter but the first: what one output is the sum of.
static std::optional<int64_t> filterLength(Value filter) {
  std::optional<int64_t> count = countElements(filter);
  if (!count)
    return std::nullopt;
  int64_t outputs = cast<RankedTensorType>(filter.getType()).getDimSize(0);
  return outputs == 0 ? 0 : *count / outputs;
}

/// The dimension of `value` counted from the end.
static std::optional<int64_t> dimFromEnd(Value value, int64_t position) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < position ||
      type.isDynamicDim(type.getRank() - position))
    return std::nullopt;
  return type.getDimSize(type.getRank() - position);
}

namespace {
/// Which operand is the filter or the left factor, by operator.
struct Contraction {
  StringLiteral name;
  enum Kind { Conv, Transposed, Product, Gemm } kind;
  unsigned operand;
};
} // namespace

static const Contraction contractions[] = {
    {"Conv", Contraction::Conv, 1},
    {"ConvInteger", Contraction::Conv, 1},
    {"QLinearConv", Contraction::Conv, 3},
    {"DeformConv", Contraction::Conv, 1},
    {"ConvTranspose", Contraction::Transposed, 1},
    {"MatMul", Contraction::Product, 0},
    {"MatMulInteger", Contraction::Product, 0},
    {"QLinearMatMul", Contraction::Product, 0},
    {"DynamicQuantizeMatMul", Contraction::Product, 0},
    {"MatMulIntegerToFloat", Contraction::Product, 0},
    {"MatMulNBits", Contraction::Product, 0},
    {"Gemm", Contraction::Gemm, 0},
    {"QGemm", Contraction::Gemm, 0},
};

static const Contraction *findContraction(Operation *op) {
  auto node = dyn_cast<ir::NodeOpInterface>(op);
  if (!node)
    return nullptr;
  const Contraction *found =
      llvm::find_if(contractions, [&](const Contraction &entry) {
        return entry.name == node.getOnnxOpType();
      });
  return found == std::end(contractions) ? nullptr : found;
}

bool onnxquant::isContraction(Operation *op) { return findContraction(op); }

std::optional<int64_t> onnxquant::countMacs(Operation *op) {
  const Contraction *entry = findContraction(op);
  if (!entry)
    return std::nullopt;
  Value operand = op->getOperand(entry->operand);
  std::optional<int64_t> outputs = countElements(op->getResult(0));
  switch (entry->kind) {
  case Contraction::Conv:
    return times(outputs, filterLength(operand));
  case Contraction::Transposed:
    // Every input element meets every weight of its channel.
    return times(countElements(op->getOperand(0)), filterLength(operand));
  case Contraction::Product:
    return times(outputs, dimFromEnd(operand, 1));
  case Contraction::Gemm: {
    auto transposed = op->getAttrOfType<IntegerAttr>("transA");
    bool isTransposed = transposed && !transposed.getValue().isZero();
    return times(outputs, dimFromEnd(operand, isTransposed ? 2 : 1));
  }
  }
  return std::nullopt;
}

static void countOp(Operation *op, ModelInfo &info) {
  if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
    std::optional<int64_t> count = countElements(constant.getOutput());
    Type element = ir::getElementType(constant.getOutput());
    if (!count)
      return;
    int64_t bits = isa<ComplexType>(element) ? 2 * cast<ComplexType>(element)
                                                       .getElementType()
                                                       .getIntOrFloatBitWidth()
                   : element.isInteger(1)    ? 8
                   : element.isIntOrFloat()  ? element.getIntOrFloatBitWidth()
                                             : 0;
    info.parameters += *count;
    info.parameterBytes += (*count * bits + 7) / 8;
    return;
  }
  std::string name;
  if (auto node = dyn_cast<ir::NodeOpInterface>(op))
    name =
        (node.getOnnxDomain().empty() ? "" : node.getOnnxDomain() + ".").str() +
        node.getOnnxOpType().str();
  else if (auto custom = dyn_cast<ir::CustomOp>(op))
    name = (custom.getDomainName() + "." + custom.getFunctionName()).str();
  else
    return;
  ++info.numNodes;
  ++info.opCounts[name];
  if (!isContraction(op))
    return;
  if (std::optional<int64_t> macs = countMacs(op))
    info.macs += *macs;
  else
    ++info.numUncounted;
}

ModelInfo onnxquant::getModelInfo(ModuleOp module) {
  ModelInfo info;
  auto text = [&](StringRef name) {
    auto attr = module->getAttrOfType<StringAttr>(("onnx." + name).str());
    return attr ? attr.str() : std::string();
  };
  info.graphName = text("graph_name");
  info.producer = text("producer_name");
  if (auto version = module->getAttrOfType<IntegerAttr>("onnx.ir_version"))
    info.irVersion = version.getInt();
  if (auto opsets = module->getAttrOfType<DictionaryAttr>("onnx.opsets"))
    for (NamedAttribute entry : opsets)
      if (auto version = dyn_cast<IntegerAttr>(entry.getValue()))
        info.opsets[entry.getName().str()] = version.getInt();
  auto stringOf = [](Attribute attribute) {
    auto string = dyn_cast_or_null<StringAttr>(attribute);
    return string ? string.getValue() : StringRef();
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      info.inputs.push_back(
          describe(stringOf(function.getArgAttr(i, ir::argNameAttr)),
                   function.getArgumentTypes()[i],
                   stringOf(function.getArgAttr(i, ir::argDimParamsAttr))));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      info.outputs.push_back(
          describe(stringOf(function.getResultAttr(i, ir::argNameAttr)),
                   function.getResultTypes()[i],
                   stringOf(function.getResultAttr(i, ir::argDimParamsAttr))));
    function.walk([&](Operation *op) { countOp(op, info); });
  }
  return info;
}

/// Whether a value has at most 8 bits behind a dequantizer.
static bool isDequantized(Value value) {
  Operation *op = value.getDefiningOp();
  auto node = dyn_cast_or_null<ir::NodeOpInterface>(op);
  if (!node || node.getOnnxOpType() != "DequantizeLinear")
    return false;
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  return type.isInteger() && type.getIntOrFloatBitWidth() <= 8;
}

/// Whether a contraction computes with integers of 8 bits: by its operator, or
/// by what both its factors come from.
static bool isIntegerContraction(Operation *op) {
  StringRef name = cast<ir::NodeOpInterface>(op).getOnnxOpType();
  if (llvm::is_contained({"Conv", "ConvTranspose", "MatMul", "Gemm"}, name))
    return isDequantized(op->getOperand(0)) && isDequantized(op->getOperand(1));
  // Weights of 4 bits meet floats, and the other one has no integer form.
  return name != "MatMulNBits" && name != "DeformConv";
}

IntegerShare onnxquant::getIntegerShare(ModuleOp module) {
  IntegerShare share;
  module.walk([&](Operation *op) {
    if (!isContraction(op))
      return;
    bool isInteger = isIntegerContraction(op);
    ++share.nodes;
    share.integerNodes += isInteger;
    std::optional<int64_t> macs = countMacs(op);
    share.uncounted += !macs;
    share.macs += macs.value_or(0);
    share.integerMacs += isInteger ? macs.value_or(0) : 0;
  });
  return share;
}
