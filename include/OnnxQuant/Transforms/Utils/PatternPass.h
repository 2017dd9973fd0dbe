// A pass that applies patterns of one kind and counts what they did.

#ifndef ONNXQUANT_TRANSFORMS_UTILS_PATTERNPASS_H
#define ONNXQUANT_TRANSFORMS_UTILS_PATTERNPASS_H

#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant::rewriting {

using namespace rewriting;

/// `Base` is what TableGen declares, with the statistic `numFused`. `Derived`
/// says what it does to a model in `done`, and adds its patterns, which count
/// into what they are given, in `populate(set, count)`.
template <typename Derived, typename Base> class PatternPass : public Base {
public:
  llvm::LogicalResult initialize(mlir::MLIRContext *context) override {
    mlir::RewritePatternSet set(context);
    Derived::populate(set, count);
    patterns = std::move(set);
    return mlir::success();
  }

  void runOnOperation() override {
    count = 0;
    if (failed(applyPatterns(this->getOperation(), patterns)))
      return this->signalPassFailure();
    this->numFused += count;
    addToReport(this->getOperation(), this->getArgument(), Derived::done,
                count);
  }

private:
  mlir::FrozenRewritePatternSet patterns;
  int64_t count = 0;
};

} // namespace onnxquant::rewriting

#endif // ONNXQUANT_TRANSFORMS_UTILS_PATTERNPASS_H
