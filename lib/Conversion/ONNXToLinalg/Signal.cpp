// Windows and mel weights, and the list of the Signal family.
//
// All is computed in `f64` and rounded once, as these tensors are small.

#include "MathSupport.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// `a0 - a1 * cos(a) + a2 * cos(2 * a)`
struct WindowShape {
  double a0, a1, a2;
};

static WindowShape shapeOf(onnx::BlackmanWindowOp) { return {0.42, 0.5, 0.08}; }
static WindowShape shapeOf(onnx::HammingWindowOp) {
  return {25.0 / 46.0, 21.0 / 46.0, 0};
}
static WindowShape shapeOf(onnx::HannWindowOp) { return {0.5, 0.5, 0}; }

static Scalar windowAt(Emitter &e, WindowShape shape, Scalar angle) {
  Type f64 = angle.elementType;
  Scalar value =
      e.sub(e.number(shape.a0, f64),
            e.mul(e.number(shape.a1, f64), e.math<math::CosOp>(angle)));
  if (shape.a2 == 0)
    return value;
  Scalar twice = e.math<math::CosOp>(e.mul(e.number(2, f64), angle));
  return e.add(value, e.mul(e.number(shape.a2, f64), twice));
}

namespace {

template <typename OpTy> struct LowerWindow : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Type type = resultType(op), f64 = e.getF64Type();
    OpFoldResult size = readSize(e, op.getSize(), operands[0]);
    checkSize(e, size, "the size");
    OpFoldResult period =
        op.getPeriodic() ? size : e.subSize(size, e.getIndexAttr(1));
    Scalar length = indexToF64(e, e.asValue(period));
    Tensor window =
        e.generate(e.resultSizes(0, {size}), type, [&](ArrayRef<Value> at) {
          Scalar turn = e.mul(e.number(2 * M_PI, f64), indexToF64(e, at[0]));
          Scalar value = windowAt(e, shapeOf(op), e.div(turn, length));
          return castOnce(e, value, type);
        });
    return SmallVector<Value>{window.value};
  }
};

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

struct LowerMelWeightMatrix : OpLowering<onnx::MelWeightMatrixOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MelWeightMatrixOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    OpFoldResult bins = readSize(e, op.getNumMelBins(), operands[0]),
                 length = readSize(e, op.getDftLength(), operands[1]),
                 rate = readSize(e, op.getSampleRate(), operands[2]);
    checkSize(e, bins, "the number of mel bins");
    checkSize(e, length, "the length of the transform");
    checkPositive(e, rate, "the sample rate");
    Tensor edges = findEdges(e, bins, length, rate, readScalar(e, operands[3]),
                             readScalar(e, operands[4]));
    OpFoldResult rows =
        e.addSize(e.floorDivSize(length, e.getIndexAttr(2)), e.getIndexAttr(1));
    Tensor weights = e.generate(
        e.resultSizes(0, {rows, bins}), type, [&](ArrayRef<Value> at) {
          return castOnce(e, weightAt(e, edges, at[0], at[1]), type);
        });
    return SmallVector<Value>{weights.value};
  }

  /// The rows at which triangles begin, peak and end, `bins + 2` of them.
  static Tensor findEdges(Emitter &e, OpFoldResult bins, OpFoldResult length,
                          OpFoldResult rate, Scalar lowest, Scalar highest) {
    Type f64 = e.getF64Type();
    auto number = [&](double value) { return e.number(value, f64); };
    auto toMel = [&](Scalar hertz) {
      Scalar ratio = e.div(e.cast(hertz, f64), number(700));
      return e.mul(number(2595),
                   e.math<math::Log10Op>(e.add(number(1), ratio)));
    };
    OpFoldResult count = e.addSize(bins, e.getIndexAttr(2));
    Scalar low = toMel(lowest), high = toMel(highest);
    Scalar distance = e.div(e.sub(high, low), indexToF64(e, e.asValue(count)));
    Scalar rows =
        indexToF64(e, e.asValue(e.addSize(length, e.getIndexAttr(1))));
    Scalar perSecond = indexToF64(e, e.asValue(rate));
    return e.generate({count}, f64, [&](ArrayRef<Value> at) {
      Scalar mel = e.add(e.mul(indexToF64(e, at[0]), distance), low);
      Value power = math::PowFOp::create(e, number(10).value,
                                         e.div(mel, number(2595)).value);
      Scalar hertz = e.mul(number(700), e.sub({power, f64}, number(1)));
      return e.math<math::FloorOp>(e.div(e.mul(rows, hertz), perSecond));
    });
  }

  /// A triangle that rises from `begin` to 1 at `peak` and falls until `end`.
  static Scalar weightAt(Emitter &e, Tensor edges, Value row, Value column) {
    Type f64 = e.getF64Type();
    auto edge = [&](int64_t offset) {
      return e.read(edges, e.addIndex(column, e.index(offset)));
    };
    Scalar begin = edge(0), peak = edge(1), end = edge(2);
    Scalar at = indexToF64(e, row), zero = e.number(0, f64),
           one = e.number(1, f64);
    auto both = [&](Value a, Value b) -> Value {
      return arith::AndIOp::create(e, a, b);
    };
    Value rises = both(e.compare(Emitter::LE, begin, at),
                       e.compare(Emitter::LE, at, peak));
    Value falls =
        both(e.compare(Emitter::LE, peak, at), e.compare(Emitter::LT, at, end));
    Value isSteep = e.compare(Emitter::EQ, begin, peak);
    Scalar up =
        e.select(isSteep, one, e.div(e.sub(at, begin), e.sub(peak, begin)));
    Scalar down = e.div(e.sub(end, at), e.sub(end, peak));
    return e.select(falls, down, e.select(rises, up, zero));
  }
};

} // namespace

void onnxquant::lowering::addSignalLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerWindow<onnx::BlackmanWindowOp>,
               LowerWindow<onnx::HammingWindowOp>,
               LowerWindow<onnx::HannWindowOp>, LowerMelWeightMatrix>(
      types, patterns.getContext());
  addFourierLowerings(patterns, types);
}
