// Nodes to messages: their attributes, and the graphs among those.

#include "GraphExporter.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;
namespace ir = onnxquant::onnx;

/// An attribute that names things and belongs to no operator.
static bool isBookkeeping(StringRef name) {
  return name.starts_with("onnx_") || name.starts_with("onnx.");
}

LogicalResult GraphExporter::exportNode(const Node &node,
                                        ::onnx_format::GraphProto &graph) {
  Operation *op = node.op;
  ::onnx_format::NodeProto &proto = *graph.add_node();
  proto.set_op_type(node.opType);
  std::string name = stringOf(op->getAttr(ir::nodeNameAttr));
  proto.set_name(unique(name.empty() ? node.opType : name, nodeNames));
  auto interface = dyn_cast<ir::NodeOpInterface>(op);
  auto custom = dyn_cast<ir::CustomOp>(op);
  if (custom)
    proto.set_domain(custom.getDomainName().str());
  else if (!interface.getOnnxDomain().empty())
    proto.set_domain(interface.getOnnxDomain().str());
  if (std::string doc = stringOf(op->getAttr(ir::docStringAttr)); !doc.empty())
    proto.set_doc_string(doc);
  exportMetadata(op->getAttr(ir::metadataAttr), proto.mutable_metadata_props());
  for (Value operand : node.operands)
    proto.add_input(nameOf(operand));
  while (proto.input_size() > 0 && proto.input(proto.input_size() - 1).empty())
    proto.mutable_input()->RemoveLast();
  for (Value result : op->getResults())
    proto.add_output(nameOf(result));
  while (proto.output_size() > 1 &&
         proto.output(proto.output_size() - 1).empty())
    proto.mutable_output()->RemoveLast();
  for (NamedAttribute attribute : node.attributes) {
    StringRef key = attribute.getName();
    if (isBookkeeping(key) ||
        (custom && (key == "function_name" || key == "domain_name")))
      continue;
    if (failed(exportAttribute(node, attribute, proto)))
      return failure();
  }
  return exportRegions(op, proto);
}

static LogicalResult exportAttributeTensor(const Node &node, StringRef name,
                                           ElementsAttr elements,
                                           ::onnx_format::TensorProto &tensor) {
  FailureOr<RawTensor> raw = getRawTensor(elements);
  if (failed(raw) || failed(exportTensorType(elements.getShapedType(), tensor)))
    return node.op->emitOpError("cannot write attribute '")
           << name << "': its data can't be read";
  tensor.set_raw_data(raw->data().data(), raw->data().size());
  return success();
}

LogicalResult GraphExporter::exportAttribute(const Node &node,
                                             NamedAttribute attribute,
                                             ::onnx_format::NodeProto &proto) {
  using Kind = ::onnx_format::AttributeProto;
  Kind &out = *proto.add_attribute();
  out.set_name(attribute.getName().str());
  Attribute value = attribute.getValue();
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    out.set_type(Kind::INT);
    out.set_i(number.getType().isIndex() ||
                      number.getValue().getBitWidth() <= 64
                  ? number.getValue().getSExtValue()
                  : 0);
    return success();
  }
  if (auto number = dyn_cast<FloatAttr>(value)) {
    out.set_type(Kind::FLOAT);
    out.set_f(static_cast<float>(number.getValueAsDouble()));
    return success();
  }
  if (auto string = dyn_cast<StringAttr>(value)) {
    out.set_type(Kind::STRING);
    out.set_s(string.str());
    return success();
  }
  if (auto type = dyn_cast<TypeAttr>(value)) {
    // An element type is its number; a tensor type is a type.
    if (auto code = ir::onnxFromElementType(type.getValue())) {
      out.set_type(Kind::INT);
      out.set_i(*code);
    } else {
      out.set_type(Kind::TYPE_PROTO);
      auto ranked = dyn_cast<RankedTensorType>(type.getValue());
      exportType(type.getValue(), ranked ? stringOf(ranked.getEncoding()) : "",
                 *out.mutable_tp());
    }
    return success();
  }
  if (auto elements = dyn_cast<ElementsAttr>(value)) {
    out.set_type(Kind::TENSOR);
    return exportAttributeTensor(node, attribute.getName(), elements,
                                 *out.mutable_t());
  }
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    out.set_type(Kind::INTS);
    if (auto kinds =
            node.op->getAttrOfType<DictionaryAttr>("onnx_attribute_kinds"))
      if (auto kind =
              dyn_cast_or_null<IntegerAttr>(kinds.get(attribute.getName()));
          kind && Kind::AttributeType_IsValid(kind.getInt()))
        out.set_type(static_cast<Kind::AttributeType>(kind.getInt()));
    for (Attribute element : list) {
      if (auto number = dyn_cast<IntegerAttr>(element)) {
        out.add_ints(number.getInt());
      } else if (auto number = dyn_cast<FloatAttr>(element)) {
        out.set_type(Kind::FLOATS);
        out.add_floats(static_cast<float>(number.getValueAsDouble()));
      } else if (auto string = dyn_cast<StringAttr>(element)) {
        out.set_type(Kind::STRINGS);
        out.add_strings(string.str());
      } else if (auto elements = dyn_cast<ElementsAttr>(element)) {
        out.set_type(Kind::TENSORS);
        if (failed(exportAttributeTensor(node, attribute.getName(), elements,
                                         *out.add_tensors())))
          return failure();
      }
    }
    return success();
  }
  return node.op->emitOpError("cannot write attribute '")
         << attribute.getName() << "': ONNX has no such kind";
}

/// A graph for the attribute of that name, one of several where `inList`.
static ::onnx_format::GraphProto &addGraph(StringRef name, bool inList,
                                           ::onnx_format::NodeProto &proto) {
  if (inList)
    for (::onnx_format::AttributeProto &attribute : *proto.mutable_attribute())
      if (attribute.name() == name)
        return *attribute.add_graphs();
  ::onnx_format::AttributeProto &attribute = *proto.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(inList ? ::onnx_format::AttributeProto::GRAPHS
                            : ::onnx_format::AttributeProto::GRAPH);
  return inList ? *attribute.add_graphs() : *attribute.mutable_g();
}

LogicalResult GraphExporter::exportRegions(Operation *op,
                                           ::onnx_format::NodeProto &proto) {
  auto dicts = op->getAttrOfType<ArrayAttr>("onnx_subgraphs");
  auto kinds = op->getAttrOfType<DictionaryAttr>("onnx_attribute_kinds");
  SmallVector<std::string> attributes =
      stringsOf(op->getAttr("onnx_subgraph_names"));
  if (isa<ir::IfOp>(op))
    attributes = {"then_branch", "else_branch"};
  else if (attributes.empty())
    attributes = {"body"};
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    unsigned index = region.getRegionNumber();
    GraphNames names;
    names.graph = index < attributes.size() ? attributes[index]
                                            : "graph_" + std::to_string(index);
    ::onnx_format::GraphProto &graph =
        addGraph(names.graph, kinds && kinds.get(names.graph), proto);
    if (dicts && index < dicts.size())
      if (auto dict = dyn_cast<DictionaryAttr>(dicts[index])) {
        names.inputs = stringsOf(dict.get("inputs"));
        names.inputDims = stringsOf(dict.get("input_dim_params"));
        names.outputs = stringsOf(dict.get("outputs"));
        if (std::string name = stringOf(dict.get("name")); !name.empty())
          names.graph = name;
        if (std::string doc = stringOf(dict.get("doc_string")); !doc.empty())
          graph.set_doc_string(doc);
        exportMetadata(dict.get("metadata"), graph.mutable_metadata_props());
      }
    size_t outerNames = takenInOrder.size();
    if (failed(exportBlock(region.front(), names, graph, /*weights=*/nullptr)))
      return failure();
    for (; takenInOrder.size() > outerNames; takenInOrder.pop_back())
      tensorNames.erase(takenInOrder.back());
  }
  return success();
}
