// Inlines model-local functions: a call's body is copied, its names are made
// those of the caller, its attribute references are filled in, and the result
// is imported as if it stood in the caller's graph. Calls are counted before.

#include "GraphImporter.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

static constexpr unsigned maxCallDepth = 64;
/// Functions that call each other can multiply a model; no real one comes near
/// this. Each node takes about a millisecond to compile.
static constexpr size_t maxNodes = 100000;
/// Counting ends here.
static constexpr size_t mostCounted = size_t(1) << 48;

namespace {
/// Rewrites the copied nodes of one call.
class CallRewriter {
public:
  CallRewriter(const ::onnx_format::NodeProto &call,
               const ::onnx_format::FunctionProto &function, StringRef prefix);

  void rewrite(::onnx_format::NodeProto &node);
  std::string rename(StringRef name);

private:
  void rewrite(::onnx_format::GraphProto &graph);
  void fillAttributes(::onnx_format::NodeProto &node);

  std::string prefix;
  llvm::StringMap<std::string> names;
  llvm::StringMap<const ::onnx_format::AttributeProto *> attributes;
};
} // namespace

CallRewriter::CallRewriter(const ::onnx_format::NodeProto &call,
                           const ::onnx_format::FunctionProto &function,
                           StringRef prefix)
    : prefix(prefix.str() + "/") {
  for (int i = 0; i < function.output_size(); ++i)
    if (i < call.output_size() && !call.output(i).empty())
      names[function.output(i)] = call.output(i);
  for (int i = 0; i < function.input_size(); ++i)
    names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (const ::onnx_format::AttributeProto &attribute :
       function.attribute_proto())
    attributes[attribute.name()] = &attribute;
  for (const ::onnx_format::AttributeProto &attribute : call.attribute())
    attributes[attribute.name()] = &attribute;
}

std::string CallRewriter::rename(StringRef name) {
  if (name.empty())
    return "";
  if (auto it = names.find(name); it != names.end())
    return it->second;
  return prefix + name.str();
}

void CallRewriter::fillAttributes(::onnx_format::NodeProto &node) {
  ::google::protobuf::RepeatedPtrField<::onnx_format::AttributeProto> filled;
  for (::onnx_format::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.ref_attr_name().empty()) {
      if (attribute.has_g())
        rewrite(*attribute.mutable_g());
      for (::onnx_format::GraphProto &graph : *attribute.mutable_graphs())
        rewrite(graph);
      filled.Add()->Swap(&attribute);
      continue;
    }
    // A reference to an attribute that the call leaves out is left out too.
    auto it = attributes.find(attribute.ref_attr_name());
    if (it == attributes.end())
      continue;
    ::onnx_format::AttributeProto &copy = *filled.Add();
    copy = *it->second;
    copy.set_name(attribute.name());
  }
  node.mutable_attribute()->Swap(&filled);
}

void CallRewriter::rewrite(::onnx_format::NodeProto &node) {
  for (std::string &input : *node.mutable_input())
    input = rename(input);
  for (std::string &output : *node.mutable_output())
    output = rename(output);
  node.set_name(prefix + (node.name().empty() ? node.op_type() : node.name()));
  fillAttributes(node);
}

void CallRewriter::rewrite(::onnx_format::GraphProto &graph) {
  // What the graph defines itself hides the function's names.
  llvm::StringMap<std::string> outer = names;
  for (const std::string &name : namesDefinedIn(graph))
    names[name] = prefix + name;
  for (auto *infos : {graph.mutable_input(), graph.mutable_output(),
                      graph.mutable_value_info()})
    for (::onnx_format::ValueInfoProto &info : *infos)
      info.set_name(rename(info.name()));
  for (::onnx_format::TensorProto &tensor : *graph.mutable_initializer())
    tensor.set_name(rename(tensor.name()));
  for (::onnx_format::SparseTensorProto &tensor :
       *graph.mutable_sparse_initializer())
    tensor.mutable_values()->set_name(rename(tensor.values().name()));
  for (::onnx_format::NodeProto &node : *graph.mutable_node())
    rewrite(node);
  names = std::move(outer);
}

/// Counts nodes, those of called functions included. `sizes` has no number for
/// functions that are being counted.
FailureOr<size_t> GraphImporter::inlinedSize(
    const google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> &nodes,
    llvm::DenseMap<const ::onnx_format::FunctionProto *, std::optional<size_t>>
        &sizes,
    unsigned depth) {
  size_t total = 0;
  for (const ::onnx_format::NodeProto &node : nodes) {
    size_t size = 1;
    for (const ::onnx_format::AttributeProto &attribute : node.attribute()) {
      SmallVector<const ::onnx_format::GraphProto *> graphs;
      if (attribute.has_g())
        graphs.push_back(&attribute.g());
      for (const ::onnx_format::GraphProto &graph : attribute.graphs())
        graphs.push_back(&graph);
      for (const ::onnx_format::GraphProto *graph : graphs) {
        FailureOr<size_t> inner = inlinedSize(graph->node(), sizes, depth);
        if (failed(inner))
          return failure();
        size += *inner;
      }
    }
    if (const ::onnx_format::FunctionProto *function = findFunction(node)) {
      auto [it, isNew] = sizes.try_emplace(function, std::nullopt);
      if (!isNew && !it->second)
        return emitError(fileLoc, "function '")
               << function->name() << "' calls itself";
      if (isNew) {
        if (depth == maxCallDepth)
          return emitError(fileLoc, "function '")
                 << function->name() << "' is called deeper than "
                 << maxCallDepth << " calls";
        FailureOr<size_t> body =
            inlinedSize(function->node(), sizes, depth + 1);
        if (failed(body))
          return failure();
        sizes[function] = *body;
      }
      size += *sizes[function];
    }
    total = std::min(total + size, mostCounted);
  }
  return total;
}

LogicalResult GraphImporter::checkCalls() {
  llvm::DenseMap<const ::onnx_format::FunctionProto *, std::optional<size_t>>
      sizes;
  FailureOr<size_t> size = inlinedSize(model.graph().node(), sizes, 0);
  if (failed(size))
    return failure();
  // Which function multiplies most.
  const ::onnx_format::FunctionProto *culprit = nullptr;
  for (auto [function, nodes] : sizes)
    if (!culprit || std::pair(*nodes, function->name()) >
                        std::pair(*sizes[culprit], culprit->name()))
      culprit = function;
  size_t added = *size - std::min<size_t>(*size, model.graph().node_size());
  if (!culprit || added <= maxNodes)
    return success();
  return emitError(fileLoc, "function '")
         << culprit->name() << "' stands for " << *sizes[culprit]
         << " nodes with the functions that it calls; functions may become "
         << maxNodes
         << " nodes in all (export the model with fewer that call each other)";
}

LogicalResult
GraphImporter::importCall(::onnx_format::NodeProto &proto,
                          const ::onnx_format::FunctionProto &function,
                          Node &node, Scope &scope) {
  if (proto.input_size() > function.input_size() ||
      proto.output_size() > function.output_size())
    return error() << "calls function " << function.name() << " with "
                   << proto.input_size() << " inputs and "
                   << proto.output_size() << " outputs, but it has "
                   << function.input_size() << " and "
                   << function.output_size();
  if (callDepth == maxCallDepth)
    return error() << "calls function " << function.name() << " deeper than "
                   << maxCallDepth << " calls";
  ++callDepth;
  CallRewriter rewriter(proto, function, node.name);
  ::google::protobuf::RepeatedPtrField<::onnx_format::NodeProto> body =
      function.node();
  for (::onnx_format::NodeProto &inner : body)
    rewriter.rewrite(inner);
  // An output that is an input of the function passes through.
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string &output = proto.output(i);
    if (output.empty() || rewriter.rename(function.output(i)) == output)
      continue;
    ::onnx_format::NodeProto &identity = *body.Add();
    identity.set_op_type("Identity");
    identity.set_name(node.name + "/Identity");
    identity.add_input(rewriter.rename(function.output(i)));
    identity.add_output(output);
  }
  Opsets opsets;
  for (const auto &opset : function.opset_import()) {
    opsets[domainKey(opset.domain())] = opset.version();
    modelOpsets.try_emplace(domainKey(opset.domain()), opset.version());
  }
  LogicalResult result = importNodes(body, scope, opsets);
  --callDepth;
  return result;
}
