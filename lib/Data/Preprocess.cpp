// Preprocessings: the described one, those of an early tool, and the registry.

#include "OnnxQuant/Data/Preprocess.h"
#include "onnxquant-c/preprocess.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The largest side that an image is resized to.
static constexpr int64_t maxSide = 32768;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Expected<std::vector<double>> onnxquant::parseNumbers(StringRef option,
                                                      StringRef text) {
  std::vector<double> numbers;
  SmallVector<StringRef> parts;
  SplitString(text, parts, ":,");
  for (StringRef part : parts) {
    double number;
    if (part.trim().getAsDouble(number) || !std::isfinite(number))
      return fail(option + " expects numbers, but got '" + text + "'");
    numbers.push_back(number);
  }
  return numbers;
}

/// HEIGHTxWIDTH, or one number where `shorter` is given.
static Error parseSize(StringRef option, StringRef text, int64_t &height,
                       int64_t &width, int64_t *shorter) {
  auto read = [](StringRef part, int64_t &value) {
    return !part.getAsInteger(10, value) && value >= 1 && value <= maxSide;
  };
  auto [first, second] = text.split('x');
  if (!text.contains('x') && shorter && read(text, *shorter))
    return Error::success();
  if (read(first, height) && read(second, width))
    return Error::success();
  return fail(option + " expects HEIGHTxWIDTH" +
              (shorter ? " or the length of the shorter side" : "") +
              " up to 32768, but got '" + text + "'");
}

static Error checkNumbers(StringRef option, ArrayRef<double> numbers,
                          int64_t channels) {
  if (numbers.empty() || numbers.size() == 1 ||
      static_cast<int64_t>(numbers.size()) == channels)
    return Error::success();
  return fail(option + " expects one number or " + Twine(channels) +
              ", but got " + Twine(numbers.size()));
}

Expected<PreprocessPlan> onnxquant::planPreprocess(const SampleOptions &options,
                                                   const InputInfo &input) {
  PreprocessPlan plan;
  plan.input = input;
  ArrayRef<int64_t> dims = input.dims;
  if (dims.size() != 4)
    return fail("input '" + input.name +
                "' expects images only if it has 4 dimensions, but it has " +
                Twine(dims.size()));
  bool lastIsColor = dims[3] == 3 || dims[3] == 1;
  bool secondIsColor = dims[1] == 3 || dims[1] == 1;
  if (options.layout.empty())
    plan.nhwc = lastIsColor && !secondIsColor;
  else if (options.layout == "nchw" || options.layout == "nhwc")
    plan.nhwc = options.layout == "nhwc";
  else
    return fail("layout expects nchw or nhwc, but got '" + options.layout +
                "'");
  int64_t depth = dims[plan.nhwc ? 3 : 1];
  if (options.channels.empty())
    plan.gray = depth == 1;
  else if (options.channels == "gray")
    plan.gray = true;
  else if (options.channels == "bgr")
    plan.bgr = true;
  else if (options.channels != "rgb")
    return fail("channels expects rgb, bgr or gray, but got '" +
                options.channels + "'");
  std::string filter = options.filter;
  if (filter.empty())
    filter = StringRef(options.name).starts_with("preprocess_method")
                 ? "bicubic"
                 : "bilinear";
  Expected<Filter> parsed = parseFilter(filter);
  if (!parsed)
    return parsed.takeError();
  plan.filter = *parsed;
  if (!options.crop.empty())
    if (Error error = parseSize("crop", options.crop, plan.cropHeight,
                                plan.cropWidth, nullptr))
      return error;
  if (!options.size.empty()) {
    if (Error error = parseSize("size", options.size, plan.height, plan.width,
                                &plan.shorter))
      return error;
  } else if (options.crop.empty()) {
    plan.height = std::max<int64_t>(dims[plan.nhwc ? 1 : 2], 0);
    plan.width = std::max<int64_t>(dims[plan.nhwc ? 2 : 3], 0);
  }
  int64_t channels = plan.gray ? 1 : 3;
  if (Error error = checkNumbers("mean", options.mean, channels))
    return error;
  if (Error error = checkNumbers("scale", options.scale, channels))
    return error;
  plan.mean = options.mean;
  plan.scale = options.scale;
  return plan;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Expected<Image> onnxquant::fitImage(Image image, const PreprocessPlan &plan) {
  if (plan.gray)
    image = toGray(image);
  int64_t width = plan.width ? plan.width : image.width;
  int64_t height = plan.height ? plan.height : image.height;
  if (plan.shorter) {
    bool wide = image.width >= image.height;
    int64_t longer = plan.shorter * std::max(image.width, image.height) /
                     std::min(image.width, image.height);
    width = wide ? longer : plan.shorter;
    height = wide ? plan.shorter : longer;
  }
  if (width > 4 * maxSide || height > 4 * maxSide)
    return fail("would become " + Twine(height) + "x" + Twine(width) +
                ", which is too large");
  image = resize(image, width, height, plan.filter);
  if (plan.cropHeight == 0)
    return image;
  if (image.width < plan.cropWidth || image.height < plan.cropHeight)
    return fail("has " + Twine(image.height) + "x" + Twine(image.width) +
                " pixels, too few for a crop of " + Twine(plan.cropHeight) +
                "x" + Twine(plan.cropWidth));
  return cropMiddle(image, plan.cropWidth, plan.cropHeight);
}

/// A number in an input's type.
static bool append(std::vector<char> &data, int32_t type, double value) {
  auto put = [&](auto number) {
    const char *bytes = reinterpret_cast<const char *>(&number);
    data.insert(data.end(), bytes, bytes + sizeof(number));
    return true;
  };
  switch (type) {
  case 1:
    return put(static_cast<float>(value));
  case 2:
    return put(static_cast<uint8_t>(
        std::lrint(std::min(std::max(value, 0.0), 255.0))));
  case 11:
    return put(value);
  case 10:
  case 16: {
    APFloat number(value);
    bool lost;
    number.convert(type == 10 ? APFloat::IEEEhalf() : APFloat::BFloat(),
                   APFloat::rmNearestTiesToEven, &lost);
    return put(static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue()));
  }
  default:
    return false;
  }
}

Expected<HostTensor>
onnxquant::layOut(const Image &image, const PreprocessPlan &plan,
                  function_ref<double(uint8_t, int64_t)> value) {
  HostTensor tensor;
  tensor.name = plan.input.name;
  tensor.type = plan.input.type;
  int64_t depth = image.channels;
  if (plan.nhwc)
    tensor.dims = {1, image.height, image.width, depth};
  else
    tensor.dims = {1, depth, image.height, image.width};
  tensor.data.reserve(image.pixels.size() * elementBytes(tensor.type));
  auto put = [&](int64_t x, int64_t y, int64_t c) {
    int64_t source = plan.bgr ? depth - 1 - c : c;
    return append(tensor.data, tensor.type, value(image.at(x, y, source), c));
  };
  bool fits = true;
  if (plan.nhwc) {
    for (int64_t y = 0; y < image.height && fits; ++y)
      for (int64_t x = 0; x < image.width; ++x)
        for (int64_t c = 0; c < depth; ++c)
          fits &= put(x, y, c);
  } else {
    for (int64_t c = 0; c < depth && fits; ++c)
      for (int64_t y = 0; y < image.height; ++y)
        for (int64_t x = 0; x < image.width; ++x)
          fits &= put(x, y, c);
  }
  if (!fits)
    return fail("input '" + plan.input.name +
                "' expects images only if it is a float or uint8, but it is " +
                typeName(plan.input.type));
  return tensor;
}

//===----------------------------------------------------------------------===//
// Preprocessings that come along
//===----------------------------------------------------------------------===//

static Expected<HostTensor> describedPreprocess(Image image,
                                                const PreprocessPlan &plan) {
  Expected<Image> fitted = fitImage(std::move(image), plan);
  if (!fitted)
    return fitted.takeError();
  auto pick = [](ArrayRef<double> list, int64_t c, double otherwise) {
    if (list.empty())
      return otherwise;
    return list.size() == 1 ? list[0] : list[c];
  };
  return layOut(*fitted, plan, [&](uint8_t value, int64_t c) {
    return (value - pick(plan.mean, c, 0)) * pick(plan.scale, c, 1);
  });
}

/// To [-1, 1], less the image's mean.
static Expected<HostTensor> preprocessMethod1(Image image,
                                              const PreprocessPlan &plan) {
  Expected<Image> fitted = fitImage(std::move(image), plan);
  if (!fitted)
    return fitted.takeError();
  double sum = 0;
  for (uint8_t value : fitted->pixels)
    sum += value / 127.5 - 1;
  double mean = sum / static_cast<double>(fitted->pixels.size());
  return layOut(*fitted, plan, [&](uint8_t value, int64_t) {
    return value / 127.5 - 1 - mean;
  });
}

/// Less the mean colors of ImageNet.
static Expected<HostTensor> preprocessMethod2(Image image,
                                              const PreprocessPlan &plan) {
  static constexpr double means[] = {123.68, 116.78, 103.94};
  Expected<Image> fitted = fitImage(std::move(image), plan);
  if (!fitted)
    return fitted.takeError();
  return layOut(*fitted, plan, [&](uint8_t value, int64_t c) {
    return value - means[plan.bgr ? 2 - c : c];
  });
}

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

namespace {
struct Registry {
  std::mutex mutex;
  std::map<std::string, Preprocess> functions = {
      {"", describedPreprocess},
      {"preprocess_method1", preprocessMethod1},
      {"preprocess_method2", preprocessMethod2},
  };
};
} // namespace

static Registry &registry() {
  static Registry theRegistry;
  return theRegistry;
}

void onnxquant::registerPreprocess(StringRef name, Preprocess function) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().functions[name.str()] = std::move(function);
}

Expected<Preprocess> onnxquant::findPreprocess(StringRef name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().functions.find(name.str());
  if (found != registry().functions.end())
    return found->second;
  std::string known;
  for (const auto &[key, function] : registry().functions)
    if (!key.empty())
      known += (known.empty() ? "" : ", ") + key;
  return fail("there is no preprocessing '" + name + "'; there are " + known);
}

/// A plug-in's function behind the registry's interface.
static Preprocess wrap(std::string name, onnxq_preprocess_function function) {
  return [name = std::move(name), function](
             Image image, const PreprocessPlan &plan) -> Expected<HostTensor> {
    HostTensor tensor;
    tensor.name = plan.input.name;
    tensor.type = plan.input.type;
    if (tensor.type != 1)
      return fail("preprocessing '" + name + "' makes float32, but input '" +
                  plan.input.name + "' is " + typeName(tensor.type));
    tensor.dims = plan.input.dims;
    auto own = [&](int64_t index, int64_t planned, int64_t actual) {
      if (tensor.dims[index] < 0)
        tensor.dims[index] = planned ? planned : actual;
    };
    own(0, 1, 1);
    own(plan.nhwc ? 1 : 2, plan.height, image.height);
    own(plan.nhwc ? 2 : 3, plan.width, image.width);
    own(plan.nhwc ? 3 : 1, 3, 3);
    tensor.data.resize(tensor.numElements() * sizeof(float));
    onnxq_image view = {image.pixels.data(), static_cast<int32_t>(image.width),
                        static_cast<int32_t>(image.height)};
    int32_t code = function(&view, tensor.dims.data(), tensor.dims.size(),
                            reinterpret_cast<float *>(tensor.data.data()));
    if (code != 0)
      return fail("is refused by preprocessing '" + name + "' with code " +
                  Twine(code));
    return tensor;
  };
}

Error onnxquant::loadPreprocessPlugin(StringRef path) {
  std::string message;
  sys::DynamicLibrary library =
      sys::DynamicLibrary::getPermanentLibrary(path.str().c_str(), &message);
  if (!library.isValid())
    return fail(path + ": can't be loaded (" + message + ")");
  auto *enter = reinterpret_cast<void (*)(const onnxq_preprocess_registry *)>(
      library.getAddressOfSymbol("onnxq_register_preprocess"));
  if (!enter)
    return fail(path + ": expects a function onnxq_register_preprocess, but "
                       "has none");
  onnxq_preprocess_registry interface = {
      ONNXQ_PREPROCESS_VERSION, nullptr,
      [](void *, const char *name, onnxq_preprocess_function function) {
        if (name && function)
          registerPreprocess(name, wrap(name, function));
      }};
  enter(&interface);
  return Error::success();
}
