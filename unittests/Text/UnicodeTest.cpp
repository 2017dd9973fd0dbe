// Code points and their categories.

#include "OnnxQuant/Text/Unicode.h"
#include "gtest/gtest.h"

using namespace onnxquant;

TEST(Unicode, Categories) {
  EXPECT_EQ(categoryOf(U'A'), Category::UpperLetter);
  EXPECT_EQ(categoryOf(U'z'), Category::LowerLetter);
  EXPECT_EQ(categoryOf(0x01C5), Category::TitleLetter);
  EXPECT_EQ(categoryOf(0x02B0), Category::ModifierLetter);
  EXPECT_EQ(categoryOf(0x6F22), Category::OtherLetter);
  EXPECT_EQ(categoryOf(0x0301), Category::Mark);
  EXPECT_EQ(categoryOf(0x0663), Category::Number);
  EXPECT_EQ(categoryOf(U'!'), Category::Punctuation);
  EXPECT_EQ(categoryOf(0x1F600), Category::Symbol);
  EXPECT_EQ(categoryOf(0x00A0), Category::Separator);
  EXPECT_EQ(categoryOf(0), Category::Other);
  EXPECT_EQ(categoryOf(0x10FFFF), Category::Other);
}

TEST(Unicode, WhiteSpace) {
  for (char32_t code : {U' ', U'\t', U'\n', U'\r', U'\u00A0', U'\u2003'})
    EXPECT_TRUE(isWhiteSpace(code)) << uint32_t(code);
  // A zero width space is none.
  for (char32_t code : {U'a', U'\u200B', U'\0'})
    EXPECT_FALSE(isWhiteSpace(code)) << uint32_t(code);
}

TEST(Unicode, Utf8BothWays) {
  std::string text = "a\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80";
  std::vector<char32_t> codes = {U'a', 0xE9, 0x6F22, 0x1F600};
  EXPECT_EQ(decodeUtf8(text), codes);
  EXPECT_EQ(encodeUtf8(codes), text);
}

TEST(Unicode, BytesThatAreNoTextAreReplacedOneByOne) {
  // Cut short, a longer form than needed, a surrogate.
  EXPECT_EQ(decodeUtf8("\xE6\xBC").size(), 2u);
  EXPECT_EQ(decodeUtf8("\xC0\x80").size(), 2u);
  EXPECT_EQ(decodeUtf8("\xED\xA0\x80").size(), 3u);
  EXPECT_EQ(decodeUtf8("\xFFz"), (std::vector<char32_t>{0xFFFD, U'z'}));
}

TEST(Unicode, IncompleteEnds) {
  EXPECT_EQ(countIncompleteUtf8(""), 0u);
  EXPECT_EQ(countIncompleteUtf8("a\xC3\xA9"), 0u);
  EXPECT_EQ(countIncompleteUtf8("a\xC3"), 1u);
  EXPECT_EQ(countIncompleteUtf8("\xF0\x9F\x98"), 3u);
  // What is broken already isn't waited for.
  EXPECT_EQ(countIncompleteUtf8("\x98\x98\x98\x98"), 0u);
}
