// A model of ESP-DL as a float graph with quantizers, node by node.
//
// A tensor of the device is a real one in ONNX's order, and a flag: whether the
// device has its channels last. Nodes that only change that are left out.

#ifndef ONNXQUANT_LIB_ESP_QDQ_H
#define ONNXQUANT_LIB_ESP_QDQ_H

#include "GraphPieces.h"
#include "llvm/Support/Error.h"
#include <set>

namespace onnxquant::esp {

class QdqWriter {
public:
  QdqWriter(const Model &model, const Chip &chip)
      : model(model), chip(chip), graph(model.graphName) {}
  llvm::Error run();
  std::string serialize() const { return graph.serialize(); }
  /// Tensors that the device has with their channels last.
  std::set<std::string> lastTensors() const;

private:
  using Rule = llvm::Error (QdqWriter::*)();
  static Rule findRule(llvm::StringRef op);

  /// A real tensor; the device's is its channels moved last if `isLast`.
  struct Real {
    Term term;
    bool isLast = false;
  };

  llvm::Error fail(const llvm::Twine &message) const;
  void addInput(const Value &value);
  llvm::Error addNode(const Node &current);
  bool isImageInput(llvm::StringRef name) const;

  /// The real tensor of an input, as the device has it or with channels second.
  Term get(size_t index, bool isLast);
  bool isLast(size_t index) const;
  const Tensor *constantOf(size_t index) const;
  /// Constants as they are, dequantized where they have exponents. `isLast`
  /// brings channels second again.
  Term constant(const Tensor &tensor, bool isLast = false);
  /// The bias of a product, if it has one.
  void addBias(std::vector<Term> &inputs, int64_t outputs);
  /// Integers of an input or an attribute, as a constant input.
  Term dequantized(llvm::StringRef name, int32_t type, const Dims &dims,
                   llvm::ArrayRef<int64_t> values,
                   llvm::ArrayRef<int64_t> exponents, int64_t axis);
  Dims dimsOf(llvm::StringRef name, bool isLast) const;
  Settings settings(llvm::StringRef leftOut = "") const {
    return settingsOf(*current, leftOut);
  }

  /// The output `index`: a term that is given its name, then quantizers.
  void finish(Term term, bool isLast, size_t index = 0);
  /// A node of the same operator, named as in the file.
  Term node(llvm::StringRef op, llvm::ArrayRef<Term> inputs, bool isLast,
            const Settings &settings);
  std::string nameOfResult(size_t index) const;
  Term quantizers(const Term &term, const Value &value);
  void finishProduct(llvm::StringRef op, llvm::ArrayRef<Term> inputs,
                     bool isLast, const Settings &settings);

  llvm::Error conv();
  llvm::Error gemm();
  llvm::Error matMul();
  llvm::Error window();
  llvm::Error elementwise();
  llvm::Error swish();
  llvm::Error prelu();
  llvm::Error clip();
  llvm::Error table();
  llvm::Error quantizer();
  llvm::Error transpose();
  llvm::Error alongAxis();
  llvm::Error reduce();
  llvm::Error plain();
  llvm::Error shaped();
  llvm::Error zeros();
  llvm::Error cache();
  llvm::Error rootMeanSquare();

  const Model &model;
  const Chip &chip;
  OnnxGraph graph;
  const Node *current = nullptr;
  llvm::StringMap<Real> reals;
  llvm::StringSet<> outputs;
};

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_QDQ_H
