// Graphs to messages: names, opset, constants and types. Nodes themselves are
// in NodeExporter.cpp.

#include "GraphExporter.h"
#include "DowngradeUtils.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/EntryPoint.h"
#include "OnnxQuant/Dialect/ONNX/TypedData.h"
#include "SpellOut.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;
namespace ir = onnxquant::onnx;

/// The opset of a module that no model was imported into.
static constexpr int64_t defaultOpset = 13;

/// The version of the format that an opset was released with. Initializers that
/// are no inputs need 4.
static int64_t irVersionFor(int64_t opset) {
  static constexpr std::pair<int64_t, int64_t> table[] = {
      {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}};
  for (auto [first, version] : table)
    if (opset >= first)
      return version;
  return 4;
}

void onnxquant::exporting::exportMetadata(
    Attribute attribute,
    google::protobuf::RepeatedPtrField<::onnx_format::StringStringEntryProto>
        *out) {
  auto pairs = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!pairs)
    return;
  for (Attribute element : pairs) {
    auto pair = dyn_cast<ArrayAttr>(element);
    if (!pair || pair.size() != 2 || !isa<StringAttr>(pair[0]) ||
        !isa<StringAttr>(pair[1]))
      continue;
    auto *entry = out->Add();
    entry->set_key(cast<StringAttr>(pair[0]).str());
    entry->set_value(cast<StringAttr>(pair[1]).str());
  }
}

std::string onnxquant::exporting::stringOf(Attribute attribute) {
  auto string = dyn_cast_or_null<StringAttr>(attribute);
  return string ? string.str() : "";
}

SmallVector<std::string> onnxquant::exporting::stringsOf(Attribute attribute) {
  SmallVector<std::string> strings;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    for (Attribute element : list)
      strings.push_back(stringOf(element));
  return strings;
}

std::string GraphExporter::unique(StringRef wanted, llvm::StringSet<> &taken) {
  std::string name = wanted.str();
  for (unsigned i = 0; name.empty() || !taken.insert(name).second; ++i)
    name = (wanted + "_" + Twine(i)).str();
  if (&taken == &tensorNames)
    takenInOrder.push_back(name);
  return name;
}

std::string GraphExporter::nameOf(Value value) {
  if (!value || isa<NoneType>(value.getType()))
    return "";
  auto it = valueNames.find(value);
  return it == valueNames.end() ? "" : it->second;
}

/// Whether a node must say an attribute although it has a default here.
static bool isRequired(Operation *op, StringRef attribute) {
  return (isa<ir::microsoft::QLinearSoftmaxOp>(op) && attribute == "opset") ||
         (isa<ir::microsoft::QLinearReduceMeanOp>(op) &&
          attribute == "keepdims");
}

/// Whether a graph has a node of the ai.onnx domain.
static bool usesStandardOps(const ::onnx_format::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const ::onnx_format::NodeProto &node) {
    return node.domain().empty() ||
           llvm::any_of(node.attribute(), [](const auto &attribute) {
             return usesStandardOps(attribute.g()) ||
                    llvm::any_of(attribute.graphs(), usesStandardOps);
           });
  });
}

void GraphExporter::exportModelFields(::onnx_format::ModelProto &model) {
  auto text = [&](StringRef name) {
    return stringOf(module->getAttr(("onnx." + name).str()));
  };
  // A model that keeps its opset keeps its version of the format.
  int64_t version = irVersionFor(opset);
  if (auto imported = module->getAttrOfType<IntegerAttr>("onnx.ir_version"))
    version =
        std::max(opset == floor ? irVersionFor(1) : version, imported.getInt());
  model.set_ir_version(version);
  auto set = [&](const std::string &value, auto setter) {
    if (!value.empty())
      (model.*setter)(value);
  };
  void (::onnx_format::ModelProto::*producer)(const std::string &) =
      &::onnx_format::ModelProto::set_producer_name;
  set(text("producer_name"), producer);
  void (::onnx_format::ModelProto::*producerVersion)(const std::string &) =
      &::onnx_format::ModelProto::set_producer_version;
  set(text("producer_version"), producerVersion);
  void (::onnx_format::ModelProto::*domain)(const std::string &) =
      &::onnx_format::ModelProto::set_domain;
  set(text("domain"), domain);
  void (::onnx_format::ModelProto::*doc)(const std::string &) =
      &::onnx_format::ModelProto::set_doc_string;
  set(text("doc_string"), doc);
  if (auto number = module->getAttrOfType<IntegerAttr>("onnx.model_version"))
    model.set_model_version(number.getInt());
  exportMetadata(module->getAttr("onnx.metadata"),
                 model.mutable_metadata_props());
  exportMetadata(module->getAttr("onnx.graph_metadata"),
                 model.mutable_graph()->mutable_metadata_props());
  if (std::string doc = text("graph_doc_string"); !doc.empty())
    model.mutable_graph()->set_doc_string(doc);
  if (auto notes =
          module->getAttrOfType<ArrayAttr>("onnx.quantization_annotations"))
    for (Attribute element : notes) {
      auto note = dyn_cast<ArrayAttr>(element);
      if (!note || note.size() != 2)
        continue;
      auto *out = model.mutable_graph()->add_quantization_annotation();
      out->set_tensor_name(stringOf(note[0]));
      exportMetadata(note[1], out->mutable_quant_parameter_tensor_names());
    }
  // ai.onnx first, then by name.
  if (usesStandardOps(model.graph()) || opsets.empty() ||
      opsets.count("ai.onnx")) {
    auto *main = model.add_opset_import();
    main->set_domain("");
    main->set_version(opset);
  }
  std::map<std::string, int64_t> others;
  for (const auto &entry : opsets)
    if (entry.first() != "ai.onnx")
      others[entry.first().str()] = entry.second;
  for (const auto &[name, number] : others) {
    auto *import = model.add_opset_import();
    import->set_domain(name);
    import->set_version(number);
  }
}

/// Ops that would raise the opset, though they are made of older ones, are
/// replaced by these in a copy. The highest opset is what was asked for, or
/// what the other ops need.
void GraphExporter::lowerOpset(func::FuncOp &function) {
  auto imported = module->getAttrOfType<DictionaryAttr>("onnx.opsets");
  auto own = imported ? imported.getAs<IntegerAttr>("ai.onnx") : IntegerAttr();
  if (!own && maxOpset == 0)
    return;
  int64_t lowest = own ? own.getInt() : defaultOpset;
  int64_t highest = maxOpset > 0 ? maxOpset : lowest;
  bool isAbove = false;
  function.walk([&](Operation *op) {
    if (!canSpellOut(op) && maxOpset == 0)
      highest = std::max(highest, minOpset(op, lowest));
  });
  auto mustGo = [&](Operation *op) {
    return canSpellOut(op) && minOpset(op, 1) > highest;
  };
  function.walk([&](Operation *op) { isAbove |= mustGo(op); });
  if (!isAbove)
    return;
  copy = OwningOpRef<ModuleOp>(cast<ModuleOp>(module->clone()));
  module = *copy;
  function = module.lookupSymbol<func::FuncOp>(function.getSymName());
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (mustGo(op))
      ops.push_back(op);
  });
  llvm::for_each(ops, spellOut);
}

/// The lowest opset that can say all ops and is not below the imported one.
LogicalResult GraphExporter::chooseOpset(func::FuncOp function) {
  floor = defaultOpset;
  if (auto imported = module->getAttrOfType<DictionaryAttr>("onnx.opsets"))
    for (NamedAttribute entry : imported)
      if (auto number = dyn_cast<IntegerAttr>(entry.getValue())) {
        opsets[entry.getName().getValue()] = number.getInt();
        if (entry.getName() == "ai.onnx")
          floor = number.getInt();
      }
  if (maxOpset > 0)
    floor = std::min(floor, maxOpset);
  opset = floor;
  Operation *highest = nullptr;
  function.walk([&](Operation *op) {
    if (auto node = dyn_cast<ir::NodeOpInterface>(op)) {
      if (!node.getOnnxDomain().empty())
        opsets.try_emplace(node.getOnnxDomain(), 1);
      else if (int64_t own = minOpset(op, floor); own > opset) {
        opset = own;
        highest = op;
      }
    }
    if (auto custom = dyn_cast<ir::CustomOp>(op))
      if (!custom.getDomainName().empty())
        opsets.try_emplace(custom.getDomainName(), 1);
  });
  if (maxOpset == 0 || opset <= maxOpset)
    return success();
  return highest->emitError("node '")
         << stringOf(highest->getAttr(ir::nodeNameAttr)) << "' ("
         << cast<ir::NodeOpInterface>(highest).getOnnxOpType()
         << ") needs opset " << opset << ", but the highest allowed is "
         << maxOpset;
}

LogicalResult GraphExporter::run(::onnx_format::ModelProto &model,
                                 std::vector<Weight> &weights) {
  FailureOr<func::FuncOp> function = findGraph(module);
  if (failed(function))
    return failure();
  if (function->isExternal() ||
      !isa<ir::ReturnOp, func::ReturnOp>(
          function->getBody().front().getTerminator()))
    return function->emitError("expects a graph that ends in onnx.Return");
  lowerOpset(*function);
  if (failed(chooseOpset(*function)))
    return failure();
  GraphNames names;
  names.graph = stringOf(module->getAttr("onnx.graph_name"));
  if (names.graph.empty())
    names.graph = function->getName().str();
  for (unsigned i = 0; i < function->getNumArguments(); ++i)
    names.inputs.push_back(stringOf(function->getArgAttr(i, ir::argNameAttr)));
  for (unsigned i = 0; i < function->getNumResults(); ++i)
    names.outputs.push_back(
        stringOf(function->getResultAttr(i, ir::argNameAttr)));
  ::onnx_format::GraphProto &graph = *model.mutable_graph();
  if (failed(exportBlock(function->getBody().front(), names, graph, &weights)))
    return failure();
  exportModelFields(model);
  auto describe = [&](::onnx_format::ValueInfoProto &info, Type type,
                      auto attribute) {
    info.Clear();
    exportType(type, stringOf(attribute(ir::argDimParamsAttr)),
               *info.mutable_type());
    if (std::string doc = stringOf(attribute(ir::argDocStringAttr));
        !doc.empty())
      info.set_doc_string(doc);
    exportMetadata(attribute("onnx.metadata"), info.mutable_metadata_props());
  };
  for (unsigned i = 0; i < function->getNumArguments(); ++i) {
    std::string name = graph.input(i).name();
    describe(*graph.mutable_input(i), function->getArgument(i).getType(),
             [&](StringRef key) { return function->getArgAttr(i, key); });
    graph.mutable_input(i)->set_name(name);
  }
  for (unsigned i = 0; i < function->getNumResults(); ++i) {
    std::string name = graph.output(i).name();
    describe(*graph.mutable_output(i), function->getResultTypes()[i],
             [&](StringRef key) { return function->getResultAttr(i, key); });
    graph.mutable_output(i)->set_name(name);
  }
  return success();
}

/// Every result gets the name that the model gave it, or one made from its
/// node's name.
void GraphExporter::nameResults(Block &block) {
  for (Operation &op : block) {
    SmallVector<std::string> given = stringsOf(op.getAttr(ir::resultNamesAttr));
    std::string node = stringOf(op.getAttr(ir::nodeNameAttr));
    if (node.empty())
      node = op.getName().stripDialect().str();
    for (OpResult result : op.getResults()) {
      if (isa<NoneType>(result.getType()) || valueNames.count(result))
        continue;
      unsigned index = result.getResultNumber();
      std::string name = index < given.size() ? given[index] : "";
      // An output that the model doesn't name, and nobody reads.
      if (name.empty() && result.use_empty() && op.getNumResults() > 1)
        continue;
      if (name.empty())
        name = node + "_out" + (index ? std::to_string(index) : "");
      valueNames[result] = unique(name, tensorNames);
    }
  }
}

/// What quantizers mean anyway isn't said: those of com.microsoft know no
/// blocks in ONNX Runtime, and one scale has no axis.
static void leaveOutDefaults(Node &node) {
  if (node.opType != "QuantizeLinear" && node.opType != "DequantizeLinear")
    return;
  auto leaveOut = [&](StringRef name, int64_t number) {
    auto value = dyn_cast_or_null<IntegerAttr>(node.attributes.get(name));
    if (value && value.getValue().getSExtValue() == number)
      node.attributes.erase(name);
  };
  leaveOut("block_size", 0);
  leaveOut("output_dtype", 0);
  leaveOut("precision", 0);
  leaveOut("saturate", 1);
  if (hasOneElement(node.operand(1)))
    leaveOut("axis", 1);
}

LogicalResult GraphExporter::exportBlock(Block &block, const GraphNames &names,
                                         ::onnx_format::GraphProto &graph,
                                         std::vector<Weight> *weights) {
  graph.set_name(names.graph.empty() ? "graph" : names.graph);
  if (failed(exportInputs(block, names, graph)))
    return failure();
  SmallVector<Output> outputs = nameOutputs(block, names);
  nameResults(block);
  Operation *terminator = block.getTerminator();

  // Constants that every user turned into attributes are not written.
  std::vector<std::pair<Operation *, Node>> nodes;
  llvm::DenseSet<Value> used;
  for (Operation &op : block) {
    if (&op == terminator || isa<ir::ConstantOp, ir::NoValueOp>(op))
      continue;
    auto node = dyn_cast<ir::NodeOpInterface>(op);
    if (!node && !isa<ir::CustomOp>(op)) {
      StringRef name = op.getName().getStringRef();
      bool isObserver = name == "onnxq.state" || name == "onnxq.observe";
      return op.emitOpError("cannot be exported: ONNX has no such operator")
             << (isObserver
                     ? "; --onnx-instrument=form=onnx puts nodes of ONNX "
                       "into a graph as observers"
                     : "");
    }
    Node out;
    if (node && node.getOnnxDomain().empty()) {
      out = downgrade(&op, opset);
    } else {
      out.op = &op;
      out.opType = node ? node.getOnnxOpType().str()
                        : cast<ir::CustomOp>(op).getFunctionName().str();
      out.operands.assign(op.operand_begin(), op.operand_end());
      // Other domains have no history here: what says nothing is left out.
      NamedAttrList defaults;
      op.getName().populateDefaultAttrs(defaults);
      for (NamedAttribute attribute : op.getAttrs())
        if (defaults.get(attribute.getName()) != attribute.getValue() ||
            isRequired(&op, attribute.getName()))
          out.attributes.push_back(attribute);
    }
    leaveOutDefaults(out);
    for (Value operand : out.operands)
      if (operand)
        used.insert(operand);
    nodes.push_back({&op, std::move(out)});
  }
  for (Value value : terminator->getOperands())
    used.insert(value);
  for (Operation &op : block) {
    if (!isa<ir::ConstantOp>(op))
      continue;
    bool inner = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user->getBlock() != &block;
    });
    if (used.count(op.getResult(0)) || op.use_empty() || inner)
      if (failed(exportConstant(&op, graph, weights)))
        return failure();
  }
  for (auto &[op, node] : nodes) {
    if (failed(exportNode(node, graph)))
      return failure();
    exportValueInfo(op, graph);
  }
  for (auto [output, value] : llvm::zip(outputs, terminator->getOperands()))
    exportOutput(output, value, graph);
  return success();
}

LogicalResult GraphExporter::exportInputs(Block &block, const GraphNames &names,
                                          ::onnx_format::GraphProto &graph) {
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.getEncoding())
      return block.getParentOp()->emitError("input ")
             << index << " cannot be exported: ONNX has no layouts such as "
             << type.getEncoding();
    std::string name = index < names.inputs.size() ? names.inputs[index] : "";
    valueNames[argument] = unique(
        name.empty() ? "input_" + std::to_string(index) : name, tensorNames);
    auto *input = graph.add_input();
    input->set_name(valueNames[argument]);
    exportType(argument.getType(),
               index < names.inputDims.size() ? names.inputDims[index] : "",
               *input->mutable_type());
  }
  return success();
}

SmallVector<GraphExporter::Output>
GraphExporter::nameOutputs(Block &block, const GraphNames &names) {
  SmallVector<Output> outputs;
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    std::string name = index < names.outputs.size() ? names.outputs[index] : "";
    if (name.empty())
      name = "output_" + std::to_string(index);
    bool own = value.getDefiningOp() &&
               value.getDefiningOp()->getBlock() == &block &&
               !valueNames.count(value);
    auto argument = dyn_cast<BlockArgument>(value);
    bool isInput = argument && argument.getOwner() == &block &&
                   valueNames[value] == name &&
                   llvm::none_of(outputs, [&](const Output &other) {
                     return other.name == name;
                   });
    if (!isInput)
      name = unique(name, tensorNames);
    if (own)
      valueNames[value] = name;
    outputs.push_back({name, !own && !isInput});
  }
  return outputs;
}

void GraphExporter::exportOutput(const Output &output, Value value,
                                 ::onnx_format::GraphProto &graph) {
  if (output.isPassedOn) {
    auto *identity = graph.add_node();
    identity->set_op_type("Identity");
    identity->set_name(unique(output.name + "_identity", nodeNames));
    identity->add_input(nameOf(value));
    identity->add_output(output.name);
  }
  ::onnx_format::ValueInfoProto *info = graph.add_output();
  if (auto result = dyn_cast<OpResult>(value))
    exportResult(result, *info);
  else
    exportType(value.getType(), "", *info->mutable_type());
  info->set_name(output.name);
}

LogicalResult GraphExporter::exportConstant(Operation *op,
                                            ::onnx_format::GraphProto &graph,
                                            std::vector<Weight> *weights) {
  ElementsAttr elements = ir::getConstant(op->getResult(0));
  std::string name = nameOf(op->getResult(0));
  auto fail = [&](StringRef reason) {
    return op->emitOpError("cannot write tensor '") << name << "': " << reason;
  };
  if (!elements)
    return fail("its value has no elements that ONNX can hold");
  Weight weight;
  weight.op = op;
  weight.elements = elements;
  weight.header.set_name(name);
  if (failed(exportTensorType(elements.getShapedType(), weight.header)))
    return fail("ONNX has no such element type");
  if (std::string doc = stringOf(op->getAttr(ir::docStringAttr)); !doc.empty())
    weight.header.set_doc_string(doc);
  exportMetadata(op->getAttr(ir::metadataAttr),
                 weight.header.mutable_metadata_props());
  if (op->hasAttr(ir::typedDataAttr) &&
      exportTypedData(elements, weight.header)) {
    *graph.add_initializer() = std::move(weight.header);
    return success();
  }
  if (weights) {
    weights->push_back(std::move(weight));
    return success();
  }
  FailureOr<RawTensor> raw = getRawTensor(elements);
  if (failed(raw))
    return fail("its data is missing or has the wrong size");
  ::onnx_format::TensorProto *tensor = graph.add_initializer();
  *tensor = std::move(weight.header);
  tensor->set_raw_data(raw->data().data(), raw->data().size());
  return success();
}

/// The type of a result, and what the model says of it for people to read.
void GraphExporter::exportResult(OpResult result,
                                 ::onnx_format::ValueInfoProto &info) {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  auto textOf = [&](StringRef list) {
    SmallVector<std::string> texts = stringsOf(op->getAttr(list));
    return index < texts.size() ? texts[index] : "";
  };
  exportType(result.getType(), textOf(ir::dimParamsAttr), *info.mutable_type());
  if (std::string doc = textOf("onnx_result_doc_strings"); !doc.empty())
    info.set_doc_string(doc);
  if (auto list = op->getAttrOfType<ArrayAttr>("onnx_result_metadata");
      list && index < list.size())
    exportMetadata(list[index], info.mutable_metadata_props());
}

void GraphExporter::exportValueInfo(Operation *op,
                                    ::onnx_format::GraphProto &graph) {
  for (OpResult result : op->getResults()) {
    std::string name = nameOf(result);
    bool isOutput = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return user == op->getBlock()->getTerminator();
    });
    if (name.empty() || isOutput)
      continue;
    ::onnx_format::ValueInfoProto info;
    exportResult(result, info);
    // A type without a shape says nothing that the node doesn't, but for
    // operators that nobody knows.
    bool says = isa<RankedTensorType>(result.getType()) ||
                isa<ir::CustomOp>(op) || !info.doc_string().empty() ||
                info.metadata_props_size() > 0;
    if (!says || !info.type().has_tensor_type())
      continue;
    info.set_name(name);
    *graph.add_value_info() = std::move(info);
  }
}
