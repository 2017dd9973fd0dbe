// Ops of the LinearAlgebra family but for those with heads: verifiers and
// shapes. Shape inference verifies again, because it has refined the operands'
// types since.

#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include <vector>

using namespace mlir;
using namespace onnxquant::onnx;

static RankedTensorType getRanked(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Whether two sizes differ for certain.
static bool differ(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
}

/// Whether two sizes may broadcast.
static bool mayBroadcast(int64_t a, int64_t b) {
  return a == 1 || b == 1 || !differ(a, b);
}

//===----------------------------------------------------------------------===//
// MatMul
//===----------------------------------------------------------------------===//

/// The dimensions before the last two.
static ArrayRef<int64_t> getBatch(RankedTensorType type) {
  return type.getShape().drop_back(std::min<int64_t>(2, type.getRank()));
}

LogicalResult MatMulOp::verify() {
  RankedTensorType a = getRanked(getA()), b = getRanked(getB());
  if ((a && a.getRank() == 0) || (b && b.getRank() == 0))
    return emitOpError("expects operands of at least rank 1, but got ")
           << getA().getType() << " and " << getB().getType() << " (C1)";
  if (!a || !b)
    return success();
  int64_t columns = a.getShape().back();
  int64_t rows = b.getShape()[std::max<int64_t>(b.getRank() - 2, 0)];
  if (differ(columns, rows))
    return emitOpError("expects as many columns as rows, but got ")
           << columns << " columns and " << rows << " rows (C2)";
  ArrayRef<int64_t> left = getBatch(a), right = getBatch(b);
  for (auto [x, y] : llvm::zip(llvm::reverse(left), llvm::reverse(right)))
    if (!mayBroadcast(x, y))
      return emitOpError("expects batches that broadcast, but got ")
             << a << " and " << b << " (C3)";
  return success();
}

LogicalResult MatMulOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  OpResult result = getOperation()->getOpResult(0);
  Type elementType = getElementType(getA());
  if (!elementType || isa<UnknownType>(elementType))
    elementType = getElementType(getB());
  std::optional<Dims> a = ctx.getDims(getA()), b = ctx.getDims(getB());
  if (!a || !b)
    return ctx.set(result, elementType);
  SmallVector<std::optional<Dims>> batches = {
      Dims(ArrayRef(*a).drop_back(std::min<size_t>(2, a->size()))),
      Dims(ArrayRef(*b).drop_back(std::min<size_t>(2, b->size())))};
  FailureOr<std::optional<Dims>> dims = shape::broadcastDims(ctx, batches);
  if (failed(dims) || !*dims)
    return emitOpError("expects batches that broadcast, but got ")
           << getA().getType() << " and " << getB().getType() << " (C3)";
  if (a->size() > 1)
    (*dims)->push_back((*a)[a->size() - 2]);
  if (b->size() > 1)
    (*dims)->push_back(b->back());
  return ctx.set(result, elementType, *dims);
}

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

LogicalResult GemmOp::verify() {
  RankedTensorType a = getRanked(getA()), b = getRanked(getB());
  if ((a && a.getRank() != 2) || (b && b.getRank() != 2))
    return emitOpError("expects operands of rank 2, but got ")
           << getA().getType() << " and " << getB().getType() << " (C1)";
  bool transA = getTransA() != 0, transB = getTransB() != 0;
  if (a && b && differ(a.getDimSize(transA ? 0 : 1), b.getDimSize(transB)))
    return emitOpError("expects as many columns as rows, but got ")
           << a.getDimSize(transA ? 0 : 1) << " columns and "
           << b.getDimSize(transB) << " rows (C2)";
  RankedTensorType c = getRanked(getC());
  if (!c)
    return success();
  int64_t shape[] = {a ? a.getDimSize(transA) : ShapedType::kDynamic,
                     b ? b.getDimSize(transB ? 0 : 1) : ShapedType::kDynamic};
  bool fits = c.getRank() <= 2;
  for (int64_t i = 0; fits && i < c.getRank(); ++i) {
    int64_t size = c.getDimSize(i);
    fits = size == 1 || !differ(size, shape[2 - c.getRank() + i]);
  }
  if (fits)
    return success();
  return emitOpError("expects C to broadcast to the product of ")
         << getA().getType() << " and " << getB().getType() << ", but got " << c
         << " (C3)";
}

LogicalResult GemmOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  Type elementType = getElementType(getA());
  if (!elementType || isa<UnknownType>(elementType))
    elementType = getElementType(getB());
  std::optional<Dims> a = ctx.getDims(getA()), b = ctx.getDims(getB());
  Dims dims = {a ? (*a)[getTransA() != 0] : ctx.unknown(),
               b ? (*b)[getTransB() == 0] : ctx.unknown()};
  return ctx.set(getOperation()->getOpResult(0), elementType, dims);
}

//===----------------------------------------------------------------------===//
// Det
//===----------------------------------------------------------------------===//

LogicalResult DetOp::verify() {
  RankedTensorType type = getRanked(getX());
  if (!type)
    return success();
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || differ(shape.back(), shape[shape.size() - 2]))
    return emitOpError("expects square matrices, but got ") << type << " (C1)";
  return success();
}

LogicalResult DetOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  std::optional<Dims> dims = ctx.getDims(getX());
  if (dims)
    dims->pop_back_n(2);
  return ctx.set(getOperation()->getOpResult(0), getElementType(getX()), dims);
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

/// The operands' ranks, or none if one is unknown.
static std::optional<SmallVector<int64_t>> getRanks(EinsumOp op) {
  SmallVector<int64_t> ranks;
  for (Value operand : op.getInputs()) {
    RankedTensorType type = getRanked(operand);
    if (!type)
      return std::nullopt;
    ranks.push_back(type.getRank());
  }
  return ranks;
}

static LogicalResult verifyRanks(EinsumOp op, const EinsumEquation &equation) {
  for (auto [index, operand] : llvm::enumerate(op.getInputs())) {
    RankedTensorType type = getRanked(operand);
    if (!type)
      continue;
    const EinsumTerm &term = equation.operands[index];
    int64_t letters = term.size();
    if (type.getRank() == letters ||
        (term.ellipsis && type.getRank() > letters))
      continue;
    return op.emitOpError("expects operand ")
           << index << (term.ellipsis ? " of at least rank " : " of rank ")
           << letters << ", but got rank " << type.getRank() << " (C3)";
  }
  return success();
}

/// Checks that the axes of every loop have one size, or 1.
static LogicalResult verifySizes(EinsumOp op, const EinsumLoops &loops) {
  SmallVector<int64_t> sizes(loops.numLoops, 1);
  for (auto [operand, axes] : llvm::zip(op.getInputs(), loops.operands)) {
    for (auto [size, loop] : llvm::zip(getRanked(operand).getShape(), axes)) {
      if (ShapedType::isDynamic(size) || size == 1)
        continue;
      if (sizes[loop] != 1 && sizes[loop] != size)
        return op.emitOpError("expects axes that run together to have one "
                              "size, but got ")
               << sizes[loop] << " and " << size << " (C4)";
      sizes[loop] = size;
    }
  }
  return success();
}

LogicalResult EinsumOp::verify() {
  std::string error;
  FailureOr<EinsumEquation> equation =
      EinsumEquation::parse(getEquation(), error);
  if (failed(equation))
    return emitOpError(error) << " in equation '" << getEquation() << "' (C1)";
  if (equation->operands.size() != getInputs().size())
    return emitOpError("expects ")
           << equation->operands.size() << " operands by its equation, but got "
           << getInputs().size() << " (C2)";
  if (failed(verifyRanks(*this, *equation)))
    return failure();
  std::optional<SmallVector<int64_t>> ranks = getRanks(*this);
  if (!ranks)
    return success();
  FailureOr<EinsumLoops> loops = equation->resolve(*ranks);
  if (failed(loops))
    return emitOpError("expects ranks that go with its equation (C3)");
  return verifySizes(*this, *loops);
}

LogicalResult EinsumOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  OpResult result = getOperation()->getOpResult(0);
  Type elementType;
  for (Value operand : getInputs())
    if (!elementType || isa<UnknownType>(elementType))
      elementType = getElementType(operand);
  std::string error;
  FailureOr<EinsumEquation> equation =
      EinsumEquation::parse(getEquation(), error);
  if (failed(equation))
    return failure();
  std::optional<SmallVector<int64_t>> ranks = getRanks(*this);
  if (!ranks) {
    // Letters alone still tell the rank.
    if (equation->output.ellipsis)
      return ctx.set(result, elementType);
    return ctx.set(result, elementType, ctx.unknowns(equation->output.size()));
  }
  FailureOr<EinsumLoops> loops = equation->resolve(*ranks);
  if (failed(loops))
    return failure();
  std::vector<SmallVector<std::optional<Dims>>> sizes(loops->numLoops);
  for (auto [operand, axes] : llvm::zip(getInputs(), loops->operands))
    for (auto [dim, loop] : llvm::zip(*ctx.getDims(operand), axes))
      sizes[loop].push_back(Dims{dim});
  Dims dims;
  for (unsigned loop : loops->output) {
    FailureOr<std::optional<Dims>> size =
        shape::broadcastDims(ctx, sizes[loop]);
    if (failed(size) || !*size || (*size)->size() != 1)
      return emitOpError("expects axes that run together to have one size "
                         "(C4)");
    dims.push_back((*size)->front());
  }
  return ctx.set(result, elementType, dims);
}

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/LinearAlgebra.cpp.inc"
