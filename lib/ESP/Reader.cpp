// From a FlatBuffer to a model. FlatBuffers' verifier checks every offset and
// size first; what it can't know (elements of tensors, names, how much a small
// file can ask for) is checked here.

#include "Reader.h"
#include "Espdl1_generated.h"
#include "Espdl2_generated.h"
#include "llvm/ADT/StringSet.h"
#include <memory>

using namespace onnxquant;
using namespace onnxquant::esp;

namespace {

llvm::ArrayRef<char> rawBytes(const flatbuffers::Vector<uint8_t> *vector) {
  return {reinterpret_cast<const char *>(vector->data()), vector->size()};
}
llvm::ArrayRef<char>
rawBytes(const flatbuffers::Vector<const espdl2::AlignedBytes *> *vector) {
  return {reinterpret_cast<const char *>(vector->data()),
          size_t(vector->size()) * 16};
}

class Reader {
public:
  /// Tables of a FlatBuffer may be shared, so that few bytes could stand for
  /// very many. A writer shares names at most.
  explicit Reader(size_t bytes) : budget(16 * bytes + 65536) {}

  template <typename Table> bool read(const Table &from, Model &to);
  std::string error;

private:
  bool fail(const llvm::Twine &message) {
    if (error.empty())
      error = message.str();
    return false;
  }
  bool spend(size_t bytes) {
    if (bytes > budget)
      return fail("holds more than its size allows: parts of it are shared");
    budget -= bytes;
    return true;
  }

  bool text(const flatbuffers::String *from, std::string &to) {
    if (!from)
      return true;
    if (!spend(from->size() + 16))
      return false;
    to.assign(from->data(), from->size());
    return true;
  }
  bool text(const flatbuffers::String *from, std::optional<std::string> &to) {
    return !from || text(from, to.emplace());
  }
  template <typename T, typename U>
  bool numbers(const flatbuffers::Vector<T> *from, std::vector<U> &to) {
    if (!from)
      return true;
    if (!spend(from->size() * sizeof(U)))
      return false;
    to.reserve(from->size());
    for (T value : *from)
      to.push_back(value);
    return true;
  }
  template <typename From, typename To, typename Read>
  bool list(const From *from, std::vector<To> &to, Read read) {
    if (!from)
      return true;
    for (auto *entry : *from) {
      if (!spend(sizeof(To)) || !read(entry, to.emplace_back()))
        return false;
    }
    return true;
  }
  template <typename From>
  bool strings(const From *from, std::vector<std::string> &to) {
    return list(from, to, [this](const flatbuffers::String *a, std::string &b) {
      return text(a, b);
    });
  }

  bool exponents(const llvm::Twine &tensor, llvm::ArrayRef<int64_t> exponents);
  /// Checks sizes of which each is known.
  bool sizes(const llvm::Twine &tensor, llvm::ArrayRef<int64_t> dims);
  template <typename Table> bool tensor(const Table &from, Tensor &to);
  template <typename Table> bool elements(const Table &from, Tensor &to);
  template <typename Table> bool value(const Table &from, Value &to);
  template <typename Table> bool attribute(const Table &from, Attribute &to);
  template <typename Table> bool node(const Table &from, Node &to);
  template <typename Table> bool graph(const Table &from, Model &to);

  template <typename T>
  bool put(const flatbuffers::Vector<T> *from, Tensor &to, int64_t count);

  size_t budget;
};

bool Reader::exponents(const llvm::Twine &tensor,
                       llvm::ArrayRef<int64_t> exponents) {
  for (int64_t exponent : exponents)
    if (!isExponent(exponent))
      return fail(tensor + "' has the exponent " + llvm::Twine(exponent));
  return true;
}

bool Reader::sizes(const llvm::Twine &tensor, llvm::ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (dim < 0 || dim > mostElements)
      return fail(tensor + "' has a dimension of " + llvm::Twine(dim));
  return elementCount(dims) <= mostElements ||
         fail(tensor + "' has more elements than any chip holds");
}

/// Elements that a typed field holds, brought to the tensor's type.
template <typename T>
bool Reader::put(const flatbuffers::Vector<T> *from, Tensor &to,
                 int64_t count) {
  if (int64_t(from->size()) != count)
    return fail("tensor '" + to.name + "' has " + llvm::Twine(from->size()) +
                " elements, but its shape has " + llvm::Twine(count));
  unsigned width = bytesOf(to.type);
  if (!spend(count * width))
    return false;
  to.data.reserve(count * width);
  for (T value : *from) {
    char bytes[8] = {};
    std::memcpy(bytes, &value, sizeof(T));
    to.data.insert(to.data.end(), bytes, bytes + width);
  }
  return true;
}

template <typename Table> bool Reader::elements(const Table &from, Tensor &to) {
  if (!sizes("tensor '" + to.name, to.dims))
    return false;
  int64_t count = elementCount(to.dims);
  unsigned width = bytesOf(to.type);
  if (!width)
    return fail("tensor '" + to.name + "' has elements of " + nameOf(to.type) +
                ", which ESP-DL doesn't have");
  if (from.data_location() != 0)
    return fail("tensor '" + to.name + "' lies in another file");
  if (from.raw_data() && from.raw_data()->size()) {
    llvm::ArrayRef<char> bytes = rawBytes(from.raw_data());
    if (int64_t(bytes.size()) < count * int64_t(width))
      return fail("tensor '" + to.name + "' has " + llvm::Twine(bytes.size()) +
                  " bytes, but its shape and type take " +
                  llvm::Twine(count * width));
    if (!spend(count * width))
      return false;
    to.data.assign(bytes.begin(), bytes.begin() + count * width);
    return true;
  }
  if (to.type == Float && from.float_data())
    return put(from.float_data(), to, count);
  if (to.type == Double && from.double_data())
    return put(from.double_data(), to, count);
  if (to.type == Int64 && from.int64_data())
    return put(from.int64_data(), to, count);
  if ((to.type == UInt64 || to.type == UInt32) && from.uint64_data())
    return put(from.uint64_data(), to, count);
  if (width <= 4 && to.type != Float && from.int32_data())
    return put(from.int32_data(), to, count);
  return count == 0 || fail("tensor '" + to.name + "' has no elements");
}

template <typename Table> bool Reader::tensor(const Table &from, Tensor &to) {
  to.type = from.data_type();
  return text(from.name(), to.name) && text(from.doc_string(), to.docString) &&
         numbers(from.dims(), to.dims) &&
         numbers(from.exponents(), to.exponents) &&
         exponents("tensor '" + to.name, to.exponents) && elements(from, to);
}

template <typename Table> bool Reader::value(const Table &from, Value &to) {
  if (!text(from.name(), to.name) || !text(from.doc_string(), to.docString) ||
      !numbers(from.exponents(), to.exponents) ||
      !exponents("value '" + to.name, to.exponents))
    return false;
  if (!from.value_info_type())
    return true;
  auto *type = from.value_info_type()->value_as_TensorTypeAndShape();
  if (!type)
    return fail("value '" + to.name + "' is no tensor");
  to.type = type->elem_type();
  if (!type->shape())
    return true;
  to.hasShape = true;
  if (!type->shape()->dim())
    return true;
  for (auto *dim : *type->shape()->dim()) {
    auto *size = dim->value();
    bool isKnown = size && size->dim_type() == 1 && size->dim_value() >= 0;
    to.dims.push_back(isKnown ? size->dim_value() : -1);
    std::string &name = to.dimNames.emplace_back();
    if (!spend(16) ||
        (size && size->dim_type() == 2 && !text(size->dim_param(), name)))
      return false;
  }
  return llvm::is_contained(to.dims, -1) || sizes("value '" + to.name, to.dims);
}

template <typename Table>
bool Reader::attribute(const Table &from, Attribute &to) {
  to.kind = from.attr_type();
  if (!text(from.name(), to.name) || !text(from.doc_string(), to.docString))
    return false;
  if (from.g() || from.graphs() || from.tensors() || from.tp() ||
      from.type_protos() ||
      (from.ref_attr_name() && from.ref_attr_name()->size()))
    return fail("attribute '" + to.name + "' is of a kind that ESP-DL lacks");
  if (from.f())
    to.f = from.f()->f();
  if (from.i())
    to.i = from.i()->i();
  if (from.s()) {
    if (!spend(from.s()->size()))
      return false;
    to.s.assign(reinterpret_cast<const char *>(from.s()->data()),
                from.s()->size());
  }
  return numbers(from.floats(), to.floats) && numbers(from.ints(), to.ints) &&
         strings(from.strings(), to.strings) &&
         (!from.t() || tensor(*from.t(), to.t));
}

template <typename Table> bool Reader::node(const Table &from, Node &to) {
  return text(from.name(), to.name) && text(from.op_type(), to.opType) &&
         text(from.domain(), to.domain) &&
         text(from.doc_string(), to.docString) &&
         strings(from.input(), to.inputs) &&
         strings(from.output(), to.outputs) &&
         list(from.attribute(), to.attributes, [&](auto *a, Attribute &b) {
           return attribute(*a, b) ||
                  fail("node '" + to.name + "': " + std::exchange(error, ""));
         });
}

template <typename Table> bool Reader::graph(const Table &from, Model &to) {
  auto eachTensor = [this](auto *a, Tensor &b) { return this->tensor(*a, b); };
  auto eachValue = [this](auto *a, Value &b) { return this->value(*a, b); };
  return text(from.name(), to.graphName) &&
         text(from.doc_string(), to.graphDocString) &&
         list(from.node(), to.nodes,
              [this](auto *a, Node &b) { return this->node(*a, b); }) &&
         list(from.initializer(), to.initializers, eachTensor) &&
         list(from.input(), to.inputs, eachValue) &&
         list(from.output(), to.outputs, eachValue) &&
         list(from.value_info(), to.values, eachValue) &&
         list(from.test_inputs_value(), to.testInputs, eachTensor) &&
         list(from.test_outputs_value(), to.testOutputs, eachTensor);
}

template <typename Table> bool Reader::read(const Table &from, Model &to) {
  to.irVersion = from.ir_version();
  to.modelVersion = from.model_version();
  if (from.functions() && from.functions()->size())
    return fail("has functions, which ESP-DL lacks");
  if (!text(from.producer_name(), to.producerName) ||
      !text(from.producer_version(), to.producerVersion) ||
      !text(from.domain(), to.domain) || !text(from.doc_string(), to.docString))
    return false;
  if (from.opset_import())
    for (auto *entry : *from.opset_import()) {
      auto &[domain, version] = to.opsets.emplace_back();
      version = entry->version();
      if (!spend(32) || !text(entry->domain(), domain))
        return false;
    }
  if (from.metadata_props())
    for (auto *entry : *from.metadata_props()) {
      auto &[key, value] = to.metadata.emplace_back();
      if (!spend(64) || !text(entry->key(), key) ||
          !text(entry->value(), value))
        return false;
    }
  if (!from.graph())
    return fail("has no graph");
  return graph(*from.graph(), to);
}

/// Whether a list of tables and each of them verify; `which` begins as the
/// list's name and gets the number of the first that doesn't.
template <typename List>
bool verifyList(flatbuffers::Verifier &verifier, const flatbuffers::Table &in,
                flatbuffers::voffset_t field, std::string &which) {
  auto *list = in.VerifyOffset(verifier, field)
                   ? in.GetPointer<const List *>(field)
                   : nullptr;
  if (!list)
    return in.VerifyOffset(verifier, field);
  if (!verifier.VerifyVector(list))
    return false;
  for (flatbuffers::uoffset_t i = 0; i < list->size(); ++i) {
    auto *at = list->Data() + i * sizeof(flatbuffers::uoffset_t);
    if (!verifier.VerifyOffset(at, 0) || !list->Get(i)->Verify(verifier)) {
      which += " " + std::to_string(i);
      return false;
    }
  }
  return true;
}

/// Which part of a buffer that doesn't verify is damaged.
template <typename Root>
std::string damagedPart(const uint8_t *data, size_t size) {
  flatbuffers::Verifier verifier(data, size);
  if (size < 8 || !verifier.VerifyOffset(0))
    return "root";
  auto *root = flatbuffers::GetRoot<flatbuffers::Table>(data);
  if (!root->VerifyTableStart(verifier) ||
      !root->VerifyOffset(verifier, Root::VT_GRAPH))
    return "model";
  auto *graph = root->GetPointer<const flatbuffers::Table *>(Root::VT_GRAPH);
  if (!graph)
    return "model";
  if (!graph->VerifyTableStart(verifier))
    return "graph";
  using Graph = llvm::remove_cvref_t<decltype(*std::declval<Root>().graph())>;
  std::string which;
  // A null pointer says which tables a list has.
  auto isDamaged = [&](const char *name, auto *list,
                       flatbuffers::voffset_t field) {
    using List = llvm::remove_cvref_t<decltype(*list)>;
    which = name;
    return !verifyList<List>(verifier, *graph, field, which);
  };
  using Graphs = const Graph *;
  decltype(Graphs()->node()) nodes = nullptr;
  decltype(Graphs()->initializer()) tensors = nullptr;
  decltype(Graphs()->input()) values = nullptr;
  if (isDamaged("node", nodes, Graph::VT_NODE) ||
      isDamaged("initializer", tensors, Graph::VT_INITIALIZER) ||
      isDamaged("input", values, Graph::VT_INPUT) ||
      isDamaged("output", values, Graph::VT_OUTPUT) ||
      isDamaged("value", values, Graph::VT_VALUE_INFO) ||
      isDamaged("test input", tensors, Graph::VT_TEST_INPUTS_VALUE) ||
      isDamaged("test output", tensors, Graph::VT_TEST_OUTPUTS_VALUE))
    return which;
  return "model";
}

template <typename Root>
llvm::Expected<Model> readAs(const std::vector<char> &bytes, size_t begin) {
  auto *data = reinterpret_cast<const uint8_t *>(bytes.data()) + begin;
  size_t size = bytes.size() - begin;
  // The verifier asserts on empty buffers.
  flatbuffers::Verifier verifier(data, size);
  if (size < 8 || !verifier.VerifyBuffer<Root>(nullptr))
    return llvm::createStringError(
        "is damaged: offsets or sizes of its FlatBuffer lead out of it (" +
        damagedPart<Root>(data, size) + ")");
  Model model;
  Reader reader(size);
  if (!reader.read(*flatbuffers::GetRoot<Root>(data), model))
    return llvm::createStringError(reader.error);
  return model;
}

} // namespace

llvm::Expected<Model> esp::readFlatBuffer(llvm::ArrayRef<char> bytes,
                                          RawForm form) {
  // The verifier checks alignment by address: the copy begins at a multiple of
  // 16.
  std::vector<char> copy(bytes.size() + 16);
  size_t begin = 16 - reinterpret_cast<uintptr_t>(copy.data()) % 16;
  begin %= 16;
  std::copy(bytes.begin(), bytes.end(), copy.begin() + begin);
  copy.resize(begin + bytes.size());
  return form == RawForm::Blocks ? readAs<espdl2::Model>(copy, begin)
                                 : readAs<espdl1::Model>(copy, begin);
}
