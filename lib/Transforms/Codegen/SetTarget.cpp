// Writes on the module what code it is for.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/IR/Builders.h"

namespace onnxquant {
#define GEN_PASS_DEF_SETTARGET
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {
struct SetTarget : public onnxquant::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;
  void runOnOperation() override {
    Builder b(&getContext());
    getOperation()->setAttr(
        targetAttr, b.getDictionaryAttr(
                        {b.getNamedAttr("cpu", b.getStringAttr(cpu)),
                         b.getNamedAttr("features", b.getStringAttr(features)),
                         b.getNamedAttr("triple", b.getStringAttr(triple))}));
  }
};
} // namespace
