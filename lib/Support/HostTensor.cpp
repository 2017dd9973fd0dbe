// Tensors in memory.

#include "OnnxQuant/Support/HostTensor.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;
using namespace onnxquant;

namespace {
struct TypeRow {
  int32_t type;
  unsigned bytes;
  StringLiteral name, numpy;
};
} // namespace

static const TypeRow types[] = {
    {1, 4, "float32", "<f4"},
    {2, 1, "uint8", "|u1"},
    {3, 1, "int8", "|i1"},
    {4, 2, "uint16", "<u2"},
    {5, 2, "int16", "<i2"},
    {6, 4, "int32", "<i4"},
    {7, 8, "int64", "<i8"},
    {9, 1, "bool", "|b1"},
    {10, 2, "float16", "<f2"},
    {11, 8, "float64", "<f8"},
    {12, 4, "uint32", "<u4"},
    {13, 8, "uint64", "<u8"},
    {16, 2, "bfloat16", "<u2"},
    {17, 1, "float8e4m3fn", "|u1"},
    {18, 1, "float8e4m3fnuz", "|u1"},
    {19, 1, "float8e5m2", "|u1"},
    {20, 1, "float8e5m2fnuz", "|u1"},
    {21, 1, "uint4", "|u1"},
    {22, 1, "int4", "|i1"},
    {23, 1, "float4e2m1", "|u1"},
};

static const TypeRow *findType(int32_t type) {
  for (const TypeRow &row : types)
    if (row.type == type)
      return &row;
  return nullptr;
}

unsigned onnxquant::elementBytes(int32_t type) {
  const TypeRow *row = findType(type);
  return row ? row->bytes : 0;
}

std::string onnxquant::typeName(int32_t type) {
  const TypeRow *row = findType(type);
  return row ? row->name.str() : "type " + std::to_string(type);
}

StringRef onnxquant::numpyType(int32_t type) {
  const TypeRow *row = findType(type);
  return row ? StringRef(row->numpy) : StringRef();
}

int32_t onnxquant::typeFromNumpy(StringRef descr) {
  for (const TypeRow &row : types)
    if (row.numpy == descr)
      return row.type;
  return 0;
}

int64_t HostTensor::numElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

template <typename T> static double readAs(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return static_cast<double>(value);
}

static double readFloat(const fltSemantics &semantics, uint64_t bits) {
  APFloat value(semantics, APInt(APFloat::getSizeInBits(semantics), bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

double HostTensor::at(int64_t index) const {
  const char *address = data.data() + index * elementBytes(type);
  uint8_t byte = static_cast<uint8_t>(*address);
  switch (type) {
  case 1:
    return readAs<float>(address);
  case 2:
  case 9:
  case 21:
    return byte;
  case 3:
  case 22:
    return readAs<int8_t>(address);
  case 4:
    return readAs<uint16_t>(address);
  case 5:
    return readAs<int16_t>(address);
  case 6:
    return readAs<int32_t>(address);
  case 7:
    return readAs<int64_t>(address);
  case 10:
    return readFloat(APFloat::IEEEhalf(), support::endian::read16le(address));
  case 11:
    return readAs<double>(address);
  case 12:
    return readAs<uint32_t>(address);
  case 13:
    return readAs<uint64_t>(address);
  case 16:
    return readFloat(APFloat::BFloat(), support::endian::read16le(address));
  case 17:
    return readFloat(APFloat::Float8E4M3FN(), byte);
  case 18:
    return readFloat(APFloat::Float8E4M3FNUZ(), byte);
  case 19:
    return readFloat(APFloat::Float8E5M2(), byte);
  case 20:
    return readFloat(APFloat::Float8E5M2FNUZ(), byte);
  case 23:
    return readFloat(APFloat::Float4E2M1FN(), byte & 15);
  default:
    return 0;
  }
}
