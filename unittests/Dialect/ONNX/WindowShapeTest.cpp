// Static windows, against windows that are laid one by one.

#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "gtest/gtest.h"

using namespace onnxquant::onnx;
using namespace onnxquant::onnx::window;

namespace {

using Ints = llvm::SmallVector<int64_t>;

Window make(int64_t kernel, int64_t stride, int64_t dilation, int64_t begin,
            int64_t end, AutoPad autoPad = AutoPad::NotSet,
            bool ceilMode = false) {
  Window window;
  window.kernel = {Dim(kernel)};
  window.strides = {stride};
  window.dilations = {dilation};
  window.padsBegin = {begin};
  window.padsEnd = {end};
  window.autoPad = autoPad;
  window.ceilMode = ceilMode;
  return window;
}

} // namespace

TEST(WindowShapeTest, AutoPadNames) {
  EXPECT_EQ(parseAutoPad("NOTSET"), AutoPad::NotSet);
  EXPECT_EQ(parseAutoPad("SAME_UPPER"), AutoPad::SameUpper);
  EXPECT_EQ(parseAutoPad("SAME_LOWER"), AutoPad::SameLower);
  EXPECT_EQ(parseAutoPad("VALID"), AutoPad::Valid);
  EXPECT_FALSE(parseAutoPad("same_upper"));
  EXPECT_FALSE(parseAutoPad(""));
}

TEST(WindowShapeTest, ExplicitPads) {
  auto window = getStaticWindow(make(3, 2, 1, 1, 1), {8});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->output, Ints({4}));
  EXPECT_EQ(window->padsBegin, Ints({1}));
  EXPECT_EQ(window->padsEnd, Ints({1}));
  EXPECT_EQ(window->overhang, Ints({0}));
}

TEST(WindowShapeTest, SamePads) {
  auto upper = getStaticWindow(make(3, 2, 1, 0, 0, AutoPad::SameUpper), {8});
  ASSERT_TRUE(upper);
  EXPECT_EQ(upper->output, Ints({4}));
  EXPECT_EQ(upper->padsBegin, Ints({0}));
  EXPECT_EQ(upper->padsEnd, Ints({1}));
  auto lower = getStaticWindow(make(3, 2, 1, 0, 0, AutoPad::SameLower), {8});
  ASSERT_TRUE(lower);
  EXPECT_EQ(lower->padsBegin, Ints({1}));
  EXPECT_EQ(lower->padsEnd, Ints({0}));
  // A stride longer than the window needs no pads.
  auto sparse = getStaticWindow(make(1, 4, 1, 0, 0, AutoPad::SameUpper), {8});
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->output, Ints({2}));
  EXPECT_EQ(sparse->padsBegin, Ints({0}));
  EXPECT_EQ(sparse->padsEnd, Ints({0}));
  EXPECT_EQ(sparse->overhang, Ints({0}));
}

TEST(WindowShapeTest, CeilModeHangsOver) {
  auto window =
      getStaticWindow(make(3, 2, 1, 0, 0, AutoPad::NotSet, true), {4});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->output, Ints({2}));
  EXPECT_EQ(window->overhang, Ints({1}));
  EXPECT_EQ(window->padsEnd, Ints({0}));
}

TEST(WindowShapeTest, Transposed) {
  auto asked = getStaticTransposedWindow(make(3, 3, 1, 0, 0), {3}, {}, {10});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->output, Ints({10}));
  EXPECT_EQ(asked->padsBegin, Ints({0}));
  EXPECT_EQ(asked->padsEnd, Ints({-1}));
  auto upper =
      getStaticTransposedWindow(make(3, 2, 1, 0, 0, AutoPad::SameUpper), {3});
  ASSERT_TRUE(upper);
  EXPECT_EQ(upper->output, Ints({6}));
  EXPECT_EQ(upper->padsBegin, Ints({0}));
  EXPECT_EQ(upper->padsEnd, Ints({1}));
  auto lower =
      getStaticTransposedWindow(make(3, 2, 1, 0, 0, AutoPad::SameLower), {3});
  ASSERT_TRUE(lower);
  EXPECT_EQ(lower->padsBegin, Ints({1}));
  EXPECT_EQ(lower->padsEnd, Ints({0}));
  auto padded = getStaticTransposedWindow(make(3, 3, 1, 1, 2), {3}, {1});
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->output, Ints({7}));
  EXPECT_EQ(padded->padsBegin, Ints({1}));
  EXPECT_EQ(padded->padsEnd, Ints({2}));
}

TEST(WindowShapeTest, EveryRankCounts) {
  Window window = make(3, 1, 1, 1, 1);
  EXPECT_FALSE(getStaticWindow(window, {}));
  EXPECT_FALSE(getStaticWindow(window, {4, 4}));
  window.kernel = {Dim::symbol("k")};
  EXPECT_FALSE(getStaticWindow(window, {4}));
  EXPECT_FALSE(getStaticTransposedWindow(window, {4}));
}

/// Lays windows one by one over the padded input.
static int64_t layWindows(int64_t input, int64_t extent, int64_t stride,
                          int64_t begin, int64_t end, bool ceilMode) {
  int64_t count = 0, padded = begin + input + end;
  for (int64_t start = 0;; start += stride, ++count) {
    bool fits = start + extent <= padded;
    // With ceil_mode one more may start where the input or the first padding
    // is, if the one before it left something over.
    bool rest = ceilMode && start < begin + input &&
                (start == 0 || start - stride + extent < padded);
    if (!fits && !rest)
      return count;
    if (ceilMode && start >= begin + input)
      return count;
  }
}

TEST(WindowShapeTest, CountsMatchWindowsLaidOneByOne) {
  unsigned compared = 0;
  for (int64_t input = 1; input <= 9; ++input)
    for (int64_t kernel = 1; kernel <= 4; ++kernel)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t dilation = 1; dilation <= 3; ++dilation)
          for (int64_t begin = 0; begin <= 3; ++begin)
            for (int64_t end = 0; end <= 3; ++end)
              for (bool ceilMode : {false, true}) {
                int64_t extent = (kernel - 1) * dilation + 1;
                if (extent > input + begin + end)
                  continue;
                auto window =
                    getStaticWindow(make(kernel, stride, dilation, begin, end,
                                         AutoPad::NotSet, ceilMode),
                                    {input});
                ASSERT_TRUE(window);
                int64_t count =
                    layWindows(input, extent, stride, begin, end, ceilMode);
                EXPECT_EQ(window->output[0], count)
                    << input << " k" << kernel << " s" << stride << " d"
                    << dilation << " p" << begin << "," << end << " ceil "
                    << ceilMode;
                int64_t reach = (count - 1) * stride + extent;
                EXPECT_EQ(window->overhang[0],
                          std::max<int64_t>(0, reach - input - begin - end));
                ++compared;
              }
  EXPECT_GT(compared, 10000u);
}

TEST(WindowShapeTest, SamePadsAreTheSmallestThatFit) {
  for (int64_t input = 1; input <= 12; ++input)
    for (int64_t kernel = 1; kernel <= 5; ++kernel)
      for (int64_t stride = 1; stride <= 5; ++stride)
        for (AutoPad autoPad : {AutoPad::SameUpper, AutoPad::SameLower}) {
          auto window =
              getStaticWindow(make(kernel, stride, 1, 0, 0, autoPad), {input});
          ASSERT_TRUE(window);
          int64_t wanted = 0;
          for (int64_t start = 0; start < input; start += stride)
            ++wanted;
          int64_t total = 0;
          while (layWindows(input + total, kernel, stride, 0, 0, false) <
                 wanted)
            ++total;
          EXPECT_EQ(window->output[0], wanted);
          EXPECT_EQ(window->padsBegin[0] + window->padsEnd[0], total);
          int64_t more = autoPad == AutoPad::SameUpper ? window->padsEnd[0]
                                                       : window->padsBegin[0];
          EXPECT_EQ(more, (total + 1) / 2);
        }
}

TEST(WindowShapeTest, TransposedSizesMatchAScatter) {
  for (int64_t input = 1; input <= 6; ++input)
    for (int64_t kernel = 1; kernel <= 4; ++kernel)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t dilation = 1; dilation <= 2; ++dilation)
          for (int64_t padding = 0; padding < stride; ++padding) {
            int64_t full = 0;
            for (int64_t i = 0; i < input; ++i)
              for (int64_t k = 0; k < kernel; ++k)
                full = std::max(full, i * stride + k * dilation + 1);
            auto window = getStaticTransposedWindow(
                make(kernel, stride, dilation, 0, 0), {input}, {padding});
            ASSERT_TRUE(window);
            EXPECT_EQ(window->output[0], full + padding);
          }
}

TEST(WindowShapeTest, HugeNumbersGiveNone) {
  const int64_t values[] = {
      0, 1, 2, 7, INT64_MAX, INT64_MAX - 1, 1LL << 62, -1, INT64_MIN};
  const AutoPad pads[] = {AutoPad::NotSet, AutoPad::SameUpper,
                          AutoPad::SameLower, AutoPad::Valid};
  unsigned found = 0;
  for (int64_t kernel : values)
    for (int64_t stride : {int64_t(1), int64_t(2), int64_t(7), INT64_MAX})
      for (int64_t dilation : values)
        for (int64_t begin : values)
          for (int64_t input : values)
            for (AutoPad autoPad : pads) {
              Window window =
                  make(kernel, stride, dilation, begin, 1, autoPad, true);
              for (const auto &result :
                   {getStaticWindow(window, {input}),
                    getStaticTransposedWindow(window, {input}, {kernel}, {}),
                    getStaticTransposedWindow(window, {input}, {}, {kernel})}) {
                if (!result)
                  continue;
                ++found;
                EXPECT_GE(result->output[0], 0);
              }
            }
  EXPECT_GT(found, 0u);
}
