// Writes on the module what code it is for, and reads it.

#include "OnnxQuant/Conversion/Passes.h"
#include "mlir/IR/Builders.h"

namespace onnxquant {
#define GEN_PASS_DEF_SETTARGET
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

TargetInfo onnxquant::getTargetInfo(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  DictionaryAttr target;
  if (module)
    target = module->getAttrOfType<DictionaryAttr>(targetAttr);
  if (!target)
    return TargetInfo();
  auto read = [&](StringRef key) {
    auto text = target.getAs<StringAttr>(key);
    return text ? text.getValue() : StringRef();
  };
  return getTargetInfo(read("triple"), read("cpu"), read("features"));
}

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
