// A model of ESP-DL in memory: the graph of a .espdl file, as it is stored.
//
// A real number is `q * 2^exponent`; there are no zero points. Shapes and bytes
// are the device's: NHWC activations, filters as the chip's kernels read them
// (see Layout.h).

#ifndef ONNXQUANT_ESP_MODEL_H
#define ONNXQUANT_ESP_MODEL_H

#include "OnnxQuant/Support/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onnxquant::esp {

using namespace element;

/// How many elements a shape has; the largest number if that is too small.
int64_t elementCount(llvm::ArrayRef<int64_t> dims);
/// More than any chip holds: files can't ask for more memory than that.
constexpr int64_t mostElements = int64_t(1) << 26;

/// A constant, or a test value.
struct Tensor {
  std::string name, docString;
  int32_t type = Undefined;
  std::vector<int64_t> dims;
  /// The elements without padding, little-endian.
  std::vector<char> data;
  /// None, one, or one per output channel.
  std::vector<int64_t> exponents;

  int64_t numElements() const { return elementCount(dims); }
  /// An element of an integer or float type.
  double at(int64_t index) const;
  int64_t intAt(int64_t index) const;
  int64_t exponent() const { return exponents.empty() ? 0 : exponents[0]; }
  /// X of the doc string `layout ==> X`; empty if it has none.
  llvm::StringRef layout() const;
};

/// Whether a device can have an exponent: files can say anything.
inline bool isExponent(int64_t exponent) {
  return exponent >= -128 && exponent <= 127;
}

/// What is known of a tensor that is computed or given.
struct Value {
  std::string name, docString;
  int32_t type = Undefined;
  /// -1 where a name stands in place of a size.
  std::vector<int64_t> dims;
  std::vector<std::string> dimNames;
  bool hasShape = false;
  std::vector<int64_t> exponents;

  int64_t exponent() const { return exponents.empty() ? 0 : exponents[0]; }
};

struct Attribute {
  /// ONNX's numbers of kinds.
  enum Kind {
    None = 0,
    FloatKind = 1,
    IntKind = 2,
    StringKind = 3,
    TensorKind = 4,
    FloatsKind = 6,
    IntsKind = 7,
    StringsKind = 8
  };
  std::string name, docString;
  int32_t kind = None;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  Tensor t;
};

struct Node {
  std::string name, opType, domain, docString;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;

  const Attribute *find(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  float getFloat(llvm::StringRef name, float otherwise) const;
  std::string getString(llvm::StringRef name,
                        llvm::StringRef otherwise = "") const;
  std::vector<int64_t> getInts(llvm::StringRef name) const;
  /// Input `index`, empty if it is left out.
  llvm::StringRef input(size_t index) const;
  void setInt(llvm::StringRef name, int64_t value);
  void setFloat(llvm::StringRef name, float value);
  void setString(llvm::StringRef name, llvm::StringRef value);
  void setInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
};

struct Model {
  int32_t irVersion = 0;
  int64_t modelVersion = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::optional<std::string> producerName, producerVersion, domain, docString;
  std::vector<std::pair<std::string, std::string>> metadata;

  std::string graphName, graphDocString;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<Value> inputs, outputs, values;
  std::vector<Tensor> testInputs, testOutputs;

  const Tensor *findInitializer(llvm::StringRef name) const;
  /// What is known of a tensor that is no constant.
  const Value *findValue(llvm::StringRef name) const;
};

/// `node 'NAME' (OP) MESSAGE`.
llvm::Error nodeError(const Node &node, const llvm::Twine &message);

/// Adds a number to the elements of a tensor: the first `width` of its bytes.
template <typename T>
void appendElement(std::vector<char> &data, T value,
                   unsigned width = sizeof(T)) {
  auto *bytes = reinterpret_cast<const char *>(&value);
  data.insert(data.end(), bytes, bytes + width);
}

/// Nodes after those whose results they read.
llvm::Error sortedNodes(const Model &model, std::vector<const Node *> &order);

/// Bytes of an element of a type that a tensor can have; 0 for others.
unsigned bytesOf(int32_t type);
/// As messages call it: `int8`.
std::string nameOf(int32_t type);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_MODEL_H
