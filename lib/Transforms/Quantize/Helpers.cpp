// Names, constants and types, as the steps of quantization need them.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// Constants of at least this many bytes are resources.
static constexpr size_t resourceThreshold = 1024;

StringRef quantize::opTypeOf(Operation *op) {
  if (auto node = dyn_cast<NodeOpInterface>(op))
    return node.getOnnxOpType();
  if (auto custom = dyn_cast<CustomOp>(op))
    return custom.getFunctionName();
  return op->getName().stripDialect();
}

std::string quantize::nodeName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(nodeNameAttr);
      name && !name.empty())
    return name.str();
  return op->getName().stripDialect().str();
}

std::string quantize::tensorName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (StringRef name = getTensorName(value); !name.empty())
      return name.str();
    return "input_" + std::to_string(argument.getArgNumber());
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (auto names = op->getAttrOfType<ArrayAttr>(resultNamesAttr);
      names && index < names.size())
    if (auto name = dyn_cast<StringAttr>(names[index]); name && !name.empty())
      return name.str();
  return nodeName(op) + "_out" + (index ? std::to_string(index) : "");
}

std::optional<ScaleType> quantize::scaleTypeOf(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (type.getElementType().isF32())
    return ScaleType::F32;
  if (type.getElementType().isF16())
    return ScaleType::F16;
  return std::nullopt;
}

ElementsAttr quantize::constantOf(Value value) { return getConstant(value); }

std::optional<SmallVector<double>> quantize::numbersOf(Value value) {
  ElementsAttr constant = getConstant(value);
  if (!constant)
    return std::nullopt;
  return readFloats(constant, std::numeric_limits<int64_t>::max());
}

/// Rounding keeps the order of numbers: what a bound becomes, all numbers
/// beyond it become.
bool quantize::saturatesWithin(const Parameters &parameters,
                               const RealRange &clamp) {
  if (parameters.values.size() != 1 || parameters.type.isFloat)
    return false;
  auto quantized = [&](double bound) {
    return quantizeValue(bound, parameters.values[0], parameters.type,
                         parameters.scaleType);
  };
  return quantized(clamp.min) == parameters.type.min() &&
         quantized(clamp.max) == parameters.type.max();
}

bool quantize::isGraphOutput(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ReturnOp, func::ReturnOp>(user);
  });
}

ParameterIndex::ParameterIndex(ArrayRef<int64_t> shape,
                               const Parameters &parameters) {
  single = parameters.values.size() == 1 || !parameters.axis;
  if (single)
    return;
  size = shape[*parameters.axis];
  for (int64_t dim : shape.drop_front(*parameters.axis + 1))
    inner *= dim;
  blockSize = parameters.blockSize;
  blocked = blockSize > 0;
  if (blocked)
    blocks = (size + blockSize - 1) / blockSize;
}

int64_t ParameterIndex::operator[](int64_t element) const {
  if (single)
    return 0;
  int64_t along = element / inner % size;
  if (!blocked)
    return along;
  int64_t outer = element / inner / size;
  return (outer * blocks + along / blockSize) * inner + element % inner;
}

Type quantize::irType(MLIRContext *context, QuantType type) {
  if (type.isFloat)
    return Float8E4M3FNType::get(context);
  return IntegerType::get(context, type.bits,
                          type.isSigned ? IntegerType::Signless
                                        : IntegerType::Unsigned);
}

std::optional<QuantType> quantize::quantTypeOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || (integer.getWidth() != 4 && integer.getWidth() != 8 &&
                   integer.getWidth() != 16))
    return std::nullopt;
  return QuantType{integer.getWidth(), !integer.isUnsigned()};
}

static Value createConstantOp(OpBuilder &builder, Location loc, StringRef name,
                              ElementsAttr value) {
  OperationState state(loc, ConstantOp::getOperationName());
  state.addAttribute("value", value);
  state.addAttribute(resultNamesAttr, builder.getStrArrayAttr({name}));
  state.addTypes(value.getType());
  return builder.create(state)->getResult(0);
}

/// Small constants are dense, since folders and people read them.
static Value createFromBytes(OpBuilder &builder, Location loc, StringRef name,
                             RankedTensorType type, ArrayRef<char> bytes) {
  ElementsAttr value;
  if (bytes.size() < resourceThreshold)
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  else
    value = DenseResourceElementsAttr::get(
        type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  return createConstantOp(builder, loc, name, value);
}

template <typename T>
static void appendBytes(std::vector<char> &bytes, T value) {
  const char *begin = reinterpret_cast<const char *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

Value quantize::createConstant(OpBuilder &builder, Location loc, StringRef name,
                               ArrayRef<int64_t> numbers,
                               ArrayRef<int64_t> shape, Type elementType) {
  auto type = RankedTensorType::get(shape, elementType);
  unsigned width = elementType.getIntOrFloatBitWidth();
  std::vector<char> bytes;
  bytes.reserve(numbers.size() * std::max(1u, width / 8));
  if (width == 4) {
    // Dense attributes have a byte per element, resources two elements a byte.
    bool packed = numbers.size() / 2 >= resourceThreshold;
    for (size_t i = 0; i < numbers.size(); i += packed ? 2 : 1) {
      int64_t high = packed && i + 1 < numbers.size() ? numbers[i + 1] : 0;
      bytes.push_back(static_cast<char>((numbers[i] & 15) |
                                        (packed ? (high & 15) << 4 : 0)));
    }
    if (packed)
      return createConstantOp(
          builder, loc, name,
          DenseResourceElementsAttr::get(
              type, name,
              HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64)));
    return createConstantOp(builder, loc, name,
                            DenseElementsAttr::getFromRawBuffer(type, bytes));
  }
  for (int64_t number : numbers) {
    switch (width) {
    case 8:
      bytes.push_back(static_cast<char>(number));
      break;
    case 16:
      appendBytes(bytes, static_cast<int16_t>(number));
      break;
    case 32:
      appendBytes(bytes, static_cast<int32_t>(number));
      break;
    default:
      appendBytes(bytes, number);
    }
  }
  return createFromBytes(builder, loc, name, type, bytes);
}

Value quantize::createConstant(OpBuilder &builder, Location loc, StringRef name,
                               ArrayRef<double> numbers,
                               ArrayRef<int64_t> shape, Type elementType) {
  auto type = RankedTensorType::get(shape, elementType);
  std::vector<char> bytes;
  for (double number : numbers) {
    if (elementType.isF32()) {
      appendBytes(bytes, static_cast<float>(number));
      continue;
    }
    bool exact;
    llvm::APFloat half(number);
    half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                 &exact);
    appendBytes(bytes,
                static_cast<uint16_t>(half.bitcastToAPInt().getZExtValue()));
  }
  return createFromBytes(builder, loc, name, type, bytes);
}

void quantize::setNames(Operation *op, StringRef node, StringRef tensor) {
  Builder builder(op->getContext());
  op->setAttr(nodeNameAttr, builder.getStringAttr(node));
  op->setAttr(resultNamesAttr, builder.getStrArrayAttr({tensor}));
}
