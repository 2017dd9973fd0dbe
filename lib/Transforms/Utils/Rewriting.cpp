// What the preprocessing passes share. Weights are widened to doubles for
// arithmetic and rounded once; large results are resources, as the importer
// makes them.

#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// From this many bytes on, elements are a resource.
static constexpr size_t resourceThreshold = 1024;
/// Lists that describe an op, such as paddings, are no longer than this.
static constexpr int64_t maxSmall = 1024;
/// No product of interest has more factors, or is nested deeper.
static constexpr unsigned maxFactors = 8;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The f32 elements of a resource without a detour through big numbers.
static bool readResource(ElementsAttr elements, std::vector<double> &values) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource || !elements.getElementType().isF32())
    return false;
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  size_t count = elements.getNumElements();
  if (!blob || blob->getData().size() != count * sizeof(float))
    return false;
  values.resize(count);
  for (size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, blob->getData().data() + i * sizeof(float),
                sizeof(float));
    values[i] = value;
  }
  return true;
}

std::optional<Weights> rewriting::readWeights(Value value) {
  ElementsAttr elements = getConstant(value);
  if (!elements || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  Weights weights;
  weights.type = RankedTensorType::get(elements.getShapedType().getShape(),
                                       elements.getElementType());
  if (readResource(elements, weights.values))
    return weights;
  auto values = readFloats(elements, INT64_MAX);
  if (!values)
    return std::nullopt;
  weights.values.assign(values->begin(), values->end());
  return weights;
}

std::optional<double> rewriting::readScalar(Value value) {
  ElementsAttr elements = getConstant(value);
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  auto values = readFloats(elements, 1);
  if (!values)
    return std::nullopt;
  return values->front();
}

std::optional<SmallVector<int64_t>> rewriting::readSmallInts(Value value) {
  return readInts(getConstant(value), maxSmall);
}

ElementsAttr rewriting::makeElements(RankedTensorType type,
                                     ArrayRef<char> bytes, StringRef name) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (bytes.size() < resourceThreshold)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return DenseResourceElementsAttr::get(
      type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
}

ElementsAttr rewriting::makeElements(const Weights &weights, StringRef name) {
  auto element = cast<FloatType>(weights.type.getElementType());
  unsigned size = element.getWidth() / 8;
  std::vector<char> bytes(weights.values.size() * size);
  for (auto [index, value] : llvm::enumerate(weights.values)) {
    if (element.isF32()) {
      float rounded = static_cast<float>(value);
      if (!std::isfinite(rounded))
        return {};
      std::memcpy(bytes.data() + index * size, &rounded, size);
      continue;
    }
    APFloat rounded(value);
    bool losesInfo;
    rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    if (!rounded.isFinite())
      return {};
    uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
    std::memcpy(bytes.data() + index * size, &bits, size);
  }
  return makeElements(weights.type, bytes, name);
}

ElementsAttr rewriting::makeInts(ArrayRef<int64_t> values,
                                 MLIRContext *context) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    IntegerType::get(context, 64));
  return DenseElementsAttr::get(type, values);
}

Value rewriting::makeConstant(OpBuilder &builder, Location loc,
                              ElementsAttr elements, StringRef name) {
  OperationState state(loc, ConstantOp::getOperationName());
  state.addAttribute("value", elements);
  state.addTypes(elements.getShapedType());
  if (!name.empty())
    state.addAttribute(resultNamesAttr, builder.getStrArrayAttr({name}));
  return builder.create(state)->getResult(0);
}

Value rewriting::makeNoValue(OpBuilder &builder, Location loc) {
  return NoValueOp::create(builder, loc, builder.getNoneType(),
                           builder.getUnitAttr());
}

std::string rewriting::nameForNew(Value constant, Operation *user,
                                  StringRef suffix) {
  StringRef name = constant ? getTensorName(constant) : "";
  if (!name.empty() && llvm::all_equal(constant.getUsers()))
    return name.str();
  StringRef node = getNodeName(user);
  if (node.empty())
    node = getTensorName(user->getResult(0));
  if (node.empty())
    return "";
  return (node + "_" + suffix).str();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef rewriting::getTensorName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function)
      return "";
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      argNameAttr);
    return name ? name.getValue() : "";
  }
  auto result = cast<OpResult>(value);
  auto names = result.getOwner()->getAttrOfType<ArrayAttr>(resultNamesAttr);
  if (!names || result.getResultNumber() >= names.size())
    return "";
  auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]);
  return name ? name.getValue() : "";
}

StringRef rewriting::getNodeName(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(nodeNameAttr);
  return name ? name.getValue() : "";
}

void rewriting::setTensorName(OpResult result, StringRef name) {
  Operation *op = result.getOwner();
  Builder builder(op->getContext());
  SmallVector<Attribute> names(op->getNumResults(), builder.getStringAttr(""));
  if (auto old = op->getAttrOfType<ArrayAttr>(resultNamesAttr))
    for (auto [index, entry] : llvm::enumerate(old))
      if (index < names.size())
        names[index] = entry;
  names[result.getResultNumber()] = builder.getStringAttr(name);
  op->setAttr(resultNamesAttr, builder.getArrayAttr(names));
}

void rewriting::inheritResults(Operation *op, Operation *last) {
  for (StringRef name : {StringRef(resultNamesAttr), StringRef(dimParamsAttr),
                         StringRef("onnx_result_doc_strings"),
                         StringRef("onnx_result_metadata")}) {
    auto list = last->getAttrOfType<ArrayAttr>(name);
    // An op with further results, such as a left out mask, has shorter lists.
    if (list && !list.empty())
      op->setAttr(name, op->getNumResults() == last->getNumResults()
                            ? list
                            : ArrayAttr::get(op->getContext(), list[0]));
    else
      op->removeAttr(name);
  }
}

Operation *rewriting::createInPlaceOf(PatternRewriter &rewriter,
                                      StringRef opName, Operation *last,
                                      ValueRange operands,
                                      ArrayRef<NamedAttribute> attrs) {
  rewriter.setInsertionPoint(last);
  OperationState state(last->getLoc(), opName, operands,
                       last->getResult(0).getType(), attrs);
  if (auto name = last->getAttr(nodeNameAttr))
    state.addAttribute(nodeNameAttr, name);
  // What else an operator gives is left out.
  auto node = RegisteredOperationName::lookup(opName, rewriter.getContext());
  if (node && node->getInterface<NodeOpInterface>()) {
    Arity results = node->getInterface<NodeOpInterface>()->getResultArity();
    while (state.types.size() < results.fixed)
      state.addTypes(rewriter.getNoneType());
  }
  Operation *op = rewriter.create(state);
  inheritResults(op, last);
  return op;
}

bool rewriting::isOutput(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

bool rewriting::canReplace(OpResult result, Value replacement) {
  if (getElementType(result) != getElementType(replacement))
    return false;
  if (!isOutput(result))
    return true;
  // The replacement becomes the output, so it must be this graph's own, not
  // have an output's name already, and have the type that is stated.
  Operation *maker = replacement.getDefiningOp();
  return maker && maker->getBlock() == result.getOwner()->getBlock() &&
         !isa<ConstantOp>(maker) && !isOutput(replacement) &&
         replacement.getType() == result.getType();
}

void rewriting::replaceResult(RewriterBase &rewriter, OpResult result,
                              Value replacement) {
  if (isOutput(result))
    if (StringRef name = getTensorName(result); !name.empty())
      rewriter.modifyOpInPlace(replacement.getDefiningOp(), [&] {
        setTensorName(cast<OpResult>(replacement), name);
      });
  rewriter.replaceAllUsesWith(result, replacement);
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

std::optional<int64_t> rewriting::getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  return type.getRank();
}

bool rewriting::isFloat(Value value) {
  return isa_and_nonnull<FloatType>(getElementType(value));
}

std::optional<ConstantAndOther> rewriting::splitOperands(Operation *op) {
  Value first = op->getOperand(0), second = op->getOperand(1);
  bool firstConstant = static_cast<bool>(getConstant(first));
  bool secondConstant = static_cast<bool>(getConstant(second));
  if (firstConstant == secondConstant)
    return std::nullopt;
  if (secondConstant)
    return ConstantAndOther{second, first, true};
  return ConstantAndOther{first, second, false};
}

static void addFactors(Value value, Product &product, unsigned depth) {
  bool isRoot = depth == 0;
  if (std::optional<double> number = readScalar(value)) {
    product.scale *= *number;
    return;
  }
  Operation *op = value.getDefiningOp();
  bool goesOn = isRoot || (value.hasOneUse() && depth < maxFactors);
  if (op && goesOn && product.factors.size() < maxFactors) {
    if (isa<MulOp>(op)) {
      addFactors(op->getOperand(0), product, depth + 1);
      return addFactors(op->getOperand(1), product, depth + 1);
    }
    std::optional<double> number;
    if (isa<DivOp, PowOp>(op))
      number = readScalar(op->getOperand(1));
    if (isa<DivOp>(op) && number && *number != 0) {
      product.scale /= *number;
      return addFactors(op->getOperand(0), product, depth + 1);
    }
    if (isa<PowOp>(op) && number && (*number == 2 || *number == 3)) {
      product.factors.append(static_cast<size_t>(*number), op->getOperand(0));
      return;
    }
  }
  product.factors.push_back(value);
}

Product rewriting::getProduct(Value value) {
  Product product;
  addFactors(value, product, /*depth=*/0);
  return product;
}

bool Product::isOf(ArrayRef<Value> values) const {
  SmallVector<Value> rest(values);
  for (Value factor : factors) {
    auto *it = llvm::find(rest, factor);
    if (it == rest.end())
      return false;
    rest.erase(it);
  }
  return rest.empty();
}

std::optional<std::pair<Value, double>> rewriting::getSum(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || !isa<AddOp, SubOp>(op))
    return std::nullopt;
  std::optional<ConstantAndOther> operands = splitOperands(op);
  if (!operands || (isa<SubOp>(op) && !operands->second))
    return std::nullopt;
  std::optional<double> number = readScalar(operands->constant);
  if (!number)
    return std::nullopt;
  return std::pair(operands->other, isa<SubOp>(op) ? -*number : *number);
}

bool rewriting::isNear(double value, double expected, Type element) {
  double tolerance = element.isBF16() ? 8e-3 : element.isF16() ? 1e-3 : 1e-5;
  return std::abs(value - expected) <=
         tolerance * std::max(std::abs(expected), 1e-30);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

LogicalResult rewriting::applyPatterns(ModuleOp module,
                                       const FrozenRewritePatternSet &set) {
  GreedyRewriteConfig config;
  config.enableFolding(false)
      .enableConstantCSE(false)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setUseTopDownTraversal();
  return applyPatternsGreedily(module, set, config);
}

void rewriting::addToReport(ModuleOp module, StringRef pass, StringRef what,
                            int64_t count) {
  auto report = module->getAttrOfType<DictionaryAttr>(reportAttr);
  if (!report || count == 0)
    return;
  Builder builder(module.getContext());
  NamedAttrList passes(report), counts;
  if (auto old = dyn_cast_or_null<DictionaryAttr>(passes.get(pass)))
    counts = NamedAttrList(old);
  if (auto old = dyn_cast_or_null<IntegerAttr>(counts.get(what)))
    count += old.getInt();
  counts.set(what, builder.getI64IntegerAttr(count));
  passes.set(pass, counts.getDictionary(module.getContext()));
  module->setAttr(reportAttr, passes.getDictionary(module.getContext()));
}
