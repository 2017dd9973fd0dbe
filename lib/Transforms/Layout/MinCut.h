// The cheapest cut of a network between a source and a sink.

#ifndef ONNXQUANT_LIB_TRANSFORMS_LAYOUT_MINCUT_H
#define ONNXQUANT_LIB_TRANSFORMS_LAYOUT_MINCUT_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace onnxquant::layouts {

class MinCut {
public:
  static constexpr unsigned source = 0, sink = 1;
  /// More than all other capacities together.
  static constexpr int64_t unlimited = INT64_MAX / 4;

  MinCut() : arcsOf(2) {}

  unsigned addNode() {
    arcsOf.emplace_back();
    return static_cast<unsigned>(arcsOf.size() - 1);
  }
  /// What it costs if `from` is on the source's side and `to` on the sink's.
  void addArc(unsigned from, unsigned to, int64_t capacity);

  /// Which nodes are on the source's side in the cheapest cut: as many as can
  /// be.
  std::vector<bool> cut();

private:
  struct Arc {
    unsigned to;
    int64_t capacity;
  };
  /// The arc at an odd place is the way back of the one before it.
  std::vector<Arc> arcs;
  std::vector<llvm::SmallVector<unsigned, 4>> arcsOf;
  std::vector<int> level;
  std::vector<size_t> next;

  bool measure();
  int64_t push(unsigned from, int64_t limit);
};

} // namespace onnxquant::layouts

#endif // ONNXQUANT_LIB_TRANSFORMS_LAYOUT_MINCUT_H
