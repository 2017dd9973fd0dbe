// From a model to the FlatBuffer of EDL2. Equal models give equal bytes.

#include "Espdl2_generated.h"
#include "OnnxQuant/ESP/Espdl.h"
#include "llvm/Support/MathExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;
namespace fb = flatbuffers;

namespace {

class Writer {
public:
  std::vector<char> write(const Model &model);

private:
  using Strings = fb::Vector<fb::Offset<fb::String>>;

  fb::Offset<fb::String> text(const std::string &string) {
    return string.empty() ? fb::Offset<fb::String>()
                          : builder.CreateSharedString(string);
  }
  fb::Offset<fb::String> text(const std::optional<std::string> &string) {
    return string ? builder.CreateString(*string) : fb::Offset<fb::String>();
  }
  template <typename T>
  fb::Offset<fb::Vector<T>> numbers(const std::vector<T> &values) {
    return values.empty() ? fb::Offset<fb::Vector<T>>()
                          : builder.CreateVector(values);
  }
  fb::Offset<Strings> strings(const std::vector<std::string> &values) {
    std::vector<fb::Offset<fb::String>> offsets;
    for (const std::string &value : values)
      offsets.push_back(builder.CreateSharedString(value));
    return builder.CreateVector(offsets);
  }
  template <typename T, typename Write>
  auto list(const std::vector<T> &values, Write write) {
    std::vector<decltype(write(values.front()))> offsets;
    for (const T &value : values)
      offsets.push_back(write(value));
    return builder.CreateVector(offsets);
  }

  fb::Offset<espdl2::Tensor> tensor(const Tensor &from);
  fb::Offset<espdl2::ValueInfo> value(const Value &from);
  fb::Offset<espdl2::Attribute> attribute(const Attribute &from);
  fb::Offset<espdl2::Node> node(const Node &from);
  fb::Offset<espdl2::Graph> graph(const Model &from);

  fb::FlatBufferBuilder builder;
};

fb::Offset<espdl2::Tensor> Writer::tensor(const Tensor &from) {
  auto name = text(from.name), doc = text(from.docString);
  // A scalar is written with one dimension: the device has no other.
  auto dims = builder.CreateVector(from.dims.empty() ? std::vector<int64_t>{1}
                                                     : from.dims);
  auto exponents = numbers(from.exponents);
  fb::Offset<fb::Vector<const espdl2::AlignedBytes *>> raw;
  fb::Offset<fb::Vector<int64_t>> int64s;
  fb::Offset<fb::Vector<int32_t>> int32s;
  fb::Offset<fb::Vector<float>> floats;
  if (!from.data.empty()) {
    std::vector<espdl2::AlignedBytes> blocks(
        llvm::divideCeil(from.data.size(), 16));
    std::memcpy(static_cast<void *>(blocks.data()), from.data.data(),
                from.data.size());
    raw = builder.CreateVectorOfStructs(blocks);
  } else if (from.type == Int64) {
    int64s = builder.CreateVector(std::vector<int64_t>());
  } else if (from.type == Float) {
    floats = builder.CreateVector(std::vector<float>());
  } else {
    int32s = builder.CreateVector(std::vector<int32_t>());
  }
  espdl2::TensorBuilder result(builder);
  result.add_dims(dims);
  result.add_data_type(from.type);
  result.add_name(name);
  result.add_doc_string(doc);
  result.add_raw_data(raw);
  result.add_int64_data(int64s);
  result.add_int32_data(int32s);
  result.add_float_data(floats);
  result.add_exponents(exponents);
  return result.Finish();
}

fb::Offset<espdl2::ValueInfo> Writer::value(const Value &from) {
  auto name = text(from.name), doc = text(from.docString);
  auto exponents = numbers(from.exponents);
  fb::Offset<espdl2::TensorShape> shape;
  if (from.hasShape) {
    std::vector<fb::Offset<espdl2::Dimension>> dims;
    for (size_t i = 0; i < from.dims.size(); ++i) {
      std::string dimName =
          i < from.dimNames.size() ? from.dimNames[i] : std::string();
      int8_t kind = from.dims[i] >= 0 ? 1 : dimName.empty() ? 0 : 2;
      auto param = text(dimName);
      auto size = espdl2::CreateDimensionValue(
          builder, kind, kind == 1 ? from.dims[i] : 0, param);
      dims.push_back(espdl2::CreateDimension(builder, size));
    }
    shape = espdl2::CreateTensorShape(builder, builder.CreateVector(dims));
  }
  auto type = espdl2::CreateTensorTypeAndShape(builder, from.type, shape);
  auto info = espdl2::CreateTypeInfo(
      builder, espdl2::TypeInfoValue_TensorTypeAndShape, type.Union());
  return espdl2::CreateValueInfo(builder, name, info, doc, exponents);
}

fb::Offset<espdl2::Attribute> Writer::attribute(const Attribute &from) {
  auto name = text(from.name), doc = text(from.docString);
  fb::Offset<fb::Vector<uint8_t>> bytes;
  fb::Offset<fb::Vector<float>> floats;
  fb::Offset<fb::Vector<int64_t>> ints;
  fb::Offset<Strings> texts;
  fb::Offset<espdl2::Tensor> constant;
  if (from.kind == Attribute::StringKind)
    bytes = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(from.s.data()), from.s.size());
  if (from.kind == Attribute::FloatsKind)
    floats = builder.CreateVector(from.floats);
  if (from.kind == Attribute::IntsKind)
    ints = builder.CreateVector(from.ints);
  if (from.kind == Attribute::StringsKind)
    texts = strings(from.strings);
  if (from.kind == Attribute::TensorKind)
    constant = tensor(from.t);
  espdl2::AttributeF f(from.f);
  espdl2::AttributeI i(from.i);
  espdl2::AttributeBuilder result(builder);
  result.add_name(name);
  result.add_doc_string(doc);
  result.add_attr_type(from.kind);
  if (from.kind == Attribute::FloatKind)
    result.add_f(&f);
  if (from.kind == Attribute::IntKind)
    result.add_i(&i);
  result.add_s(bytes);
  result.add_t(constant);
  result.add_floats(floats);
  result.add_ints(ints);
  result.add_strings(texts);
  return result.Finish();
}

fb::Offset<espdl2::Node> Writer::node(const Node &from) {
  auto inputs = strings(from.inputs), outputs = strings(from.outputs);
  auto name = text(from.name), op = text(from.opType);
  auto domain = text(from.domain), doc = text(from.docString);
  auto attributes = list(from.attributes,
                         [this](const Attribute &a) { return attribute(a); });
  return espdl2::CreateNode(builder, inputs, outputs, name, op, domain,
                            attributes, doc);
}

fb::Offset<espdl2::Graph> Writer::graph(const Model &from) {
  auto eachTensor = [this](const Tensor &a) { return tensor(a); };
  auto eachValue = [this](const Value &a) { return value(a); };
  auto nodes = list(from.nodes, [this](const Node &a) { return node(a); });
  auto constants = list(from.initializers, eachTensor);
  auto inputs = list(from.inputs, eachValue);
  auto outputs = list(from.outputs, eachValue);
  auto values = list(from.values, eachValue);
  auto testInputs = list(from.testInputs, eachTensor);
  auto testOutputs = list(from.testOutputs, eachTensor);
  auto name = text(from.graphName), doc = text(from.graphDocString);
  espdl2::GraphBuilder result(builder);
  result.add_node(nodes);
  result.add_name(name);
  result.add_initializer(constants);
  result.add_doc_string(doc);
  result.add_input(inputs);
  result.add_output(outputs);
  result.add_value_info(values);
  result.add_test_inputs_value(testInputs);
  result.add_test_outputs_value(testOutputs);
  return result.Finish();
}

std::vector<char> Writer::write(const Model &model) {
  std::vector<fb::Offset<espdl2::OperatorSetId>> opsets;
  for (const auto &[domain, version] : model.opsets)
    opsets.push_back(
        espdl2::CreateOperatorSetId(builder, text(domain), version));
  auto opsetList = builder.CreateVector(opsets);
  std::vector<fb::Offset<espdl2::StringStringEntry>> entries;
  for (const auto &[key, value] : model.metadata) {
    auto first = builder.CreateString(key),
         second = builder.CreateString(value);
    entries.push_back(espdl2::CreateStringStringEntry(builder, first, second));
  }
  auto metadata = builder.CreateVector(entries);
  auto main = graph(model);
  auto producer = text(model.producerName),
       version = text(model.producerVersion);
  auto domain = text(model.domain), doc = text(model.docString);
  espdl2::ModelBuilder result(builder);
  result.add_ir_version(model.irVersion);
  result.add_opset_import(opsetList);
  result.add_producer_name(producer);
  result.add_producer_version(version);
  result.add_domain(domain);
  result.add_model_version(model.modelVersion);
  result.add_doc_string(doc);
  result.add_graph(main);
  result.add_metadata_props(metadata);
  builder.Finish(result.Finish());
  auto *data = reinterpret_cast<const char *>(builder.GetBufferPointer());
  return std::vector<char>(data, data + builder.GetSize());
}

} // namespace

std::vector<char> esp::writeFlatBuffer(const Model &model) {
  return Writer().write(model);
}
