// Elements of one type as those of another, where that keeps what they mean.

#include "OnnxQuant/Support/ElementType.h"
#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::element;

static bool isFloat(int32_t type) {
  return type == Float || type == Double || type == Float16 || type == BFloat16;
}

static bool isInteger(int32_t type) {
  return (type >= UInt8 && type <= Int64) || type == Bool || type == UInt32 ||
         type == UInt64;
}

std::string onnxquant::shapeText(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + (dims[i] < 0 ? "?" : std::to_string(dims[i]));
  return text + "]";
}

bool onnxquant::fitsShape(ArrayRef<int64_t> dims, ArrayRef<int64_t> expected) {
  if (dims.size() != expected.size())
    return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (expected[i] >= 0 && dims[i] != expected[i])
      return false;
  return true;
}

std::string onnxquant::layoutHint(ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> expected) {
  SmallVector<int64_t> d(dims);
  if (d.size() + 1 == expected.size())
    d.insert(d.begin(), 1);
  if (d.size() != 4 || fitsShape(d, expected))
    return "";
  if (fitsShape({d[0], d[3], d[1], d[2]}, expected))
    return "; it looks like NHWC, but the model takes NCHW: in NumPy, "
           "x.transpose(0, 3, 1, 2)";
  if (fitsShape({d[0], d[2], d[3], d[1]}, expected))
    return "; it looks like NCHW, but the model takes NHWC: in NumPy, "
           "x.transpose(0, 2, 3, 1)";
  return "";
}

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static std::string numberText(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.15g", value);
  return text;
}

/// Bits of small floats, and bytes that hold 4-bit integers. Says whether it
/// was such a case.
static Expected<bool> takeBits(HostTensor &tensor, int32_t type) {
  int32_t from = tensor.type;
  bool isFloat8 = type >= FirstFloat8 && type <= LastFloat8;
  bool isNibble = type == UInt4 || type == Float4;
  if ((type == BFloat16 && from == UInt16) || (isFloat8 && from == UInt8)) {
    tensor.type = type;
    return true;
  }
  if (!(isNibble && from == UInt8) && !(type == Int4 && from == Int8))
    return false;
  for (char byte : tensor.data) {
    int value = type == Int4 ? static_cast<signed char>(byte)
                             : static_cast<unsigned char>(byte);
    if (type == Int4 ? value < -8 || value > 7 : value > 15)
      return fail("expects values of " + typeName(type) + ", but got " +
                  Twine(value));
  }
  tensor.type = type;
  return true;
}

template <typename T> static T readAs(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// An element of an integer type; none if it is too large for int64.
static std::optional<int64_t> readInteger(const char *data, int32_t type) {
  switch (type) {
  case UInt8:
  case Bool:
    return readAs<uint8_t>(data);
  case Int8:
    return readAs<int8_t>(data);
  case UInt16:
    return readAs<uint16_t>(data);
  case Int16:
    return readAs<int16_t>(data);
  case Int32:
    return readAs<int32_t>(data);
  case UInt32:
    return readAs<uint32_t>(data);
  case UInt64: {
    auto value = readAs<uint64_t>(data);
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
    return static_cast<int64_t>(value);
  }
  default:
    return readAs<int64_t>(data);
  }
}

template <typename T> static bool writeInteger(char *data, int64_t value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value < 0)
      return false;
  } else if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
             value > static_cast<int64_t>(std::numeric_limits<T>::max())) {
    return false;
  }
  T small = static_cast<T>(value);
  std::memcpy(data, &small, sizeof(T));
  return true;
}

/// A number in a float type. What is finite stays finite; with `exact`, it
/// stays as it is.
static bool writeFloat(char *data, int32_t type, double value, bool exact) {
  double back = value;
  if (type == Double) {
    std::memcpy(data, &value, sizeof(value));
  } else if (type == Float) {
    auto rounded = static_cast<float>(value);
    std::memcpy(data, &rounded, sizeof(rounded));
    back = rounded;
  } else {
    APFloat number(value);
    bool lost;
    number.convert(type == Float16 ? APFloat::IEEEhalf() : APFloat::BFloat(),
                   APFloat::rmNearestTiesToEven, &lost);
    auto bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
    std::memcpy(data, &bits, sizeof(bits));
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    back = number.convertToDouble();
  }
  if (exact)
    return back == value;
  return std::isfinite(back) || !std::isfinite(value);
}

/// Writes an integer; false if the type can't hold it.
static bool write(char *data, int32_t type, int64_t value) {
  // Beyond this, a double is no longer every integer.
  constexpr int64_t most = int64_t(1) << 53;
  switch (type) {
  case UInt8:
    return writeInteger<uint8_t>(data, value);
  case Int8:
    return writeInteger<int8_t>(data, value);
  case UInt16:
    return writeInteger<uint16_t>(data, value);
  case Int16:
    return writeInteger<int16_t>(data, value);
  case Int32:
    return writeInteger<int32_t>(data, value);
  case UInt32:
    return writeInteger<uint32_t>(data, value);
  case UInt64:
    return writeInteger<uint64_t>(data, value);
  case Int64:
    return writeInteger<int64_t>(data, value);
  case Bool:
    return (value == 0 || value == 1) && writeInteger<uint8_t>(data, value);
  default:
    return value >= -most && value <= most &&
           writeFloat(data, type, static_cast<double>(value), /*exact=*/true);
  }
}

Expected<bool> onnxquant::convertElements(HostTensor &tensor, int32_t type) {
  int32_t from = tensor.type;
  if (from == type)
    return false;
  Expected<bool> taken = takeBits(tensor, type);
  if (!taken)
    return taken.takeError();
  if (*taken)
    return false;
  bool fromFloat = isFloat(from), fromInteger = isInteger(from);
  if (!(fromFloat && isFloat(type)) &&
      !(fromInteger && (isFloat(type) || isInteger(type))))
    return fail("expects elements of " + typeName(type) + ", but got " +
                typeName(from) + "; convert it, in NumPy by .astype(\"" +
                typeName(type) + "\")");
  unsigned size = elementBytes(type), oldSize = elementBytes(from);
  int64_t count = tensor.numElements();
  std::vector<char> data(count * size);
  for (int64_t i = 0; i < count; ++i) {
    const char *source = tensor.data.data() + i * oldSize;
    char *place = data.data() + i * size;
    bool fits;
    if (fromFloat) {
      fits = writeFloat(place, type, tensor.at(i), /*exact=*/false);
    } else {
      std::optional<int64_t> value = readInteger(source, from);
      fits = value && write(place, type, *value);
    }
    if (!fits)
      return fail("expects elements of " + typeName(type) + ", but got " +
                  typeName(from) + " with the value " +
                  numberText(tensor.at(i)) + ", which it can't hold");
  }
  tensor.data = std::move(data);
  tensor.type = type;
  return true;
}
