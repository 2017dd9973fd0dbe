// The options of quantization on the command line: those of its pass, by their
// names, and a file of them.

#ifndef ONNXQUANT_TOOLS_ONNXQ_QUANTIZEARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_QUANTIZEARGUMENTS_H

#include "Arguments.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"

namespace onnxquant::cli {

class QuantizeArguments {
public:
  /// A file with options.
  std::string config;

  /// Takes the options of the pass out of the arguments; the error says what
  /// is wrong.
  std::optional<std::string> split(llvm::ArrayRef<const char *> arguments,
                                   std::vector<const char *> &others);
  /// The file's options first, then those of the command line instead of them.
  /// An exit code says that they are wrong, which has been reported.
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
