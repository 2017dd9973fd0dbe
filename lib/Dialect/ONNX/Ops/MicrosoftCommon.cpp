// Rules of Gemm and attention that ops of the com.microsoft domain share.

#include "MicrosoftCommon.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;
using namespace onnxquant::onnx::microsoft;

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

int64_t microsoft::getGemmColumns(Gemm gemm) {
  return getDim(gemm.b, gemm.isTransposedB ? 0 : 1);
}

LogicalResult microsoft::verifyGemm(Operation *op, Gemm gemm, unsigned label) {
  for (Named matrix : {Named{gemm.a, "A"}, Named{gemm.b, "B"}})
    if (auto shape = getShape(matrix.value))
      if (shape->size() != 2)
        return op->emitOpError("expects ")
               << matrix.name << " of rank 2, but got rank " << shape->size()
               << " (C" << label << ")";
  int64_t innerA = getDim(gemm.a, gemm.isTransposedA ? 0 : 1);
  int64_t innerB = getDim(gemm.b, gemm.isTransposedB ? 1 : 0);
  if (mayEqual(innerA, innerB))
    return success();
  return op->emitOpError("expects equal inner dimensions, but got ")
         << innerA << " and " << innerB << " (C" << label << ")";
}

LogicalResult microsoft::verifyGemmBias(Operation *op, Gemm gemm, Named bias,
                                        unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(bias.value);
  if (!shape)
    return success();
  int64_t result[] = {getDim(gemm.a, gemm.isTransposedA ? 1 : 0),
                      getGemmColumns(gemm)};
  bool fits = shape->size() <= 2;
  for (size_t i = 0; fits && i < shape->size(); ++i) {
    int64_t dim = (*shape)[shape->size() - 1 - i];
    fits = dim == 1 || mayEqual(dim, result[1 - i]);
  }
  if (fits)
    return success();
  return op->emitOpError("expects ")
         << bias.name << " that broadcasts to " << toString(result)
         << ", but got shape " << toString(*shape) << " (C" << label << ")";
}

LogicalResult microsoft::inferGemm(ShapeContext &ctx, Operation *op, Gemm gemm,
                                   Type elementType) {
  std::optional<Dims> a = ctx.getDims(gemm.a), b = ctx.getDims(gemm.b);
  for (auto dims : {a, b})
    if (dims && dims->size() != 2)
      return op->emitOpError("expects matrices of rank 2, but got rank ")
             << dims->size();
  std::optional<Dims> result =
      Dims{a ? (*a)[gemm.isTransposedA ? 1 : 0] : ctx.unknown(),
           b ? (*b)[gemm.isTransposedB ? 0 : 1] : ctx.unknown()};
  if (a && b) {
    Dim innerA = (*a)[gemm.isTransposedA ? 0 : 1];
    Dim innerB = (*b)[gemm.isTransposedB ? 1 : 0];
    if (innerA.isConstant() && innerB.isConstant() && innerA != innerB)
      return op->emitOpError("expects equal inner dimensions, but got ")
             << innerA.str() << " and " << innerB.str();
  }
  return ctx.set(op->getResult(0), elementType, result);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult microsoft::verifyProjection(Operation *op,
                                          const Attention &attention,
                                          unsigned label) {
  auto verifyRank = [&](Named operand, size_t rank) -> LogicalResult {
    std::optional<ArrayRef<int64_t>> shape = getShape(operand.value);
    if (!shape || shape->size() == rank)
      return success();
    return op->emitOpError("expects ")
           << operand.name << " of rank " << rank << ", but got rank "
           << shape->size() << " (C" << label << ")";
  };
  if (failed(verifyRank(attention.input, 3)) ||
      failed(verifyRank(attention.weight, 2)))
    return failure();
  int64_t width = getDim(attention.input.value, 2);
  int64_t rows = getDim(attention.weight.value, 0);
  if (mayEqual(width, rows))
    return success();
  return op->emitOpError("expects ")
         << attention.weight.name << " with " << width << " rows, but got "
         << rows << " (C" << label << ")";
}

LogicalResult microsoft::verifyPast(Operation *op, Value past, unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(past);
  if (!shape || shape->size() == 5)
    return success();
  return op->emitOpError("expects past of rank 5, but got rank ")
         << shape->size() << " (C" << label << ")";
}

/// The width of the projection: the columns of the weight, else the bias.
static Dim getProjectedWidth(ShapeContext &ctx, const Attention &attention) {
  if (std::optional<Dims> dims = ctx.getDims(attention.weight.value);
      dims && dims->size() == 2)
    return dims->back();
  if (!isLeftOut(attention.bias.value))
    if (std::optional<Dims> dims = ctx.getDims(attention.bias.value);
        dims && dims->size() == 1)
      return dims->back();
  return ctx.unknown();
}

LogicalResult microsoft::inferAttention(ShapeContext &ctx, Operation *op,
                                        const Attention &attention,
                                        Type elementType) {
  std::optional<Dims> input = ctx.getDims(attention.input.value);
  if (!input || input->size() != 3)
    input = ctx.unknowns(3);
  Dim third = getProjectedWidth(ctx, attention).floorDiv(Dim(3));
  Dim keyWidth = third, valueWidth = third;
  if (attention.sizes.size() == 3) {
    keyWidth = Dim(attention.sizes[1]);
    valueWidth = Dim(attention.sizes[2]);
  }
  std::optional<Dims> output = Dims{(*input)[0], (*input)[1], valueWidth};
  if (failed(ctx.set(op->getResult(0), elementType, output)))
    return failure();

  std::optional<Dims> past;
  Dim pastLength(0);
  if (!isLeftOut(attention.past)) {
    past = ctx.getDims(attention.past);
    pastLength = past && past->size() == 5 ? (*past)[3] : ctx.unknown();
  }
  // A shared buffer has room for the longest sequence from the start.
  if (attention.sharesBuffer)
    return ctx.set(op->getResult(1), elementType, past);
  std::optional<Dims> present = Dims{
      Dim(2), (*input)[0], Dim(attention.numHeads), pastLength + (*input)[1],
      keyWidth.floorDiv(Dim(attention.numHeads))};
  return ctx.set(op->getResult(1), elementType, present);
}
