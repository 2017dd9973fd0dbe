// Packs int4 weights of floats, two to a byte, in panels: columns j and j + nr
// / 2 of a row share a byte, so that a mask and a shift give two vectors.
// Scales and zeros get the same panels.

#include "ContractShape.h"
#include "PackIntegers.h"
#include "PackedConstants.h"
#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

/// Numbers [blocks, columns] in panels of `width` columns, filled up with
/// zeros.
template <typename T>
static std::vector<T> makePanels(ArrayRef<T> from, int64_t columns,
                                 int64_t width) {
  int64_t blocks = static_cast<int64_t>(from.size()) / columns;
  int64_t panels = llvm::divideCeil(columns, width);
  std::vector<T> to(panels * blocks * width, 0);
  for (int64_t i = 0; i < blocks; ++i)
    for (int64_t n = 0; n < columns; ++n)
      to[(n / width * blocks + i) * width + n % width] = from[i * columns + n];
  return to;
}

LogicalResult kernels::packInt4(ContractOp op, const TargetInfo &target) {
  auto codes = readConstant<int8_t>(op.getWeights());
  auto zeros = readConstant<int8_t>(op.getZeros());
  auto scales = readConstant<float>(op.getScales());
  if (!codes || !zeros || !scales)
    return op.emitOpError("cannot be packed: its codes aren't constant");
  int64_t rows = getContractShape(op).getRows();
  // One row leaves registers for more columns, which unpacking needs less of.
  int64_t lanes = getTileLanes(target);
  int64_t nr = (rows == 1 && op.getColumns() > 2 * lanes ? 4 : 2) * lanes;
  int64_t most = target.numVectors >= 32 && !target.hasRVV ? 8 : 4;
  int64_t mr = std::min(most, rows);
  auto packing =
      PackingAttr::get(op.getContext(), /*groups=*/1, op.getDepth(),
                       op.getColumns(), mr, nr, /*step=*/1, PackingKind::Codes);
  std::vector<int8_t> packed(packing.getSize(), 0);
  int64_t columns = op.getColumns(), half = nr / 2;
  for (int64_t k = 0; k < op.getDepth(); ++k)
    for (int64_t n = 0; n < columns; ++n) {
      int64_t inner = n % nr;
      int64_t place = n / nr * packing.getPanelSize() + k * half + inner % half;
      packed[place] = static_cast<int8_t>(
          packed[place] | (*codes)[k * columns + n] << (inner < half ? 0 : 4));
    }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  op.getWeightsMutable().set(makePayload(b, b.getI8Type(), asBytes(packed)));
  op.getScalesMutable().assign(makePayload(
      b, b.getF32Type(), asBytes(makePanels<float>(*scales, columns, nr))));
  op.getZerosMutable().assign(makePayload(
      b, b.getI8Type(), asBytes(makePanels<int8_t>(*zeros, columns, nr))));
  op.setPackingAttr(packing);
  return success();
}
