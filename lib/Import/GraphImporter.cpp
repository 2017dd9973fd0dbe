// Imports a model's graph: its names, types, constants and node order. Nodes
// themselves are in NodeImporter.cpp.

#include "GraphImporter.h"
#include "Decompose.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

static constexpr int64_t maxOpset = 23;

Attribute onnxquant::import::importMetadata(
    const google::protobuf::RepeatedPtrField<
        ::onnx_format::StringStringEntryProto> &entries,
    MLIRContext *context) {
  if (entries.empty())
    return {};
  SmallVector<Attribute> pairs;
  for (const auto &entry : entries)
    pairs.push_back(
        ArrayAttr::get(context, {StringAttr::get(context, entry.key()),
                                 StringAttr::get(context, entry.value())}));
  return ArrayAttr::get(context, pairs);
}

std::vector<std::string>
onnxquant::import::namesDefinedIn(const ::onnx_format::GraphProto &graph) {
  std::vector<std::string> names;
  auto add = [&](const std::string &name) {
    if (!name.empty())
      names.push_back(name);
  };
  for (const ::onnx_format::ValueInfoProto &input : graph.input())
    add(input.name());
  for (const ::onnx_format::TensorProto &tensor : graph.initializer())
    add(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    add(tensor.values().name());
  for (const ::onnx_format::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      add(output);
  return names;
}

GraphImporter::GraphImporter(::onnx_format::ModelProto &model, StringRef file,
                             StringRef folder, MLIRContext *context,
                             const ImportOptions &options)
    : model(model), file(file), options(options), externalData(folder),
      context(context), opBuilder(context),
      fileLoc(FileLineColLoc::get(context, file, 0, 0)), nodeLoc(fileLoc) {}

Location GraphImporter::locFor(StringRef nodeName) {
  return NameLoc::get(StringAttr::get(context, nodeName), fileLoc);
}

InFlightDiagnostic GraphImporter::error() { return emitError(nodeLoc); }

InFlightDiagnostic GraphImporter::tensorError(StringRef name) {
  return emitError(fileLoc) << "tensor '" << name << "' ";
}

static void collectGivenNames(const ::onnx_format::GraphProto &graph,
                              llvm::StringSet<> &names) {
  for (const ::onnx_format::NodeProto &node : graph.node()) {
    if (!node.name().empty())
      names.insert(node.name());
    for (const ::onnx_format::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectGivenNames(attribute.g(), names);
      for (const ::onnx_format::GraphProto &body : attribute.graphs())
        collectGivenNames(body, names);
    }
  }
}

LogicalResult GraphImporter::run(ModuleOp module) {
  if (failed(readOpsets()))
    return failure();
  for (const ::onnx_format::FunctionProto &function : model.functions())
    functions[function.domain() + ":" + function.name() + ":" +
              function.overload()] = &function;
  if (failed(checkCalls()))
    return failure();
  collectGivenNames(model.graph(), givenNames);
  importModuleAttributes(module);
  if (failed(importMain(module)))
    return failure();
  module.walk([](onnx::ConstantOp op) {
    if (op->removeAttr(supersededAttr) && op->use_empty())
      op.erase();
  });
  // Inlined functions bring the opsets that they alone use.
  Builder b(context);
  SmallVector<NamedAttribute> opsets;
  for (const auto &entry : modelOpsets)
    opsets.push_back(
        b.getNamedAttr(entry.first(), b.getI64IntegerAttr(entry.second)));
  module->setAttr("onnx.opsets", b.getDictionaryAttr(opsets));
  return success();
}

LogicalResult GraphImporter::readOpsets() {
  for (const auto &opset : model.opset_import()) {
    if (opset.version() < 1)
      return emitError(fileLoc, "imports opset ")
             << opset.version() << " of domain '" << domainKey(opset.domain())
             << "', but opsets begin at 1";
    if (domainKey(opset.domain()) == "ai.onnx" && opset.version() > maxOpset)
      return emitError(fileLoc, "imports opset ")
             << opset.version() << ", but the newest one known is " << maxOpset;
    modelOpsets[domainKey(opset.domain())] = opset.version();
  }
  // Models older than IR version 3 state none.
  if (model.opset_import_size() == 0) {
    if (model.ir_version() >= 3)
      return emitError(fileLoc, "imports no opset, as IR version ")
             << model.ir_version() << " asks for";
    modelOpsets["ai.onnx"] = 1;
  }
  return success();
}

/// What a model says of itself stays on the module.
void GraphImporter::importModuleAttributes(ModuleOp module) {
  Builder b(context);
  auto set = [&](StringRef name, StringRef value) {
    if (!value.empty())
      module->setAttr(("onnx." + name).str(), b.getStringAttr(value));
  };
  // Initializers that are no inputs, as the graph has them now, need 4.
  module->setAttr("onnx.ir_version", b.getI64IntegerAttr(std::max<int64_t>(
                                         model.ir_version(), 4)));
  set("producer_name", model.producer_name());
  set("producer_version", model.producer_version());
  set("domain", model.domain());
  set("doc_string", model.doc_string());
  set("graph_name", model.graph().name());
  set("graph_doc_string", model.graph().doc_string());
  if (model.has_model_version())
    module->setAttr("onnx.model_version",
                    b.getI64IntegerAttr(model.model_version()));
  if (Attribute metadata = importMetadata(model.metadata_props(), context))
    module->setAttr("onnx.metadata", metadata);
  if (Attribute metadata =
          importMetadata(model.graph().metadata_props(), context))
    module->setAttr("onnx.graph_metadata", metadata);
  SmallVector<Attribute> annotations;
  for (const auto &note : model.graph().quantization_annotation()) {
    Attribute pairs =
        importMetadata(note.quant_parameter_tensor_names(), context);
    annotations.push_back(b.getArrayAttr({b.getStringAttr(note.tensor_name()),
                                          pairs ? pairs : b.getArrayAttr({})}));
  }
  if (!annotations.empty())
    module->setAttr("onnx.quantization_annotations",
                    b.getArrayAttr(annotations));
}

template <typename Proto>
void GraphImporter::readNotes(StringRef name, const Proto &proto,
                              Scope &scope) {
  Attribute metadata = importMetadata(proto.metadata_props(), context);
  if (metadata || !proto.doc_string().empty())
    scope.notes[name] = {proto.doc_string(), metadata};
}

FailureOr<DeclaredType>
GraphImporter::declaredType(const ::onnx_format::ValueInfoProto &info) {
  llvm::Expected<DeclaredType> type = importType(info.type(), context);
  if (!type)
    return tensorError(info.name()) << llvm::toString(type.takeError());
  return *type;
}

LogicalResult GraphImporter::readInitializers(::onnx_format::GraphProto &graph,
                                              Scope &scope) {
  auto add = [&](StringRef name, const ::onnx_format::TensorProto &tensor,
                 llvm::Expected<ElementsAttr> value) -> LogicalResult {
    if (!value)
      return tensorError(name) << llvm::toString(value.takeError());
    if (name.empty())
      return emitError(fileLoc, "has an initializer without a name");
    if (!scope.constants.try_emplace(name, *value).second)
      return tensorError(name) << "is initialized twice";
    scope.constantOrder.push_back(name.str());
    readNotes(name, tensor, scope);
    return success();
  };
  for (::onnx_format::TensorProto &tensor : *graph.mutable_initializer()) {
    std::string name = tensor.name();
    if (failed(add(name, tensor,
                   importTensor(tensor, name, externalData, context))))
      return failure();
  }
  for (auto &sparse : *graph.mutable_sparse_initializer()) {
    std::string name = sparse.values().name();
    if (failed(add(name, sparse.values(),
                   importSparseTensor(sparse, name, externalData, context))))
      return failure();
  }
  return success();
}

LogicalResult
GraphImporter::readValueInfos(const ::onnx_format::GraphProto &graph,
                              Scope &scope) {
  for (const auto *infos : {&graph.value_info(), &graph.output()})
    for (const ::onnx_format::ValueInfoProto &info : *infos) {
      FailureOr<DeclaredType> type = declaredType(info);
      if (failed(type))
        return failure();
      if (type->type)
        scope.declared[info.name()] = *type;
      // The main graph's outputs have theirs on the function.
      if (infos == &graph.value_info() || scope.parent)
        readNotes(info.name(), info, scope);
    }
  return success();
}

/// What the file says of an end of the graph.
static DictionaryAttr describeEnd(const ::onnx_format::ValueInfoProto &end,
                                  const Dims &dims, MLIRContext *context) {
  Builder b(context);
  NamedAttrList attributes;
  attributes.set(onnx::argNameAttr, b.getStringAttr(end.name()));
  if (std::string params = onnx::formatDimParams(dims); !params.empty())
    attributes.set(onnx::argDimParamsAttr, b.getStringAttr(params));
  if (!end.doc_string().empty())
    attributes.set(onnx::argDocStringAttr, b.getStringAttr(end.doc_string()));
  if (Attribute metadata = importMetadata(end.metadata_props(), context))
    attributes.set("onnx.metadata", metadata);
  return attributes.getDictionary(context);
}

LogicalResult GraphImporter::importMain(ModuleOp module) {
  ::onnx_format::GraphProto &graph = *model.mutable_graph();
  Scope scope;
  if (failed(readInitializers(graph, scope)) ||
      failed(readValueInfos(graph, scope)))
    return failure();

  // An input that an initializer gives a value is that constant.
  SmallVector<const ::onnx_format::ValueInfoProto *> inputs;
  SmallVector<DeclaredType> declared;
  SmallVector<Type> types;
  for (const ::onnx_format::ValueInfoProto &input : graph.input()) {
    if (input.name().empty())
      return emitError(fileLoc, "has an input without a name");
    if (scope.constants.count(input.name()))
      continue;
    FailureOr<DeclaredType> type = declaredType(input);
    if (failed(type))
      return failure();
    if (!type->type || isa<onnx::UnknownType>(type->type.getElementType()))
      return emitError(fileLoc, "input '") << input.name() << "' has no type";
    inputs.push_back(&input);
    declared.push_back(*type);
    types.push_back(type->type);
  }
  Builder b(context);
  auto function =
      func::FuncOp::create(fileLoc, "main_graph", b.getFunctionType(types, {}));
  module.push_back(function);
  scope.block = function.addEntryBlock();
  opBuilder.setInsertionPointToEnd(scope.block);
  SmallVector<DictionaryAttr> inputAttrs;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    inputAttrs.push_back(describeEnd(*input, declared[index].dims, context));
    if (failed(define(input->name(), function.getArgument(index), scope)))
      return failure();
  }
  function.setAllArgAttrs(inputAttrs);
  if (failed(importNodes(*graph.mutable_node(), scope, modelOpsets)))
    return failure();

  nodeLoc = fileLoc;
  SmallVector<Value> outputs;
  SmallVector<Type> outputTypes;
  SmallVector<DictionaryAttr> outputAttrs;
  for (const ::onnx_format::ValueInfoProto &output : graph.output()) {
    Value value = lookup(output.name(), scope);
    if (!value)
      return emitError(fileLoc, "output '")
             << output.name()
             << "' is defined by no node, input or initializer";
    outputs.push_back(value);
    outputTypes.push_back(value.getType());
    outputAttrs.push_back(describeEnd(
        output, shapeContext.getDims(value).value_or(Dims()), context));
  }
  for (const std::string &name : scope.constantOrder)
    lookup(name, scope);
  opBuilder.setInsertionPointToEnd(scope.block);
  onnx::ReturnOp::create(opBuilder, fileLoc, outputs);
  function.setType(b.getFunctionType(types, outputTypes));
  function.setAllResultAttrs(outputAttrs);
  opBuilder.setInsertionPointToEnd(module.getBody());
  onnx::EntryPointOp::create(opBuilder, fileLoc,
                             FlatSymbolRefAttr::get(context, "main_graph"));
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::define(StringRef name, Value value, Scope &scope) {
  if (name.empty())
    return success();
  if (scope.constants.count(name) ||
      !scope.values.try_emplace(name, value).second)
    return tensorError(name) << "is defined twice";
  return success();
}

Value GraphImporter::lookup(StringRef name, Scope &scope) {
  for (Scope *s = &scope; s; s = s->parent) {
    if (auto it = s->values.find(name); it != s->values.end())
      return it->second;
    auto constant = s->constants.find(name);
    if (constant == s->constants.end())
      continue;
    OpBuilder::InsertionGuard guard(opBuilder);
    opBuilder.setInsertionPointToEnd(s->block);
    OperationState state(locFor(name), onnx::ConstantOp::getOperationName());
    state.addAttribute("value", constant->second);
    state.addAttribute(onnx::resultNamesAttr,
                       opBuilder.getStrArrayAttr({name}));
    state.addTypes(constant->second.getType());
    if (auto notes = s->notes.find(name); notes != s->notes.end()) {
      if (!notes->second.docString.empty())
        state.addAttribute(onnx::docStringAttr,
                           opBuilder.getStringAttr(notes->second.docString));
      if (notes->second.metadata)
        state.addAttribute(onnx::metadataAttr, notes->second.metadata);
    }
    Value value = opBuilder.create(state)->getResult(0);
    s->values[name] = value;
    return value;
  }
  return {};
}

Value GraphImporter::noValue() {
  for (Scope *s = current; s; s = s->parent)
    if (s->noValue)
      return s->noValue;
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToEnd(current->block);
  current->noValue = onnx::NoValueOp::create(
      opBuilder, fileLoc, opBuilder.getNoneType(), opBuilder.getUnitAttr());
  return current->noValue;
}

std::string GraphImporter::uniqueNodeName(StringRef wanted, bool given) {
  if (given && nodeNames.insert(wanted).second)
    return wanted.str();
  if (!given && !givenNames.contains(wanted) && nodeNames.insert(wanted).second)
    return wanted.str();
  while (true) {
    std::string name = (wanted + "_" + Twine(nameCounts[wanted]++)).str();
    if (!givenNames.contains(name) && nodeNames.insert(name).second)
      return name;
  }
}

std::string GraphImporter::nameFor(const ::onnx_format::NodeProto &proto) {
  if (!proto.name().empty())
    return uniqueNodeName(proto.name(), /*given=*/true);
  // Named as the first of its duplicates would be: `Relu_0`, `Relu_1`, ...
  StringRef wanted = proto.op_type();
  nodeNames.insert(wanted);
  return uniqueNodeName(wanted, /*given=*/true);
}

//===----------------------------------------------------------------------===//
// Node order
//===----------------------------------------------------------------------===//

/// All names that a node reads from the graph it is in, or from one around it:
/// those that its subgraphs read and don't define included.
static void collectUses(const ::onnx_format::NodeProto &node,
                        llvm::function_ref<void(StringRef)> use) {
  for (const std::string &input : node.input())
    use(input);
  auto graph = [&](const ::onnx_format::GraphProto &body) {
    llvm::StringSet<> own;
    for (const std::string &name : namesDefinedIn(body))
      own.insert(name);
    auto useOuter = [&](StringRef name) {
      if (!own.contains(name))
        use(name);
    };
    for (const ::onnx_format::NodeProto &inner : body.node())
      collectUses(inner, useOuter);
    for (const ::onnx_format::ValueInfoProto &output : body.output())
      useOuter(output.name());
  };
  for (const ::onnx_format::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      graph(attribute.g());
    for (const ::onnx_format::GraphProto &body : attribute.graphs())
      graph(body);
  }
}

FailureOr<std::vector<int>> GraphImporter::sortNodes(
    const google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
    Scope &scope) {
  llvm::StringMap<int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producer.try_emplace(output, i);
  // Depth first, in the model's order: a sorted model keeps its order.
  enum State : char { New, Open, Done };
  std::vector<char> state(nodes.size(), New);
  std::vector<std::vector<int>> needs(nodes.size());
  for (int i = 0; i < nodes.size(); ++i)
    collectUses(nodes[i], [&](StringRef name) {
      auto it = producer.find(name);
      if (it != producer.end())
        needs[i].push_back(it->second);
    });
  std::vector<int> order;
  for (int root = 0; root < nodes.size(); ++root) {
    if (state[root] != New)
      continue;
    std::vector<std::pair<int, size_t>> stack = {{root, 0}};
    state[root] = Open;
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next == needs[node].size()) {
        state[node] = Done;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      int need = needs[node][next++];
      if (state[need] == Open)
        return emitError(fileLoc, "node '")
               << nodes[node].name() << "' (" << nodes[node].op_type()
               << ") is part of a cycle";
      if (state[need] == New) {
        state[need] = Open;
        stack.push_back({need, 0});
      }
    }
  }
  return order;
}

LogicalResult GraphImporter::importNodes(
    google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
    Scope &scope, const Opsets &opsets) {
  FailureOr<std::vector<int>> order = sortNodes(nodes, scope);
  if (failed(order))
    return failure();
  for (int index : *order)
    if (failed(importNode(nodes[index], scope, opsets)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Upgrader
//===----------------------------------------------------------------------===//

Value GraphImporter::constant(ElementsAttr value, StringRef suffix) {
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToEnd(current->block);
  std::string name = currentNode->name + "_" + suffix.str();
  OperationState state(nodeLoc, onnx::ConstantOp::getOperationName());
  state.addAttribute("value", value);
  state.addAttribute(onnx::resultNamesAttr, opBuilder.getStrArrayAttr({name}));
  state.addTypes(value.getType());
  return opBuilder.create(state)->getResult(0);
}

FailureOr<SmallVector<Value>> GraphImporter::emit(StringRef opType,
                                                  ArrayRef<Value> operands,
                                                  NamedAttrList attributes,
                                                  StringRef suffix,
                                                  unsigned numResults) {
  OpNames names;
  if (suffix.empty()) {
    names = currentNames;
    names.results.resize(numResults);
  } else {
    names.node = uniqueNodeName(currentNames.node + "_" + suffix.str(),
                                /*given=*/false);
    for (unsigned i = 0; i < numResults; ++i)
      names.results.push_back(names.node + (i ? "_" + std::to_string(i) : "") +
                              "_out");
  }
  FailureOr<Operation *> op = createOp(("onnx." + opType).str(), operands,
                                       std::move(attributes), std::move(names));
  if (failed(op))
    return failure();
  return SmallVector<Value>((*op)->getResults());
}
