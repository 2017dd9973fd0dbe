// Text to tokens and back.

#include "OnnxQuant/Text/Tokenizer.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace onnxquant;

/// A tokenizer with these parts, or why there is none.
static llvm::Expected<Tokenizer> make(llvm::StringRef vocabulary,
                                      llvm::StringRef merges,
                                      llvm::StringRef more,
                                      llvm::StringRef model = "") {
  return Tokenizer::parse((R"({"model": {"type": "BPE", "vocab": )" +
                           vocabulary + R"(, "merges": )" + merges + model +
                           "}" + more + "}")
                              .str());
}

static std::string tokens(llvm::Expected<Tokenizer> tokenizer,
                          llvm::StringRef text, bool addsSpecial = true) {
  if (!tokenizer)
    return "error: " + llvm::toString(tokenizer.takeError());
  auto encoded = tokenizer->encode(text, addsSpecial);
  if (!encoded)
    return "error: " + llvm::toString(encoded.takeError());
  return llvm::join(
      llvm::map_range(*encoded,
                      [](int64_t token) { return std::to_string(token); }),
      " ");
}

static std::string decoded(llvm::Expected<Tokenizer> tokenizer,
                           llvm::ArrayRef<int64_t> list) {
  if (!tokenizer)
    return "error: " + llvm::toString(tokenizer.takeError());
  return tokenizer->decode(list);
}

static const char *const letters =
    R"({"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5, "<unk>": 6})";

TEST(Tokenizer, MergesByRankThenFromTheLeft) {
  EXPECT_EQ(tokens(make(letters, R"(["a b", "b c"])", ""), "abcbc"), "3 2 4");
  EXPECT_EQ(tokens(make(letters, R"(["b c", "a b", "a bc"])", ""), "abcab"),
            "5 3");
  EXPECT_EQ(tokens(make(letters, R"([["b", "c"], ["a", "b"]])", ""), "abc"),
            "0 4");
}

TEST(Tokenizer, UnknownCharacters) {
  const char *merges = R"(["a b"])";
  // What is left out lets its neighbours meet.
  EXPECT_EQ(tokens(make(letters, merges, ""), "axxb"), "3");
  EXPECT_EQ(
      tokens(make(letters, merges, "", R"(, "unk_token": "<unk>")"), "axxb"),
      "0 6 6 1");
  EXPECT_EQ(tokens(make(letters, merges, "",
                        R"(, "unk_token": "<unk>", "fuse_unk": true)"),
                   "axxb"),
            "0 6 1");
}

TEST(Tokenizer, WholePiecesGoFirstWhereMergesAreIgnored) {
  EXPECT_EQ(tokens(make(letters, R"(["a b"])", ""), "abc"), "3 2");
  EXPECT_EQ(
      tokens(make(letters, R"(["a b"])", "", R"(, "ignore_merges": true)"),
             "abc"),
      "5");
}

/// Spaces are a character of their own; other characters fall back to bytes.
static llvm::Expected<Tokenizer> makePieces() {
  return make(
      R"({"<s>": 0, "▁": 1, "a": 2, "▁a": 3, "<0xC3>": 4, "<0xA9>": 5})",
      R"(["▁ a"])", R"(,
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "post_processor": {"type": "TemplateProcessing", "single": [
      {"SpecialToken": {"id": "<s>", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "added_tokens": [{"id": 0, "content": "<s>", "special": true}])",
      R"(, "byte_fallback": true)");
}

TEST(Tokenizer, PiecesWithBytes) {
  EXPECT_EQ(tokens(makePieces(), "a aé"), "0 3 3 4 5");
  EXPECT_EQ(tokens(makePieces(), "a", /*addsSpecial=*/false), "3");
  EXPECT_EQ(tokens(makePieces(), "<s>a", /*addsSpecial=*/false), "0 3");
  EXPECT_EQ(decoded(makePieces(), {0, 3, 3, 4, 5}), "a aé");
  EXPECT_EQ(decoded(makePieces(), {4}), "\xEF\xBF\xBD");
}

TEST(Tokenizer, CodePointsComeOutWhole) {
  auto tokenizer = makePieces();
  ASSERT_TRUE(bool(tokenizer));
  TokenStream stream(*tokenizer);
  EXPECT_EQ(stream.add(3), "a");
  EXPECT_EQ(stream.add(4), "");
  EXPECT_EQ(stream.add(5), "é");
  EXPECT_EQ(stream.add(4), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
}

TEST(Tokenizer, BytesAsCharacters) {
  // A space is spelt Ġ, the bytes of é are Ã and ©.
  const char *vocabulary =
      R"({"a": 0, "Ġ": 1, "Ġa": 2, "Ã": 3, "©": 4, "Ã©": 5})";
  const char *merges = R"(["Ġ a", "Ã ©"])";
  const char *steps =
      R"(, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
         "decoder": {"type": "ByteLevel"})";
  EXPECT_EQ(tokens(make(vocabulary, merges, steps), "a aé"), "0 2 5");
  EXPECT_EQ(decoded(make(vocabulary, merges, steps), {0, 2, 5}), "a aé");
}

TEST(Tokenizer, LongPiecesTakeTimeNearLinear) {
  auto tokenizer =
      make(R"({"a": 0, "aa": 1, "aaaa": 2})", R"(["a a", "aa aa"])", "");
  ASSERT_TRUE(bool(tokenizer));
  auto encoded = tokenizer->encode(std::string(1 << 18, 'a'));
  ASSERT_TRUE(bool(encoded));
  EXPECT_EQ(encoded->size(), size_t(1) << 16);
}

TEST(Tokenizer, LongestAddedTokenIsMeant) {
  EXPECT_EQ(tokens(make(letters, "[]", R"(, "added_tokens": [
                   {"id": 7, "content": "<x"}, {"id": 8, "content": "<x>"}])"),
                   "a<x>b<xb"),
            "0 8 1 7 1");
}

TEST(Tokenizer, WhatIsNotSupportedIsNamed) {
  auto error = [](llvm::StringRef json) {
    auto tokenizer = Tokenizer::parse(json);
    return tokenizer ? "" : llvm::toString(tokenizer.takeError());
  };
  EXPECT_EQ(error("[]"), "tokenizer: expects a JSON object");
  EXPECT_EQ(error("{}"),
            "tokenizer: there is no 'model'; is this a tokenizer.json?");
  EXPECT_EQ(error(R"({"model": {"type": "Unigram"}})"),
            "tokenizer: its model is 'Unigram', but only BPE is supported");
  EXPECT_EQ(error(R"({"model": {"type": "BPE", "vocab": {"a": -1},
                      "merges": []}})"),
            "tokenizer: token 'a' has the identifier -1, but they are 0 to "
            "4194303");
  EXPECT_EQ(error(R"({"model": {"type": "BPE", "vocab": {"a": 0},
                      "merges": ["a b"]}})"),
            "tokenizer: merge 0 ('a' and 'b') has a part that is not in the "
            "vocabulary");
  EXPECT_EQ(error(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
                      "normalizer": {"type": "NFKC"}})"),
            "tokenizer: the normalizer 'NFKC' isn't supported");
  EXPECT_EQ(error(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
                      "pre_tokenizer": {"type": "Split", "pattern":
                      {"Regex": "("}}})"),
            "pattern, position 1: '(' without ')'");
  // What would never end, or fill memory.
  auto with = [&](const char *part) {
    return error((llvm::Twine(R"({"model": {"type": "BPE", "vocab": {"a": 0},
                                "merges": []}, )") +
                  part + "}")
                     .str());
  };
  EXPECT_EQ(with(R"("decoder": {"type": "Metaspace", "replacement": ""})"),
            "tokenizer: the decoder Metaspace expects a replacement");
  for (const char *wrong :
       {R"("decoder": {"type": "Strip", "content": "", "start": 1})",
        R"("decoder": {"type": "Strip", "content": " ", "start": -1})"})
    EXPECT_EQ(with(wrong), "tokenizer: the decoder Strip expects a content, "
                           "and a start of 0 or more");
  EXPECT_EQ(with(R"("added_tokens": [{"content": "b",
                                      "id": 9223372036854775807}])"),
            "tokenizer: token 'b' has the identifier 9223372036854775807, but "
            "they are 0 to 4194303");
}

TEST(Tokenizer, StripsNoMoreThanThereIs) {
  EXPECT_EQ(decoded(make(R"({" a": 0})", "[]", R"(, "decoder":
                    {"type": "Strip", "content": " ",
                     "start": 9223372036854775807})"),
                    {0}),
            "a");
}
