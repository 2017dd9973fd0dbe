// Weights as codes of few bits.

#include "Blocks.h"
#include "OnnxQuant/Transforms/Quantize/BlockCodes.h"
#include <cstring>

using namespace onnxquant;
using namespace onnxquant::python;

template <typename T> static py::bytes asBytes(const std::vector<T> &numbers) {
  return py::bytes(reinterpret_cast<const char *>(numbers.data()),
                   numbers.size() * sizeof(T));
}

py::tuple python::roundBlocks(const py::bytes &numbers, int64_t rows,
                              int64_t depth, unsigned bits, int64_t blockSize,
                              bool symmetric) {
  std::string_view text = numbers;
  if (bits != 2 && bits != 4 && bits != 8)
    throwError("Usage",
               "bits expects 2, 4 or 8, but got " + std::to_string(bits));
  if (rows < 1 || depth < 1 || blockSize < 1 ||
      text.size() / sizeof(float) / depth != static_cast<size_t>(rows) ||
      text.size() % (sizeof(float) * depth) != 0)
    throwError("Usage", "expects a matrix of " + std::to_string(rows) + " by " +
                            std::to_string(depth) + " float32 numbers");
  std::vector<float> matrix(text.size() / sizeof(float));
  std::memcpy(matrix.data(), text.data(), text.size());
  BlockCodes codes = [&]() {
    py::gil_scoped_release release;
    return roundToNearest(matrix, rows, depth, {bits, blockSize, symmetric});
  }();
  return py::make_tuple(asBytes(codes.codes), asBytes(codes.scales),
                        asBytes(codes.zeros));
}
