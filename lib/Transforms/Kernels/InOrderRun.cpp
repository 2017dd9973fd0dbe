// The loop over k for processors that compute in the order of their
// instructions.
//
// What a product multiplies is loaded before the products in front of it, into
// registers of its own: no instruction waits for a load that was just issued.
// The loop leaves out the last products, which have nothing to load.
//
// B and each row of A have a pointer that moves on once per iteration, and all
// loads are a constant away from it. LLVM finds other forms of the same
// addresses, with an addition before many a load, so it is kept from seeing
// where the pointers come from.

#include "InOrderRun.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
/// The pointers of a run, B's first, and what is loaded from them.
class Pointers {
public:
  Pointers(KernelBuilder &b, VectorType vector, int64_t vectors,
           int64_t stepOfB, Type element)
      : b(b), vector(vector), vectors(vectors), stepOfB(stepOfB),
        element(element) {}

  /// B's vectors of the product `k` behind the pointers, then the rows'
  /// elements.
  SmallVector<Value> load(ArrayRef<Value> pointers, int64_t k) {
    SmallVector<Value> loaded;
    for (int64_t j = 0; j < vectors; ++j)
      loaded.push_back(b.loadBehind(pointers.front(), vector.getElementType(),
                                    k * stepOfB + j * vector.getNumElements(),
                                    vector));
    for (Value row : pointers.drop_front())
      loaded.push_back(b.loadBehind(row, element, k, element));
    return loaded;
  }
  /// LLVM would move a plain load to where it is used, into the next iteration.
  SmallVector<Value> freeze(ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      return LLVM::FreezeOp::create(b, value);
    });
  }
  /// Pointers `count` products further.
  SmallVector<Value> advance(ArrayRef<Value> pointers, int64_t count) {
    // LLVM ends the loop by where B is.
    Value first = pointers.front();
    SmallVector<Value> next = {LLVM::GEPOp::create(
        b, first.getType(), vector.getElementType(), first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count * stepOfB)})};
    for (Value row : pointers.drop_front())
      next.push_back(b.hiddenPointer(row, element, count));
    return next;
  }

private:
  KernelBuilder &b;
  VectorType vector;
  int64_t vectors, stepOfB;
  Type element;
};
} // namespace

SmallVector<Value> kernels::addRunInOrder(ImplicitGemm &gemm, const KRun &run,
                                          int64_t steps, VectorType vector,
                                          ValueRange accumulators,
                                          PanelPrefetch &prefetch,
                                          AddStep add) {
  KernelBuilder &b = gemm.b;
  int64_t vectors = accumulators.size() / run.rows.size();
  int64_t stepOfB = *KernelBuilder::known(gemm.stepOfB);
  Pointers loads(b, vector, vectors, stepOfB, gemm.input.element);
  auto addLoaded = [&](MutableArrayRef<Value> next, ArrayRef<Value> loaded) {
    add(next, loaded.take_front(vectors), loaded.drop_front(vectors));
  };
  int64_t last =
      (run.length - 1) * stepOfB + vectors * vector.getNumElements() - 1;
  b.checkSpan(gemm.weights.memory, run.offset, b.add(run.offset, last));
  SmallVector<Value> pointers = {
      b.hiddenPointer(gemm.weights.memory, run.offset)};
  for (const RowPointer &row : run.rows) {
    b.checkSpan(row.memory, row.offset, b.add(row.offset, run.length - 1));
    pointers.push_back(b.hiddenPointer(row.memory, row.offset));
  }
  SmallVector<Value> loaded = loads.freeze(loads.load(pointers, 0));

  size_t numSums = accumulators.size(), numLoaded = loaded.size();
  SmallVector<Value> carried(accumulators);
  carried.append(loaded);
  carried.append(pointers);
  auto split = [&] {
    ArrayRef<Value> all(carried);
    loaded.assign(all.slice(numSums, numLoaded));
    pointers.assign(all.drop_front(numSums + numLoaded));
    carried.truncate(numSums);
  };
  int64_t iterations = (run.length - 1) / steps;
  if (iterations > 0)
    carried =
        b.loop(b.index(iterations), carried, [&](Value i, ValueRange values) {
          carried.assign(values.begin(), values.end());
          split();
          prefetch.onIteration(i);
          for (int64_t k = 1; k <= steps; ++k) {
            SmallVector<Value> after = loads.load(pointers, k);
            if (k == steps)
              after = loads.freeze(after);
            addLoaded(carried, loaded);
            loaded = after;
          }
          carried.append(loaded);
          carried.append(loads.advance(pointers, steps));
          return carried;
        });
  prefetch.onIteration(b.index(iterations));
  split();
  int64_t rest = run.length - iterations * steps;
  for (int64_t k = 1; k <= rest; ++k) {
    SmallVector<Value> after;
    if (k < rest)
      after = loads.load(pointers, k);
    addLoaded(carried, loaded);
    loaded = after;
  }
  return carried;
}
