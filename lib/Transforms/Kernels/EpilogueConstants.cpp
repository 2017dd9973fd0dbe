// Finds tensors that hold one constant: splats, and what fills a tensor without
// reading another one, also in another shape.

#include "EpilogueConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace onnxquant;

/// The constant that all elements of a tensor are; null if there is none.
static TypedAttr getOnlyElement(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      break;
    tensor = op->getOperand(0);
  }
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements))) {
    if (!elements.isSplat())
      return {};
    return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
  }
  Value element;
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    if (generic.getNumDpsInputs() == 0 && generic->getNumResults() == 1)
      element = generic.getBody()->getTerminator()->getOperand(0);
  } else if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    element = fill.getInputs()[0];
  }
  TypedAttr constant;
  if (!element || !matchPattern(element, m_Constant(&constant)))
    return {};
  return constant;
}

static Value makeScalar(OpBuilder &b, Location loc, TypedAttr constant) {
  return arith::ConstantOp::create(b, loc, constant);
}

int64_t kernels::foldConstantExtras(onnxq::KernelOpInterface kernel) {
  Block &epilogue = kernel.getEpilogue().front();
  OpBuilder b(kernel);
  SmallVector<Attribute> maps(kernel.getEpilogueMaps().getValue());
  int64_t folded = 0;
  for (size_t i = kernel.getEpilogueOperands().size(); i-- > 0;) {
    BlockArgument argument = epilogue.getArgument(i + 1);
    TypedAttr constant = getOnlyElement(kernel.getEpilogueOperands()[i]);
    if (!constant || constant.getType() != argument.getType())
      continue;
    argument.replaceAllUsesWith(makeScalar(b, kernel.getLoc(), constant));
    epilogue.eraseArgument(i + 1);
    kernel.getEpilogueOperandsMutable().erase(i);
    maps.erase(maps.begin() + i);
    ++folded;
  }
  if (folded)
    kernel.setEpilogueMapsAttr(b.getArrayAttr(maps));
  return folded;
}

int64_t kernels::foldConstantInputs(linalg::GenericOp generic) {
  OpBuilder b(generic);
  int64_t folded = 0;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(input);
    TypedAttr constant =
        argument.use_empty() ? TypedAttr() : getOnlyElement(input->get());
    if (!constant || constant.getType() != argument.getType())
      continue;
    argument.replaceAllUsesWith(makeScalar(b, generic.getLoc(), constant));
    ++folded;
  }
  return folded;
}
