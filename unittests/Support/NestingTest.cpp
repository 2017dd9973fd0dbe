// How deep texts nest, before a parser calls itself that often.

#include "OnnxQuant/Support/Nesting.h"
#include "OnnxQuant/Support/Json.h"
#include "gtest/gtest.h"

using namespace onnxquant;

static std::string repeat(llvm::StringRef text, unsigned times) {
  std::string result;
  for (unsigned i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST(Nesting, OfJson) {
  EXPECT_FALSE(jsonNestsDeeper(repeat("[", 5) + repeat("]", 5), 5));
  EXPECT_TRUE(jsonNestsDeeper(repeat("[", 6) + repeat("]", 6), 5));
  EXPECT_TRUE(jsonNestsDeeper(repeat("{\"a\":", 6), 5));
  EXPECT_FALSE(jsonNestsDeeper(repeat("[],", 100), 5));
  EXPECT_FALSE(jsonNestsDeeper("\"" + repeat("[", 100) + "\"", 5));
  EXPECT_FALSE(jsonNestsDeeper("\"\\\"" + repeat("[", 100), 5));
  EXPECT_FALSE(jsonNestsDeeper("\"\\", 5));
}

TEST(Nesting, DeepJsonIsAnError) {
  auto value = parseJson(repeat("[", 1000000));
  ASSERT_FALSE(static_cast<bool>(value));
  EXPECT_NE(llvm::toString(value.takeError()).find("nested deeper"),
            std::string::npos);
}

TEST(Nesting, OfYaml) {
  EXPECT_TRUE(yamlNestsDeeper("a: " + repeat("[", 100), 64));
  EXPECT_TRUE(yamlNestsDeeper(repeat("- ", 100) + "x", 64));
  EXPECT_TRUE(yamlNestsDeeper(repeat("? ", 100) + "x", 64));
  std::string blocks;
  for (unsigned i = 0; i < 100; ++i)
    blocks += std::string(i, ' ') + "a:\n";
  EXPECT_TRUE(yamlNestsDeeper(blocks, 64));
  EXPECT_FALSE(yamlNestsDeeper(blocks, 200));
  EXPECT_FALSE(yamlNestsDeeper(repeat("a: [1, 2]\nb:\n  - c\n", 100), 3));
  EXPECT_FALSE(yamlNestsDeeper("a: '" + repeat("[", 100) + "'", 64));
  EXPECT_FALSE(yamlNestsDeeper("a: 1 # " + repeat("[", 100), 64));
}

TEST(Nesting, OfMlir) {
  EXPECT_TRUE(mlirNestsDeeper(repeat("[", 600), 512));
  EXPECT_TRUE(mlirNestsDeeper(repeat("tuple<", 600), 512));
  EXPECT_TRUE(mlirNestsDeeper(repeat("\"a\"() ({", 300), 512));
  EXPECT_TRUE(mlirNestsDeeper("affine_map<(d0) -> (" + repeat("- ", 600), 512));
  EXPECT_FALSE(mlirNestsDeeper(repeat("(d0) -> (d0) ", 600), 4));
  EXPECT_FALSE(mlirNestsDeeper(repeat("(d0 >= 0, d0 <= 4) ", 600), 4));
  EXPECT_FALSE(mlirNestsDeeper("\"" + repeat("[", 600) + "\"", 4));
  EXPECT_FALSE(mlirNestsDeeper("// " + repeat("[", 600) + "\n()", 4));
  EXPECT_FALSE(mlirNestsDeeper(repeat("tensor<4x?xf32>, ", 600), 4));
}

TEST(Nesting, AliasesCountWithWhatTheyStandFor) {
  std::string text = "#a0 = [1]\n";
  for (unsigned i = 0; i < 600; ++i)
    text += "#a" + std::to_string(i + 1) + " = [#a" + std::to_string(i) + "]\n";
  EXPECT_TRUE(mlirNestsDeeper(text, 512));
  EXPECT_FALSE(mlirNestsDeeper(text, 2000));
}
