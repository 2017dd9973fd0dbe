// Stored filters, transformed for Winograd's products: a cache line of each
// point at a time. Loops are sequential: code is loaded by one thread.

#include "../LowerKernels.h"
#include "../Tuning.h"
#include "Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class ExpandLowering {
public:
  explicit ExpandLowering(onnxq::ExpandOp op)
      : op(op), b(op.getLoc(), op), from(b.flatten(op.getWeights())),
        to(b.flatten(op.getInit())),
        tile{op.getNumbers() == WinogradTile{2}.points() ? 2 : 4} {}
  void lower();

private:
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value minus(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  SmallVector<Value> transform(ArrayRef<Value> taps);
  void transformVectors(Value source, Value target, int64_t lanes);

  onnxq::ExpandOp op;
  KernelBuilder b;
  FlatBuffer from, to;
  WinogradTile tile;
};
} // namespace

/// The points of a side of the tile from three taps.
SmallVector<Value> ExpandLowering::transform(ArrayRef<Value> taps) {
  Value a = taps[0], m = taps[1], c = taps[2];
  Value outer = plus(a, c);
  if (tile.out == 2)
    return {plus(a, a), plus(outer, m), minus(outer, m), plus(c, c)};
  Value m2 = plus(m, m), c2 = plus(c, c);
  Value even = plus(a, plus(c2, c2));
  return {a, plus(outer, m), minus(outer, m), plus(even, m2), minus(even, m2),
          c};
}

/// A vector of filters: rows, then columns.
void ExpandLowering::transformVectors(Value source, Value target,
                                      int64_t lanes) {
  int64_t filters = op.getFilters(), side = tile.in();
  auto wide = VectorType::get(lanes, to.element);
  SmallVector<SmallVector<Value>> halves;
  for (int64_t column = 0; column < 3; ++column) {
    SmallVector<Value> taps;
    for (int64_t row = 0; row < 3; ++row) {
      Value x =
          b.loadVector(from.memory, b.add(source, (3 * row + column) * filters),
                       lanes, lanes, from.element);
      taps.push_back(x.getType() == wide
                         ? x
                         : arith::ExtSIOp::create(b, wide, x).getResult());
    }
    halves.push_back(transform(taps));
  }
  for (int64_t row = 0; row < side; ++row)
    for (auto [column, x] : llvm::enumerate(
             transform({halves[0][row], halves[1][row], halves[2][row]})))
      b.storeVector(x, to.memory,
                    b.add(target, (row * side + int64_t(column)) * filters),
                    lanes);
}

void ExpandLowering::lower() {
  int64_t filters = op.getFilters();
  int64_t lanes = tuning::lineBytes / (to.element.getIntOrFloatBitWidth() / 8);
  while (filters % lanes != 0)
    lanes /= 2;
  b.repeat(b.index(op.getPanels()), [&](Value panel) {
    Value source = b.mul(panel, 9 * filters);
    Value target = b.mul(panel, tile.points() * filters);
    b.repeat(b.index(filters / lanes), [&](Value i) {
      Value offset = b.mul(i, lanes);
      transformVectors(b.add(source, offset), b.add(target, offset), lanes);
    });
  });
}

void kernels::lowerExpand(onnxq::ExpandOp op, const TargetInfo &) {
  ExpandLowering(op).lower();
}
