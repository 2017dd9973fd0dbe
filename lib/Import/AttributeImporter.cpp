// Imports attributes of nodes, those that are graphs among them.

#include "GraphImporter.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

using Kind = ::onnx_format::AttributeProto;

/// The type of an attribute. Before IR version 2 the field that is set tells.
static Kind::AttributeType getType(const Kind &attr) {
  return attr.has_type()       ? attr.type()
         : attr.has_f()        ? Kind::FLOAT
         : attr.has_i()        ? Kind::INT
         : attr.has_s()        ? Kind::STRING
         : attr.has_t()        ? Kind::TENSOR
         : attr.has_g()        ? Kind::GRAPH
         : attr.floats_size()  ? Kind::FLOATS
         : attr.strings_size() ? Kind::STRINGS
                               : Kind::INTS;
}

FailureOr<Attribute>
GraphImporter::importAttribute(::onnx_format::AttributeProto &attr) {
  Builder b(context);
  if (!attr.has_type() && model.ir_version() >= 2)
    return error() << "has attribute '" << attr.name() << "' of no type";
  Kind::AttributeType type = getType(attr);
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
  case Kind::TENSORS: {
    SmallVector<Attribute> tensors;
    for (::onnx_format::TensorProto &proto : *attr.mutable_tensors()) {
      auto tensor = importTensor(proto, attr.name(), externalData, context);
      if (!tensor)
        return error() << "attribute '" << attr.name() << "' "
                       << llvm::toString(tensor.takeError());
      tensors.push_back(*tensor);
    }
    return Attribute(b.getArrayAttr(tensors));
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
    // A type that is a value has its dimensions' names with it.
    auto ranked = dyn_cast_or_null<RankedTensorType>(declared->type);
    if (std::string dims = onnx::formatDimParams(declared->dims);
        ranked && !dims.empty())
      return Attribute(TypeAttr::get(RankedTensorType::get(
          ranked.getShape(), ranked.getElementType(), b.getStringAttr(dims))));
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

LogicalResult GraphImporter::importAttributes(::onnx_format::NodeProto &proto,
                                              Node &node, Scope &scope,
                                              const Opsets &opsets,
                                              Regions &regions,
                                              SubgraphNames &subgraphs) {
  // Regions stand in the order of the op's definition.
  SmallVector<::onnx_format::AttributeProto *> graphs;
  llvm::StringSet<> names;
  for (::onnx_format::AttributeProto &attribute : *proto.mutable_attribute()) {
    if (!attribute.ref_attr_name().empty())
      return error() << "refers to attribute '" << attribute.ref_attr_name()
                     << "' outside of a function";
    if (attribute.name().empty())
      return error() << "has an attribute without a name";
    if (!names.insert(attribute.name()).second)
      return error() << "has attribute '" << attribute.name() << "' twice";
    if (attribute.has_g() ||
        llvm::is_contained({::onnx_format::AttributeProto::GRAPH,
                            ::onnx_format::AttributeProto::GRAPHS},
                           attribute.type())) {
      graphs.push_back(&attribute);
      continue;
    }
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
    for (::onnx_format::AttributeProto *graph : graphs)
      if (!llvm::is_contained(order, graph->name()) ||
          graph->type() == ::onnx_format::AttributeProto::GRAPHS)
        return error() << "has attribute '" << graph->name() << "', which "
                       << opType << " doesn't know";
    for (StringRef name : order)
      if (llvm::none_of(graphs,
                        [&](auto *graph) { return graph->name() == name; }))
        return error() << "expects one subgraph '" << name << "'";
    llvm::sort(graphs, [&](auto *a, auto *b) {
      return llvm::find(order, a->name()) < llvm::find(order, b->name());
    });
  }
  for (::onnx_format::AttributeProto *attribute : graphs) {
    SmallVector<::onnx_format::GraphProto *> bodies;
    if (attribute->type() != ::onnx_format::AttributeProto::GRAPHS)
      bodies.push_back(attribute->mutable_g());
    else
      for (::onnx_format::GraphProto &body : *attribute->mutable_graphs())
        bodies.push_back(&body);
    for (::onnx_format::GraphProto *body : bodies) {
      regions.push_back(std::make_unique<Region>());
      subgraphs.attributes.push_back(attribute->name());
      if (failed(importSubgraph(*body, node, *regions.back(), scope, opsets,
                                subgraphs)))
        return failure();
    }
  }
  return success();
}

LogicalResult GraphImporter::importSubgraph(::onnx_format::GraphProto &graph,
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
  SmallVector<std::string> inputDims;
  for (auto [index, input] : llvm::enumerate(graph.input())) {
    if (input.name().empty())
      return error() << "has a subgraph with an input without a name";
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
    inputDims.push_back(onnx::formatDimParams(declared->dims));
  }
  if (failed(importNodes(*graph.mutable_node(), scope, opsets)))
    return failure();
  nodeLoc = loc;
  SmallVector<Value> yields;
  for (const ::onnx_format::ValueInfoProto &output : graph.output()) {
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
  SmallVector<StringRef> dims(inputDims.begin(), inputDims.end());
  if (llvm::any_of(dims, [](StringRef text) { return !text.empty(); }))
    dict.push_back(opBuilder.getNamedAttr("input_dim_params",
                                          opBuilder.getStrArrayAttr(dims)));
  if (!graph.doc_string().empty())
    dict.push_back(opBuilder.getNamedAttr(
        "doc_string", opBuilder.getStringAttr(graph.doc_string())));
  if (Attribute metadata = importMetadata(graph.metadata_props(), context))
    dict.push_back(opBuilder.getNamedAttr("metadata", metadata));
  names.dicts.push_back(opBuilder.getDictionaryAttr(dict));
  return success();
}
