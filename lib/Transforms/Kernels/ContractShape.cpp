// Reads the sizes of a contraction.

#include "ContractShape.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

ContractShape kernels::getContractShape(onnxq::ContractOp op) {
  ContractShape shape;
  ArrayRef<int64_t> rows = op.getInit().getType().getShape().drop_back();
  if (op.getBatched())
    rows = rows.take_back(1);
  if (!ShapedType::isDynamicShape(rows))
    shape.m = ShapedType::getNumElements(rows);
  shape.n = op.getN();
  shape.k = op.getK();
  shape.groups = op.getGroups();
  shape.channels = op.getChannels();
  if (shape.groups == 1 && !op.getKernel().empty() &&
      op.getDilations().back() == 1)
    shape.rowTaps = op.getKernel().back();
  return shape;
}

bool kernels::hasManyOperations(Region &epilogue) {
  return onnxq::countOperations(epilogue.front()) > tuning::manyOperations;
}
