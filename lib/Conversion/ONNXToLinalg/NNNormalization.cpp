// Normalizations: over the batch, over groups of channels, over trailing axes,
// and by norms.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "NNSupport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

/// Checks that vectors have one element per channel, and brings them to the
/// shape in which they broadcast.
static SmallVector<Tensor> alignChannels(Emitter &e, Tensor x,
                                         ArrayRef<Tensor> vectors) {
  OpFoldResult channels = x.rank() > 1 ? e.size(x, 1) : e.getIndexAttr(1);
  SmallVector<Tensor> aligned;
  for (Tensor vector : vectors) {
    checkEqual(e, e.size(vector, 0), channels,
               "an operand does not have one element per channel");
    aligned.push_back(
        perChannel(e, vector, std::max<int64_t>(x.rank() - 2, 0)));
  }
  return aligned;
}

/// The type that the statistics of `stash_type` are computed in.
static Type getStashType(int64_t number, MLIRContext *context) {
  Type type = onnx::elementTypeFromOnnx(number, context);
  return accumulatorTypeFor(type ? type : Float32Type::get(context));
}

/// (x - mean) * factor [* scale] [+ bias], all of which broadcast.
static Tensor normalize(Emitter &e, Tensor x, Tensor mean, Tensor factor,
                        Tensor scale, Tensor bias, Type type, Type result) {
  SmallVector<Tensor> inputs = {x, mean, factor};
  for (Tensor tensor : {scale, bias})
    if (tensor)
      inputs.push_back(tensor);
  return e.map(inputs, e.sizes(x), result, [&](ArrayRef<Scalar> v) {
    auto at = [&](size_t i) { return e.cast(v[i], type); };
    Scalar y = e.mul(e.sub(at(0), at(1)), at(2));
    size_t next = 3;
    if (scale)
      y = e.mul(y, at(next++));
    if (bias)
      y = e.add(y, at(next));
    return e.cast(y, result);
  });
}

static Tensor invertRoots(Emitter &e, Tensor variance, double epsilon,
                          Type type) {
  return e.map({variance}, e.sizes(variance), type, [&](ArrayRef<Scalar> v) {
    return invertRoot(e, e.cast(v[0], type), epsilon);
  });
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

namespace {
/// Both spellings with given statistics: operands X, scale, B, mean, var.
Tensor normalizeBatch(Emitter &e, Operands operands, double epsilon,
                      Type result) {
  Tensor x = operands[0];
  Type type = accumulatorTypeFor(result);
  SmallVector<Tensor> vectors =
      alignChannels(e, x, {operands[1], operands[2], operands[3], operands[4]});
  Tensor factor =
      e.map({vectors[0], vectors[3]}, e.sizes(vectors[0]), type,
            [&](ArrayRef<Scalar> v) {
              return e.mul(e.cast(v[0], type),
                           invertRoot(e, e.cast(v[1], type), epsilon));
            });
  return normalize(e, x, vectors[2], factor, {}, vectors[1], type, result);
}

struct LowerBatchNormalization : OpLowering<onnx::BatchNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::BatchNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type result = resultType(op);
    double epsilon = op.getEpsilon().convertToDouble();
    if (op.getTrainingMode() == 0) {
      Tensor y = normalizeBatch(e, operands, epsilon, result);
      return SmallVector<Value>{y.value, Value(), Value()};
    }
    Type type = accumulatorTypeFor(result);
    Tensor x = castTo(e, operands[0], type);
    SmallVector<int64_t> axes = {0};
    axes.append(axesFrom(2, x.rank()));
    Statistics current = getStatistics(e, x, axes);
    SmallVector<Tensor> vectors =
        alignChannels(e, x, {operands[1], operands[2]});
    Tensor factor = invertRoots(e, current.variance, epsilon, type);
    Tensor y = normalize(e, x, current.mean, factor, vectors[0], vectors[1],
                         type, result);
    SmallVector<Value> results = {y.value};
    double momentum = op.getMomentum().convertToDouble();
    for (auto [number, tensor, before] :
         {std::tuple(1, current.mean, operands[3]),
          std::tuple(2, current.variance, operands[4])}) {
      if (isa<NoneType>(op->getResult(number).getType())) {
        results.push_back(Value());
        continue;
      }
      results.push_back(
          update(e, before, tensor, momentum, resultType(op, number)).value);
    }
    return results;
  }

  /// before * momentum + current * (1 - momentum), a vector.
  static Tensor update(Emitter &e, Tensor before, Tensor current,
                       double momentum, Type result) {
    Type type = accumulatorTypeFor(current.elementType);
    Tensor vector = e.reshape(current, e.sizes(before));
    return e.map(
        {before, vector}, e.sizes(before), result, [&](ArrayRef<Scalar> v) {
          Scalar old = e.mul(e.cast(v[0], type), e.number(momentum, type));
          Scalar now = e.mul(v[1], e.number(1 - momentum, type));
          return e.cast(e.add(old, now), result);
        });
  }
};

struct LowerBatchNormalizationInferenceMode
    : OpLowering<onnx::BatchNormalizationInferenceModeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::BatchNormalizationInferenceModeOp op, Operands operands,
                Emitter &e) const override {
    Tensor y = normalizeBatch(e, operands, op.getEpsilon().convertToDouble(),
                              resultType(op));
    return SmallVector<Value>{y.value};
  }
};

//===----------------------------------------------------------------------===//
// Channels and groups of them
//===----------------------------------------------------------------------===//

struct LowerInstanceNormalization : OpLowering<onnx::InstanceNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::InstanceNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type result = resultType(op), type = accumulatorTypeFor(result);
    Tensor x = castTo(e, operands[0], type);
    Statistics own = getStatistics(e, x, axesFrom(2, x.rank()));
    SmallVector<Tensor> vectors =
        alignChannels(e, x, {operands[1], operands[2]});
    Tensor factor =
        invertRoots(e, own.variance, op.getEpsilon().convertToDouble(), type);
    Tensor y =
        normalize(e, x, own.mean, factor, vectors[0], vectors[1], type, result);
    return SmallVector<Value>{y.value};
  }
};

struct LowerGroupNormalization : OpLowering<onnx::GroupNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GroupNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type result = resultType(op);
    Type type = getStashType(op.getStashType(), op.getContext());
    Tensor input = operands[0];
    OpFoldResult groups = e.getIndexAttr(op.getNumGroups());
    OpFoldResult channels = e.size(input, 1);
    OpFoldResult perGroup = e.floorDivSize(channels, groups);
    checkEqual(e, e.mulSize(perGroup, groups), channels,
               "the channels are not a multiple of num_groups");
    // [N, groups, channels of the group, spatial..]
    Tensor x = splitDim(e, castTo(e, input, type), 1, groups, perGroup);
    Statistics own = getStatistics(e, x, axesFrom(2, x.rank()));
    Tensor factor =
        invertRoots(e, own.variance, op.getEpsilon().convertToDouble(), type);
    SmallVector<Tensor> vectors;
    for (Tensor vector : {operands[1], operands[2]}) {
      checkEqual(e, e.size(vector, 0), channels,
                 "an operand does not have one element per channel");
      Tensor split = splitDim(e, vector, 0, groups, perGroup);
      for (int64_t i = 3; i < x.rank(); ++i)
        split =
            splitDim(e, split, i - 2, e.size(split, i - 2), e.getIndexAttr(1));
      vectors.push_back(split);
    }
    Tensor y =
        normalize(e, x, own.mean, factor, vectors[0], vectors[1], type, result);
    return SmallVector<Value>{mergeDims(e, y, 1, 2).value};
  }
};

struct LowerLRN : OpLowering<onnx::LRNOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::LRNOp op, Operands operands, Emitter &e) const override {
    Type result = resultType(op), type = accumulatorTypeFor(result);
    Tensor x = operands[0];
    int64_t size = op.getSize();
    Tensor sums = sumOfNeighbours(e, x, size, type);
    double alpha = op.getAlpha().convertToDouble() / static_cast<double>(size);
    Scalar factor = e.number(alpha, type);
    Scalar bias = e.number(op.getBias().convertToDouble(), type);
    Scalar beta = e.number(op.getBeta().convertToDouble(), type);
    Tensor y = e.map({x, sums}, e.sizes(x), result, [&](ArrayRef<Scalar> v) {
      Scalar base = e.add(bias, e.mul(factor, v[1]));
      Scalar power = {math::PowFOp::create(e, base.value, beta.value), type};
      return e.cast(e.div(e.cast(v[0], type), power), result);
    });
    return SmallVector<Value>{y.value};
  }

  /// The sum of the squares of `size` neighbouring channels.
  static Tensor sumOfNeighbours(Emitter &e, Tensor x, int64_t size, Type type) {
    int64_t rank = x.rank();
    Sizes sizes = e.sizes(x), padded = sizes;
    Sizes offsets(rank, e.getIndexAttr(0));
    offsets[1] = e.getIndexAttr((size - 1) / 2);
    padded[1] = e.addSize(sizes[1], e.getIndexAttr(size - 1));
    Scalar zero = e.number(0, type);
    Tensor room = e.filled(padded, zero);
    Tensor inside = writeOver(e, x, slice(e, room, offsets, sizes),
                              [&](Scalar v, ArrayRef<Value>) {
                                Scalar wide = e.cast(v, type);
                                return e.mul(wide, wide);
                              });
    Tensor squares = insertSlice(e, inside, room, offsets);
    // Loops: N, C, the neighbours, then the other dimensions.
    SmallVector<AffineExpr> from, to;
    for (int64_t i = 0; i < rank; ++i)
      to.push_back(e.getAffineDimExpr(i < 2 ? i : i + 1));
    AffineExpr neighbour = e.getAffineDimExpr(2);
    from = to;
    from[1] = to[1] + neighbour;
    SmallVector<AffineMap> maps = {
        AffineMap::get(rank + 1, 0, from, e.getContext()),
        AffineMap::get(rank + 1, 0, {neighbour}, e.getContext()),
        AffineMap::get(rank + 1, 0, to, e.getContext())};
    // Tells how many neighbours there are; its elements are never read.
    Tensor count = e.empty({e.getIndexAttr(size)}, type);
    return emitLoops(
        e, {squares, count}, e.filled(sizes, zero), maps,
        [&](ArrayRef<Scalar> v, Scalar sum) { return e.add(sum, v[0]); });
  }
};

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Checks that an operand broadcasts to `x`.
void checkScale(Emitter &e, Tensor scale, Tensor x) {
  Sizes own = e.sizes(scale), full = e.sizes(x);
  for (auto [size, whole] : llvm::zip(llvm::reverse(own), llvm::reverse(full)))
    checkBroadcast(e, size, whole);
}

struct LowerLayerNormalization : OpLowering<onnx::LayerNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::LayerNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type type = getStashType(op.getStashType(), op.getContext());
    Tensor x = castTo(e, operands[0], type);
    Tensor scale = operands[1], bias = operands[2];
    for (Tensor operand : {scale, bias})
      if (operand)
        checkScale(e, operand, x);
    int64_t axis = positiveAxis(op.getAxis(), x.rank());
    Statistics own = getStatistics(e, x, axesFrom(axis, x.rank()));
    Tensor factor =
        invertRoots(e, own.variance, op.getEpsilon().convertToDouble(), type);
    Tensor y =
        normalize(e, x, own.mean, factor, scale, bias, type, resultType(op));
    SmallVector<Value> results = {y.value};
    for (auto [number, tensor] :
         {std::pair(1, own.mean), std::pair(2, factor)}) {
      bool isLeftOut = isa<NoneType>(op->getResult(number).getType());
      results.push_back(isLeftOut
                            ? Value()
                            : castTo(e, tensor, resultType(op, number)).value);
    }
    return results;
  }
};

struct LowerRMSNormalization : OpLowering<onnx::RMSNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::RMSNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type type = getStashType(op.getStashType(), op.getContext());
    Type result = resultType(op);
    Tensor x = castTo(e, operands[0], type);
    checkScale(e, operands[1], x);
    int64_t axis = positiveAxis(op.getAxis(), x.rank());
    Tensor mean = getMeanSquare(e, x, axesFrom(axis, x.rank()));
    Tensor factor =
        invertRoots(e, mean, op.getEpsilon().convertToDouble(), type);
    Tensor y = e.map({x, factor, operands[1]}, e.sizes(x), result,
                     [&](ArrayRef<Scalar> v) {
                       Scalar scale = e.cast(v[2], type);
                       return e.cast(e.mul(e.mul(v[0], v[1]), scale), result);
                     });
    return SmallVector<Value>{y.value};
  }
};

struct LowerLpNormalization : OpLowering<onnx::LpNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::LpNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type result = resultType(op), type = accumulatorTypeFor(result);
    Tensor x = operands[0];
    int64_t axis = positiveAxis(op.getAxis(), x.rank());
    bool isSquare = op.getP() == 2;
    Scalar zero = e.number(0, type);
    Tensor sums =
        e.reduce(x, {axis}, /*keepDims=*/true, zero, [&](Scalar v, Scalar sum) {
          Scalar wide = e.cast(v, type);
          return e.add(sum, isSquare ? e.mul(wide, wide) : e.abs(wide));
        });
    Tensor y = e.map({x, sums}, e.sizes(x), result, [&](ArrayRef<Scalar> v) {
      Scalar norm = isSquare ? e.math<math::SqrtOp>(v[1]) : v[1];
      Scalar quotient = e.div(e.cast(v[0], type), norm);
      Value isZero = e.compare(Emitter::EQ, norm, zero);
      return e.cast(e.select(isZero, zero, quotient), result);
    });
    return SmallVector<Value>{y.value};
  }
};

struct LowerMeanVarianceNormalization
    : OpLowering<onnx::MeanVarianceNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MeanVarianceNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type result = resultType(op), type = accumulatorTypeFor(result);
    Tensor x = castTo(e, operands[0], type);
    SmallVector<int64_t> axes = onnx::window::getIntsOf(op, "axes", 0, 0);
    if (axes.empty())
      axes = {0, 2, 3};
    for (int64_t &axis : axes)
      axis = positiveAxis(axis, x.rank());
    llvm::sort(axes);
    Statistics own = getStatistics(e, x, axes);
    // A little more than the deviation, so that equal elements become zero.
    Tensor factor = e.map(
        {own.variance}, e.sizes(own.variance), type, [&](ArrayRef<Scalar> v) {
          return e.div(e.number(1, type),
                       e.add(e.math<math::SqrtOp>(v[0]), e.number(1e-9, type)));
        });
    Tensor y = normalize(e, x, own.mean, factor, {}, {}, type, result);
    return SmallVector<Value>{y.value};
  }
};
} // namespace

void onnxquant::lowering::addNormalizationLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerBatchNormalization, LowerBatchNormalizationInferenceMode,
               LowerInstanceNormalization, LowerGroupNormalization, LowerLRN,
               LowerLayerNormalization, LowerRMSNormalization,
               LowerLpNormalization, LowerMeanVarianceNormalization>(
      types, patterns.getContext());
}
