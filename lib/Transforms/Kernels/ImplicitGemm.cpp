// Where the rows of A, the panels of B and the rows of C are.

#include "ImplicitGemm.h"
#include "Tuning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

ImplicitGemm::ImplicitGemm(onnxq::ContractOp op)
    : op(op), packing(op.getPackingAttr()), b(op.getLoc(), op),
      spatial(op.getKernel().size()), channels(op.getChannels()),
      input(b.flatten(op.getInput())), weights(b.flatten(op.getWeights())),
      output(b.flatten(op.getInit())),
      operandMaps(cast<onnxq::KernelOpInterface>(op.getOperation()).getMaps()),
      accumulatorType(cast<onnxq::KernelOpInterface>(op.getOperation())
                          .getAccumulatorType()),
      isPacked(packing.getKind() != onnxq::PackingKind::Rows),
      batches(op.getBatched() ? output.rank() - 2 : 0), loopDims(spatial),
      run(channels) {
  for (Value operand : op.getEpilogueOperands())
    epilogueOperands.push_back(b.flatten(operand));
  bool isInt4 =
      packing.getInt4() || packing.getKind() == onnxq::PackingKind::Codes;
  stepOfB = isPacked ? b.index(packing.getNr() / (isInt4 ? 2 : 1))
                     : weights.strides[weights.rank() - 2];
  m = b.index(1);
  for (size_t i = batches; i + 1 < output.rank(); ++i)
    m = b.mul(m, output.sizes[i]);
  if (spatial == 0 && batches == 0 && output.rank() > 2)
    mergeRows();
  bool isPadded = llvm::any_of(op.getPads(), [](int64_t p) { return p > 0; });
  if (isPadded)
    zeros = b.flatten(getZeros(b, op, channels, input.element)).memory;
  // A row of the window is one run if its taps are neighbours.
  if (!isPadded && spatial > 0 && packing.getGroups() == 1 &&
      op.getDilations()[spatial - 1] == 1 &&
      KernelBuilder::known(input.strides[spatial]) == channels) {
    --loopDims;
    run = op.getKernel()[spatial - 1] * channels;
  }
}

int64_t ImplicitGemm::getBytesOfA() const {
  return input.element.getIntOrFloatBitWidth() / 8;
}

int64_t ImplicitGemm::getBytesOfB() const {
  return weights.element.getIntOrFloatBitWidth() / 8;
}

void ImplicitGemm::mergeRows() {
  unsigned last = output.rank() - 1;
  auto isPerColumn = [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || dim.getPosition() == last;
    });
  };
  if (!input.hasEqualRows() || !output.hasEqualRows())
    return;
  for (auto [operand, map] : llvm::zip(epilogueOperands, operandMaps))
    if (!isPerColumn(map) && !(map.isIdentity() && operand.hasEqualRows()))
      return;
  input = input.asRows(m);
  output = output.asRows(m);
  for (auto [operand, map] : llvm::zip(epilogueOperands, operandMaps)) {
    if (map.isIdentity()) {
      operand = operand.asRows(m);
      map = b.getMultiDimIdentityMap(2);
      continue;
    }
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults())
      exprs.push_back(isa<AffineDimExpr>(expr) ? b.getAffineDimExpr(1) : expr);
    map = AffineMap::get(2, 0, exprs, b.getContext());
  }
}

SmallVector<RowIndices> ImplicitGemm::getRowIndices(const Tile &tile) {
  size_t rank = output.rank() - 1;
  SmallVector<RowIndices> rows;
  if (rank == 0)
    return SmallVector<RowIndices>(tile.rows);
  RowIndices first(tile.batch);
  first.resize(rank);
  size_t outermost = batches;
  Value rest = tile.m;
  for (size_t i = rank; i-- > outermost + 1;) {
    first[i] = b.rem(rest, output.sizes[i]);
    rest = b.div(rest, output.sizes[i]);
  }
  first[outermost] = rest;
  rows.push_back(first);
  for (int64_t row = 1; row < tile.rows; ++row) {
    // The next row: a dimension at its end starts again.
    RowIndices next = rows.back();
    Value carry;
    for (size_t i = rank; i-- > outermost;) {
      Value size = output.sizes[i];
      if (KernelBuilder::known(size) == 1 && i > outermost)
        continue;
      Value after = b.add(next[i], b.index(1));
      if (carry)
        after = b.select(carry, after, next[i]);
      if (i == outermost) {
        next[i] = after;
        break;
      }
      Value wraps =
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, after, size);
      next[i] = b.select(wraps, b.index(0), after);
      carry = wraps;
    }
    rows.push_back(next);
  }
  return rows;
}

SmallVector<RowPointer> ImplicitGemm::getRowPointers(const Tile &tile,
                                                     ArrayRef<RowIndices> rows,
                                                     ArrayRef<Value> taps) {
  Value group = b.mul(tile.group, channels);
  SmallVector<RowPointer> pointers;
  for (const RowIndices &indices : rows) {
    Value at = group, inside;
    for (size_t i = 0; i < indices.size(); ++i) {
      bool isWindow = spatial > 0 && i > 0;
      if (!isWindow) {
        at = b.add(at, b.mul(indices[i], input.strides[i]));
        continue;
      }
      int64_t d = i - 1;
      int64_t pad = op.getPads()[d], padEnd = op.getPads()[spatial + d];
      Value position = b.mul(indices[i], op.getStrides()[d]);
      if (d < loopDims)
        position = b.add(position, b.mul(taps[d], op.getDilations()[d]));
      if (pad > 0)
        position = b.sub(position, b.index(pad));
      if (pad > 0 || padEnd > 0) {
        Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           position, input.sizes[i]);
        inside = inside ? Value(arith::AndIOp::create(b, inside, fits)) : fits;
      }
      at = b.add(at, b.mul(position, input.strides[i]));
    }
    Value memory = input.memory;
    if (inside) {
      auto open = MemRefType::get(
          ShapedType::kDynamic, input.element,
          StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, 1));
      memory = b.select(inside, b.castBuffer(memory, open),
                        b.castBuffer(zeros, open));
      at = b.select(inside, at, b.index(0));
    }
    pointers.push_back({memory, at});
  }
  return pointers;
}

Value ImplicitGemm::getPanel(const Tile &tile) {
  Value at = b.index(0);
  for (auto [i, position] : llvm::enumerate(tile.batch))
    at = b.add(at, b.mul(position, weights.strides[i]));
  if (isPacked) {
    Value panel = b.add(b.mul(tile.group, packing.getPanels()), tile.panel);
    return b.add(at, b.mul(panel, packing.getPanelSize()));
  }
  if (batches == 0 && !op.getBatched())
    at = b.mul(tile.group, weights.strides[0]);
  return b.add(at, b.mul(tile.panel, packing.getNr()));
}

Value ImplicitGemm::getFirstColumn(const Tile &tile) {
  return b.add(b.mul(tile.group, packing.getN()),
               b.mul(tile.panel, packing.getNr()));
}

Value ImplicitGemm::getRowOffset(const FlatBuffer &buffer, AffineMap map,
                                 ArrayRef<Value> indices) {
  Value at = b.index(0);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || dim.getPosition() + 1 == output.rank())
      continue;
    at = b.add(at, b.mul(indices[dim.getPosition()], buffer.strides[i]));
  }
  return at;
}

SmallVector<Value> ImplicitGemm::forRuns(const Tile &tile,
                                         ArrayRef<RowIndices> rows,
                                         ValueRange carried,
                                         const RunBody &body) {
  SmallVector<Value> taps;
  std::function<SmallVector<Value>(Value, ValueRange)> nest =
      [&](Value tap, ValueRange values) -> SmallVector<Value> {
    int64_t d = taps.size();
    if (d == loopDims)
      return body(tap, getRowPointers(tile, rows, taps), values);
    int64_t size = op.getKernel()[d];
    auto step = [&](Value i, ValueRange inner) {
      taps.push_back(i);
      SmallVector<Value> results = nest(b.add(b.mul(tap, size), i), inner);
      taps.pop_back();
      return results;
    };
    bool isUnrolled = d + 1 == loopDims && size <= tuning::unrolledTaps &&
                      run > tuning::shortRun;
    if (!isUnrolled)
      return b.loop(b.index(size), values, step);
    // Unrolled, what the taps have in common is computed once.
    SmallVector<Value> results(values);
    for (int64_t i = 0; i < size; ++i)
      results = step(b.index(i), results);
    return results;
  };
  return nest(b.index(0), carried);
}
