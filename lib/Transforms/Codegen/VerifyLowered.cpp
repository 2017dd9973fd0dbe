// The gate behind the lowering to loops. Enters: loops over buffers. Leaves:
// the same; what a pass should have lowered before is refused, and the node
// named.

#include "OnnxQuant/Dialect/ONNX/NodeName.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace onnxquant {
#define GEN_PASS_DEF_VERIFYLOWERED
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Whether an op of the onnxq dialect stays until functions of the runtime take
/// its place.
static bool isObserver(Operation *op) {
  return isa<onnxq::StateOp, onnxq::ObserveOp, onnxq::ObserveBeginOp,
             onnxq::ObserveSliceOp, onnxq::ObserveRowsOp, onnxq::ObserveEndOp,
             onnxq::StatisticsOp>(op);
}

static bool isLowered(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<onnxq::ONNXQDialect>(dialect))
    return isObserver(op);
  return !isa_and_nonnull<onnx::ONNXDialect, linalg::LinalgDialect,
                          tensor::TensorDialect,
                          bufferization::BufferizationDialect>(dialect);
}

namespace {
struct VerifyLowered
    : public onnxquant::impl::VerifyLoweredBase<VerifyLowered> {
  void runOnOperation() override {
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
          if (isLowered(op))
            return WalkResult::advance();
          InFlightDiagnostic error =
              op->emitOpError("is left where loops over buffers are expected");
          if (std::string node = nodeOf(op); !node.empty())
            error << "; it computes node '" << node << "'";
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
