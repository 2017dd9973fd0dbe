// Mutants at the level of nodes, tensors and types. Each rule makes one fault
// of a kind that models in the wild have; the last rule changes any field.

#include "ModelMutator.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include <cmath>
#include <google/protobuf/descriptor.h>

using namespace onnxquant::fuzz;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// The numbers that tensors name their element types by.
static constexpr int int64Type = 7;
static constexpr int boolType = 9;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static int64_t anyInt(Random &random, int64_t old = 1) {
  static const int64_t interesting[] = {
      0,
      1,
      -1,
      2,
      -2,
      3,
      4,
      5,
      7,
      16,
      63,
      64,
      65,
      127,
      128,
      255,
      256,
      1000,
      65535,
      65536,
      INT32_MAX,
      INT32_MIN,
      1LL << 31,
      1LL << 32,
      1LL << 40,
      1LL << 61,
      1LL << 62,
      INT64_MAX,
      INT64_MAX - 1,
      INT64_MIN,
  };
  uint64_t wrapped = static_cast<uint64_t>(old);
  switch (random.below(5)) {
  case 0:
    return static_cast<int64_t>(wrapped + 1);
  case 1:
    return static_cast<int64_t>(wrapped - 1);
  case 2:
    return static_cast<int64_t>(random.oneIn(2) ? 0 - wrapped : wrapped * 2);
  default:
    return random.pick(interesting);
  }
}

static float anyFloat(Random &random) {
  static const float interesting[] = {0,     -0.0f,  1,        -1,  0.5f,
                                      1e38f, 1e-45f, INFINITY, NAN, -INFINITY};
  return random.pick(interesting);
}

static std::string anyName(Random &random) {
  static const char *const names[] = {"",           "x",
                                      "y",          "missing",
                                      "a/b",        "a b",
                                      "?",          "0:n",
                                      "N",          "N+1",
                                      "2*N",        "a,b",
                                      "axis",       "axes",
                                      "value",      "body",
                                      "floor(N/0)", "max(N,",
                                      "-1",         "\xff\xfe",
                                      "%d%s",       "to",
                                      "shape",      "onnx_node_name",
                                      "onnx.name",  "9223372036854775808",
                                      "min(a,b)",   "function_name",
                                      "floor(N/2)", "domain_name",
                                      "N*N*N*N*N"};
  if (random.oneIn(16))
    return std::string(1 + random.below(400), random.oneIn(2) ? '(' : 'a');
  return random.pick(names);
}

/// Operators of the dialect, and some that it has no op for.
static const std::vector<std::pair<std::string, std::string>> &operators() {
  static const auto *list = [] {
    auto *names = new std::vector<std::pair<std::string, std::string>>();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<onnxquant::onnx::ONNXDialect>();
    for (mlir::RegisteredOperationName name :
         context.getRegisteredOperations()) {
      llvm::StringRef text = name.getStringRef();
      if (!text.consume_front("onnx."))
        continue;
      auto [domain, op] = text.rsplit('.');
      if (op.empty())
        std::swap(domain, op);
      names->push_back({domain.str(), op.str()});
    }
    for (const char *old :
         {"Upsample", "Scatter", "Affine", "Crop", "ConstantFill", "SequenceAt",
          "Optional", "StringNormalizer", "ImageScaler"})
      names->push_back({"", old});
    names->push_back({"custom.domain", "Anything"});
    names->push_back({"ai.onnx.ml", "Scaler"});
    return names;
  }();
  return *list;
}

//===----------------------------------------------------------------------===//
// Parts of a model
//===----------------------------------------------------------------------===//

static void collect(Message &message, std::vector<Message *> &parts) {
  parts.push_back(&message);
  const Reflection *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated()) {
      collect(*reflection->MutableMessage(&message, field), parts);
      continue;
    }
    for (int i = 0, e = reflection->FieldSize(message, field); i < e; ++i)
      collect(*reflection->MutableRepeatedMessage(&message, field, i), parts);
  }
}

namespace {
class Mutator {
public:
  Mutator(::onnx_format::ModelProto &model,
          const ::onnx_format::ModelProto &other, Random &random)
      : model(model), other(other), random(random) {}

  void run();

private:
  /// A random part of a kind; null if the model has none.
  template <typename Part> Part *any() {
    std::vector<Part *> found;
    for (Message *part : parts)
      if (auto *match = dynamic_cast<Part *>(part))
        found.push_back(match);
    return found.empty() ? nullptr : random.pick(found);
  }
  /// The name of some tensor, or another.
  std::string anyTensor();
  template <typename List> void editList(List &list);
  template <typename List> void editNames(List &list);

  void changeOperator();
  void changeNames();
  void changeNodes();
  void changeAttributes();
  void changeAttributeValue();
  void changeTensor();
  void changeTensorStorage();
  void changeType();
  void changeGraph();
  void changeOpset();
  void nest();
  void makeFunction();
  void transplant();
  void changeAnyField();

  ::onnx_format::ModelProto &model;
  const ::onnx_format::ModelProto &other;
  Random &random;
  std::vector<Message *> parts;
};
} // namespace

std::string Mutator::anyTensor() {
  auto *node = any<::onnx_format::NodeProto>();
  if (node && node->output_size() && random.oneIn(2))
    return node->output(random.below(node->output_size()));
  if (node && node->input_size() && random.oneIn(2))
    return node->input(random.below(node->input_size()));
  if (auto *info = any<::onnx_format::ValueInfoProto>();
      info && random.oneIn(2))
    return info->name();
  if (auto *tensor = any<::onnx_format::TensorProto>();
      tensor && random.oneIn(2))
    return tensor->name();
  return anyName(random);
}

/// Drops, doubles or swaps elements.
template <typename List> void Mutator::editList(List &list) {
  if (list.empty())
    return;
  int at = random.below(list.size());
  switch (random.below(3)) {
  case 0:
    list.DeleteSubrange(at, 1);
    return;
  case 1: {
    auto copy = list.Get(at);
    *list.Add() = std::move(copy);
    return;
  }
  default:
    list.SwapElements(at, random.below(list.size()));
    return;
  }
}

template <typename List> void Mutator::editNames(List &list) {
  if (list.empty() || random.oneIn(4)) {
    *list.Add() = anyTensor();
    return;
  }
  if (random.oneIn(3))
    return editList(list);
  list[random.below(list.size())] = random.oneIn(5) ? "" : anyTensor();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

void Mutator::changeOperator() {
  auto *node = any<::onnx_format::NodeProto>();
  if (!node)
    return;
  const auto &[domain, opType] = random.pick(operators());
  node->set_op_type(opType);
  if (!domain.empty() || !node->domain().empty())
    node->set_domain(domain);
  if (random.oneIn(2))
    node->clear_attribute();
}

void Mutator::changeNames() {
  auto *node = any<::onnx_format::NodeProto>();
  if (!node)
    return;
  switch (random.below(6)) {
  case 0:
    node->set_name(anyName(random));
    return;
  case 1:
    editNames(*node->mutable_output());
    return;
  default:
    editNames(*node->mutable_input());
    return;
  }
}

void Mutator::changeNodes() {
  if (auto *graph = any<::onnx_format::GraphProto>())
    editList(*graph->mutable_node());
}

void Mutator::changeAttributes() {
  auto *node = any<::onnx_format::NodeProto>();
  auto *attribute = any<::onnx_format::AttributeProto>();
  if (!node || !attribute)
    return;
  switch (random.below(4)) {
  case 0:
    attribute->set_name(anyName(random));
    return;
  case 1: {
    ::onnx_format::AttributeProto copy = *attribute;
    *node->add_attribute() = std::move(copy);
    return;
  }
  default:
    editList(*node->mutable_attribute());
    return;
  }
}

void Mutator::changeAttributeValue() {
  using Kind = ::onnx_format::AttributeProto;
  Kind *attribute = any<Kind>();
  if (!attribute)
    return;
  if (random.oneIn(6)) {
    attribute->set_type(static_cast<Kind::AttributeType>(random.below(15)));
    return;
  }
  if (random.oneIn(24)) {
    attribute->set_ref_attr_name(anyName(random));
    return;
  }
  switch (attribute->type()) {
  case Kind::INT:
    attribute->set_i(anyInt(random, attribute->i()));
    return;
  case Kind::FLOAT:
    attribute->set_f(anyFloat(random));
    return;
  case Kind::STRING:
    attribute->set_s(anyName(random));
    return;
  case Kind::INTS:
    if (attribute->ints().empty() || random.oneIn(4)) {
      attribute->add_ints(anyInt(random));
    } else if (random.oneIn(4)) {
      attribute->mutable_ints()->RemoveLast();
    } else {
      size_t at = random.below(attribute->ints_size());
      attribute->set_ints(at, anyInt(random, attribute->ints(at)));
    }
    return;
  case Kind::FLOATS:
    attribute->add_floats(anyFloat(random));
    return;
  default:
    // A value of another kind, with its type or without.
    attribute->add_ints(anyInt(random));
    if (random.oneIn(2))
      attribute->set_type(Kind::INTS);
    return;
  }
}

void Mutator::changeTensor() {
  auto *tensor = any<::onnx_format::TensorProto>();
  if (!tensor)
    return;
  switch (random.below(6)) {
  case 0:
    tensor->set_data_type(random.below(27));
    return;
  case 1:
    tensor->add_dims(anyInt(random));
    return;
  case 2:
    if (tensor->dims_size())
      tensor->mutable_dims()->RemoveLast();
    return;
  case 3:
    tensor->set_name(anyTensor());
    return;
  case 4: {
    // Other contents of the same size: shapes and axes become nonsense.
    std::string *raw = tensor->mutable_raw_data();
    if (raw->size() % 8 == 0)
      for (size_t i = 0; i < std::min<size_t>(raw->size(), 64); i += 8) {
        int64_t value = anyInt(random);
        raw->replace(i, 8, reinterpret_cast<const char *>(&value), 8);
      }
    for (int64_t &value : *tensor->mutable_int64_data())
      value = anyInt(random, value);
    return;
  }
  default:
    if (tensor->dims_size()) {
      size_t at = random.below(tensor->dims_size());
      tensor->set_dims(at, anyInt(random, tensor->dims(at)));
    }
    return;
  }
}

void Mutator::changeTensorStorage() {
  auto *tensor = any<::onnx_format::TensorProto>();
  if (!tensor)
    return;
  switch (random.below(6)) {
  case 0:
    tensor->mutable_raw_data()->resize(random.below(40));
    return;
  case 1:
    tensor->clear_raw_data();
    for (size_t i = 0, e = random.below(9); i < e; ++i) {
      tensor->add_int32_data(static_cast<int32_t>(anyInt(random)));
      tensor->add_int64_data(anyInt(random));
      tensor->add_float_data(anyFloat(random));
    }
    return;
  case 2: {
    tensor->set_data_location(::onnx_format::TensorProto::EXTERNAL);
    auto *entry = tensor->add_external_data();
    entry->set_key(random.oneIn(3) ? "offset" : "location");
    entry->set_value(anyName(random));
    return;
  }
  case 3:
    tensor->mutable_segment()->set_end(anyInt(random));
    return;
  default: {
    // The tensor as the values of a sparse one.
    auto *graph = any<::onnx_format::GraphProto>();
    if (!graph)
      return;
    ::onnx_format::SparseTensorProto sparse;
    *sparse.mutable_values() = *tensor;
    for (int64_t dim : tensor->dims())
      sparse.add_dims(random.oneIn(3) ? anyInt(random, dim) : dim);
    sparse.mutable_indices()->set_data_type(int64Type);
    size_t count = random.below(4);
    sparse.mutable_indices()->add_dims(count);
    sparse.mutable_values()->clear_dims();
    sparse.mutable_values()->add_dims(count);
    for (size_t i = 0; i < count; ++i)
      sparse.mutable_indices()->add_int64_data(random.oneIn(4) ? anyInt(random)
                                                               : i);
    *graph->add_sparse_initializer() = std::move(sparse);
    return;
  }
  }
}

void Mutator::changeType() {
  if (random.oneIn(3)) {
    auto *type = any<::onnx_format::TypeProto>();
    if (!type)
      return;
    switch (random.below(6)) {
    case 0:
      type->mutable_tensor_type()->clear_shape();
      return;
    case 1:
      type->mutable_sequence_type()->mutable_elem_type();
      return;
    case 2:
      type->clear_value();
      return;
    case 3:
      type->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(
          anyInt(random));
      return;
    default:
      type->mutable_tensor_type()->set_elem_type(random.below(27));
      return;
    }
  }
  auto *dim = any<::onnx_format::TensorShapeProto::Dimension>();
  if (!dim)
    return;
  if (random.oneIn(2))
    dim->set_dim_value(anyInt(random, dim->dim_value()));
  else if (random.oneIn(4))
    dim->clear_value();
  else
    dim->set_dim_param(anyName(random));
}

void Mutator::changeGraph() {
  auto *graph = any<::onnx_format::GraphProto>();
  if (!graph)
    return;
  switch (random.below(6)) {
  case 0:
    return editList(*graph->mutable_input());
  case 1:
    return editList(*graph->mutable_output());
  case 2:
    return editList(*graph->mutable_initializer());
  case 3:
    return editList(*graph->mutable_value_info());
  case 4: {
    // What the model says of a tensor inside.
    auto *info = any<::onnx_format::ValueInfoProto>();
    ::onnx_format::ValueInfoProto copy =
        info ? *info : ::onnx_format::ValueInfoProto();
    copy.set_name(anyTensor());
    *graph->add_value_info() = std::move(copy);
    return;
  }
  default:
    if (auto *info = any<::onnx_format::ValueInfoProto>())
      info->set_name(anyTensor());
    return;
  }
}

void Mutator::changeOpset() {
  auto *opset = any<::onnx_format::OperatorSetIdProto>();
  if (!opset || random.oneIn(8))
    opset = model.add_opset_import();
  opset->set_version(random.oneIn(6) ? anyInt(random) : 1 + random.below(24));
  if (random.oneIn(8))
    opset->set_domain(random.pick(operators()).first);
}

/// Scalars that control flow needs, made once per model.
static const char *addScalar(::onnx_format::GraphProto &graph,
                             bool isTripCount) {
  const char *name = isTripCount ? "fuzzed_trip_count" : "fuzzed_condition";
  for (const ::onnx_format::TensorProto &tensor : graph.initializer())
    if (tensor.name() == name)
      return name;
  ::onnx_format::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(isTripCount ? int64Type : boolType);
  tensor.set_raw_data(std::string(isTripCount ? 8 : 1, '\1'));
  return name;
}

/// A node of the model becomes the body of an If, Loop or Scan, or of an op
/// that has none.
void Mutator::nest() {
  auto *node = any<::onnx_format::NodeProto>();
  if (!node)
    return;
  static const char *const kinds[] = {"If", "Loop", "Scan", "Relu", "Any"};
  std::string kind = random.pick(kinds);
  ::onnx_format::GraphProto &graph = *model.mutable_graph();
  ::onnx_format::GraphProto body;
  ::onnx_format::NodeProto outer;
  body.set_name("body");
  outer.set_op_type(kind);
  *outer.mutable_output() = node->output();
  if (kind == "If") {
    outer.add_input(addScalar(graph, /*isTripCount=*/false));
  } else if (kind == "Loop") {
    outer.add_input(addScalar(graph, /*isTripCount=*/true));
    outer.add_input(random.oneIn(2) ? "" : addScalar(graph, false));
    body.add_input()->set_name("fuzzed_iteration");
    body.add_input()->set_name("fuzzed_going_on");
    body.add_output()->set_name("fuzzed_going_on");
  } else {
    outer.add_input(node->input_size() ? node->input(0) : anyTensor());
    body.add_input()->set_name("fuzzed_slice");
  }
  if (kind == "Any")
    outer.set_domain("custom.domain");
  *body.add_node() = *node;
  if (kind == "Scan" && node->input_size() && random.oneIn(2))
    body.mutable_node(0)->set_input(0, "fuzzed_slice");
  for (std::string &output : *body.mutable_node(0)->mutable_output()) {
    output += "_inner";
    body.add_output()->set_name(output);
  }
  auto attach = [&](const char *name) {
    auto *attribute = outer.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx_format::AttributeProto::GRAPH);
    *attribute->mutable_g() = body;
  };
  if (kind == "If") {
    attach("then_branch");
    attach("else_branch");
  } else {
    attach("body");
  }
  if (kind == "Scan") {
    auto *count = outer.add_attribute();
    count->set_name("num_scan_inputs");
    count->set_type(::onnx_format::AttributeProto::INT);
    count->set_i(random.oneIn(8) ? anyInt(random) : 1);
  }
  *node = std::move(outer);
}

/// A node becomes a call of a function that holds it, and perhaps calls itself.
void Mutator::makeFunction() {
  auto *node = any<::onnx_format::NodeProto>();
  if (!node)
    return;
  auto *function = model.add_functions();
  bool shadows = random.oneIn(12);
  function->set_name(shadows
                         ? node->op_type()
                         : "local" + std::to_string(model.functions_size()));
  function->set_domain(shadows ? node->domain() : "local.domain");
  *function->mutable_input() = node->input();
  *function->mutable_output() = node->output();
  *function->add_node() = *node;
  *function->mutable_opset_import() = model.opset_import();
  ::onnx_format::NodeProto call;
  call.set_op_type(function->name());
  call.set_domain(function->domain());
  *call.mutable_input() = node->input();
  *call.mutable_output() = node->output();
  if (random.oneIn(12))
    *function->add_node() = call;
  if (random.oneIn(3)) {
    *call.mutable_attribute() = node->attribute();
    for (auto &attribute : *function->mutable_node(0)->mutable_attribute())
      attribute.set_ref_attr_name(attribute.name());
  }
  *node = std::move(call);
}

void Mutator::transplant() {
  auto *graph = any<::onnx_format::GraphProto>();
  const ::onnx_format::GraphProto &donor = other.graph();
  if (!graph)
    return;
  if (donor.node_size()) {
    ::onnx_format::NodeProto node = donor.node(random.below(donor.node_size()));
    for (std::string &input : *node.mutable_input())
      if (random.oneIn(2))
        input = anyTensor();
    *graph->add_node() = std::move(node);
  }
  if (donor.initializer_size())
    *graph->add_initializer() =
        donor.initializer(random.below(donor.initializer_size()));
  if (donor.input_size() && random.oneIn(2))
    *graph->add_input() = donor.input(random.below(donor.input_size()));
  if (donor.output_size() && random.oneIn(2))
    *graph->add_output() = donor.output(random.below(donor.output_size()));
}

void Mutator::changeAnyField() {
  Message &part = *random.pick(parts);
  const auto *descriptor = part.GetDescriptor();
  const Reflection *reflection = part.GetReflection();
  if (!descriptor->field_count())
    return;
  const FieldDescriptor *field =
      descriptor->field(random.below(descriptor->field_count()));
  if (random.oneIn(4))
    return reflection->ClearField(&part, field);
  bool list = field->is_repeated();
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    return list ? reflection->AddInt64(&part, field, anyInt(random))
                : reflection->SetInt64(&part, field, anyInt(random));
  case FieldDescriptor::CPPTYPE_INT32: {
    auto value = static_cast<int32_t>(anyInt(random));
    return list ? reflection->AddInt32(&part, field, value)
                : reflection->SetInt32(&part, field, value);
  }
  case FieldDescriptor::CPPTYPE_STRING:
    return list ? reflection->AddString(&part, field, anyName(random))
                : reflection->SetString(&part, field, anyName(random));
  case FieldDescriptor::CPPTYPE_MESSAGE:
    if (list)
      reflection->AddMessage(&part, field);
    else
      reflection->MutableMessage(&part, field);
    return;
  default:
    return;
  }
}

void Mutator::run() {
  using Rule = void (Mutator::*)();
  static constexpr Rule rules[] = {
      &Mutator::changeOperator,
      &Mutator::changeNames,
      &Mutator::changeNames,
      &Mutator::changeNodes,
      &Mutator::changeAttributes,
      &Mutator::changeAttributeValue,
      &Mutator::changeAttributeValue,
      &Mutator::changeAttributeValue,
      &Mutator::changeTensor,
      &Mutator::changeTensor,
      &Mutator::changeTensorStorage,
      &Mutator::changeType,
      &Mutator::changeType,
      &Mutator::changeType,
      &Mutator::changeGraph,
      &Mutator::changeOpset,
      &Mutator::nest,
      &Mutator::makeFunction,
      &Mutator::transplant,
      &Mutator::changeAnyField,
  };
  // One fault in half of the mutants: many hide one another.
  size_t faults = random.oneIn(2) ? 1 : 2 + random.below(4);
  for (size_t i = 0; i < faults; ++i) {
    parts.clear();
    collect(model, parts);
    (this->*random.pick(rules))();
  }
}

void onnxquant::fuzz::mutateModel(::onnx_format::ModelProto &model,
                                  const ::onnx_format::ModelProto &other,
                                  Random &random) {
  Mutator(model, other, random).run();
}
