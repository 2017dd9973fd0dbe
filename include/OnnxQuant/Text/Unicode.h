// Code points of UTF-8 text and their general categories.

#ifndef ONNXQUANT_TEXT_UNICODE_H
#define ONNXQUANT_TEXT_UNICODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace onnxquant {

/// Unicode's general categories, as far as patterns of tokenizers tell them
/// apart. `Other` is what none of the rest covers (category C).
enum class Category : uint8_t {
  Other,
  UpperLetter,
  LowerLetter,
  TitleLetter,
  ModifierLetter,
  OtherLetter,
  Mark,
  Number,
  Punctuation,
  Symbol,
  Separator
};

Category categoryOf(char32_t code);
/// What `\s` matches: Unicode's property White_Space.
bool isWhiteSpace(char32_t code);

/// The code points of a text. Bytes that are no UTF-8 become U+FFFD, one each.
std::vector<char32_t> decodeUtf8(llvm::StringRef text);
void appendUtf8(std::string &text, char32_t code);
std::string encodeUtf8(llvm::ArrayRef<char32_t> codes);

/// How many bytes at the end of `text` begin a code point that isn't complete.
size_t countIncompleteUtf8(llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_TEXT_UNICODE_H
