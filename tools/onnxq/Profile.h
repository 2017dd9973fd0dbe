// Where the time of a model's runs goes.

#ifndef ONNXQUANT_TOOLS_ONNXQ_PROFILE_H
#define ONNXQUANT_TOOLS_ONNXQ_PROFILE_H

#include "OnnxQuant/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <optional>

namespace onnxquant::cli {

/// A node of the model that is measured.
struct ProfiledNode {
  std::string op;
  std::optional<int64_t> macs;
  /// Whether it works on 8-bit integers.
  bool isInteger = false;
};
using ProfiledNodes = std::map<std::string, ProfiledNode>;

/// The nodes of a module of the `onnx` dialect by name.
ProfiledNodes collectNodes(mlir::ModuleOp module);

/// A node's share of a run.
struct ProfileLine {
  std::string node, op;
  double milliseconds = 0, percent = 0;
  /// Billions of multiply-accumulates per second, and how much that is of what
  /// the processor could do at most.
  std::optional<double> gmacs, percentOfPeak;
};
struct Profile {
  /// Slowest first.
  std::vector<ProfileLine> lines;
  double milliseconds = 0, gigahertz = 0;
  int64_t runs = 0;
};

/// Makes sense of what the runner printed.
llvm::Expected<Profile> readProfile(llvm::StringRef text,
                                    const ProfiledNodes &nodes,
                                    const TargetOptions &target);
void printProfile(const Profile &profile, bool json);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_PROFILE_H
