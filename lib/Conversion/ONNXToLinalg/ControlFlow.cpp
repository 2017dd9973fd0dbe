// If, Loop and Scan as structured control flow over tensors.
//
// Bodies are moved, not rebuilt: their ops are lowered where they stand. Values
// that go in and out of a body change between ONNX types and stored types by
// casts that vanish once the body is lowered.

#include "LoopSupport.h"
#include "Lowering.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "SizeCast.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ir = onnxquant::onnx;

namespace {

/// What the three ops share.
template <typename OpTy> struct SubgraphLowering : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using Rewriter = ConversionPatternRewriter;

  /// A value of an ONNX type as a stored one, and back.
  Value toStored(Emitter &e, Value value) const {
    Type type = this->getTypeConverter()->convertType(value.getType());
    if (type == value.getType())
      return value;
    return UnrealizedConversionCastOp::create(e, TypeRange{type}, value)
        .getResult(0);
  }
  Value toOnnx(Emitter &e, Value value, Type type) const {
    Value cast =
        castSizes(e, value, this->getTypeConverter()->convertType(type));
    if (cast.getType() == type)
      return cast;
    return UnrealizedConversionCastOp::create(e, TypeRange{type}, cast)
        .getResult(0);
  }
  /// Moves a body's ops to where `e` stands and gives what it yields, stored.
  SmallVector<Value> inlineBody(Emitter &e, Rewriter &rewriter, Block &body,
                                ValueRange arguments) const {
    Operation *yield = body.getTerminator();
    Block *target = e.getInsertionBlock();
    rewriter.inlineBlockBefore(&body, target, e.getInsertionPoint(), arguments);
    e.setInsertionPoint(yield);
    SmallVector<Value> results;
    for (Value operand : yield->getOperands())
      results.push_back(toStored(e, operand));
    SmallVector<Value> kept = results;
    Block *block = yield->getBlock();
    rewriter.eraseOp(yield);
    e.setInsertionPointToEnd(block);
    return kept;
  }
  /// The truth of a tensor of one boolean.
  static Value truthOf(Emitter &e, Value stored) {
    Tensor tensor = {stored, e.getI1Type()};
    return e.read(tensor, Indices(tensor.rank(), e.index(0))).value;
  }
};

struct LowerIf : SubgraphLowering<ir::IfOp> {
  using SubgraphLowering::SubgraphLowering;
  LogicalResult matchAndRewrite(ir::IfOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Emitter e(rewriter, op);
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto branch = scf::IfOp::create(e, types, truthOf(e, adaptor.getCond()),
                                    /*withElseRegion=*/true);
    for (auto [from, to] :
         {std::pair(&op.getThenBranch(), &branch.getThenRegion()),
          std::pair(&op.getElseBranch(), &branch.getElseRegion())}) {
      e.setInsertionPointToEnd(&to->front());
      SmallVector<Value> results =
          inlineBody(e, rewriter, from->front(), ValueRange{});
      for (auto [result, type] : llvm::zip(results, types))
        result = castSizes(e, result, type);
      scf::YieldOp::create(e, results);
    }
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

/// A tensor of one integer, of the type that a body's argument has.
static Value oneInteger(Emitter &e, Value index, Type stored) {
  auto type = cast<RankedTensorType>(stored);
  SmallVector<int64_t> ones(type.getRank(), 1);
  auto known = RankedTensorType::get(ones, type.getElementType());
  Value value = index.getType().isIndex() ? e.toI64(index) : index;
  Value tensor = tensor::FromElementsOp::create(e, known, value);
  return known == type ? tensor
                       : Value(tensor::CastOp::create(e, type, tensor));
}

/// Places `element` at position `at` of dimension `axis` of `buffer`.
static Value placeAt(Emitter &e, Value element, Value buffer, Value at,
                     int64_t axis) {
  int64_t rank = cast<RankedTensorType>(buffer.getType()).getRank();
  Sizes offsets(rank, e.getIndexAttr(0)), strides(rank, e.getIndexAttr(1)),
      sizes;
  Sizes own = tensor::getMixedSizes(e, e.getLoc(), element);
  for (int64_t d = 0, next = 0; d < rank; ++d)
    sizes.push_back(d == axis ? OpFoldResult(e.getIndexAttr(1)) : own[next++]);
  offsets[axis] = at;
  return tensor::InsertSliceOp::create(e, element, buffer, offsets, sizes,
                                       strides);
}

/// Checks that all iterations give an output elements of the same sizes; the
/// buffer has one more dimension, `axis`.
static void checkSameSizes(Emitter &e, Value element, Value buffer, Value i,
                           int64_t axis) {
  Value first = e.cmpIndex(arith::CmpIPredicate::eq, i, e.index(0));
  int64_t rank = cast<RankedTensorType>(element.getType()).getRank();
  for (int64_t d = 0; d < rank; ++d) {
    OpFoldResult size = tensor::getMixedSize(e, e.getLoc(), element, d);
    OpFoldResult before =
        tensor::getMixedSize(e, e.getLoc(), buffer, d < axis ? d : d + 1);
    if (e.constant(size) && e.constant(size) == e.constant(before))
      continue;
    Value same = e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(size),
                            e.asValue(before));
    e.check(e.createOrFold<arith::OrIOp>(first, same),
            "a scan output changes its size from one iteration to the next");
  }
}

struct LowerLoop : SubgraphLowering<ir::LoopOp> {
  using SubgraphLowering::SubgraphLowering;
  LogicalResult matchAndRewrite(ir::LoopOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override;

private:
  FailureOr<SmallVector<Value>> getInitial(ir::LoopOp op, OpAdaptor adaptor,
                                           Emitter &e) const;
  SmallVector<Value> getResults(ir::LoopOp op, scf::WhileOp loop,
                                Emitter &e) const;
  /// A buffer with room for iteration `i`: the old one, or one twice as long.
  static Value grow(Emitter &e, Value buffer, Value element, Value i) {
    Value capacity = tensor::DimOp::create(e, buffer, 0);
    Value full = e.cmpIndex(arith::CmpIPredicate::sge, i, capacity);
    auto type = cast<RankedTensorType>(buffer.getType());
    return branch(
        e, full, buffer.getType(),
        [&]() {
          Sizes sizes = {OpFoldResult(
              e.maxIndex(e.mulIndex(capacity, e.index(2)), e.index(8)))};
          llvm::append_range(sizes,
                             tensor::getMixedSizes(e, e.getLoc(), element));
          Value fresh =
              tensor::EmptyOp::create(e, sizes, type.getElementType());
          Sizes extents = {OpFoldResult(i)};
          llvm::append_range(extents,
                             tensor::getMixedSizes(e, e.getLoc(), element));
          Sizes zeros(type.getRank(), e.getIndexAttr(0)),
              ones(type.getRank(), e.getIndexAttr(1));
          // Before the first iteration there is nothing to keep.
          Value kept = branch(
              e, e.cmpIndex(arith::CmpIPredicate::sgt, i, e.index(0)),
              fresh.getType(),
              [&]() {
                Value part = tensor::ExtractSliceOp::create(e, buffer, zeros,
                                                            extents, ones);
                return SmallVector<Value>{tensor::InsertSliceOp::create(
                    e, part, fresh, zeros, extents, ones)};
              },
              [&]() { return SmallVector<Value>{fresh}; })[0];
          return SmallVector<Value>{castSizes(e, kept, type)};
        },
        [&]() { return SmallVector<Value>{buffer}; })[0];
  }
};

/// The iterations that a Loop may have at most.
static Value readTrips(ir::LoopOp op, Value m, Emitter &e) {
  if (ir::isLeftOut(op.getM()))
    return e.index(std::numeric_limits<int64_t>::max());
  int64_t rank = cast<RankedTensorType>(m.getType()).getRank();
  return e.readIndex({m, e.getI64Type()}, Indices(rank, e.index(0)));
}

/// What the loop carries at first: the iteration, the condition, the body's
/// values, buffers of scan outputs.
FailureOr<SmallVector<Value>>
LowerLoop::getInitial(ir::LoopOp op, OpAdaptor adaptor, Emitter &e) const {
  Block &body = op.getBody().front();
  size_t numCarried = op.getVInitial().size();
  Value go = ir::isLeftOut(op.getCond())
                 ? Value(arith::ConstantIntOp::create(e, 1, 1))
                 : truthOf(e, adaptor.getCond());
  SmallVector<Value> initial = {e.index(0), go};
  for (size_t i = 0; i < numCarried; ++i) {
    Type type =
        getTypeConverter()->convertType(body.getArgument(i + 2).getType());
    if (!type || !isa<RankedTensorType>(type))
      return op.emitOpError("cannot be run: the rank of a value that its body "
                            "carries is unknown");
    initial.push_back(castSizes(e, adaptor.getVInitial()[i], type));
  }
  for (size_t i = numCarried; i < op.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult(i).getType()));
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = ShapedType::kDynamic;
    auto bufferType = RankedTensorType::get(shape, type.getElementType());
    SmallVector<Value> dynamic(bufferType.getNumDynamicDims(), e.index(0));
    initial.push_back(tensor::EmptyOp::create(e, bufferType, dynamic));
  }
  return initial;
}

/// The loop's results; of buffers the part that iterations have filled.
SmallVector<Value> LowerLoop::getResults(ir::LoopOp op, scf::WhileOp loop,
                                         Emitter &e) const {
  SmallVector<Value> results;
  for (size_t n = 0; n < op.getNumResults(); ++n) {
    Value value = loop.getResult(n + 2);
    if (n >= op.getVInitial().size()) {
      Sizes sizes = tensor::getMixedSizes(e, e.getLoc(), value);
      sizes[0] = loop.getResult(0);
      Sizes zeros(sizes.size(), e.getIndexAttr(0)),
          ones(sizes.size(), e.getIndexAttr(1));
      value = tensor::ExtractSliceOp::create(e, value, zeros, sizes, ones);
    }
    results.push_back(castSizes(
        e, value, getTypeConverter()->convertType(op.getResult(n).getType())));
  }
  return results;
}

LogicalResult LowerLoop::matchAndRewrite(ir::LoopOp op, OpAdaptor adaptor,
                                         Rewriter &rewriter) const {
  Emitter e(rewriter, op);
  Block &body = op.getBody().front();
  size_t numCarried = op.getVInitial().size();
  size_t numScans = op.getNumResults() - numCarried;
  Value trips = readTrips(op, adaptor.getM(), e);
  FailureOr<SmallVector<Value>> initial = getInitial(op, adaptor, e);
  if (failed(initial))
    return failure();
  SmallVector<Type> types(ValueRange(*initial).getTypes());
  auto loop = scf::WhileOp::create(e, types, *initial);
  SmallVector<Location> locs(types.size(), op.getLoc());
  Block *before = e.createBlock(&loop.getBefore(), {}, types, locs);
  Value more = arith::AndIOp::create(
      e, e.cmpIndex(arith::CmpIPredicate::slt, before->getArgument(0), trips),
      before->getArgument(1));
  scf::ConditionOp::create(e, more, before->getArguments());
  Block *after = e.createBlock(&loop.getAfter(), {}, types, locs);
  Value i = after->getArgument(0);
  if (auto most = op->getAttrOfType<IntegerAttr>(maxIterationsAttr))
    e.check(e.cmpIndex(arith::CmpIPredicate::slt, i, e.index(most.getInt())),
            "runs for more than " + Twine(most.getInt()) + " iterations");
  SmallVector<Value> arguments;
  auto argument = [&](unsigned index, Value stored) {
    arguments.push_back(toOnnx(e, stored, body.getArgument(index).getType()));
  };
  argument(0, oneInteger(e, i,
                         getTypeConverter()->convertType(
                             body.getArgument(0).getType())));
  argument(1, oneInteger(e, e.store({after->getArgument(1), e.getI1Type()}),
                         getTypeConverter()->convertType(
                             body.getArgument(1).getType())));
  for (size_t n = 0; n < numCarried; ++n)
    argument(n + 2, after->getArgument(n + 2));
  SmallVector<Value> yields = inlineBody(e, rewriter, body, arguments);
  SmallVector<Value> next = {e.addIndex(i, e.index(1)), truthOf(e, yields[0])};
  for (size_t n = 0; n < numCarried; ++n)
    next.push_back(castSizes(e, yields[n + 1], types[n + 2]));
  for (size_t n = 0; n < numScans; ++n) {
    Value element = yields[1 + numCarried + n];
    Value buffer = after->getArgument(2 + numCarried + n);
    checkSameSizes(e, element, buffer, i, 0);
    buffer = grow(e, buffer, element, i);
    next.push_back(placeAt(e, element, buffer, i, 0));
  }
  scf::YieldOp::create(e, next);
  e.setInsertionPointAfter(loop);
  rewriter.replaceOp(op, getResults(op, loop, e));
  return success();
}

struct LowerScan : SubgraphLowering<ir::ScanOp> {
  using SubgraphLowering::SubgraphLowering;
  LogicalResult matchAndRewrite(ir::ScanOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override;

private:
  /// A buffer of the element's sizes if they were open until the first element.
  static Value makeRoom(Emitter &e, Value buffer, Value element, Value i,
                        Value length, int64_t axis) {
    auto type = cast<RankedTensorType>(buffer.getType());
    int64_t open = type.getNumDynamicDims() - type.isDynamicDim(axis);
    if (open == 0)
      return buffer;
    Value first = e.cmpIndex(arith::CmpIPredicate::eq, i, e.index(0));
    return branch(
        e, first, type,
        [&]() {
          Sizes sizes = tensor::getMixedSizes(e, e.getLoc(), element);
          sizes.insert(sizes.begin() + axis, OpFoldResult(length));
          Value fresh =
              tensor::EmptyOp::create(e, sizes, type.getElementType());
          return SmallVector<Value>{castSizes(e, fresh, type)};
        },
        [&]() { return SmallVector<Value>{buffer}; })[0];
  }
  static int64_t entry(std::optional<ArrayAttr> list, size_t index) {
    if (!list || index >= list->size())
      return 0;
    return cast<IntegerAttr>((*list)[index]).getInt();
  }
  static int64_t axisOf(int64_t axis, int64_t rank) {
    return axis < 0 ? axis + rank : axis;
  }
  static Value getLength(Emitter &e, ValueRange inputs, ArrayRef<int64_t> axes);
  FailureOr<SmallVector<Value>> getInitial(ir::ScanOp op, ValueRange states,
                                           Value length,
                                           ArrayRef<int64_t> outAxes,
                                           Emitter &e) const;
  static Value getElement(Emitter &e, Value input, int64_t axis, Value at);
};

/// The length of all scan inputs, along their axes.
Value LowerScan::getLength(Emitter &e, ValueRange inputs,
                           ArrayRef<int64_t> axes) {
  Value length;
  for (auto [input, axis] : llvm::zip(inputs, axes)) {
    Value size = e.asValue(tensor::getMixedSize(e, e.getLoc(), input, axis));
    if (length)
      e.check(e.cmpIndex(arith::CmpIPredicate::eq, length, size),
              "scan inputs differ in length");
    else
      length = size;
  }
  return length;
}

/// What the loop carries at first: states, then buffers of scan outputs.
FailureOr<SmallVector<Value>>
LowerScan::getInitial(ir::ScanOp op, ValueRange states, Value length,
                      ArrayRef<int64_t> outAxes, Emitter &e) const {
  Block &body = op.getBody().front();
  SmallVector<Value> initial;
  for (auto [n, state] : llvm::enumerate(states)) {
    Type type = getTypeConverter()->convertType(body.getArgument(n).getType());
    if (!type || !isa<RankedTensorType>(type))
      return op.emitOpError("cannot be run: the rank of a state is unknown");
    initial.push_back(castSizes(e, state, type));
  }
  for (auto [n, axis] : llvm::enumerate(outAxes)) {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(
        op.getResult(states.size() + n).getType()));
    Sizes sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      // Dynamic sizes are known once the first element is there.
      sizes.push_back(d == axis ? OpFoldResult(length)
                      : type.isDynamicDim(d)
                          ? OpFoldResult(e.index(0))
                          : e.getIndexAttr(type.getDimSize(d)));
    }
    initial.push_back(tensor::EmptyOp::create(e, sizes, type.getElementType()));
  }
  return initial;
}

/// The slice of a scan input that an iteration reads.
Value LowerScan::getElement(Emitter &e, Value input, int64_t axis, Value at) {
  Sizes sizes = tensor::getMixedSizes(e, e.getLoc(), input);
  Sizes offsets(sizes.size(), e.getIndexAttr(0)),
      ones(sizes.size(), e.getIndexAttr(1));
  offsets[axis] = at;
  sizes[axis] = e.getIndexAttr(1);
  SmallVector<int64_t> shape;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (static_cast<int64_t>(d) != axis)
      shape.push_back(e.constant(sizes[d]).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(
      shape, cast<RankedTensorType>(input.getType()).getElementType());
  return tensor::ExtractSliceOp::create(e, type, input, offsets, sizes, ones);
}

LogicalResult LowerScan::matchAndRewrite(ir::ScanOp op, OpAdaptor adaptor,
                                         Rewriter &rewriter) const {
  Emitter e(rewriter, op);
  Block &body = op.getBody().front();
  size_t numScans = op.getNumScanInputs();
  size_t numStates = op.getNumOperands() - numScans;
  size_t numOutputs = op.getNumResults() - numStates;
  ValueRange operands = adaptor.getOperands();
  ValueRange inputs = operands.drop_front(numStates);
  SmallVector<int64_t> axes, outAxes;
  for (size_t n = 0; n < numScans; ++n)
    axes.push_back(
        axisOf(entry(op.getScanInputAxes(), n),
               cast<RankedTensorType>(inputs[n].getType()).getRank()));
  for (size_t n = 0; n < numOutputs; ++n) {
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult(numStates + n).getType()));
    outAxes.push_back(axisOf(entry(op.getScanOutputAxes(), n), type.getRank()));
  }
  Value length = getLength(e, inputs, axes);
  FailureOr<SmallVector<Value>> states =
      getInitial(op, operands.take_front(numStates), length, outAxes, e);
  if (failed(states))
    return failure();
  SmallVector<Value> initial = std::move(*states);
  // Values may change their sizes from one iteration to the next, which the
  // simplifications of scf.for don't expect.
  initial.insert(initial.begin(), e.index(0));
  SmallVector<Type> types(ValueRange(initial).getTypes());
  auto loop = scf::WhileOp::create(e, types, initial);
  SmallVector<Location> locs(types.size(), op.getLoc());
  Block *before = e.createBlock(&loop.getBefore(), {}, types, locs);
  Value more =
      e.cmpIndex(arith::CmpIPredicate::slt, before->getArgument(0), length);
  scf::ConditionOp::create(e, more, before->getArguments());
  Block *after = e.createBlock(&loop.getAfter(), {}, types, locs);
  Value i = after->getArgument(0);
  auto carried = [&](size_t n) { return after->getArgument(n + 1); };
  Value fromEnd = e.subIndex(e.subIndex(length, e.index(1)), i);
  SmallVector<Value> arguments;
  for (size_t n = 0; n < numStates; ++n)
    arguments.push_back(toOnnx(e, carried(n), body.getArgument(n).getType()));
  for (size_t n = 0; n < numScans; ++n) {
    Value at = entry(op.getScanInputDirections(), n) != 0 ? fromEnd : i;
    Value element = getElement(e, inputs[n], axes[n], at);
    arguments.push_back(
        toOnnx(e, element, body.getArgument(numStates + n).getType()));
  }
  SmallVector<Value> yields = inlineBody(e, rewriter, body, arguments);
  SmallVector<Value> next = {e.addIndex(i, e.index(1))};
  for (size_t n = 0; n < numStates; ++n)
    next.push_back(castSizes(e, yields[n], types[n + 1]));
  for (size_t n = 0; n < numOutputs; ++n) {
    Value at = entry(op.getScanOutputDirections(), n) != 0 ? fromEnd : i;
    Value element = yields[numStates + n];
    Value buffer = carried(numStates + n);
    checkSameSizes(e, element, buffer, i, outAxes[n]);
    buffer = makeRoom(e, buffer, element, i, length, outAxes[n]);
    next.push_back(placeAt(e, element, buffer, at, outAxes[n]));
  }
  scf::YieldOp::create(e, next);
  e.setInsertionPointAfter(loop);
  SmallVector<Value> results;
  for (auto [result, value] :
       llvm::zip(op.getResults(), loop.getResults().drop_front()))
    results.push_back(
        castSizes(e, value, getTypeConverter()->convertType(result.getType())));
  rewriter.replaceOp(op, results);
  return success();
}

} // namespace

void onnxquant::lowering::addControlFlowLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerIf, LowerLoop, LowerScan>(types, patterns.getContext());
}
