// DFT and STFT by one fast transform of any length, in `f64`.
//
// Lines of N complex numbers are transformed in passes, one per factor p of N.
// With n = m * p left to do and s = N / n done, a pass reads a line as
// x[p][m][s] and writes it as y[m][p][s]:
//   y[j][k][q] = sum over r of x[r][j][q] * w^(k * (r * m + j) * s),
// where w = exp(-2i * pi / N) comes from a table. The last pass leaves the
// spectrum in order. A length without small factors costs the square of its
// largest one. Factors are found at compile time if the length is known, else
// by a loop at run time.

#include "MathSupport.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// The transform
//===----------------------------------------------------------------------===//

/// `w^i` as a matrix that multiplies (real, imaginary): [N, 2, 2].
static Tensor powersOfRoot(Emitter &e, OpFoldResult length, bool inverse) {
  Type f64 = e.getF64Type();
  Sizes sizes = {length, e.getIndexAttr(2), e.getIndexAttr(2)};
  Scalar count = indexToF64(e, e.asValue(length));
  return e.generate(sizes, f64, [&](ArrayRef<Value> at) {
    Scalar turn = e.mul(e.number(inverse ? 2 * M_PI : -2 * M_PI, f64),
                        indexToF64(e, at[0]));
    Scalar angle = e.div(turn, count);
    Scalar cosine = e.math<math::CosOp>(angle),
           sine = e.math<math::SinOp>(angle);
    Value isDiagonal = e.cmpIndex(arith::CmpIPredicate::eq, at[1], at[2]);
    Value isLower = e.cmpIndex(arith::CmpIPredicate::ugt, at[1], at[2]);
    return e.select(isDiagonal, cosine, e.select(isLower, sine, e.neg(sine)));
  });
}

/// The pass for factor `p`; see above. Lines are [lines, N, 2].
static Tensor emitPass(Emitter &e, Tensor x, Tensor powers, OpFoldResult p,
                       OpFoldResult m, OpFoldResult s) {
  Type f64 = e.getF64Type();
  OpFoldResult lines = e.size(x, 0), length = e.size(x, 1),
               two = e.getIndexAttr(2);
  Value count = e.asValue(length);
  Value columns = e.asValue(m), stride = e.asValue(s);
  Value perFactor = e.mulIndex(columns, stride);
  Tensor y = e.generate({lines, m, p, s, two}, f64, [&](ArrayRef<Value> at) {
    Value line = at[0], j = at[1], k = at[2], q = at[3], part = at[4];
    // Both are below N, so that their sum needs no more than one subtraction.
    Value first = e.mulIndex(e.mulIndex(k, j), stride);
    Value step = e.mulIndex(k, perFactor);
    Value place = e.addIndex(e.mulIndex(j, stride), q);
    SmallVector<Value> sum = e.forEach(
        {p}, {e.number(0, f64).value, first, place},
        [&](ArrayRef<Value>, ValueRange carried) -> SmallVector<Value> {
          Scalar total{carried[0], f64};
          for (int64_t input : {0, 1})
            total = e.add(
                total,
                e.mul(e.read(x, {line, carried[2], e.index(input)}),
                      e.read(powers, {carried[1], part, e.index(input)})));
          Value next = e.addIndex(carried[1], step);
          Value wraps = e.cmpIndex(arith::CmpIPredicate::sge, next, count);
          next =
              arith::SelectOp::create(e, wraps, e.subIndex(next, count), next);
          return {total.value, next, e.addIndex(carried[2], perFactor)};
        });
    return Scalar{sum[0], f64};
  });
  return e.reshape(y, {lines, length, two});
}

/// The factor of the next pass: 4 if possible, else the smallest one.
static int64_t chooseFactor(int64_t n) {
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p <= n / p; ++p)
    if (n % p == 0)
      return p;
  return n;
}

static Value emitChooseFactor(Emitter &e, Value n) {
  Value zero = e.index(0), four = e.index(4);
  SmallVector<Value> start = {e.index(2)};
  auto search = scf::WhileOp::create(e, TypeRange(ValueRange(start)), start);
  {
    OpBuilder::InsertionGuard guard(e);
    Block *before =
        e.createBlock(&search.getBefore(), {}, e.getIndexType(), e.getLoc());
    Value p = before->getArgument(0);
    Value isSmall = e.cmpIndex(arith::CmpIPredicate::sle, e.mulIndex(p, p), n);
    Value leavesRest =
        e.cmpIndex(arith::CmpIPredicate::ne, e.remIndex(n, p), zero);
    scf::ConditionOp::create(e, arith::AndIOp::create(e, isSmall, leavesRest),
                             p);
    Block *after =
        e.createBlock(&search.getAfter(), {}, e.getIndexType(), e.getLoc());
    scf::YieldOp::create(
        e, ValueRange{e.addIndex(after->getArgument(0), e.index(1))});
  }
  Value p = search.getResult(0);
  Value isPrime = e.cmpIndex(arith::CmpIPredicate::sgt, e.mulIndex(p, p), n);
  p = arith::SelectOp::create(e, isPrime, n, p);
  Value isFourfold =
      e.cmpIndex(arith::CmpIPredicate::eq, e.remIndex(n, four), zero);
  return arith::SelectOp::create(e, isFourfold, four, p);
}

/// Passes for a length that is known at run time only.
static Tensor emitPassLoop(Emitter &e, Tensor x, Tensor powers, Value length) {
  SmallVector<Value> start = {x.value, length, e.index(1)};
  TypeRange types(ValueRange{start});
  SmallVector<Location> locs(3, e.getLoc());
  auto loop = scf::WhileOp::create(e, types, start);
  OpBuilder::InsertionGuard guard(e);
  Block *before = e.createBlock(&loop.getBefore(), {}, types, locs);
  Value more =
      e.cmpIndex(arith::CmpIPredicate::sgt, before->getArgument(1), e.index(1));
  scf::ConditionOp::create(e, more, before->getArguments());
  Block *after = e.createBlock(&loop.getAfter(), {}, types, locs);
  Value n = after->getArgument(1), s = after->getArgument(2);
  Value p = emitChooseFactor(e, n);
  Value m = e.floorDivIndex(n, p);
  Value y = emitPass(e, {after->getArgument(0), x.elementType}, powers, p, m, s)
                .value;
  if (y.getType() != x.value.getType())
    y = tensor::CastOp::create(e, x.value.getType(), y);
  scf::YieldOp::create(e, ValueRange{y, m, e.mulIndex(s, p)});
  return {loop.getResult(0), x.elementType};
}

/// Transforms lines [lines, N, 2] of `f64`; the inverse isn't divided by N.
static Tensor transform(Emitter &e, Tensor x, OpFoldResult length,
                        bool inverse) {
  Tensor powers = powersOfRoot(e, length, inverse);
  std::optional<int64_t> known = e.constant(length);
  if (!known)
    return emitPassLoop(e, x, powers, e.asValue(length));
  int64_t s = 1;
  for (int64_t n = *known; n > 1;) {
    int64_t p = chooseFactor(n);
    n /= p;
    x = emitPass(e, x, powers, e.getIndexAttr(p), e.getIndexAttr(n),
                 e.getIndexAttr(s));
    s *= p;
  }
  return x;
}

//===----------------------------------------------------------------------===//
// What both ops share
//===----------------------------------------------------------------------===//

/// The `f64` of `body` if `condition` holds, else 0.
static Scalar readIf(Emitter &e, Value condition,
                     llvm::function_ref<Scalar()> body) {
  Type f64 = e.getF64Type();
  auto branch = scf::IfOp::create(e, f64, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e, body().value);
  e.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e, e.number(0, f64).value);
  return {branch.getResult(0), f64};
}

static OpFoldResult countBins(Emitter &e, OpFoldResult length, bool onesided) {
  if (!onesided)
    return length;
  return e.addSize(e.floorDivSize(length, e.getIndexAttr(2)),
                   e.getIndexAttr(1));
}

/// Checks that the last dimension holds a real or a complex number.
static void checkParts(Emitter &e, OpFoldResult parts, bool onlyReal) {
  if (e.constant(parts) == 1 || (!onlyReal && e.constant(parts) == 2))
    return;
  Value size = e.asValue(parts);
  Value fits = e.cmpIndex(arith::CmpIPredicate::eq, size, e.index(1));
  if (!onlyReal)
    fits = e.createOrFold<arith::OrIOp>(
        fits, e.cmpIndex(arith::CmpIPredicate::eq, size, e.index(2)));
  e.check(fits, "the last dimension of the signal holds no number");
}

namespace {

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

/// The input as [outer, size, inner, parts] around the axis, and the sizes that
/// the result has but for the axis.
struct AxisView {
  OpFoldResult outer, size, inner;
  /// The axis, if it is known; else its value.
  std::optional<int64_t> axis;
  Value axisValue;

  /// `changed` at the axis, else the size of the input.
  Sizes resultSizes(Emitter &e, Tensor input, OpFoldResult changed) const {
    Sizes sizes = e.sizes(input);
    for (int64_t i = 0; i + 1 < input.rank(); ++i)
      sizes[i] = select(e, i, changed, sizes[i]);
    sizes.back() = e.getIndexAttr(2);
    return sizes;
  }

  OpFoldResult select(Emitter &e, int64_t dim, OpFoldResult atAxis,
                      OpFoldResult elsewhere) const {
    if (axis)
      return *axis == dim ? atAxis : elsewhere;
    Value isAxis =
        e.cmpIndex(arith::CmpIPredicate::eq, axisValue, e.index(dim));
    return e.createOrFold<arith::SelectOp>(isAxis, e.asValue(atAxis),
                                           e.asValue(elsewhere));
  }
};

struct LowerDFT : OpLowering<onnx::DFTOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DFTOp op, Operands operands, Emitter &e) const override {
    Tensor input = operands[0];
    std::optional<AxisView> view = getView(op, input, operands[2], e);
    if (!view)
      return refuse(op, "the axis is out of range");
    OpFoldResult length =
        operands[1] ? readSize(e, op.getDftLength(), operands[1]) : view->size;
    checkPositive(e, length, "the length of the transform");
    checkSize(e, length, "the length of the transform");
    OpFoldResult parts = e.size(input, input.rank() - 1);
    checkParts(e, parts, op.getOnesided());
    Tensor lines = makeLines(e, input, *view, length);
    Tensor spectrum = transform(e, lines, length, op.getInverse());
    OpFoldResult bins = countBins(e, length, op.getOnesided());
    Scalar scale = e.number(1, e.getF64Type());
    if (op.getInverse())
      scale = e.div(scale, indexToF64(e, e.asValue(length)));
    Tensor result = takeBins(e, spectrum, *view, bins, scale, resultType(op));
    Sizes sizes = e.resultSizes(0, view->resultSizes(e, input, bins));
    return SmallVector<Value>{e.reshape(result, sizes).value};
  }

  /// None if the axis is known and out of range.
  static std::optional<AxisView> getView(onnx::DFTOp op, Tensor input,
                                         Tensor axis, Emitter &e) {
    int64_t rank = input.rank();
    AxisView view;
    OpFoldResult position =
        axis ? readSize(e, op.getAxis(), axis) : e.getIndexAttr(rank - 2);
    view.axis = e.constant(position);
    if (view.axis) {
      if (*view.axis < 0)
        *view.axis += rank;
      if (*view.axis < 0 || *view.axis >= rank - 1)
        return std::nullopt;
    } else {
      view.axisValue = e.wrapIndex(e.asValue(position), e.index(rank));
      e.check(e.cmpIndex(arith::CmpIPredicate::ult, view.axisValue,
                         e.index(rank - 1)),
              "the axis is out of range");
    }
    OpFoldResult one = e.getIndexAttr(1);
    view.outer = view.size = view.inner = one;
    for (int64_t i = 0; i + 1 < rank; ++i) {
      OpFoldResult size = e.size(input, i);
      // At the axis, what came before turns out to be outside of it.
      view.outer = view.select(e, i, view.inner, view.outer);
      view.size = view.select(e, i, size, view.size);
      view.inner = view.select(e, i, one, e.mulSize(view.inner, size));
    }
    return view;
  }

  /// Lines of complex numbers, cut off or filled with zeros.
  static Tensor makeLines(Emitter &e, Tensor input, const AxisView &view,
                          OpFoldResult length) {
    Type f64 = e.getF64Type();
    OpFoldResult two = e.getIndexAttr(2),
                 parts = e.size(input, input.rank() - 1);
    Tensor x = e.reshape(input, {view.outer, view.size, view.inner, parts});
    Value size = e.asValue(view.size), partCount = e.asValue(parts);
    Sizes sizes = {view.outer, view.inner, length, two};
    Tensor lines = e.generate(sizes, f64, [&](ArrayRef<Value> at) {
      Value isGiven = arith::AndIOp::create(
          e, e.cmpIndex(arith::CmpIPredicate::slt, at[2], size),
          e.cmpIndex(arith::CmpIPredicate::slt, at[3], partCount));
      return readIf(e, isGiven, [&] {
        return e.cast(e.read(x, {at[0], at[2], at[1], at[3]}), f64);
      });
    });
    return e.reshape(lines, {e.mulSize(view.outer, view.inner), length, two});
  }

  /// The bins of every line as [outer, bins, inner, 2].
  static Tensor takeBins(Emitter &e, Tensor spectrum, const AxisView &view,
                         OpFoldResult bins, Scalar scale, Type type) {
    Value inner = e.asValue(view.inner);
    Sizes sizes = {view.outer, bins, view.inner, e.getIndexAttr(2)};
    return e.generate(sizes, type, [&](ArrayRef<Value> at) {
      Value line = e.addIndex(e.mulIndex(at[0], inner), at[2]);
      return castOnce(e, e.mul(e.read(spectrum, {line, at[1], at[3]}), scale),
                      type);
    });
  }
};

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

struct LowerSTFT : OpLowering<onnx::STFTOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::STFTOp op, Operands operands, Emitter &e) const override {
    Tensor signal = operands[0], window = operands[2];
    OpFoldResult samples = e.size(signal, 1);
    OpFoldResult step = readSize(e, op.getFrameStep(), operands[1]);
    OpFoldResult length = operands[3]
                              ? readSize(e, op.getFrameLength(), operands[3])
                          : window ? e.size(window, 0)
                                   : samples;
    checkPositive(e, step, "the step between frames");
    checkPositive(e, length, "the length of a frame");
    checkFrames(e, samples, window, length);
    OpFoldResult one = e.getIndexAttr(1), two = e.getIndexAttr(2);
    OpFoldResult frames =
        e.addSize(e.floorDivSize(e.subSize(samples, length), step), one);
    Tensor lines = makeFrames(e, signal, window, frames, length, step);
    Tensor spectrum = transform(e, lines, length, /*inverse=*/false);
    OpFoldResult bins = countBins(e, length, op.getOnesided());
    Value frameCount = e.asValue(frames);
    Type type = resultType(op);
    Tensor result = e.generate(
        e.resultSizes(0, {e.size(signal, 0), frames, bins, two}), type,
        [&](ArrayRef<Value> at) {
          Value line = e.addIndex(e.mulIndex(at[0], frameCount), at[1]);
          return castOnce(e, e.read(spectrum, {line, at[2], at[3]}), type);
        });
    return SmallVector<Value>{result.value};
  }

  static void checkFrames(Emitter &e, OpFoldResult samples, Tensor window,
                          OpFoldResult length) {
    Value size = e.asValue(length);
    e.check(e.cmpIndex(arith::CmpIPredicate::sge, e.asValue(samples), size),
            "the signal is shorter than a frame");
    if (window)
      e.check(e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(e.size(window, 0)),
                         size),
              "the window has another length than the frames");
  }

  /// The frames of all batches as lines of complex numbers.
  static Tensor makeFrames(Emitter &e, Tensor signal, Tensor window,
                           OpFoldResult frames, OpFoldResult length,
                           OpFoldResult step) {
    Type f64 = e.getF64Type();
    bool hasParts = signal.rank() == 3;
    OpFoldResult two = e.getIndexAttr(2), batch = e.size(signal, 0),
                 parts = hasParts ? e.size(signal, 2) : e.getIndexAttr(1);
    checkParts(e, parts, /*onlyReal=*/false);
    Value distance = e.asValue(step), partCount = e.asValue(parts);
    Sizes sizes = {batch, frames, length, two};
    Tensor lines = e.generate(sizes, f64, [&](ArrayRef<Value> at) {
      Value sample = e.addIndex(e.mulIndex(at[1], distance), at[2]);
      Value isGiven = e.cmpIndex(arith::CmpIPredicate::slt, at[3], partCount);
      return readIf(e, isGiven, [&] {
        Indices place = {at[0], sample};
        if (hasParts)
          place.push_back(at[3]);
        Scalar value = e.cast(e.read(signal, place), f64);
        return window ? e.mul(value, e.cast(e.read(window, at[2]), f64))
                      : value;
      });
    });
    return e.reshape(lines, {e.mulSize(batch, frames), length, two});
  }
};

} // namespace

void onnxquant::lowering::addFourierLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerDFT, LowerSTFT>(types, patterns.getContext());
}
