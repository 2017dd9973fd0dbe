// Products of matrices and sums of products over labelled axes.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {
struct LowerMatMul : OpLowering<onnx::MatMulOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MatMulOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor y = matmul(e, operands[0], operands[1], accumulatorTypeFor(type));
    return SmallVector<Value>{castTo(e, y, type).value};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

/// A number times a factor. Integers are multiplied as f64, unless the factor
/// is one.
static Scalar scaled(Emitter &e, Scalar x, double factor) {
  if (factor == 1.0)
    return x;
  if (isFloat(x.elementType))
    return e.mul(x, e.number(factor, x.elementType));
  Type f64 = e.getF64Type();
  return e.cast(e.mul(e.cast(x, f64), e.number(factor, f64)), x.elementType);
}

namespace {
struct LowerGemm : OpLowering<onnx::GemmOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GemmOp op, Operands operands, Emitter &e) const override {
    Type type = resultType(op), sumType = accumulatorTypeFor(type);
    Tensor a = loaded(e, operands[0], sumType);
    Tensor b = loaded(e, operands[1], sumType), c = operands[2];
    if (op.getTransA())
      a = e.transpose(a, {1, 0});
    Tensor product =
        op.getTransB() ? multiplyTransposed(e, a, b) : matmul(e, a, b, sumType);
    double alpha = op.getAlpha().convertToDouble();
    double beta = op.getBeta().convertToDouble();
    Sizes sizes = e.sizes(product);
    SmallVector<Tensor> inputs = {product};
    if (c) {
      inputs.push_back(c);
      Sizes shape = e.sizes(c);
      for (auto [size, full] :
           llvm::zip(llvm::reverse(shape), llvm::reverse(sizes)))
        checkBroadcast(e, size, full);
    }
    if (!c && alpha == 1.0)
      return SmallVector<Value>{castTo(e, product, type).value};
    Tensor y = e.map(inputs, sizes, type, [&](ArrayRef<Scalar> x) {
      Scalar sum = scaled(e, x[0], alpha);
      if (c)
        sum = e.add(sum, scaled(e, e.cast(x[1], sumType), beta));
      return e.cast(sum, type);
    });
    return SmallVector<Value>{y.value};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// An Einsum on its way to one nest of loops.
struct EinsumNest {
  Emitter &e;
  onnx::EinsumLoops loops;
  /// The length of every loop, and where it stands in the nest.
  Sizes lengths;
  SmallVector<unsigned> position;

  void measure(ArrayRef<Tensor> inputs);
  void order();
  Tensor align(Tensor input, ArrayRef<unsigned> axes);
  AffineMap getMap(ArrayRef<unsigned> axes, ArrayRef<int64_t> shape);
};
} // namespace

void EinsumNest::measure(ArrayRef<Tensor> inputs) {
  lengths.assign(loops.numLoops, e.getIndexAttr(1));
  for (auto [input, axes] : llvm::zip(inputs, loops.operands))
    for (auto [loop, size] : llvm::zip(axes, e.sizes(input)))
      lengths[loop] = broadcastSize(e, lengths[loop], size);
}

/// Sums stand outside the output's last axis, which runs innermost.
void EinsumNest::order() {
  position.resize(loops.numLoops);
  unsigned next = 0;
  ArrayRef<unsigned> output = loops.output;
  unsigned last = output.empty() ? loops.numLoops : output.back();
  for (unsigned loop : output)
    if (loop != last)
      position[loop] = next++;
  for (unsigned loop = 0; loop < loops.numLoops; ++loop)
    if (!llvm::is_contained(output, loop))
      position[loop] = next++;
  if (last < loops.numLoops)
    position[last] = next++;
}

/// The operand with every axis as long as its loop or known to be one.
Tensor EinsumNest::align(Tensor input, ArrayRef<unsigned> axes) {
  Sizes own = e.sizes(input), full;
  bool isOpen = false;
  for (auto [loop, size] : llvm::zip(axes, own)) {
    std::optional<int64_t> known = e.constant(size);
    bool isSame = known && (known == 1 || known == e.constant(lengths[loop]));
    full.push_back(known == 1 ? size : lengths[loop]);
    isOpen |= !isSame;
  }
  // One operand's dynamic axes have no other size to be broadcast to, unless
  // two of them run together.
  if (loops.operands.size() == 1 &&
      llvm::SmallDenseSet<unsigned>(axes.begin(), axes.end()).size() ==
          axes.size())
    return input;
  if (!isOpen)
    return input;
  return e.map({input}, full, input.elementType,
               [](ArrayRef<Scalar> x) { return x[0]; });
}

AffineMap EinsumNest::getMap(ArrayRef<unsigned> axes, ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> exprs;
  for (auto [i, loop] : llvm::enumerate(axes)) {
    bool isOne =
        !shape.empty() && shape[i] == 1 && e.constant(lengths[loop]) != 1;
    exprs.push_back(isOne ? e.getAffineConstantExpr(0)
                          : e.getAffineDimExpr(position[loop]));
  }
  return AffineMap::get(loops.numLoops, 0, exprs, e.getContext());
}

namespace {
struct LowerEinsum : OpLowering<onnx::EinsumOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::EinsumOp op, Operands operands,
                Emitter &e) const override {
    std::string error;
    FailureOr<onnx::EinsumEquation> equation =
        onnx::EinsumEquation::parse(op.getEquation(), error);
    if (failed(equation))
      return refuse(op, error);
    SmallVector<int64_t> ranks;
    for (Tensor input : operands)
      ranks.push_back(input.rank());
    FailureOr<onnx::EinsumLoops> loops = equation->resolve(ranks);
    if (failed(loops))
      return refuse(op, "the equation does not fit the operands' ranks");

    Type type = resultType(op), sumType = accumulatorTypeFor(type);
    EinsumNest nest{e, *loops, {}, {}};
    nest.measure(operands.all());
    nest.order();
    SmallVector<Tensor> inputs;
    SmallVector<AffineMap> maps;
    for (auto [operand, axes] : llvm::zip(operands, loops->operands)) {
      inputs.push_back(nest.align(operand, axes));
      maps.push_back(nest.getMap(axes, inputs.back().shape()));
    }
    Sizes sizes;
    for (unsigned loop : loops->output)
      sizes.push_back(nest.lengths[loop]);
    maps.push_back(nest.getMap(loops->output, {}));
    Tensor y = emitLoops(e, inputs, e.filled(sizes, e.integer(0, sumType)),
                         maps, [&](ArrayRef<Scalar> x, Scalar sum) {
                           Scalar product = e.cast(x[0], sumType);
                           for (Scalar factor : x.drop_front())
                             product = e.mul(product, e.cast(factor, sumType));
                           return e.add(sum, product);
                         });
    return SmallVector<Value>{castTo(e, y, type).value};
  }
};
} // namespace

void onnxquant::lowering::addContractionLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerMatMul, LowerGemm, LowerEinsum>(types,
                                                    patterns.getContext());
  addConvLowerings(patterns, types);
  addAttentionLowerings(patterns, types);
  addDetLowerings(patterns, types);
}
