// An ONNX model that is built node by node.

#include "OnnxGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <cstring>
#include <onnx_format.pb.h>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;
using llvm::StringRef;

static constexpr int64_t opset = 21, irVersion = 10;

bool esp::broadcast(const Dims &a, const Dims &b, Dims &result) {
  result.assign(std::max(a.size(), b.size()), 1);
  for (const Dims *dims : {&a, &b})
    for (size_t i = 0; i < dims->size(); ++i) {
      int64_t &size = result[result.size() - dims->size() + i];
      if (size != (*dims)[i] && size != 1 && (*dims)[i] != 1)
        return false;
      if (size == 1)
        size = (*dims)[i];
    }
  return true;
}

OnnxGraph::OnnxGraph(StringRef name)
    : model(std::make_unique<onnx_format::ModelProto>()) {
  model->set_ir_version(irVersion);
  model->set_producer_name("onnxquant");
  model->add_opset_import()->set_version(opset);
  current = model->mutable_graph();
  current->set_name(name.empty() ? "main_graph" : name.str());
}

OnnxGraph::~OnnxGraph() = default;

static void setType(onnx_format::ValueInfoProto &info, const Term &term) {
  info.set_name(term.name);
  auto *tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(term.type);
  tensor->mutable_shape();
  for (int64_t dim : term.dims)
    tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

Term OnnxGraph::input(StringRef name, int32_t type, const Dims &dims) {
  Term term = {name.str(), type, dims};
  setType(*model->mutable_graph()->add_input(), term);
  used.insert(name);
  return term;
}

void OnnxGraph::output(const Term &term) {
  setType(*model->mutable_graph()->add_output(), term);
  used.insert(term.name);
}

std::string OnnxGraph::freshName(StringRef op) {
  std::string stem = prefix + "/" + op.str();
  unsigned number = counts[stem]++;
  return number ? stem + "_" + std::to_string(number) : stem;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Term OnnxGraph::constant(int32_t type, const Dims &dims,
                         const std::vector<char> &bytes, StringRef name) {
  Term term = {name.empty() ? freshName("constant") : name.str(), type, dims};
  auto *tensor = model->mutable_graph()->add_initializer();
  tensor->set_name(term.name);
  tensor->set_data_type(type);
  for (int64_t dim : dims)
    tensor->add_dims(dim);
  tensor->set_raw_data(std::string(bytes.begin(), bytes.end()));
  return term;
}

template <typename T>
static void append(std::vector<char> &bytes, T value, unsigned width) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.insert(bytes.end(), raw, raw + width);
}

Term OnnxGraph::ints(int32_t type, const Dims &dims, ArrayRef<int64_t> values) {
  std::vector<char> bytes;
  for (int64_t value : values)
    append(bytes, value, bytesOf(type));
  return constant(type, dims, bytes);
}

Term OnnxGraph::floats(const Dims &dims, ArrayRef<float> values) {
  std::vector<char> bytes;
  for (float value : values)
    append(bytes, value, sizeof(float));
  return constant(Float, dims, bytes);
}

Term OnnxGraph::number(int32_t type, double value) {
  if (type == Float)
    return floats({}, {static_cast<float>(value)});
  std::vector<char> bytes;
  if (type == Double)
    append(bytes, value, sizeof(double));
  else if (type == UInt64)
    append(bytes, static_cast<uint64_t>(value), sizeof(uint64_t));
  else
    append(bytes, static_cast<int64_t>(value), bytesOf(type));
  return constant(type, {}, bytes);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static void setAttribute(onnx_format::AttributeProto &to,
                         const Setting &value) {
  if (auto *number = std::get_if<int64_t>(&value)) {
    to.set_type(onnx_format::AttributeProto::INT);
    to.set_i(*number);
  } else if (auto *real = std::get_if<float>(&value)) {
    to.set_type(onnx_format::AttributeProto::FLOAT);
    to.set_f(*real);
  } else if (auto *text = std::get_if<std::string>(&value)) {
    to.set_type(onnx_format::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(onnx_format::AttributeProto::INTS);
    for (int64_t number : std::get<Dims>(value))
      to.add_ints(number);
  }
}

onnx_format::NodeProto *OnnxGraph::add(StringRef op, ArrayRef<Term> inputs,
                                       const Settings &settings) {
  auto *node = current->add_node();
  node->set_op_type(op.str());
  node->set_name(freshName(op));
  for (const Term &term : inputs) {
    node->add_input(term.name);
    used.insert(term.name);
  }
  while (node->input_size() && node->input(node->input_size() - 1).empty())
    node->mutable_input()->RemoveLast();
  for (const auto &[name, value] : settings) {
    auto *attribute = node->add_attribute();
    attribute->set_name(name);
    setAttribute(*attribute, value);
  }
  return node;
}

Term OnnxGraph::node(StringRef op, ArrayRef<Term> inputs, int32_t type,
                     const Dims &dims, const Settings &settings) {
  auto *made = add(op, inputs, settings);
  Term term = {made->name() + "_output", type, dims};
  made->add_output(term.name);
  producers[term.name] = made;
  return term;
}

std::vector<Term> OnnxGraph::nodes(StringRef op, ArrayRef<Term> inputs,
                                   ArrayRef<Term> outputs,
                                   const Settings &settings, StringRef name) {
  auto *made = add(op, inputs, settings);
  if (!name.empty())
    made->set_name(name.str());
  for (const Term &term : outputs)
    made->add_output(term.name);
  return outputs.vec();
}

std::vector<Term> OnnxGraph::scan(
    ArrayRef<Term> states, const Term &scanned, bool fromEnd,
    llvm::function_ref<std::vector<Term>(ArrayRef<Term>, const Term &)> body) {
  onnx_format::GraphProto inner, *outer = current;
  current = &inner;
  std::string stem = freshName("step");
  inner.set_name(stem);
  std::vector<Term> arguments;
  for (const Term &state : states)
    arguments.push_back({stem + "/state" + std::to_string(arguments.size()),
                         state.type, state.dims});
  Term slice = {stem + "/slice", scanned.type,
                Dims(scanned.dims.begin() + 1, scanned.dims.end())};
  for (const Term &term : arguments)
    setType(*inner.add_input(), term);
  setType(*inner.add_input(), slice);
  std::vector<Term> next = body(arguments, slice);
  next.push_back(unary("Identity", next[0]));
  for (const Term &term : next)
    setType(*inner.add_output(), term);
  current = outer;

  std::vector<Term> inputs(states), outputs(next);
  inputs.push_back(scanned);
  for (Term &term : outputs)
    term.name = stem + "/" + std::to_string(&term - outputs.data());
  outputs.back().dims.insert(outputs.back().dims.begin(), scanned.dims[0]);
  Settings settings = {{"num_scan_inputs", int64_t(1)}};
  if (fromEnd)
    for (const char *name : {"scan_input_directions", "scan_output_directions"})
      settings.emplace_back(name, Dims{1});
  auto *made = add("Scan", inputs, settings);
  auto *attribute = made->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx_format::AttributeProto::GRAPH);
  *attribute->mutable_g() = std::move(inner);
  for (const Term &term : outputs)
    made->add_output(term.name);
  return outputs;
}

Term OnnxGraph::named(const Term &term, StringRef name) {
  auto found = producers.find(term.name);
  Term result = {name.str(), term.type, term.dims};
  if (found == producers.end() || used.contains(term.name)) {
    auto *made = add("Identity", {term}, {});
    made->add_output(result.name);
    return result;
  }
  found->second->set_output(0, result.name);
  producers.erase(found);
  return result;
}

Term OnnxGraph::cast(const Term &x, int32_t type) {
  if (x.type == type)
    return x;
  return node("Cast", {x}, type, x.dims, {{"to", int64_t(type)}});
}

Term OnnxGraph::binary(StringRef op, const Term &a, const Term &b) {
  Dims dims;
  broadcast(a.dims, b.dims, dims);
  return node(op, {a, b}, a.type, dims);
}

Term OnnxGraph::unary(StringRef op, const Term &x) {
  return node(op, {x}, x.type, x.dims);
}

Term OnnxGraph::clip(const Term &x, double low, double high) {
  return node("Clip", {x, number(x.type, low), number(x.type, high)}, x.type,
              x.dims);
}

Term OnnxGraph::transpose(const Term &x, ArrayRef<int64_t> permutation) {
  Dims dims;
  for (int64_t axis : permutation)
    dims.push_back(x.dims[axis]);
  return node("Transpose", {x}, x.type, dims, {{"perm", permutation.vec()}});
}

Term OnnxGraph::reshape(const Term &x, const Dims &dims) {
  if (x.dims == dims)
    return x;
  // A zero would mean the input's size.
  Settings settings;
  if (llvm::is_contained(dims, 0))
    settings = {{"allowzero", int64_t(1)}};
  return node("Reshape", {x, ints(Int64, {int64_t(dims.size())}, dims)}, x.type,
              dims, settings);
}

Term OnnxGraph::concat(ArrayRef<Term> parts, int64_t axis) {
  Dims dims = parts[0].dims;
  for (const Term &part : parts.drop_front())
    dims[axis] += part.dims[axis];
  return node("Concat", parts, parts[0].type, dims, {{"axis", axis}});
}

Term OnnxGraph::slice(const Term &x, int64_t axis, int64_t begin, int64_t end) {
  Dims dims = x.dims;
  dims[axis] = end - begin;
  return node("Slice",
              {x, ints(Int64, {1}, {begin}), ints(Int64, {1}, {end}),
               ints(Int64, {1}, {axis})},
              x.type, dims);
}

Term OnnxGraph::channelsSecond(const Term &x) {
  Dims order = {0, x.rank() - 1};
  for (int64_t i = 1; i + 1 < x.rank(); ++i)
    order.push_back(i);
  return transpose(x, order);
}

Term OnnxGraph::channelsLast(const Term &x) {
  Dims order = {0};
  for (int64_t i = 2; i < x.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  return transpose(x, order);
}

std::string OnnxGraph::serialize() const { return model->SerializeAsString(); }
