// Keys given twice are refused, wherever they are and however they are written.

#include "OnnxQuant/Support/Json.h"
#include "gtest/gtest.h"

using namespace onnxquant;

static std::string errorOf(llvm::StringRef text) {
  auto value = parseJson(text);
  return value ? "" : llvm::toString(value.takeError());
}

TEST(Json, TakesWhatIsThereOnce) {
  EXPECT_EQ(errorOf(R"({"a": 1, "b": {"a": "a"}, "c": ["a", "a", {"a": 1}]})"),
            "");
  EXPECT_EQ(errorOf(R"([{"a": 1}, {"a": 1}])"), "");
  EXPECT_EQ(errorOf(R"({"a\"": 1, "a": "{\"a\": 1, \"a\": 2}"})"), "");
  EXPECT_EQ(errorOf("3"), "");
}

TEST(Json, RefusesKeysGivenTwice) {
  EXPECT_EQ(errorOf(R"({"a": 1, "a": 1})"), "'a' is there twice");
  EXPECT_EQ(errorOf(R"({"x": [1, {"b": {}, "b": []}]})"), "'b' is there twice");
  EXPECT_EQ(errorOf(R"({"a": {"c": 1}, "b": "a", "\u0061": 2})"),
            "'a' is there twice");
}

TEST(Json, RefusesWhatIsNoJson) {
  EXPECT_NE(errorOf(R"({"a": 1, "a)"), "");
  EXPECT_NE(errorOf(""), "");
}
