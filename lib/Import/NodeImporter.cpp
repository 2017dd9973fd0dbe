// Imports nodes: attributes, subgraphs, upgrades of old forms, and the creation
// of ops with verified attributes and inferred types.

#include "GraphImporter.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

/// Functions can multiply a model; no real one comes near this.
static constexpr size_t maxNodes = 1000000;

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

static StringRef domainKey(StringRef domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

GraphImporter::OpNames GraphImporter::namesOf(const ::onnx::NodeProto &proto,
                                              const Node &node) {
  return {node.name, node.resultNames, proto.doc_string(),
          importMetadata(proto.metadata_props(), context)};
}

const ::onnx::FunctionProto *
GraphImporter::findFunction(const ::onnx::NodeProto &proto) {
  auto it = functions.find(proto.domain() + ":" + proto.op_type() + ":" +
                           proto.overload());
  return it == functions.end() ? nullptr : it->second;
}

LogicalResult GraphImporter::importNode(::onnx::NodeProto &proto, Scope &scope,
                                        const Opsets &opsets) {
  Node node;
  node.opType = proto.op_type();
  StringRef domain = domainKey(proto.domain());
  if (++numNodes > maxNodes)
    return emitError(fileLoc, "has more than ") << maxNodes << " nodes";
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

  if (const ::onnx::FunctionProto *function = findFunction(proto))
    return importCall(proto, *function, node, scope);
  StringRef category =
      domain == "ai.onnx" ? refusedCategory(node.opType) : StringRef();
  if (!category.empty())
    return error() << "uses operator " << node.opType
                   << " [category: " << category << "]";

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
  SmallVector<Value> results = node.replacement;
  if (results.empty()) {
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
        interface->getSinceVersions().front() > node.opset)
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
    FailureOr<Operation *> op = createOp(name, node.operands, node.attributes,
                                         currentNames, std::move(regions));
    if (failed(op))
      return failure();
    results.assign((*op)->result_begin(), (*op)->result_end());
  }
  for (auto [name, value] : llvm::zip(node.resultNames, results)) {
    if (!value || name.empty())
      continue;
    refine(value, name, scope);
    if (failed(define(name, value, scope)))
      return failure();
  }
  return success();
}

LogicalResult GraphImporter::importConstantNode(::onnx::NodeProto &proto,
                                                Scope &scope) {
  if (proto.output_size() != 1 || proto.input_size() != 0 ||
      proto.attribute_size() != 1)
    return error() << "expects a Constant with one attribute and one output";
  ::onnx::AttributeProto &attribute = *proto.mutable_attribute(0);
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

LogicalResult GraphImporter::importCustomNode(::onnx::NodeProto &proto,
                                              Node &node, Regions regions,
                                              SubgraphNames subgraphs,
                                              Scope &scope) {
  OperationState state(nodeLoc, onnx::CustomOp::getOperationName());
  for (Value operand : node.operands)
    state.addOperands(operand ? operand : noValue());
  state.addAttributes(node.attributes.getAttrs());
  state.addAttribute("function_name", opBuilder.getStringAttr(node.opType));
  state.addAttribute("domain_name", opBuilder.getStringAttr(proto.domain()));
  if (!subgraphs.dicts.empty()) {
    state.addAttribute("onnx_subgraphs",
                       opBuilder.getArrayAttr(subgraphs.dicts));
    SmallVector<StringRef> names(subgraphs.attributes.begin(),
                                 subgraphs.attributes.end());
    state.addAttribute("onnx_subgraph_names", opBuilder.getStrArrayAttr(names));
  }
  SmallVector<StringRef> names(node.resultNames.begin(),
                               node.resultNames.end());
  for (StringRef name : names) {
    Type type = UnrankedTensorType::get(onnx::UnknownType::get(context));
    if (auto it = scope.declared.find(name); it != scope.declared.end())
      type = it->second.type;
    if (name.empty())
      type = NoneType::get(context);
    state.addTypes(type);
  }
  state.addAttribute(onnx::nodeNameAttr, opBuilder.getStringAttr(node.name));
  state.addAttribute(onnx::resultNamesAttr, opBuilder.getStrArrayAttr(names));
  state.addRegions(regions);
  opBuilder.setInsertionPointToEnd(scope.block);
  Operation *op = opBuilder.create(state);
  for (auto [name, value] : llvm::zip(node.resultNames, op->getResults()))
    if (failed(define(name, value, scope)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether an output that the node doesn't name is still a tensor: it is one of
/// those that the operator always has.
static bool isRequiredResult(StringRef opName, unsigned index,
                             onnxquant::onnx::Arity arity) {
  if (index >= arity.fixed)
    return true;
  if (opName == "onnx.TopK" || opName == "onnx.DynamicQuantizeLinear")
    return true;
  bool recurrent = opName == "onnx.LSTM" || opName == "onnx.GRU" ||
                   opName == "onnx.RNN" ||
                   opName == "onnx.com.microsoft.DynamicQuantizeLSTM";
  return index == 0 && !recurrent;
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
  opBuilder.setInsertionPointToEnd(current->block);
  Operation *op = opBuilder.create(state);
  // Shape rules rely on what the verifier checks.
  if (failed(op->getName().verifyInvariants(op)) ||
      failed(shapeContext.infer(op)))
    return failure();
  return op;
}

void GraphImporter::refine(Value value, StringRef name, Scope &scope) {
  auto it = scope.declared.find(name);
  auto result = dyn_cast<OpResult>(value);
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (it == scope.declared.end() || !result || !tensor)
    return;
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
  (void)shapeContext.set(result, element, dims);
}

//===----------------------------------------------------------------------===//
// Attributes and subgraphs
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
GraphImporter::importAttribute(::onnx::AttributeProto &attr) {
  Builder b(context);
  using Kind = ::onnx::AttributeProto;
  Kind::AttributeType type = attr.type();
  if (!attr.has_type()) {
    // Before IR version 2 the field that is set tells the type.
    type = attr.has_f()          ? Kind::FLOAT
           : attr.has_i()        ? Kind::INT
           : attr.has_s()        ? Kind::STRING
           : attr.has_t()        ? Kind::TENSOR
           : attr.has_g()        ? Kind::GRAPH
           : attr.floats_size()  ? Kind::FLOATS
           : attr.strings_size() ? Kind::STRINGS
                                 : Kind::INTS;
  }
  switch (type) {
  case Kind::FLOAT:
    return Attribute(b.getF32FloatAttr(attr.f()));
  case Kind::INT:
    return Attribute(b.getIntegerAttr(b.getIntegerType(64, true), attr.i()));
  case Kind::STRING:
    return Attribute(b.getStringAttr(attr.s()));
  case Kind::FLOATS:
    return Attribute(b.getF32ArrayAttr(
        SmallVector<float>(attr.floats().begin(), attr.floats().end())));
  case Kind::INTS:
    return Attribute(b.getI64ArrayAttr(
        SmallVector<int64_t>(attr.ints().begin(), attr.ints().end())));
  case Kind::STRINGS:
    return Attribute(b.getStrArrayAttr(
        SmallVector<StringRef>(attr.strings().begin(), attr.strings().end())));
  case Kind::TENSOR: {
    std::string name = attr.t().name().empty() ? attr.name() : attr.t().name();
    auto tensor = importTensor(*attr.mutable_t(), name, externalData, context);
    if (!tensor)
      return error() << "attribute '" << attr.name() << "' "
                     << llvm::toString(tensor.takeError());
    return Attribute(*tensor);
  }
  case Kind::SPARSE_TENSOR: {
    auto tensor = importSparseTensor(*attr.mutable_sparse_tensor(), attr.name(),
                                     externalData, context);
    if (!tensor)
      return error() << "attribute '" << attr.name() << "' "
                     << llvm::toString(tensor.takeError());
    return Attribute(*tensor);
  }
  case Kind::TYPE_PROTO: {
    auto declared = importType(attr.tp(), context);
    if (!declared)
      return error() << "attribute '" << attr.name() << "' "
                     << llvm::toString(declared.takeError());
    if (declared->type)
      return Attribute(TypeAttr::get(declared->type));
    break;
  }
  default:
    break;
  }
  return error() << "has attribute '" << attr.name() << "' of kind "
                 << Kind::AttributeType_Name(type)
                 << ", which no operator here takes";
}

LogicalResult GraphImporter::importAttributes(::onnx::NodeProto &proto,
                                              Node &node, Scope &scope,
                                              const Opsets &opsets,
                                              Regions &regions,
                                              SubgraphNames &subgraphs) {
  // Regions stand in the order of the op's definition.
  SmallVector<::onnx::AttributeProto *> graphs;
  for (::onnx::AttributeProto &attribute : *proto.mutable_attribute()) {
    if (attribute.has_g() ||
        attribute.type() == ::onnx::AttributeProto::GRAPH) {
      graphs.push_back(&attribute);
      continue;
    }
    if (!attribute.ref_attr_name().empty())
      return error() << "refers to attribute '" << attribute.ref_attr_name()
                     << "' outside of a function";
    if (attribute.name().empty())
      return error() << "has an attribute without a name";
    if (node.attributes.get(attribute.name()))
      return error() << "has attribute '" << attribute.name() << "' twice";
    FailureOr<Attribute> value = importAttribute(attribute);
    if (failed(value))
      return failure();
    node.attributes.set(attribute.name(), *value);
  }
  StringRef opType = node.opType;
  SmallVector<StringRef> order;
  if (domainKey(proto.domain()) == "ai.onnx") {
    if (opType == "If")
      order = {"then_branch", "else_branch"};
    else if (opType == "Loop" || opType == "Scan")
      order = {"body"};
    for (::onnx::AttributeProto *graph : graphs)
      if (!llvm::is_contained(order, graph->name()))
        return error() << "has attribute '" << graph->name() << "', which "
                       << opType << " doesn't know";
    for (StringRef name : order)
      if (llvm::count_if(
              graphs, [&](auto *graph) { return graph->name() == name; }) != 1)
        return error() << "expects one subgraph '" << name << "'";
    llvm::sort(graphs, [&](auto *a, auto *b) {
      return llvm::find(order, a->name()) < llvm::find(order, b->name());
    });
  }
  for (::onnx::AttributeProto *graph : graphs) {
    regions.push_back(std::make_unique<Region>());
    subgraphs.attributes.push_back(graph->name());
    if (failed(importSubgraph(*graph->mutable_g(), node, *regions.back(), scope,
                              opsets, subgraphs)))
      return failure();
  }
  return success();
}

LogicalResult GraphImporter::importSubgraph(::onnx::GraphProto &graph,
                                            const Node &node, Region &region,
                                            Scope &parent, const Opsets &opsets,
                                            SubgraphNames &names) {
  Location loc = nodeLoc;
  Scope scope;
  scope.parent = &parent;
  scope.block = &region.emplaceBlock();
  if (failed(readInitializers(graph, scope)) ||
      failed(readValueInfos(graph, scope)))
    return failure();
  SmallVector<StringRef> inputs, outputs;
  for (auto [index, input] : llvm::enumerate(graph.input())) {
    if (scope.constants.count(input.name()))
      continue;
    FailureOr<DeclaredType> declared = declaredType(input);
    if (failed(declared))
      return failure();
    Type type = declared->type;
    // A Loop's or Scan's argument has the element type of what enters it.
    Type element = type ? declared->type.getElementType()
                        : Type(onnx::UnknownType::get(context));
    if (isa<onnx::UnknownType>(element)) {
      Value operand = node.operand(index);
      if (node.opType == "Loop" && index < 2)
        element = index == 0 ? opBuilder.getI64Type() : opBuilder.getI1Type();
      else if (operand && onnx::getElementType(operand))
        element = onnx::getElementType(operand);
      type = type ? Type(declared->type.clone(element))
                  : UnrankedTensorType::get(element);
    }
    BlockArgument argument = scope.block->addArgument(type, loc);
    if (isa<RankedTensorType>(type)) {
      Dims dims = declared->dims;
      for (Dim &dim : dims)
        if (!dim.isValid())
          dim = shapeContext.unknown();
      shapeContext.setDims(argument, dims);
    }
    if (failed(define(input.name(), argument, scope)))
      return failure();
    inputs.push_back(input.name());
  }
  if (failed(importNodes(*graph.mutable_node(), scope, opsets)))
    return failure();
  nodeLoc = loc;
  SmallVector<Value> yields;
  for (const ::onnx::ValueInfoProto &output : graph.output()) {
    Value value = lookup(output.name(), scope);
    if (!value)
      return error() << "has a subgraph whose output '" << output.name()
                     << "' is defined by no node, input or initializer";
    yields.push_back(value);
    outputs.push_back(output.name());
  }
  for (const std::string &name : scope.constantOrder)
    lookup(name, scope);
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToEnd(scope.block);
  onnx::YieldOp::create(opBuilder, loc, yields);
  SmallVector<NamedAttribute> dict = {
      opBuilder.getNamedAttr("inputs", opBuilder.getStrArrayAttr(inputs)),
      opBuilder.getNamedAttr("name", opBuilder.getStringAttr(graph.name())),
      opBuilder.getNamedAttr("outputs", opBuilder.getStrArrayAttr(outputs))};
  names.dicts.push_back(opBuilder.getDictionaryAttr(dict));
  return success();
}
