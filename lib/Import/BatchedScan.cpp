// Scan of opset 8 has a batch axis before all others; later forms have none. A
// Scan over the batch, whose body is the Scan over the sequence, says the same:
// every state and every scanned tensor is cut along axis 0, and what comes out
// is stacked along it again.

#include "GraphImporter.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;
using ::onnx_format::AttributeProto;

static AttributeProto *findAttribute(::onnx_format::NodeProto &proto,
                                     StringRef name) {
  for (AttributeProto &attribute : *proto.mutable_attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

/// The type of a sequence of tensors, given that of one of them.
static ::onnx_format::TypeProto
sequenceOf(const ::onnx_format::TypeProto &element) {
  ::onnx_format::TypeProto sequence = element;
  if (!element.tensor_type().has_shape())
    return sequence;
  auto *shape = sequence.mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  shape->add_dim();
  for (const auto &dim : element.tensor_type().shape().dim())
    *shape->add_dim() = dim;
  return sequence;
}

/// Moves what belongs to the sequence from the node to the inner Scan.
static void moveAttributes(::onnx_format::NodeProto &proto,
                           ::onnx_format::NodeProto &inner) {
  google::protobuf::RepeatedPtrField<AttributeProto> left;
  for (AttributeProto &attribute : *proto.mutable_attribute()) {
    StringRef name = attribute.name();
    bool moves =
        name == "body" || name == "num_scan_inputs" || name == "directions";
    if (name == "directions")
      attribute.set_name("scan_input_directions");
    (moves ? *inner.mutable_attribute() : left).Add()->Swap(&attribute);
  }
  proto.mutable_attribute()->Swap(&left);
}

LogicalResult GraphImporter::unbatchScan(::onnx_format::NodeProto &proto,
                                         Node &node) {
  if (unbatchedScans.contains(&proto)) {
    node.opset = 9;
    return success();
  }
  AttributeProto *body = findAttribute(proto, "body");
  AttributeProto *count = findAttribute(proto, "num_scan_inputs");
  if (!body || !body->has_g() || !count || count->type() != AttributeProto::INT)
    return error() << "expects attributes 'body' and 'num_scan_inputs'";
  if (node.operand(0))
    return error() << "has sequence lengths, which only Scan of opset 8 has "
                      "[category: scan8]";
  int64_t inputs = proto.input_size() - 1;
  if (count->i() < 1 || count->i() > inputs || body->g().input_size() != inputs)
    return error() << "expects a body with " << std::max<int64_t>(inputs, 1)
                   << " inputs, the last " << count->i()
                   << " of them scanned, but got " << body->g().input_size();
  int64_t states = inputs - count->i();

  ::onnx_format::GraphProto outer;
  outer.set_name(node.name + "_batch");
  ::onnx_format::NodeProto &inner = *outer.add_node();
  inner.set_op_type("Scan");
  inner.set_name(node.name + "_sequence");
  for (int64_t i = 0; i < inputs; ++i) {
    const ::onnx_format::TypeProto &type = body->g().input(i).type();
    ::onnx_format::ValueInfoProto &input = *outer.add_input();
    input.set_name(node.name + "_batch_in" + std::to_string(i));
    *input.mutable_type() = i < states ? type : sequenceOf(type);
    inner.add_input(input.name());
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    ::onnx_format::ValueInfoProto &output = *outer.add_output();
    output.set_name(node.name + "_batch_out" + std::to_string(i));
    inner.add_output(output.name());
  }
  moveAttributes(proto, inner);
  AttributeProto &outerCount = *proto.add_attribute();
  outerCount.set_name("num_scan_inputs");
  outerCount.set_type(AttributeProto::INT);
  outerCount.set_i(inputs);
  AttributeProto &outerBody = *proto.add_attribute();
  outerBody.set_name("body");
  outerBody.set_type(AttributeProto::GRAPH);
  outerBody.mutable_g()->Swap(&outer);
  unbatchedScans.insert(&outerBody.g().node(0));

  proto.mutable_input()->DeleteSubrange(0, 1);
  node.operands.erase(node.operands.begin());
  node.opset = 9;
  return success();
}
