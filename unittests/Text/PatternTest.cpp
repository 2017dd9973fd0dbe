// Regular expressions of tokenizers.

#include "OnnxQuant/Text/Pattern.h"
#include "OnnxQuant/Text/Unicode.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace onnxquant;

/// All matches, with bars between them.
static std::string matches(llvm::StringRef pattern, llvm::StringRef text) {
  auto parsed = Pattern::parse(pattern);
  if (!parsed)
    return "error: " + llvm::toString(parsed.takeError());
  std::vector<char32_t> codes = decodeUtf8(text);
  auto found = parsed->findAll(codes);
  if (!found)
    return "error: " + llvm::toString(found.takeError());
  std::vector<std::string> parts;
  for (Pattern::Span span : *found)
    parts.push_back(encodeUtf8(
        llvm::ArrayRef(codes).slice(span.begin, span.end - span.begin)));
  return llvm::join(parts, "|");
}

TEST(Pattern, Repetition) {
  EXPECT_EQ(matches("ab+c?", "abbc ab ac"), "abbc|ab");
  EXPECT_EQ(matches("a{2,3}", "aaaaaaa"), "aaa|aaa");
  EXPECT_EQ(matches("a{2}", "aaaaa"), "aa|aa");
  EXPECT_EQ(matches("(?:ab)+c", "ababc abab"), "ababc");
  // What follows gets its share, unless the repetition is possessive.
  EXPECT_EQ(matches("a+ab", "aaab"), "aaab");
  EXPECT_EQ(matches("a++ab", "aaab"), "");
}

TEST(Pattern, FirstAlternativeWins) {
  EXPECT_EQ(matches("a|ab", "ab"), "a");
  EXPECT_EQ(matches("(?:a|ab)c", "abc"), "abc");
}

TEST(Pattern, Classes) {
  EXPECT_EQ(matches("[a-c]+", "abcd"), "abc");
  EXPECT_EQ(matches("[^a-c]+", "abcd"), "d");
  EXPECT_EQ(matches(R"([\]\-x]+)", "a]-xb"), "]-x");
  EXPECT_EQ(matches("[]a]+", "a]b"), "a]");
  EXPECT_EQ(matches("[a-]+", "-a-b"), "-a-");
  EXPECT_EQ(matches(R"([\p{L}\p{N}]+)", "ab1 \xC3\xA9-2"), "ab1|\xC3\xA9|2");
  EXPECT_EQ(matches(R"([^\s\p{L}]+)", "a 1! b"), "1!");
  EXPECT_EQ(matches(R"(\P{L}+)", "a12b"), "12");
  EXPECT_EQ(matches("[\xE4\xB8\x80-\xE9\xBE\xA5]+", "a\xE6\xBC\xA2"),
            "\xE6\xBC\xA2");
}

TEST(Pattern, CaseIsIgnoredWithinItsGroup) {
  EXPECT_EQ(matches("(?i:'s|'t)x", "'Sx 'tX 'tx"), "'Sx|'tx");
  EXPECT_EQ(matches("(?i:[a-c]+)", "aBCd"), "aBC");
}

TEST(Pattern, Lookahead) {
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b  "), "  | |  ");
  EXPECT_EQ(matches("a(?=b)", "ab ac"), "a");
}

TEST(Pattern, Anchors) { EXPECT_EQ(matches("^a|b$", "aab b"), "a|b"); }

TEST(Pattern, WordsOfGpt2) {
  EXPECT_EQ(
      matches(
          R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
          "I'll pay  $30, ok?\n"),
      "I|'ll| pay| | $|30|,| ok|?|\n");
}

TEST(Pattern, WhatIsNotSupportedIsNamed) {
  EXPECT_EQ(matches("a(b", "ab"),
            "error: pattern, position 3: '(' without ')'");
  EXPECT_EQ(matches("a)b", "ab"),
            "error: pattern, position 1: ')' without '('");
  EXPECT_EQ(matches("[ab", "ab"),
            "error: pattern, position 3: '[' without ']'");
  EXPECT_EQ(matches("*a", "ab"),
            "error: pattern, position 0: nothing to repeat");
  EXPECT_EQ(matches(R"(\p{Greek})", "ab"),
            "error: pattern, position 9: unknown property 'Greek'");
  EXPECT_EQ(matches("a{5000}", "a"),
            "error: pattern, position 6: repeats more than 1000 times");
  EXPECT_EQ(matches("a+?", "a"), "error: pattern, position 2: repetition of as "
                                 "few as possible isn't supported");
  EXPECT_NE(matches("(?<=a)b", "ab").find("expects (?:"), std::string::npos);
  EXPECT_NE(matches("[b-a]", "ab").find("ends before it begins"),
            std::string::npos);
  EXPECT_NE(matches(std::string(100, '('), "a").find("nested"),
            std::string::npos);
}

TEST(Pattern, StepsAreBounded) {
  const char *tooMany =
      "error: the pattern that splits text takes too many steps";
  EXPECT_EQ(matches("(?:a+)+b", std::string(60, 'a')), tooMany);
  // So is the stack: no part of a match is left out without a word.
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "ab";
  EXPECT_EQ(matches("(?:ab)+", text), tooMany);
  EXPECT_EQ(matches(text, text), tooMany);
  EXPECT_EQ(matches("(?:ab)+", text.substr(0, 1000)), text.substr(0, 1000));
}

TEST(Pattern, RepetitionsOfRepetitionsAreBounded) {
  EXPECT_EQ(matches("a{2}{2}", "aaaaa"), "aaaa");
  EXPECT_NE(matches("a" + std::string(1000000, '*'), "a").find("nested"),
            std::string::npos);
}
