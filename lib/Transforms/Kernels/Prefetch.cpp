// Prefetches B's next panel.

#include "Prefetch.h"
#include "Tuning.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

void PanelPrefetch::plan(Value next, int64_t count, Value number, Value tiles,
                         int64_t runs, int64_t turns) {
  clear();
  int64_t line = tuning::lineBytes / gemm.getBytesOfB();
  Value share = b.ceilDiv(b.index(llvm::divideCeil(count, line)), tiles);
  std::optional<int64_t> lines = KernelBuilder::known(share);
  // So few tiles use B faster than it comes.
  if (lines && *lines > mostLines)
    return;
  Value begin = b.add(next, b.mul(b.mul(number, share), line));
  if (lines && turns * runs >= *lines) {
    // Many lines at once would keep others waiting.
    turnStep = llvm::divideCeil(*lines * line, turns * runs);
    runStep = turnStep * turns;
    first = offset = begin;
    return;
  }
  b.loop(share, {}, [&](Value i, ValueRange) {
    b.prefetch(gemm.weights.memory, b.add(begin, b.mul(i, line)));
    return SmallVector<Value>();
  });
}

void PanelPrefetch::startRun(Value number) {
  if (first)
    offset = b.add(first, b.mul(number, runStep));
}

void PanelPrefetch::onTurn(Value turn) {
  if (first)
    b.prefetch(gemm.weights.memory, b.add(offset, b.mul(turn, turnStep)));
}
