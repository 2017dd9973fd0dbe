// Tensors in memory: what goes into a run and comes out of it.

#ifndef ONNXQUANT_SUPPORT_HOSTTENSOR_H
#define ONNXQUANT_SUPPORT_HOSTTENSOR_H

#include "llvm/ADT/ArrayRef.h"
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

/// Gives a tensor the element type that a model expects. Integers become any
/// type that holds each of them; floats become other floats, rounded; what
/// NumPy has no type for (bfloat16, 8-bit floats, 4-bit integers) comes as bits
/// or whole bytes. Says whether values were converted; the error, what was
/// expected.
llvm::Expected<bool> convertElements(HostTensor &tensor, int32_t type);

/// `[1, 3, ?]`: dynamic sizes are below zero.
std::string shapeText(llvm::ArrayRef<int64_t> dims);
/// Whether a shape is one that is expected, with sizes below zero for any.
bool fitsShape(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> expected);
/// What to do about a shape that would fit if its channels were elsewhere;
/// empty if it would not.
std::string layoutHint(llvm::ArrayRef<int64_t> dims,
                       llvm::ArrayRef<int64_t> expected);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_HOSTTENSOR_H
