// Resizing against the published algorithm in doubles: weights of a filter that
// widens with the scale, columns then rows, rounded to 8 bits in between.

#include "OnnxQuant/Data/Image.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace onnxquant;

namespace {

constexpr double pi = 3.14159265358979323846;

double sinc(double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }

double kernel(Filter filter, double x) {
  x = std::fabs(x);
  switch (filter) {
  case Filter::Box:
    return x <= 0.5 ? 1 : 0;
  case Filter::Bilinear:
    return x < 1 ? 1 - x : 0;
  case Filter::Hamming:
    return x < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(pi * x)) : 0;
  case Filter::Bicubic:
    if (x < 1)
      return 1.5 * x * x * x - 2.5 * x * x + 1;
    return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
  case Filter::Lanczos:
    return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  default:
    return 0;
  }
}

double reach(Filter filter) {
  return filter == Filter::Box       ? 0.5
         : filter == Filter::Bicubic ? 2
         : filter == Filter::Lanczos ? 3
                                     : 1;
}

/// One line of numbers resized.
std::vector<double> resizeLine(const std::vector<double> &line, int64_t to,
                               Filter filter) {
  auto from = static_cast<int64_t>(line.size());
  double scale = static_cast<double>(from) / static_cast<double>(to);
  double wide = std::max(scale, 1.0);
  std::vector<double> result;
  for (int64_t i = 0; i < to; ++i) {
    double center = (static_cast<double>(i) + 0.5) * scale, sum = 0, all = 0;
    auto first = std::max<int64_t>(
        0, static_cast<int64_t>(center - reach(filter) * wide + 0.5));
    auto last = std::min<int64_t>(
        from, static_cast<int64_t>(center + reach(filter) * wide + 0.5));
    for (int64_t x = first; x < last; ++x) {
      double weight =
          kernel(filter, (static_cast<double>(x) + 0.5 - center) / wide);
      sum += weight * line[x];
      all += weight;
    }
    double value = std::floor(sum / all + 0.5);
    result.push_back(std::min(std::max(value, 0.0), 255.0));
  }
  return result;
}

Image randomImage(int64_t width, int64_t height, unsigned seed) {
  Image image{width, height, 3, {}};
  std::mt19937 random(seed);
  for (int64_t i = 0; i < width * height * 3; ++i)
    image.pixels.push_back(static_cast<uint8_t>(random()));
  return image;
}

/// The largest difference from the direct way.
double difference(const Image &image, int64_t width, int64_t height,
                  Filter filter) {
  Image result = resize(image, width, height, filter);
  EXPECT_EQ(result.width, width);
  EXPECT_EQ(result.height, height);
  double largest = 0;
  for (int64_t c = 0; c < 3; ++c) {
    std::vector<std::vector<double>> rows;
    for (int64_t y = 0; y < image.height; ++y) {
      std::vector<double> row;
      for (int64_t x = 0; x < image.width; ++x)
        row.push_back(image.at(x, y, c));
      rows.push_back(width == image.width ? row
                                          : resizeLine(row, width, filter));
    }
    for (int64_t x = 0; x < width; ++x) {
      std::vector<double> column;
      for (auto &row : rows)
        column.push_back(row[x]);
      if (height != image.height)
        column = resizeLine(column, height, filter);
      for (int64_t y = 0; y < height; ++y)
        largest = std::max(largest, std::fabs(column[y] - result.at(x, y, c)));
    }
  }
  return largest;
}

} // namespace

TEST(ResizeTest, EqualsThePublishedAlgorithm) {
  for (Filter filter : {Filter::Box, Filter::Bilinear, Filter::Hamming,
                        Filter::Bicubic, Filter::Lanczos})
    for (auto [width, height] :
         {std::pair(17, 23), std::pair(80, 9), std::pair(37, 60),
          std::pair(1, 1), std::pair(37, 11), std::pair(120, 41)})
      EXPECT_LE(difference(randomImage(37, 41, 5), width, height, filter), 1)
          << static_cast<int>(filter) << " " << width << "x" << height;
}

TEST(ResizeTest, NearestTakesThePixelUnderTheMiddle) {
  Image image = randomImage(5, 4, 9);
  Image result = resize(image, 3, 8, Filter::Nearest);
  for (int64_t y = 0; y < 8; ++y)
    for (int64_t x = 0; x < 3; ++x)
      EXPECT_EQ(result.at(x, y, 1),
                image.at(static_cast<int64_t>((x + 0.5) * 5 / 3),
                         static_cast<int64_t>((y + 0.5) / 2), 1));
}

TEST(ResizeTest, FlatImagesStayFlat) {
  Image image{9, 7, 3, std::vector<uint8_t>(9 * 7 * 3, 200)};
  for (Filter filter : {Filter::Box, Filter::Bilinear, Filter::Hamming,
                        Filter::Bicubic, Filter::Lanczos, Filter::Nearest}) {
    Image result = resize(image, 20, 3, filter);
    for (uint8_t value : result.pixels)
      EXPECT_EQ(value, 200);
  }
}

TEST(ResizeTest, CropsTheMiddle) {
  Image image{4, 3, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  Image middle = cropMiddle(image, 2, 1);
  EXPECT_EQ(middle.pixels, (std::vector<uint8_t>{5, 6}));
}

TEST(ResizeTest, GrayIsLuma) {
  Image image{3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}};
  EXPECT_EQ(toGray(image).pixels, (std::vector<uint8_t>{76, 150, 29}));
}
