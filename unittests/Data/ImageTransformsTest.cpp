// Preprocessings by their formulas, and the registry.

#include "OnnxQuant/Data/ImageTransforms.h"
#include "gtest/gtest.h"

using namespace onnxquant;

namespace {

const InputInfo input{"x", 1, {1, 3, 2, 2}};

Image fourPixels() {
  return {2, 2, 3, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}};
}

HostTensor apply(const SampleOptions &options, const InputInfo &info) {
  auto function = findPreprocess(options.name);
  auto plan = planPreprocess(options, info);
  EXPECT_TRUE(bool(function) && bool(plan));
  auto tensor = (*function)(fourPixels(), *plan);
  EXPECT_TRUE(bool(tensor)) << llvm::toString(tensor.takeError());
  return *tensor;
}

std::string refusal(const SampleOptions &options, const InputInfo &info) {
  auto plan = planPreprocess(options, info);
  return plan ? "" : llvm::toString(plan.takeError());
}

} // namespace

TEST(PreprocessTest, DescribedSubtractsThenScales) {
  SampleOptions options;
  options.mean = {10, 20, 30};
  options.scale = {0.5};
  HostTensor tensor = apply(options, input);
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{1, 3, 2, 2}));
  // Red of the four pixels first.
  EXPECT_EQ(tensor.at(0), -5);
  EXPECT_EQ(tensor.at(1), 10);
  EXPECT_EQ(tensor.at(3), 40);
  EXPECT_EQ(tensor.at(4), -5);
}

TEST(PreprocessTest, BgrTurnsChannelsAround) {
  SampleOptions options;
  options.channels = "bgr";
  options.mean = {1, 0, 0};
  HostTensor tensor = apply(options, input);
  EXPECT_EQ(tensor.at(0), 19);
  EXPECT_EQ(tensor.at(8), 0);
}

TEST(PreprocessTest, NhwcKeepsPixelsTogether) {
  HostTensor tensor = apply({}, {"x", 1, {1, 2, 2, 3}});
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{1, 2, 2, 3}));
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(tensor.at(i), 10 * i);
}

TEST(PreprocessTest, ByteInputsGetPixels) {
  HostTensor tensor = apply({}, {"x", 2, {1, 2, 2, 3}});
  EXPECT_EQ(tensor.type, 2);
  EXPECT_EQ(tensor.at(11), 110);
}

TEST(PreprocessTest, Method1CentersTheImage) {
  SampleOptions options;
  options.name = "preprocess_method1";
  HostTensor tensor = apply(options, input);
  double sum = 0;
  for (int64_t i = 0; i < 12; ++i)
    sum += tensor.at(i);
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(tensor.at(1) - tensor.at(0), 30 / 127.5, 1e-6);
}

TEST(PreprocessTest, Method2SubtractsMeanColors) {
  SampleOptions options;
  options.name = "preprocess_method2";
  HostTensor tensor = apply(options, input);
  EXPECT_FLOAT_EQ(tensor.at(0), 0 - 123.68f);
  EXPECT_FLOAT_EQ(tensor.at(4), 10 - 116.78f);
  EXPECT_FLOAT_EQ(tensor.at(8), 20 - 103.94f);
}

TEST(PreprocessTest, ShorterSideKeepsTheAspect) {
  SampleOptions options;
  options.size = "10";
  auto plan = planPreprocess(options, {"x", 1, {1, 3, -1, -1}});
  ASSERT_TRUE(bool(plan));
  auto image = fitImage({8, 4, 3, std::vector<uint8_t>(96, 7)}, *plan);
  ASSERT_TRUE(bool(image));
  EXPECT_EQ(image->height, 10);
  EXPECT_EQ(image->width, 20);
}

TEST(PreprocessTest, SmallImagesCantBeCropped) {
  SampleOptions options;
  options.crop = "5x5";
  auto plan = planPreprocess(options, {"x", 1, {1, 3, -1, -1}});
  ASSERT_TRUE(bool(plan));
  auto image = fitImage(fourPixels(), *plan);
  ASSERT_FALSE(bool(image));
  EXPECT_EQ(llvm::toString(image.takeError()),
            "has 2x2 pixels, too few for a crop of 5x5");
}

TEST(PreprocessTest, ALetterboxKeepsTheRatio) {
  SampleOptions options;
  options.letterbox = true;
  options.size = "10x6";
  auto plan = planPreprocess(options, {"x", 1, {1, 3, -1, -1}});
  ASSERT_TRUE(bool(plan));
  auto place = placeImage(/*width=*/4, /*height=*/2, *plan);
  ASSERT_TRUE(bool(place));
  EXPECT_EQ(place->resizedWidth, 6);
  EXPECT_EQ(place->resizedHeight, 3);
  EXPECT_EQ(place->left, 0);
  EXPECT_EQ(place->top, 3);
  EXPECT_EQ(place->width, 6);
  EXPECT_EQ(place->height, 10);
  auto image = fitImage({4, 2, 3, std::vector<uint8_t>(24, 7)}, *plan);
  ASSERT_TRUE(bool(image));
  EXPECT_EQ(image->at(0, 2, 0), 114);
  EXPECT_EQ(image->at(0, 3, 0), 7);
  EXPECT_EQ(image->at(5, 5, 2), 7);
  EXPECT_EQ(image->at(5, 6, 2), 114);
}

TEST(PreprocessTest, MultiplesArePaddedRightAndBelow) {
  SampleOptions options;
  options.multipleOf = 4;
  options.padColor = {1, 2, 3};
  auto plan = planPreprocess(options, {"x", 1, {1, 3, -1, -1}});
  ASSERT_TRUE(bool(plan));
  auto image = fitImage({5, 4, 3, std::vector<uint8_t>(60, 7)}, *plan);
  ASSERT_TRUE(bool(image));
  EXPECT_EQ(image->width, 8);
  EXPECT_EQ(image->height, 4);
  EXPECT_EQ(image->at(4, 3, 2), 7);
  EXPECT_EQ(image->at(5, 0, 2), 3);
}

TEST(PreprocessTest, OwnFunctionsAreFoundByName) {
  registerPreprocess(
      "zeros",
      [](Image, const PreprocessPlan &plan) -> llvm::Expected<HostTensor> {
        HostTensor tensor;
        tensor.dims = plan.input.dims;
        tensor.data.assign(4 * tensor.numElements(), 0);
        return tensor;
      });
  SampleOptions options;
  options.name = "zeros";
  EXPECT_EQ(apply(options, input).at(5), 0);
  auto unknown = findPreprocess("nothing");
  ASSERT_FALSE(bool(unknown));
  std::string message = llvm::toString(unknown.takeError());
  EXPECT_NE(message.find("preprocess_method1"), std::string::npos) << message;
}

TEST(PreprocessTest, WrongOptionsAreNamed) {
  auto with = [](auto set) {
    SampleOptions options;
    set(options);
    return refusal(options, input);
  };
  EXPECT_NE(with([](auto &o) { o.size = "0x5"; }).find("size"),
            std::string::npos);
  EXPECT_NE(with([](auto &o) { o.size = "999999x5"; }), "");
  EXPECT_NE(with([](auto &o) { o.filter = "cubic"; }).find("filter"),
            std::string::npos);
  EXPECT_NE(with([](auto &o) { o.layout = "chwn"; }).find("layout"),
            std::string::npos);
  EXPECT_NE(with([](auto &o) { o.channels = "yuv"; }).find("channels"),
            std::string::npos);
  EXPECT_NE(with([](auto &o) { o.mean = {1, 2}; }).find("mean"),
            std::string::npos);
  EXPECT_NE(refusal({}, {"x", 1, {1, 10}}).find("4 dimensions"),
            std::string::npos);
}
