// Weights packed at run time: a step's rows are loaded as vectors of a panel's
// columns, converted, and written column by column.

#include "LowerKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class PackLowering {
public:
  explicit PackLowering(onnxq::PackOp op)
      : op(op), packing(op.getPacking()), b(op.getLoc(), op),
        from(b.flatten(op.getWeights())), to(b.flatten(op.getInit())) {}
  void lower();

private:
  void packPanels(Value count, Value first, int64_t columns);
  void packBundle(Value source, Value offset, int64_t rows, int64_t columns);

  onnxq::PackOp op;
  onnxq::PackingAttr packing;
  KernelBuilder b;
  FlatBuffer from, to;
};
} // namespace

/// Vectors of rows as one of columns: the elements of a column follow each
/// other. A power of two of them.
static Value interleave(KernelBuilder &b, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows[0];
  SmallVector<Value> even, odd;
  for (auto [i, row] : llvm::enumerate(rows))
    (i % 2 == 0 ? even : odd).push_back(row);
  Value x = interleave(b, even), y = interleave(b, odd);
  int64_t count = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    order.append({i, count + i});
  return vector::ShuffleOp::create(b, x, y, order);
}

/// Packs `rows` rows from `source` on as one step.
void PackLowering::packBundle(Value source, Value offset, int64_t rows,
                              int64_t columns) {
  int64_t nr = packing.getNr();
  Value stride = from.strides[from.rank() - 2];
  SmallVector<Value> lines;
  for (int64_t i = 0; i < packing.getStep(); ++i) {
    if (i >= rows) {
      lines.push_back(b.zeros(nr, to.element));
      continue;
    }
    Value line = b.loadVector(from.memory, b.add(source, b.mul(stride, i)), nr,
                              columns, from.element);
    Value converted = b.repeatOnVectors(op.getConversion(), line, nr);
    // Columns that aren't there are zero after the conversion, too.
    if (columns < nr) {
      SmallVector<bool> isThere(nr, false);
      std::fill_n(isThere.begin(), columns, true);
      auto type = VectorType::get(nr, b.getI1Type());
      Value mask = arith::ConstantOp::create(
          b, DenseElementsAttr::get(type, ArrayRef<bool>(isThere)));
      converted =
          arith::SelectOp::create(b, mask, converted, b.zeros(nr, to.element));
    }
    lines.push_back(converted);
  }
  b.storeVector(interleave(b, lines), to.memory, offset,
                nr * packing.getStep());
}

/// Panels of `columns` columns that count, in all batches.
void PackLowering::packPanels(Value count, Value first, int64_t columns) {
  size_t batches = from.rank() - 2;
  SmallVector<Value> counts(from.sizes.begin(), from.sizes.begin() + batches);
  counts.push_back(count);
  int64_t step = packing.getStep(), size = packing.getNr() * step;
  int64_t rows = *KernelBuilder::known(from.sizes[batches]);
  b.grid(counts, [&](ArrayRef<Value> at) {
    Value panel = b.add(first, at.back());
    Value source = b.mul(panel, packing.getNr());
    Value offset = b.mul(panel, packing.getPanelSize());
    for (size_t i = 0; i < batches; ++i) {
      source = b.add(source, b.mul(at[i], from.strides[i]));
      offset = b.add(offset, b.mul(at[i], to.strides[i]));
    }
    Value stride = from.strides[batches];
    b.repeat(b.index(rows / step), [&](Value i) {
      packBundle(b.add(source, b.mul(b.mul(i, step), stride)),
                 b.add(offset, b.mul(i, size)), step, columns);
    });
    int64_t whole = rows / step;
    if (rows % step != 0)
      packBundle(b.add(source, b.mul(stride, whole * step)),
                 b.add(offset, whole * size), rows % step, columns);
  });
}

void PackLowering::lower() {
  int64_t whole = packing.getN() / packing.getNr();
  int64_t rest = packing.getN() % packing.getNr();
  if (whole > 0)
    packPanels(b.index(whole), b.index(0), packing.getNr());
  if (rest > 0)
    packPanels(b.index(1), b.index(whole), rest);
}

void kernels::lowerPack(onnxq::PackOp op, const TargetInfo &) {
  PackLowering(op).lower();
}
