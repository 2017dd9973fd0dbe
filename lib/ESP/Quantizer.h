// The state of one model's quantization: exponents of all tensors, and the
// device's model as it grows.

#ifndef ONNXQUANT_LIB_ESP_QUANTIZER_H
#define ONNXQUANT_LIB_ESP_QUANTIZER_H

#include "OnnxQuant/ESP/Layout.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace onnxquant::esp {

/// Why the runtime can't run a GRU or LSTM; empty if it can.
std::string reasonAgainstRecurrent(const Node &node);

using Dims = std::vector<int64_t>;

/// Whether an op only moves elements, so that its output has its input's
/// exponent.
bool isPassive(llvm::StringRef op);
/// Whether an op's kernels read images with their channels last.
bool isImageOp(llvm::StringRef op);
/// Whether an op is a function of each element that gets a table.
bool isTabulated(llvm::StringRef op);
/// The function of a node of such an op, in float.
std::optional<std::function<float(float)>> elementFunction(const Node &node);
/// Whether an op multiplies with weights and adds up.
bool isProduct(llvm::StringRef op);
/// Exponents of a product's constant weights: one, or one per output.
std::vector<int64_t> weightExponents(const Node &node, const Tensor &w,
                                     const QuantizeOptions &options);
/// The window of a node that reads `[N, C, ..]`, all of it written out.
struct Window {
  Dims kernel, strides, dilations, pads;
};
Window windowOf(const Node &node, llvm::ArrayRef<int64_t> input,
                llvm::ArrayRef<int64_t> kernel = {});
/// The scale of each axis of a Resize; `given` are those of its input.
std::vector<double> resizeScales(const Node &node, const Tensor *given,
                                 const Dims &in, const Dims &out);
/// Weights of a product as the device has them, as real numbers again.
std::vector<float> roundedWeights(const Node &node, const Tensor &w,
                                  const QuantizeOptions &options);
/// What a node's `quant_type` says of its type.
llvm::StringRef quantType(int32_t type);
/// `[N, C, ..]` as `[N, .., C]`.
Dims toChannelsLast(llvm::ArrayRef<int64_t> dims);

class Quantizer {
public:
  Quantizer(const Model &model, Exponents exponents,
            const QuantizeOptions &options);
  llvm::Expected<Model> run();
  /// What nodes can't be quantized, and why; exponents may be any.
  std::vector<std::string> check();

private:
  using Rule = llvm::Error (Quantizer::*)();
  static Rule findRule(llvm::StringRef op);
  void addInputs();
  llvm::Error quantizeNode(const Node &current);

  // Exponents.
  llvm::Error resolveExponents();
  void resolveLegacy();
  int64_t parameterExponent(llvm::ArrayRef<float> values, int bits,
                            bool isChannel) const;
  /// A real number as an integer of so many bits, rounded as parameters are.
  int64_t quantizedNumber(float value, int64_t exponent, int width) const;
  void followInputs();
  void align();
  /// Kernels with vectors shift sums to the right only.
  void raiseSums();
  std::optional<int64_t> sumExponent(const Node &current);
  void note(const llvm::Twine &text) const {
    if (options.notes)
      options.notes->push_back(text.str());
  }
  int bitsOf(const Node &node) const;
  bool isReal(llvm::StringRef name) const;
  int32_t typeOf(const Node &node) const {
    return bitsOf(node) == 8 ? Int8 : Int16;
  }

  // Tensors of the device.
  struct Form {
    int32_t type = Undefined;
    int64_t exponent = 0;
    bool isLast = false;
  };
  llvm::Error fail(const llvm::Twine &message) const;
  bool isConstant(llvm::StringRef name) const {
    return constants.count(name.str()) != 0;
  }
  const Dims &dimsOf(llvm::StringRef name);
  /// The name of a tensor in a form, made by nodes where it has another one.
  std::string get(llvm::StringRef name, Form form);
  /// Input `index` of the node in its own exponent and the node's type.
  std::string input(size_t index, bool isLast);
  Form formOf(llvm::StringRef name) { return forms[name]; }
  void declare(llvm::StringRef name, Form form, const Dims &dims);
  /// The node's output `index` in a form.
  void result(Node &made, Form form, size_t index = 0);
  Node start(llvm::StringRef op = "");
  void add(Node made) { out.nodes.push_back(std::move(made)); }
  std::string fresh(llvm::StringRef stem);
  /// Adds a constant, under another name if that is taken by other contents.
  std::string put(Tensor tensor);
  /// Adds integers that say something of a node: a shape, axes, bounds.
  std::string putInts(llvm::StringRef stem, llvm::ArrayRef<int64_t> values);
  /// Integers that the device reads as they are.
  std::string copyConstant(llvm::StringRef name);
  Tensor quantized(const Tensor &from, const Dims &dims, int64_t exponent,
                   int32_t type) const;
  std::vector<float> floatsOf(const Tensor &tensor) const;
  void insertTranspose(llvm::StringRef from, llvm::StringRef to,
                       llvm::ArrayRef<int64_t> order, Form form,
                       const Dims &dims);

  // Products.
  struct Filter {
    FilterShape shape;
    Dims window;
    /// ONNX's order.
    std::vector<float> values;
  };
  llvm::Error conv();
  llvm::Error convTranspose();
  std::string insertZeros(const Dims &strides, const Dims &extra);
  llvm::Error gemm();
  llvm::Error matMul();
  llvm::Error placeFilter(Node &made, const Filter &filter, const Dims &dims,
                          llvm::StringRef name, int64_t inputExponent,
                          llvm::StringRef bias);
  llvm::Error placeBias(Node &made, llvm::StringRef bias, int64_t inputExponent,
                        llvm::ArrayRef<int64_t> scales,
                        std::vector<double> &largest);
  void fitBiases(const Filter &filter, const Tensor &bias,
                 int64_t inputExponent, std::vector<int64_t> &scales) const;
  std::string packedMatrix(llvm::StringRef name);

  // Others.
  /// An activation that a node has, or is: its name, and quantized slopes.
  void placeActivation(Node &made, llvm::StringRef kind);
  llvm::Error oldActivation();
  llvm::Error pool();
  llvm::Error tabulated();
  llvm::Error binary();
  llvm::Error prelu();
  llvm::Error concat();
  llvm::Error keepsLayout();
  llvm::Error restores();
  llvm::Expected<std::string> movedOperand(size_t index, int32_t type,
                                           bool isLast);
  llvm::Error image();
  std::string resizeOperand(size_t index);
  llvm::Error normalization();
  llvm::Error rootMeanSquare();
  llvm::Error scatter();
  llvm::Error comparison();
  llvm::Error recurrent();
  std::string constantOperand(size_t index, bool isLast, int64_t rank,
                              std::optional<int64_t> exponent);
  std::string makeTable(int64_t from, int64_t to, int32_t type,
                        const std::function<float(float)> &function);

  const Model &in;
  Exponents exponents;
  const QuantizeOptions &options;
  Model out;
  const Node *node = nullptr;
  std::map<std::string, const Tensor *> constants;
  std::map<std::string, const Node *> producers;
  std::map<std::string, std::vector<const Node *>> consumers;
  std::map<std::string, Dims> shapes;
  llvm::StringMap<Form> forms;
  llvm::StringMap<std::string> made;
  llvm::StringMap<int> counters;
  /// Names of nodes and tensors that the model has.
  llvm::StringSet<> taken;
  /// Layers whose sums may leave the chip's lanes, of all.
  int64_t wideLayers = 0, layers = 0;
};

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_QUANTIZER_H
