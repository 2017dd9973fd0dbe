// Verifiers and shape rules of the fused float ops of the com.microsoft domain.

#include "MicrosoftCommon.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include <algorithm>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;
using namespace onnxquant::onnx::microsoft;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult microsoft::BiasGeluOp::verify() {
  return verifyVector(*this, {{getB(), "B"}}, getDim(getA(), -1), 1);
}

LogicalResult microsoft::FastGeluOp::verify() {
  return verifyVector(*this, {{getBias(), "bias"}}, getDim(getX(), -1), 1);
}

LogicalResult microsoft::SkipLayerNormalizationOp::verify() {
  std::optional<ArrayRef<int64_t>> shape = getShape(getInput());
  if (shape && shape->empty())
    return emitOpError("expects input of rank 1 or more, but got rank 0 (C2)");
  return verifyVector(
      *this, {{getGamma(), "gamma"}, {getBeta(), "beta"}, {getBias(), "bias"}},
      getDim(getInput(), -1), 1);
}

LogicalResult
microsoft::SkipLayerNormalizationOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type type = getElementType(getInput());
  std::optional<Dims> dims = ctx.getDims(getInput()), saved = dims;
  if (saved && !saved->empty())
    saved->back() = Dim(1);
  Type f32 = Float32Type::get(getContext());
  if (failed(ctx.set(op->getResult(0), type, dims)) ||
      failed(ctx.set(op->getResult(1), f32, saved)) ||
      failed(ctx.set(op->getResult(2), f32, saved)))
    return failure();
  return ctx.set(op->getResult(3), type, dims);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult microsoft::FusedConvOp::verify() {
  return window::verifyConv(*this, getX(), getW(), getB(), 1);
}

LogicalResult microsoft::FusedConvOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  FailureOr<std::optional<Dims>> dims =
      window::inferConvDims(ctx, op, getX(), getW());
  if (failed(dims))
    return failure();
  return ctx.set(op->getResult(0), getElementType(getX()), *dims);
}

static Gemm getGemm(microsoft::FusedGemmOp op) {
  return {op.getA(), op.getB(), op.getTransA() != 0, op.getTransB() != 0};
}

LogicalResult microsoft::FusedGemmOp::verify() {
  if (failed(verifyGemm(*this, getGemm(*this), 1)))
    return failure();
  return verifyGemmBias(*this, getGemm(*this), {getC(), "C"}, 2);
}

LogicalResult microsoft::FusedGemmOp::inferShapes(ShapeContext &ctx) {
  return inferGemm(ctx, *this, getGemm(*this), getElementType(getA()));
}

LogicalResult microsoft::FusedMatMulOp::verify() {
  for (Named matrix : {Named{getA(), "A"}, Named{getB(), "B"}})
    if (auto shape = getShape(matrix.value))
      if (shape->empty())
        return emitOpError("expects ")
               << matrix.name << " of rank 1 or more, but got rank 0 (C1)";
  return success();
}

/// The dimensions of an operand after its transpositions.
static std::optional<Dims> getTransposed(std::optional<Dims> dims,
                                         bool transBatch, bool trans) {
  if (!dims || dims->size() < 2)
    return dims;
  if (transBatch)
    std::rotate(dims->begin(), dims->begin() + 1, dims->end() - 1);
  if (trans)
    std::swap((*dims)[dims->size() - 2], dims->back());
  return dims;
}

LogicalResult microsoft::FusedMatMulOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  FailureOr<std::optional<Dims>> dims =
      inferMatMulDims(ctx, op,
                      getTransposed(ctx.getDims(getA()), getTransBatchA() != 0,
                                    getTransA() != 0),
                      getTransposed(ctx.getDims(getB()), getTransBatchB() != 0,
                                    getTransB() != 0));
  if (failed(dims))
    return failure();
  return ctx.set(op->getResult(0), getElementType(getA()), *dims);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Attention getAttention(microsoft::AttentionOp op) {
  return {{op.getInput(), "input"},
          {op.getWeights(), "weights"},
          {op.getBias(), "bias"},
          op.getPast(),
          static_cast<int64_t>(op.getNumHeads()),
          shape::getInts(op.getQkvHiddenSizes()),
          op.getPastPresentShareBuffer().value_or(0) != 0};
}

/// Checks the widths of queries, keys and values against the weight's columns.
static LogicalResult verifyWidths(microsoft::AttentionOp op, int64_t columns) {
  if (!op.getQkvHiddenSizes()) {
    if (ShapedType::isDynamic(columns) || columns % 3 == 0)
      return success();
    return op.emitOpError("expects weights with a multiple of 3 columns, but "
                          "got ")
           << columns << " (C4)";
  }
  SmallVector<int64_t> sizes = shape::getInts(op.getQkvHiddenSizes());
  Dim sum(0);
  for (int64_t size : sizes)
    sum = sum + Dim(size);
  bool fits = sizes.size() == 3 &&
              llvm::all_of(sizes, [](int64_t size) { return size > 0; }) &&
              sum.isConstant() &&
              (ShapedType::isDynamic(columns) || sum.isConstant(columns));
  if (fits)
    return success();
  return op.emitOpError("expects qkv_hidden_sizes to be three positive sizes "
                        "that add up to ")
         << toString(columns) << ", but got " << *op.getQkvHiddenSizes()
         << " (C4)";
}

LogicalResult microsoft::AttentionOp::verify() {
  if (static_cast<int64_t>(getNumHeads()) < 1)
    return emitOpError("expects num_heads to be positive, but got ")
           << static_cast<int64_t>(getNumHeads()) << " (C1)";
  int64_t columns = getDim(getWeights(), 1);
  if (failed(verifyProjection(*this, getAttention(*this), 2)) ||
      failed(verifyVector(*this, {{getBias(), "bias"}}, columns, 3)) ||
      failed(verifyWidths(*this, columns)))
    return failure();
  return verifyPast(*this, getPast(), 5);
}

LogicalResult microsoft::AttentionOp::inferShapes(ShapeContext &ctx) {
  return inferAttention(ctx, *this, getAttention(*this),
                        getElementType(getInput()));
}
