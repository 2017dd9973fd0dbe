// What the rules of single operators share: operands, rounding, results.

#ifndef ONNXQUANT_LIB_ESP_SIMULATION_H
#define ONNXQUANT_LIB_ESP_SIMULATION_H

#include "OnnxGraph.h"
#include "OnnxQuant/ESP/Layout.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace onnxquant::esp {

/// An input of a node.
struct Operand {
  Term term;
  std::vector<int64_t> exponents;
  /// The elements, if it is a constant.
  const Tensor *constant = nullptr;

  explicit operator bool() const { return static_cast<bool>(term); }
  int64_t exponent() const { return exponents.empty() ? 0 : exponents[0]; }
  int32_t type() const { return term.type; }
  bool isQuantized() const { return term.type == Int8 || term.type == Int16; }
};

/// What a node's output is declared to be.
struct Result {
  std::string name;
  int32_t type = Undefined;
  /// Nothing if the model doesn't say.
  std::optional<Dims> dims;
  int64_t exponent = 0;

  bool isQuantized() const { return type == Int8 || type == Int16; }
};

class Simulation {
public:
  Simulation(const Model &model, const SimulationOptions &options);

  llvm::Error run();
  std::string serialize() const { return graph.serialize(); }

private:
  using Rule = llvm::Error (Simulation::*)();

  llvm::Error indexModel();
  /// An input of the graph, quantized where it is real.
  Term inputOf(const Value &value);
  Term realOutput(llvm::StringRef name, Term term);
  llvm::Error runNode(const Node &node);
  static Rule findRule(llvm::StringRef op);

  // Operands and results of the current node.
  llvm::Error fail(const llvm::Twine &message) const;
  Operand operand(size_t index);
  /// The elements of an input, if they are constant.
  const Tensor *constantOf(size_t index) const;
  Result result(size_t index = 0);
  /// Constant integers of an input, or of an attribute; nothing if neither is
  /// there.
  std::optional<Dims> integers(size_t input, llvm::StringRef attribute);
  /// Declares the output: checks the shape, reshapes where only the batch
  /// differs, and names it.
  llvm::Error finish(Term term, size_t index = 0, bool isReshape = false);
  int64_t axisOf(int64_t axis, int64_t rank) const {
    return axis < 0 ? axis + rank : axis;
  }

  // Arithmetic.
  /// R(x / 2^shift) for one shift, or one per element of the last axis; a
  /// shift below zero multiplies. `bound` is the largest magnitude of `x`.
  llvm::Expected<Term> shifted(Term x, llvm::ArrayRef<int64_t> shifts,
                               double bound, Rounding rounding);
  /// The value limited to what a type holds, from `low` on if that is more.
  Term saturated(const Term &x, int32_t type, bool relu = false);
  llvm::Expected<Term> requantized(const Term &x, int64_t from, int64_t to,
                                   int32_t type, bool relu = false);
  /// Rounded as the chip rounds floats.
  Term rounded(const Term &real);
  Term quantized(const Term &real, int64_t exponent, int32_t type);
  Term real(const Operand &x);
  /// A function of each element by a table of all its values.
  Term lookedUp(const Operand &x, int32_t type,
                const std::function<int64_t(int64_t)> &function);
  int64_t roundReal(float value) const;
  int64_t limit(int64_t value, int32_t type) const;

  // Products.
  /// High and low byte of 16-bit integers.
  std::pair<Term, Term> halves(const Term &x);
  /// Weights of 8 or 16 bits.
  struct Weights {
    Term whole;
    std::optional<std::pair<Term, Term>> halves;
  };
  Weights weights(llvm::ArrayRef<int64_t> values, const Dims &dims,
                  int32_t type);
  using Product = std::function<Term(const Term &, const Term &)>;
  /// The sums of a product of two operands of 8 or 16 bits; `depth` is the
  /// number of products of a sum.
  Term sums(const Term &x, const Weights &w, const Product &product,
            int64_t depth, const Product &inDouble);
  /// Bias, lanes, shift, activation, saturation. `magnitudes` has the sum of
  /// weights per output, or one number.
  llvm::Error finishSums(Term sums, const Operand &x,
                         llvm::ArrayRef<int64_t> weightExponents,
                         const Operand &bias, llvm::ArrayRef<double> magnitudes,
                         int64_t outputs, bool isPlainConv);
  llvm::Error finishLegacySums(Term sums, const Operand &x,
                               llvm::ArrayRef<int64_t> weightExponents,
                               const Operand &bias, double bound,
                               int64_t outputs);
  /// The fused activation of a value that isn't saturated yet.
  llvm::Expected<Term> activated(const Term &value);
  llvm::Error legacyActivation(const Operand &x, const Result &y);
  llvm::Error legacySum(const Operand &a, const Operand &b, const Result &y);
  llvm::Error legacyMean(const Term &sums, llvm::ArrayRef<int64_t> areas,
                         const Dims &areaDims, const Operand &x,
                         const Result &y);
  llvm::Error conv();
  llvm::Error gemm();
  llvm::Error matMul();

  // Windows and reductions.
  llvm::Error averagePool();
  llvm::Error globalAveragePool();
  llvm::Error maxPool();
  llvm::Error reduce();
  llvm::Error resize();
  llvm::Error nearest(const Operand &x, const Result &y);
  llvm::Error linear(const Operand &x, const Result &y);
  llvm::Error depthAndSpace();
  llvm::Error insertZeros();
  /// Pads of a window, with what the declared output needs beyond them.
  llvm::Expected<Dims> padsOf(const Term &x, llvm::ArrayRef<int64_t> kernel,
                              llvm::ArrayRef<int64_t> strides,
                              llvm::ArrayRef<int64_t> dilations,
                              const Result &y);
  /// `x` with a batch, if it has none.
  Term withBatch(const Term &x, int64_t windowRank);

  // Elementwise.
  /// The operands of a node that has two, if their shapes go together.
  llvm::Error operands(Operand &a, Operand &b, Dims &dims);
  /// A sum or product shifted, with the fused activation, saturated.
  llvm::Error finishShifted(const Term &x, llvm::ArrayRef<int64_t> shifts,
                            double bound);
  /// The table of the node, if its kernel reads one.
  llvm::Expected<const Tensor *> tableOf(const Operand &x) const;
  llvm::Error sum();
  llvm::Error product();
  llvm::Error quotient();
  llvm::Error extreme();
  llvm::Error comparison();
  llvm::Error unary();
  llvm::Error prelu();
  llvm::Error clipped();
  llvm::Error quantizeNode();
  llvm::Error softmax();
  llvm::Error inFloat();
  llvm::Error rmsNormalization();
  llvm::Error byTable(const Operand &x, const Tensor &table);
  llvm::Error byFunction(const Operand &x, const Result &y,
                         const std::function<float(float)> &function);
  Term aligned(const Operand &x, int64_t exponent, int32_t type);

  // Recurrent layers.
  struct Recurrent;
  /// The layer of the current node; an error if the runtime lacks it.
  llvm::Error readRecurrent(Recurrent &layer);
  /// Weights and biases of one direction.
  void beginDirection(Recurrent &layer, int64_t direction);
  llvm::Expected<Term> firstState(const Operand &given, const Dims &dims,
                                  int32_t type, int64_t exponent);
  /// Products with a matrix, in 16 bits at the gates' exponent.
  Term gateSums(Recurrent &layer, const Term &from, int64_t exponent,
                const Tensor &matrix, const Weights &values);
  /// Integers times 2^exponent.
  Term scaled(const Term &integers, int64_t exponent);
  /// The first gates as floats: inputs, states and both biases added up.
  Term addedGates(const Recurrent &layer, const Term &here, const Term &behind,
                  int64_t count);
  std::vector<Term> lstmStep(Recurrent &layer, llvm::ArrayRef<Term> states,
                             const Term &here);
  std::vector<Term> gruStep(Recurrent &layer, llvm::ArrayRef<Term> states,
                            const Term &here);
  llvm::Error recurrent();

  // Data that only moves.
  /// The shape that a node gives an input of another size than the declared
  /// one; nothing if it says none.
  std::optional<Dims> reshapedDims(const Dims &input);
  llvm::Error reshaped();
  llvm::Error moved();
  llvm::Error transposed();
  llvm::Error concatenated();
  llvm::Error padded();
  llvm::Error split();
  llvm::Error streamingCache();

  const Model &model;
  SimulationOptions options;
  Rounding rounding;
  OnnxGraph graph;
  const Node *node = nullptr;
  llvm::StringMap<Term> terms;
  llvm::StringMap<const Tensor *> constants;
  llvm::StringMap<const Value *> values;
  std::set<std::string> lastTensors;
  /// Declared shapes are those of the whole sequence then, but a run takes
  /// some frames.
  bool isStreaming = false;
};

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_SIMULATION_H
