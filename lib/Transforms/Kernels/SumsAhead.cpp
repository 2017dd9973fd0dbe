// Sums of products for processors that compute in the order of their
// instructions.
//
// What a product multiplies is loaded before the products in front of it, into
// registers of its own: no instruction waits for a load that was just asked
// for. The loop leaves out the last products, which have nothing to load.
//
// The weights and each row have a pointer that moves on once per turn, and all
// loads are a constant away from it. LLVM finds other forms of the same
// addresses, with an addition before many a load, so it is kept from seeing
// where the pointers come from.

#include "ContractLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
/// The pointers of a run, the weights' first, and what is loaded from them.
class AheadLoads {
public:
  AheadLoads(KernelBuilder &b, VectorType line, int64_t vectors,
             int64_t weightStep, Type element)
      : b(b), line(line), vectors(vectors), weightStep(weightStep),
        element(element) {}

  /// The weights of the product `k` behind the pointers, then the rows'
  /// elements.
  SmallVector<Value> load(ArrayRef<Value> pointers, int64_t k) {
    SmallVector<Value> loaded;
    for (int64_t j = 0; j < vectors; ++j)
      loaded.push_back(b.loadBehind(pointers.front(), line.getElementType(),
                                    k * weightStep + j * line.getNumElements(),
                                    line));
    for (Value row : pointers.drop_front())
      loaded.push_back(b.loadBehind(row, element, k, element));
    return loaded;
  }
  /// LLVM would move a plain load to where it is used, into the next turn.
  SmallVector<Value> freeze(ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      return LLVM::FreezeOp::create(b, value);
    });
  }
  /// Pointers `count` products further.
  SmallVector<Value> advance(ArrayRef<Value> pointers, int64_t count) {
    // LLVM ends the loop by where the weights are.
    Value weights = pointers.front();
    SmallVector<Value> next = {LLVM::GEPOp::create(
        b, weights.getType(), line.getElementType(), weights,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count * weightStep)})};
    for (Value row : pointers.drop_front())
      next.push_back(b.hiddenPointer(row, element, count));
    return next;
  }

private:
  KernelBuilder &b;
  VectorType line;
  int64_t vectors, weightStep;
  Type element;
};
} // namespace

SmallVector<Value> ContractLowering::sumAhead(ArrayRef<RowSource> rows,
                                              Value weight, int64_t length,
                                              int64_t unroll, ValueRange sums,
                                              VectorType line, AddStep add) {
  int64_t vectors = sums.size() / rows.size();
  AheadLoads loads(b, line, vectors, *KernelBuilder::known(weightStep),
                   input.element);
  auto addLoaded = [&](MutableArrayRef<Value> next, ArrayRef<Value> loaded) {
    add(next, loaded.take_front(vectors), loaded.drop_front(vectors));
  };
  int64_t lastLine = (length - 1) * *KernelBuilder::known(weightStep) +
                     vectors * line.getNumElements() - 1;
  b.checkSpan(weights.memory, weight, b.add(weight, lastLine));
  SmallVector<Value> pointers = {b.hiddenPointer(weights.memory, weight)};
  for (const RowSource &row : rows) {
    b.checkSpan(row.memory, row.place, b.add(row.place, length - 1));
    pointers.push_back(b.hiddenPointer(row.memory, row.place));
  }
  SmallVector<Value> loaded = loads.freeze(loads.load(pointers, 0));

  size_t numSums = sums.size(), numLoaded = loaded.size();
  SmallVector<Value> carried(sums);
  carried.append(loaded);
  carried.append(pointers);
  auto split = [&] {
    ArrayRef<Value> all(carried);
    loaded.assign(all.slice(numSums, numLoaded));
    pointers.assign(all.drop_front(numSums + numLoaded));
    carried.truncate(numSums);
  };
  int64_t turns = (length - 1) / unroll;
  if (turns > 0)
    carried = b.loop(b.index(turns), carried, [&](Value i, ValueRange values) {
      carried.assign(values.begin(), values.end());
      split();
      fetchAhead(i);
      for (int64_t k = 1; k <= unroll; ++k) {
        SmallVector<Value> after = loads.load(pointers, k);
        if (k == unroll)
          after = loads.freeze(after);
        addLoaded(carried, loaded);
        loaded = after;
      }
      carried.append(loaded);
      carried.append(loads.advance(pointers, unroll));
      return carried;
    });
  fetchAhead(b.index(turns));
  split();
  int64_t rest = length - turns * unroll;
  for (int64_t k = 1; k <= rest; ++k) {
    SmallVector<Value> after;
    if (k < rest)
      after = loads.load(pointers, k);
    addLoaded(carried, loaded);
    loaded = after;
  }
  return carried;
}
