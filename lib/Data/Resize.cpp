// Resizing by convolution, as Pillow does it, and cropping.

#include "OnnxQuant/Data/Image.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace onnxquant;

/// Bits of a coefficient after the point: 32 less 8 for the pixel and 2 for
/// sums beyond one.
static constexpr int precision = 22;
static constexpr double pi = 3.14159265358979323846;

Expected<Filter> onnxquant::parseFilter(StringRef name) {
  int filter = StringSwitch<int>(name)
                   .Case("nearest", static_cast<int>(Filter::Nearest))
                   .Case("box", static_cast<int>(Filter::Box))
                   .Case("bilinear", static_cast<int>(Filter::Bilinear))
                   .Case("hamming", static_cast<int>(Filter::Hamming))
                   .Case("bicubic", static_cast<int>(Filter::Bicubic))
                   .Case("lanczos", static_cast<int>(Filter::Lanczos))
                   .Default(-1);
  if (filter < 0)
    return createStringError(inconvertibleErrorCode(),
                             "filter expects nearest, box, bilinear, hamming, "
                             "bicubic or lanczos, but got '" +
                                 name + "'");
  return static_cast<Filter>(filter);
}

static double sinc(double x) {
  return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
}

/// How far a filter reaches, and its weight at a distance.
static double reachOf(Filter filter) {
  switch (filter) {
  case Filter::Nearest:
  case Filter::Box:
    return 0.5;
  case Filter::Bilinear:
  case Filter::Hamming:
    return 1;
  case Filter::Bicubic:
    return 2;
  case Filter::Lanczos:
    return 3;
  }
  return 0;
}

static double weightOf(Filter filter, double x) {
  double d = std::fabs(x);
  switch (filter) {
  case Filter::Nearest:
  case Filter::Box:
    return x > -0.5 && x <= 0.5 ? 1 : 0;
  case Filter::Bilinear:
    return d < 1 ? 1 - d : 0;
  case Filter::Hamming:
    return d < 1 ? sinc(d) * (0.54 + 0.46 * std::cos(pi * d)) : 0;
  case Filter::Bicubic: {
    // Keys' kernel with a = -1/2.
    constexpr double a = -0.5;
    if (d < 1)
      return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
  }
  case Filter::Lanczos:
    return d < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
  return 0;
}

namespace {

/// The inputs that an output is made of: where they begin, and their weights.
struct Taps {
  int64_t begin = 0;
  std::vector<int32_t> weights;
};

} // namespace

static std::vector<Taps> tapsOf(int64_t from, int64_t to, Filter filter) {
  double scale = static_cast<double>(from) / static_cast<double>(to);
  double stretch = std::max(scale, 1.0);
  double reach = reachOf(filter) * stretch;
  std::vector<Taps> all(to);
  for (int64_t i = 0; i < to; ++i) {
    double center = (static_cast<double>(i) + 0.5) * scale;
    auto begin = static_cast<int64_t>(std::max(center - reach + 0.5, 0.0));
    int64_t end = std::min(static_cast<int64_t>(center + reach + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (int64_t x = begin; x < end; ++x) {
      double offset = static_cast<double>(x) - center + 0.5;
      weights.push_back(weightOf(filter, offset / stretch));
      sum += weights.back();
    }
    all[i].begin = begin;
    for (double weight : weights) {
      double fixed = (sum != 0 ? weight / sum : weight) * (1 << precision);
      all[i].weights.push_back(
          static_cast<int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
    }
  }
  return all;
}

/// One output value: weighted inputs that lie `stride` apart.
static uint8_t apply(const Taps &taps, const uint8_t *input, int64_t stride) {
  int32_t sum = 1 << (precision - 1);
  const uint8_t *at = input + taps.begin * stride;
  for (int32_t weight : taps.weights) {
    sum += weight * static_cast<int32_t>(*at);
    at += stride;
  }
  return static_cast<uint8_t>(std::clamp(sum >> precision, 0, 255));
}

static Image resizeColumns(const Image &image, int64_t width, Filter filter) {
  Image result{width, image.height, image.channels, {}};
  result.pixels.resize(width * image.height * image.channels);
  std::vector<Taps> taps = tapsOf(image.width, width, filter);
  uint8_t *out = result.pixels.data();
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t *row = image.pixels.data() + y * image.width * image.channels;
    for (const Taps &tap : taps)
      for (int64_t c = 0; c < image.channels; ++c)
        *out++ = apply(tap, row + c, image.channels);
  }
  return result;
}

static Image resizeRows(const Image &image, int64_t height, Filter filter) {
  Image result{image.width, height, image.channels, {}};
  int64_t stride = image.width * image.channels;
  result.pixels.resize(height * stride);
  std::vector<Taps> taps = tapsOf(image.height, height, filter);
  uint8_t *out = result.pixels.data();
  for (const Taps &tap : taps)
    for (int64_t x = 0; x < stride; ++x)
      *out++ = apply(tap, image.pixels.data() + x, stride);
  return result;
}

/// The pixel that the output's middle falls on.
static Image resizeNearest(const Image &image, int64_t width, int64_t height) {
  Image result{width, height, image.channels, {}};
  result.pixels.reserve(width * height * image.channels);
  auto source = [](int64_t i, int64_t from, int64_t to) {
    double scale = static_cast<double>(from) / static_cast<double>(to);
    auto at = static_cast<int64_t>((static_cast<double>(i) + 0.5) * scale);
    return std::min(at, from - 1);
  };
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < image.channels; ++c)
        result.pixels.push_back(image.at(source(x, image.width, width),
                                         source(y, image.height, height), c));
  return result;
}

Image onnxquant::resize(const Image &image, int64_t width, int64_t height,
                        Filter filter) {
  if (width == image.width && height == image.height)
    return image;
  if (filter == Filter::Nearest)
    return resizeNearest(image, width, height);
  Image result =
      width == image.width ? image : resizeColumns(image, width, filter);
  return height == image.height ? result : resizeRows(result, height, filter);
}

Image onnxquant::cropMiddle(const Image &image, int64_t width, int64_t height) {
  Image result{width, height, image.channels, {}};
  int64_t left = (image.width - width) / 2, top = (image.height - height) / 2;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t *row =
        image.pixels.data() + ((top + y) * image.width + left) * image.channels;
    result.pixels.insert(result.pixels.end(), row,
                         row + width * image.channels);
  }
  return result;
}

Image onnxquant::toGray(const Image &image) {
  if (image.channels == 1)
    return image;
  Image result{image.width, image.height, 1, {}};
  result.pixels.reserve(image.width * image.height);
  // 0.299, 0.587 and 0.114 in 16 bits.
  for (size_t i = 0; i + 2 < image.pixels.size(); i += 3)
    result.pixels.push_back((image.pixels[i] * 19595 +
                             image.pixels[i + 1] * 38470 +
                             image.pixels[i + 2] * 7471 + 0x8000) >>
                            16);
  return result;
}
