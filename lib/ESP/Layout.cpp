// Orders of filters, and of channels.

#include "OnnxQuant/ESP/Layout.h"

using namespace onnxquant;
using namespace onnxquant::esp;

/// The plain index of an element.
static int64_t plain(const FilterShape &shape, int64_t o, int64_t i,
                     int64_t place) {
  return (o * shape.inputs + i) * shape.places + place;
}

static std::vector<int64_t> depthwiseOrder(const FilterShape &shape,
                                           int64_t block) {
  std::vector<int64_t> order;
  order.reserve(shape.size());
  int64_t packed = block ? shape.outputs / block * block : 0;
  for (int64_t first = 0; first < packed; first += block)
    for (int64_t place = 0; place < shape.places; ++place)
      for (int64_t c = first; c < first + block; ++c)
        order.push_back(plain(shape, c, 0, place));
  for (int64_t place = 0; place < shape.places; ++place)
    for (int64_t c = packed; c < shape.outputs; ++c)
      order.push_back(plain(shape, c, 0, place));
  return order;
}

std::vector<int64_t> esp::filterOrder(const FilterShape &shape, int64_t block) {
  if (shape.isDepthwise)
    return depthwiseOrder(shape, block);
  std::vector<int64_t> order;
  order.reserve(shape.size());
  int64_t packed = block ? shape.outputs / block * block : 0;
  for (int64_t first = 0; first < packed; first += block)
    for (int64_t place = 0; place < shape.places; ++place)
      for (int64_t i = 0; i < shape.inputs; ++i)
        for (int64_t o = first; o < first + block; ++o)
          order.push_back(plain(shape, o, i, place));
  for (int64_t o = packed; o < shape.outputs; ++o)
    for (int64_t place = 0; place < shape.places; ++place)
      for (int64_t i = 0; i < shape.inputs; ++i)
        order.push_back(plain(shape, o, i, place));
  return order;
}

std::string esp::layoutName(const FilterShape &shape, int64_t block,
                            size_t windowRank) {
  std::string window = windowRank == 1 ? "W" : "HW";
  if (!block)
    return shape.isDepthwise ? window + "CN" : "N" + window + "C";
  std::string size = std::to_string(block);
  std::string name = "(N/" + size + ")" + window + "C" + size;
  return shape.outputs % block ? name + "_UNALIGNED" : name;
}

std::vector<char> esp::transposedBytes(llvm::ArrayRef<char> data,
                                       unsigned width, int64_t outer,
                                       int64_t rows) {
  std::vector<char> moved;
  moved.reserve(data.size());
  int64_t block = outer ? data.size() / width / outer : 0,
          columns = rows ? block / rows : 0;
  for (int64_t first = 0; first < outer * block; first += block)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = 0; row < rows; ++row) {
        auto *at = data.data() + (first + row * columns + column) * width;
        moved.insert(moved.end(), at, at + width);
      }
  return moved;
}
