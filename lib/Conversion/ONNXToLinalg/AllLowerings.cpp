// Which ops can be lowered: the families' lists put together, and a pass that
// prints them for docs/OpSupport.md.

#include "AllLowerings.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace onnxquant {
#define GEN_PASS_DEF_PRINTLOWERINGS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

void onnxquant::lowering::addAllLowerings(RewritePatternSet &patterns,
                                          const StorageTypeConverter &types) {
  addMathLowerings(patterns, types);
  addTensorLowerings(patterns, types);
  addNNLowerings(patterns, types);
  addContractionLowerings(patterns, types);
  addReductionLowerings(patterns, types);
  addQuantizationLowerings(patterns, types);
  addRecurrentLowerings(patterns, types);
  addControlFlowLowerings(patterns, types);
  addGeneratorLowerings(patterns, types);
  addSignalLowerings(patterns, types);
}

namespace {
struct PrintLowerings
    : public onnxquant::impl::PrintLoweringsBase<PrintLowerings> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    StorageTypeConverter types;
    RewritePatternSet patterns(context);
    addAllLowerings(patterns, types);
    llvm::StringSet<> lowered;
    for (const auto &pattern : patterns.getNativePatterns())
      if (std::optional<OperationName> root = pattern->getRootKind())
        lowered.insert(root->getStringRef());
    SmallVector<StringRef> names;
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() ==
          onnxquant::onnx::ONNXDialect::getDialectNamespace())
        names.push_back(name.getStringRef());
    llvm::sort(names);
    for (StringRef name : names)
      llvm::outs() << name << (lowered.contains(name) ? " yes\n" : " no\n");
  }
};
} // namespace
