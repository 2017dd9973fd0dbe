// The options of quantization on the command line: those of its pass, by their
// names, and a file of them.

#ifndef ONNXQUANT_TOOLS_ONNXQ_QUANTIZEARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_QUANTIZEARGUMENTS_H

#include "Arguments.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"

namespace onnxquant::cli {

class QuantizeArguments {
public:
  /// Declares the options of the pass.
  void declare(Arguments &arguments);
  /// Sets what was given. An exit code says that options are wrong, which has
  /// been reported: also where they contradict each other.
  std::optional<int> read(const Verb &verb, QuantizeOptions &options) const;
  bool isGiven(llvm::StringRef name) const;

private:
  struct Given {
    std::string name, value;
  };
  std::vector<Given> given;
};

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_QUANTIZEARGUMENTS_H
