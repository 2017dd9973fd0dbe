// Observers of buffers become calls. Enters: planned buffers. Leaves: no op of
// the `onnxq` dialect. What is called is in Runtime/Observers.h.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWEROBSERVERS
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {

/// Emits the call that stands for one op.
class CallEmitter : public ImplicitLocOpBuilder {
public:
  explicit CallEmitter(Operation *op)
      : ImplicitLocOpBuilder(op->getLoc(), op) {}

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(*this, value, 64);
  }
  Value number(Value index) {
    return arith::IndexCastOp::create(*this, getI64Type(), index);
  }
  Value product(Value a, Value b) { return arith::MulIOp::create(*this, a, b); }
  /// The product of sizes [from, to) of a buffer.
  Value size(Value buffer, int64_t from, int64_t to) {
    auto type = cast<MemRefType>(buffer.getType());
    Value result = number(1);
    for (int64_t d = from; d < to; ++d)
      result =
          product(result, type.isDynamicDim(d)
                              ? number(memref::DimOp::create(*this, buffer, d))
                              : number(type.getDimSize(d)));
    return result;
  }
  /// The address of an element of a contiguous buffer.
  Value pointer(Value buffer, Value element = {}) {
    auto type = LLVM::LLVMPointerType::get(getContext());
    Value start = LLVM::IntToPtrOp::create(
        *this, type,
        number(memref::ExtractAlignedPointerAsIndexOp::create(*this, buffer)));
    if (!element)
      return start;
    Type each = cast<MemRefType>(buffer.getType()).getElementType();
    return LLVM::GEPOp::create(*this, type, each, start,
                               ArrayRef<LLVM::GEPArg>{element});
  }
  /// Calls a function, which is declared if it isn't yet.
  void call(StringRef name, ValueRange operands) {
    Operation *op = getInsertionBlock()->getParentOp();
    auto module = op->getParentOfType<ModuleOp>();
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(*this);
      setInsertionPointToEnd(module.getBody());
      func::FuncOp::create(*this, name,
                           getFunctionType(TypeRange(operands), {}))
          .setPrivate();
    }
    func::CallOp::create(*this, name, TypeRange{}, operands);
  }
};

} // namespace

static void lower(onnxq::ObserveOp op) {
  CallEmitter b(op);
  Value buffer = op.getInput();
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  auto axis = static_cast<int64_t>(op.getChannelAxis());
  // One channel is as none: what follows the first axis, which samples lie
  // along, is a row.
  bool isOne = op.getChannels() == 1;
  int64_t split = isOne ? (op.getParts() > 1 && rank > 0) : axis;
  b.call("onnxq_observe",
         {b.pointer(buffer), b.size(buffer, 0, std::min<int64_t>(rank, 1)),
          b.size(buffer, 0, split), b.number(op.getChannels()),
          b.size(buffer, isOne ? split : axis + 1, rank),
          b.pointer(op.getState()), b.number(op.getOffset()),
          b.number(op.getBins()), b.number(op.getParts())});
}

static void lower(onnxq::ObserveBeginOp op) {
  CallEmitter b(op);
  b.call("onnxq_observe_begin",
         {b.pointer(op.getScratch()), b.pointer(op.getState()),
          b.number(op.getOffset()), b.number(op.getFirst()),
          b.number(op.getChannels()), b.number(op.getBins()),
          b.number(op.getParts())});
}

static void lower(onnxq::ObserveSliceOp op) {
  CallEmitter b(op);
  Value buffer = op.getBuffer();
  Value length =
      b.size(buffer, 2, cast<MemRefType>(buffer.getType()).getRank());
  Value outer = b.number(op.getOuter()), channel = b.number(op.getChannel());
  Value slice =
      arith::AddIOp::create(b, b.product(outer, b.size(buffer, 1, 2)), channel);
  b.call("onnxq_observe_slice", {b.pointer(op.getScratch()),
                                 b.pointer(buffer, b.product(slice, length)),
                                 length, channel, outer, b.size(buffer, 0, 1)});
}

static void lower(onnxq::ObserveRowsOp op) {
  CallEmitter b(op);
  b.call("onnxq_observe_rows",
         {b.pointer(op.getScratch()),
          b.pointer(op.getBuffer(), b.number(op.getPlace())),
          b.number(op.getRows()), b.number(op.getRow()),
          b.number(op.getOuter())});
}

static void lower(onnxq::ObserveEndOp op) {
  CallEmitter b(op);
  b.call("onnxq_observe_end", b.pointer(op.getScratch()));
}

namespace {
struct LowerObservers
    : public onnxquant::impl::LowerObserversBase<LowerObservers> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa<onnxq::ONNXQDialect>(op->getDialect()))
        return WalkResult::advance();
      ops.push_back(op);
      auto observe = dyn_cast<onnxq::ObserveOp>(op);
      if (!observe)
        return WalkResult::advance();
      auto type = dyn_cast<MemRefType>(observe.getInput().getType());
      if (type && type.getElementType().isF32() &&
          type.getLayout().isIdentity())
        return WalkResult::advance();
      op->emitOpError("expects a contiguous buffer of f32, but got ")
          << observe.getInput().getType();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : ops) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<onnxq::ObserveOp, onnxq::ObserveBeginOp, onnxq::ObserveSliceOp,
                onnxq::ObserveRowsOp, onnxq::ObserveEndOp>(
              [](auto concrete) { lower(concrete); });
      op->erase();
    }
  }
};
} // namespace
