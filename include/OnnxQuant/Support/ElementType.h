// ONNX's numbers of element types.

#ifndef ONNXQUANT_SUPPORT_ELEMENTTYPE_H
#define ONNXQUANT_SUPPORT_ELEMENTTYPE_H

#include <cstdint>

namespace onnxquant::element {

enum Type : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
  FirstFloat8 = 17,
  LastFloat8 = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4 = 23,
};

} // namespace onnxquant::element

#endif // ONNXQUANT_SUPPORT_ELEMENTTYPE_H
