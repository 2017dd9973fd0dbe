// How channels are multiplied: by factors in the weights before and after a
// tensor, or in a product behind it; and a record of that in the model's
// metadata, as JSON:
//   {"tensor": {"readers": ["node"], "product": false, "exponents": "0013"}}

#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "ChannelScaling.h"
#include "OnnxQuant/Support/Json.h"
#include "Plan.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

static constexpr StringLiteral metadataName = "onnx.metadata";
static constexpr StringLiteral recordKey = "onnxquant.scaled_channels";

void quantize::scaleConstant(OpBuilder &builder, OpOperand &use,
                             ArrayRef<double> factors, int64_t axis) {
  Value value = use.get();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<double> numbers = *numbersOf(value);
  int64_t size = type.getDimSize(axis), inner = 1;
  for (int64_t dim : type.getShape().drop_front(axis + 1))
    inner *= dim;
  int64_t repeat = size / factors.size();
  for (auto [i, number] : llvm::enumerate(numbers))
    number *= factors[static_cast<int64_t>(i) / inner % size / repeat];
  builder.setInsertionPointAfterValue(value);
  use.set(createConstant(builder, value.getLoc(), tensorName(value), numbers,
                         type.getShape(), type.getElementType()));
}

static void rename(Value value) {
  Operation *op = value.getDefiningOp();
  op->setAttr(resultNamesAttr,
              Builder(op->getContext())
                  .getStrArrayAttr({tensorName(value) + "_scaled"}));
}

void quantize::scaleProducer(OpBuilder &builder, Operation *producer,
                             Value value, ArrayRef<double> factors) {
  scaleConstant(builder, producer->getOpOperand(1), factors);
  if (!isa<NoneType>(producer->getOperand(2).getType()))
    scaleConstant(builder, producer->getOpOperand(2), factors);
  // The numbers are others than those of the model, and so are the names.
  if (producer->getResult(0) != value)
    rename(producer->getResult(0));
  rename(value);
}

Value quantize::insertProduct(OpBuilder &builder, Value value,
                              ArrayRef<double> factors, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  std::string name = tensorName(value);
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape[0] = static_cast<int64_t>(factors.size());
  builder.setInsertionPointAfterValue(value);
  Value constant = createConstant(builder, value.getLoc(), name + "_factors",
                                  factors, shape, type.getElementType());
  OperationState state(value.getLoc(), MulOp::getOperationName());
  state.addOperands({value, constant});
  state.addTypes(type);
  Operation *product = builder.create(state);
  setNames(product, name + "_scale_channels", name + "_scaled");
  return product->getResult(0);
}

SmallVector<double> quantize::inverseOf(ArrayRef<double> factors) {
  return llvm::map_to_vector(factors, [](double factor) { return 1 / factor; });
}

void onnxquant::recordScaledTensors(ModuleOp module,
                                    ArrayRef<ScaledTensor> tensors) {
  llvm::json::Object record;
  for (const ScaledTensor &tensor : tensors) {
    std::string digits;
    for (unsigned exponent : tensor.exponents)
      digits += static_cast<char>('0' + exponent);
    record[tensor.name] =
        llvm::json::Object{{"readers", llvm::json::Array(tensor.readers)},
                           {"product", tensor.isProduct},
                           {"exponents", digits}};
  }
  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(record)));
  Builder b(module.getContext());
  SmallVector<Attribute> entries;
  if (auto before = module->getAttrOfType<ArrayAttr>(metadataName))
    entries.append(before.begin(), before.end());
  entries.push_back(b.getStrArrayAttr({recordKey, text}));
  module->setAttr(metadataName, b.getArrayAttr(entries));
}

/// The record's text; empty if there is none.
static StringRef recordOf(ModuleOp module) {
  auto entries = module->getAttrOfType<ArrayAttr>(metadataName);
  if (!entries)
    return {};
  for (Attribute entry : entries) {
    auto pair = dyn_cast<ArrayAttr>(entry);
    if (!pair || pair.size() != 2)
      continue;
    auto key = dyn_cast<StringAttr>(pair[0]),
         value = dyn_cast<StringAttr>(pair[1]);
    if (key && value && key.getValue() == recordKey)
      return value.getValue();
  }
  return {};
}

/// A record that somebody else has changed says nothing.
static std::optional<ScaledTensor> readTensor(StringRef name,
                                              const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  const llvm::json::Array *readers = object->getArray("readers");
  std::optional<bool> product = object->getBoolean("product");
  std::optional<StringRef> digits = object->getString("exponents");
  if (!readers || !product || !digits)
    return std::nullopt;
  ScaledTensor tensor{name.str(), {}, *product, {}};
  for (const llvm::json::Value &reader : *readers)
    if (std::optional<StringRef> text = reader.getAsString())
      tensor.readers.push_back(text->str());
  for (char digit : *digits) {
    if (digit < '0' || digit > '9')
      return std::nullopt;
    tensor.exponents.push_back(digit - '0');
  }
  return tensor;
}

std::vector<ScaledTensor> onnxquant::readScaledTensors(ModuleOp module) {
  auto record = parseJson(recordOf(module));
  if (!record) {
    llvm::consumeError(record.takeError());
    return {};
  }
  std::vector<ScaledTensor> tensors;
  if (const llvm::json::Object *object = record->getAsObject())
    for (const auto &[name, value] : *object)
      if (std::optional<ScaledTensor> tensor = readTensor(name, value))
        tensors.push_back(std::move(*tensor));
  return tensors;
}

/// Whether a constant has a row or several along an axis for each factor.
static bool isScalable(Value value, size_t factors, int64_t axis = 0) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getRank() > axis &&
         factors > 0 && type.getDimSize(axis) % factors == 0 &&
         type.getNumElements() > 0 && numbersOf(value);
}

/// The convolution that makes a value, perhaps with a Relu behind.
static Operation *convolutionBehind(Value value, size_t channels) {
  if (auto relu = value.getDefiningOp<ReluOp>())
    value = relu->getOperand(0);
  auto conv = value.getDefiningOp<ConvOp>();
  if (!conv || !isScalable(conv->getOperand(1), channels))
    return nullptr;
  Value bias = conv->getOperand(2);
  return isa<NoneType>(bias.getType()) || isScalable(bias, channels)
             ? conv.getOperation()
             : nullptr;
}

static void applyOne(ModuleOp module, const ScaledTensor &tensor) {
  SmallVector<Operation *> readers;
  module.walk([&](Operation *op) {
    if (!isa<ConvOp>(op) && !isMatrixProduct(op))
      return;
    int64_t axis = isa<ConvOp>(op) ? 0 : depthAxisOf(op);
    if (tensorName(op->getOperand(0)) == tensor.name &&
        llvm::is_contained(tensor.readers, nodeName(op)) &&
        isScalable(op->getOperand(1), tensor.exponents.size(), axis))
      readers.push_back(op);
  });
  if (readers.empty())
    return;
  bool isConvolved = isa<ConvOp>(readers.front());
  SmallVector<double> factors;
  for (unsigned exponent : tensor.exponents)
    factors.push_back(static_cast<double>(1u << exponent));
  Value value = readers.front()->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *producer = convolutionBehind(value, factors.size());
  if (!type || type.getRank() < 2 || (!tensor.isProduct && !producer))
    return;
  OpBuilder builder(module.getContext());
  for (Operation *reader : readers)
    scaleConstant(builder, reader->getOpOperand(1), inverseOf(factors),
                  isConvolved ? 0 : depthAxisOf(reader));
  if (!tensor.isProduct)
    return scaleProducer(builder, producer, value, factors);
  Value product = insertProduct(builder, value, factors,
                                isConvolved ? 1 : type.getRank() - 1);
  for (Operation *reader : readers)
    reader->setOperand(0, product);
}

void onnxquant::applyScaledTensors(ModuleOp module,
                                   ArrayRef<ScaledTensor> tensors) {
  for (const ScaledTensor &tensor : tensors)
    applyOne(module, tensor);
}
