// Tensors in memory: what goes into a run and comes out of it.

#ifndef ONNXQUANT_SUPPORT_HOSTTENSOR_H
#define ONNXQUANT_SUPPORT_HOSTTENSOR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace onnxquant {

/// A dense tensor in row-major order. Elements are as compiled models have
/// them: ONNX's type numbers, a byte for each boolean and 4-bit integer.
struct HostTensor {
  std::string name;
  int32_t type = 1;
  std::vector<int64_t> dims;
  std::vector<char> data;

  int64_t numElements() const;
  /// An element as a double, for comparing and printing.
  double at(int64_t index) const;
};

/// Bytes of one element of an ONNX type; 0 if compiled models don't have it.
unsigned elementBytes(int32_t type);
/// ONNX's name of a type, such as `float32`.
std::string typeName(int32_t type);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_HOSTTENSOR_H
