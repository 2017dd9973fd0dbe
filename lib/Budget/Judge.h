// Real models with some changes: how good they are, and how fast.

#ifndef ONNXQUANT_LIB_BUDGET_JUDGE_H
#define ONNXQUANT_LIB_BUDGET_JUDGE_H

#include "OnnxQuant/Budget/Search.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant::budget {

class Judge {
public:
  Judge(mlir::ModuleOp module, const Request &request)
      : module(module), request(request) {}

  /// Quantizes a copy and compares it with the float model on the samples that
  /// are held back. An error without a message has been told.
  llvm::Expected<Score> judge(const QuantizeOptions &options);

  /// Compiles copies, as all that is compiled is, and runs them in turns on a
  /// sample: the least time of each, in milliseconds. No options stand for the
  /// float model.
  llvm::Expected<std::vector<double>>
  time(llvm::ArrayRef<const QuantizeOptions *> forms, const Tensors &sample);

private:
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  makeCopy(const QuantizeOptions *options);

  mlir::ModuleOp module;
  const Request &request;
  /// The float model's outputs of earlier samples, in their order.
  struct Seen {
    std::vector<std::vector<HostTensor>> outputs;
    size_t bytes = 0, next = 0;
    bool isComplete = false;
  };
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();
};

} // namespace onnxquant::budget

#endif // ONNXQUANT_LIB_BUDGET_JUDGE_H
