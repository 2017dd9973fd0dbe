// An Einsum of two operands is a product of matrices if each of its letters is
// one of
//
//   batch: in both operands and the result    rows: in A and the result
//   sum: in both operands                     columns: in B and the result
//
//   bihd,bjhd->bhij becomes MatMul(Transpose(A) [b, h, i, d],
//                                  Transpose(B) [b, h, d, j])
//
// Several letters of a kind become one dimension, but for batches. Others, and
// axes of one that run with longer ones, stay loops.

#include "Einsum.h"
#include "OnnxQuant/Dialect/ONNX/EinsumEquation.h"
#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using onnx::EinsumOp;

namespace {
using Letters = SmallVector<unsigned>;

/// The letters of an Einsum by what they are, in the result's order; those
/// that are summed over in A's.
struct Product {
  Letters batch, rows, columns, sum;
  onnx::EinsumLoops loops;
};

class Expander {
public:
  Expander(EinsumOp op, const Product &product, onnx::ShapeContext &shapes,
           RewriterBase &rewriter)
      : op(op), product(product), shapes(shapes), b(op.getLoc(), rewriter) {}
  Value expand();

private:
  Value arrange(unsigned operand, ArrayRef<Letters> groups);
  Value split(Value y, ArrayRef<Letters> groups);
  Value transpose(Value value, ArrayRef<unsigned> from, ArrayRef<unsigned> to);
  OpFoldResult sizeOf(unsigned letter);

  EinsumOp op;
  const Product &product;
  onnx::ShapeContext &shapes;
  ImplicitLocOpBuilder b;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading the equation
//===----------------------------------------------------------------------===//

static std::optional<onnx::EinsumLoops> readLoops(EinsumOp op) {
  SmallVector<int64_t> ranks;
  for (Value operand : op.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !isKernelFloat(type.getElementType()))
      return std::nullopt;
    ranks.push_back(type.getRank());
  }
  if (ranks.size() != 2 || !isa<RankedTensorType>(op.getOutput().getType()))
    return std::nullopt;
  std::string error;
  auto equation = onnx::EinsumEquation::parse(op.getEquation(), error);
  if (failed(equation))
    return std::nullopt;
  FailureOr<onnx::EinsumLoops> loops = equation->resolve(ranks);
  if (failed(loops))
    return std::nullopt;
  return *loops;
}

static std::optional<size_t> placeOf(ArrayRef<unsigned> letters,
                                     unsigned letter) {
  const auto *it = llvm::find(letters, letter);
  if (it == letters.end())
    return std::nullopt;
  return it - letters.begin();
}

static bool hasDuplicates(ArrayRef<unsigned> letters) {
  llvm::SmallDenseSet<unsigned> seen(letters.begin(), letters.end());
  return seen.size() != letters.size();
}

static std::optional<Product> readProduct(EinsumOp op,
                                          onnx::ShapeContext &shapes) {
  std::optional<onnx::EinsumLoops> loops = readLoops(op);
  if (!loops)
    return std::nullopt;
  Product product = {{}, {}, {}, {}, *loops};
  ArrayRef<unsigned> a = loops->operands[0], other = loops->operands[1];
  ArrayRef<unsigned> output = loops->output;
  if (hasDuplicates(a) || hasDuplicates(other) || hasDuplicates(output))
    return std::nullopt;
  std::optional<onnx::Dims> dims[] = {shapes.getDims(op.getInputs()[0]),
                                      shapes.getDims(op.getInputs()[1])};
  for (unsigned letter : output) {
    bool inA = placeOf(a, letter).has_value();
    bool inB = placeOf(other, letter).has_value();
    (inA && inB ? product.batch
     : inA      ? product.rows
                : product.columns)
        .push_back(letter);
  }
  for (auto [axis, letter] : llvm::enumerate(a)) {
    std::optional<size_t> there = placeOf(other, letter);
    if (there && (*dims[0])[axis] != (*dims[1])[*there])
      return std::nullopt;
    if (placeOf(output, letter))
      continue;
    if (!there)
      return std::nullopt;
    product.sum.push_back(letter);
  }
  for (unsigned letter : other)
    if (!placeOf(output, letter) && !placeOf(a, letter))
      return std::nullopt;
  if (product.rows.empty() || product.columns.empty() || product.sum.empty())
    return std::nullopt;
  return product;
}

//===----------------------------------------------------------------------===//
// Building the product
//===----------------------------------------------------------------------===//

OpFoldResult Expander::sizeOf(unsigned letter) {
  for (unsigned operand : {0, 1})
    if (auto axis = placeOf(product.loops.operands[operand], letter))
      return getSize(b, op.getInputs()[operand], static_cast<int64_t>(*axis));
  llvm_unreachable("a letter is in an operand");
}

Value Expander::transpose(Value value, ArrayRef<unsigned> from,
                          ArrayRef<unsigned> to) {
  SmallVector<int64_t> perm;
  for (unsigned letter : to)
    perm.push_back(static_cast<int64_t>(*placeOf(from, letter)));
  if (llvm::is_sorted(perm))
    return value;
  Value y = makeTranspose(b, op, value, perm);
  return succeeded(shapes.infer(y.getDefiningOp())) ? y : Value();
}

/// The letters of all groups, and which of them each group has.
static Letters flatten(ArrayRef<Letters> groups,
                       SmallVector<ReassociationIndices> &axes) {
  Letters order;
  for (const Letters &group : groups) {
    ReassociationIndices &indices = axes.emplace_back();
    for (unsigned letter : group) {
      indices.push_back(static_cast<int64_t>(order.size()));
      order.push_back(letter);
    }
  }
  return order;
}

/// An operand with a dimension for each group of letters.
Value Expander::arrange(unsigned operand, ArrayRef<Letters> groups) {
  SmallVector<ReassociationIndices> axes;
  Letters order = flatten(groups, axes);
  Value value = transpose(op.getInputs()[operand],
                          product.loops.operands[operand], order);
  if (value && axes.size() < order.size())
    value = tensor::CollapseShapeOp::create(b, value, axes);
  return value;
}

Value Expander::expand() {
  // Rows without batches may be as many dimensions as they are.
  SmallVector<Letters> front;
  for (unsigned letter : product.batch)
    front.push_back({letter});
  SmallVector<Letters> left = front, right = front;
  if (product.batch.empty())
    for (unsigned letter : product.rows)
      left.push_back({letter});
  else
    left.push_back(product.rows);
  SmallVector<Letters> result = left;
  result.push_back(product.columns);
  left.push_back(product.sum);
  right.append({product.sum, product.columns});
  Value a = arrange(0, left), other = arrange(1, right);
  if (!a || !other)
    return {};
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(a.getType()).getShape().drop_back());
  shape.push_back(cast<RankedTensorType>(other.getType()).getShape().back());
  Type element = cast<RankedTensorType>(a.getType()).getElementType();
  Value y = makeOp(b, op, onnx::MatMulOp::getOperationName(), {a, other},
                   RankedTensorType::get(shape, element));
  if (failed(shapes.infer(y.getDefiningOp())))
    return {};
  return split(y, result);
}

/// The result with a dimension for each letter, in the Einsum's order.
Value Expander::split(Value y, ArrayRef<Letters> groups) {
  SmallVector<ReassociationIndices> axes;
  Letters order = flatten(groups, axes);
  if (axes.size() < order.size()) {
    SmallVector<OpFoldResult> sizes;
    SmallVector<int64_t> known;
    for (unsigned letter : order) {
      sizes.push_back(sizeOf(letter));
      known.push_back(
          getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
    }
    auto type = cast<RankedTensorType>(y.getType());
    y = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(known, type.getElementType()), y, axes, sizes);
  }
  return transpose(y, order, product.loops.output);
}

void kernels::expandEinsums(Operation *root) {
  SmallVector<EinsumOp> ops;
  root->walk([&](EinsumOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (EinsumOp op : ops) {
    onnx::ShapeContext shapes;
    std::optional<Product> product = readProduct(op, shapes);
    if (!product)
      continue;
    rewriter.setInsertionPoint(op);
    Value y = Expander(op, *product, shapes, rewriter).expand();
    if (!y)
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, castLike(b, op, y, op.getOutput()));
  }
}
