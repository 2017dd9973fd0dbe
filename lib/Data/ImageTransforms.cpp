// Preprocessings: the described one, those of an early tool, and the registry.

#include "OnnxQuant/Data/ImageTransforms.h"
#include "OnnxQuant/Support/Numbers.h"
#include "onnxquant-c/preprocess.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

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
    std::optional<double> number = parseNumber(part);
    if (!number)
      return fail(option + " expects numbers, but got '" + text + "'");
    numbers.push_back(*number);
  }
  return numbers;
}

/// HEIGHTxWIDTH or HEIGHT,WIDTH, or one number where `shorter` is given.
static Error parseSize(StringRef option, StringRef text, int64_t &height,
                       int64_t &width, int64_t *shorter) {
  auto read = [](StringRef part, int64_t &value) {
    return !part.trim().getAsInteger(10, value) && value >= 1 &&
           value <= maxSide;
  };
  size_t between = text.find_first_of("xX,");
  if (between == StringRef::npos && shorter && read(text, *shorter))
    return Error::success();
  StringRef first = text.take_front(between),
            second = between == StringRef::npos ? "" : text.substr(between + 1);
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

std::vector<std::string> SampleOptions::given() const {
  std::vector<std::string> names;
  auto add = [&](StringRef option, bool isSet) {
    if (isSet)
      names.push_back(option.str());
  };
  add("preprocess", !name.empty());
  add("size", !size.empty());
  add("crop", !crop.empty());
  add("filter", !filter.empty());
  add("layout", !layout.empty());
  add("channels", !channels.empty());
  add("mean", !mean.empty());
  add("scale", !scale.empty());
  add("letterbox", letterbox);
  add("multiple-of", multipleOf != 0);
  add("pad-at", !padAt.empty());
  add("pad-color", !padColor.empty());
  return names;
}

/// A word that must be one of some.
static Error checkWord(StringRef option, StringRef word,
                       ArrayRef<StringRef> known) {
  if (word.empty() || is_contained(known, word))
    return Error::success();
  std::string list;
  for (auto [index, name] : enumerate(known))
    list += (index == 0                  ? ""
             : index + 1 == known.size() ? " or "
                                         : ", ") +
            name.str();
  return fail(option + " expects " + list + ", but got '" + word + "'");
}

static Error checkPadding(const SampleOptions &options) {
  if (options.multipleOf < 0 || options.multipleOf > maxSide)
    return fail("multiple-of expects 1 to 32768, but got " +
                Twine(options.multipleOf));
  if (options.letterbox && !options.crop.empty())
    return fail("letterbox pads what crop would cut: they don't go together");
  bool pads = options.letterbox || options.multipleOf > 0;
  if (!options.padColor.empty() && !pads)
    return fail("pad-color is for letterbox and multiple-of");
  if (!options.padAt.empty() && !options.letterbox)
    return fail("pad-at is for letterbox");
  for (double value : options.padColor)
    if (value < 0 || value > 255 || value != std::floor(value))
      return fail("pad-color expects whole numbers from 0 to 255");
  return checkWord("pad-at", options.padAt, {"center", "corner"});
}

Error onnxquant::checkSampleOptions(const SampleOptions &options) {
  if (Error error = checkWord("layout", options.layout, {"nchw", "nhwc"}))
    return error;
  if (Error error =
          checkWord("channels", options.channels, {"rgb", "bgr", "gray"}))
    return error;
  if (!options.filter.empty())
    if (Error error = parseFilter(options.filter).takeError())
      return error;
  int64_t height, width, shorter;
  if (!options.crop.empty())
    if (Error error = parseSize("crop", options.crop, height, width, nullptr))
      return error;
  if (!options.size.empty())
    if (Error error = parseSize("size", options.size, height, width, &shorter))
      return error;
  if (Error error = findPreprocess(options.name).takeError())
    return error;
  // A plug-in gets the image and the input's shape, and does the rest itself.
  bool isPlugin = isPluginPreprocess(options.name),
       isOld = StringRef(options.name).starts_with("preprocess_method");
  for (const std::string &name : options.given())
    if ((isPlugin && !is_contained({"preprocess", "size", "layout"}, name)) ||
        (isOld && (name == "mean" || name == "scale")))
      return fail(name + " means nothing with preprocess " + options.name +
                  ", which does that by itself");
  return checkPadding(options);
}

/// Where an input has its channels, and how many of them images have.
static Error planChannels(const SampleOptions &options, PreprocessPlan &plan) {
  ArrayRef<int64_t> dims = plan.input.dims;
  auto isColor = [](int64_t dim) { return dim == 3 || dim == 1; };
  plan.nhwc = options.layout.empty() ? isColor(dims[3]) && !isColor(dims[1])
                                     : options.layout == "nhwc";
  int64_t depth = dims[plan.nhwc ? 3 : 1], other = dims[plan.nhwc ? 1 : 3];
  if (!options.layout.empty() && !isColor(depth) &&
      (isColor(other) || (depth >= 0 && other < 0)))
    return fail("layout " + options.layout + " contradicts input '" +
                plan.input.name + "' of shape " + shapeText(dims) +
                ", which has its channels " + (plan.nhwc ? "second" : "last") +
                ": say " + (plan.nhwc ? "nchw" : "nhwc") + ", or leave it out");
  plan.gray =
      options.channels.empty() ? depth == 1 : options.channels == "gray";
  plan.bgr = options.channels == "bgr";
  return Error::success();
}

/// The size that images get, and how.
static Error planSize(const SampleOptions &options, PreprocessPlan &plan) {
  ArrayRef<int64_t> dims = plan.input.dims;
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
  plan.letterbox = options.letterbox;
  plan.padsCorner = options.padAt == "corner";
  plan.multipleOf = options.multipleOf;
  if (!plan.letterbox)
    return Error::success();
  if (plan.shorter)
    plan.height = plan.width = std::exchange(plan.shorter, 0);
  if (plan.height == 0 || plan.width == 0)
    return fail("letterbox expects a size, since input '" + plan.input.name +
                "' of shape " + shapeText(dims) + " states none");
  return Error::success();
}

Expected<PreprocessPlan> onnxquant::planPreprocess(const SampleOptions &options,
                                                   const InputInfo &input) {
  PreprocessPlan plan;
  plan.input = input;
  if (input.dims.size() != 4)
    return fail("input '" + input.name +
                "' expects images only if it has 4 dimensions, but it has " +
                Twine(input.dims.size()));
  if (Error error = checkSampleOptions(options))
    return error;
  if (Error error = planChannels(options, plan))
    return error;
  std::string filter = options.filter;
  if (filter.empty())
    filter = StringRef(options.name).starts_with("preprocess_method")
                 ? "bicubic"
                 : "bilinear";
  Expected<Filter> parsed = parseFilter(filter);
  if (!parsed)
    return parsed.takeError();
  plan.filter = *parsed;
  if (Error error = planSize(options, plan))
    return error;
  int64_t channels = plan.gray ? 1 : 3;
  if (Error error = checkNumbers("mean", options.mean, channels))
    return error;
  if (Error error = checkNumbers("scale", options.scale, channels))
    return error;
  if (Error error = checkNumbers("pad-color", options.padColor, channels))
    return error;
  plan.mean = options.mean;
  plan.scale = options.scale;
  plan.padColor = options.padColor;
  return plan;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The size that an image is resized to.
static std::pair<int64_t, int64_t> resizedSize(int64_t width, int64_t height,
                                               const PreprocessPlan &plan) {
  if (plan.shorter) {
    bool wide = width >= height;
    int64_t longer =
        plan.shorter * std::max(width, height) / std::min(width, height);
    return {wide ? longer : plan.shorter, wide ? plan.shorter : longer};
  }
  if (!plan.letterbox)
    return {plan.width ? plan.width : width,
            plan.height ? plan.height : height};
  double ratio = std::min(static_cast<double>(plan.width) / width,
                          static_cast<double>(plan.height) / height);
  auto side = [&](int64_t length, int64_t room) {
    return std::clamp<int64_t>(std::llrint(length * ratio), 1, room);
  };
  return {side(width, plan.width), side(height, plan.height)};
}

Expected<ImagePlacement> onnxquant::placeImage(int64_t width, int64_t height,
                                               const PreprocessPlan &plan) {
  ImagePlacement place;
  std::tie(place.resizedWidth, place.resizedHeight) =
      resizedSize(width, height, plan);
  place.width = place.resizedWidth;
  place.height = place.resizedHeight;
  if (place.width > 4 * maxSide || place.height > 4 * maxSide)
    return fail("would become " + Twine(place.height) + "x" +
                Twine(place.width) + ", which is too large");
  if (plan.cropHeight > 0) {
    if (place.width < plan.cropWidth || place.height < plan.cropHeight)
      return fail("has " + Twine(place.height) + "x" + Twine(place.width) +
                  " pixels, too few for a crop of " + Twine(plan.cropHeight) +
                  "x" + Twine(plan.cropWidth));
    place.left = -((place.width - plan.cropWidth) / 2);
    place.top = -((place.height - plan.cropHeight) / 2);
    place.width = plan.cropWidth;
    place.height = plan.cropHeight;
  }
  if (plan.letterbox) {
    place.left = plan.padsCorner ? 0 : (plan.width - place.width) / 2;
    place.top = plan.padsCorner ? 0 : (plan.height - place.height) / 2;
    place.width = plan.width;
    place.height = plan.height;
  }
  if (plan.multipleOf > 0) {
    place.width = alignTo(place.width, plan.multipleOf);
    place.height = alignTo(place.height, plan.multipleOf);
  }
  return place;
}

/// Puts an image onto a larger one of one color.
static Image padImage(const Image &image, const ImagePlacement &place,
                      const PreprocessPlan &plan) {
  /// What YOLO's letterboxes have.
  constexpr uint8_t gray = 114;
  Image padded{place.width, place.height, image.channels, {}};
  padded.pixels.resize(place.width * place.height * image.channels);
  std::array<uint8_t, 3> color = {gray, gray, gray};
  for (int64_t c = 0; c < image.channels && !plan.padColor.empty(); ++c) {
    // The tensor's order may be the other way around.
    int64_t from = plan.bgr ? image.channels - 1 - c : c;
    color[c] = static_cast<uint8_t>(
        plan.padColor[plan.padColor.size() == 1 ? 0 : from]);
  }
  for (size_t i = 0; i < padded.pixels.size(); ++i)
    padded.pixels[i] = color[i % image.channels];
  int64_t row = image.width * image.channels;
  for (int64_t y = 0; y < image.height; ++y)
    std::copy_n(image.pixels.begin() + y * row, row,
                padded.pixels.begin() +
                    ((place.top + y) * place.width + place.left) *
                        image.channels);
  return padded;
}

Expected<Image> onnxquant::fitImage(Image image, const PreprocessPlan &plan) {
  if (plan.gray)
    image = toGray(image);
  Expected<ImagePlacement> place = placeImage(image.width, image.height, plan);
  if (!place)
    return place.takeError();
  image = resize(image, place->resizedWidth, place->resizedHeight, plan.filter);
  if (plan.cropHeight > 0) {
    image = cropMiddle(image, plan.cropWidth, plan.cropHeight);
    place->left = place->top = 0;
  }
  if (image.width == place->width && image.height == place->height)
    return image;
  return padImage(image, *place, plan);
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
  std::set<std::string> plugins;
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

bool onnxquant::isPluginPreprocess(StringRef name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  return registry().plugins.count(name.str()) > 0;
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
        if (!name || !function)
          return;
        registerPreprocess(name, wrap(name, function));
        std::lock_guard<std::mutex> lock(registry().mutex);
        registry().plugins.insert(name);
      }};
  enter(&interface);
  return Error::success();
}
