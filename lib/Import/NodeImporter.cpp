// Imports nodes: upgrades of old forms, and the creation of ops with verified
// attributes and inferred types. Attributes are in AttributeImporter.cpp.

#include "Decompose.h"
#include "GraphImporter.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

/// Operators that the dialect leaves out on purpose, by category.
static StringRef refusedCategory(StringRef opType) {
  return llvm::StringSwitch<StringRef>(opType)
      .Cases({"SequenceAt", "SequenceConstruct", "SequenceEmpty",
              "SequenceErase", "SequenceInsert", "SequenceLength",
              "SequenceMap", "SplitToSequence", "ConcatFromSequence"},
             "sequence")
      .Cases({"Optional", "OptionalGetElement", "OptionalHasElement"},
             "optional")
      .Cases(
          {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch"},
          "strings")
      .Default("");
}

/// Operators that ONNX Runtime's optimizers put into models of any opset, in
/// the form that ONNX gave them later.
static bool isInAnyOpset(StringRef opType) {
  return opType == "LayerNormalization";
}

GraphImporter::OpNames
GraphImporter::namesOf(const ::onnx_format::NodeProto &proto,
                       const Node &node) {
  return {node.name, node.resultNames, proto.doc_string(),
          importMetadata(proto.metadata_props(), context)};
}

const ::onnx_format::FunctionProto *
GraphImporter::findFunction(const ::onnx_format::NodeProto &proto) {
  auto it = functions.find(proto.domain() + ":" + proto.op_type() + ":" +
                           proto.overload());
  return it == functions.end() ? nullptr : it->second;
}

/// The op of a node whose attributes and operands are known.
FailureOr<Operation *>
GraphImporter::createNode(::onnx_format::NodeProto &proto, Node &node,
                          Regions regions, SubgraphNames subgraphs,
                          Scope &scope) {
  StringRef domain = domainKey(proto.domain());
  std::string name = domain == "ai.onnx"
                         ? "onnx." + node.opType
                         : ("onnx." + domain + "." + node.opType).str();
  std::optional<RegisteredOperationName> info =
      RegisteredOperationName::lookup(name, context);
  auto *interface =
      info ? info->getInterface<onnx::NodeOpInterface>() : nullptr;
  if (!interface && domain == "ai.onnx")
    return error() << "uses operator " << node.opType << ", which opset "
                   << node.opset << " doesn't have";
  if (!interface)
    return importCustomNode(proto, node, std::move(regions),
                            std::move(subgraphs), scope);
  if (domain == "ai.onnx" && node.opType == proto.op_type() &&
      interface->getSinceVersions().front() > node.opset &&
      !isInAnyOpset(node.opType))
    return error() << "uses operator " << node.opType << " of opset "
                   << interface->getSinceVersions().front()
                   << ", but the model imports opset " << node.opset;
  for (const NamedAttribute &attribute : node.attributes)
    if (!llvm::is_contained(info->getAttributeNames(), attribute.getName()))
      return error() << "has attribute '" << attribute.getName().getValue()
                     << "', which " << node.opType << " doesn't know";
  if (!subgraphs.dicts.empty())
    node.attributes.set("onnx_subgraphs",
                        opBuilder.getArrayAttr(subgraphs.dicts));
  currentNames.results = node.resultNames;
  return createOp(name, node.operands, node.attributes, currentNames,
                  std::move(regions));
}

LogicalResult GraphImporter::importNode(::onnx_format::NodeProto &proto,
                                        Scope &scope, const Opsets &opsets) {
  Node node;
  node.opType = proto.op_type();
  StringRef domain = domainKey(proto.domain());
  if (domain == "ai.onnx" && node.opType == "Constant" &&
      !findFunction(proto)) {
    nodeLoc = locFor(proto.name().empty() ? proto.op_type() : proto.name());
    return importConstantNode(proto, scope);
  }
  node.name = nameFor(proto);
  nodeLoc = locFor(node.name);
  Location loc = nodeLoc;
  if (node.opType.empty())
    return error() << "has no operator";
  if (auto it = opsets.find(domain); it != opsets.end())
    node.opset = it->second;
  else if (domain == "ai.onnx")
    return error() << "uses operator " << node.opType
                   << ", but the model imports no opset of ai.onnx";

  for (const std::string &input : proto.input()) {
    Value value;
    if (!input.empty() && !(value = lookup(input, scope)))
      return error() << "reads tensor '" << input
                     << "', which no node, input or initializer defines";
    node.operands.push_back(value);
  }
  for (const std::string &output : proto.output())
    node.resultNames.push_back(output);

  if (const ::onnx_format::FunctionProto *function = findFunction(proto))
    return importCall(proto, *function, node, scope);
  StringRef category =
      domain == "ai.onnx" ? refusedCategory(node.opType) : StringRef();
  if (!category.empty())
    return error() << "uses operator " << node.opType
                   << " [category: " << category << "]";

  if (domain == "ai.onnx" && node.opType == "Scan" && node.opset == 8 &&
      failed(unbatchScan(proto, node)))
    return failure();
  Regions regions;
  SubgraphNames subgraphs;
  if (failed(importAttributes(proto, node, scope, opsets, regions, subgraphs)))
    return failure();

  // Subgraphs have been imported meanwhile: this node is the current one again.
  nodeLoc = loc;
  current = &scope;
  currentNode = &node;
  currentNames = namesOf(proto, node);
  opBuilder.setInsertionPointToEnd(scope.block);

  if (domain == "ai.onnx" && failed(upgradeNode(node, *this)))
    return failure();
  // What was fused is taken apart, unless subgraphs are part of it.
  bool isKept = options.keepFused && isKeptWhole(domain, node.opType);
  if (regions.empty() && !isKept && failed(decomposeNode(domain, node, *this)))
    return failure();
  SmallVector<Value> results = node.replacement;
  if (results.empty()) {
    FailureOr<Operation *> op = createNode(proto, node, std::move(regions),
                                           std::move(subgraphs), scope);
    if (failed(op))
      return failure();
    results.assign((*op)->result_begin(), (*op)->result_end());
  }
  for (auto [name, value] : llvm::zip(node.resultNames, results))
    if (value && !name.empty() && failed(defineResult(name, value, scope)))
      return failure();
  return success();
}

LogicalResult GraphImporter::defineResult(StringRef name, Value value,
                                          Scope &scope) {
  if (failed(refine(value, name, scope)) || failed(define(name, value, scope)))
    return failure();
  auto notes = scope.notes.find(name);
  auto result = dyn_cast<OpResult>(value);
  if (notes == scope.notes.end() || !result)
    return success();
  Operation *op = result.getOwner();
  auto put = [&](StringRef list, Attribute note, Attribute none) {
    SmallVector<Attribute> all(op->getNumResults(), none);
    if (auto old = op->getAttrOfType<ArrayAttr>(list))
      all.assign(old.begin(), old.end());
    all[result.getResultNumber()] = note;
    op->setAttr(list, opBuilder.getArrayAttr(all));
  };
  if (!notes->second.docString.empty())
    put("onnx_result_doc_strings",
        opBuilder.getStringAttr(notes->second.docString),
        opBuilder.getStringAttr(""));
  if (notes->second.metadata)
    put("onnx_result_metadata", notes->second.metadata,
        opBuilder.getArrayAttr({}));
  return success();
}

LogicalResult GraphImporter::importConstantNode(::onnx_format::NodeProto &proto,
                                                Scope &scope) {
  if (proto.output_size() != 1 || proto.input_size() != 0 ||
      proto.attribute_size() != 1)
    return error() << "expects a Constant with one attribute and one output";
  ::onnx_format::AttributeProto &attribute = *proto.mutable_attribute(0);
  std::string name = proto.output(0);
  if (name.empty())
    return error() << "expects a Constant with a named output";
  ElementsAttr value;
  if (attribute.name() == "sparse_value" && attribute.has_sparse_tensor()) {
    auto sparse = importSparseTensor(*attribute.mutable_sparse_tensor(), name,
                                     externalData, context);
    if (!sparse)
      return error() << "value " << llvm::toString(sparse.takeError());
    value = *sparse;
  } else {
    // All forms are tensors in the end; strings have none here.
    if (StringRef(attribute.name()).starts_with("value_string"))
      return error() << "is a string [category: strings]";
    if (attribute.name() == "value" && attribute.has_t())
      attribute.mutable_t()->set_name(name);
    FailureOr<Attribute> imported = importAttribute(attribute);
    if (failed(imported))
      return failure();
    Builder b(context);
    if (auto elements = dyn_cast<ElementsAttr>(*imported)) {
      value = elements;
    } else if (auto number = dyn_cast<IntegerAttr>(*imported)) {
      value = DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()),
                                     number.getValue().getSExtValue());
    } else if (auto number = dyn_cast<FloatAttr>(*imported)) {
      value = DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()),
                                     number.getValue());
    } else if (auto list = dyn_cast<ArrayAttr>(*imported)) {
      SmallVector<int64_t> ints;
      SmallVector<float> floats;
      for (Attribute element : list) {
        if (auto number = dyn_cast<IntegerAttr>(element))
          ints.push_back(number.getInt());
        else if (auto number = dyn_cast<FloatAttr>(element))
          floats.push_back(number.getValue().convertToFloat());
      }
      int64_t size = list.size();
      if (attribute.name() == "value_floats" && ints.empty())
        value = DenseElementsAttr::get(
            RankedTensorType::get(size, b.getF32Type()), ArrayRef(floats));
      else if (floats.empty())
        value = DenseElementsAttr::get(
            RankedTensorType::get(size, b.getI64Type()), ArrayRef(ints));
    }
    if (!value)
      return error() << "has a value of a kind that Constant doesn't know";
  }
  if (scope.values.count(name) ||
      !scope.constants.try_emplace(name, value).second)
    return tensorError(name) << "is defined twice";
  scope.constantOrder.push_back(name);
  return success();
}

/// Attributes whose value doesn't tell their kind: empty lists, and lists of
/// graphs.
static DictionaryAttr unclearKinds(const ::onnx_format::NodeProto &proto,
                                   OpBuilder &b) {
  using Kind = ::onnx_format::AttributeProto;
  SmallVector<NamedAttribute> kinds;
  for (const Kind &attribute : proto.attribute()) {
    bool isEmpty =
        (attribute.type() == Kind::FLOATS && attribute.floats().empty()) ||
        (attribute.type() == Kind::STRINGS && attribute.strings().empty()) ||
        (attribute.type() == Kind::TENSORS && attribute.tensors().empty());
    if (isEmpty || attribute.type() == Kind::GRAPHS)
      kinds.push_back(b.getNamedAttr(attribute.name(),
                                     b.getI64IntegerAttr(attribute.type())));
  }
  return kinds.empty() ? DictionaryAttr() : b.getDictionaryAttr(kinds);
}

FailureOr<Operation *>
GraphImporter::importCustomNode(::onnx_format::NodeProto &proto, Node &node,
                                Regions regions, SubgraphNames subgraphs,
                                Scope &scope) {
  for (const NamedAttribute &attribute : node.attributes)
    if (StringRef name = attribute.getName(); name == "function_name" ||
                                              name == "domain_name" ||
                                              name.starts_with("onnx_"))
      return error() << "has attribute '" << name
                     << "', a name that is kept for other things";
  OperationState state(nodeLoc, onnx::CustomOp::getOperationName());
  for (Value operand : node.operands)
    state.addOperands(operand ? operand : noValue());
  state.addAttributes(node.attributes.getAttrs());
  state.addAttribute("function_name", opBuilder.getStringAttr(node.opType));
  state.addAttribute("domain_name", opBuilder.getStringAttr(proto.domain()));
  if (DictionaryAttr kinds = unclearKinds(proto, opBuilder))
    state.addAttribute("onnx_attribute_kinds", kinds);
  if (!subgraphs.dicts.empty()) {
    state.addAttribute("onnx_subgraphs",
                       opBuilder.getArrayAttr(subgraphs.dicts));
    SmallVector<StringRef> names(subgraphs.attributes.begin(),
                                 subgraphs.attributes.end());
    state.addAttribute("onnx_subgraph_names", opBuilder.getStrArrayAttr(names));
  }
  SmallVector<StringRef> names(node.resultNames.begin(),
                               node.resultNames.end());
  SmallVector<Type> known = typesOfEmbedding(proto.domain(), node, *this);
  for (auto [i, name] : llvm::enumerate(names))
    state.addTypes(name.empty()       ? Type(NoneType::get(context))
                   : i < known.size() ? known[i]
                                      : UnrankedTensorType::get(
                                            onnx::UnknownType::get(context)));
  state.addAttribute(onnx::nodeNameAttr, opBuilder.getStringAttr(node.name));
  state.addAttribute(onnx::resultNamesAttr, opBuilder.getStrArrayAttr(names));
  if (!proto.doc_string().empty())
    state.addAttribute(onnx::docStringAttr,
                       opBuilder.getStringAttr(proto.doc_string()));
  if (Attribute metadata = importMetadata(proto.metadata_props(), context))
    state.addAttribute(onnx::metadataAttr, metadata);
  state.addRegions(regions);
  opBuilder.setInsertionPointToEnd(scope.block);
  return opBuilder.create(state);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether an operator is free to leave out any of its outputs.
static bool isRecurrent(StringRef opName) {
  return llvm::is_contained(
      {StringRef("onnx.LSTM"), StringRef("onnx.GRU"), StringRef("onnx.RNN"),
       StringRef("onnx.com.microsoft.DynamicQuantizeLSTM")},
      opName);
}

/// Whether an output that the node doesn't name is still a tensor: it is one of
/// those that the operator always has.
static bool isRequiredResult(StringRef opName, unsigned index,
                             onnxquant::onnx::Arity arity) {
  if (index >= arity.fixed)
    return true;
  if (opName == "onnx.TopK" || opName == "onnx.DynamicQuantizeLinear")
    return true;
  return index == 0 && !isRecurrent(opName);
}

FailureOr<Operation *> GraphImporter::createOp(StringRef name,
                                               ArrayRef<Value> operands,
                                               NamedAttrList attributes,
                                               OpNames names, Regions regions) {
  std::optional<RegisteredOperationName> info =
      RegisteredOperationName::lookup(name, context);
  auto *interface =
      info ? info->getInterface<onnx::NodeOpInterface>() : nullptr;
  if (!interface)
    return error() << "becomes an op that doesn't exist: " << name;
  onnx::Arity operandArity = interface->getOperandArity();
  onnx::Arity resultArity = interface->getResultArity();
  if (operands.size() > operandArity.fixed && !operandArity.variadic)
    return error() << "expects at most " << operandArity.fixed
                   << " inputs, but got " << operands.size();
  if (names.results.empty() && !isRecurrent(name))
    return error() << "expects at least one output, but got none";
  if (names.results.size() > resultArity.fixed && !resultArity.variadic)
    return error() << "expects at most " << resultArity.fixed
                   << " outputs, but got " << names.results.size();

  OperationState state(locFor(names.node), *info);
  for (Value operand : operands)
    state.addOperands(operand ? operand : noValue());
  for (size_t i = operands.size(); i < operandArity.fixed; ++i)
    state.addOperands(noValue());
  names.results.resize(
      std::max<size_t>(names.results.size(), resultArity.fixed));
  for (auto [index, result] : llvm::enumerate(names.results))
    state.addTypes(
        result.empty() && !isRequiredResult(name, index, resultArity)
            ? Type(NoneType::get(context))
            : UnrankedTensorType::get(onnx::UnknownType::get(context)));
  // Cast's type is a number in the file.
  if (name == "onnx.Cast")
    if (auto to = dyn_cast_or_null<IntegerAttr>(attributes.get("to")))
      if (Type type =
              onnx::elementTypeFromOnnx(to.getValue().getSExtValue(), context))
        attributes.set("to", TypeAttr::get(type));
  state.addAttributes(attributes.getAttrs());
  state.addAttribute(onnx::nodeNameAttr, opBuilder.getStringAttr(names.node));
  SmallVector<StringRef> results(names.results.begin(), names.results.end());
  if (llvm::any_of(results, [](StringRef result) { return !result.empty(); }))
    state.addAttribute(onnx::resultNamesAttr,
                       opBuilder.getStrArrayAttr(results));
  if (!names.docString.empty())
    state.addAttribute(onnx::docStringAttr,
                       opBuilder.getStringAttr(names.docString));
  if (names.metadata)
    state.addAttribute(onnx::metadataAttr, names.metadata);
  state.addRegions(regions);
  // An attribute of another kind would be left out without a word.
  if (failed(info->verifyInherentAttrs(state.attributes,
                                       [&]() { return error(); })))
    return failure();
  opBuilder.setInsertionPointToEnd(current->block);
  Operation *op = opBuilder.create(state);
  // Shape rules rely on what the verifier checks.
  if (failed(op->getName().verifyInvariants(op)) ||
      failed(shapeContext.infer(op)))
    return failure();
  return op;
}

LogicalResult GraphImporter::refine(Value value, StringRef name, Scope &scope) {
  auto it = scope.declared.find(name);
  auto result = dyn_cast<OpResult>(value);
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (it == scope.declared.end() || !result || !tensor)
    return success();
  const DeclaredType &declared = it->second;
  Type element = tensor.getElementType();
  if (isa<onnx::UnknownType>(element))
    element = declared.type.getElementType();
  std::optional<Dims> dims = shapeContext.getDims(value);
  if (auto ranked = dyn_cast<RankedTensorType>(declared.type)) {
    if (!dims)
      dims = shapeContext.unknowns(ranked.getRank());
    // Where the model contradicts what follows from its own nodes, the nodes
    // are right.
    if (dims->size() == declared.dims.size())
      for (auto [inferred, stated] : llvm::zip(*dims, declared.dims))
        if (inferred.isAnonymous() && stated.isValid())
          inferred = stated;
  }
  return shapeContext.set(result, element, dims);
}
