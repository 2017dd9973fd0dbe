// Code points of UTF-8 text and their general categories.

#include "OnnxQuant/Text/Unicode.h"
#include <algorithm>

using namespace onnxquant;

static constexpr uint32_t categoryRuns[] = {
#include "UnicodeCategories.inc"
};

Category onnxquant::categoryOf(char32_t code) {
  if (code > 0x10FFFF)
    return Category::Other;
  // The last run that begins at or before the code point.
  const uint32_t *behind =
      std::upper_bound(std::begin(categoryRuns), std::end(categoryRuns),
                       uint32_t(code) * 16 + 15);
  return Category(behind[-1] % 16);
}

bool onnxquant::isWhiteSpace(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x85 ||
         categoryOf(code) == Category::Separator;
}

/// Bytes of the code point that a first byte begins; 0 if none does.
static unsigned sequenceLength(unsigned char first) {
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first < 0xE0)
    return 2;
  if (first >= 0xE0 && first < 0xF0)
    return 3;
  if (first >= 0xF0 && first < 0xF5)
    return 4;
  return 0;
}

static bool isContinuation(char byte) { return (byte & 0xC0) == 0x80; }

/// Whether code points of this size are written with so many bytes.
static bool isShortest(char32_t code, unsigned length) {
  static constexpr char32_t least[] = {0, 0x80, 0x800, 0x10000};
  return code >= least[length - 1] && code <= 0x10FFFF &&
         (code < 0xD800 || code > 0xDFFF);
}

std::vector<char32_t> onnxquant::decodeUtf8(llvm::StringRef text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    unsigned length = sequenceLength(text[at]);
    bool isWhole = length > 0 && at + length <= text.size();
    char32_t code = 0;
    if (isWhole) {
      code = length == 1 ? text[at] : text[at] & (0x7F >> length);
      for (unsigned i = 1; i < length; ++i) {
        isWhole &= isContinuation(text[at + i]);
        code = code << 6 | (text[at + i] & 0x3F);
      }
    }
    if (!isWhole || !isShortest(code, length)) {
      codes.push_back(0xFFFD);
      ++at;
      continue;
    }
    codes.push_back(code);
    at += length;
  }
  return codes;
}

void onnxquant::appendUtf8(std::string &text, char32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  unsigned following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
  text += char(lead[following] | code >> (6 * following));
  while (following-- > 0)
    text += char(0x80 | (code >> (6 * following) & 0x3F));
}

std::string onnxquant::encodeUtf8(llvm::ArrayRef<char32_t> codes) {
  std::string text;
  for (char32_t code : codes)
    appendUtf8(text, code);
  return text;
}

size_t onnxquant::countIncompleteUtf8(llvm::StringRef text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    char byte = text[text.size() - back];
    if (isContinuation(byte))
      continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
