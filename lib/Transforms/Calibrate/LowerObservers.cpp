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

/// A buffer as rows of channels: its sizes before, along and after the axis.
static void lowerObserve(onnxq::ObserveOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<MemRefType>(op.getInput().getType());
  int64_t rank = type.getRank(), axis = op.getChannelAxis();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto product = [&](int64_t from, int64_t to) {
    Value result = constant(1);
    for (int64_t d = from; d < to; ++d) {
      Value size = type.isDynamicDim(d)
                       ? Value(memref::DimOp::create(b, op.getInput(), d))
                       : constant(type.getDimSize(d));
      result = arith::MulIOp::create(b, result, size);
    }
    return result;
  };
  // Without channels, rows are along the last axis, and single elements where
  // that is the only one.
  int64_t split = axis >= 0 ? axis : std::max<int64_t>(rank - 1, 0);
  Value outer = axis < 0 && rank == 1 ? product(0, 1) : product(0, split);
  Value inner = axis >= 0   ? product(axis + 1, rank)
                : rank == 1 ? constant(1)
                            : product(split, rank);
  Value total = product(0, rank);
  auto flatType = MemRefType::get({ShapedType::kDynamic}, b.getF32Type());
  Value flat = memref::ReinterpretCastOp::create(
      b, flatType, op.getInput(), OpFoldResult(b.getIndexAttr(0)),
      ArrayRef<OpFoldResult>{total}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  auto words = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  Value state = memref::CastOp::create(b, words, op.getState());
  func::CallOp::create(b, observeFunction, TypeRange{},
                       ValueRange{flat, product(0, std::min<int64_t>(rank, 1)),
                                  outer, constant(op.getChannels()), inner,
                                  state, constant(op.getOffset()),
                                  constant(op.getParts()),
                                  constant(op.getBins())});
  op.erase();
}

namespace {
struct LowerObservers
    : public onnxquant::impl::LowerObserversBase<LowerObservers> {
  void runOnOperation() override {
    SmallVector<onnxq::ObserveOp> observers;
    getOperation().walk([&](onnxq::ObserveOp op) { observers.push_back(op); });
    if (observers.empty())
      return;
    for (onnxq::ObserveOp op : observers) {
      auto type = dyn_cast<MemRefType>(op.getInput().getType());
      if (!type || !type.getElementType().isF32() ||
          !type.getLayout().isIdentity()) {
        op.emitOpError("expects a contiguous buffer of f32, but got ")
            << op.getInput().getType();
        return signalPassFailure();
      }
    }
    if (failed(addLibrary(getOperation())))
      return signalPassFailure();
    llvm::for_each(observers, lowerObserve);
  }
};
} // namespace
