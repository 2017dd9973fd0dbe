// Observers of buffers become calls. Enters: planned buffers. Leaves: no op of
// the `onnxq` dialect. What is called is MLIR text that comes with the library.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/ObserverLayout.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"
#include <limits>

namespace onnxquant {
#define GEN_PASS_DEF_LOWEROBSERVERS
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr llvm::StringLiteral sharedText =
#include "ObserverCells.mlir.inc"
#include "ObserverFamilies.mlir.inc"
#include "ObserverSums.mlir.inc"
#include "ObserverTiles.mlir.inc"
#include "Observers.mlir.inc"
    ;
/// How tiles are added up: one of the two.
static constexpr llvm::StringLiteral doublesText =
#include "ObserverDoubles.mlir.inc"
#include "ObserverPlaces.mlir.inc"
    ;
static constexpr llvm::StringLiteral integersText =
#include "ObserverBins.mlir.inc"
#include "ObserverIntegers.mlir.inc"
    ;
static constexpr llvm::StringLiteral observeFunction = "onnxq_observe",
                                     inlineAttr = "onnxq.inline";

/// Multiplies and adds in two steps, where processors can't in one. Products of
/// floats in double are exact, so that results are the same.
static void splitMultiplyAdds(ModuleOp library) {
  SmallVector<math::FmaOp> ops;
  library.walk([&](math::FmaOp op) { ops.push_back(op); });
  for (math::FmaOp op : ops) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value product = arith::MulFOp::create(b, op.getA(), op.getB());
    Value sum = arith::AddFOp::create(b, product, op.getC());
    op.replaceAllUsesWith(sum);
    op.erase();
  }
}

/// Puts functions marked as `onnxq.inline` where they are called. Each function
/// becomes an object of its own, so that nothing later would.
static void inlineSmall(ModuleOp library) {
  SymbolTable symbols(library);
  SmallVector<func::CallOp> calls;
  auto getSmall = [&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    return callee && callee->hasAttr(inlineAttr) ? callee : func::FuncOp();
  };
  auto collect = [&](Operation *root) {
    root->walk([&](func::CallOp call) {
      if (getSmall(call))
        calls.push_back(call);
    });
  };
  for (auto function : library.getOps<func::FuncOp>())
    if (!function->hasAttr(inlineAttr))
      collect(function);
  while (!calls.empty()) {
    func::CallOp call = calls.pop_back_val();
    func::FuncOp callee = getSmall(call);
    OpBuilder b(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      collect(b.clone(op, mapping));
    for (auto [result, value] :
         llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
  for (auto function :
       llvm::make_early_inc_range(library.getOps<func::FuncOp>()))
    if (function->hasAttr(inlineAttr))
      function.erase();
}

/// Adds the library's functions to a module.
static LogicalResult addLibrary(ModuleOp module, bool hasFMA, bool hasIFMA) {
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(
      (sharedText + (hasIFMA ? integersText : doublesText)).str(),
      module.getContext());
  if (!parsed)
    return module.emitError("the library of observers can't be read");
  inlineSmall(*parsed);
  if (!hasFMA)
    splitMultiplyAdds(*parsed);
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
  Value number(float value) {
    return arith::ConstantOp::create(*this, getF32FloatAttr(value));
  }
  /// Of the record, which has one channel if it has bins only.
  template <typename Op> Value channels(Op op) {
    return index(op.getBinsOnly() ? 1 : op.getChannels());
  }
  /// Adds the `count` elements from `place` on to the bins of a record, and of
  /// its members.
  template <typename Op> void addBins(Op op, Value place, Value count) {
    if (op.getMembers())
      return call("onnxq_family",
                  {flat(op.getBuffer()), place, count, flat(op.getState()),
                   index(op.getBins()), flat(op.getScratch())});
    int64_t offset = op.getOffset();
    ObserverLayout layout = {1, static_cast<int64_t>(op.getBins()),
                             static_cast<int64_t>(op.getParts())};
    call("onnxq_bins", {flat(op.getBuffer()), place, count, flat(op.getState()),
                        index(offset + ObserverLayout::Exponent),
                        index(offset + layout.histogram()), index(op.getBins()),
                        flat(op.getScratch())});
  }
  /// A family as functions take it: places and numbers of all members.
  template <typename Op> SmallVector<Value> family(Op op) {
    onnxq::MembersAttr members = *op.getMembers();
    int64_t offset = op.getOffset();
    ObserverLayout layout = {static_cast<int64_t>(op.getChannels()),
                             static_cast<int64_t>(op.getBins()),
                             static_cast<int64_t>(op.getParts())};
    SmallVector<Value> values = {index(offset),
                                 index(offset + layout.histogram())};
    for (int64_t i = 0; i < 2; ++i) {
      bool isThere = i < members.getOffsets().size();
      int64_t place = isThere ? members.getOffsets()[i] : 0;
      int64_t channels = isThere ? members.getChannels()[i] : 0;
      layout.channels = std::max<int64_t>(1, channels);
      auto add = [&](ArrayAttr numbers, float otherwise) {
        values.push_back(
            number(isThere ? members.numberOf(numbers, i) : otherwise));
      };
      constexpr float most = std::numeric_limits<float>::max();
      values.push_back(index(place));
      values.push_back(index(isThere ? place + layout.histogram() : 0));
      values.push_back(index(channels));
      add(members.getFactors(), 1.0f);
      add(members.getAddends(), -0.0f);
      add(members.getLowers(), -most);
      add(members.getUppers(), most);
    }
    return values;
  }
};

} // namespace

static void lower(onnxq::ObserveOp op) {
  CallEmitter b(op);
  Value buffer = op.getInput();
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  if (op.getMembers()) {
    SmallVector<Value> operands = {
        b.flat(buffer), b.product(buffer, 0, std::min<int64_t>(rank, 1)),
        b.product(buffer, 0, rank)};
    operands.append(b.family(op));
    operands.append(
        {b.flat(op.getState()), b.index(op.getParts()), b.index(op.getBins())});
    b.call("onnxq_observe_family", operands);
    return;
  }
  if (op.getBinsOnly()) {
    b.call("onnxq_observe_bins",
           {b.flat(buffer), b.product(buffer, 0, std::min<int64_t>(rank, 1)),
            b.product(buffer, 0, rank), b.flat(op.getState()),
            b.index(op.getOffset()), b.index(op.getParts()),
            b.index(op.getBins())});
    return;
  }
  auto axis = static_cast<int64_t>(op.getChannelAxis());
  // One channel is as none: what follows the first axis, which samples lie
  // along, is a row.
  bool isOne = op.getChannels() == 1;
  int64_t split = isOne ? (op.getParts() > 1 && rank > 0) : axis;
  Value outer = b.product(buffer, 0, split);
  Value inner = b.product(buffer, isOne ? split : axis + 1, rank);
  b.call(observeFunction,
         {b.flat(buffer), b.product(buffer, 0, std::min<int64_t>(rank, 1)),
          outer, b.index(op.getChannels()), inner, b.flat(op.getState()),
          b.index(op.getOffset()), b.index(op.getParts()),
          b.index(op.getBins())});
}

static void lower(onnxq::ObserveBeginOp op) {
  CallEmitter b(op);
  if (op.getMembers()) {
    SmallVector<Value> operands = {b.index(op.getFirst())};
    operands.append(b.family(op));
    operands.append({b.flat(op.getState()), b.index(op.getParts()),
                     b.index(op.getBins()), b.flat(op.getScratch())});
    b.call("onnxq_begin_family", operands);
    return;
  }
  b.call("onnxq_begin",
         {b.index(op.getFirst()), b.channels(op), b.flat(op.getState()),
          b.index(op.getOffset()), b.index(op.getParts()),
          b.index(op.getBins()), b.flat(op.getScratch())});
}

static void lower(onnxq::ObserveSliceOp op) {
  CallEmitter b(op);
  Value buffer = op.getBuffer();
  auto type = cast<MemRefType>(buffer.getType());
  Value length = b.product(buffer, 2, type.getRank());
  Value channels = b.index(op.getChannels());
  Value row = arith::AddIOp::create(
      b, arith::MulIOp::create(b, op.getOuter(), channels), op.getChannel());
  Value place = arith::MulIOp::create(b, row, length);
  if (op.getBinsOnly())
    return b.addBins(op, place, length);
  b.call("onnxq_slice",
         {b.flat(buffer), place, length, op.getOuter(), b.product(buffer, 0, 1),
          op.getChannel(), channels, b.flat(op.getState()),
          b.index(op.getOffset()), b.index(op.getParts()),
          b.index(op.getBins()), b.flat(op.getScratch())});
}

static void lower(onnxq::ObserveRowsOp op) {
  CallEmitter b(op);
  if (op.getBinsOnly())
    return b.addBins(op, op.getPlace(),
                     b.index(op.getRows() * op.getChannels()));
  b.call("onnxq_tile",
         {b.flat(op.getBuffer()), op.getPlace(), b.index(op.getRows()),
          op.getRow(), b.index(op.getOuter()), b.index(op.getChannels()),
          b.flat(op.getState()), b.index(op.getOffset()),
          b.index(op.getParts()), b.index(op.getBins()),
          b.flat(op.getScratch())});
}

static void lower(onnxq::ObserveEndOp op) {
  CallEmitter b(op);
  if (op.getMembers()) {
    b.call("onnxq_settle_family", {b.flat(op.getState()), b.index(op.getBins()),
                                   b.flat(op.getScratch())});
    return;
  }
  b.call("onnxq_end", {b.channels(op), b.flat(op.getState()),
                       b.index(op.getOffset()), b.index(op.getParts()),
                       b.index(op.getBins()), b.flat(op.getScratch())});
}

namespace {
struct LowerObservers
    : public onnxquant::impl::LowerObserversBase<LowerObservers> {
  using LowerObserversBase::LowerObserversBase;
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
    if (failed(addLibrary(getOperation(), fma, ifma)))
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
