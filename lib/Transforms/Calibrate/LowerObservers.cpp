// Observers of buffers become calls. Enters: planned buffers. Leaves: no op of
// the `onnxq` dialect. What is called is MLIR text that comes with the library.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWEROBSERVERS
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr llvm::StringLiteral library =
#include "ObserverSums.mlir.inc"
#include "Observers.mlir.inc"
    ;
static constexpr llvm::StringLiteral observeFunction = "onnxq_observe";

/// Adds the library's functions to a module.
static LogicalResult addLibrary(ModuleOp module) {
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(library, module.getContext());
  if (!parsed)
    return module.emitError("the library of observers can't be read");
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  for (auto function : parsed->getOps<func::FuncOp>())
    b.clone(*function);
  return success();
}

namespace {

/// Emits the call that stands for one op.
class CallEmitter : public ImplicitLocOpBuilder {
public:
  explicit CallEmitter(Operation *op)
      : ImplicitLocOpBuilder(op->getLoc(), op) {}

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(*this, value);
  }
  /// The product of sizes [from, to) of a buffer.
  Value product(Value buffer, int64_t from, int64_t to) {
    auto type = cast<MemRefType>(buffer.getType());
    Value result = index(1);
    for (int64_t d = from; d < to; ++d) {
      Value size = type.isDynamicDim(d)
                       ? Value(memref::DimOp::create(*this, buffer, d))
                       : index(type.getDimSize(d));
      result = arith::MulIOp::create(*this, result, size);
    }
    return result;
  }
  /// A contiguous buffer as one row.
  Value flat(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    auto row = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
    Value total = product(buffer, 0, type.getRank());
    return memref::ReinterpretCastOp::create(
        *this, row, buffer, OpFoldResult(getIndexAttr(0)),
        ArrayRef<OpFoldResult>{total}, ArrayRef<OpFoldResult>{getIndexAttr(1)});
  }
  void call(StringRef function, ValueRange operands) {
    func::CallOp::create(*this, function, TypeRange{}, operands);
  }
};

} // namespace

static void lower(onnxq::ObserveOp op) {
  CallEmitter b(op);
  Value buffer = op.getInput();
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  auto axis = static_cast<int64_t>(op.getChannelAxis());
  // Without channels, rows are along the last axis, and single elements where
  // that is the only one.
  int64_t split = axis >= 0 ? axis : std::max<int64_t>(rank - 1, 0);
  Value outer = b.product(buffer, 0, axis < 0 && rank == 1 ? 1 : split);
  Value inner = axis >= 0   ? b.product(buffer, axis + 1, rank)
                : rank == 1 ? b.index(1)
                            : b.product(buffer, split, rank);
  b.call(observeFunction,
         {b.flat(buffer), b.product(buffer, 0, std::min<int64_t>(rank, 1)),
          outer, b.index(op.getChannels()), inner, b.flat(op.getState()),
          b.index(op.getOffset()), b.index(op.getParts()),
          b.index(op.getBins())});
}

static void lower(onnxq::ObserveBeginOp op) {
  CallEmitter b(op);
  b.call("onnxq_begin", {b.index(op.getFirst()), b.index(op.getChannels()),
                         b.flat(op.getState()), b.index(op.getOffset()),
                         b.index(op.getParts()), b.index(op.getBins()),
                         b.flat(op.getScratch())});
}

static void lower(onnxq::ObserveSliceOp op) {
  CallEmitter b(op);
  Value buffer = op.getBuffer();
  auto type = cast<MemRefType>(buffer.getType());
  Value length = b.product(buffer, 2, type.getRank());
  Value channels = b.index(op.getChannels());
  Value row = arith::AddIOp::create(
      b, arith::MulIOp::create(b, op.getOuter(), channels), op.getChannel());
  b.call("onnxq_slice", {b.flat(buffer), arith::MulIOp::create(b, row, length),
                         length, op.getOuter(), b.product(buffer, 0, 1),
                         op.getChannel(), channels, b.flat(op.getState()),
                         b.index(op.getOffset()), b.index(op.getParts()),
                         b.index(op.getBins()), b.flat(op.getScratch())});
}

static void lower(onnxq::ObserveEndOp op) {
  CallEmitter b(op);
  b.call("onnxq_end", {b.index(op.getChannels()), b.flat(op.getState()),
                       b.index(op.getOffset()), b.index(op.getParts()),
                       b.index(op.getBins()), b.flat(op.getScratch())});
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
    if (ops.empty())
      return;
    if (failed(addLibrary(getOperation())))
      return signalPassFailure();
    for (Operation *op : ops) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<onnxq::ObserveOp, onnxq::ObserveBeginOp, onnxq::ObserveSliceOp,
                onnxq::ObserveEndOp>([](auto concrete) { lower(concrete); });
      op->erase();
    }
  }
};
} // namespace
