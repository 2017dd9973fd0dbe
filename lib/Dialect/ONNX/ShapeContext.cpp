// The state of shape inference: see ShapeContext.h.

#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;

Type onnxquant::onnx::getElementType(Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  return tensor ? tensor.getElementType() : Type();
}

bool onnxquant::onnx::isLeftOut(Value value) {
  return isa<NoneType>(value.getType());
}

std::string onnxquant::onnx::formatDimParams(ArrayRef<Dim> dims) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim.isConstant() || dim.isAnonymous())
      continue;
    if (!text.empty())
      text += ',';
    text += std::to_string(index) + ":" + dim.str();
  }
  return text;
}

/// Splits at commas outside of parentheses: expressions contain `max(a,b)`.
static SmallVector<StringRef> splitDimParams(StringRef text) {
  SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(text.slice(begin, i));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

void onnxquant::onnx::applyDimParams(StringRef text,
                                     MutableArrayRef<Dim> dims) {
  for (StringRef part : splitDimParams(text)) {
    auto [index, name] = part.split(':');
    unsigned position;
    if (name.empty() || index.getAsInteger(10, position) ||
        position >= dims.size() || dims[position].isConstant())
      continue;
    dims[position] = Dim::parse(name);
  }
}

Dim ShapeContext::unknown() {
  return Dim::symbol("?" + std::to_string(numUnknowns++));
}

Dims ShapeContext::unknowns(int64_t rank) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(unknown());
  return dims;
}

Dims ShapeContext::fromType(Value value) {
  Dims dims;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    dims.push_back(ShapedType::isDynamic(size) ? unknown() : Dim(size));
  // What an earlier run, or the model, says of dynamic dimensions.
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(
        argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return dims;
    if (auto text = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), argDimParamsAttr))
      applyDimParams(text, dims);
    return dims;
  }
  auto result = cast<OpResult>(value);
  auto texts = result.getOwner()->getAttrOfType<ArrayAttr>(dimParamsAttr);
  if (texts && result.getResultNumber() < texts.size())
    if (auto text = dyn_cast<StringAttr>(texts[result.getResultNumber()]))
      applyDimParams(text, dims);
  return dims;
}

std::optional<Dims> ShapeContext::getDims(Value value) {
  if (auto it = dimsOf.find(value); it != dimsOf.end())
    return it->second;
  if (!isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  Dims dims = fromType(value);
  dimsOf[value] = dims;
  return dims;
}

std::optional<int64_t> ShapeContext::getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  return type.getRank();
}

std::optional<Dims> ShapeContext::getContents(Value value) {
  if (auto it = contentsOf.find(value); it != contentsOf.end())
    return it->second;
  std::optional<Dims> dims = getDims(value);
  if (!dims || dims->size() > 1)
    return std::nullopt;
  std::optional<int64_t> count =
      dims->empty() ? 1 : dims->front().getConstant();
  if (!count || *count < 0 || *count > maxContents)
    return std::nullopt;
  if (ElementsAttr constant = onnxquant::onnx::getConstant(value)) {
    std::optional<SmallVector<int64_t>> ints = readInts(constant, maxContents);
    if (!ints || static_cast<int64_t>(ints->size()) != *count)
      return std::nullopt;
    return Dims(ints->begin(), ints->end());
  }
  if (!isa_and_nonnull<IntegerType>(getElementType(value)))
    return std::nullopt;
  Dims contents = unknowns(*count);
  contentsOf[value] = contents;
  return contents;
}

std::optional<SmallVector<int64_t>> ShapeContext::getConstants(Value value) {
  std::optional<Dims> contents = getContents(value);
  if (!contents)
    return std::nullopt;
  SmallVector<int64_t> constants;
  for (const Dim &dim : *contents) {
    std::optional<int64_t> constant = dim.getConstant();
    if (!constant)
      return std::nullopt;
    constants.push_back(*constant);
  }
  return constants;
}

std::optional<int64_t> ShapeContext::getConstant(Value value) {
  std::optional<SmallVector<int64_t>> constants = getConstants(value);
  if (!constants || constants->size() != 1)
    return std::nullopt;
  return constants->front();
}

/// Joins what inference says of a dimension with what the type says.
static FailureOr<Dim> mergeDim(OpResult result, size_t index, const Dim &dim,
                               int64_t known) {
  Operation *op = result.getOwner();
  std::optional<int64_t> constant = dim.getConstant();
  if (constant && *constant < 0)
    return op->emitOpError("infers dimension ")
           << index << " of result " << result.getResultNumber() << " as "
           << *constant;
  if (ShapedType::isDynamic(known))
    return dim;
  if (constant && *constant != known)
    return op->emitOpError("infers dimension ")
           << index << " of result " << result.getResultNumber() << " as "
           << *constant << ", but its type says " << known;
  return Dim(known);
}

/// Writes the expressions of a result's dimensions beside the op.
static void writeDimParams(OpResult result, ArrayRef<Dim> dims) {
  Operation *op = result.getOwner();
  std::string text = formatDimParams(dims);
  auto old = op->getAttrOfType<ArrayAttr>(dimParamsAttr);
  if (text.empty() && !old)
    return;
  SmallVector<Attribute> texts(op->getNumResults(),
                               StringAttr::get(op->getContext(), ""));
  if (old)
    for (auto [index, attr] : llvm::enumerate(old))
      if (index < texts.size())
        texts[index] = attr;
  texts[result.getResultNumber()] = StringAttr::get(op->getContext(), text);
  if (llvm::all_of(texts, [](Attribute attr) {
        auto string = dyn_cast<StringAttr>(attr);
        return !string || string.empty();
      }))
    op->removeAttr(dimParamsAttr);
  else
    op->setAttr(dimParamsAttr, ArrayAttr::get(op->getContext(), texts));
}

LogicalResult ShapeContext::set(OpResult result, Type elementType,
                                const std::optional<Dims> &dims) {
  Operation *op = result.getOwner();
  auto old = dyn_cast<TensorType>(result.getType());
  if (!old)
    return success();
  Type oldElement = old.getElementType();
  if (!elementType || isa<UnknownType>(elementType))
    elementType = oldElement;
  if (!isa<UnknownType>(oldElement) && oldElement != elementType)
    return op->emitOpError("infers element type ")
           << elementType << " for result " << result.getResultNumber()
           << ", but its type says " << oldElement;
  auto oldRanked = dyn_cast<RankedTensorType>(old);
  if (!dims) {
    if (oldElement != elementType)
      result.setType(oldRanked ? Type(oldRanked.clone(elementType))
                               : UnrankedTensorType::get(elementType));
    return success();
  }
  if (oldRanked && oldRanked.getRank() != static_cast<int64_t>(dims->size()))
    return op->emitOpError("infers rank ")
           << dims->size() << " for result " << result.getResultNumber()
           << ", but its type says " << oldRanked.getRank();
  Dims merged;
  SmallVector<int64_t> shape;
  int64_t elements = 1;
  for (auto [index, dim] : llvm::enumerate(*dims)) {
    if (dim.hasOverflowed())
      return op->emitOpError("infers dimension ")
             << index << " of result " << result.getResultNumber()
             << " larger than 64 bits";
    int64_t known =
        oldRanked ? oldRanked.getDimSize(index) : ShapedType::kDynamic;
    FailureOr<Dim> joined =
        mergeDim(result, index, dim.isValid() ? dim : unknown(), known);
    if (failed(joined))
      return failure();
    merged.push_back(*joined);
    shape.push_back(joined->getConstant().value_or(ShapedType::kDynamic));
    if (!ShapedType::isDynamic(shape.back()) && shape.back() != 0 &&
        llvm::MulOverflow(elements, shape.back(), elements))
      return op->emitOpError("infers more elements for result ")
             << result.getResultNumber() << " than 64 bits can count";
  }
  result.setType(RankedTensorType::get(shape, elementType));
  dimsOf[result] = merged;
  writeDimParams(result, merged);
  return success();
}

void ShapeContext::setContents(OpResult result, ArrayRef<Dim> contents) {
  std::optional<Dims> dims = getDims(result);
  if (!dims || dims->size() > 1 ||
      static_cast<int64_t>(contents.size()) > maxContents)
    return;
  if (!dims->empty() &&
      !dims->front().isConstant(static_cast<int64_t>(contents.size())))
    return;
  if (dims->empty() && contents.size() != 1)
    return;
  Dims &known = contentsOf[result];
  known.assign(contents.begin(), contents.end());
  for (Dim &dim : known)
    if (!dim.isValid())
      dim = unknown();
}

void ShapeContext::setDims(BlockArgument argument, ArrayRef<Dim> dims) {
  dimsOf[argument] = Dims(dims.begin(), dims.end());
}

void ShapeContext::forget(Value value) {
  dimsOf.erase(value);
  contentsOf.erase(value);
}

LogicalResult ShapeContext::infer(Operation *op) {
  if (auto shaped = dyn_cast<ShapeInferenceOpInterface>(op))
    return shaped.inferShapes(*this);
  return success();
}

LogicalResult ShapeContext::infer(Block &block) {
  for (Operation &op : block)
    if (failed(infer(&op)))
      return failure();
  return success();
}

LogicalResult ShapeContext::infer(Region &region) {
  for (Block &block : region)
    if (failed(infer(block)))
      return failure();
  return success();
}
