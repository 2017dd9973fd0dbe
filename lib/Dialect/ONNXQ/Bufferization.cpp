// Kernels on tensors become kernels on buffers: inputs are read, and the
// destination is written, never read.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// A buffer whose last dimension is contiguous, as kernels read and write it: a
/// copy where a view isn't.
static FailureOr<Value> getRows(RewriterBase &rewriter, Location loc,
                                Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() == 0 ||
      (succeeded(type.getStridesAndOffset(strides, offset)) &&
       strides.back() == 1))
    return buffer;
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(
          memref::DimOp::create(rewriter, loc, buffer, i).getResult());
  auto contiguous = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(rewriter, loc, contiguous, sizes);
  memref::CopyOp::create(rewriter, loc, buffer, copy);
  return copy;
}

namespace {
template <typename OpTy>
struct BlockBufferization
    : DstBufferizableOpInterfaceExternalModel<BlockBufferization<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto destination = cast<DestinationStyleOpInterface>(op);
    if (destination.hasPureBufferSemantics())
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    Value init;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
        if (destination.isDpsInit(&operand)) {
          init = value;
        } else {
          FailureOr<Value> rows = getRows(rewriter, op->getLoc(), value);
          if (failed(rows))
            return failure();
          value = *rows;
        }
      }
      operands.push_back(value);
    }
    OperationState built(op->getLoc(), op->getName(), operands, TypeRange(),
                         op->getAttrs());
    IRMapping mapping;
    for (Region &region : op->getRegions())
      region.cloneInto(built.addRegion(), mapping);
    rewriter.create(built);
    replaceOpWithBufferizedValues(rewriter, op, init);
    return success();
  }
};
} // namespace

void onnxquant::onnxq::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ONNXQDialect *) {
    AttentionOp::attachInterface<BlockBufferization<AttentionOp>>(*context);
    ContractOp::attachInterface<BlockBufferization<ContractOp>>(*context);
    ExpandOp::attachInterface<BlockBufferization<ExpandOp>>(*context);
    PackOp::attachInterface<BlockBufferization<PackOp>>(*context);
    StageOp::attachInterface<BlockBufferization<StageOp>>(*context);
    WindowOp::attachInterface<BlockBufferization<WindowOp>>(*context);
  });
}
