// Access to the parts of a model, and the table of chips.

#include "OnnxQuant/ESP/Model.h"
#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace onnxquant;
using namespace onnxquant::esp;

unsigned esp::bytesOf(int32_t type) {
  return type > UInt64 || type == Float16 ? 0 : elementBytes(type);
}

std::string esp::nameOf(int32_t type) {
  return bytesOf(type) ? typeName(type) : "type " + std::to_string(type);
}

int64_t esp::elementCount(llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  if (llvm::is_contained(dims, 0))
    return 0;
  for (int64_t dim : dims)
    if (llvm::MulOverflow(count, dim, count))
      return INT64_MAX;
  return count;
}

template <typename T> static T read(const std::vector<char> &data, int64_t at) {
  T value;
  std::memcpy(&value, data.data() + at * sizeof(T), sizeof(T));
  return value;
}

int64_t Tensor::intAt(int64_t index) const {
  switch (type) {
  case UInt8:
  case Bool:
    return read<uint8_t>(data, index);
  case Int8:
    return read<int8_t>(data, index);
  case UInt16:
    return read<uint16_t>(data, index);
  case Int16:
    return read<int16_t>(data, index);
  case Int32:
    return read<int32_t>(data, index);
  case UInt32:
    return read<uint32_t>(data, index);
  case Float:
  case Double:
    return static_cast<int64_t>(at(index));
  default:
    return read<int64_t>(data, index);
  }
}

double Tensor::at(int64_t index) const {
  if (type == Float)
    return read<float>(data, index);
  if (type == Double)
    return read<double>(data, index);
  return static_cast<double>(intAt(index));
}

llvm::StringRef Tensor::layout() const {
  llvm::StringRef text = docString;
  return text.consume_front("layout ==> ") ? text : "";
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

llvm::Error esp::nodeError(const Node &node, const llvm::Twine &message) {
  return llvm::createStringError("node '" + node.name + "' (" + node.opType +
                                 ") " + message.str());
}

const Attribute *Node::find(llvm::StringRef name) const {
  for (const Attribute &attribute : attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

int64_t Node::getInt(llvm::StringRef name, int64_t otherwise) const {
  const Attribute *found = find(name);
  return found && found->kind == Attribute::IntKind ? found->i : otherwise;
}

float Node::getFloat(llvm::StringRef name, float otherwise) const {
  const Attribute *found = find(name);
  return found && found->kind == Attribute::FloatKind ? found->f : otherwise;
}

std::string Node::getString(llvm::StringRef name,
                            llvm::StringRef otherwise) const {
  const Attribute *found = find(name);
  return found && found->kind == Attribute::StringKind ? found->s
                                                       : otherwise.str();
}

std::vector<int64_t> Node::getInts(llvm::StringRef name) const {
  const Attribute *found = find(name);
  return found ? found->ints : std::vector<int64_t>();
}

llvm::StringRef Node::input(size_t index) const {
  return index < inputs.size() ? llvm::StringRef(inputs[index]) : "";
}

/// The attribute of a name, made where attributes stay sorted.
static Attribute &attributeOf(Node &node, llvm::StringRef name, int32_t kind) {
  auto place = llvm::lower_bound(
      node.attributes, name,
      [](const Attribute &a, llvm::StringRef b) { return a.name < b; });
  if (place == node.attributes.end() || place->name != name)
    place = node.attributes.insert(place, Attribute());
  *place = Attribute();
  place->name = name.str();
  place->kind = kind;
  return *place;
}

void Node::setInt(llvm::StringRef name, int64_t value) {
  attributeOf(*this, name, Attribute::IntKind).i = value;
}
void Node::setFloat(llvm::StringRef name, float value) {
  attributeOf(*this, name, Attribute::FloatKind).f = value;
}
void Node::setString(llvm::StringRef name, llvm::StringRef value) {
  attributeOf(*this, name, Attribute::StringKind).s = value.str();
}
void Node::setInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  attributeOf(*this, name, Attribute::IntsKind).ints = values.vec();
}

const Tensor *Model::findInitializer(llvm::StringRef name) const {
  for (const Tensor &tensor : initializers)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

const Value *Model::findValue(llvm::StringRef name) const {
  for (const std::vector<Value> *list : {&values, &inputs, &outputs})
    for (const Value &value : *list)
      if (value.name == name)
        return &value;
  return nullptr;
}

llvm::Error esp::sortedNodes(const Model &model,
                             std::vector<const Node *> &order) {
  llvm::StringMap<size_t> producer;
  for (auto [index, made] : llvm::enumerate(model.nodes))
    for (const std::string &output : made.outputs)
      if (!output.empty() && !producer.try_emplace(output, index).second)
        return llvm::createStringError("tensor '" + output +
                                       "' is computed twice");
  enum State : char { New, Open, Done };
  std::vector<char> state(model.nodes.size(), New);
  for (size_t root = 0; root < model.nodes.size(); ++root) {
    std::vector<std::pair<size_t, size_t>> stack;
    if (state[root] == New)
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const Node &current = model.nodes[index];
      state[index] = Open;
      if (next == current.inputs.size()) {
        state[index] = Done;
        order.push_back(&current);
        stack.pop_back();
        continue;
      }
      auto found = producer.find(current.inputs[next++]);
      if (found == producer.end())
        continue;
      if (state[found->second] == Open)
        return llvm::createStringError("node '" + current.name +
                                       "' is part of a cycle");
      if (state[found->second] == New)
        stack.push_back({found->second, 0});
    }
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

static const Chip chips[] = {
    {"esp32s3", Rounding::HalfUp, true, 20, 40, false, 20},
    {"esp32p4", Rounding::HalfEven, true, 32, 40, true, 32},
    {"esp32c3", Rounding::HalfUp, false, 32, 64, false, 32},
    {"esp32s31", Rounding::HalfEven, true, 32, 40, true, 32},
    {"esp32", Rounding::HalfUp, false, 32, 64, false, 32},
    {"esp32s2", Rounding::HalfUp, false, 32, 64, false, 32},
    {"esp32c2", Rounding::HalfUp, false, 32, 64, false, 32},
    {"esp32c5", Rounding::HalfUp, false, 32, 64, false, 32},
    {"esp32c6", Rounding::HalfUp, false, 32, 64, false, 32}};

double esp::roundAs(Rounding rounding, double value) {
  if (rounding == Rounding::HalfEven)
    return std::nearbyint(value);
  return std::floor(rounding == Rounding::HalfUp ? value + 0.5 : value);
}

llvm::ArrayRef<Chip> esp::getChips() { return chips; }

const Chip *esp::findChip(llvm::StringRef name) {
  if (name == "c")
    return &chips[2];
  for (const Chip &chip : chips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

std::string esp::chipNames() {
  return llvm::join(
      llvm::map_range(chips, [](const Chip &chip) { return chip.name.str(); }),
      ", ");
}

std::vector<const Chip *> esp::likelyChips(const Model &model) {
  for (const auto &[key, value] : model.metadata)
    if (key == "target")
      if (const Chip *chip = findChip(value))
        return {chip};
  bool packed = false, plain = false, hasChannelExponents = false;
  for (const Tensor &tensor : model.initializers) {
    hasChannelExponents |= tensor.exponents.size() > 1;
    llvm::StringRef layout = tensor.layout();
    if (layout.empty() || layout == "UNK")
      continue;
    bool isPacked = layout.contains("16") || layout.contains('8');
    (isPacked ? packed : plain) = true;
  }
  // One of each kind of kernels.
  std::vector<const Chip *> likely, perChannel;
  for (const Chip &chip : getChips().take_front(3))
    if (chip.isPacked ? !plain || packed : !packed)
      likely.push_back(&chip);
  if (hasChannelExponents)
    llvm::copy_if(likely, std::back_inserter(perChannel),
                  [](const Chip *chip) { return chip->isPerChannel; });
  return perChannel.empty() ? likely : perChannel;
}
