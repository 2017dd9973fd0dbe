// The gate behind the graph's stages: what no lowering can run is refused, and
// the node named. Enters: a prepared graph. Leaves: the same, of operators that
// are known, on tensors whose ranks and element types can be computed with.

#include "Emitter.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxquant {
#define GEN_PASS_DEF_VERIFYRUNNABLE
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ir = onnxquant::onnx;

namespace {
struct VerifyRunnable
    : public onnxquant::impl::VerifyRunnableBase<VerifyRunnable> {
  void runOnOperation() override;
};
} // namespace

void VerifyRunnable::runOnOperation() {
  WalkResult result = getOperation().walk([](Operation *op) {
    if (auto custom = dyn_cast<ir::CustomOp>(op)) {
      op->emitOpError("cannot be run: operator ")
          << custom.getFunctionName() << " of domain '"
          << custom.getDomainName() << "' is unknown";
      return WalkResult::interrupt();
    }
    if (isa<func::FuncOp, ModuleOp>(op))
      return WalkResult::advance();
    for (Type type : op->getResultTypes()) {
      // Sequences and optionals, as onnx-mlir's text has them.
      if (isa<ir::ONNXDialect>(type.getDialect())) {
        op->emitOpError("cannot be run: its result has type ") << type;
        return WalkResult::interrupt();
      }
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor)
        continue;
      if (!tensor.hasRank()) {
        op->emitOpError("cannot be run: the rank of its result is unknown; "
                        "shape inference or an input shape must tell it");
        return WalkResult::interrupt();
      }
      auto ranked = cast<RankedTensorType>(tensor);
      if (Attribute layout = ranked.getEncoding()) {
        op->emitOpError("cannot be run: its result has the layout ") << layout;
        return WalkResult::interrupt();
      }
      if (!storageType(tensor.getElementType())) {
        op->emitOpError("cannot be run: elements of type ")
            << tensor.getElementType() << " can't be computed with";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
