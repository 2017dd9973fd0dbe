// Quantized matrix products of com.microsoft whose results are real numbers or
// quantized ones: QGemm, DynamicQuantizeMatMul, MatMulIntegerToFloat and
// MatMulNBits.

#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

namespace {
struct LowerQGemm : OpLowering<ms::QGemmOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QGemmOp op, Operands operands, Emitter &e) const override {
    Type i32 = e.getI32Type(), f32 = e.getF32Type(), type = resultType(op);
    Tensor a = operands[0], b = operands[3], c = operands[6];
    if (op.getTransA() != 0)
      a = e.transpose(a, {1, 0});
    if (op.getTransB() != 0)
      b = e.transpose(b, {1, 0});
    Tensor sums = matmul(e, a, b, i32, minusZero(e, a, operands[2], 0, i32),
                         minusZero(e, b, operands[5], 1, i32));
    if (c)
      sums = addBias(e, sums, c);

    // alpha * a_scale * b_scale, and / y_scale.
    Scalar alpha = e.number(op.getAlpha().convertToFloat(), f32);
    Scalar aScale = e.mul(alpha, onlyReal(e, operands[1]));
    Scalar yScale = operands[7] ? onlyReal(e, operands[7]) : Scalar{};
    Tensor multiplier = e.map(
        {operands[4]}, e.sizes(operands[4]), f32, [&](ArrayRef<Scalar> s) {
          Scalar product = e.mul(aScale, s[0]);
          return yScale.value ? e.div(product, yScale) : product;
        });
    Scalar zero = onlyElement(e, operands[8]);
    Tensor y = e.map(
        {sums, multiplier}, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
          Scalar real = e.mul(e.cast(in[0], f32), in[1]);
          return isFloat(type) ? real : roundAndClamp(e, real, zero, type);
        });
    return SmallVector<Value>{y.value};
  }

  /// Adds a bias that broadcasts, and nothing else does.
  static Tensor addBias(Emitter &e, Tensor sums, Tensor bias) {
    Sizes sizes = e.sizes(sums);
    Sizes all = e.broadcastSizes({sums, bias});
    for (auto [size, expected] : llvm::zip(all, sizes))
      checkEqual(e, size, expected, "the bias doesn't fit the product");
    return e.map({sums, bias}, sizes, sums.elementType,
                 [&](ArrayRef<Scalar> in) { return e.add(in[0], in[1]); });
  }
};
} // namespace

/// scale * sums + bias in the result's type; scale and bias broadcast.
static Tensor scaleAndAdd(Emitter &e, Tensor sums, Tensor scale, Tensor bias,
                          Type type) {
  Type real = scale.elementType;
  SmallVector<Tensor> inputs = {sums, scale};
  if (bias)
    inputs.push_back(bias);
  return e.map(inputs, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
    Scalar y = e.mul(e.cast(in[0], real), in[1]);
    if (in.size() > 2)
      y = e.add(y, e.cast(in[2], real));
    return e.cast(y, type);
  });
}

/// A parameter per column of the last dimension of `sums` fits it.
static void checkColumns(Emitter &e, Tensor parameter, Tensor sums,
                         const Twine &message) {
  if (parameter && parameter.rank() > 0 && sums.rank() > 0)
    checkEqual(e, e.size(parameter, parameter.rank() - 1),
               e.size(sums, sums.rank() - 1), message);
}

namespace {
struct LowerDynamicQuantizeMatMul : OpLowering<ms::DynamicQuantizeMatMulOp> {
  using OpLowering::OpLowering;
  Results lower(ms::DynamicQuantizeMatMulOp op, Operands operands,
                Emitter &e) const override {
    Type i32 = e.getI32Type(), f32 = e.getF32Type();
    Tensor a = operands[0], b = operands[1];
    Quantizer found = dynamicQuantizer(e, a);
    Tensor sums = matmul(e, a, b, i32, quantized(found),
                         minusZero(e, b, operands[3], b.rank() - 1, i32));
    checkColumns(e, operands[4], sums, "the bias doesn't fit the product");
    Tensor bScale = alongColumns(e, operands[2], a.rank(), b.rank());
    Tensor scale =
        e.map({bScale}, e.sizes(bScale), f32,
              [&](ArrayRef<Scalar> s) { return e.mul(found.scale, s[0]); });
    Tensor y = scaleAndAdd(e, sums, scale, operands[4], resultType(op));
    return SmallVector<Value>{y.value};
  }
};

struct LowerMatMulIntegerToFloat : OpLowering<ms::MatMulIntegerToFloatOp> {
  using OpLowering::OpLowering;
  Results lower(ms::MatMulIntegerToFloatOp op, Operands operands,
                Emitter &e) const override {
    Type i32 = e.getI32Type();
    Tensor a = operands[0], b = operands[1];
    int64_t row = std::max<int64_t>(a.rank() - 2, 0);
    Tensor sums = matmul(e, a, b, i32, minusZero(e, a, operands[4], row, i32),
                         minusZero(e, b, operands[5], b.rank() - 1, i32));
    checkColumns(e, operands[6], sums, "the bias doesn't fit the product");
    Tensor scale =
        scaleProduct(e, alongRows(e, operands[2], a.rank(), b.rank()),
                     alongColumns(e, operands[3], a.rank(), b.rank()));
    Tensor y = scaleAndAdd(e, sums, scale, operands[6], resultType(op));
    return SmallVector<Value>{y.value};
  }
};

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// Rows of codes of `bits` bits, packed from the low bits of bytes up.
struct PackedCodes {
  Tensor bytes;
  int64_t bits;
  int64_t bytesPerRow;

  /// Code number `position` of the row that `row` indexes, as `i32`.
  Value get(Emitter &e, ArrayRef<Value> row, Value position) const {
    Value first = e.mulIndex(position, e.index(bits));
    Value byte = e.floorDivIndex(first, e.index(8));
    Value code = read(e, row, byte);
    Value shift = e.remIndex(first, e.index(8));
    // Codes of other widths lie across two bytes.
    if (8 % bits != 0) {
      Value next =
          e.minIndex(e.addIndex(byte, e.index(1)), e.index(bytesPerRow - 1));
      Value upper = arith::ShLIOp::create(e, read(e, row, next),
                                          e.integer(8, e.getI32Type()).value);
      code = arith::OrIOp::create(e, code, upper);
    }
    Value amount = arith::IndexCastOp::create(e, e.getI32Type(), shift);
    code = arith::ShRUIOp::create(e, code, amount);
    Value mask = e.integer((1 << bits) - 1, e.getI32Type()).value;
    return arith::AndIOp::create(e, code, mask);
  }

private:
  Value read(Emitter &e, ArrayRef<Value> row, Value byte) const {
    Indices indices(row.begin(), row.end());
    indices.push_back(byte);
    return e.cast(e.read(bytes, indices), e.getI32Type()).value;
  }
};

struct LowerMatMulNBits : OpLowering<ms::MatMulNBitsOp> {
  using OpLowering::OpLowering;
  Results lower(ms::MatMulNBitsOp op, Operands operands,
                Emitter &e) const override {
    if (op.getWeightPrepacked() != 0)
      return refuse(op, "a prepacked weight has a layout that isn't known");
    if (!operands[1].elementType.isUnsignedInteger(8))
      return refuse(op, "expects a weight packed in ui8");
    if (operands[3] && !isFloat(operands[3].elementType) &&
        !operands[3].elementType.isUnsignedInteger(8))
      return refuse(op, "expects zero points that are float or packed in ui8");

    Tensor a = operands[0];
    Type real = accumulatorTypeFor(a.elementType);
    Tensor y = matmul(e, a, dequantizedWeight(op, operands, e, real), real);
    Type type = resultType(op);
    if (Tensor bias = operands[5])
      y = e.map({y, bias}, e.sizes(y), type, [&](ArrayRef<Scalar> in) {
        return e.cast(e.add(in[0], e.cast(in[1], real)), type);
      });
    return SmallVector<Value>{castTo(e, y, type).value};
  }

  /// The weight as a [K, N] matrix of real numbers.
  static Tensor dequantizedWeight(ms::MatMulNBitsOp op, Operands operands,
                                  Emitter &e, Type real) {
    int64_t rows = op.getN(), columns = op.getK(), bits = op.getBits();
    int64_t blockSize = op.getBlockSize();
    int64_t blocks = (columns + blockSize - 1) / blockSize;
    OpFoldResult n = e.getIndexAttr(rows), count = e.getIndexAttr(blocks);
    int64_t blockBytes = blockSize * bits / 8;
    int64_t zeroBytes = (blocks * bits + 7) / 8;
    Tensor bytes = checked(e, operands[1], {rows, blocks, blockBytes});
    Tensor scales = checked(e, operands[2], {rows, blocks});
    PackedCodes weight = {bytes, bits, blockBytes};
    Tensor zeros = operands[3], groups = operands[4];
    bool isPacked = zeros && !isFloat(zeros.elementType);
    if (zeros)
      zeros = checked(e, zeros, {rows, isPacked ? zeroBytes : blocks});
    PackedCodes zeroCodes = {zeros, bits, zeroBytes};
    if (groups)
      checkGroups(e, groups, columns, blocks);

    Type i32 = e.getI32Type();
    return e.generate(
        {e.getIndexAttr(columns), n}, real, [&](ArrayRef<Value> indices) {
          Value k = indices[0], row = indices[1], size = e.index(blockSize);
          Value block = e.floorDivIndex(k, size);
          Scalar code = {weight.get(e, {row, block}, e.remIndex(k, size)), i32};
          Value group = groups ? e.readIndex(groups, {k}) : block;
          Scalar zero = e.integer(int64_t(1) << (bits - 1), i32);
          if (isPacked)
            zero = {zeroCodes.get(e, {row}, group), i32};
          Scalar value = zeros && !isPacked
                             ? e.sub(e.cast(code, real),
                                     e.cast(e.read(zeros, {row, group}), real))
                             : e.cast(e.sub(code, zero), real);
          return e.mul(value, e.cast(e.read(scales, {row, group}), real));
        });
  }

  /// A tensor in the shape that its number of elements allows.
  static Tensor checked(Emitter &e, Tensor tensor, ArrayRef<int64_t> shape) {
    Sizes sizes;
    int64_t count = 1;
    for (int64_t dim : shape) {
      sizes.push_back(e.getIndexAttr(dim));
      count *= dim;
    }
    checkEqual(e, e.productOf(e.sizes(tensor)), e.getIndexAttr(count),
               "a packed operand has another size than the weight");
    return e.reshape(tensor, sizes);
  }

  /// Every column belongs to a block.
  static void checkGroups(Emitter &e, Tensor groups, int64_t columns,
                          int64_t blocks) {
    Type i32 = e.getI32Type();
    checkAtLeast(e, e.size(groups, 0), e.getIndexAttr(columns),
                 "g_idx has fewer elements than the weight has columns");
    Tensor least =
        e.reduce(groups, {0}, false, e.integer(0, i32),
                 [&](Scalar g, Scalar acc) { return e.min(g, acc); });
    Tensor most = e.reduce(groups, {0}, false, e.integer(0, i32),
                           [&](Scalar g, Scalar acc) { return e.max(g, acc); });
    Value fits = arith::AndIOp::create(
        e, e.compare(Emitter::GE, e.read(least, {}), e.integer(0, i32)),
        e.compare(Emitter::LT, e.read(most, {}), e.integer(blocks, i32)));
    e.check(fits, "g_idx names a block that isn't there");
  }
};
} // namespace

void onnxquant::lowering::addMicrosoftProducts(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerQGemm, LowerDynamicQuantizeMatMul,
               LowerMatMulIntegerToFloat, LowerMatMulNBits>(
      types, patterns.getContext());
}
