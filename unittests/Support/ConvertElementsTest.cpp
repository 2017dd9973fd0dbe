// Elements of one type as those of another.

#include "OnnxQuant/Support/HostTensor.h"
#include "OnnxQuant/Support/Numbers.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace onnxquant;

namespace {

template <typename T> HostTensor tensorOf(int32_t type, std::vector<T> values) {
  HostTensor tensor;
  tensor.type = type;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.data.resize(values.size() * sizeof(T));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

std::string problem(HostTensor tensor, int32_t type) {
  auto converted = convertElements(tensor, type);
  return converted ? "" : llvm::toString(converted.takeError());
}

} // namespace

TEST(ConvertElementsTest, FloatsAreRounded) {
  HostTensor tensor = tensorOf<double>(11, {0.1, -2, 1e300});
  EXPECT_NE(problem(tensor, 1).find("1e+300"), std::string::npos);
  tensor = tensorOf<double>(11, {0.1, -2});
  auto converted = convertElements(tensor, 1);
  ASSERT_TRUE(bool(converted));
  EXPECT_TRUE(*converted);
  EXPECT_EQ(tensor.at(0), static_cast<double>(0.1f));
  EXPECT_EQ(problem(tensorOf<float>(1, {65504}), 10), "");
  EXPECT_NE(problem(tensorOf<float>(1, {1e6f}), 10), "");
}

TEST(ConvertElementsTest, IntegersKeepTheirValues) {
  EXPECT_EQ(problem(tensorOf<int32_t>(6, {-5, 7}), 7), "");
  EXPECT_EQ(problem(tensorOf<int64_t>(7, {-5, 7}), 6), "");
  EXPECT_NE(problem(tensorOf<int64_t>(7, {int64_t(1) << 40}), 6), "");
  EXPECT_NE(problem(tensorOf<int64_t>(7, {-1}), 13), "");
  EXPECT_EQ(problem(tensorOf<uint8_t>(2, {255}), 1), "");
  EXPECT_EQ(problem(tensorOf<int32_t>(6, {1 << 24}), 1), "");
  EXPECT_NE(problem(tensorOf<int32_t>(6, {(1 << 24) + 1}), 1), "");
  EXPECT_NE(problem(tensorOf<uint64_t>(13, {~uint64_t(0)}), 7), "");
  EXPECT_NE(problem(tensorOf<float>(1, {1}), 7), "");
}

TEST(ConvertElementsTest, WhatNumPyLacksComesAsBits) {
  HostTensor tensor = tensorOf<uint16_t>(4, {0x3f80});
  auto converted = convertElements(tensor, 16);
  ASSERT_TRUE(bool(converted));
  EXPECT_FALSE(*converted);
  EXPECT_EQ(tensor.at(0), 1);
  EXPECT_EQ(problem(tensorOf<uint8_t>(2, {16}), 21),
            "expects values of uint4, but got 16");
}

TEST(ConvertElementsTest, LayoutsAreRecognized) {
  EXPECT_NE(layoutHint({1, 8, 9, 3}, {-1, 3, 8, 9}).find("NHWC"),
            std::string::npos);
  EXPECT_NE(layoutHint({3, 8, 9}, {1, 8, 9, 3}).find("takes NHWC"),
            std::string::npos);
  EXPECT_EQ(layoutHint({1, 8, 9, 4}, {-1, 3, 8, 9}), "");
}

TEST(NumbersTest, FractionsAndSwitches) {
  EXPECT_EQ(parseNumber("1/4"), 0.25);
  EXPECT_EQ(parseNumber(" -2e1 "), -20);
  EXPECT_FALSE(parseNumber("1/0"));
  EXPECT_FALSE(parseNumber("1/"));
  EXPECT_FALSE(parseNumber("half"));
  EXPECT_EQ(parseTruth("False"), false);
  EXPECT_EQ(parseTruth("on"), true);
  EXPECT_FALSE(parseTruth("auto"));
}
