// One ONNX backend test case: compiled, run on its data, compared.

#ifndef ONNXQUANT_TOOLS_ONNXQ_TESTCASE_H
#define ONNXQUANT_TOOLS_ONNXQ_TESTCASE_H

#include "OnnxQuant/Target/Target.h"
#include <string>
#include <vector>

namespace onnxquant::cli {

/// How cases are compiled and judged.
struct CaseOptions {
  TargetOptions target;
  bool checkBounds = false;
  /// The command of a runner that runs the target's libraries; without it the
  /// code is loaded into this process.
  std::vector<std::string> runner;
  int64_t timeout = 120;
  double rtol = 1e-3, atol = 1e-7;
};

/// How a case ended; the message says why it failed or was skipped.
struct Outcome {
  enum Kind : char { Passed = 'P', Failed = 'F', Skipped = 'S' } kind = Failed;
  std::string message;
};

/// Runs the case of a folder on all its data sets. `scratch` is a folder for
/// files of it.
Outcome runCase(const std::string &folder, const CaseOptions &options,
                const std::string &scratch);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_TESTCASE_H
