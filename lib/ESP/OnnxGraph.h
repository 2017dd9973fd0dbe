// An ONNX model that is built node by node. Types and shapes of all values are
// known as they are made.

#ifndef ONNXQUANT_LIB_ESP_ONNXGRAPH_H
#define ONNXQUANT_LIB_ESP_ONNXGRAPH_H

#include "OnnxQuant/ESP/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <memory>
#include <variant>

namespace onnx_format {
class GraphProto;
class ModelProto;
class NodeProto;
} // namespace onnx_format

namespace onnxquant::esp {

using Dims = std::vector<int64_t>;

/// A value of the graph.
struct Term {
  std::string name;
  int32_t type = Undefined;
  Dims dims;

  explicit operator bool() const { return !name.empty(); }
  int64_t rank() const { return dims.size(); }
  int64_t numElements() const { return elementCount(dims); }
};

/// Attributes of a node that is made.
using Setting = std::variant<int64_t, float, std::string, Dims>;
using Settings = std::vector<std::pair<std::string, Setting>>;

/// The shape that two shapes broadcast to; false if they don't.
bool broadcast(const Dims &a, const Dims &b, Dims &result);

class OnnxGraph {
public:
  explicit OnnxGraph(llvm::StringRef name);
  ~OnnxGraph();

  Term input(llvm::StringRef name, int32_t type, const Dims &dims);
  void output(const Term &term);

  /// Begins the names of nodes that follow.
  void setPrefix(llvm::StringRef name) { prefix = name.str(); }

  /// Under a name of its own, or one that is made up.
  Term constant(int32_t type, const Dims &dims, const std::vector<char> &bytes,
                llvm::StringRef name = "");
  Term ints(int32_t type, const Dims &dims, llvm::ArrayRef<int64_t> values);
  Term floats(const Dims &dims, llvm::ArrayRef<float> values);
  Term number(int32_t type, double value);

  Term node(llvm::StringRef op, llvm::ArrayRef<Term> inputs, int32_t type,
            const Dims &dims, const Settings &settings = {});
  /// A node with several outputs, whose names are given, and its own may be.
  std::vector<Term> nodes(llvm::StringRef op, llvm::ArrayRef<Term> inputs,
                          llvm::ArrayRef<Term> outputs,
                          const Settings &settings = {},
                          llvm::StringRef name = "");
  /// Steps over `scanned` along its first axis, from the last one on if
  /// `fromEnd`. `body` makes a step's states out of those before and a slice.
  /// Gives the last states, then the first state of all steps.
  std::vector<Term>
  scan(llvm::ArrayRef<Term> states, const Term &scanned, bool fromEnd,
       llvm::function_ref<std::vector<Term>(llvm::ArrayRef<Term>, const Term &)>
           body);
  /// Gives a value that was just made a name of its own.
  Term named(const Term &term, llvm::StringRef name);

  Term cast(const Term &x, int32_t type);
  /// Add, Sub, Mul, ...: operands broadcast.
  Term binary(llvm::StringRef op, const Term &a, const Term &b);
  Term unary(llvm::StringRef op, const Term &x);
  Term clip(const Term &x, double low, double high);
  Term transpose(const Term &x, llvm::ArrayRef<int64_t> permutation);
  Term reshape(const Term &x, const Dims &dims);
  Term concat(llvm::ArrayRef<Term> parts, int64_t axis);
  Term slice(const Term &x, int64_t axis, int64_t begin, int64_t end);
  /// Channels from the last to the second axis, and back.
  Term channelsSecond(const Term &x);
  Term channelsLast(const Term &x);

  std::string serialize() const;

private:
  std::string freshName(llvm::StringRef op);
  onnx_format::NodeProto *add(llvm::StringRef op, llvm::ArrayRef<Term> inputs,
                              const Settings &settings);

  std::unique_ptr<onnx_format::ModelProto> model;
  /// Where nodes are added: the model's graph, or the body of a Scan.
  onnx_format::GraphProto *current;
  std::string prefix;
  llvm::StringMap<unsigned> counts;
  llvm::StringMap<onnx_format::NodeProto *> producers;
  llvm::StringSet<> used;
};

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_ONNXGRAPH_H
