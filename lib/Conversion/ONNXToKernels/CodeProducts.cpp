// Products of floats with constant weights of four bits, MatMulNBits (also of
// eight) and MatMul and Gemm behind a DequantizeLinear, with scales per tensor,
// column or block. The codes stay that wide; the kernel makes weights of them:
//
//   C[m, n] = sum over k of A[m, k] * (code[k, n] - zero[k / block, n])
//                                   * scale[k / block, n]

#include "IntegerProduct.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace ms = onnxquant::onnx::microsoft;

namespace {
/// Weights [k, n]: (code - zero) * scale, codes and zeros of 0 to 15, or 255. A
/// scale and a zero per column and block of k.
struct Codes {
  int64_t k, n, block;
  std::vector<int8_t> codes, zeros;
  std::vector<float> scales;

  Codes(int64_t k, int64_t n, int64_t block)
      : k(k), n(n), block(block), codes(k * n, 0), zeros(getBlocks() * n, 0),
        scales(getBlocks() * n, 0) {}
  int64_t getBlocks() const { return llvm::divideCeil(k, block); }
};
} // namespace

static constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

static std::optional<SmallVector<int64_t>> readIntegers(Value value) {
  ElementsAttr elements = onnx::getConstant(value);
  return elements ? onnx::readInts(elements, noLimit) : std::nullopt;
}

static std::optional<SmallVector<double>> readNumbers(Value value) {
  ElementsAttr elements = onnx::getConstant(value);
  if (!elements || !elements.getElementType().isF32())
    return std::nullopt;
  return onnx::readFloats(elements, noLimit);
}

/// The product of `input` [.., K] with coded weights, plus an addend per
/// column or none, times alpha.
static Value makeProduct(ImplicitLocOpBuilder &b, Value input,
                         const Codes &codes, Value bias, float alpha) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i + 1 < rank; ++i)
    sizes.push_back(getSize(b, input, i));
  sizes.push_back(b.getIndexAttr(codes.n));
  Type f32 = b.getF32Type(), i8 = b.getI8Type();
  Value empty = makeEmpty(b, sizes, f32);
  Value weights =
      makeNumbers<int8_t>(b, {1, codes.k, codes.n}, i8, codes.codes, "weights");
  SmallVector<int64_t> shape = {codes.getBlocks(), codes.n};
  Value scales = makeNumbers<float>(b, shape, f32, codes.scales, "scales");
  Value zeros = makeNumbers<int8_t>(b, shape, i8, codes.zeros, "zeros");
  SmallVector<Value> epilogueOperands;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types = {f32};
  if (!isAbsent(bias)) {
    EpilogueOperand operand = perChannel(bias, rank);
    epilogueOperands.push_back(operand.value);
    maps.push_back(operand.map);
    types.push_back(f32);
  }
  ArrayRef<int64_t> none;
  auto contract = onnxq::ContractOp::create(
      b, TypeRange(empty.getType()), input, weights, scales, zeros, Value(),
      epilogueOperands, empty, none, none, none, none,
      b.getAffineMapArrayAttr(maps),
      /*batched=*/false, /*input_unsigned=*/false, /*weights_unsigned=*/false,
      onnxq::PackingAttr(), b.getI64IntegerAttr(codes.block));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&contract.getEpilogue(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  Value sum = block->getArgument(0);
  if (alpha != 1.0f)
    sum = arith::MulFOp::create(
        b, sum, arith::ConstantOp::create(b, b.getF32FloatAttr(alpha)));
  if (!epilogueOperands.empty())
    sum = arith::AddFOp::create(b, sum, block->getArgument(1));
  onnxq::YieldOp::create(b, sum);
  return contract.getResult(0);
}

/// Whether an operand is a float matrix, or several, of this many columns.
static bool isFloatRows(Value input, int64_t depth) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  return type && type.getElementType().isF32() && type.getRank() >= 2 &&
         type.getShape().back() == depth;
}

static bool isColumnVector(Value bias, int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  return type && type.getElementType().isF32() &&
         type.getShape() == ArrayRef<int64_t>(columns);
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// Codes of rows [N, blocks, block * bits / 8] and zero points
/// [N, ceil(blocks * bits / 8)], the first in the low bits.
static std::optional<Codes> readNBits(ms::MatMulNBitsOp op) {
  Codes codes(op.getK(), op.getN(), op.getBlockSize());
  int64_t bits = op.getBits(), perByte = 8 / bits;
  int64_t blocks = codes.getBlocks(),
          rowBytes = blocks * llvm::divideCeil(codes.block, perByte);
  int64_t zeroBytes = llvm::divideCeil(blocks, perByte);
  std::optional<RawElements> raw = readElements(op.getB());
  auto scales = readNumbers(op.getScales());
  bool hasZeros = !isAbsent(op.getZeroPoints());
  std::optional<RawElements> zeros;
  if (hasZeros)
    zeros = readElements(op.getZeroPoints());
  if (!raw || !scales ||
      static_cast<int64_t>(raw->bytes.size()) != codes.n * rowBytes ||
      static_cast<int64_t>(scales->size()) != codes.n * blocks ||
      (hasZeros &&
       (!zeros || !zeros->type.getElementType().isUnsignedInteger(8) ||
        static_cast<int64_t>(zeros->bytes.size()) != codes.n * zeroBytes)))
    return std::nullopt;
  int mask = (1 << bits) - 1;
  auto codeAt = [&](const std::vector<char> &bytes, int64_t row, int64_t i) {
    return static_cast<int8_t>(
        (static_cast<uint8_t>(bytes[row + i / perByte]) >>
         (i % perByte * bits)) &
        mask);
  };
  auto middle = static_cast<int8_t>(1 << (bits - 1));
  for (int64_t n = 0; n < codes.n; ++n) {
    for (int64_t k = 0; k < codes.k; ++k)
      codes.codes[k * codes.n + n] = codeAt(raw->bytes, n * rowBytes, k);
    for (int64_t i = 0; i < blocks; ++i) {
      codes.scales[i * codes.n + n] =
          static_cast<float>((*scales)[n * blocks + i]);
      codes.zeros[i * codes.n + n] =
          hasZeros ? codeAt(zeros->bytes, n * zeroBytes, i) : middle;
    }
  }
  return codes;
}

namespace {
struct MatMulNBitsToContract : OpRewritePattern<ms::MatMulNBitsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::MatMulNBitsOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained({2, 4, 8}, op.getBits()) ||
        op.getWeightPrepacked() != 0)
      return rewriter.notifyMatchFailure(
          op, "its weights don't have two, four or eight bits");
    if (!isAbsent(op.getGIdx()))
      return rewriter.notifyMatchFailure(op, "its blocks are reordered");
    if (!isFloatRows(op.getA(), op.getK()) || op.getN() < 2)
      return rewriter.notifyMatchFailure(op, "no kernel for its operands");
    if (!isAbsent(op.getBias()) && !isColumnVector(op.getBias(), op.getN()))
      return rewriter.notifyMatchFailure(op, "its bias is no vector");
    std::optional<Codes> codes = readNBits(op);
    if (!codes)
      return rewriter.notifyMatchFailure(
          op, "its weights, scales or zero points aren't constant integers");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value y = makeProduct(b, op.getA(), *codes, op.getBias(), /*alpha=*/1.0f);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// DequantizeLinear
//===----------------------------------------------------------------------===//

/// Codes behind a dequantizer of a matrix [K, N] or, transposed, [N, K].
static std::optional<Codes> readDequantized(Value weights, bool isTransposed) {
  auto op = weights.getDefiningOp<onnx::DequantizeLinearOp>();
  auto type =
      op ? dyn_cast<RankedTensorType>(op.getX().getType()) : RankedTensorType();
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(4) ||
      !type.hasStaticShape() ||
      !cast<ShapedType>(weights.getType()).getElementType().isF32())
    return std::nullopt;
  int64_t depthAxis = isTransposed ? 1 : 0, columnAxis = 1 - depthAxis;
  int64_t depth = type.getDimSize(depthAxis),
          columns = type.getDimSize(columnAxis);
  auto values = readIntegers(op.getX());
  auto scales = readNumbers(op.getXScale());
  if (!values || !scales || depth < 1 || columns < 2)
    return std::nullopt;
  SmallVector<int64_t> zeros(scales->size(), 0);
  if (!isAbsent(op.getXZeroPoint())) {
    auto known = readIntegers(op.getXZeroPoint());
    if (!known || known->size() != scales->size())
      return std::nullopt;
    zeros = *known;
  }
  // How a row and a column find their scale.
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + 2 : op.getAxis();
  int64_t block = depth, perBlock = 0, perColumn = 0;
  int64_t count = static_cast<int64_t>(scales->size());
  if (count > 1 && op.getBlockSize() != 0) {
    if (axis != depthAxis)
      return std::nullopt;
    block = std::min<int64_t>(op.getBlockSize(), depth);
    int64_t blocks = llvm::divideCeil(depth, block);
    perBlock = isTransposed ? 1 : columns;
    perColumn = isTransposed ? blocks : 1;
    if (count != blocks * columns)
      return std::nullopt;
  } else if (count > 1) {
    if (axis != columnAxis || count != columns)
      return std::nullopt;
    perColumn = 1;
  }
  // With a sign, codes and zeros are moved up by eight.
  int64_t offset = type.getElementType().isUnsignedInteger() ? 0 : 8;
  Codes codes(depth, columns, block);
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k)
      codes.codes[k * columns + n] = static_cast<int8_t>(
          (*values)[isTransposed ? n * depth + k : k * columns + n] + offset);
    for (int64_t i = 0; i < codes.getBlocks(); ++i) {
      int64_t at = i * perBlock + n * perColumn;
      codes.scales[i * columns + n] = static_cast<float>((*scales)[at]);
      codes.zeros[i * columns + n] = static_cast<int8_t>(zeros[at] + offset);
    }
  }
  return codes;
}

// Products of quantized activations are those of integers, if they can be.
namespace {
struct CodedMatMul : OpRewritePattern<onnx::MatMulOp> {
  CodedMatMul(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/0) {}
  LogicalResult matchAndRewrite(onnx::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Codes> codes = readDequantized(op.getB(), false);
    if (!codes || !isFloatRows(op.getA(), codes->k))
      return rewriter.notifyMatchFailure(op, "its weights aren't of four bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value y = makeProduct(b, op.getA(), *codes, /*bias=*/{}, /*alpha=*/1.0f);
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }
};

struct CodedGemm : OpRewritePattern<onnx::GemmOp> {
  CodedGemm(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/0) {}
  LogicalResult matchAndRewrite(onnx::GemmOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Codes> codes = readDequantized(op.getB(), op.getTransB());
    if (!codes || op.getTransA() != 0 || !isFloatRows(op.getA(), codes->k))
      return rewriter.notifyMatchFailure(op, "its weights aren't of four bits");
    bool hasBias = !isAbsent(op.getC());
    if (hasBias && (!isColumnVector(op.getC(), codes->n) ||
                    !op.getBeta().isExactlyValue(1.0)))
      return rewriter.notifyMatchFailure(op, "its addend is no plain vector");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value y = makeProduct(b, op.getA(), *codes, hasBias ? op.getC() : Value(),
                          op.getAlpha().convertToFloat());
    rewriter.replaceOp(op, castLike(b, op, y, op.getY()));
    return success();
  }
};
} // namespace

void kernels::addCodeProductPatterns(RewritePatternSet &patterns) {
  patterns.add<MatMulNBitsToContract, CodedMatMul, CodedGemm>(
      patterns.getContext());
}
