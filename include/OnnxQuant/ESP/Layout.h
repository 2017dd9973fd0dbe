// How filters lie in memory: the order of A5 and B5 in ESP-DL's terms.
//
// A filter's plain order is ONNX's, [O, I, window..]; depthwise filters have
// I = 1. With blocks of `u` output channels (16 for int8, 8 for int16) chips
// with vector instructions read [O/u][window][I][u], then the rest of the
// channels as [O%u][window][I]; others read [O][window][I]. Depthwise filters
// are [C/u][window][u], then [window][C%u]; or [window][C].

#ifndef ONNXQUANT_ESP_LAYOUT_H
#define ONNXQUANT_ESP_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace onnxquant::esp {

struct FilterShape {
  int64_t outputs = 1, inputs = 1;
  /// Places of the window, in order.
  int64_t places = 1;
  bool isDepthwise = false;

  int64_t size() const { return outputs * inputs * places; }
};

/// For each place of the stored array, the index of its element in the plain
/// order. `block` is 0 where nothing is packed.
std::vector<int64_t> filterOrder(const FilterShape &shape, int64_t block);

/// The name of the order, as files state it: `(N/16)HWC16`, `NWC`, ...
std::string layoutName(const FilterShape &shape, int64_t block,
                       size_t windowRank);

/// The elements of [outer, rows, columns] as [outer, columns, rows]; each has
/// `width` bytes. Channels go last with rows of channels, and back with rows of
/// places.
std::vector<char> transposedBytes(llvm::ArrayRef<char> data, unsigned width,
                                  int64_t outer, int64_t rows);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_LAYOUT_H
