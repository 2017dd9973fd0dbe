// Calibration tables as other tools write them.
//
// ONNX Runtime's tool stores objects: {name: {"CLS": "TensorData", "lowest":
// {"CLS": "numpy.array", "data": x, "dtype": ..}, "highest": ..}}, perhaps
// below "data" of a {"CLS": "TensorsData"}. An array has a number for all, or
// one for each channel.
//
// TensorRT's cache is a line with version and algorithm, then `name: hex`
// lines: the bits of a float32, which is the tensor's scale, its threshold over
// 127.

#include "TableForeign.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// An object that says which class it was.
static const json::Object *asClass(const json::Value &value, StringRef name) {
  const json::Object *object = value.getAsObject();
  return object && object->getString("CLS") == name ? object : nullptr;
}

const json::Object *onnxquant::tensorsOfOnnxRuntime(const json::Object &root) {
  const json::Object *tensors = &root;
  if (root.getString("CLS") == StringRef("TensorsData"))
    return root.getObject("data");
  bool any = false;
  for (const auto &[name, value] : *tensors) {
    if (!asClass(value, "TensorData"))
      return nullptr;
    any = true;
  }
  return any ? tensors : nullptr;
}

/// All numbers of nested lists; false if there is something else.
static bool collect(const json::Value &value, SmallVectorImpl<double> &numbers,
                    unsigned depth = 0) {
  if (std::optional<double> number = value.getAsNumber()) {
    numbers.push_back(*number);
    return std::isfinite(*number);
  }
  const json::Array *list = value.getAsArray();
  return list && depth < 8 &&
         all_of(
             *list,
             [&](const json::Value &element) {
               return collect(element, numbers, depth + 1);
             });
}

/// The numbers of an array or a plain number; empty if they can't be read.
static SmallVector<double> numbersOf(const json::Object &tensor,
                                     StringRef key) {
  SmallVector<double> numbers;
  const json::Value *value = tensor.get(key);
  if (value)
    if (const json::Object *array = asClass(*value, "numpy.array"))
      value = array->get("data");
  if (!value || !collect(*value, numbers))
    numbers.clear();
  return numbers;
}

Expected<RangeTable>
onnxquant::rangesFromOnnxRuntime(const json::Object &tensors) {
  RangeTable ranges;
  for (const auto &[name, value] : tensors) {
    const json::Object *tensor = asClass(value, "TensorData");
    SmallVector<double> lowest, highest;
    if (tensor) {
      lowest = numbersOf(*tensor, "lowest");
      highest = numbersOf(*tensor, "highest");
    }
    if (lowest.empty() || highest.empty())
      return fail("tensor '" + name.str() +
                  "' expects finite numbers as lowest and highest");
    Range range = {*llvm::min_element(lowest), *llvm::max_element(highest)};
    if (range.min > range.max)
      return fail("tensor '" + name.str() +
                  "' expects its lowest value not above its highest");
    ranges[name.str()] = range;
  }
  return ranges;
}

bool onnxquant::isTensorRTCache(StringRef text) {
  StringRef first = text.split('\n').first;
  return first.starts_with("TRT-") && first.contains("Calibration");
}

Expected<RangeTable> onnxquant::rangesFromTensorRT(StringRef text) {
  constexpr double steps = 127;
  RangeTable ranges;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : ArrayRef(lines).drop_front()) {
    if (line.trim().empty())
      continue;
    // A name may hold colons and spaces.
    auto [name, digits] = line.rtrim().rsplit(": ");
    uint32_t bits = 0;
    if (digits.empty() || digits.size() > 8 || digits.getAsInteger(16, bits))
      return fail("expects 'name: hexadecimal scale', but got '" +
                  line.rtrim() + "'");
    double scale = llvm::bit_cast<float>(bits);
    if (!std::isfinite(scale) || scale < 0)
      return fail("tensor '" + name + "' expects a finite scale, but got '" +
                  digits + "'");
    ranges[name.str()] = {-scale * steps, scale * steps};
  }
  return ranges;
}
