// Prefetches B's next panel.

#include "Prefetch.h"
#include "Tuning.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

void PanelPrefetch::plan(Value next, int64_t count, Value index, Value tiles,
                         int64_t runs, int64_t iterations) {
  clear();
  int64_t line = tuning::lineBytes / gemm.getBytesOfB();
  Value share = b.ceilDiv(b.index(llvm::divideCeil(count, line)), tiles);
  std::optional<int64_t> lines = KernelBuilder::known(share);
  // So few tiles use B faster than it comes.
  if (lines && *lines > mostLines)
    return;
  Value begin = b.add(next, b.mul(b.mul(index, share), line));
  if (lines && iterations * runs >= *lines) {
    // Many lines at once would keep others waiting.
    iterationStep = llvm::divideCeil(*lines * line, iterations * runs);
    runStep = iterationStep * iterations;
    first = offset = begin;
    return;
  }
  b.repeat(share, [&](Value i) {
    b.prefetch(gemm.weights.memory, b.add(begin, b.mul(i, line)));
  });
}

void PanelPrefetch::startRun(Value index) {
  if (first)
    offset = b.add(first, b.mul(index, runStep));
}

void PanelPrefetch::onIteration(Value iteration) {
  if (first)
    b.prefetch(gemm.weights.memory,
               b.add(offset, b.mul(iteration, iterationStep)));
}
